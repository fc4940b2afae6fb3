//! The requests of one clone in one of its files: which part of the file the next one of a
//! direction asks for.
//!
//! The rules are those of fio 3.33. Reads, writes and trims each have a cursor; random places come
//! from a shuffle, from a skewed distribution, or by chance. A skewed distribution belongs to the
//! file: reads, writes and trims have their hot blocks in the same places.

use super::draft::Ways;
use super::job::Job;
use super::layout::Region;
use super::random_map::RandomMap;
use super::sizes::SizeDraw;
use super::skew::Skew;
use crate::synthetic::random::{Random, Streams, below};

/// A request of a direction as a span of the region.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    pub(super) start: u64,
    pub(super) end: u64,
}

/// See the module.
pub(super) struct InFile {
    pub(super) region: Region,
    /// Places where a random request may begin.
    places: [u64; 3],
    skews: Vec<Skew>,
    skew_of: [Option<usize>; 3],
    maps: Vec<RandomMap>,
    map_of: [Option<usize>; 3],
    last: [Span; 3],
    /// Whether this pass has no place left in it.
    pub(super) done: bool,
}

/// What the requests of a clone have in common, whatever the file.
pub(super) struct Shared<'a> {
    pub(super) job: &'a Job,
    pub(super) sizes: &'a [SizeDraw; 3],
    pub(super) streams: &'a mut Streams,
    /// Requests until the next random place.
    pub(super) countdown: &'a mut u32,
}

/// Places drawn beyond the end of a file, because blocks of the other direction are smaller, before
/// one is folded into it.
const TRIES: u32 = 64;

impl InFile {
    /// Bytes of the maps of what was visited.
    pub(super) fn memory(&self) -> u64 {
        self.maps.iter().map(RandomMap::memory).sum()
    }

    /// What its maps take is taken from `map_bits`.
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
        let (skews, skew_of) = skews(job, &places, random)?;
        let (maps, map_of) = maps(job, &places, random, map_bits)?;
        Ok(Self {
            region,
            places,
            skews,
            skew_of,
            maps,
            map_of,
            last: [Span::default(); 3],
            done: false,
        })
    }

    /// Begins another pass.
    pub(super) fn rewind(&mut self, random: &mut Random) {
        self.last = [Span::default(); 3];
        self.done = false;
        for map in &mut self.maps {
            map.clear(random);
        }
    }

    /// Place and size of the next request of this direction; none where no place is left.
    pub(super) fn span(&mut self, op: usize, shared: &mut Shared) -> Option<Span> {
        let (start, map) = self.place(op, shared)?;
        let room = self.region.bytes - start;
        let min = shared.sizes[op].min;
        if room < min {
            return None;
        }
        let mut bytes = shared.sizes[op].draw(&mut shared.streams.size, room);
        if let Some(map) = map {
            bytes = bytes.min(self.maps[map].visit(start / min, bytes.div_ceil(min)) * min);
        }
        let span = Span { start, end: start + bytes };
        self.last[op] = span;
        Some(span)
    }

    /// Where the next request begins, and the map that has to note it.
    fn place(&mut self, op: usize, shared: &mut Shared) -> Option<(u64, Option<usize>)> {
        let job = shared.job;
        if !job.pattern.random {
            return self.sequential(op, shared).map(|start| (start, None));
        }
        *shared.countdown -= 1;
        if *shared.countdown > 0 {
            let next =
                if job.identical { Some(self.last[op].start) } else { self.sequential(op, shared) };
            return next.map(|start| (start, None)).or_else(|| self.random(op, shared));
        }
        *shared.countdown = job.pattern.every;
        let percent = job.random_percent[op];
        if percent < 100 && below(&mut shared.streams.direction, 100) >= u64::from(percent) {
            return self
                .sequential(op, shared)
                .map(|start| (start, None))
                .or_else(|| self.random(op, shared));
        }
        self.random(op, shared)
    }

    /// Behind the last request of this direction, with the hole that `rw=read:4k` leaves; at the
    /// end, from the start again where holes are left.
    fn sequential(&self, op: usize, shared: &Shared) -> Option<u64> {
        let (end, bytes, hole) = (self.last[op].end, self.region.bytes, shared.job.pattern.hole);
        let start = if hole == 0 || end == 0 {
            end
        } else {
            let past = if hole > 0 { 0 } else { bytes.saturating_add_signed(hole) };
            end.checked_add_signed(hole).filter(|start| *start < bytes).unwrap_or(past)
        };
        (start.checked_add(shared.sizes[op].min)? <= bytes).then_some(start)
    }

    fn random(&mut self, op: usize, shared: &mut Shared) -> Option<(u64, Option<usize>)> {
        let random = &mut shared.streams.address;
        let (map, places) = (self.map_of[op], self.places[op]);
        let place = match (self.skew_of[op], map) {
            (Some(skew), _) => {
                let skew = &self.skews[skew];
                // Blocks of the other direction may be smaller, so that there are more of them.
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

/// Distributions, and the one that each direction draws from.
type Skews = (Vec<Skew>, [Option<usize>; 3]);

/// One for the file, over the blocks of the direction that has most; zones, which lie at fixed
/// bytes, one for each size of blocks.
fn skews(job: &Job, places: &[u64; 3], random: &mut Random) -> Result<Skews, String> {
    let ops: Vec<usize> = (0..3).filter(|op| job.uses()[*op] && job.pattern.random).collect();
    let mut skews = Vec::new();
    let mut skew_of = [None; 3];
    let most = ops.iter().copied().max_by_key(|op| places[*op]);
    for op in ops {
        let like = if job.distribution.is_scattered() { most.unwrap_or(op) } else { op };
        let blocks = places[like].max(1);
        if job.distribution.is_scattered() && !skews.is_empty() {
            skew_of[op] = Some(0);
        } else if let Some(skew) = Skew::new(&job.distribution, blocks, job.align[like], random)? {
            skew_of[op] = Some(skews.len());
            skews.push(skew);
        }
    }
    Ok((skews, skew_of))
}

/// Maps, and the one that each direction keeps.
type Maps = (Vec<RandomMap>, [Option<usize>; 3]);

/// The maps of a job, and which direction keeps which: directions with the same smallest block
/// share one.
fn maps(
    job: &Job,
    places: &[u64; 3],
    random: &mut Random,
    map_bits: &mut u64,
) -> Result<Maps, String> {
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
        let one_size = ops
            .iter()
            .filter(|other| min(**other) == min(*op))
            .all(|other| job.blocks[*other].is_one());
        if !one_size {
            let left = map_bits.checked_sub(places[*op]);
            *map_bits = left.ok_or("the random maps of jobs with several block sizes would take more than 1 GiB; add norandommap")?;
        }
        map_of[*op] = Some(maps.len());
        maps.push(RandomMap::new(places[*op], one_size, random));
    }
    Ok((maps, map_of))
}
