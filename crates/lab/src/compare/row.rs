//! A technique's row: its runs, and what may be said of its life.

use serde::Serialize;
use vpass_oracle::OracleReport;

use super::column::Column;
use super::mean_ci95::MeanCi95;
use crate::numbers::days;
use crate::plan::RunPlan;
use crate::results::{Confidence, Summary};

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
        Self { reclaim: plan.reclaim, gc: plan.gc, refresh: plan.refresh, parity: plan.parity, label, why }
    }
}

/// A row's life, over all its seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RowLife {
    /// No clock.
    Unknown,
    /// Nothing was programmed or erased.
    NoWear,
    /// Days. The range is as wide as the runs' mean range, and as the spread of seeds.
    Days {
        /// Where there were cycles enough for it.
        middle: Option<f64>,
        /// The lower end.
        low: f64,
        /// The upper end; infinite where there is none.
        high: f64,
    },
}

impl ComparisonRow {
    /// Whether the oracle found something wrong in any run.
    pub fn has_bug(&self) -> bool {
        self.runs.iter().filter_map(|r| r.oracle.as_ref()).any(OracleReport::is_bug)
    }

    /// Whether data was lost in any run.
    pub fn lost_data(&self) -> bool {
        self.runs.iter().any(Summary::lost_data)
    }

    /// Whether data has an error rate and yet no age: without refresh and `start.age` a run counts no retention.
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

    /// Whether it may win a column at all: what no drive can do wins nothing, what lost data nothing but its column, and a drive that could
    /// not keep up has no latency or life to compare.
    pub fn may_win(&self, column: &Column) -> bool {
        if column.key == "data_lost_pages" {
            return !self.counterfactual;
        }
        let of_rate = column.is_life() || column.is_latency();
        !(self.counterfactual || self.lost_data() || of_rate && self.is_saturated())
    }

    /// Over all runs.
    pub fn life(&self) -> RowLife {
        if self.runs.iter().all(|run| run.wear.confidence() == Confidence::NoWear) {
            return RowLife::NoWear;
        }
        let mean = |of: fn(&Summary) -> Option<f64>| {
            let values: Option<Vec<f64>> = self.runs.iter().map(of).collect();
            values.map(|v| v.iter().sum::<f64>() / v.len() as f64)
        };
        let Some(low) = mean(|run| run.wear.life_low_days) else { return RowLife::Unknown };
        let high = mean(|run| run.wear.life_high_days).unwrap_or(f64::INFINITY);
        let middle = self.means[0];
        let half = middle.and_then(|e| e.ci95).unwrap_or(0.0);
        let spread = middle.map_or((low, high), |e| (e.mean - half, e.mean + half));
        RowLife::Days { middle: middle.map(|e| e.mean), low: low.min(spread.0), high: high.max(spread.1) }
    }

    /// What to know before its numbers are believed: the warnings of its runs, each once.
    pub fn warnings(&self) -> Vec<&str> {
        let mut all: Vec<&str> = vec![];
        for sentence in self.runs.iter().flat_map(|run| &run.warnings) {
            if !all.contains(&sentence.as_str()) {
                all.push(sentence);
            }
        }
        all
    }
}

impl RowLife {
    /// What ranks it: no wear above all, else the middle, or the low end where there is no middle.
    pub fn rank(self) -> Option<f64> {
        match self {
            Self::Unknown => None,
            Self::NoWear => Some(f64::INFINITY),
            Self::Days { middle, low, .. } => Some(middle.unwrap_or(low)),
        }
    }

    /// For reading, where there is no middle to show.
    pub fn text(self) -> String {
        match self {
            Self::Unknown => "-".into(),
            Self::NoWear => "no wear seen".into(),
            Self::Days { middle: Some(middle), .. } => days(middle),
            Self::Days { low, high, .. } if high.is_finite() => format!("{} to {}", days(low), days(high)),
            Self::Days { low, .. } => format!("over {}", days(low)),
        }
    }
}
