//! Effects of each hint of the host.

use serde::{Deserialize, Serialize};
use vpass_core::drive::Drive;
use vpass_core::drive::audit::hints::HintOutcome;

/// Effects of each `NVMe` hint; data without a hint counts as "smallest".
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Hints {
    /// Effects for data with the hint "as small as possible", and for data without a hint.
    pub smallest: OfWord,
    /// Effects for data with the hint "typical".
    pub typical: OfWord,
    /// Effects for data with the hint "longer is acceptable".
    pub idle: OfWord,
    /// Controller memory for the hints, in bytes.
    /// It holds the ranges with hints, and two bits for each block.
    pub ram_bytes: u64,
}

/// Effects of one hint.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct OfWord {
    /// Longest read latency that the user allows.
    /// Null if `reclaim.retries` sets the number of retries.
    pub budget_us: Option<f64>,
    /// Number of retries that fit into the budget.
    pub retries: u8,
    /// Latency of a read of the slowest page kind with this number of retries, on an idle drive.
    pub latency_us: f64,
    /// Number of host pages that have the hint.
    pub pages: u64,
    /// Number of pages whose block uses a stricter hint, because the block also holds data with
    /// that hint.
    pub pages_kept_tighter: u64,
    /// Number of pages that host reads requested.
    pub reads: u64,
    /// Number of page reads that took more retries than fit into the budget.
    pub missed_budgets: u64,
    /// Number of wordline groups with more retries than fit into the budget. Without these retries,
    /// data of the longest allowed age would endure too few reads. The number holds for the P/E
    /// count at the start.
    pub raised_budgets: u32,
}

impl Hints {
    /// Returns the effects of the hints; `None` without hints.
    pub(crate) fn of(drive: &Drive) -> Option<Self> {
        let [smallest, typical, idle] = drive.hint_outcomes()?.map(OfWord::from);
        Some(Self { smallest, typical, idle, ram_bytes: drive.hints_ram().0 })
    }

    /// Returns each hint with its name. The tightest hint is first.
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
