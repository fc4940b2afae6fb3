//! Part 9 of the page: life of the drive against controller memory. If no life is known, the number
//! of rewritten pages takes the place of the life.

use std::fmt::Write;

use vpass_lab::results::quantity::Unit;

use crate::chart::Chart;
use crate::measure::{LIFE, Measure};
use crate::model::{Model, Row};
use crate::numbers::{NBSP, bytes};
use crate::scale::{Scale, ends};
use crate::section::{Entry, Figure, Section, csv, raw};
use crate::sentences::verdict::findings;
use crate::svg::{escape, percent, spread};
use crate::table::Table;

const HEIGHT: u32 = 280;
/// Smallest distance between two labels in pixels. Each label has two lines.
const GAP: f64 = 31.0;
/// Factor from the largest value to the end of the axis, which leaves room for labels.
const MARGIN: f64 = 1.12;
const RAM: &str = "controller_ram_bytes";
const REWRITES: &str = "reclaim_write_pages";

/// Mark of a technique in the chart, with its position from 0 to 1: technique, row, x and y.
type Point<'a> = (usize, &'a Row, f64, f64);

/// Returns the page section about cost.
pub(crate) fn section(model: &Model) -> Section {
    let life = Measure::life(model.all());
    let is_known = model.shows_life() && model.rows.iter().any(|row| life.value(row).is_some());
    let measure = if is_known { life } else { Measure::of(REWRITES) };
    let (title, source) = if is_known {
        (
            "Cost of a longer life in controller memory",
            "x: memory, logarithmic (0 at the edge); y: life, with its 95 % range",
        )
    } else {
        (
            "Cost of fewer rewritten pages in controller memory",
            "x: memory, logarithmic (0 at the edge); y: pages rewritten because of reads, shown \
             because no life is known; fewer pages are better",
        )
    };
    let figure = Figure {
        id: "cost",
        title,
        say: findings(model, &[measure.key, RAM]),
        body: format!(
            "<div class=\"chart\">{}<div class=\"xlab\"></div></div>",
            chart(model, &measure)
        ),
        source,
        table: table(model, &measure).html(title),
    };
    figure.section(vec![numbers(model)])
}

/// Returns the numbers of the figure as CSV text.
fn numbers(model: &Model) -> Entry {
    let row = |row: &Row| {
        let unit = row.life.map_or("", |life| Unit::Life(life.unit).name());
        let [ram, rewritten] = [RAM, REWRITES].map(|key| raw(row.value(key)));
        let life = raw(row.life.and_then(|life| life.point()));
        vec![row.label.clone(), ram, life, unit.to_owned(), rewritten, row.lost_pages.to_string()]
    };
    let heading = ["technique", RAM, "life", "life_unit", REWRITES, "lost_pages"];
    csv("cost", &heading, &model.rows.iter().map(row).collect::<Vec<_>>())
}

fn chart(model: &Model, measure: &Measure) -> String {
    let ram = |row: &Row| row.value(RAM);
    let (low, high) =
        ends(model.rows.iter().filter_map(ram).filter(|n| *n > 0.0)).unwrap_or((1.0, 1.0));
    // With ticks at powers of 8, the axis has only a few ticks.
    let x = Scale::log(low / 8.0, high * 2.2, 8.0, bytes);
    // Only lives have ranges in this chart.
    let range = |row: &Row| measure.range(row).filter(|_| measure.key == LIFE);
    let values = model.rows.iter().flat_map(|row| {
        let (a, b) = range(row).unzip();
        [measure.value(row), a, b].into_iter().flatten()
    });
    let y = Scale::around(&values.collect::<Vec<_>>(), MARGIN, measure.format());
    let mut chart = Chart::new(HEIGHT, &x, &y);
    let mut points = vec![];
    for (i, row) in model.rows.iter().enumerate() {
        // On a logarithmic axis, a value of 0 is drawn at the edge.
        let at = ram(row).map(|bytes| bytes.max(low / 8.0));
        let Some((at, value)) = at.zip(measure.value(row)) else { continue };
        if let Some((low, high)) = range(row) {
            chart.bar(i, (at, low, high));
        }
        chart.dot(i, (at, value), !row.kept_data(), &row.label);
        points.push((i, row, x.place(at), y.place(value).clamp(0.0, 1.0)));
    }
    chart.markup(&labels(&points, measure));
    let said = format!("{} against memory; the numbers are in the table below", measure.label);
    chart.svg(true, &said)
}

fn text(measure: &Measure, row: &Row) -> String {
    let noun = if measure.key == LIFE { String::new() } else { format!("{NBSP}pages") };
    measure.brief(row) + &noun
}

/// Returns the labels beside the marks. Each label has a name and numbers. Labels are moved apart
/// so that they do not overlap.
fn labels(points: &[Point], measure: &Measure) -> String {
    let height = f64::from(HEIGHT);
    let wanted: Vec<f64> = points.iter().map(|(.., y)| (1.0 - y) * height).collect();
    let mut svg = String::new();
    for ((i, row, x, _), y) in points.iter().zip(spread(&wanted, height - 14.0, GAP)) {
        let (class, dx) = if *x < 0.6 { ("", 12) } else { (" end", -12) };
        let lost = if row.kept_data() { "" } else { ", loses data" };
        let (x, name) = (percent(*x), escape(&row.label));
        let ram = bytes(row.value(RAM).unwrap_or(0.0));
        let _ = write!(
            svg,
            "<text class=\"lab s{i}{class}\" x=\"{x}\" dx=\"{dx}\" y=\"{:.0}\">{name}</text>\
             <text class=\"s{i}{class}\" x=\"{x}\" dx=\"{dx}\" y=\"{:.0}\">{}, {ram}{lost}</text>",
            y - 2.0,
            y + 12.0,
            escape(&text(measure, row))
        );
    }
    svg
}

fn table(model: &Model, measure: &Measure) -> Table {
    let value = if measure.key == LIFE { LIFE } else { "rewritten" };
    let mut table = Table::new(["technique", "controller memory", value, "lost pages"]);
    for row in &model.rows {
        table.row([
            row.label.clone(),
            row.value(RAM).map_or_else(|| "–".into(), bytes),
            text(measure, row),
            Unit::Pages.text(row.lost_pages),
        ]);
    }
    table
}
