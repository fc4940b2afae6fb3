//! Hints of a drive, and the counts of reads by hint.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use crate::base::latency::AccessLatency;
use crate::base::request::{Op, Request};
use crate::base::units::{Lpn, Lpns};
use crate::config::{ConfigError, DriveConfig};
use crate::hints::{Budgets, Hinted, hinted};

/// Counts of one hint since the measured phase began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HintCounts {
    /// Number of pages in read requests.
    pub reads: u64,
    /// Number of pages in read requests that took more retries than the hint allows.
    pub missed: u64,
}

/// Hints of all pages, their budgets, and the counts of each hint.
#[derive(Clone, Debug)]
pub(crate) struct HintBooks {
    pub(crate) hinted: Hinted,
    pub(crate) budgets: Budgets,
    pub(crate) counts: [HintCounts; AccessLatency::COUNT],
    /// Number of read requests announced since the measured phase began. `own` has the announced
    /// requests with their own hint that may not be served yet, by number from 1. Reads are served
    /// in this order.
    announced: u64,
    own: VecDeque<(u64, AccessLatency)>,
    page_shift: u32,
}

impl HintBooks {
    /// Creates the counts of a resolved drive; `None` if the host gives no hints.
    pub(crate) fn of(config: &DriveConfig, page_shift: u32) -> Result<Option<Self>, ConfigError> {
        let Some(hinted) = hinted(config) else { return Ok(None) };
        let counts = [HintCounts::default(); AccessLatency::COUNT];
        Ok(Budgets::of(config)?.map(|budgets| Self {
            hinted,
            budgets,
            counts,
            announced: 0,
            own: VecDeque::new(),
            page_shift,
        }))
    }

    /// Sets all counts to 0. All announced reads have been served.
    pub(crate) fn begin_measurement(&mut self) {
        self.counts = [HintCounts::default(); AccessLatency::COUNT];
        self.announced = 0;
        self.own.clear();
    }

    /// Counts the pages that requests will read. `begun` read requests have begun before. A read's
    /// own hint has priority over the hint of its data.
    pub(crate) fn expect(&mut self, requests: &[Request], begun: u64) {
        self.forget_before(begun);
        for request in requests.iter().filter(|request| request.op == Op::Read) {
            self.announced += 1;
            self.own.extend(request.hint.map(|hint| (self.announced, hint)));
            if request.bytes == 0 {
                continue;
            }
            let first = Lpn::holding(request.offset, self.page_shift);
            let last = Lpn::holding(request.offset + u64::from(request.bytes) - 1, self.page_shift);
            for lpn in (Lpns { start: first, end: last + 1 }) {
                let latency = request.hint.unwrap_or_else(|| self.hinted.of(lpn));
                self.counts[latency as usize].reads += 1;
            }
        }
    }

    /// Counts a page that was read without an announced request, as in the fluid gear.
    pub(crate) fn read(&mut self, lpn: Lpn) {
        self.counts[self.hinted.of(lpn) as usize].reads += 1;
    }

    /// Counts pages that were read without announced requests, by hint.
    pub(crate) fn read_in_bulk(&mut self, pages: [u64; AccessLatency::COUNT]) {
        self.counts.iter_mut().zip(pages).for_each(|(counts, pages)| counts.reads += pages);
    }

    /// Counts the retries of a page read for the host. Its request is number `begun`.
    pub(crate) fn judge(&mut self, lpn: Lpn, retries: u8, begun: u64) {
        self.forget_before(begun);
        let own = self.own.front().filter(|(number, _)| *number == begun);
        let latency = own.map_or_else(|| self.hinted.of(lpn), |(_, latency)| *latency);
        self.counts[latency as usize].missed +=
            u64::from(retries > self.budgets.at(latency).retries);
    }

    fn forget_before(&mut self, begun: u64) {
        while self.own.front().is_some_and(|(number, _)| *number < begun) {
            self.own.pop_front();
        }
    }
}
