//! Whether wear is levelled, from erases and programs alone.
//!
//! Dynamic levelling takes the least worn erased block of a plane, of all or of the IPR pool; wear levelling itself may also take the most
//! worn. Without dynamic levelling the block erased first is taken first. Static levelling moves data only out of blocks that lag behind
//! the most worn one by more than the configured gap, and it does: while such a block lies full and untouched, moves for the sake of
//! wear do not fail to come.
//!
//! What a reprogramming costs in cycles is the drive's to know: blocks that were ever reprogrammed are compared with none.

use vpass_core::config::DriveConfig;
use vpass_core::geometry::Geometry;
use vpass_core::units::{BlockId, Cause};

use crate::report::{Findings, Kind};

/// The share of all blocks that are erased between two looks of static levelling: a sixteenth.
const LOOKS_PER_TURN: u32 = 16;
/// Looks in a row at which a block lags and nothing is moved, after which something is wrong. One finds its block under a move, or open,
/// another comes while the erases of one cleaning go on.
const PATIENCE: u32 = 6;

#[derive(Clone, Copy, Debug, Default)]
struct Block {
    /// Erases.
    cycles: u32,
    /// Erases of the drive when it was erased last, and programmed last.
    erased_at: u64,
    programmed_at: u64,
    programmed: bool,
    /// To its last page: it is open no more.
    full: bool,
    /// Its wear is not known by its erases alone.
    reprogrammed: bool,
    /// It is being moved for the sake of wear.
    moving: bool,
}

/// Erases by block.
#[derive(Debug)]
pub(crate) struct Wear {
    blocks: Vec<Block>,
    erases: u64,
    most: u32,
    any_reprogrammed: bool,
    dynamic: bool,
    gap: u32,
    looked_at: u64,
    /// Looks in a row at which a block lagged, since anything was moved for it.
    overdue: u32,
    /// What is wrong with a drive that promises to level wear; of events by hand nobody does.
    pub(crate) findings: Findings,
    /// What static levelling failed to do; whether that counts depends on the gear.
    pub(crate) neglect: Option<String>,
}

impl Wear {
    pub(crate) fn new(geometry: &Geometry, config: &DriveConfig) -> Self {
        Self {
            blocks: vec![Block::default(); geometry.blocks as usize],
            erases: 0,
            most: 0,
            any_reprogrammed: false,
            dynamic: config.wear.dynamic,
            gap: config.wear.static_gap,
            looked_at: 0,
            overdue: 0,
            findings: Findings::default(),
            neglect: None,
        }
    }

    /// Bytes for a drive of this geometry.
    pub(crate) fn bytes(geometry: &Geometry) -> u64 {
        u64::from(geometry.blocks) * size_of::<Block>() as u64
    }

    pub(crate) fn erase(&mut self, block: BlockId, cause: Cause) {
        self.erases += 1;
        if cause == Cause::Wear {
            // Nothing in it was wanted any more.
            self.overdue = 0;
        }
        let b = &mut self.blocks[block as usize];
        *b = Block { cycles: b.cycles + 1, erased_at: self.erases, reprogrammed: b.reprogrammed, ..Block::default() };
        self.most = self.most.max(b.cycles);
    }

    pub(crate) fn reprogram(&mut self, block: BlockId) {
        self.blocks[block as usize].reprogrammed = true;
        self.any_reprogrammed = true;
    }

    /// The content of a block at the start.
    pub(crate) fn load(&mut self, geometry: &Geometry, block: BlockId, pages: usize) {
        let b = &mut self.blocks[block as usize];
        (b.programmed, b.full) = (pages > 0, pages as u32 >= geometry.pages_per_block);
    }

    /// A page of a block, numbered within it, is programmed.
    pub(crate) fn program(&mut self, geometry: &Geometry, block: BlockId, page: u32, cause: Cause) {
        if page == 0 && !self.blocks[block as usize].programmed {
            let checked = self.check_choice(geometry, block, cause);
            self.findings.note(Kind::Books, checked);
        }
        let b = &mut self.blocks[block as usize];
        (b.programmed, b.programmed_at) = (true, self.erases);
        b.full |= page + 1 == geometry.pages_per_block;
    }

    /// What blocks are taken by, the lowest first.
    fn rank(&self, block: BlockId) -> u64 {
        let b = &self.blocks[block as usize];
        if self.dynamic { b.cycles.into() } else { b.erased_at }
    }

    #[cold]
    fn check_choice(&self, geometry: &Geometry, block: BlockId, cause: Cause) -> Result<(), String> {
        if self.blocks[block as usize].reprogrammed {
            return Ok(());
        }
        let per_plane = geometry.blocks_per_plane;
        let first = block / per_plane * per_plane;
        let others = || {
            (first..first + per_plane).filter(|b| {
                let other = &self.blocks[*b as usize];
                !other.programmed && !other.reprogrammed
            })
        };
        let rank = self.rank(block);
        let is_first = |pool: bool| !others().any(|b| (!pool || geometry.is_in_pool(b)) && self.rank(b) < rank);
        let is_last = || !others().any(|b| self.rank(b) > rank);
        if is_first(false) || geometry.is_in_pool(block) && is_first(true) || cause == Cause::Wear && is_last() {
            return Ok(());
        }
        let better = others().min_by_key(|b| self.rank(*b)).expect("the block itself is one");
        let (worn, least) = (self.blocks[block as usize], self.blocks[better as usize]);
        Err(if self.dynamic {
            let (worn, least) = (worn.cycles, least.cycles);
            format!(
                "block {block}, erased {worn} times, was taken for {} though block {better}, erased {least} times, was free beside it",
                cause.name()
            )
        } else {
            format!("block {block} was taken for {} though block {better} was erased before it", cause.name())
        })
    }

    /// Data is read out of a block for the sake of wear.
    pub(crate) fn level(&mut self, block: BlockId) {
        self.overdue = 0;
        let b = &mut self.blocks[block as usize];
        if std::mem::replace(&mut b.moving, true) || self.any_reprogrammed {
            return;
        }
        let (cycles, most, gap) = (b.cycles, self.most, self.gap);
        if gap > 0 && u64::from(most) > u64::from(cycles) + u64::from(gap) {
            return;
        }
        self.findings.add(Kind::Books, || {
            format!("block {block} was moved for wear; it has {cycles} erases, the most worn one {most}, and the gap may be {gap}")
        });
    }

    /// Now and then: does a block lag that could be moved?
    #[inline]
    pub(crate) fn look(&mut self, geometry: &Geometry) {
        if self.erases >= self.looked_at + u64::from(geometry.blocks / LOOKS_PER_TURN).max(1) && self.gap > 0 {
            self.look_around(geometry);
        }
    }

    #[cold]
    fn look_around(&mut self, geometry: &Geometry) {
        self.looked_at = self.erases;
        // A block that lies where data was moved to is left in peace for as many erases as there are spare blocks.
        let rest = u64::from(geometry.spare_blocks()) + 1;
        let lags = |b: &Block| {
            b.full && !b.moving && b.programmed_at + rest < self.erases && u64::from(b.cycles) + u64::from(self.gap) < u64::from(self.most)
        };
        let lagging = self.blocks.iter().position(lags).filter(|_| !self.any_reprogrammed);
        self.overdue = if lagging.is_some() { self.overdue + 1 } else { 0 };
        if let Some(block) = lagging.filter(|_| self.overdue >= PATIENCE && self.neglect.is_none()) {
            let (cycles, most, gap) = (self.blocks[block].cycles, self.most, self.gap);
            self.neglect = Some(format!(
                "block {block} was left with {cycles} erases, the most worn one having {most}; the gap may be {gap}, and nothing was moved for it"
            ));
        }
    }
}
