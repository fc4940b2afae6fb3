//! Row of a technique in a comparison: its runs and its life.

use serde::Serialize;
use vpass_oracle::OracleReport;

use super::column::{COLUMNS, Column, Noise, Sizes};
use super::warnings::warnings;
use crate::mean_ci95::{MeanCi95, mean_ci95};
use crate::plan::RunPlan;
use crate::results::{Confidence, LifeRange, LifeUnit, Summary};

/// Results of one technique over all seeds.
pub struct ComparisonRow {
    /// Read-reclaim technique.
    pub reclaim: &'static str,
    /// Garbage collection policy.
    pub gc: &'static str,
    /// Refresh technique.
    pub refresh: &'static str,
    /// Parity technique.
    pub parity: &'static str,
    /// Whether the technique is counterfactual: no real drive has these results.
    pub counterfactual: bool,
    /// Whether the row has no read reclaim, beside rows that have. It shows what reads do to data
    /// without protection, and never wins.
    pub baseline: bool,
    /// Label in the table.
    pub label: String,
    /// Runs by rising seed.
    pub runs: Vec<Summary>,
    /// Mean of each column; `None` if some run has no value.
    pub means: Vec<Option<MeanCi95>>,
    /// Half the width of the 95 % interval of each column, by seeds or by batch means, whichever is
    /// wider. `None` if neither interval is known.
    pub halves: Vec<Option<f64>>,
}

/// Technique without a row because its drive stopped on some seed.
#[derive(Clone, Debug, Serialize)]
pub struct Stopped {
    /// Read-reclaim technique.
    pub reclaim: &'static str,
    /// Garbage collection policy.
    pub gc: &'static str,
    /// Refresh technique.
    pub refresh: &'static str,
    /// Parity technique.
    pub parity: &'static str,
    /// Label that its row would have.
    pub label: String,
    /// Reason why the drive stopped, in a sentence.
    pub why: String,
}

impl Stopped {
    pub(super) fn of(plan: &RunPlan, label: String, why: String) -> Self {
        Self {
            reclaim: plan.reclaim.name,
            gc: plan.gc.name,
            refresh: plan.refresh.name,
            parity: plan.parity.name,
            label,
            why,
        }
    }
}

/// Life of a row in one unit, over all its seeds. The range covers the mean range of the runs, the
/// spread of the seeds, and the batch means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowLife {
    /// Unit of the life.
    pub unit: LifeUnit,
    /// Whether nothing was programmed or erased in any run.
    pub no_wear: bool,
    /// Life as one number; absent if the runs have too few block cycles.
    pub middle: Option<f64>,
    /// Lower end of the range.
    pub low: f64,
    /// Upper end of the range; infinite without an upper end.
    pub high: f64,
}

impl ComparisonRow {
    /// Builds the row of these runs of a plan's techniques.
    pub fn new(plan: &RunPlan, label: String, runs: Vec<Summary>) -> Self {
        let mean = |column: &Column| {
            let values: Option<Vec<f64>> = runs.iter().map(column.value).collect();
            values.and_then(|v| mean_ci95(&v))
        };
        let means: Vec<_> = COLUMNS.iter().map(mean).collect();
        let halves = COLUMNS
            .iter()
            .zip(&means)
            .map(|(column, mean)| half(column, mean.as_ref()?, &runs))
            .collect();
        Self {
            reclaim: plan.reclaim.name,
            gc: plan.gc.name,
            refresh: plan.refresh.name,
            parity: plan.parity.name,
            counterfactual: plan.is_counterfactual(),
            baseline: false,
            label,
            runs,
            means,
            halves,
        }
    }

    /// Returns whether the oracle found an error in any run.
    pub fn has_bug(&self) -> bool {
        self.runs.iter().filter_map(|r| r.oracle.as_ref()).any(OracleReport::is_bug)
    }

    /// Returns whether any run lost data.
    pub fn lost_data(&self) -> bool {
        self.runs.iter().any(Summary::lost_data)
    }

    /// Returns whether data has an error rate but does not age, as without refresh and `start.age`.
    pub fn is_ageless(&self) -> bool {
        self.runs.iter().any(|run| run.uber.is_some() && run.losses.is_none())
    }

    /// Returns whether data ages.
    pub fn ages(&self) -> bool {
        self.runs.iter().any(|run| run.losses.is_some())
    }

    /// Returns whether requests came faster than the drive could serve them, in any run.
    pub fn is_saturated(&self) -> bool {
        self.runs.iter().any(Summary::is_saturated)
    }

    /// Returns whether the row may win a column. Counterfactual techniques, baselines and rows that
    /// lost data never win. The latencies and times of a saturated drive cannot be compared.
    pub fn may_win(&self, column: &Column) -> bool {
        let of_rate = column.life_unit() == Some(LifeUnit::Days) || column.is_latency();
        !(self.counterfactual
            || self.baseline
            || self.lost_data()
            || of_rate && self.is_saturated())
    }

    /// Returns whether rates and state have settled in all runs, so that vpass can project a life.
    pub fn life_settled(&self) -> bool {
        self.runs.iter().all(|run| run.wear.life_settled)
    }

    /// Returns whether the life is known. It is known if each run has settled or has shown no wear.
    pub fn tells_life(&self) -> bool {
        let life = || self.life_unit().and_then(|unit| self.life(unit));
        self.life_settled() || life().is_some_and(|life| life.no_wear)
    }

    /// Returns the unit of the life; `None` if the runs have different units.
    pub fn life_unit(&self) -> Option<LifeUnit> {
        let first = self.runs.first()?.wear.life_unit?;
        self.runs.iter().all(|run| run.wear.life_unit == Some(first)).then_some(first)
    }

    /// Returns the life over all runs; `None` if a run has no life in this unit.
    pub fn life(&self, unit: LifeUnit) -> Option<RowLife> {
        let mean = |of: fn(&LifeRange) -> Option<f64>| {
            let values: Option<Vec<f64>> =
                self.runs.iter().map(|run| of(&run.wear.life_in(unit))).collect();
            values.and_then(|v| mean_ci95(&v))
        };
        let (low, high) =
            (mean(|life| life.low)?.mean, mean(|life| life.high).map_or(f64::INFINITY, |e| e.mean));
        let middle = mean(|life| life.middle);
        let no_wear = self.runs.iter().all(|run| run.wear.confidence() == Confidence::NoWear);
        let Some(MeanCi95 { mean: middle, ci95 }) = middle else {
            return Some(RowLife { unit, no_wear, middle: None, low, high });
        };
        // The true wear may be this share above or below the measured wear.
        let share = self.wear_noise().unwrap_or(0.0);
        let (shorter, longer) = (
            middle / (1.0 + share),
            if share < 1.0 { middle / (1.0 - share) } else { f64::INFINITY },
        );
        let half = ci95.unwrap_or(0.0);
        Some(RowLife {
            unit,
            no_wear,
            middle: Some(middle),
            low: low.min(middle - half).min(shorter).max(0.0),
            high: high.max(middle + half).max(longer),
        })
    }

    /// Returns half the width of the interval of the number of observed block cycles, as a share of
    /// that number. Returns `None` if a run is too short.
    fn wear_noise(&self) -> Option<f64> {
        let share =
            |run: &Summary| Some(run.batch_means.cycles_observed? / run.wear.cycles_observed);
        half_of_mean(self.runs.iter().map(share))
    }

    /// Returns the largest number of requests that a run needs to give its life as one number.
    /// Returns `None` if all runs have one number, or if no wear is underway.
    pub fn requests_for_life(&self) -> Option<u64> {
        self.runs.iter().filter_map(|run| run.wear.requests_for_life).max()
    }

    /// Returns the merged warnings of the runs.
    pub fn warnings(&self) -> Vec<String> {
        warnings(&[self]).into_iter().map(|warning| warning.sentence).collect()
    }
}

/// Returns half the width of the interval of a column's mean over runs.
fn half(column: &Column, mean: &MeanCi95, runs: &[Summary]) -> Option<f64> {
    let of_batches = match column.noise {
        Noise::None => Some(0.0),
        Noise::Unknown => None,
        Noise::Batches(of) => half_of_mean(runs.iter().map(of)),
    };
    match (mean.ci95, of_batches) {
        (Some(seeds), Some(batches)) => Some(seeds.max(batches)),
        (seeds, batches) => seeds.or(batches),
    }
}

/// Returns half the width of the interval of a mean of independent numbers. `halves` has the half
/// widths of the numbers.
fn half_of_mean(halves: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let halves: Vec<f64> = halves.collect::<Option<_>>()?;
    Some(halves.iter().map(|half| half * half).sum::<f64>().sqrt() / halves.len() as f64)
}

impl RowLife {
    /// Returns the value that ranks the row. The value is infinite without wear, the middle if it
    /// is known, and otherwise the low end.
    pub fn rank(&self) -> f64 {
        if self.no_wear { f64::INFINITY } else { self.middle.unwrap_or(self.low) }
    }

    /// Formats the life.
    pub fn text(&self, sizes: &Sizes) -> String {
        match self.middle {
            _ if self.no_wear => "no wear seen".into(),
            Some(middle) => self.unit.text_on(middle, sizes.capacity_bytes),
            None => self.unit.range(self.low, self.high),
        }
    }

    /// Formats the life with its range.
    pub fn with_range(&self) -> String {
        let range = self.unit.range(self.low, self.high);
        match self.middle {
            _ if self.no_wear => format!("no wear seen: {range}"),
            Some(middle) => format!("{}, {range}", self.unit.text(middle)),
            None => range,
        }
    }
}
