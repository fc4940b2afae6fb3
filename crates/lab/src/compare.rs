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
//! | `findings.KEY` | text | Part of the verdict about the column, such as "RAM is the same under all (1.20 KiB)". The key `life` stands for the drive's life. |
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

pub mod pairs;
pub mod ranking;
pub mod refused;
mod reliability;
pub mod row;
pub mod sweep;
pub mod verdict;
pub mod warnings;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use vpass_drive::api::parity::NO_PARITY;
use vpass_drive::api::reclaim::NO_RECLAIM;
use vpass_drive::api::refresh::NO_REFRESH;

use crate::failure::Failure;
use crate::numbers::plural;
use crate::plan::RunPlan;
use crate::results::quantity::{QUANTITIES, Quantity};
use crate::results::{About, LifeUnit, Reclaim, Summary};
use ranking::{not_told_apart, winners};
use refused::Refused;
pub use reliability::unequal_reliability;
use row::ComparisonRow;

/// Label of one technique: the reclaim technique, and the other techniques that `others` names.
pub fn label<'a>(reclaim: &str, others: impl IntoIterator<Item = &'a str>) -> String {
    others.into_iter().fold(reclaim.to_owned(), |label, name| format!("{label} + {name}"))
}

/// Runs of one technique, in ascending order of the seeds.
pub struct Finished<'a> {
    /// Plan of the first seed.
    pub plan: &'a RunPlan,
    /// Label of the technique.
    pub label: String,
    /// Result of each seed, or the reason why the drive stopped.
    pub runs: Vec<Result<Summary, Failure>>,
}

/// Results of a comparison, as `compare.json` contains them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Comparison {
    /// Drive, workload and seeds.
    #[serde(flatten)]
    pub about: About,
    /// Sentences below the table.
    pub verdict: Vec<String>,
    /// Parts of the verdict, by the key of the column.
    pub findings: BTreeMap<String, String>,
    /// Labels of the rows that win each column. The key `life` stands for the column of lives in
    /// the unit that suits the workload.
    pub winners: BTreeMap<String, Vec<String>>,
    /// Labels of the rows that may all be the best of each column.
    pub not_told_apart: BTreeMap<String, Vec<String>>,
    /// Label and unit of each column.
    pub columns: BTreeMap<String, ColumnFacts>,
    /// Rows in the order of the techniques.
    pub techniques: Vec<ComparisonRow>,
    /// Techniques whose drive stopped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stopped: Vec<Refused>,
    /// Techniques that do not suit the drive or the workload.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<Refused>,
}

/// Facts about a column for a reader of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ColumnFacts {
    /// Name of the column.
    pub label: String,
    /// Unit of the values; empty for a ratio.
    pub unit: String,
}

impl Comparison {
    /// Compares finished techniques. There is at least one. A technique whose drive stopped in a
    /// run has no row.
    pub fn of(finished: Vec<Finished>, refused: Vec<Refused>) -> Self {
        let about = finished[0].plan.about(finished[0].runs.len() as u32);
        let (mut rows, mut stopped) = (vec![], vec![]);
        for Finished { plan, label, runs } in finished {
            match runs.into_iter().collect::<Result<Vec<_>, _>>() {
                Ok(runs) => rows.push(ComparisonRow {
                    ignores_seed: plan.ignores_seed(),
                    ..ComparisonRow::new(label, runs)
                }),
                Err(failure) => {
                    stopped.push(Refused::stopped(plan, label, failure.in_dialect(plan.dialect)));
                }
            }
        }
        Self { stopped, refused, ..Self::new(about, rows) }
    }

    /// Compares rows. `about` describes what the rows share.
    pub fn new(about: About, mut rows: Vec<ComparisonRow>) -> Self {
        mark_baselines(&mut rows);
        mark_idle(&mut rows);
        if let Some(sentence) = unequal_reliability(&rows) {
            let runs = rows.iter_mut().flat_map(|row| &mut row.runs);
            runs.for_each(|run| run.warn(sentence.as_str()));
        }
        name_where_used(&mut rows, NO_REFRESH, |row| &mut row.refresh);
        name_where_used(&mut rows, NO_PARITY, |row| &mut row.parity);
        let shown: Vec<&Quantity> = QUANTITIES
            .iter()
            .filter(|quantity| quantity.stands(rows.iter().map(|row| row.mean(quantity))))
            .collect();
        for row in &mut rows {
            row.columns.retain(|key, _| shown.iter().any(|quantity| quantity.key == key));
            row.warnings = row.merged_warnings();
        }
        let (mut best, mut tied, mut columns) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for quantity in shown {
            let wins = rows.iter().zip(winners(&rows, quantity)).filter(|(_, wins)| *wins);
            best.insert(quantity.key.to_owned(), wins.map(|(row, _)| row.label.clone()).collect());
            tied.insert(quantity.key.to_owned(), not_told_apart(&rows, quantity));
            let facts =
                ColumnFacts { label: quantity.label.into(), unit: quantity.unit.name().into() };
            columns.insert(quantity.key.to_owned(), facts);
        }
        // A table shows only one column of lives. The list `life` is a copy of its list.
        for lists in [&mut best, &mut tied] {
            let of_life: Option<Vec<String>> =
                life_unit(&rows).and_then(|unit| lists.get(unit.key()).cloned());
            lists.insert("life".into(), of_life.unwrap_or_default());
        }
        Self {
            about,
            verdict: verdict::sentences(&rows),
            findings: verdict::findings(&rows),
            winners: best,
            not_told_apart: tied,
            columns,
            techniques: rows,
            stopped: vec![],
            refused: vec![],
        }
    }

    /// Returns the quantities that have a column, in the order of files.
    pub fn quantities(&self) -> impl Iterator<Item = &'static Quantity> {
        QUANTITIES.iter().filter(|quantity| self.columns.contains_key(quantity.key))
    }

    /// Returns whether a row wins a column. The key `life` stands for the column of lives.
    pub fn wins(&self, key: &str, row: &ComparisonRow) -> bool {
        self.winners.get(key).is_some_and(|labels| labels.contains(&row.label))
    }

    /// Returns whether any row has a refresh technique.
    pub fn refreshes(&self) -> bool {
        self.techniques.iter().any(|row| row.refresh.is_some())
    }

    /// Returns whether any row has a parity technique.
    pub fn has_parity(&self) -> bool {
        self.techniques.iter().any(|row| row.parity.is_some())
    }
}

/// Names a technique in all rows if any row has one, and in no row otherwise. `none` is the name in
/// a row without the technique.
fn name_where_used(
    rows: &mut [ComparisonRow],
    none: &str,
    of: fn(&mut ComparisonRow) -> &mut Option<String>,
) {
    let is_used = rows.iter_mut().any(|row| of(row).as_ref().is_some_and(|name| name != none));
    for row in rows {
        let name = of(row).take();
        *of(row) = is_used.then(|| name.unwrap_or_else(|| none.to_owned()));
    }
}

/// Marks the rows without read reclaim as baselines, if other rows have read reclaim.
fn mark_baselines(rows: &mut [ComparisonRow]) {
    let reclaims: Vec<bool> = rows.iter().map(|row| row.reclaim != NO_RECLAIM).collect();
    for (row, is_baseline) in rows.iter_mut().zip(baselines(&reclaims)) {
        row.baseline = is_baseline;
    }
}

/// Returns which rows are baselines: rows without read reclaim among rows with read reclaim.
/// `reclaims` says which rows have read reclaim. A baseline shows what reads do to unprotected
/// data, and never wins.
pub fn baselines(reclaims: &[bool]) -> Vec<bool> {
    reclaims.iter().map(|reclaims_it| !reclaims_it && reclaims.contains(&true)).collect()
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

/// Returns the unit in which the lives of all rows are measured. Returns `None` if the rows have
/// different units.
pub fn life_unit(rows: &[ComparisonRow]) -> Option<LifeUnit> {
    let first = rows.first()?.life_unit;
    first.filter(|_| rows.iter().all(|row| row.life_unit == first))
}

/// Returns the unit of the lives that a table shows. Lives that have not settled are not shown.
pub fn shown_life(rows: &[ComparisonRow]) -> Option<LifeUnit> {
    life_unit(rows).filter(|_| rows.iter().all(|row| row.life_settled))
}

#[cfg(test)]
mod tests;
