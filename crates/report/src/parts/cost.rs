//! Part 9 of the page: life of the drive against controller memory. If no life is known, the number
//! of rewritten pages takes the place of the life.

use std::fmt::Write;

use vpass_lab::results::LifeUnit;
use vpass_lab::results::quantity::Unit;

use crate::chart::Chart;
use crate::model::{Model, Row};
use crate::numbers::{bytes, kept_together};
use crate::scale::{Linear, Log, Scale, ends};
use crate::section::{Head, Section, csv, figure, foot, raw};
use crate::sentences::verdict::findings;
use crate::svg::{escape, percent, spread};
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
        kept_together(&format!("{} pages", Unit::Pages.text(pages)))
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
    let say = findings(
        model,
        &[if is_known { "life" } else { "reclaim_write_pages" }, "controller_ram_bytes"],
    );
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
    let mut chart = Chart::new(HEIGHT, &x, y.as_ref());
    let mut points = vec![];
    for (i, row) in model.rows.iter().enumerate() {
        // On a logarithmic axis, a value of 0 is drawn at the edge.
        let at = ram(row).map(|bytes| bytes.max(low / 8.0));
        let Some((at, value)) = at.zip((measure.value)(row)) else { continue };
        if let Some((low, high)) = range(row) {
            chart.bar(i, (at, low, high));
        }
        chart.dot(i, (at, value), !row.kept_data(), &row.label);
        let (x, y) = (x.place(at), y.place(value).clamp(0.0, 1.0));
        points.push(Point { technique: i, row, x, y });
    }
    chart.markup(&labels(&points, measure));
    chart.svg(true, measure.said, "")
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
            Unit::Pages.text(row.lost_pages),
        ]);
    }
    table.html(measure.title, |_| String::new())
}
