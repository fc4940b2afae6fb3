//! One clone of a job: its requests one after the other, in its region of the drive. When they come is not its business.
//!
//! The rules are those of fio 3.33. Reads, writes and trims each have a cursor; random places come from a shuffle, from a skewed
//! distribution, or by chance; a mix throws dice for each request. A loop of the job ends when `io_size` bytes have gone or when no place
//! is left that a pass would visit; where bytes are left or time decides, another pass begins.

use std::sync::Arc;

use vpass_core::request::{Op, Request};
use vpass_core::units::Ns;

use super::draft::Ways;
use super::job::Job;
use super::layout::Region;
use super::random_map::RandomMap;
use super::sizes::SizeDraw;
use super::skew::Skew;
use crate::synthetic::random::{Random, Streams, below};

/// The directions in the order of fio's lists.
pub(super) const OPS: [Op; 3] = [Op::Read, Op::Write, Op::Trim];

/// A request of a direction as a span of the region.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    start: u64,
    end: u64,
}

/// See the module.
pub(super) struct Worker {
    pub(super) job: Arc<Job>,
    region: Region,
    sizes: [SizeDraw; 3],
    /// Places where a random request may begin.
    places: [u64; 3],
    skew: [Option<Skew>; 3],
    maps: Vec<RandomMap>,
    map_of: [Option<usize>; 3],
    pub(super) streams: Streams,
    last: [Span; 3],
    /// Requests until the next random place.
    countdown: u32,
    /// The write that follows a trim.
    owed: Option<Span>,
    issued_bytes: u64,
    issued: u64,
    loops_left: u32,
}

impl Worker {
    /// A clone of `job`; its chance is what follows from `root`. What its maps take is taken from `map_bits`.
    pub(super) fn new(job: &Arc<Job>, region: Region, root: Random, map_bits: &mut u64) -> Result<Self, String> {
        let mut streams = Streams::after(root);
        let sizes = [0, 1, 2].map(|op| SizeDraw::new(&job.blocks[op], job.unaligned));
        let mut places = [0; 3];
        let mut skew = [const { None }; 3];
        for op in (0..3).filter(|op| job.uses()[*op] && job.pattern.random) {
            let align = job.align[op];
            places[op] = (region.bytes - sizes[op].min.saturating_sub(align).min(region.bytes)) / align;
            skew[op] = Skew::new(&job.distribution, places[op].max(1), align, &mut streams.scatter)?;
        }
        let (maps, map_of) = maps(job, &places, &mut streams.scatter, map_bits)?;
        let mut worker = Self {
            job: job.clone(),
            region,
            sizes,
            places,
            skew,
            maps,
            map_of,
            streams,
            last: [Span::default(); 3],
            countdown: 1,
            owed: None,
            issued_bytes: 0,
            issued: 0,
            loops_left: 0,
        };
        worker.begin();
        Ok(worker)
    }

    /// Starts the job again; chance goes on.
    pub(super) fn begin(&mut self) {
        self.loops_left = self.job.limits.loops;
        self.next_loop();
        self.countdown = 1;
    }

    /// The next request, of direction `op` where that is decided already; none at the end of the job.
    pub(super) fn next(&mut self, op: Option<usize>) -> Option<Request> {
        if let Some(span) = self.owed.take() {
            return Some(self.request(1, span));
        }
        let mut fresh = false;
        loop {
            if self.has_issued_all() && !self.next_loop() {
                return None;
            }
            let op = op.unwrap_or_else(|| self.way());
            if let Some(span) = self.span(op) {
                self.issued += 1;
                self.issued_bytes += span.end - span.start;
                self.owed = (self.job.pattern.ways == Ways::TrimWrite).then_some(span);
                return Some(self.request(op, span));
            }
            // This pass has no place left.
            let limits = &self.job.limits;
            let goes_on = limits.time_based || limits.io_size.is_some();
            if fresh || !(goes_on || self.next_loop()) {
                return None;
            }
            self.rewind();
            fresh = true;
        }
    }

    /// When a job with a rate begins, after its stage.
    pub(super) fn start_ns(&self) -> Ns {
        self.job.rate.map_or(0, |rate| rate.start_ns)
    }

    /// Requests of the whole job, about; none where only time ends it.
    pub(super) fn about(&self) -> Option<u64> {
        let limits = &self.job.limits;
        if limits.time_based {
            return limits.number_ios;
        }
        let uses = self.job.uses();
        let mean = match self.job.pattern.ways {
            Ways::Mixed => {
                let reads = f64::from(self.job.read_percent) / 100.0;
                reads * self.job.blocks[0].mean() + (1.0 - reads) * self.job.blocks[1].mean()
            }
            Ways::TrimWrite => self.job.blocks[2].mean(),
            _ => (0..3).find(|op| uses[*op]).map_or(1.0, |op| self.job.blocks[op].mean()),
        };
        let of_a_loop = ((self.region.io_bytes as f64 / mean).ceil() as u64).min(limits.number_ios.unwrap_or(u64::MAX));
        let pair = if self.job.pattern.ways == Ways::TrimWrite { 2 } else { 1 };
        of_a_loop.checked_mul(u64::from(limits.loops))?.checked_mul(pair)
    }

    fn has_issued_all(&self) -> bool {
        let limits = &self.job.limits;
        (!limits.time_based && self.issued_bytes >= self.region.io_bytes) || limits.number_ios.is_some_and(|n| self.issued >= n)
    }

    /// Begins the next loop, if there is one.
    fn next_loop(&mut self) -> bool {
        if self.loops_left == 0 {
            return false;
        }
        self.loops_left -= 1;
        (self.issued, self.issued_bytes) = (0, 0);
        self.rewind();
        true
    }

    fn rewind(&mut self) {
        self.last = [Span::default(); 3];
        for map in &mut self.maps {
            map.clear(&mut self.streams.scatter);
        }
    }

    fn request(&self, op: usize, span: Span) -> Request {
        // Sizes are at most 16 MiB.
        Request { at: 0, offset: self.region.start + span.start, bytes: (span.end - span.start) as u32, op: OPS[op] }
    }

    fn way(&mut self) -> usize {
        match self.job.pattern.ways {
            Ways::Read => 0,
            Ways::Write => 1,
            Ways::Trim | Ways::TrimWrite => 2,
            Ways::Mixed => usize::from(below(&mut self.streams.direction, 100) >= u64::from(self.job.read_percent)),
        }
    }

    /// Place and size of the next request of this direction.
    fn span(&mut self, op: usize) -> Option<Span> {
        let (start, map) = self.place(op)?;
        let room = self.region.bytes - start;
        if room < self.sizes[op].min {
            return None;
        }
        let mut bytes = self.sizes[op].draw(&mut self.streams.size, room);
        if let Some(map) = map {
            let min = self.sizes[op].min;
            bytes = bytes.min(self.maps[map].visit(start / min, bytes.div_ceil(min)) * min);
        }
        let span = Span { start, end: start + bytes };
        self.last[op] = span;
        Some(span)
    }

    /// Where the next request begins, and the map that has to note it.
    fn place(&mut self, op: usize) -> Option<(u64, Option<usize>)> {
        let pattern = &self.job.pattern;
        if !pattern.random {
            return self.sequential(op).map(|start| (start, None));
        }
        self.countdown -= 1;
        if self.countdown > 0 {
            let next = if self.job.identical { Some(self.last[op].start) } else { self.sequential(op) };
            return next.map(|start| (start, None)).or_else(|| self.random(op));
        }
        self.countdown = pattern.every;
        let percent = self.job.random_percent[op];
        if percent < 100 && below(&mut self.streams.direction, 100) >= u64::from(percent) {
            return self.sequential(op).map(|start| (start, None)).or_else(|| self.random(op));
        }
        self.random(op)
    }

    /// Behind the last request of this direction, with the hole that `rw=read:4k` leaves; at the end, from the start again where
    /// holes are left.
    fn sequential(&self, op: usize) -> Option<u64> {
        let (end, bytes, hole) = (self.last[op].end, self.region.bytes, self.job.pattern.hole);
        let start = if hole == 0 || end == 0 {
            end
        } else {
            let past = if hole > 0 { 0 } else { bytes.saturating_add_signed(hole) };
            end.checked_add_signed(hole).filter(|start| *start < bytes).unwrap_or(past)
        };
        (start.checked_add(self.sizes[op].min)? <= bytes).then_some(start)
    }

    fn random(&mut self, op: usize) -> Option<(u64, Option<usize>)> {
        let random = &mut self.streams.address;
        let map = self.map_of[op];
        let place = match (&self.skew[op], map) {
            (Some(skew), _) => skew.draw(random),
            (None, Some(map)) => self.maps[map].draw(random)?,
            (None, None) => below(random, self.places[op]),
        };
        Some((place * self.job.align[op], map))
    }
}

/// Maps, and the one that each direction keeps.
type Maps = (Vec<RandomMap>, [Option<usize>; 3]);

/// The maps of a job, and which direction keeps which: directions with the same smallest block share one.
fn maps(job: &Job, places: &[u64; 3], random: &mut Random, map_bits: &mut u64) -> Result<Maps, String> {
    let mut maps = Vec::new();
    let mut map_of = [None; 3];
    // A write after a trim goes where the trim went.
    let draws = |op: usize| job.uses()[op] && !(op == 1 && job.pattern.ways == Ways::TrimWrite);
    let ops: Vec<usize> = (0..3).filter(|op| draws(*op) && job.map && job.pattern.random).collect();
    for op in &ops {
        let min = |op: usize| job.blocks[op].ends().0;
        if let Some(other) = ops.iter().find(|other| *other < op && min(**other) == min(*op)) {
            map_of[*op] = map_of[*other];
            continue;
        }
        let one_size = ops.iter().filter(|other| min(**other) == min(*op)).all(|other| job.blocks[*other].is_one());
        if !one_size {
            let left = map_bits.checked_sub(places[*op]);
            *map_bits = left.ok_or("the random maps of jobs with several block sizes would take more than 1 GiB; add norandommap")?;
        }
        map_of[*op] = Some(maps.len());
        maps.push(RandomMap::new(places[*op], one_size, random));
    }
    Ok((maps, map_of))
}
