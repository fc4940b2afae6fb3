//! Effects of hints: amount of data with each hint, and results of its reads.

use crate::base::latency::AccessLatency;
use crate::base::units::Bytes;
use crate::drive::Drive;
use crate::hint_counts::HintCounts;
use crate::hints::Budget;
use crate::watch::observer::NO_PPN;

/// Effects of one hint.
#[derive(Clone, Copy, Debug)]
pub struct HintOutcome {
    /// Hint.
    pub latency: AccessLatency,
    /// Retries that the hint allows.
    pub budget: Budget,
    /// Latency of a read with this number of retries on an idle drive, in microseconds.
    pub takes_us: f64,
    /// Number of host pages that have the hint and hold data.
    pub pages: u64,
    /// Number of host pages with the hint that are in a block with a stricter hint.
    pub pages_kept_tighter: u64,
    /// Counts of reads of data with the hint.
    pub counts: HintCounts,
    /// Number of wordline groups for which techniques count with more retries than the hint allows,
    /// at the starting P/E count.
    pub raised: u32,
}

impl Drive {
    /// Returns the effects of each hint, the strictest first; `None` without hints.
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

    /// Returns the RAM that a controller needs for the hints of all data and for the hint of each
    /// block.
    pub fn hints_ram(&self) -> Bytes {
        let of_blocks = u64::from(self.geometry.blocks).div_ceil(4);
        Bytes(self.hints.as_ref().map_or(0, |hints| hints.hinted.bytes().0 + of_blocks))
    }
}
