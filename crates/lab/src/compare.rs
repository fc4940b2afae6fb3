//! Comparison of techniques on the same workload and seeds: a row for each technique, the winner of
//! each column, and a verdict in words.
//!
//! `compare.json`: results of `vpass compare --out DIR`; `--json` prints the same object. `KEY` is
//! the key of a column, such as `read_p99_9_us`.
//!
//! | key | type | meaning |
//! |---|---|---|
//! | `schema` | integer | Version of this form of the file: 1. New keys do not change it. |
//! | `vpass` | text | Version of vpass. |
//! | `drive`, `workload`, `workload_source`, `gear` | text | As in `summary.json`. |
//! | `workload_generated` | true or false | As in `summary.json`. |
//! | `seed`, `seeds` | integer | First seed, and number of seeds. |
//! | `verdict` | list of text | Sentences that are printed below the table. |
//! | `winners.KEY` | list of text | Labels of the rows that win the column; empty without a winner. |
//! | `not_told_apart.KEY` | list of text | Labels of the rows that may be the best of the column and that the runs cannot tell apart, by 95 % intervals. Equal rows are among them. All competing rows are in the list if the noise of a number is unknown, or if the numbers may not be compared. Empty if one row is clearly the best. |
//! | `winners.life`, `not_told_apart.life` | list of text | The lists of the life in this workload's unit. |
//! | `columns.KEY.label` | text | Name of the column for a reader. |
//! | `columns.KEY.unit` | text | Unit of the column's values: `us`, `days`, `pages`, `blocks`, `bytes`, `%`, `retries per page read` or `codewords per bit`; empty for a ratio. |
//! | `techniques[].label` | text | Name of the row in the table and in all lists of this file. |
//! | `techniques[].reclaim`, `gc`, `refresh`, `parity` | text | Techniques of the row. The last two are absent if no row has any. |
//! | `techniques[].counterfactual` | true or false | Whether no real drive has these results. |
//! | `techniques[].baseline` | true or false | Whether the row has no read reclaim, beside rows that have. It never wins. |
//! | `techniques[].no_wear_seen` | true or false | Whether nothing was programmed or erased in any run. |
//! | `techniques[].saturated` | true or false | Whether requests came faster than the drive could serve them, in any run. |
//! | `techniques[].life_low_days`, `life_high_days` | number or null | Ends of the range of the life, in days. |
//! | `techniques[].life_settled` | true or false | Whether rates and state have settled in all runs, so that vpass can project a life. |
//! | `techniques[].life_unit`, `life_low`, `life_high` | text, number or null | Unit of the life, and its range in this unit. |
//! | `techniques[].columns.KEY.mean` | number | Mean over seeds. The column is null if a run has no value. |
//! | `techniques[].columns.KEY.ci95` | number or null | Half the width of the 95 % interval over seeds; null with one seed. |
//! | `techniques[].columns.KEY.half95` | number or null | Half the width of the 95 % interval over seeds or by batch means, whichever is wider; null if unknown. |
//! | `techniques[].warnings` | list of text | Warnings of all runs. |
//! | `techniques[].runs` | list of object | The `summary.json` of each seed. |
//! | `stopped`, `refused` | list of object | Techniques without a row, each with its reason; absent without such techniques. |

pub mod column;
pub mod net;
pub mod ranking;
pub mod refused;
mod reliability;
pub mod row;
pub mod verdict;
pub mod warnings;

use serde::Serialize;
use serde_json::{Map, Value, json};
use vpass_core::slots::parity::NO_PARITY;
use vpass_core::slots::reclaim::NO_RECLAIM;
use vpass_core::slots::refresh::NO_REFRESH;

use crate::as_json;
use crate::failure::Failure;
use crate::plan::RunPlan;
use crate::results::{Confidence, LifeUnit, Summary};
use column::{COLUMNS, Sizes};
use ranking::{not_told_apart, winners};
pub use reliability::unequal_reliability;
use row::{ComparisonRow, RowLife, Stopped};

/// Builds the rows from runs in the order of the techniques. Each technique has several seeds. A
/// technique whose drive stopped in any run has no row.
pub fn rows(
    plans: &[&RunPlan],
    finished: Vec<Result<Summary, Failure>>,
    seeds: usize,
) -> (Vec<ComparisonRow>, Vec<Stopped>) {
    let many_gcs = plans.iter().any(|p| p.gc != plans[0].gc);
    // The label of a parity technique includes the technique's own refresh.
    let many_refreshes =
        plans.iter().any(|p| p.said_of_refresh.is_named && p.refresh != plans[0].refresh);
    let many_parities = plans.iter().any(|p| p.parity != plans[0].parity);
    let (mut rows, mut stopped) = (vec![], vec![]);
    let mut finished = finished.into_iter();
    for plan in plans.chunks(seeds).map(|chunk| chunk[0]) {
        let others = [
            (many_gcs, plan.gc.name),
            (many_refreshes, plan.refresh.name),
            (many_parities, plan.parity.name),
        ];
        let others = others.into_iter().filter(|(many, _)| *many);
        let label = others
            .fold(plan.reclaim.name.to_owned(), |label, (_, name)| format!("{label} + {name}"));
        match finished
            .by_ref()
            .take(seeds)
            .collect::<Vec<_>>()
            .into_iter()
            .collect::<Result<Vec<_>, _>>()
        {
            Ok(runs) => rows.push(ComparisonRow::new(plan, label, runs)),
            Err(failure) => {
                stopped.push(Stopped::of(plan, label, failure.in_dialect(plan.dialect)))
            }
        }
    }
    mark_baselines(&mut rows);
    if let Some(sentence) = unequal_reliability(&rows) {
        rows.iter_mut().flat_map(|row| &mut row.runs).for_each(|run| run.warn(sentence.as_str()));
    }
    (rows, stopped)
}

/// Marks the rows without read reclaim, if other rows have a technique.
fn mark_baselines(rows: &mut [ComparisonRow]) {
    let has_technique = rows.iter().any(|row| row.reclaim != NO_RECLAIM);
    for row in rows {
        row.baseline = has_technique && row.reclaim == NO_RECLAIM;
    }
}

/// Returns whether the comparison of these rows shows this column.
pub fn stands(rows: &[ComparisonRow], column: usize) -> bool {
    let of = &COLUMNS[column];
    !of.is_of_aged_data()
        || rows.iter().any(|row| row.means[column].is_some_and(|e| of.says_something(e.mean)))
}

/// Returns the unit of the lives of these rows; `None` if the rows have different units.
pub fn life_unit(rows: &[ComparisonRow]) -> Option<LifeUnit> {
    let first = rows.first()?.life_unit();
    first.filter(|_| rows.iter().all(|row| row.life_unit() == first))
}

/// Returns whether any row refreshes its data.
pub fn refreshes(rows: &[ComparisonRow]) -> bool {
    rows.iter().any(|row| row.refresh != NO_REFRESH)
}

/// Returns whether any row keeps parity.
pub fn has_parity(rows: &[ComparisonRow]) -> bool {
    rows.iter().any(|row| row.parity != NO_PARITY)
}

#[expect(clippy::struct_excessive_bools, reason = "each variant is a different value in the file")]
#[derive(Serialize)]
struct Technique<'a> {
    /// Name in the table and in the other lists of the file.
    label: &'a str,
    reclaim: &'a str,
    gc: &'a str,
    /// Name of the refresh technique; absent if no row has refresh.
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh: Option<&'a str>,
    /// Name of the parity technique; absent if no row has parity.
    #[serde(skip_serializing_if = "Option::is_none")]
    parity: Option<&'a str>,
    counterfactual: bool,
    baseline: bool,
    /// Whether nothing was programmed or erased in any run.
    no_wear_seen: bool,
    /// Whether requests came faster than the drive could serve them, in any run.
    saturated: bool,
    /// Ends of the range of the life over all runs, in days; null without a life.
    life_low_days: Option<f64>,
    life_high_days: Option<f64>,
    /// Whether rates and state have settled in all runs, so that vpass can project a life.
    life_settled: bool,
    /// Unit of the life, and the ends of its range in this unit; null without a life.
    life_unit: Option<LifeUnit>,
    life_low: Option<f64>,
    life_high: Option<f64>,
    columns: Map<String, Value>,
    /// Warnings of all runs. Warnings that differ only in numbers are merged.
    warnings: Vec<String>,
    runs: &'a [Summary],
}

/// Returns the content of `compare.json`, including any stopped techniques. The first run has the
/// seed of `plan`, and the others have the following seeds.
///
/// # Errors
/// Reports a value that JSON cannot hold.
pub fn json_of(
    rows: &[ComparisonRow],
    stopped: &[Stopped],
    plan: &RunPlan,
    seeds: u32,
) -> Result<Value, Failure> {
    let mut techniques = vec![];
    for row in rows {
        let mut columns = Map::new();
        for c in (0..COLUMNS.len()).filter(|c| stands(rows, *c)) {
            let mut cell = as_json::value(&row.means[c])?;
            if let Some(cell) = cell.as_object_mut() {
                cell.insert("half95".into(), as_json::value(&row.halves[c])?);
            }
            columns.insert(COLUMNS[c].key.into(), cell);
        }
        let (days, life) =
            (row.life(LifeUnit::Days), row.life_unit().and_then(|unit| row.life(unit)));
        let high =
            |life: Option<RowLife>| life.map(|life| life.high).filter(|high| high.is_finite());
        techniques.push(as_json::value(&Technique {
            label: &row.label,
            reclaim: row.reclaim,
            gc: row.gc,
            refresh: refreshes(rows).then_some(row.refresh),
            parity: has_parity(rows).then_some(row.parity),
            counterfactual: row.counterfactual,
            baseline: row.baseline,
            no_wear_seen: row.runs.iter().all(|run| run.wear.confidence() == Confidence::NoWear),
            saturated: row.is_saturated(),
            life_settled: row.life_settled(),
            life_low_days: days.map(|life| life.low),
            life_high_days: high(days),
            life_unit: life.map(|life| life.unit),
            life_low: life.map(|life| life.low),
            life_high: high(life),
            columns,
            warnings: row.warnings(),
            runs: &row.runs,
        })?);
    }
    let (mut best, mut tied, mut columns) = (Map::new(), Map::new(), Map::new());
    let sizes = Sizes::of(plan);
    for (c, column) in COLUMNS.iter().enumerate().filter(|(c, _)| stands(rows, *c)) {
        let wins = winners(rows, c, &sizes);
        let names: Vec<_> = rows
            .iter()
            .zip(wins)
            .filter(|(_, wins)| *wins)
            .map(|(r, _)| r.label.as_str())
            .collect();
        best.insert(column.key.into(), json!(names));
        tied.insert(column.key.into(), json!(not_told_apart(rows, c, &sizes)));
        let about = json!({ "label": column.label(), "unit": column.unit() });
        columns.insert(column.key.into(), about);
    }
    // The life in this workload's unit.
    for lists in [&mut best, &mut tied] {
        let of_life = life_unit(rows).and_then(|unit| lists.get(unit.key()).cloned());
        lists.insert("life".into(), of_life.unwrap_or_else(|| json!([])));
    }
    let mut own = vec![
        ("verdict", json!(verdict::sentences(rows, &sizes))),
        ("winners", best.into()),
        ("not_told_apart", tied.into()),
        ("columns", columns.into()),
        ("techniques", techniques.into()),
    ];
    if !stopped.is_empty() {
        own.push(("stopped", as_json::value(&stopped)?));
    }
    Ok(plan.results_json(seeds, own))
}

#[cfg(test)]
mod tests;
