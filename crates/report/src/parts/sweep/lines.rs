//! Chart that shows a measure over one swept key, with a line for each technique.

use std::fmt::Write;

use crate::model::{Model, Row, Sweep};
use crate::scale::{Linear, Log, Scale, ends};
use crate::svg::{EndLabel, band, end_labels, escape, grid, line, path, percent, plot, stretched};

use super::axis::Axis;
use super::measure::Measure;

const HEIGHT: u32 = 280;
/// Factor between the smallest and the largest value from which the y axis is logarithmic.
const WIDE: f64 = 50.0;

/// Returns the chart of a measure as markup.
pub(super) fn chart(model: &Model, sweep: &Sweep, x: &Axis, measure: &Measure) -> String {
    let y = scale(sweep, measure);
    let (mut inner, mut dots, mut labels) = (String::new(), String::new(), vec![]);
    for (i, row) in model.rows.iter().enumerate() {
        let course = course(sweep, x, &row.label);
        let value = |at: Option<&Row>| at.and_then(|row| measure.value(row));
        let places: Vec<f64> = (0..x.len()).map(|n| x.place(n as f64)).collect();
        inner.push_str(&range(i, &places, &course, measure, &*y));
        let points = course.iter().zip(&places).map(|(at, x)| Some((*x, y.place(value(*at)?))));
        inner.push_str(&line(i, &path(points), ""));
        for (at, place) in course.iter().zip(&places) {
            let (Some(row), Some(value)) = (at, value(*at)) else { continue };
            dots.push_str(&dot(i, (*place, y.place(value)), row, measure));
        }
        if let Some(last) = course.iter().rev().find_map(|at| value(*at)) {
            labels.push(EndLabel { name: &row.label, end: y.place(last), technique: i });
        }
    }
    let body = grid(x, &*y, true) + &stretched(&inner) + &dots + &end_labels(&labels, HEIGHT);
    let said = format!("{} over {}; the numbers are in the table below", measure.label, x.key);
    let scale = if x.is_logarithmic() { ", logarithmic" } else { "" };
    format!(
        "<div class=\"chart swept\">{}<div class=\"xlab\"></div><p class=\"unit\">x: {}{scale}</p>\
         </div>",
        plot(HEIGHT, &body, &said, "right"),
        escape(&x.key)
    )
}

/// Returns the results of a technique at each value of the axis, in the order of the axis.
fn course<'a>(sweep: &'a Sweep, x: &Axis, label: &str) -> Vec<Option<&'a Row>> {
    let at =
        |value: &String| sweep.points.iter().find(|point| point.values[0] == *value)?.row(label);
    x.values().iter().map(at).collect()
}

fn scale(sweep: &Sweep, measure: &Measure) -> Box<dyn Scale> {
    let rows = sweep.points.iter().filter_map(|point| point.model.as_ref());
    let values: Vec<f64> = rows.flat_map(Model::all).filter_map(|row| measure.value(row)).collect();
    let (low, high) = ends(values.iter().copied()).unwrap_or((0.0, 1.0));
    let format = measure.format();
    if low > 0.0 && high >= WIDE * low {
        Box::new(Log::around(values, format))
    } else {
        Box::new(Linear::new(low.min(0.0), high, 5, format))
    }
}

/// Returns a band that shows the intervals of technique `i`; empty if there are no intervals.
fn range(
    i: usize,
    places: &[f64],
    course: &[Option<&Row>],
    measure: &Measure,
    y: &dyn Scale,
) -> String {
    let of = |at: Option<&Row>| {
        let row = at?;
        measure.range(row).or_else(|| measure.value(row).map(|value| (value, value)))
    };
    let known: Vec<(f64, (f64, f64))> =
        places.iter().zip(course).filter_map(|(x, at)| Some((*x, of(*at)?))).collect();
    let x: Vec<f64> = known.iter().map(|(x, _)| *x).collect();
    let side = |of: fn(&(f64, f64)) -> f64| {
        known.iter().map(|(_, range)| y.place(of(range)).clamp(0.0, 1.0)).collect::<Vec<_>>()
    };
    let band = band(&x, &side(|range| range.0), &side(|range| range.1));
    if band.is_empty() {
        return band;
    }
    format!("<path class=\"area s{i}\" fill=\"var(--t{i})\" d=\"{band}\"/>")
}

/// Returns the dot that shows a result. If the result has lost data, the dot is hollow.
fn dot(i: usize, (x, y): (f64, f64), row: &Row, measure: &Measure) -> String {
    let (fill, lost) = if row.kept_data() {
        (format!("var(--t{i})"), "")
    } else {
        ("var(--card)".to_owned(), ", loses data")
    };
    let mut svg = String::new();
    let _ = write!(
        svg,
        "<circle class=\"s{i}\" cx=\"{}\" cy=\"{}\" r=\"4\" stroke=\"var(--t{i})\" \
         stroke-width=\"2\" fill=\"{fill}\"><title>{}: {}{lost}</title></circle>",
        percent(x),
        percent(1.0 - y),
        escape(&row.label),
        escape(&measure.text(row))
    );
    svg
}
