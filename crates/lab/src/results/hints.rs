//! Effects of the host's hints, for each hint.

use serde::{Deserialize, Serialize};
use vpass_core::drive::Drive;
use vpass_core::drive::audit::hints::HintOutcome;

/// Effects for each `NVMe` hint; data without a hint counts as "smallest".
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Hints {
    /// Data with the hint "as small as possible", and data without a hint.
    pub smallest: OfWord,
    /// Data with the hint "typical".
    pub typical: OfWord,
    /// Data with the hint "longer is acceptable".
    pub idle: OfWord,
    /// Controller memory for the hints: the ranges, and two bits for each block.
    pub ram_bytes: u64,
}

/// Effects of one hint.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct OfWord {
    /// Longest latency that the user allows a read; null if `reclaim.retries` decides.
    pub budget_us: Option<f64>,
    /// Retries that fit into the budget.
    pub retries: u8,
    /// Latency of a read of the slowest page kind with these retries, on an idle drive.
    pub latency_us: f64,
    /// Host pages that have the hint.
    pub pages: u64,
    /// Pages in blocks that use the tighter hint of other data.
    pub pages_kept_tighter: u64,
    /// Pages that host reads requested.
    pub reads: u64,
    /// Page reads that took more retries than fit into the budget.
    pub missed_budgets: u64,
    /// Wordline groups with more retries than fit into the budget, at the P/E count at the start.
    /// Without them, data of the longest allowed age would endure too few reads.
    pub raised_budgets: u32,
}

impl Hints {
    /// Returns `None` without hints.
    pub(crate) fn of(drive: &Drive) -> Option<Self> {
        let [smallest, typical, idle] = drive.hint_outcomes()?.map(OfWord::from);
        Some(Self { smallest, typical, idle, ram_bytes: drive.hints_ram().0 })
    }

    /// Returns each hint with its name, tightest first.
    pub fn words(&self) -> [(&'static str, OfWord); 3] {
        [("smallest", self.smallest), ("typical", self.typical), ("idle", self.idle)]
    }
}

impl From<HintOutcome> for OfWord {
    fn from(of: HintOutcome) -> Self {
        Self {
            budget_us: of.budget.us,
            retries: of.budget.retries,
            latency_us: of.takes_us,
            pages: of.pages,
            pages_kept_tighter: of.pages_kept_tighter,
            reads: of.counts.reads,
            missed_budgets: of.counts.missed,
            raised_budgets: of.raised,
        }
    }
}
