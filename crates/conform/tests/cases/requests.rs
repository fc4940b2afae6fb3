//! Requests of a stored case, made from a few numbers. These rules are part of the record: a change
//! here changes every case.

use serde::Deserialize;
use vpass_drive::base::latency::AccessLatency;
use vpass_drive::base::rates::{PageRates, ReadRates};
use vpass_drive::base::request::{Arrival, Op, Request, RequestSource, SourceError};
use vpass_drive::base::units::Ns;
use vpass_drive::time::FluidSource;

/// Bytes of a sector. Most requests begin and end at sectors.
const SECTOR: u64 = 512;

/// Numbers from which the requests of a case follow. Shares are percentages.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Requests {
    seed: u64,
    /// Number of requests of the warm-up.
    pub(crate) warm_up: u64,
    /// Number of requests of the measured phase.
    pub(crate) count: u64,
    /// Bytes of a page of the drive, and number of its host pages.
    page: u64,
    pages: u64,
    /// Outstanding requests of a closed loop; 0 if requests come by their own clock.
    depth: u32,
    /// Mean time between two requests, in nanoseconds.
    pub(crate) gap: Ns,
    /// Reads of all pages per second in the fluid gear.
    reads_per_s: u32,
    /// Shares of reads, writes and trims. In the fluid gear, the requests are the other two.
    shares: [u64; 3],
    /// First page and number of pages of the hot place, and share of the requests to it.
    hot: [u64; 3],
    /// Whether writes and trims go to the hot place, too.
    hot_writes: bool,
    /// Share of reads of recently written pages.
    fresh: u64,
    /// Share of requests for a part of a page.
    parts: u64,
    /// Number of pages of the longest requests.
    longest: u64,
    sequential: bool,
    /// Whether requests have hints of their own.
    hinted: bool,
    #[serde(skip)]
    left: u64,
    #[serde(skip)]
    clock: Ns,
    #[serde(skip)]
    next_page: u64,
    /// Pages that were written last.
    #[serde(skip)]
    written: [u64; 8],
}

impl Requests {
    /// Begins a phase of this number of requests at time 0.
    pub(crate) fn begin(&mut self, requests: u64) {
        (self.left, self.clock) = (requests, 0);
    }

    /// Returns a random number below `n` (SplitMix64). The seed is the state.
    fn below(&mut self, n: u64) -> u64 {
        self.seed = self.seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.seed ^ (self.seed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((u128::from(z ^ (z >> 31)) * u128::from(n)) >> 64) as u64
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn next(&mut self) -> Request {
        let Self { page, pages, .. } = *self;
        let op = self.op();
        let lpn = self.lpn(op);
        let (within, bytes) = match self.below(10) {
            _ if self.chance(self.parts) => {
                let sectors = page / SECTOR;
                let first = self.below(sectors);
                (first * SECTOR, (1 + self.below(sectors - first)) * SECTOR)
            }
            // A place that is not at a sector.
            0 => (self.below(page), 1 + self.below(3 * page)),
            1 => (0, (1 + self.below(self.longest)) * page),
            _ => (0, page),
        };
        if op == Op::Write {
            self.written.rotate_right(1);
            self.written[0] = lpn;
        }
        self.clock += self.below(2 * self.gap + 1);
        let offset = lpn * page + within;
        let hint = AccessLatency::ALL.get((lpn % 5) as usize).copied().filter(|_| self.hinted);
        let bytes = bytes.min(pages * page - offset) as u32;
        Request { at: self.clock, offset, bytes, op, origin: 0, hint }
    }

    fn op(&mut self) -> Op {
        let [reads, writes, trims] = self.shares;
        match self.below(reads + writes + trims) {
            n if n < reads => Op::Read,
            n if n < reads + writes => Op::Write,
            _ => Op::Trim,
        }
    }

    fn lpn(&mut self, op: Op) -> u64 {
        let [first, count, share] = self.hot;
        if op == Op::Read && self.chance(self.fresh) {
            self.written[self.below(8) as usize]
        } else if self.sequential {
            self.next_page += 1;
            self.next_page % self.pages
        } else if (self.hot_writes || op == Op::Read) && self.chance(share) {
            first + self.below(count)
        } else {
            self.below(self.pages)
        }
    }
}

impl RequestSource for Requests {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        let now = self.left.min(max as u64);
        self.left -= now;
        out.extend((0..now).map(|_| self.next()));
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        match self.depth {
            0 => Arrival::Open,
            depth => Arrival::Closed { depth },
        }
    }
}

/// Reads of the fluid gear. The hot place moves on four times in a run.
impl FluidSource for Requests {
    fn rates(&mut self, from: Ns) -> (ReadRates, Ns) {
        let Self { page, pages, hot: [first, count, share], reads_per_s, .. } = *self;
        let hold = (self.gap * self.count / 4).max(1);
        let first = (first + from / hold * count) % pages;
        let (hot, cold) =
            (reads_per_s as f32 * share as f32, reads_per_s as f32 * (100 - share) as f32);
        let of = |lpn: u64| {
            let own = if (first..first + count).contains(&lpn) { hot / count as f32 } else { 0.0 };
            (own + cold / pages as f32) / 100.0
        };
        let pages = PageRates::Each((0..pages).map(of).collect());
        let rates = ReadRates { pages, requests_per_page: 1.0, bytes_per_page: page as f64 };
        (rates, from + hold)
    }

    fn writes(&mut self) -> &mut dyn RequestSource {
        self
    }
}
