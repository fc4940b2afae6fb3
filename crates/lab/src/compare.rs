//! Techniques side by side, on the same workload and seeds: a row for each, who wins each column, and what that comes to in a sentence or two.

pub mod column;
pub mod mean_ci95;
pub mod refused;
mod reliability;
pub mod row;
pub mod verdict;

use serde::Serialize;
use serde_json::{Map, Value, json};
use vpass_core::slots::parity::NO_PARITY;
use vpass_core::slots::refresh::NO_REFRESH;

use crate::as_json;
use crate::failure::Failure;
use crate::plan::RunPlan;
use crate::results::Summary;
use column::{COLUMNS, Column};
use mean_ci95::mean_ci95;
pub use reliability::unequal_reliability;
use row::{ComparisonRow, RowLife, Stopped};
use verdict::winners;

/// The rows of runs that were made in this order: techniques as given, so many seeds of each. A technique whose drive stopped on one of them has
/// no row.
pub fn rows(plans: &[&RunPlan], finished: Vec<Result<Summary, Failure>>, seeds: usize) -> (Vec<ComparisonRow>, Vec<Stopped>) {
    let many_gcs = plans.iter().any(|p| p.gc != plans[0].gc);
    // What a parity technique brings goes by its name.
    let many_refreshes = plans.iter().any(|p| p.said_of_refresh.is_named && p.refresh != plans[0].refresh);
    let many_parities = plans.iter().any(|p| p.parity != plans[0].parity);
    let (mut rows, mut stopped) = (vec![], vec![]);
    let mut finished = finished.into_iter();
    for plan in plans.chunks(seeds).map(|chunk| chunk[0]) {
        let others = [(many_gcs, plan.gc), (many_refreshes, plan.refresh), (many_parities, plan.parity)];
        let others = others.into_iter().filter(|(many, _)| *many);
        let label = others.fold(plan.reclaim.to_owned(), |label, (_, name)| format!("{label} + {name}"));
        match finished.by_ref().take(seeds).collect::<Vec<_>>().into_iter().collect::<Result<Vec<_>, _>>() {
            Ok(runs) => rows.push(row(plan, label, runs)),
            Err(failure) => stopped.push(Stopped::of(plan, label, failure.sentence)),
        }
    }
    if let Some(sentence) = unequal_reliability(&rows) {
        rows.iter_mut().flat_map(|row| &mut row.runs).for_each(|run| run.warn(sentence.as_str()));
    }
    (rows, stopped)
}

fn row(plan: &RunPlan, label: String, runs: Vec<Summary>) -> ComparisonRow {
    let of = |column: &Column| {
        let values: Option<Vec<f64>> = runs.iter().map(column.value).collect();
        values.and_then(|v| mean_ci95(&v))
    };
    ComparisonRow {
        reclaim: plan.reclaim,
        gc: plan.gc,
        refresh: plan.refresh,
        parity: plan.parity,
        counterfactual: plan.is_counterfactual(),
        label,
        means: COLUMNS.iter().map(of).collect(),
        runs,
    }
}

/// Whether a column stands in a comparison of these rows.
pub fn stands(rows: &[ComparisonRow], column: usize) -> bool {
    let of = &COLUMNS[column];
    !of.is_of_aged_data() || rows.iter().any(|row| row.means[column].is_some_and(|e| of.says_something(e.mean)))
}

/// Whether any row refreshes its data.
pub fn refreshes(rows: &[ComparisonRow]) -> bool {
    rows.iter().any(|row| row.refresh != NO_REFRESH)
}

/// Whether any row keeps parity.
pub fn has_parity(rows: &[ComparisonRow]) -> bool {
    rows.iter().any(|row| row.parity != NO_PARITY)
}

#[derive(Serialize)]
struct Technique<'a> {
    reclaim: &'a str,
    gc: &'a str,
    /// Absent where it is none in every row.
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh: Option<&'a str>,
    /// The same.
    #[serde(skip_serializing_if = "Option::is_none")]
    parity: Option<&'a str>,
    counterfactual: bool,
    /// Whether nothing was programmed or erased in any run.
    no_wear_seen: bool,
    /// Whether requests came faster than the drive could serve them, in any run.
    saturated: bool,
    /// Of the life, over all runs; null where there is none.
    life_low_days: Option<f64>,
    life_high_days: Option<f64>,
    columns: Map<String, Value>,
    /// Those of all runs, each once.
    warnings: Vec<&'a str>,
    runs: &'a [Summary],
}

/// All of it, as it stands in `compare.json`, with the techniques whose drives stopped where any did. The runs are those of `plan` and of so many seeds from its own on.
///
/// # Errors
/// A value that has no JSON.
pub fn json_of(rows: &[ComparisonRow], stopped: &[Stopped], plan: &RunPlan, seeds: u32) -> Result<Value, Failure> {
    let mut techniques = vec![];
    for row in rows {
        let mut columns = Map::new();
        for (column, mean) in (0..COLUMNS.len()).filter(|c| stands(rows, *c)).map(|c| (&COLUMNS[c], &row.means[c])) {
            columns.insert(column.key.into(), as_json::value(mean)?);
        }
        let life = row.life();
        let range = if let RowLife::Days { low, high, .. } = life { (Some(low), Some(high)) } else { (None, None) };
        techniques.push(as_json::value(&Technique {
            reclaim: row.reclaim,
            gc: row.gc,
            refresh: refreshes(rows).then_some(row.refresh),
            parity: has_parity(rows).then_some(row.parity),
            counterfactual: row.counterfactual,
            no_wear_seen: life == RowLife::NoWear,
            saturated: row.is_saturated(),
            life_low_days: range.0,
            life_high_days: range.1.filter(|days| days.is_finite()),
            columns,
            warnings: row.warnings(),
            runs: &row.runs,
        })?);
    }
    let mut best = Map::new();
    for (c, column) in COLUMNS.iter().enumerate().filter(|(c, _)| stands(rows, *c)) {
        let names: Vec<_> = rows.iter().zip(winners(rows, c)).filter(|(_, wins)| *wins).map(|(r, _)| r.label.as_str()).collect();
        best.insert(column.key.into(), json!(names));
    }
    let mut own = vec![("winners", best.into()), ("techniques", techniques.into())];
    if !stopped.is_empty() {
        own.push(("stopped", as_json::value(&stopped)?));
    }
    Ok(as_json::of_techniques(plan, seeds, own))
}
