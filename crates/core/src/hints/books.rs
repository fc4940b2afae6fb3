//! What a drive knows of its hints, and what it counts by them.

use std::collections::VecDeque;

use crate::base::latency::AccessLatency;
use crate::base::request::{Op, Request};
use crate::base::units::{Lpn, Lpns};
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
    /// Read requests announced since the measured phase began, and those of them with a word of
    /// their own that are not known to be served, by number from 1 on. Reads are served in this
    /// order.
    announced: u64,
    own: VecDeque<(u64, AccessLatency)>,
    page_shift: u32,
}

impl HintBooks {
    /// Those of a resolved drive; none where the host says nothing.
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

    /// Every count starts at zero; all that was announced has been served.
    pub(crate) fn begin_measurement(&mut self) {
        self.counts = [HintCounts::default(); AccessLatency::COUNT];
        self.announced = 0;
        self.own.clear();
    }

    /// Counts the pages that requests are going to read, so many read requests having been begun
    /// before. A read's own word counts before that of its data.
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

    /// A page was read of which no request was announced: in the gear for years.
    pub(crate) fn read(&mut self, lpn: Lpn) {
        self.counts[self.hinted.of(lpn) as usize].reads += 1;
    }

    /// So many pages of each word were read, of which no request was announced.
    pub(crate) fn read_in_bulk(&mut self, pages: [u64; AccessLatency::COUNT]) {
        self.counts.iter_mut().zip(pages).for_each(|(counts, pages)| counts.reads += pages);
    }

    /// A read of a page for the host took so many retries; its request is the last of so many that
    /// have been begun.
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
