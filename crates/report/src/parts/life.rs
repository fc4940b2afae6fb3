//! Part 5 of the page: how long each drive lives, and what caused its flash programs.

use std::fmt::Write;

use vpass_drive::base::units::Cause;
use vpass_lab::results::quantity::Unit;

use crate::model::{Kind, Model, Row, Run, number};
use crate::numbers::{count, percent as percent_text, sig};
use crate::section::{Entry, Figure, Section, csv, raw};
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

/// Returns the page section about lives.
pub(crate) fn section(model: &Model) -> Section {
    let programs: Vec<[f64; 6]> = model.rows.iter().map(|row| programs(model, row)).collect();
    let most = programs.iter().map(|of| of.iter().sum::<f64>()).fold(0.0, f64::max);
    let longest = model.longest_bar(end);
    let mut rows = heads(model);
    for (i, (row, of)) in model.rows.iter().zip(&programs).enumerate() {
        let lost = if row.kept_data() { "" } else { " <span class=\"m\">loses data</span>" };
        let life = if model.shows_life() {
            format!("<div class=\"c2 s{i}\" data-l=\"Life\">{}</div>", bar(i, row, longest))
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
    let source = match model.kind {
        Kind::Lives => "life.json",
        _ => {
            "A page of which the host wrote a part counts as one page here. Write amplification \
             counts bytes, so it may differ from the sums. Sources: compare.json, summary.json"
        }
    };
    let figure = Figure {
        id: "life",
        title,
        say: consumed(model, &programs),
        body: format!("<div class=\"{columns}\">{rows}</div>{}", legend(model, &programs)),
        source,
        table: table(model, &programs),
    };
    figure.section(vec![numbers(model, &programs)])
}

/// Returns the numbers of the figure as CSV text.
fn numbers(model: &Model, programs: &[[f64; 6]]) -> Entry {
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

fn programs_title(model: &Model) -> &'static str {
    match model.kind {
        Kind::Lives => "Share of all programmed pages",
        _ if model.rows.iter().flat_map(|row| &row.runs).any(Run::writes) => {
            "Pages programmed per page that the host wrote"
        }
        _ => "Pages programmed per 1,000 pages that the host read",
    }
}

fn heads(model: &Model) -> String {
    let rated = number(model.drive_configuration(), "/drive/rated_pec");
    let rated = rated.map_or_else(String::new, |pec| format!(" the rated {}", count(pec)));
    let life = format!("<div class=\"hd\">Life until{rated} P/E cycles</div>");
    let life = if model.shows_life() { &life } else { "" };
    format!("<div class=\"hd\"></div>{life}<div class=\"hd\">{}</div>", programs_title(model))
}

/// Returns the end of a life's bar and range.
fn end(row: &Row) -> Option<f64> {
    let life = row.life?;
    let point = life.point()?;
    Some(life.range().map_or(point, |(_, high)| high.max(point)))
}

/// Returns the bar that shows a life with its 95 % range.
fn bar(i: usize, row: &Row, longest: f64) -> String {
    let Some(life) = row.life else {
        return note("no life: nothing wears the drive, or no requests");
    };
    let Some(point) = life.point() else { return note(&life.text()) };
    let place = |life: f64| if longest > 0.0 { (life / longest).clamp(0.0, 1.0) } else { 0.0 };
    let (fill, dash) = if row.kept_data() {
        (format!("var(--t{i})"), "")
    } else {
        ("none".into(), " stroke-dasharray=\"4 3\"")
    };
    let end = if life.middle.is_some() { point } else { life.low.unwrap_or(point) };
    let mut svg = format!(
        "<rect x=\"0.5\" y=\"5.5\" height=\"15\" width=\"{}\" fill=\"{fill}\" \
         stroke=\"var(--t{i})\"{dash}/>",
        percent(place(end))
    );
    let mut last = place(end);
    if let Some((low, high)) = life.range() {
        let (a, b) = (place(low), place(high));
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
        return note("no pages were programmed");
    }
    let (mut svg, mut at) = (String::new(), 0.0);
    for (k, pages) in of.iter().enumerate().filter(|(_, pages)| **pages > 0.0) {
        let (x, width, name) = (percent(at), percent(pages / most), CAUSES[k].2);
        let _ = write!(
            svg,
            "<rect x=\"{x}\" y=\"5\" height=\"16\" width=\"{width}\" fill=\"var(--w{k})\"><title>\
             {name}: {}</title></rect>",
            sig(*pages)
        );
        at += pages / most;
    }
    // The shares of a life always have the sum 1, so their sum is not shown.
    if kind != Kind::Lives {
        let _ = write!(svg, "<text x=\"{}\" dx=\"7\" y=\"17\">{}</text>", percent(at), sig(sum));
    }
    let said = format!("Programmed pages under {}; the numbers are in the table below", row.label);
    format!("<svg role=\"img\" aria-label=\"{}\">{svg}</svg>", escape(&said))
}

/// Returns a text that stands in place of a bar.
fn note(text: &str) -> String {
    format!("<svg><text class=\"m\" x=\"0\" y=\"17\">{}</text></svg>", escape(text))
}

fn legend(model: &Model, programs: &[[f64; 6]]) -> String {
    let item =
        |mark: &str, text: &str| format!("<li><svg aria-hidden=\"true\">{mark}</svg>{text}</li>");
    let used = (0..CAUSES.len()).filter(|k| programs.iter().any(|of| of[*k] > 0.0));
    let mut items: String = used
        .map(|k| {
            let mark = format!("<rect width=\"12\" height=\"12\" fill=\"var(--w{k})\"/>");
            item(&mark, CAUSES[k].2)
        })
        .collect();
    let has_range = |row: &Row| row.life.is_some_and(|life| life.range().is_some());
    if model.shows_life() && model.rows.iter().any(has_range) {
        items += &item("<line class=\"wh\" x2=\"12\" y1=\"6\" y2=\"6\"/>", "95 % range");
    }
    if model.rows.iter().any(|row| !row.kept_data()) {
        items += "<li>dashed outline: data was lost</li>";
    }
    format!("<ul class=\"legend\">{items}</ul>")
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
    table.html(&format!("{life}{unit} by cause"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::with_lives;

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
