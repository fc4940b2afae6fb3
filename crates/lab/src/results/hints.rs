//! What the host's hints came to, word by word.

use serde::{Deserialize, Serialize};
use vpass_core::drive::Drive;
use vpass_core::drive::audit::hints::HintOutcome;

/// Of each word of `NVMe`'s; data without a hint counts as "smallest".
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Hints {
    /// As small as possible, and data of which nothing is said.
    pub smallest: OfWord,
    /// Typical.
    pub typical: OfWord,
    /// Longer is acceptable.
    pub idle: OfWord,
    /// What the controller keeps to know them: the ranges, and two bits for each block.
    pub ram_bytes: u64,
}

/// What came of one word.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct OfWord {
    /// What the user lets a read take; null where `reclaim.retries` decides.
    pub budget_us: Option<f64>,
    /// Retries that fit in it.
    pub retries: u8,
    /// What a read with so many takes on an idle drive, of a page of the slowest kind.
    pub latency_us: f64,
    /// Pages of the host's that have it.
    pub pages: u64,
    /// Those of them that lie in blocks that go by a tighter word, which other data in them has.
    pub pages_kept_tighter: u64,
    /// Pages that the host asked for.
    pub reads: u64,
    /// Those of them that took more retries than fit.
    pub missed_budgets: u64,
    /// Wordline groups on which techniques count with more retries than fit, because the age that
    /// data may come to leaves them too little otherwise; at the P/E count at which the run began.
    pub raised_budgets: u32,
}

impl Hints {
    /// None where the host says nothing.
    pub(crate) fn of(drive: &Drive) -> Option<Self> {
        let [smallest, typical, idle] = drive.hint_outcomes()?.map(OfWord::from);
        Some(Self { smallest, typical, idle, ram_bytes: drive.hints_ram().0 })
    }

    /// Each word with its name, the tightest first.
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
