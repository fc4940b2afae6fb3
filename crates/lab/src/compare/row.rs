//! A technique's row: its runs, and what may be said of its life.

use serde::Serialize;
use vpass_oracle::OracleReport;

use super::column::{COLUMNS, Column, Noise, Sizes};
use super::mean_ci95::{MeanCi95, mean_ci95};
use super::warnings::warnings;
use crate::plan::RunPlan;
use crate::results::{Confidence, LifeRange, LifeUnit, Summary};

/// One technique, on every seed.
pub struct ComparisonRow {
    /// Read-reclaim technique.
    pub reclaim: &'static str,
    /// Garbage collection policy.
    pub gc: &'static str,
    /// Refresh technique.
    pub refresh: &'static str,
    /// Parity technique.
    pub parity: &'static str,
    /// Whether its results are those of no real drive.
    pub counterfactual: bool,
    /// What it is called in the table.
    pub label: String,
    /// By rising seed.
    pub runs: Vec<Summary>,
    /// Of each column; none where a run has no value.
    pub means: Vec<Option<MeanCi95>>,
    /// Half the width of the 95 % interval of each column: that of the seeds or that of batch
    /// means, whichever is wider. None where neither is known.
    pub halves: Vec<Option<f64>>,
}

/// A technique whose drive stopped on one of the seeds, so that it has no row.
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
    /// What it would be called in the table.
    pub label: String,
    /// Why, in a sentence.
    pub why: String,
}

impl Stopped {
    pub(super) fn of(plan: &RunPlan, label: String, why: String) -> Self {
        Self {
            reclaim: plan.reclaim,
            gc: plan.gc,
            refresh: plan.refresh,
            parity: plan.parity,
            label,
            why,
        }
    }
}

/// A row's life in a unit, over all its seeds. The range is as wide as the runs' mean range, as the
/// spread of seeds, and as batch means say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowLife {
    /// What it is counted in.
    pub unit: LifeUnit,
    /// Whether nothing was programmed or erased in any run.
    pub no_wear: bool,
    /// Present where there were cycles enough for it.
    pub middle: Option<f64>,
    /// The lower end.
    pub low: f64,
    /// The upper end; infinite where there is none.
    pub high: f64,
}

impl ComparisonRow {
    /// Row of these runs of a plan's techniques.
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
            reclaim: plan.reclaim,
            gc: plan.gc,
            refresh: plan.refresh,
            parity: plan.parity,
            counterfactual: plan.is_counterfactual(),
            label,
            runs,
            means,
            halves,
        }
    }

    /// Whether the oracle found something wrong in any run.
    pub fn has_bug(&self) -> bool {
        self.runs.iter().filter_map(|r| r.oracle.as_ref()).any(OracleReport::is_bug)
    }

    /// Whether data was lost in any run.
    pub fn lost_data(&self) -> bool {
        self.runs.iter().any(Summary::lost_data)
    }

    /// Whether data has an error rate and yet no age: without refresh and `start.age` a run counts
    /// no retention.
    pub fn is_ageless(&self) -> bool {
        self.runs.iter().any(|run| run.uber.is_some() && run.losses.is_none())
    }

    /// Whether data ages.
    pub fn ages(&self) -> bool {
        self.runs.iter().any(|run| run.losses.is_some())
    }

    /// Whether requests came faster than the drive could serve them, in any run.
    pub fn is_saturated(&self) -> bool {
        self.runs.iter().any(Summary::is_saturated)
    }

    /// Whether it may win a column at all. What no drive can do wins nothing, and neither does what
    /// lost data; a drive that could not keep up has no latency or time to compare.
    pub fn may_win(&self, column: &Column) -> bool {
        let of_rate = column.life_unit() == Some(LifeUnit::Days) || column.is_latency();
        !(self.counterfactual || self.lost_data() || of_rate && self.is_saturated())
    }

    /// Whether rates and state have settled in all runs, so that its life can be projected from
    /// them.
    pub fn life_settled(&self) -> bool {
        self.runs.iter().all(|run| run.wear.life_settled)
    }

    /// Whether its life is known: it has settled, or no wear was seen.
    pub fn tells_life(&self) -> bool {
        let life = || self.life_unit().and_then(|unit| self.life(unit));
        self.life_settled() || life().is_some_and(|life| life.no_wear)
    }

    /// What its life is counted in; none where runs differ in that.
    pub fn life_unit(&self) -> Option<LifeUnit> {
        let first = self.runs.first()?.wear.life_unit?;
        self.runs.iter().all(|run| run.wear.life_unit == Some(first)).then_some(first)
    }

    /// Over all runs; none where a run has no life in this unit.
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
        // Wear that is this much more or less makes lives shorter or longer.
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

    /// Half the width of the interval of the block cycles seen, as a share of them; none where a
    /// run is too short for that.
    fn wear_noise(&self) -> Option<f64> {
        let share =
            |run: &Summary| Some(run.batch_means.cycles_observed? / run.wear.cycles_observed);
        half_of_mean(self.runs.iter().map(share))
    }

    /// The most requests that one of its runs would need for a number of its life; none where all
    /// have one, or no wear is on its way.
    pub fn requests_for_life(&self) -> Option<u64> {
        self.runs.iter().filter_map(|run| run.wear.requests_for_life).max()
    }

    /// What to know before its numbers are believed: the warnings of its runs, merged.
    pub fn warnings(&self) -> Vec<String> {
        warnings(&[self]).into_iter().map(|warning| warning.sentence).collect()
    }
}

/// Half the width of the interval of a mean over runs.
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

/// Half the width of the interval of a mean of independent numbers with these.
fn half_of_mean(halves: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let halves: Vec<f64> = halves.collect::<Option<_>>()?;
    Some(halves.iter().map(|half| half * half).sum::<f64>().sqrt() / halves.len() as f64)
}

impl RowLife {
    /// What ranks it: no wear above all, else the middle, or the low end where there is no middle.
    pub fn rank(&self) -> f64 {
        if self.no_wear { f64::INFINITY } else { self.middle.unwrap_or(self.low) }
    }

    /// For reading.
    pub fn text(&self, sizes: &Sizes) -> String {
        match self.middle {
            _ if self.no_wear => "no wear seen".into(),
            Some(middle) => self.unit.text_on(middle, sizes.capacity_bytes),
            None => self.unit.range(self.low, self.high),
        }
    }

    /// For reading, with the range that it may lie in.
    pub fn with_range(&self) -> String {
        let range = self.unit.range(self.low, self.high);
        match self.middle {
            _ if self.no_wear => format!("no wear seen: {range}"),
            Some(middle) => format!("{}, {range}", self.unit.text(middle)),
            None => range,
        }
    }
}
