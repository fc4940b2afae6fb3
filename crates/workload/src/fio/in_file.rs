//! Chooses the range of bytes for each request that a clone of a fio job makes to a file.
//!
//! The rules are those of fio 3.33. Each direction (read, write or trim) has its own cursor. Random
//! addresses come from a shuffle, from a skewed distribution, or from a uniform distribution. All
//! directions have the same hot blocks in a file.

use super::job::Job;
use super::layout::Region;
use super::random_map::RandomMap;
use super::sizes::SizeDraw;
use super::skew::Skew;
use crate::synthetic::random::{Random, Streams, below};

/// Start and end of a request in bytes, counted from the start of the clone's region.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    pub(super) start: u64,
    pub(super) end: u64,
}

/// Cursors and random maps that a clone has in one file.
pub(super) struct InFile {
    pub(super) region: Region,
    /// Number of positions at which a random request may begin, for each direction.
    places: [u64; 3],
    /// Skewed distribution of the positions, which all directions share.
    skew: Option<Skew>,
    maps: Vec<RandomMap>,
    map_of: [Option<usize>; 3],
    last: [Span; 3],
    /// Whether all positions were used in this pass.
    pub(super) done: bool,
}

/// State of a clone that is common to all of its files.
pub(super) struct Shared<'a> {
    pub(super) job: &'a Job,
    pub(super) sizes: &'a [SizeDraw; 3],
    pub(super) streams: &'a mut Streams,
    /// Number of requests until the next random address.
    pub(super) countdown: &'a mut u32,
}

/// Largest number of draws for one position. A drawn position may lie beyond the end of the file,
/// because the blocks of another direction may be smaller. Such a position is drawn again. After
/// this many draws, the drawn position is taken modulo the number of positions.
const TRIES: u32 = 64;

impl InFile {
    /// Returns the number of bytes that the random maps occupy in memory.
    pub(super) fn memory(&self) -> u64 {
        self.maps.iter().map(RandomMap::memory).sum()
    }

    /// Makes the state of a clone in a file. The size of the clone's random maps is subtracted from
    /// `map_bits`.
    pub(super) fn new(
        job: &Job,
        region: Region,
        sizes: &[SizeDraw; 3],
        random: &mut Random,
        map_bits: &mut u64,
    ) -> Result<Self, String> {
        let mut places = [0; 3];
        for op in (0..3).filter(|op| job.uses()[*op] && job.pattern.random) {
            let align = job.align[op];
            places[op] =
                (region.bytes - sizes[op].min.saturating_sub(align).min(region.bytes)) / align;
        }
        // The direction with the most positions decides, so that every position can be drawn.
        let most = places.iter().copied().max().filter(|_| job.pattern.random);
        let skew = most.zip(job.distribution).map(|(most, of)| Skew::new(of, most.max(1), random));
        let (maps, map_of) = maps(job, &places, random, map_bits)?;
        Ok(Self { region, places, skew, maps, map_of, last: [Span::default(); 3], done: false })
    }

    /// Begins another pass over the file.
    pub(super) fn rewind(&mut self, random: &mut Random) {
        self.last = [Span::default(); 3];
        self.done = false;
        for map in &mut self.maps {
            map.clear(random);
        }
    }

    /// Returns the span of the next request of a direction, or `None` if no position is left.
    pub(super) fn span(&mut self, op: usize, shared: &mut Shared) -> Option<Span> {
        let (start, map) = self.place(op, shared)?;
        let space = self.region.bytes - start;
        let min = shared.sizes[op].min;
        if space < min {
            return None;
        }
        let mut bytes = shared.sizes[op].draw(&mut shared.streams.size, space);
        if let Some(map) = map {
            bytes = bytes.min(self.maps[map].visit(start / min, bytes.div_ceil(min)) * min);
        }
        let span = Span { start, end: start + bytes };
        self.last[op] = span;
        Some(span)
    }

    /// Returns the first byte of the next request. Also returns the index of the random map that
    /// must record the request.
    fn place(&mut self, op: usize, shared: &mut Shared) -> Option<(u64, Option<usize>)> {
        let job = shared.job;
        if !job.pattern.random {
            return self.sequential(op, shared).map(|start| (start, None));
        }
        *shared.countdown -= 1;
        if *shared.countdown > 0 {
            let next = self.sequential(op, shared);
            return next.map(|start| (start, None)).or_else(|| self.random(op, shared));
        }
        *shared.countdown = job.pattern.every;
        self.random(op, shared)
    }

    /// Returns the address of the next sequential request: the end of the last request plus the
    /// gap, such as 4 KiB for `rw=read:4k`. If a positive gap leads beyond the end of the file, the
    /// next address is the start of the file. If a negative gap leads before the start of the file,
    /// the next address is near the end of the file.
    fn sequential(&self, op: usize, shared: &Shared) -> Option<u64> {
        let (end, bytes, gap) = (self.last[op].end, self.region.bytes, shared.job.pattern.gap);
        let start = if gap == 0 || end == 0 {
            end
        } else {
            let past = if gap > 0 { 0 } else { bytes.saturating_add_signed(gap) };
            end.checked_add_signed(gap).filter(|start| *start < bytes).unwrap_or(past)
        };
        (start.checked_add(shared.sizes[op].min)? <= bytes).then_some(start)
    }

    fn random(&mut self, op: usize, shared: &mut Shared) -> Option<(u64, Option<usize>)> {
        let random = &mut shared.streams.address;
        let (map, places) = (self.map_of[op], self.places[op]);
        let place = match (&self.skew, map) {
            (Some(skew), _) => {
                // The distribution may cover more positions than this direction has, because the
                // blocks of another direction may be smaller.
                let mut tries = (0..TRIES).map(|_| skew.draw(random));
                let place = tries.find(|place| *place < places);
                place.unwrap_or_else(|| skew.draw(random) % places.max(1))
            }
            (None, Some(map)) => self.maps[map].draw(random)?,
            (None, None) => below(random, places),
        };
        Some((place * shared.job.align[op], map))
    }
}

/// Random maps of a file, and the index of the map that each direction uses.
type Maps = (Vec<RandomMap>, [Option<usize>; 3]);

/// Makes the random maps of a file. Directions with the same smallest block share one map.
fn maps(
    job: &Job,
    places: &[u64; 3],
    random: &mut Random,
    map_bits: &mut u64,
) -> Result<Maps, String> {
    let mut maps = Vec::new();
    let mut map_of = [None; 3];
    let ops: Vec<usize> =
        (0..3).filter(|op| job.uses()[*op] && job.map && job.pattern.random).collect();
    for op in &ops {
        let min = |op: usize| job.blocks[op].ends().0;
        if let Some(other) = ops.iter().find(|other| *other < op && min(**other) == min(*op)) {
            map_of[*op] = map_of[*other];
            continue;
        }
        let one_size = ops
            .iter()
            .filter(|other| min(**other) == min(*op))
            .all(|other| job.blocks[*other].is_one());
        if !one_size {
            let left = map_bits.checked_sub(places[*op]);
            *map_bits = left.ok_or(
                "the random maps of jobs with several block sizes would take more than 1 GiB; add \
                 norandommap",
            )?;
        }
        map_of[*op] = Some(maps.len());
        maps.push(RandomMap::new(places[*op], one_size, random));
    }
    Ok((maps, map_of))
}
