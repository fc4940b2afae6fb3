//! Streams: each keeps one kind of data separate. It writes its open blocks in turn, so that its
//! pages are spread over dies.

use crate::base::geometry::Geometry;
use crate::base::latency::AccessLatency;
use crate::base::streams::{FIRST_OWN, GC, RESERVE, StreamSpec, WIDTH_OF_SAMPLE, width};
use crate::base::units::{BlockId, StreamId};
use crate::config::{DriveConfig, PartOf};
use crate::flash::Flash;
use crate::ftl::free::{FreeBlocks, Side};
use crate::hints;

#[derive(Clone)]
pub(crate) struct Stream {
    pub(super) purpose: &'static str,
    /// Coding of the stream's blocks.
    pub(super) mode: u8,
    /// Whether the stream takes the most worn free block instead of the youngest.
    pub(super) worn: bool,
    /// Whether the stream takes blocks from the IPR pool if possible.
    pub(super) pool: bool,
    /// Number of pages after which a block of the stream is closed.
    pub(super) most_pages: u32,
    /// Whether the reads of each page of the stream's blocks are counted.
    pub(super) counts_pages: bool,
    pub(super) open: Vec<BlockId>,
    pub(super) turn: usize,
}

pub(crate) struct Streams {
    /// Streams for data of the strictest hint, followed by as many streams for each other hint that
    /// the host uses.
    pub(super) table: Vec<Stream>,
    /// Number of streams per hint.
    of_a_budget: StreamId,
    /// Hints, the strictest first.
    budgets: Vec<AccessLatency>,
    /// Whether the IPR pool is kept for the streams that want it.
    pub(super) keep_pool: bool,
    pub(super) plane_cursor: u32,
    /// Stream in which GC keeps the data of worn blocks separate, if it does.
    pub(super) of_worn: Option<StreamId>,
}

impl Streams {
    /// Creates the streams of a drive, and those that its technique has in addition. Their widths
    /// are such that open blocks and the reserve never exceed half the spare blocks. If each page
    /// has a fixed die, a stream is as wide as the number of dies. `density.keep_pool` has an
    /// effect if any stream wants the pool.
    pub(crate) fn new(config: &DriveConfig, geometry: &Geometry, own: Vec<StreamSpec>) -> Self {
        let (budgets, whole) = (hints::in_use(config), config.part_of.as_ref());
        let (kinds, of) = (3 + own.len() as u32, budgets.len() as u32);
        let dies = whole.map_or(geometry.dies(), |whole| {
            whole.width(geometry.pages_per_block, kinds, of).min(WIDTH_OF_SAMPLE)
        });
        let width = width(geometry.spare_blocks(), dies, kinds, of);
        let (width, of_wear) = if geometry.stripes.is_some() {
            (geometry.dies(), geometry.dies())
        } else {
            (width, 1)
        };
        let all = geometry.pages_per_block;
        let stream = |purpose, width: u32| Stream {
            purpose,
            mode: 0,
            worn: false,
            pool: false,
            most_pages: all,
            counts_pages: false,
            open: vec![BlockId::NONE; width as usize],
            turn: 0,
        };
        let mut table = vec![
            stream("host", width),
            stream("gc", width),
            stream("reclaim", width),
            Stream { worn: true, ..stream("wear", of_wear) },
        ];
        assert_eq!(table.len(), usize::from(FIRST_OWN));
        let keep_pool = config.density.keep_pool && own.iter().any(|spec| spec.pool);
        table.extend(own.into_iter().map(|spec| Stream {
            mode: spec.mode,
            pool: spec.pool,
            most_pages: spec.most_pages.map_or(all, |n| u32::from(n).min(all)),
            counts_pages: spec.counts_pages,
            ..stream(spec.purpose, width)
        }));
        let of_a_budget = table.len() as StreamId;
        let others = vec![table.clone(); budgets.len() - 1];
        table.extend(others.into_iter().flatten());
        let streams =
            Self { table, of_a_budget, budgets, keep_pool, plane_cursor: 0, of_worn: None };
        if config.parity.by_wear().is_some() { streams.with_one_of_worn(geometry) } else { streams }
    }

    /// Adds a stream in which GC keeps the data of worn blocks, in worn blocks if there are any.
    /// The host's data has one hint.
    fn with_one_of_worn(mut self, geometry: &Geometry) -> Self {
        let of_worn =
            Stream { purpose: "gc of worn", worn: true, ..self.table[usize::from(GC)].clone() };
        assert_eq!(
            (self.budgets.len(), of_worn.open.len()),
            (1, geometry.dies() as usize),
            "each page has a die of its own"
        );
        self.of_worn = Some(self.of_a_budget);
        self.table.push(of_worn);
        self.of_a_budget += 1;
        self
    }

    /// Returns the mean number of empty pages in the free and open blocks of a larger drive of
    /// which this drive is a sample.
    ///
    /// Only streams with an open block here count. On average, an open block is half full.
    pub(super) fn room_on(&self, whole: &PartOf, pages_per_block: u32) -> f64 {
        let wide = whole.width(
            pages_per_block,
            u32::from(self.of_a_budget) - 1,
            self.budgets.len() as u32,
        );
        let is_open = |stream: &&Stream| stream.open.iter().any(|block| *block != BlockId::NONE);
        let half =
            |s: &Stream| f64::from(s.most_pages) / 2.0 * if s.worn { 1.0 } else { f64::from(wide) };
        let halves: f64 = self.table.iter().filter(is_open).map(half).sum();
        halves + f64::from(self.reserve() * pages_per_block)
    }

    /// Returns the number of pages that a stream takes from one opening of blocks to the next. Its
    /// open blocks fill together, separately for each hint.
    pub(super) fn writes_between(&self, stream: StreamId, pages_per_block: u32) -> u32 {
        self.width(stream) as u32 * pages_per_block / self.budgets.len() as u32
    }

    /// Returns the number of empty pages in open blocks.
    pub(super) fn room_in_open(&self, flash: &Flash) -> u32 {
        let open =
            self.table.iter().flat_map(|s| s.open.iter().map(|block| (*block, s.most_pages)));
        let written = open.filter(|(block, _)| *block != BlockId::NONE);
        written.map(|(block, most)| most.saturating_sub(flash.hot(block).write_ptr.into())).sum()
    }

    /// Returns whether a stream belongs to a technique.
    pub(super) fn is_own(&self, stream: StreamId) -> bool {
        self.kind(stream) >= FIRST_OWN && self.of_worn != Some(stream)
    }

    /// Returns whether a stream is for data that GC moves.
    pub(super) fn is_of_gc(&self, stream: StreamId) -> bool {
        self.kind(stream) == GC || self.of_worn == Some(stream)
    }

    /// Returns the stream for data of this hint that keeps the kind of data of `stream`.
    pub(super) fn for_budget(&self, stream: StreamId, budget: AccessLatency) -> StreamId {
        let at = self
            .budgets
            .iter()
            .position(|of| *of == budget)
            .expect("the budgets of all data are known");
        stream + at as StreamId * self.of_a_budget
    }

    /// Returns the hint of a stream's data.
    pub(super) fn budget(&self, stream: StreamId) -> AccessLatency {
        self.budgets[usize::from(stream / self.of_a_budget)]
    }

    /// Returns the kind of data that a stream keeps: the number of its stream for the strictest
    /// hint.
    pub(super) fn kind(&self, stream: StreamId) -> StreamId {
        if stream < self.of_a_budget { stream } else { stream % self.of_a_budget }
    }

    /// Returns the number of free blocks that only moves may take. A job that cleans a block may
    /// open one more for each hint except the strictest.
    pub(crate) fn reserve(&self) -> u32 {
        RESERVE + self.budgets.len() as u32 - 1
    }

    /// Returns all streams of a kind of data, the stream of the strictest hint first.
    pub(super) fn of_kind(&self, kind: StreamId) -> impl Iterator<Item = StreamId> + use<> {
        (kind..self.table.len() as StreamId).step_by(self.of_a_budget.into())
    }

    /// Returns whether a stream is for data of the strictest hint. Only such a stream may open a
    /// block of the reserve.
    pub(super) fn is_tightest(&self, stream: StreamId) -> bool {
        stream < self.of_a_budget
    }

    pub(super) fn of(&self, stream: StreamId) -> &Stream {
        &self.table[usize::from(stream)]
    }

    pub(crate) fn widths(&self) -> Vec<(&'static str, u32)> {
        self.table.iter().map(|s| (s.purpose, s.open.len() as u32)).collect()
    }

    pub(crate) fn width(&self, stream: StreamId) -> usize {
        self.of(stream).open.len()
    }

    /// Returns the side from which a stream's next block of a domain comes.
    pub(super) fn side(&self, stream: StreamId, domain: usize, free: &FreeBlocks) -> Side {
        let wanted = match (self.of(stream).pool, self.keep_pool) {
            (true, _) => Side::Pool,
            (false, true) => Side::Outside,
            (false, _) => Side::Any,
        };
        if free.count_in(domain, wanted) > 0 { wanted } else { Side::Any }
    }

    pub(super) fn next_turn(&mut self, stream: StreamId) {
        let s = &mut self.table[usize::from(stream)];
        s.turn = if s.turn + 1 == s.open.len() { 0 } else { s.turn + 1 };
    }

    /// Removes an open block of a kind of data, because it will be moved before it is full.
    pub(crate) fn drop_open(&mut self, kind: StreamId, block: BlockId) {
        let same = self.table.iter_mut().skip(kind.into()).step_by(self.of_a_budget.into());
        for slot in same.flat_map(|stream| &mut stream.open) {
            if *slot == block {
                *slot = BlockId::NONE;
            }
        }
    }
}
