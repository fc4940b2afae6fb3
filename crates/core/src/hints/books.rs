//! What a drive knows of its hints, and what it counts by them.

use crate::base::latency::AccessLatency;
use crate::base::request::{Op, Request};
use crate::base::units::Lpn;
use crate::config::{ConfigError, DriveConfig};
use crate::hints::{Budgets, Hinted, hinted};

/// Counts of one word, since the measured phase began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HintCounts {
    /// Pages that the host asked for in reads.
    pub reads: u64,
    /// Those of them that took more retries than the word allows.
    pub missed: u64,
}

/// The words of all pages, what they allow, and the counts of each.
#[derive(Clone, Debug)]
pub(crate) struct HintBooks {
    pub(crate) hinted: Hinted,
    pub(crate) budgets: Budgets,
    pub(crate) counts: [HintCounts; AccessLatency::COUNT],
    /// What the read that is served has of its own.
    pub(crate) of_request: Option<AccessLatency>,
    page_shift: u32,
}

impl HintBooks {
    /// Those of a resolved drive; none where the host says nothing.
    pub(crate) fn of(config: &DriveConfig, page_shift: u32) -> Result<Option<Self>, ConfigError> {
        let Some(hinted) = hinted(config) else { return Ok(None) };
        let counts = [HintCounts::default(); AccessLatency::COUNT];
        Ok(Budgets::of(config)?.map(|budgets| Self { hinted, budgets, counts, of_request: None, page_shift }))
    }

    /// Counts the pages that requests are going to read. A read's own word counts before that of its data.
    pub(crate) fn expect(&mut self, requests: &[Request]) {
        for request in requests.iter().filter(|request| request.op == Op::Read && request.bytes > 0) {
            let first = request.offset >> self.page_shift;
            let last = (request.offset + u64::from(request.bytes) - 1) >> self.page_shift;
            for lpn in first..=last {
                let latency = request.hint.unwrap_or_else(|| self.hinted.of(lpn as Lpn));
                self.counts[latency as usize].reads += 1;
            }
        }
    }

    /// A read of a page for the host took so many retries.
    pub(crate) fn judge(&mut self, lpn: Lpn, retries: u8) {
        let latency = self.of_request.unwrap_or_else(|| self.hinted.of(lpn));
        self.counts[latency as usize].missed += u64::from(retries > self.budgets.at(latency).retries);
    }
}
