//! Chart that shows a measure over one swept key, with a line for each technique.

use crate::chart::Chart;
use crate::measure::Measure;
use crate::model::{Model, Row, Sweep};
use crate::scale::Scale;
use crate::svg::escape;

use super::axis::Axis;

const HEIGHT: u32 = 280;

/// Returns the chart of a measure as markup.
pub(super) fn chart(model: &Model, sweep: &Sweep, x: &Axis, measure: &Measure) -> String {
    let values: Vec<f64> = sweep.rows().filter_map(|row| measure.value(row)).collect();
    let y = Scale::around(&values, 1.0, measure.format());
    let mut drawn = Chart::new(HEIGHT, &x.scale, &y);
    for (i, row) in model.rows.iter().enumerate() {
        // Results of the technique at each value of the axis.
        let of_value = |value: &String| sweep.points.iter().find(|point| point.values[0] == *value);
        let course = x.values.iter().map(|value| of_value(value)?.row(&row.label));
        let course: Vec<(f64, Option<&Row>)> = x.at.iter().copied().zip(course).collect();
        let known = || course.iter().filter_map(|(at, row)| Some((*at, (*row)?)));
        let range = |(at, row)| {
            let value = measure.value(row);
            let (low, high) = measure.range(row).or_else(|| Some((value?, value?)))?;
            Some((at, low, high))
        };
        drawn.band(i, &known().filter_map(range).collect::<Vec<_>>());
        let points = course.iter().map(|(at, row)| (*at, row.and_then(|row| measure.value(row))));
        drawn.line(i, &row.label, &points.collect::<Vec<_>>());
        for (at, row) in known() {
            let Some(value) = measure.value(row) else { continue };
            let lost = if row.kept_data() { "" } else { ", loses data" };
            let title = format!("{}: {}{lost}", row.label, measure.text(row));
            drawn.dot(i, (at, value), !row.kept_data(), &title);
        }
    }
    let said = format!("{} over {}; the numbers are in the table below", measure.label, x.key);
    let scale = if x.scale.is_log() { ", logarithmic" } else { "" };
    format!(
        "<div class=\"chart swept\">{}<div class=\"xlab\"></div><p class=\"unit\">x: {}{scale}</p>\
         </div>",
        drawn.svg(true, &said),
        escape(&x.key)
    )
}
