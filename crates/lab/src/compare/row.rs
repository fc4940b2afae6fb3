//! Row of a comparison: the runs of one technique, and the life of the drive under this technique.

use vpass_oracle::OracleReport;

use super::column::{COLUMNS, Column, Noise, Sizes};
use super::warnings::warnings;
use crate::mean_ci95::{MeanCi95, mean_ci95};
use crate::numbers::short;
use crate::plan::RunPlan;
use crate::results::{LifeRange, LifeUnit, Summary};

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
    /// Whether the technique is counterfactual: no real drive can have these results.
    pub counterfactual: bool,
    /// Whether this row has no read reclaim, while other rows have read reclaim. A row without read
    /// reclaim shows what reads do to unprotected data, and never wins a column.
    pub baseline: bool,
    /// Reason why the row's read reclaim did nothing in any run; `None` if it acted. The reason is
    /// set only if rows differ in read reclaim. A row that did nothing never wins a column.
    pub idle: Option<String>,
    /// Whether every seed gives the same results.
    pub ignores_seed: bool,
    /// Label in the table.
    pub label: String,
    /// Summaries of the runs, ordered by seed.
    pub runs: Vec<Summary>,
    /// Mean of each column over the runs. A mean is `None` if any run lacks a value for the column.
    pub means: Vec<Option<MeanCi95>>,
    /// Half the width of the 95 % interval of each column: over the seeds, or by batch means if
    /// there is only one seed. `None` if the interval is unknown.
    pub halves: Vec<Option<f64>>,
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
    /// Builds the row of one technique from its runs.
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
            idle: None,
            ignores_seed: plan.ignores_seed(),
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

    /// Returns whether data has an error rate but does not age. For example, data does not age if
    /// the drive has neither refresh nor `start.age`.
    pub fn is_ageless(&self) -> bool {
        self.runs.iter().any(|run| run.uber.is_some() && run.losses.is_none())
    }

    /// Returns whether data ages.
    pub fn ages(&self) -> bool {
        self.runs.iter().any(|run| run.losses.is_some())
    }

    /// Returns whether, in at least one run, requests came faster than the drive could serve them.
    pub fn is_saturated(&self) -> bool {
        self.runs.iter().any(Summary::is_saturated)
    }

    /// Returns whether the row may win a column. Counterfactual techniques, baselines, and rows
    /// that did nothing or lost data never win. If the drive of a row was saturated, the row never
    /// wins a column of latencies or of lives in days.
    pub fn may_win(&self, column: &Column) -> bool {
        let of_rate = column.life_unit() == Some(LifeUnit::Days) || column.is_latency();
        !(self.counterfactual
            || self.stands_aside()
            || self.lost_data()
            || of_rate && self.is_saturated())
    }

    /// Returns whether the row never wins, because it has no read reclaim or its read reclaim did
    /// nothing.
    pub fn stands_aside(&self) -> bool {
        self.baseline || self.idle.is_some()
    }

    /// Returns the interval of a column, such as " ± 0.02". The text is empty with only one seed,
    /// and if all seeds give the same value.
    pub fn interval(&self, column: usize, sizes: &Sizes) -> String {
        let half = self.means[column].and_then(|mean| mean.ci95).filter(|half| *half > 0.0);
        half.map_or_else(String::new, |half| {
            format!(" ± {}", short(&COLUMNS[column].text(half, sizes)))
        })
    }

    /// Returns whether the rates of page programs and the state of the drive settled in all runs.
    /// vpass can project a life only after both have settled.
    pub fn life_settled(&self) -> bool {
        self.runs.iter().all(|run| run.wear.life_settled)
    }

    /// Returns the unit of the life; `None` if the runs have different units.
    pub fn life_unit(&self) -> Option<LifeUnit> {
        let first = self.runs.first()?.wear.life_unit?;
        self.runs.iter().all(|run| run.wear.life_unit == Some(first)).then_some(first)
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
    pub fn warnings(&self) -> Vec<String> {
        warnings(&[self]).into_iter().map(|warning| warning.sentence).collect()
    }
}

/// Returns half the width of the 95 % interval of a column. The value of the column is a mean over
/// the runs.
fn half(column: &Column, mean: &MeanCi95, runs: &[Summary]) -> Option<f64> {
    let of_one = || match column.noise {
        Noise::None => Some(0.0),
        Noise::Unknown => None,
        Noise::Batches(of, _) => of(&runs[0]),
    };
    mean.ci95.or_else(of_one)
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
    pub fn text(&self, sizes: &Sizes) -> String {
        match self.middle {
            Some(middle) => self.unit.text_on(middle, sizes.capacity_bytes),
            None => self.unit.range(self.low, self.high),
        }
    }

    /// Formats the life with its range.
    pub fn with_range(&self) -> String {
        let range = self.unit.range(self.low, self.high);
        match self.middle {
            Some(middle) => format!("{}, {range}", self.unit.text(middle)),
            None => range,
        }
    }
}
