//! Row of a comparison: the runs of one technique, and the life of the drive under this technique.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use vpass_oracle::OracleReport;

use super::warnings::warnings;
use crate::mean_ci95::{MeanCi95, mean_ci95};
use crate::results::quantity::{Noise, QUANTITIES, Quantity, Unit};
use crate::results::{Confidence, LifeRange, LifeUnit, Summary};

/// Value of a row in a column.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Mean over the runs.
    pub mean: f64,
    /// Half the width of the 95 % interval over the seeds; null with one seed.
    pub ci95: Option<f64>,
    /// Half the width of the 95 % interval: over the seeds, or by batch means if there is only one
    /// seed. Null if the interval is unknown.
    pub half95: Option<f64>,
}

impl Cell {
    /// Formats the interval over the seeds, such as " ± 0.02". The text is empty with only one
    /// seed, and if all seeds give the same value.
    pub fn interval(&self, unit: Unit) -> String {
        let half = self.ci95.filter(|half| *half > 0.0);
        half.map_or_else(String::new, |half| format!(" ± {}", unit.text(half)))
    }
}

/// Results of one technique over all seeds.
#[expect(clippy::struct_excessive_bools, reason = "each fact is independent of the others")]
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ComparisonRow {
    /// Label of the row in the table and in all lists of `compare.json`.
    pub label: String,
    /// Read-reclaim technique.
    pub reclaim: String,
    /// Garbage collection policy.
    pub gc: String,
    /// Refresh technique; absent if no row has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh: Option<String>,
    /// Parity technique; absent if no row has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parity: Option<String>,
    /// Whether the technique is counterfactual: no real drive can have these results.
    pub counterfactual: bool,
    /// Whether this row has no read reclaim, while other rows have read reclaim. A row without read
    /// reclaim shows what reads do to unprotected data, and never wins a column.
    pub baseline: bool,
    /// Reason why the row's read reclaim did nothing in any run; `None` if it acted. The reason is
    /// set only if rows differ in read reclaim. A row that did nothing never wins a column.
    #[serde(skip)]
    pub idle: Option<String>,
    /// Whether every seed gives the same results.
    #[serde(skip)]
    pub ignores_seed: bool,
    /// Whether no run programmed or erased anything.
    pub no_wear_seen: bool,
    /// Whether, in at least one run, requests came faster than the drive could serve them.
    pub saturated: bool,
    /// Shortest probable life over all runs, in days; null if the life in days is unknown.
    pub life_low_days: Option<f64>,
    /// Longest probable life over all runs, in days; null without an upper end.
    pub life_high_days: Option<f64>,
    /// Whether the rates of page programs and the state of the drive settled in all runs. vpass can
    /// project a life only after both have settled.
    pub life_settled: bool,
    /// Unit of the life; null if the runs have different units.
    pub life_unit: Option<LifeUnit>,
    /// Shortest probable life in this unit.
    pub life_low: Option<f64>,
    /// Longest probable life in this unit; null without an upper end.
    pub life_high: Option<f64>,
    /// Value of each column. A value is null if any run lacks it.
    pub columns: BTreeMap<String, Option<Cell>>,
    /// Warnings of all runs. Warnings that differ only in numbers are merged.
    pub warnings: Vec<String>,
    /// Summaries of the runs, ordered by seed.
    pub runs: Vec<Summary>,
}

/// Life of a row over all seeds, in one unit. The life is given as a range that contains three
/// ranges: the mean range of the runs, the spread over the seeds, and the interval by batch means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowLife {
    /// Unit of the life.
    pub unit: LifeUnit,
    /// Life as a single number. Absent if a run has too few block cycles, so that only a range is
    /// known.
    pub middle: Option<f64>,
    /// Lower end of the range of the life.
    pub low: f64,
    /// Upper end of the range of the life; infinite if no upper end is known.
    pub high: f64,
}

impl ComparisonRow {
    /// Builds the row of one technique from its runs. There is at least one run.
    pub fn new(label: String, runs: Vec<Summary>) -> Self {
        let first = &runs[0];
        let life_unit = first.wear.life_unit;
        let life_unit =
            life_unit.filter(|unit| runs.iter().all(|run| run.wear.life_unit == Some(*unit)));
        let columns = QUANTITIES.iter().map(|of| (of.key.to_owned(), cell(of, &runs)));
        let row = Self {
            label,
            reclaim: first.reclaim_technique.clone(),
            gc: first.gc_technique.clone(),
            refresh: first.refresh_technique.clone(),
            parity: first.parity_technique.clone(),
            counterfactual: first.counterfactual,
            baseline: false,
            idle: None,
            ignores_seed: false,
            no_wear_seen: runs.iter().all(|run| run.wear.confidence() == Confidence::NoWear),
            saturated: runs.iter().any(Summary::is_saturated),
            life_low_days: None,
            life_high_days: None,
            life_settled: runs.iter().all(|run| run.wear.life_settled),
            life_unit,
            life_low: None,
            life_high: None,
            columns: columns.collect(),
            warnings: vec![],
            runs,
        };
        let (days, life) =
            (row.life(LifeUnit::Days), row.life_unit.and_then(|unit| row.life(unit)));
        let high =
            |life: Option<RowLife>| life.map(|life| life.high).filter(|high| high.is_finite());
        Self {
            life_low_days: days.map(|life| life.low),
            life_high_days: high(days),
            life_low: life.map(|life| life.low),
            life_high: high(life),
            ..row
        }
    }

    /// Returns the value of a column; `None` if a run lacks it.
    pub fn cell(&self, quantity: &Quantity) -> Option<Cell> {
        self.columns.get(quantity.key).copied().flatten()
    }

    /// Returns the mean of a column; `None` if a run lacks the value.
    pub fn mean(&self, quantity: &Quantity) -> Option<f64> {
        self.cell(quantity).map(|cell| cell.mean)
    }

    /// Returns whether the oracle found an error in any run.
    pub fn has_bug(&self) -> bool {
        self.runs.iter().filter_map(|r| r.oracle.as_ref()).any(OracleReport::is_bug)
    }

    /// Returns whether any run lost data.
    pub fn lost_data(&self) -> bool {
        self.runs.iter().any(Summary::lost_data)
    }

    /// Returns whether data has an error rate but does not age. For example, data does not age if
    /// the drive has neither refresh nor `start.age`.
    pub fn is_ageless(&self) -> bool {
        self.runs.iter().any(|run| run.uber.is_some() && run.losses.is_none())
    }

    /// Returns whether data ages.
    pub fn ages(&self) -> bool {
        self.runs.iter().any(|run| run.losses.is_some())
    }

    /// Returns whether the row may win a column. Counterfactual techniques, baselines, and rows
    /// that did nothing or lost data never win. If the drive of a row was saturated, the row never
    /// wins a column of latencies or of lives in days.
    pub fn may_win(&self, quantity: &Quantity) -> bool {
        let of_rate = matches!(quantity.unit, Unit::Us | Unit::Life(LifeUnit::Days));
        !(self.counterfactual
            || self.stands_aside()
            || self.lost_data()
            || of_rate && self.saturated)
    }

    /// Returns whether the row never wins, because it has no read reclaim or its read reclaim did
    /// nothing.
    pub fn stands_aside(&self) -> bool {
        self.baseline || self.idle.is_some()
    }

    /// Returns the life over all runs, in the unit `unit`. Returns `None` if a run has no life in
    /// `unit`.
    pub fn life(&self, unit: LifeUnit) -> Option<RowLife> {
        let mean = |of: fn(&LifeRange) -> Option<f64>| {
            let values: Option<Vec<f64>> =
                self.runs.iter().map(|run| of(&run.wear.life_in(unit))).collect();
            values.and_then(|v| mean_ci95(&v))
        };
        let (low, high) =
            (mean(|life| life.low)?.mean, mean(|life| life.high).map_or(f64::INFINITY, |e| e.mean));
        let middle = mean(|life| life.middle);
        let Some(MeanCi95 { mean: middle, ci95 }) = middle else {
            return Some(RowLife { unit, middle: None, low, high });
        };
        // `share` is the largest difference between true wear and measured wear, as a share of the
        // measured wear.
        let share = self.wear_noise().unwrap_or(0.0);
        let (shorter, longer) = (
            middle / (1.0 + share),
            if share < 1.0 { middle / (1.0 - share) } else { f64::INFINITY },
        );
        let half = ci95.unwrap_or(0.0);
        Some(RowLife {
            unit,
            middle: Some(middle),
            low: low.min(middle - half).min(shorter).max(0.0),
            high: high.max(middle + half).max(longer),
        })
    }

    /// Returns the relative uncertainty of the wear: half the width of a 95 % interval, divided by
    /// the wear. The wear is the number of observed block cycles. Returns `None` if a run is too
    /// short.
    fn wear_noise(&self) -> Option<f64> {
        let share =
            |run: &Summary| Some(run.batch_means.cycles_observed? / run.wear.cycles_observed);
        half_of_mean(self.runs.iter().map(share))
    }

    /// Returns the merged warnings of the runs.
    pub(super) fn merged_warnings(&self) -> Vec<String> {
        warnings(&[self]).into_iter().map(|warning| warning.sentence).collect()
    }
}

/// Returns the value of a column over all runs.
fn cell(quantity: &Quantity, runs: &[Summary]) -> Option<Cell> {
    let values: Option<Vec<f64>> = runs.iter().map(quantity.value).collect();
    let MeanCi95 { mean, ci95 } = mean_ci95(&values?)?;
    let of_one = || match quantity.noise {
        Noise::None => Some(0.0),
        Noise::Unknown => None,
        Noise::Batches(of, _) => of(&runs[0]),
    };
    Some(Cell { mean, ci95, half95: ci95.or_else(of_one) })
}

/// Returns half the width of the 95 % interval of a mean. The mean is taken over independent
/// numbers, and `halves` has an entry for each of these numbers: half the width of the number's
/// interval.
fn half_of_mean(halves: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let halves: Vec<f64> = halves.collect::<Option<_>>()?;
    Some(halves.iter().map(|half| half * half).sum::<f64>().sqrt() / halves.len() as f64)
}

impl RowLife {
    /// Returns the number by which the row is ranked: the life, or the lower end of the life's
    /// range if only a range is known.
    pub fn rank(&self) -> f64 {
        self.middle.unwrap_or(self.low)
    }

    /// Formats the life.
    pub fn text(&self) -> String {
        match self.middle {
            Some(middle) => self.unit.text(middle),
            None => self.unit.range(self.low, self.high),
        }
    }

    /// Formats the life with its range.
    pub fn with_range(&self) -> String {
        let range = self.unit.range(self.low, self.high);
        match self.middle {
            Some(middle) => format!("({}, {range})", self.unit.text(middle)),
            None => range,
        }
    }
}
