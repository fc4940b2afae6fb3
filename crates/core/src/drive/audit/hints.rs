//! What hints came to: for each word how much data has it, and how its reads fared.

use crate::base::latency::AccessLatency;
use crate::base::units::Bytes;
use crate::drive::Drive;
use crate::hints::{Budget, HintCounts};
use crate::watch::observer::NO_PPN;

/// What came of one word.
#[derive(Clone, Copy, Debug)]
pub struct HintOutcome {
    /// The word.
    pub latency: AccessLatency,
    /// What it allows.
    pub budget: Budget,
    /// What a read with so many retries takes on an idle drive, in microseconds.
    pub takes_us: f64,
    /// Pages of the host's that have it, and hold data.
    pub pages: u64,
    /// Those of them that lie in blocks that go by a tighter word.
    pub pages_kept_tighter: u64,
    /// What was counted of its reads.
    pub counts: HintCounts,
    /// Wordline groups on which techniques count with more retries than it allows, at the P/E count
    /// at the start.
    pub raised: u32,
}

impl Drive {
    /// What came of each word, the tightest first; none where the host says nothing.
    pub fn hint_outcomes(&self) -> Option<[HintOutcome; AccessLatency::COUNT]> {
        let hints = self.hints.as_ref()?;
        let mut pages = [(0, 0); AccessLatency::COUNT];
        for row in self.map_rows() {
            let latency = hints.hinted.of(row.lpn);
            let (all, tighter) = &mut pages[latency as usize];
            *all += 1;
            let block = (row.ppn < NO_PPN).then(|| self.geometry.block_of(row.ppn));
            *tighter +=
                u64::from(block.is_some_and(|block| self.flash.cold(block).budget < latency));
        }
        Some(AccessLatency::ALL.map(|latency| {
            let budget = hints.budgets.at(latency);
            let (pages, pages_kept_tighter) = pages[latency as usize];
            HintOutcome {
                latency,
                budget,
                takes_us: hints.budgets.latency(budget.retries) as f64 / 1e3,
                pages,
                pages_kept_tighter,
                counts: hints.counts[latency as usize],
                raised: self
                    .flash
                    .limits()
                    .map_or(0, |limits| limits.budget_raised(latency, self.config.start.pec)),
            }
        }))
    }

    /// RAM that the words of all data, and the word that each block goes by, take in a controller.
    pub fn hints_ram(&self) -> Bytes {
        let of_blocks = u64::from(self.geometry.blocks).div_ceil(4);
        Bytes(self.hints.as_ref().map_or(0, |hints| hints.hinted.bytes().0 + of_blocks))
    }
}
