//! Chart that shows a measure over one swept key, with a line for each technique.

use crate::chart::Chart;
use crate::model::{Model, Row, Sweep};
use crate::scale::{Linear, Log, Scale, ends};
use crate::svg::escape;

use super::axis::Axis;
use super::measure::Measure;

const HEIGHT: u32 = 280;
/// Factor between the smallest and the largest value from which the y axis is logarithmic.
const WIDE: f64 = 50.0;

/// Returns the chart of a measure as markup.
pub(super) fn chart(model: &Model, sweep: &Sweep, x: &Axis, measure: &Measure) -> String {
    let y = scale(sweep, measure);
    let mut drawn = Chart::new(HEIGHT, x, &*y);
    for (i, row) in model.rows.iter().enumerate() {
        let course = course(sweep, x, &row.label);
        let known = || course.iter().enumerate().filter_map(|(n, at)| Some((n as f64, (*at)?)));
        let range = |(n, row): (f64, &Row)| {
            let value = measure.value(row);
            let (low, high) = measure.range(row).or_else(|| Some((value?, value?)))?;
            Some((n, low, high))
        };
        drawn.band(i, &known().filter_map(range).collect::<Vec<_>>());
        let values = course.iter().map(|at| at.and_then(|row| measure.value(row)));
        let points = values.enumerate().map(|(n, value)| (n as f64, value));
        drawn.line(i, &row.label, &points.collect::<Vec<_>>());
        for (n, row) in known() {
            let Some(value) = measure.value(row) else { continue };
            let lost = if row.kept_data() { "" } else { ", loses data" };
            let title = format!("{}: {}{lost}", row.label, measure.text(row));
            drawn.dot(i, (n, value), !row.kept_data(), &title);
        }
    }
    let said = format!("{} over {}; the numbers are in the table below", measure.label, x.key);
    let scale = if x.is_logarithmic() { ", logarithmic" } else { "" };
    format!(
        "<div class=\"chart swept\">{}<div class=\"xlab\"></div><p class=\"unit\">x: {}{scale}</p>\
         </div>",
        drawn.svg(true, &said, "right"),
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
