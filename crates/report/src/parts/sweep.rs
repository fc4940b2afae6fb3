//! Page of a sweep: one chart for each measure that changes, and the table of all points. With one
//! swept key, the charts have lines. With two swept keys, the charts are heat maps.

mod axis;
mod heat;
mod lines;

use crate::measure::{LIFE, Measure};
use crate::model::{Model, Row, Sweep};
use crate::scale::ends;
use crate::section::{Entry, Figure, Section, absent, capitalised, csv, of_table, raw};
use crate::sentences::sweep::{best_at, how_to_read};
use crate::table::Table;

use axis::Axis;

/// Largest number of values that a key may have in a heat map. In a larger map, the cells are too
/// small.
const MOST_CELLS: usize = 24;
/// Largest number of rows in the table of all points. A longer table would make the page slow.
const MOST_ROWS: usize = 2_000;
/// Quantities that have a chart on the page, in the order of the charts. The life comes first.
const CHARTS: [&str; 5] =
    ["read_wear", "write_amplification", "reclaim_write_pages", "read_p99_9_us", "uber"];

/// Returns the page sections with the charts and the table of a sweep.
pub(crate) fn sections(model: &Model) -> Vec<Section> {
    let Some(sweep) = &model.sweep else { return vec![] };
    let axes: Vec<Axis> = (0..sweep.keys.len()).map(|k| Axis::of(sweep, k)).collect();
    let drawn = measures(sweep);
    let why = if axes.len() > 2 {
        format!("{} keys are swept, but a chart shows only one or two", axes.len())
    } else if axes.len() == 2 && axes.iter().any(|axis| axis.len() > MOST_CELLS) {
        format!("a key has more than {MOST_CELLS} values, too many for a heat map")
    } else if drawn.is_empty() {
        "no measure differs between the points".into()
    } else {
        let charts = drawn.iter().map(|measure| section(model, sweep, &axes, measure));
        return charts.chain([all_points(model, sweep)]).collect();
    };
    let why = format!("These charts are absent: {why}. The table below has all points.");
    vec![absent("sweep", "Charts of the sweep", &why), all_points(model, sweep)]
}

/// Returns the measures whose results differ. Lives with different units are left out.
fn measures(sweep: &Sweep) -> Vec<Measure> {
    let life = Measure::life(sweep.rows());
    let mut units = sweep.rows().filter_map(|row| Some(row.life?.unit));
    let first = units.next();
    let life = units.all(|unit| Some(unit) == first).then_some(life);
    let changes = |measure: &Measure| {
        let ends = ends(sweep.rows().filter_map(|row| measure.value(row)));
        ends.is_some_and(|(low, high)| high > low)
    };
    life.into_iter().chain(CHARTS.map(Measure::of)).filter(changes).collect()
}

fn section(model: &Model, sweep: &Sweep, axes: &[Axis], measure: &Measure) -> Section {
    let id = format!("sweep-{}", measure.key.replace('_', "-"));
    let (body, marks) = match axes {
        [x, y] => (
            heat::maps(model, sweep, (x, y), measure),
            "All maps of this measure have the same colours",
        ),
        _ if measure.key == LIFE => {
            (lines::chart(model, sweep, &axes[0], measure), "Bands: range of the life")
        }
        _ => (lines::chart(model, sweep, &axes[0], measure), "Bands: 95 % intervals"),
    };
    let over = axes.iter().map(|axis| axis.key.as_str()).collect::<Vec<_>>().join(" and ");
    let figure = Figure {
        id: &id,
        title: &capitalised(format!("{} over {over}", measure.label)),
        say: format!("{} {}", best_at(sweep, measure.key), how_to_read(axes.len())),
        body,
        source: &format!("{marks}. sweep.json"),
        table: table(model, sweep, &[*measure], usize::MAX).html(measure.label),
    };
    figure.section(vec![numbers(model, sweep, measure, &id)])
}

/// Returns the page section with the table of all points. Each technique has a row at each point.
fn all_points(model: &Model, sweep: &Sweep) -> Section {
    let life = Measure::life(sweep.rows());
    let is_known = |measure: &Measure| sweep.rows().any(|row| measure.value(row).is_some());
    let of_runs: Vec<Measure> = Measure::all(model.kind).filter(is_known).collect();
    let shown: Vec<Measure> =
        [life].into_iter().filter(is_known).chain(of_runs.iter().copied()).collect();
    let all = results(model, sweep).count();
    let say = if all > MOST_ROWS {
        format!("This table has the first {MOST_ROWS} of {all} rows. sweep.csv has all rows.")
    } else {
        "Each row is for one technique at one point.".to_owned()
    };
    let table = table(model, sweep, &shown, MOST_ROWS).html("Results by point and technique");
    let keys = of_runs.iter().map(|measure| measure.key);
    let data = csv_of(model, sweep, "table", keys, MOST_ROWS, |row| {
        of_runs.iter().map(|measure| raw(measure.value(row))).collect()
    });
    of_table("All points", &say, &table, data)
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

/// Returns a table of these measures, with at most `most` rows.
fn table(model: &Model, sweep: &Sweep, measures: &[Measure], most: usize) -> Table {
    let labels = measures.iter().map(|measure| measure.label);
    let heading = sweep.keys.iter().map(String::as_str).chain(["technique"]).chain(labels);
    let mut table = Table::new(heading.collect::<Vec<_>>());
    for (values, row) in results(model, sweep).take(most) {
        let cells = measures.iter().map(|measure| measure.text(row));
        table.row(values.iter().chain([&row.label]).cloned().chain(cells));
    }
    table
}

/// Returns the numbers of a chart as CSV text.
fn numbers(model: &Model, sweep: &Sweep, measure: &Measure, id: &str) -> Entry {
    let half = format!("{}_half95", measure.key);
    csv_of(model, sweep, id, [measure.key, &half, "lost_pages"], usize::MAX, |row| {
        let half = measure.range(row).map(|(low, high)| (high - low) / 2.0);
        vec![raw(measure.value(row)), raw(half), row.lost_pages.to_string()]
    })
}

/// Returns numbers of each technique at each point as CSV text, with at most `most` rows.
fn csv_of<'a>(
    model: &Model,
    sweep: &'a Sweep,
    id: &str,
    names: impl IntoIterator<Item = &'a str>,
    most: usize,
    cells: impl Fn(&Row) -> Vec<String>,
) -> Entry {
    let heading = sweep.keys.iter().map(String::as_str).chain(["technique"]).chain(names);
    let rows = results(model, sweep).take(most).map(|(values, row)| {
        values.iter().chain([&row.label]).cloned().chain(cells(row)).collect()
    });
    csv(id, &heading.collect::<Vec<_>>(), &rows.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests;
