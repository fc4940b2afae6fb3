//! Results of a sweep as CSV.

use vpass_drive::api::parity::NO_PARITY;
use vpass_drive::api::refresh::NO_REFRESH;
use vpass_lab::compare::row::ComparisonRow;
use vpass_lab::compare::sweep::{Refusal, Sweep};
use vpass_lab::results::quantity::{QUANTITIES, Quantity};
use vpass_report::csv;

use crate::compare::{cells_of_csv, heading_of_csv};

/// Returns the results of all points as CSV, with a row for each technique. The swept keys are
/// columns. The last column, `life_settled`, says whether a projected life can be ranked.
pub(super) fn csv(sweep: &Sweep) -> String {
    let compared = || sweep.points.iter().filter_map(|point| point.comparison.as_ref());
    let has = |of: &&Quantity| compared().any(|one| one.columns.contains_key(of.key));
    let shown: Vec<&Quantity> = QUANTITIES.iter().filter(has).collect();
    let mut heading = sweep.swept.clone();
    heading.extend(["reclaim", "gc", "refresh", "parity", "runs", "refused"].map(String::from));
    heading.extend(heading_of_csv(&shown));
    let width = heading.len();
    let mut rows = vec![heading];
    for point in &sweep.points {
        let swept: Vec<String> = sweep.values(point);
        let techniques = |row: &ComparisonRow| {
            let refresh = row.refresh.as_deref().unwrap_or(NO_REFRESH);
            let parity = row.parity.as_deref().unwrap_or(NO_PARITY);
            let names = [&row.reclaim, &row.gc, refresh, parity].map(String::from);
            let runs = [row.runs.len().to_string(), String::new()];
            let cells = names.into_iter().chain(runs).chain(cells_of_csv(row, &shown));
            swept.iter().cloned().chain(cells).collect()
        };
        rows.extend(point.comparison.iter().flat_map(|one| &one.techniques).map(techniques));
        for Refusal { label, why } in point.without_results() {
            let mut cells = swept.clone();
            cells.extend([label.unwrap_or_default(), String::new(), String::new()]);
            cells.extend([String::new(), "0".into(), why]);
            cells.resize(width, String::new());
            rows.push(cells);
        }
    }
    csv::text(&rows)
}
