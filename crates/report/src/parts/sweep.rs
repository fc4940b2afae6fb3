//! Page of a sweep: one chart for each measure that changes, and the table of all points. With one
//! swept key, the charts have lines. With two swept keys, the charts are heat maps.

mod axis;
mod heat;
mod lines;
mod measure;
mod points;

use crate::model::{Model, Row, Sweep};
use crate::section::{Head, Section, absent, csv, figure, foot, raw};
use crate::sentences::sweep::{best_at, how_to_read};
use crate::table::Table;

use axis::Axis;
use measure::Measure;

/// Largest number of values that a key may have in a heat map. In a larger map, the cells are too
/// small.
const MOST_CELLS: usize = 24;

/// Returns the page sections with the charts and the table of a sweep.
pub(crate) fn sections(model: &Model) -> Vec<Section> {
    let Some(sweep) = &model.sweep else { return vec![] };
    let mut all = charts(model, sweep);
    all.push(points::section(model, sweep));
    all
}

fn charts(model: &Model, sweep: &Sweep) -> Vec<Section> {
    const TITLE: &str = "Charts of the sweep";
    let axes: Vec<Axis> =
        (0..sweep.keys.len()).map(|k| Axis::of(&sweep.keys[k], &sweep.points, k)).collect();
    if axes.len() > 2 {
        let why = format!(
            "These charts are absent: {} keys are swept, but a chart shows only one or two. The \
             table below has all points.",
            axes.len()
        );
        return vec![absent("sweep", TITLE, &why)];
    }
    if axes.len() == 2 && axes.iter().any(|axis| axis.len() > MOST_CELLS) {
        let why = format!(
            "These charts are absent: a key has more than {MOST_CELLS} values, too many for a heat \
             map. The table below has all points."
        );
        return vec![absent("sweep", TITLE, &why)];
    }
    let drawn: Vec<Measure> =
        Measure::all(sweep).into_iter().filter(|measure| measure.changes(sweep)).collect();
    if drawn.is_empty() {
        let why = "These charts are absent: no measure differs between the points. The table below \
            has all points.";
        return vec![absent("sweep", TITLE, why)];
    }
    drawn.iter().map(|measure| section(model, sweep, &axes, measure)).collect()
}

fn section(model: &Model, sweep: &Sweep, axes: &[Axis], measure: &Measure) -> Section {
    let id = format!("sweep-{}", measure.key.replace('_', "-"));
    let body = match axes {
        [x, y] => heat::maps(model, sweep, (x, y), measure),
        _ => lines::chart(model, sweep, &axes[0], measure),
    };
    let over = axes.iter().map(|axis| axis.key.as_str()).collect::<Vec<_>>().join(" and ");
    let mut title = format!("{} over {over}", measure.label);
    title[..1].make_ascii_uppercase();
    let say = format!("{} {}", best_at(sweep, &measure.key), how_to_read(axes.len()));
    let source = format!("{}. sweep.json", measure.source(axes.len()));
    let head = Head { id: &id, title: &title, say: &say };
    let html = figure(&head, &body, &foot(&source, &table(model, sweep, measure)));
    Section { html, data: vec![numbers(model, sweep, measure, &id)] }
}

/// Returns the results of each technique at each point of the sweep, with the values of the swept
/// keys.
fn results<'a>(
    model: &'a Model,
    sweep: &'a Sweep,
) -> impl Iterator<Item = (&'a [String], &'a Row)> + use<'a> {
    sweep.points.iter().flat_map(move |point| {
        model.all().filter_map(move |row| Some((&point.values[..], point.row(&row.label)?)))
    })
}

fn table(model: &Model, sweep: &Sweep, measure: &Measure) -> String {
    let heading = sweep.keys.iter().map(String::as_str).chain(["technique", &measure.label]);
    let mut table = Table::new(heading.collect::<Vec<_>>());
    for (values, row) in results(model, sweep) {
        table.row(values.iter().cloned().chain([row.label.clone(), measure.text(row)]));
    }
    table.html(&measure.label, |_| String::new())
}

/// Returns the numbers of a chart as CSV text.
fn numbers(
    model: &Model,
    sweep: &Sweep,
    measure: &Measure,
    id: &str,
) -> (&'static str, serde_json::Value) {
    let half = format!("{}_half95", measure.key);
    let more = ["technique", &measure.key, &half, "lost_pages"];
    let heading: Vec<&str> = sweep.keys.iter().map(String::as_str).chain(more).collect();
    let rows: Vec<Vec<String>> = results(model, sweep)
        .map(|(values, row)| {
            let (value, half) = (measure.value(row), measure.half(row));
            let cells = [row.label.clone(), raw(value), raw(half), row.lost_pages.to_string()];
            values.iter().cloned().chain(cells).collect()
        })
        .collect();
    csv(id, &heading, &rows)
}

#[cfg(test)]
mod tests;
