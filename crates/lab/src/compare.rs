//! Comparison of techniques on the same workload and seeds: a row for each technique, the winner of
//! each column, and a verdict in words.
//!
//! `compare.json`: results of `vpass compare --out DIR`. `--json` prints the same object. `KEY`
//! stands for the key of a column, such as `read_p99_9_us`.
//!
//! | key | type | meaning |
//! |---|---|---|
//! | `schema` | integer | Version of this file's format: 1. A new key does not change the version. |
//! | `vpass` | text | Version of vpass. |
//! | `drive`, `workload`, `workload_source`, `gear` | text | Same meaning as in `summary.json`. |
//! | `workload_generated` | true or false | Same meaning as in `summary.json`. |
//! | `seed`, `seeds` | integer | First seed, and number of seeds. |
//! | `verdict` | list of text | Sentences that are printed below the table. |
//! | `winners.KEY` | list of text | Labels of the rows that win the column; empty without a winner. |
//! | `not_told_apart.KEY` | list of text | Labels of the rows that may be the best of the column: the best row, and all rows whose difference to it is below 1 % or has a 99 % interval that includes 0. Rows with equal values are included. If the noise of a difference is unknown, or if the numbers may not be compared, all competing rows are included. Empty if one row is clearly the best. |
//! | `winners.life`, `not_told_apart.life` | list of text | Lists for the drive's life, measured in the unit that suits this workload. |
//! | `columns.KEY.label` | text | Name of the column for a reader. |
//! | `columns.KEY.unit` | text | Unit of the column's values: `us`, `days`, `pages`, `blocks`, `bytes`, `%`, `retries per page read` or `codewords per bit`. Empty for a ratio. |
//! | `techniques[].label` | text | Name of the row in the table and in all lists of this file. |
//! | `techniques[].reclaim`, `gc`, `refresh`, `parity` | text | Names of the row's techniques. `refresh` is absent if no row has a refresh technique. `parity` is absent if no row has a parity technique. |
//! | `techniques[].counterfactual` | true or false | Whether the row is counterfactual: no real drive can have its results. |
//! | `techniques[].baseline` | true or false | Whether the row has no read reclaim, while other rows have it. A baseline never wins. |
//! | `techniques[].no_wear_seen` | true or false | Whether no run programmed or erased anything. |
//! | `techniques[].saturated` | true or false | Whether requests came faster than the drive could serve them in any run. |
//! | `techniques[].life_low_days`, `life_high_days` | number or null | Shortest and longest probable life, in days. |
//! | `techniques[].life_settled` | true or false | Whether the rates and the drive's state settled in all runs. Only then can vpass project a life. |
//! | `techniques[].life_unit`, `life_low`, `life_high` | text, number or null | Unit of the life, and the shortest and longest probable life in this unit. |
//! | `techniques[].columns.KEY.mean` | number | Mean over seeds. If a run has no value, the whole column is null. |
//! | `techniques[].columns.KEY.ci95` | number or null | Half the width of the 95 % interval over seeds; null with one seed. |
//! | `techniques[].columns.KEY.half95` | number or null | Half the width of the 95 % interval: over seeds (`ci95`), or, with one seed, by batch means. Null if unknown. |
//! | `techniques[].warnings` | list of text | Warnings of all runs. |
//! | `techniques[].runs` | list of object | The `summary.json` of each seed. |
//! | `stopped`, `refused` | list of object | Techniques that have no row, each with the reason. Absent if every technique has a row. |

pub mod column;
pub mod net;
pub mod pairs;
pub mod ranking;
pub mod refused;
mod reliability;
pub mod row;
pub mod verdict;
pub mod warnings;

use serde::Serialize;
use serde_json::{Map, Value, json};
use vpass_drive::api::parity::NO_PARITY;
use vpass_drive::api::reclaim::NO_RECLAIM;
use vpass_drive::api::refresh::NO_REFRESH;

use crate::as_json;
use crate::failure::Failure;
use crate::numbers::plural;
use crate::plan::RunPlan;
use crate::results::{Confidence, LifeUnit, Reclaim, Summary};
use column::{COLUMNS, Sizes};
use ranking::{not_told_apart, winners};
use refused::Refused;
pub use reliability::unequal_reliability;
use row::{ComparisonRow, RowLife};

/// Builds the rows from finished runs. The runs are ordered by technique, and each technique has
/// one run for each seed. If the drive stopped in a run, the technique of the run has no row.
pub fn rows(
    plans: &[&RunPlan],
    finished: Vec<Result<Summary, Failure>>,
    seeds: usize,
) -> (Vec<ComparisonRow>, Vec<Refused>) {
    let many_gcs = plans.iter().any(|p| p.gc != plans[0].gc);
    // Labels do not name a refresh technique that is a part of the parity technique.
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
                stopped.push(Refused::stopped(plan, label, failure.in_dialect(plan.dialect)))
            }
        }
    }
    mark_baselines(&mut rows);
    mark_idle(&mut rows);
    if let Some(sentence) = unequal_reliability(&rows) {
        rows.iter_mut().flat_map(|row| &mut row.runs).for_each(|run| run.warn(sentence.as_str()));
    }
    (rows, stopped)
}

/// Marks the rows without read reclaim as baselines, if other rows have read reclaim.
fn mark_baselines(rows: &mut [ComparisonRow]) {
    let has_technique = rows.iter().any(|row| row.reclaim != NO_RECLAIM);
    for row in rows {
        row.baseline = has_technique && row.reclaim == NO_RECLAIM;
    }
}

/// Marks the rows whose read reclaim did nothing in any run, if rows differ in read reclaim.
fn mark_idle(rows: &mut [ComparisonRow]) {
    let differ = rows.iter().any(|row| row.reclaim != rows[0].reclaim);
    let may_idle = |row: &&mut ComparisonRow| row.reclaim != NO_RECLAIM && !row.counterfactual;
    for row in rows.iter_mut().filter(|row| differ && may_idle(row)) {
        let sum = |of: fn(&Reclaim) -> u64| row.runs.iter().map(|run| of(&run.reclaim)).sum();
        let acts: u64 = sum(|reclaim| {
            reclaim.counts.invocations
                + reclaim.counts.reprograms
                + reclaim.technique.values().sum::<u64>()
        });
        let checks: u64 = sum(|reclaim| reclaim.counts.alarms);
        row.idle = (acts == 0).then(|| match checks {
            0 => "no block reached its threshold".into(),
            n => format!("its {} found no data at risk", plural(n, "check")),
        });
    }
}

/// Returns whether a comparison of these rows shows this column.
pub fn stands(rows: &[ComparisonRow], column: usize) -> bool {
    let of = &COLUMNS[column];
    !of.is_of_aged_data()
        || rows.iter().any(|row| row.means[column].is_some_and(|e| of.says_something(e.mean)))
}

/// Returns the unit in which the lives of all rows are measured. Returns `None` if the rows have
/// different units.
pub fn life_unit(rows: &[ComparisonRow]) -> Option<LifeUnit> {
    let first = rows.first()?.life_unit();
    first.filter(|_| rows.iter().all(|row| row.life_unit() == first))
}

/// Returns the unit of the lives that a table shows. Lives that have not settled are not shown.
pub fn shown_life(rows: &[ComparisonRow]) -> Option<LifeUnit> {
    life_unit(rows).filter(|_| rows.iter().all(ComparisonRow::life_settled))
}

/// Returns whether any row has a refresh technique.
pub fn refreshes(rows: &[ComparisonRow]) -> bool {
    rows.iter().any(|row| row.refresh != NO_REFRESH)
}

/// Returns whether any row has a parity technique.
pub fn has_parity(rows: &[ComparisonRow]) -> bool {
    rows.iter().any(|row| row.parity != NO_PARITY)
}

#[expect(clippy::struct_excessive_bools, reason = "each variant is a different value in the file")]
#[derive(Serialize)]
struct Technique<'a> {
    /// Name of the row in the table and in all lists of `compare.json`.
    label: &'a str,
    reclaim: &'a str,
    gc: &'a str,
    /// Name of the refresh technique. Absent if no row has a refresh technique.
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh: Option<&'a str>,
    /// Name of the parity technique. Absent if no row has a parity technique.
    #[serde(skip_serializing_if = "Option::is_none")]
    parity: Option<&'a str>,
    counterfactual: bool,
    baseline: bool,
    /// Whether the runs caused no wear. Without wear, no run programmed or erased anything.
    no_wear_seen: bool,
    /// Whether, in at least one run, requests came faster than the drive could serve them.
    saturated: bool,
    /// Shortest and longest probable life over all runs, in days. Null if the life in days is
    /// unknown.
    life_low_days: Option<f64>,
    life_high_days: Option<f64>,
    /// Whether the rates of page programs and the state of the drive settled in all runs. vpass can
    /// project a life only after both have settled.
    life_settled: bool,
    /// Unit of `life_low` and `life_high`, which are the ends of the life's range. Null if the life
    /// is unknown.
    life_unit: Option<LifeUnit>,
    life_low: Option<f64>,
    life_high: Option<f64>,
    columns: Map<String, Value>,
    /// Warnings of all runs. Warnings that differ only in numbers are merged.
    warnings: Vec<String>,
    runs: &'a [Summary],
}

/// Returns the content of `compare.json`. `stopped` lists the techniques whose drive stopped. The
/// first run of each technique has the seed of `plan`, and each further run has the next seed.
///
/// # Errors
/// Returns an error if JSON cannot represent a value.
pub fn json_of(
    rows: &[ComparisonRow],
    stopped: &[Refused],
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
    // `best` and `tied` have one list for each column. A table shows only one column of lives. The
    // additional list `life` is a copy of the list for this column.
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
