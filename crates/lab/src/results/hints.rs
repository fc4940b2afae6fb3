//! Effects of the hints that the host gave.

use serde::{Deserialize, Serialize};
use vpass_drive::drive::Drive;
use vpass_drive::drive::audit::hints::HintOutcome;

/// Effects of each `NVMe` hint. Data without a hint is treated as if it had the hint "as small as
/// possible".
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Hints {
    /// Effects for data with the hint "as small as possible", and for data without a hint.
    pub smallest: OfWord,
    /// Effects for data with the hint "typical".
    pub typical: OfWord,
    /// Effects for data with the hint "longer is acceptable".
    pub idle: OfWord,
    /// Controller memory that hints need, in bytes. The memory holds the address ranges with hints,
    /// and two bits for each block.
    pub ram_bytes: u64,
}

/// Effects of one hint.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct OfWord {
    /// Longest read latency that the user allows. Null if `reclaim.retries` sets the number of
    /// retries instead.
    pub budget_us: Option<f64>,
    /// Number of retries that fit into the latency budget.
    pub retries: u8,
    /// Latency of a page read with `retries` retries on an idle drive. The latency is that of the
    /// slowest page kind.
    pub latency_us: f64,
    /// Number of host pages that have the hint.
    pub pages: u64,
    /// Number of pages with this hint that are treated according to a stricter hint, because other
    /// data in the same block has the stricter hint.
    pub pages_kept_tighter: u64,
    /// Number of page reads by the host from data with this hint.
    pub reads: u64,
    /// Number of page reads that needed more retries than fit into the latency budget.
    pub missed_budgets: u64,
    /// Number of wordline groups in which reads may use more retries than fit into the latency
    /// budget. With fewer retries, data of the longest allowed age would endure too few reads. The
    /// number is computed for the P/E count at the start of the run.
    pub raised_budgets: u32,
}

impl Hints {
    /// Returns the effects of the hints; `None` if the host gave no hints.
    pub(crate) fn of(drive: &Drive) -> Option<Self> {
        let [smallest, typical, idle] = drive.hint_outcomes()?.map(OfWord::from);
        Some(Self { smallest, typical, idle, ram_bytes: drive.hints_ram().0 })
    }

    /// Returns the name and the effects of each hint. The strictest hint is first.
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
