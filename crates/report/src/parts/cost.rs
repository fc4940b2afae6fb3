//! Part 9 of the page: life of the drive against controller memory. If no life is known, the number
//! of rewritten pages takes the place of the life.

use std::fmt::Write;

use vpass_lab::results::LifeUnit;

use crate::columns::Unit;
use crate::model::{Model, Row};
use crate::numbers::{bytes, kept_together};
use crate::scale::{Linear, Log, Scale, ends};
use crate::section::{Head, Section, csv, figure, foot, raw};
use crate::sentences::cost::bought;
use crate::svg::{escape, grid, percent, plot, short, spread, stretched};
use crate::table::Table;

const HEIGHT: u32 = 280;
/// Smallest distance between two labels in pixels. Each label has two lines.
const GAP: f64 = 31.0;
/// Factor between the smallest and the largest value from which the axis is logarithmic.
const WIDE: f64 = 60.0;

/// Measure that the y axis shows.
struct Measure {
    title: &'static str,
    said: &'static str,
    value: fn(&Row) -> Option<f64>,
    text: fn(&Row) -> String,
    source: &'static str,
    /// Whether the measure is a life. Only lives have ranges.
    is_life: bool,
}

const LIFE: Measure = Measure {
    title: "Cost of a longer life in controller memory",
    said: "Life against controller memory; the numbers are in the table below",
    value: |row| row.life?.point(),
    text: |row| row.life.map_or_else(String::new, |life| life.text()),
    source: "x: memory, logarithmic (0 at the edge); y: life, with its 95 % range",
    is_life: true,
};

const REWRITES: Measure = Measure {
    title: "Cost of fewer rewritten pages in controller memory",
    said: "Number of pages rewritten because of reads, plotted over controller memory; the numbers \
        are in the table below",
    value: |row| row.value("reclaim_write_pages"),
    text: |row| {
        let pages = row.value("reclaim_write_pages").unwrap_or(0.0);
        kept_together(&format!("{} pages", Unit::Count.text(pages)))
    },
    source: "x: memory, logarithmic (0 at the edge); y: pages rewritten because of reads, shown \
        because no life is known; fewer pages are better",
    is_life: false,
};

/// Mark that stands for a technique in the chart.
struct Point<'a> {
    technique: usize,
    row: &'a Row,
    x: f64,
    y: f64,
}

/// Returns the page section about cost.
pub(crate) fn section(model: &Model) -> Section {
    let is_known = model.shows_life()
        && model.rows.iter().any(|row| row.life.is_some_and(|life| life.point().is_some()));
    let measure = if is_known { &LIFE } else { &REWRITES };
    let say = bought(model, capacity(model));
    let head = Head { id: "cost", title: measure.title, say: &say };
    let body =
        format!("<div class=\"chart\">{}<div class=\"xlab\"></div></div>", chart(model, measure));
    let html = figure(&head, &body, &foot(measure.source, &table(model, measure)));
    Section { html, data: vec![numbers(model)] }
}

/// Returns the numbers of the figure as CSV text.
fn numbers(model: &Model) -> (&'static str, serde_json::Value) {
    let row = |row: &Row| {
        let unit = row.life.map_or("", |life| Unit::Life(life.unit).name());
        let numbers =
            ["controller_ram_bytes", "reclaim_write_pages"].map(|key| raw(row.value(key)));
        let [ram, rewritten] = numbers;
        let life = raw(row.life.and_then(|life| life.point()));
        vec![row.label.clone(), ram, life, unit.to_owned(), rewritten, row.lost_pages.to_string()]
    };
    let heading = [
        "technique",
        "controller_ram_bytes",
        "life",
        "life_unit",
        "reclaim_write_pages",
        "lost_pages",
    ];
    csv("cost", &heading, &model.rows.iter().map(row).collect::<Vec<_>>())
}

/// Returns the capacity in bytes that the configuration of the drive gives; `None` if it is
/// unknown.
fn capacity(model: &Model) -> Option<f64> {
    let text = model.drive_configuration().pointer("/drive/capacity")?.as_str()?;
    let letters = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let value: f64 = text[..text.len() - letters.len()].parse().ok()?;
    let power =
        ["B", "KiB", "MiB", "GiB", "TiB"].iter().position(|unit| *unit == letters.trim())?;
    Some(value * 1024f64.powf(power as f64))
}

fn chart(model: &Model, measure: &Measure) -> String {
    let ram = |row: &Row| row.value("controller_ram_bytes");
    let (low, high) =
        ends(model.rows.iter().filter_map(ram).filter(|n| *n > 0.0)).unwrap_or((1.0, 1.0));
    // With ticks at powers of 8, the axis has only a few ticks.
    let x = Log::with_base(low / 8.0, high * 2.2, 8.0, bytes);
    let range = |row: &Row| row.life.and_then(|life| life.range()).filter(|_| measure.is_life);
    let values: Vec<f64> = model
        .rows
        .iter()
        .flat_map(|row| {
            let (a, b) = range(row).unzip();
            [(measure.value)(row), a, b].into_iter().flatten()
        })
        .collect();
    let y = axis(&values, measure, model);
    let points: Vec<Point> = model
        .rows
        .iter()
        .enumerate()
        .filter_map(|(technique, row)| {
            let bytes = ram(row)?;
            let x = if bytes > 0.0 { x.place(bytes) } else { 0.0 };
            // On a logarithmic axis, a value of 0 is drawn at the edge.
            let y = y.place((measure.value)(row)?).clamp(0.0, 1.0);
            Some(Point { technique, row, x, y })
        })
        .collect();
    let (mut bars, mut dots) = (String::new(), String::new());
    for point in &points {
        if let Some((low, high)) = range(point.row) {
            let (at, i) = (percent(point.x), point.technique);
            let _ = write!(
                bars,
                "<line class=\"s{i}\" x1=\"{at}\" x2=\"{at}\" y1=\"{}\" y2=\"{}\" \
                 stroke=\"var(--t{i})\" stroke-width=\"2\"/>",
                percent(1.0 - y.place(low)),
                percent(1.0 - y.place(high))
            );
        }
        dots += &dot(point);
    }
    let body = grid(&x, y.as_ref(), true) + &bars + &stretched(&dots) + &labels(&points, measure);
    plot(HEIGHT, &body, measure.said, "")
}

/// Returns the y axis. If the values differ much, the axis is logarithmic. Otherwise, the axis is
/// linear and begins at 0.
fn axis(values: &[f64], measure: &Measure, model: &Model) -> Box<dyn Scale> {
    let format: crate::scale::Format = if measure.is_life {
        match model.rows.iter().find_map(|row| row.life).map(|life| life.unit) {
            Some(LifeUnit::HostBytes) => |v| tick(LifeUnit::HostBytes, v),
            Some(LifeUnit::ReadBytes) => |v| tick(LifeUnit::ReadBytes, v),
            Some(LifeUnit::Days) | None => |v| tick(LifeUnit::Days, v),
        }
    } else {
        crate::numbers::short
    };
    let (low, high) = ends(values.iter().copied().filter(|v| *v > 0.0)).unwrap_or((1.0, 1.0));
    if high / low < WIDE {
        Box::new(Linear::new(0.0, 1.12 * high, 5, format))
    } else {
        Box::new(Log::new(low / 1.6, 1.6 * high, format))
    }
}

fn tick(unit: LifeUnit, value: f64) -> String {
    if value == 0.0 { "0".into() } else { kept_together(&unit.text(value)) }
}

/// Returns the mark of a technique. If the technique lost data, the mark is hollow.
fn dot(point: &Point) -> String {
    let i = point.technique;
    let at = format!("M{} {}h0", short(1000.0 * point.x, 1), short(1000.0 * (1.0 - point.y), 1));
    let hole = if point.row.kept_data() {
        String::new()
    } else {
        format!("<path class=\"dot\" data-in=\"1\" stroke=\"var(--card)\" d=\"{at}\"/>")
    };
    format!(
        "<g class=\"s{i}\"><path class=\"halo\" d=\"{at}\"/><path class=\"dot\" \
         stroke=\"var(--t{i})\" d=\"{at}\"/>{hole}</g>"
    )
}

/// Returns the labels beside the marks. Each label has a name and numbers. Labels are moved apart
/// so that they do not overlap.
fn labels(points: &[Point], measure: &Measure) -> String {
    let height = f64::from(HEIGHT);
    let wanted: Vec<f64> = points.iter().map(|point| (1.0 - point.y) * height).collect();
    let mut svg = String::new();
    for (point, y) in points.iter().zip(spread(&wanted, height - 14.0, GAP)) {
        let i = point.technique;
        let (class, dx) = if point.x < 0.6 { ("", 12) } else { (" end", -12) };
        let ram = point.row.value("controller_ram_bytes").unwrap_or(0.0);
        let lost = if point.row.kept_data() { "" } else { ", loses data" };
        let _ = write!(
            svg,
            "<text class=\"lab s{i}{class}\" x=\"{0}\" dx=\"{dx}\" y=\"{1:.0}\">{2}</text>\
             <text class=\"s{i}{class}\" x=\"{0}\" dx=\"{dx}\" y=\"{3:.0}\">{4}{lost}</text>",
            percent(point.x),
            y - 2.0,
            escape(&point.row.label),
            y + 12.0,
            escape(&format!("{}, {}", (measure.text)(point.row), bytes(ram)))
        );
    }
    svg
}

fn table(model: &Model, measure: &Measure) -> String {
    let value = if measure.is_life { "life" } else { "rewritten" };
    let mut table = Table::new(["technique", "controller memory", value, "lost pages"]);
    for row in &model.rows {
        table.row([
            row.label.clone(),
            row.value("controller_ram_bytes").map_or_else(|| "–".into(), bytes),
            (measure.text)(row),
            Unit::Count.text(row.lost_pages),
        ]);
    }
    table.html(measure.title, |_| String::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::compared;
    use serde_json::json;

    #[test]
    fn a_capacity_is_read_with_its_unit() {
        let of = |text: &str| {
            let mut model = compared();
            model.manifest = json!({"drive_configuration": {"drive": {"capacity": text}}});
            capacity(&model)
        };
        assert_eq!(of("1.5GiB"), Some(1.5 * 1024f64.powi(3)));
        assert_eq!([of("2TiB"), of("2 TB"), of("")], [Some(2f64.powi(41)), None, None]);
    }
}
