//! Part 5 of the page: how long each drive lives, and what caused its flash programs.

use std::fmt::Write;

use serde_json::Value;
use vpass_drive::base::units::Cause;
use vpass_lab::results::quantity::Unit;

use crate::model::{Kind, Model, Row, number};
use crate::numbers::{count, percent as percent_text, sig};
use crate::scale::ends;
use crate::section::{Head, Section, csv, figure, foot, raw};
use crate::sentences::life::{consumed, share};
use crate::svg::{escape, percent};
use crate::table::Table;

/// Causes of flash programs. Each cause has its key in files and its name on the page.
pub(super) const CAUSES: [(Cause, &str, &str); 6] = [
    (Cause::Host, "host", "host's own"),
    (Cause::Gc, "gc", "garbage collection"),
    (Cause::Reclaim, "reclaim", "read reclaim"),
    (Cause::Refresh, "refresh", "data refresh"),
    (Cause::Wear, "wear", "wear levelling"),
    (Cause::Parity, "parity", "parity"),
];

/// Length limit for the bar of a technique that lost data. The limit is a multiple of the longest
/// bar among techniques that kept their data.
const CAP: f64 = 1.6;

/// Largest relative difference between two numbers that count as equal.
const ALIKE: f64 = 0.01;

/// Returns the page section about lives.
pub(crate) fn section(model: &Model) -> Section {
    let programs: Vec<[f64; 6]> = model.rows.iter().map(|row| programs(model, row)).collect();
    let most = programs.iter().map(|of| of.iter().sum::<f64>()).fold(0.0, f64::max);
    let scale = Scale::of(model);
    let mut rows = heads(model);
    for (i, (row, of)) in model.rows.iter().zip(&programs).enumerate() {
        let lost = if row.kept_data() { "" } else { " <span class=\"m\">loses data</span>" };
        let life = if model.shows_life() {
            format!("<div class=\"c2 s{i}\" data-l=\"Life\">{}</div>", bar(i, row, &scale))
        } else {
            String::new()
        };
        let _ = write!(
            rows,
            "<div class=\"nm s{i}\">{}{lost}</div>{life}\
             <div class=\"c2 s{i}\" data-l=\"{}\">{}</div>",
            escape(&row.label),
            programs_title(model),
            stack(row, of, most, model.kind)
        );
    }
    let (title, columns) = if model.shows_life() {
        ("Life, and what wore the flash", "rows")
    } else {
        ("What wore the flash", "rows one")
    };
    let body = format!("<div class=\"{columns}\">{rows}</div>{}", legend(model, &programs));
    let head = Head { id: "life", title, say: &consumed(model, &programs) };
    let source = match model.kind {
        Kind::Lives => "life.json",
        _ if sums_differ(model, &programs) => {
            "Pages are counted here: a page of which the host wrote a part counts as one page. \
             Write amplification counts bytes, so it differs from the sums. Source: compare.json \
             and summary.json"
        }
        _ => "compare.json and summary.json",
    };
    let html = figure(&head, &body, &foot(source, &table(model, &programs)));
    Section { html, data: vec![numbers(model, &programs)] }
}

/// Returns the numbers of the figure as CSV text.
fn numbers(model: &Model, programs: &[[f64; 6]]) -> (&'static str, Value) {
    let row = |(row, of): (&Row, &[f64; 6])| {
        let life = row.life.filter(|life| life.is_settled);
        let unit = row.life.map_or("", |life| Unit::Life(life.unit).name());
        let mut cells = vec![row.label.clone(), unit.to_owned()];
        cells.extend([
            raw(life.and_then(|life| life.middle)),
            raw(life.and_then(|life| life.low)),
            raw(life.and_then(|life| life.high)),
            row.lost_pages.to_string(),
        ]);
        cells.extend(of.iter().map(f64::to_string));
        cells
    };
    let heading = ["technique", "life_unit", "life", "life_low", "life_high", "lost_pages"];
    let causes = CAUSES.map(|(_, key, _)| format!("programs_{key}"));
    let heading: Vec<&str> = heading.into_iter().chain(causes.iter().map(String::as_str)).collect();
    csv("life", &heading, &model.rows.iter().zip(programs).map(row).collect::<Vec<_>>())
}

/// Returns the programmed pages of each cause. For a simulated life, the numbers are shares of all
/// programmed pages. For a run, they are flash pages programmed per page of the host.
fn programs(model: &Model, row: &Row) -> [f64; 6] {
    match model.kind {
        Kind::Lives => row.wearing.as_ref().map_or([0.0; 6], |wearing| wearing.shares),
        _ => CAUSES.map(|(cause, ..)| row.programs(cause).unwrap_or(0.0)),
    }
}

/// Returns whether a sum of programmed pages differs from the write amplification, which counts
/// bytes. Both differ if the host writes parts of pages.
fn sums_differ(model: &Model, programs: &[[f64; 6]]) -> bool {
    model.rows.iter().zip(programs).any(|(row, of)| {
        let sum: f64 = of.iter().sum();
        row.value("write_amplification").is_some_and(|wa| (sum - wa).abs() > ALIKE * wa)
    })
}

fn writes_nothing(model: &Model) -> bool {
    let mut runs = model.rows.iter().flat_map(|row| &row.runs);
    !runs.any(|run| run.summary.host.write_pages > 0)
}

fn programs_title(model: &Model) -> &'static str {
    match model.kind {
        Kind::Lives => "Share of all programmed pages",
        _ if writes_nothing(model) => "Pages programmed per 1,000 pages that the host read",
        _ => "Pages programmed per page that the host wrote",
    }
}

fn heads(model: &Model) -> String {
    let rated = number(model.drive_configuration(), "/drive/rated_pec");
    let rated = rated.map_or_else(String::new, |pec| format!(" the rated {}", count(pec)));
    let life = format!("<div class=\"hd\">Life until{rated} P/E cycles</div>");
    let life = if model.shows_life() { &life } else { "" };
    format!("<div class=\"hd\"></div>{life}<div class=\"hd\">{}</div>", programs_title(model))
}

/// Scale of the bars. The scale ends at the longest life that the chart shows.
struct Scale {
    most: f64,
}

impl Scale {
    fn of(model: &Model) -> Self {
        let high = |row: &Row| {
            let life = row.life?;
            Some(
                life.range()
                    .map_or(life.point()?, |(_, high)| high.max(life.point().unwrap_or(0.0))),
            )
        };
        let most = ends(model.rows.iter().filter_map(high)).map_or(0.0, |ends| ends.1);
        let safe = model.rows.iter().filter(|row| row.kept_data()).filter_map(high);
        let safe = ends(safe).map_or(most, |ends| CAP * ends.1);
        Self { most: most.min(safe) }
    }

    fn place(&self, life: f64) -> f64 {
        if self.most > 0.0 { (life / self.most).clamp(0.0, 1.0) } else { 0.0 }
    }
}

/// Returns the bar that shows a life with its 95 % range.
fn bar(i: usize, row: &Row, scale: &Scale) -> String {
    let Some(life) = row.life else {
        return "<svg><text class=\"m\" x=\"0\" y=\"17\">no life: nothing wears the drive, or no \
                requests</text></svg>"
            .into();
    };
    let Some(point) = life.point() else {
        return format!(
            "<svg><text class=\"m\" x=\"0\" y=\"17\">{}</text></svg>",
            escape(&life.text())
        );
    };
    let (fill, dash) = if row.kept_data() {
        (format!("var(--t{i})"), "")
    } else {
        ("none".into(), " stroke-dasharray=\"4 3\"")
    };
    let end = if life.middle.is_some() { point } else { life.low.unwrap_or(point) };
    let mut svg = format!(
        "<rect x=\"0.5\" y=\"5.5\" height=\"15\" width=\"{}\" fill=\"{fill}\" \
         stroke=\"var(--t{i})\"{dash}/>",
        percent(scale.place(end))
    );
    let mut last = scale.place(end);
    if let Some((low, high)) = life.range() {
        let (a, b) = (scale.place(low), scale.place(high));
        last = last.max(b);
        for (x1, x2, y1, y2) in [(a, b, 13, 13), (a, a, 9, 17), (b, b, 9, 17)] {
            let _ = write!(
                svg,
                "<line class=\"wh\" x1=\"{}\" x2=\"{}\" y1=\"{y1}\" y2=\"{y2}\"/>",
                percent(x1),
                percent(x2)
            );
        }
    }
    let text = escape(&life.text());
    let _ = write!(svg, "<text x=\"{}\" dx=\"7\" y=\"17\">{text}</text>", percent(last));
    let said = format!("Life under {}: {}", row.label, life.text());
    format!("<svg role=\"img\" aria-label=\"{}\">{svg}</svg>", escape(&said))
}

/// Returns a stacked bar that shows the programmed pages of each cause.
fn stack(row: &Row, of: &[f64; 6], most: f64, kind: Kind) -> String {
    let sum: f64 = of.iter().sum();
    if sum <= 0.0 || most <= 0.0 {
        return "<svg><text class=\"m\" x=\"0\" y=\"17\">no pages were programmed</text></svg>"
            .into();
    }
    let (mut svg, mut at) = (String::new(), 0.0);
    for (k, pages) in of.iter().enumerate().filter(|(_, pages)| **pages > 0.0) {
        let width = pages / most;
        let _ = write!(
            svg,
            "<rect x=\"{}\" y=\"5\" height=\"16\" width=\"{}\" fill=\"var(--w{k})\"><title>{}: {}\
             </title></rect>",
            percent(at),
            percent(width),
            CAUSES[k].2,
            sig(*pages)
        );
        at += width;
    }
    // The shares of a life always have the sum 1, so their sum is not shown.
    if kind != Kind::Lives {
        let _ = write!(svg, "<text x=\"{}\" dx=\"7\" y=\"17\">{}</text>", percent(at), sig(sum));
    }
    let said = format!("Programmed pages under {}: {}", row.label, by_cause(of));
    format!("<svg role=\"img\" aria-label=\"{}\">{svg}</svg>", escape(&said))
}

fn by_cause(of: &[f64; 6]) -> String {
    let part = |(k, pages): (usize, &f64)| format!("{} {}", CAUSES[k].2, sig(*pages));
    let parts = of.iter().enumerate().filter(|(_, pages)| **pages > 0.0).map(part);
    parts.collect::<Vec<_>>().join(", ")
}

fn legend(model: &Model, programs: &[[f64; 6]]) -> String {
    let mut html = String::from("<ul class=\"legend\">");
    for (k, (.., name)) in CAUSES.iter().enumerate() {
        if programs.iter().any(|of| of[k] > 0.0) {
            let _ = write!(
                html,
                "<li><svg aria-hidden=\"true\"><rect width=\"12\" height=\"12\" \
                 fill=\"var(--w{k})\"/></svg>{name}</li>"
            );
        }
    }
    let has_range = |row: &Row| row.life.is_some_and(|life| life.range().is_some());
    if model.shows_life() && model.rows.iter().any(has_range) {
        html.push_str(
            "<li><svg aria-hidden=\"true\"><line class=\"wh\" x2=\"12\" y1=\"6\" y2=\"6\"/></svg>\
             95 % range</li>",
        );
    }
    if model.rows.iter().any(|row| !row.kept_data()) {
        html.push_str("<li>dashed outline: data was lost</li>");
    }
    html + "</ul>"
}

fn table(model: &Model, programs: &[[f64; 6]]) -> String {
    let causes = CAUSES.map(|(.., name)| name.to_owned());
    let unit = programs_title(model).to_lowercase();
    let shows = model.shows_life();
    let mut table = Table::new(
        ["technique".to_owned()]
            .into_iter()
            .chain(shows.then(|| "life".into()))
            .chain(causes)
            .chain(["sum".into(), "share of reclaim".into()]),
    );
    for (row, of) in model.rows.iter().zip(programs) {
        let life = row.life.map_or_else(|| "–".into(), |life| life.text());
        let sum: f64 = of.iter().sum();
        let reclaim = share(of, 2).map_or_else(|| "–".into(), |s| percent_text(100.0 * s));
        table.row(
            [row.label.clone()]
                .into_iter()
                .chain(shows.then_some(life))
                .chain(of.iter().map(|pages| sig(*pages)))
                .chain([sig(sum), reclaim]),
        );
    }
    let life = if shows { "Life, and " } else { "" };
    table.html(&format!("{life}{unit} by cause"), |_| String::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{compared, with_lives};

    #[test]
    fn sums_in_pages_are_told_from_write_amplification_in_bytes() {
        // In the first row, the host and GC program 1.5 pages per page of the host.
        let with = |write_amplification: f64| {
            let mut model = compared();
            model.rows.truncate(1);
            let cells = &mut model.rows[0].cells;
            cells.get_mut("write_amplification").unwrap().mean = write_amplification;
            section(&model).html
        };
        assert!(with(3.0).contains("Write amplification counts bytes"), "{}", with(3.0));
        assert!(!with(1.5).contains("Write amplification counts bytes"), "{}", with(1.5));
    }

    #[test]
    fn lives_are_shown_only_once_they_have_settled() {
        let mut model = with_lives();
        let shown = section(&model).html;
        assert!(shown.contains(">Life until") && shown.contains(">life<"), "{shown}");
        model.rows[0].life.as_mut().unwrap().is_settled = false;
        let early = section(&model).html;
        assert!(!early.to_lowercase().contains("life ") && !early.contains(">life<"), "{early}");
        assert!(early.contains("<div class=\"rows one\">") && !early.contains("too short"));
    }
}
