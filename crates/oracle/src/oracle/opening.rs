//! Checks the block that a stream opens. Read-hot data goes to the IPR pool as long as the pool has
//! a free block. If the pool is kept for it, other data stays outside as long as a free block
//! exists there. Blocks that should be in the pool and are not are counted.

use vpass_drive::api::reclaim::{FIRST_OWN, StreamSpec};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::latency::AccessLatency;
use vpass_drive::base::metrics::ReclaimCounts;
use vpass_drive::base::units::{BlockId, StreamId};
use vpass_drive::config::DriveConfig;

use crate::oracle::Oracle;
use crate::oracle::policy_numbers::Told;
use crate::report::Kind;

/// Knowledge about streams, and about the blocks that they opened.
#[derive(Debug)]
pub(crate) struct Openings {
    /// The technique's own streams. `None` if they are not known.
    own: Option<Vec<StreamSpec>>,
    /// Number of blocks of a plane, and the first block in the pool.
    blocks_per_plane: u32,
    pool_start: u32,
    /// Whether the pool is kept for read-hot data, if a stream wants it.
    keeps: bool,
    /// Stream that opened each block with the budget of its data, and whether the stream may still
    /// write the block.
    opened_by: Vec<Option<(StreamId, AccessLatency)>>,
    is_open: Vec<bool>,
    blocks_per_die: u32,
    /// Number of pages after which each block is closed.
    most_pages: Vec<u32>,
    pages_per_block: u32,
    /// Number of blocks that should be in the pool since the measured phase began. `missed` is the
    /// number of these blocks outside the pool.
    wanted: u64,
    missed: u64,
    /// Blocks that will be reprogrammed, and the number of blocks that did not get the requested
    /// guard levels since the measured phase began. Some requests were impossible.
    reprogrammed: Vec<BlockId>,
    refused: u64,
    unsure: bool,
}

impl Openings {
    pub(crate) fn new(geometry: &Geometry, config: &DriveConfig) -> Self {
        let in_pool = (config.density.pool * f64::from(geometry.blocks_per_plane)) as u32;
        Self {
            own: None,
            blocks_per_plane: geometry.blocks_per_plane,
            pool_start: geometry.blocks_per_plane - in_pool,
            keeps: config.density.keep_pool,
            opened_by: vec![None; geometry.blocks as usize],
            is_open: vec![false; geometry.blocks as usize],
            blocks_per_die: geometry.blocks_per_plane * geometry.planes_per_die,
            most_pages: vec![geometry.pages_per_block; geometry.blocks as usize],
            pages_per_block: geometry.pages_per_block,
            wanted: 0,
            missed: 0,
            reprogrammed: vec![],
            refused: 0,
            unsure: false,
        }
    }

    /// Returns the bytes for a drive of this geometry.
    pub(crate) fn bytes(geometry: &Geometry) -> u64 {
        u64::from(geometry.blocks)
            * (size_of::<u32>()
                + size_of::<Option<(StreamId, AccessLatency)>>()
                + size_of::<bool>()) as u64
    }

    /// Begins the measured phase.
    pub(crate) fn restart(&mut self) {
        (self.wanted, self.missed, self.refused) = (0, 0, 0);
        self.unsure = !self.reprogrammed.is_empty();
    }

    pub(crate) fn erase(&mut self, block: BlockId) {
        self.most_pages[block.index()] = self.pages_per_block;
        (self.opened_by[block.index()], self.is_open[block.index()]) = (None, false);
    }

    /// Records that a move begins. No stream writes the block any more.
    pub(crate) fn moves(&mut self, block: BlockId) {
        self.is_open[block.index()] = false;
    }

    /// Records the blocks that the policy wants to reprogram. Earlier requests were carried out, or
    /// were impossible.
    pub(crate) fn wants_reprogrammed(&mut self, blocks: &[BlockId]) {
        self.unsure |= !self.reprogrammed.is_empty();
        self.reprogrammed = blocks.to_vec();
    }

    /// Records that a reclaim job begins with a whole block or a part of it.
    pub(crate) fn reclaims(&mut self, block: BlockId, is_whole: bool) {
        if let Some(place) = self.reprogrammed.iter().position(|wanted| *wanted == block) {
            self.reprogrammed.swap_remove(place);
            self.refused += u64::from(is_whole);
        }
    }

    /// Returns whether a full block may be moved out of the pool to give space to read-hot data,
    /// although this frees no page.
    pub(crate) fn may_evict(&self, block: BlockId) -> bool {
        self.keeps && self.wants_pool() && self.is_in_pool(block)
    }

    /// Returns the number of pages after which a block is closed.
    pub(crate) fn most_pages(&self, block: BlockId) -> u32 {
        self.most_pages[block.index()]
    }

    pub(crate) fn is_in_pool(&self, block: BlockId) -> bool {
        block.number() % self.blocks_per_plane >= self.pool_start
    }

    /// Returns whether the technique's streams are known.
    pub(crate) fn are_known(&self) -> bool {
        self.own.is_some()
    }

    /// Returns whether any stream may want blocks of the pool.
    pub(crate) fn wants_pool(&self) -> bool {
        self.own.as_ref().is_none_or(|own| own.iter().any(|stream| stream.pool))
    }

    fn own(&self, stream: StreamId) -> Option<&StreamSpec> {
        self.own.as_ref()?.get(usize::from(stream.checked_sub(FIRST_OWN)?))
    }
}

impl Oracle {
    /// Sets the technique's own streams and the gear.
    pub(crate) fn knows_streams(&mut self, own: Vec<StreamSpec>, timed: bool) {
        self.openings.own = Some(own);
        self.need.has_gaps(timed);
    }

    /// Checks a block that a stream has opened, when the policy receives its numbers.
    pub(crate) fn note_opening(&mut self, told: &Told) {
        let Some(stream) = told.opens else { return };
        let lower = self.openings.own(stream).is_some_and(|own| own.mode > 0)
            && self.geometry.cell.bits() > 1;
        self.openings.refused += u64::from(lower && told.mode == 0);
        let most =
            self.openings.own(stream).and_then(|own| own.most_pages).map_or(u32::MAX, u32::from);
        self.openings.most_pages[told.block.index()] = most.min(self.geometry.pages_per_block);
        let wants = self.openings.own(stream).is_some_and(|own| own.pool);
        let in_pool = self.openings.is_in_pool(told.block);
        self.openings.wanted += u64::from(wants);
        self.openings.missed += u64::from(wants && !in_pool);
        let kept_out = !wants && self.openings.keeps && self.openings.wants_pool();
        self.check_die(told.block, (stream, told.budget), wants, kept_out);
        self.openings.opened_by[told.block.index()] = Some((stream, told.budget));
        self.openings.is_open[told.block.index()] = true;
        let is_astray = if wants { !in_pool } else { in_pool && kept_out };
        let domain = self.geometry.domain_of(told.block);
        let is_better = |other: &BlockId| {
            self.openings.is_in_pool(*other) != in_pool && self.geometry.domain_of(*other) == domain
        };
        if is_astray && let Some(other) = self.wear.free().find(is_better) {
            let (what, where_) = if wants {
                ("read-hot data", "of the pool")
            } else {
                ("other data", "outside the pool")
            };
            let block = told.block;
            self.findings.add(Kind::Books, || {
                format!("block {block} was opened for {what} while block {other} {where_} was free")
            });
        }
    }

    /// Checks the die of an opened block. The stream must have no open block there, if such a die
    /// has a free block.
    fn check_die(
        &mut self,
        block: BlockId,
        stream: (StreamId, AccessLatency),
        wants: bool,
        kept_out: bool,
    ) {
        if self.parity.is_on() {
            // The written page decides about the die.
            return;
        }
        let of = &self.openings;
        let is_open = |b: &BlockId| {
            of.is_open[b.index()] && self.protocol.written(*b) < of.most_pages[b.index()]
        };
        let own = self
            .geometry
            .block_ids()
            .filter(|b| of.opened_by[b.index()] == Some(stream))
            .filter(is_open);
        let dies: Vec<u32> = own.map(|b| b.number() / of.blocks_per_die).collect();
        let die = block.number() / of.blocks_per_die;
        if !dies.contains(&die) {
            return;
        }
        let on_side =
            |b: &BlockId| if wants { of.is_in_pool(*b) } else { !(kept_out && of.is_in_pool(*b)) };
        let has_side = self.wear.free().any(|b| on_side(&b));
        let other = self
            .wear
            .free()
            .filter(|b| !has_side || on_side(b))
            .find(|b| !dies.contains(&(b.number() / of.blocks_per_die)));
        if let Some(other) = other {
            self.findings.add(Kind::Books, || {
                let stream = stream.0;
                format!(
                    "stream {stream} opens a second block, {block}, on die {die}, although block \
                     {other} of another die was free"
                )
            });
        }
    }

    /// Compares the drive's report about the pool with the oracle's counts.
    pub(crate) fn check_openings(&mut self, reclaim: &ReclaimCounts) {
        if !self.openings.are_known() {
            return;
        }
        let Openings { wanted, missed, .. } = self.openings;
        for (what, claimed, counted) in [
            ("blocks opened for the pool", reclaim.pool_openings, wanted),
            ("of them outside the pool", reclaim.pool_misses, missed),
        ] {
            if claimed != counted {
                self.findings.add(Kind::Books, || {
                    format!("the drive reports {claimed} {what}; {counted} were seen")
                });
            }
        }
    }

    /// Compares the drive's report about blocks that should have got guard levels.
    pub(crate) fn check_refusals(&mut self, reclaim: &ReclaimCounts) {
        let Openings { refused, unsure, .. } = self.openings;
        if self.openings.are_known()
            && !unsure
            && self.openings.reprogrammed.is_empty()
            && reclaim.low_density_refused != refused
        {
            let claimed = reclaim.low_density_refused;
            self.findings.add(Kind::Books, || {
                format!(
                    "the drive reports {claimed} blocks with refused guard levels; {refused} were \
                     seen"
                )
            });
        }
    }

    /// Returns an error if the policy received a wrong number of pages that guard levels take away.
    /// These pages are already gone, or jobs under way will take them.
    pub(crate) fn wrong_away(&self, told: &Told) -> Option<String> {
        let domain = self.geometry.domain_of(told.block);
        let gone = self.density.away(domain);
        let near =
            self.reclaimed_blocks().filter(|block| self.geometry.domain_of(*block) == domain);
        let leaving: u64 = near.map(|block| u64::from(self.most_leaving(block))).sum();
        let right = (gone..=gone + leaving).contains(&u64::from(told.away));
        (!right).then(|| {
            format!(
                "low density removes {} pages; {gone} are removed, and jobs remove at most \
                 {leaving}",
                told.away
            )
        })
    }

    /// Returns the largest number of pages of a block that a reclaim job may still take away. A job
    /// takes the pages that reprogramming of the whole block takes, or one page of each wordline.
    fn most_leaving(&self, block: BlockId) -> u32 {
        self.pages_gone(block, 1).max(self.geometry.wordlines_per_block)
    }
}
