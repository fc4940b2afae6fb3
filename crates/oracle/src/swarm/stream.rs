//! A random stream of requests: reads, writes and trims of all sizes. They go to random places, to
//! a hot place, or to recently written pages in blocks that are still open.

use vpass_drive::base::latency::AccessLatency;
use vpass_drive::base::request::{Arrival, Op, Request, RequestSource, SourceError};
use vpass_drive::drive::Drive;

use crate::dice::Dice;

/// Groups of the origins of a stream.
pub(super) const GROUP_OF: [u16; 3] = [1, 0, 1];

/// Largest number of requests of a nested case, because moves take most of its time.
const NESTED_REQUESTS: u64 = 4000;

/// A random stream of requests.
pub(super) struct Stream {
    dice: Dice,
    pub(super) left: u64,
    capacity: u64,
    page: u64,
    /// Pages of the longest requests.
    longest: u64,
    weights: [f64; 3],
    arrival: Arrival,
    clock: u64,
    gap: u64,
    /// Share of requests to a small hot place, and that place. One hot page makes this an attack on
    /// few wordlines.
    hot_share: f64,
    hot: (u64, u64),
    /// Whether the hot place is only read. Written data would move away before it shows how often
    /// it is read.
    only_read: bool,
    sequential: Option<u64>,
    /// Whether most requests cover parts of pages.
    parts: bool,
    /// Share of reads of recently written pages, and the places of these pages.
    fresh_share: f64,
    written: [u64; 8],
    hinted: bool,
}

impl Stream {
    /// Draws a stream. `long` makes it longer, for a technique that must first learn which pages
    /// are read often. Requests have up to `longest` pages.
    pub(super) fn new(dice: &mut Dice, drive: &Drive, long: bool, longest: u64) -> Self {
        let page = u64::from(drive.geometry().page_bytes);
        let capacity = u64::from(drive.geometry().host_pages) * page;
        let pages = capacity / page;
        let mut weight = |p: f64| if dice.chance(p) { dice.unit() } else { 0.0 };
        let weights = [weight(0.9) + 1e-3, weight(0.7), weight(0.3) * 0.2];
        let hot_pages = dice.pick(&[1, 2, 3, 50]).min(pages);
        let hot = dice.between(0, pages - hot_pages);
        let depth = dice.pick(&[1, 4, 32]);
        Self {
            left: dice.between(500, 12_000) * if long { 4 } else { 1 },
            arrival: if dice.chance(0.5) { Arrival::Open } else { Arrival::Closed { depth } },
            gap: dice.pick(&[0, 30_000, 2_000_000]),
            hot_share: dice.pick(&[0.0, 0.5, 0.95, 1.0]),
            hot: (hot, hot_pages),
            only_read: long && dice.chance(0.7),
            sequential: dice.chance(0.2).then_some(0),
            parts: false,
            fresh_share: dice.pick(&[0.0, 0.0, 0.0, 0.7]),
            written: [hot; 8],
            dice: Dice::new(dice.next()),
            capacity,
            page,
            longest,
            weights,
            clock: 0,
            hinted: drive.config().hints.said.is_some(),
        }
    }

    /// Lets requests arrive at times of their own from now on, this long apart on average.
    pub(super) fn go_by_a_clock(&mut self, gap: u64) {
        (self.arrival, self.gap) = (Arrival::Open, gap);
    }

    /// Lets most requests cover parts of pages from now on, with writes at the places of reads.
    /// Also limits the stream to a few thousand requests.
    pub(super) fn write_parts(&mut self) {
        (self.parts, self.only_read, self.sequential) = (true, false, None);
        self.left = self.left.min(NESTED_REQUESTS);
        self.weights = [1.0, self.weights[1].max(0.3), self.weights[2].min(0.05)];
        self.hot_share = self.dice.pick(&[0.5, 0.8, 0.95]);
        let pages = self.dice.pick(&[3, 12, 50]).min(self.capacity / self.page);
        self.hot = (self.hot.0.min(self.capacity / self.page - pages), pages);
    }

    /// Restarts the clock at the last request.
    pub(super) fn restart_clock(&mut self) {
        self.clock = 0;
    }

    fn next(&mut self) -> Request {
        let sum: f64 = self.weights.iter().sum();
        let x = self.dice.unit() * sum;
        let op = if x < self.weights[0] {
            Op::Read
        } else if x < self.weights[0] + self.weights[1] {
            Op::Write
        } else {
            Op::Trim
        };
        let is_part = self.parts && self.dice.chance(0.6);
        let bytes = match if is_part { 6 } else { self.dice.between(0, 9) } {
            0..=5 => self.page,
            6 | 7 => self.dice.between(1, self.page / 512) * 512,
            8 => self.page * self.dice.between(1, self.longest),
            _ => self.dice.between(1, 3 * self.page),
        };
        let page = if op == Op::Read && self.dice.chance(self.fresh_share) {
            self.dice.pick(&self.written)
        } else if let Some(at) = &mut self.sequential {
            *at += 1;
            *at % (self.capacity / self.page)
        } else if self.dice.chance(self.hot_share) && !(self.only_read && op != Op::Read) {
            self.hot.0 + self.dice.between(0, self.hot.1 - 1)
        } else {
            self.dice.between(0, self.capacity / self.page - 1)
        };
        let within = match self.dice.between(0, 3) {
            // Hosts request sectors. On small pages, parts are smaller than a sector, and the
            // border of a part is reached from both sides.
            0 => self.dice.between(0, self.page - 1),
            _ if bytes < self.page => self.dice.between(0, (self.page - bytes) / 512) * 512,
            _ => 0,
        };
        let offset = page * self.page + within;
        let bytes = bytes.min(self.capacity - offset) as u32;
        if op == Op::Write {
            self.written.rotate_right(1);
            self.written[0] = page;
        }
        // Some pages always have the same hint, if the host gives hints.
        let hint = AccessLatency::ALL.get((page % 5) as usize).copied().filter(|_| self.hinted);
        if self.gap > 0 {
            self.clock += self.dice.between(0, 2 * self.gap);
        }
        Request {
            at: self.clock,
            offset,
            bytes,
            op,
            origin: (page % GROUP_OF.len() as u64) as u16,
            hint,
        }
    }
}

impl RequestSource for Stream {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        let n = self.left.min(max as u64);
        self.left -= n;
        for _ in 0..n {
            let request = self.next();
            out.push(request);
        }
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        self.arrival
    }
}
