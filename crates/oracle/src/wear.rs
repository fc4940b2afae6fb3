//! Checks that wear is levelled, from erases and programs alone.
//!
//! Dynamic levelling uses the least worn erased block of a plane. It may choose among all blocks of
//! the plane, among those of the IPR pool, or among those outside if the pool is kept. Wear
//! levelling itself may also use the most worn block. So may data of worn blocks if wear decides on
//! parity. Without dynamic levelling, the block erased first is used first. Static levelling moves
//! data only out of blocks that are less worn than the most worn one by more than the configured
//! gap. A block holds cold data if it stays full for as many erases as the drive has blocks. While
//! such a block is there, no block may be erased again and again that is more worn by more than the
//! gap and a few cycles.
//!
//! A reprogramming adds wear beyond its cycle. The amount depends on `density.wear` and on the
//! number of the block's reprogrammed cycles (`doses`).

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Cause};
use vpass_drive::config::DriveConfig;

use crate::report::{Findings, Kind};

/// Number of checks of static levelling during as many erases as the drive has blocks.
const LOOKS_PER_TURN: u32 = 16;
/// Number of checks in a row that must find a lagging block and no move before this counts as an
/// error. One check may find the block open or in a move, and another may come during the erases of
/// one cleaning. Without dynamic levelling, wear differs by chance, and data in lagging blocks is
/// often a turn of the drive old when the host overwrites it. So the checks of a turn are added.
fn patience(dynamic: bool) -> u32 {
    if dynamic { 6 } else { 6 + LOOKS_PER_TURN }
}

/// Number of cycles by which wear may differ more than the gap (key `wear.static_gap`), while a
/// worn block is not free or data does not count as cold yet.
const FEW: u64 = 10;

/// Content of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Content {
    #[default]
    Nothing,
    Pages,
    /// The block is programmed to its last page and no longer open.
    Full,
}

#[derive(Clone, Copy, Debug, Default)]
struct Block {
    /// Number of erases.
    cycles: u32,
    /// Number of erases of the drive at the block's last erase. `programmed_at` is the number at
    /// its last program.
    erased_at: u64,
    programmed_at: u64,
    content: Content,
    /// Wear of reprogramming beyond the erases, in thousandths of a cycle.
    beyond_milli: u64,
    /// Whether the block's data was moved there because of reads or wear.
    by_mover: bool,
    /// Whether the block's first page came from the host.
    by_host: bool,
    /// Whether the block's data is being moved because of wear.
    moving: bool,
}

impl Block {
    /// Returns the wear of the block in thousandths of a cycle.
    fn milli(&self) -> u64 {
        u64::from(self.cycles) * 1000 + self.beyond_milli
    }

    fn words(&self) -> String {
        let beyond = if self.beyond_milli > 0 {
            format!(" and worn by {} more", self.beyond_milli as f64 / 1000.0)
        } else {
            String::new()
        };
        format!("{} times{beyond}", self.cycles)
    }
}

/// Erases and contents of all blocks.
#[derive(Debug)]
pub(crate) struct Wear {
    blocks: Vec<Block>,
    /// Number of empty blocks.
    free: u32,
    erases: u64,
    /// Wear of the most worn block of each domain, in thousandths of a cycle.
    most: Vec<u64>,
    /// Wear of the most worn block of each domain that was erased since the last check.
    erased: Vec<u64>,
    blocks_per_domain: u32,
    dynamic: bool,
    keep_pool: bool,
    gap: u32,
    looked_at: u64,
    /// Number of checks in a row that found a lagging block without a move since.
    overdue: u32,
    /// Errors of a drive that must level wear. They do not count for events made by hand.
    pub(crate) findings: Findings,
    /// Failure of static levelling. The gear decides if it counts.
    pub(crate) neglect: Option<String>,
    pub(crate) cold_to_young: Option<String>,
}

impl Wear {
    pub(crate) fn new(geometry: &Geometry, config: &DriveConfig) -> Self {
        Self {
            blocks: vec![Block::default(); geometry.blocks as usize],
            free: geometry.blocks,
            erases: 0,
            most: vec![0; geometry.domains() as usize],
            erased: vec![0; geometry.domains() as usize],
            blocks_per_domain: geometry.blocks_per_domain(),
            dynamic: config.wear.dynamic,
            keep_pool: config.density.keep_pool,
            gap: config.wear.static_gap,
            looked_at: 0,
            overdue: 0,
            findings: Findings::default(),
            neglect: None,
            cold_to_young: None,
        }
    }

    /// Returns the size in bytes for a drive of this geometry.
    pub(crate) fn bytes(geometry: &Geometry) -> u64 {
        u64::from(geometry.blocks) * size_of::<Block>() as u64
    }

    /// Notes an erase that counts as `cycles`. Reprogramming has worn the block by `beyond_milli`
    /// thousandths of a cycle in addition.
    pub(crate) fn erase(
        &mut self,
        block: BlockId,
        cause: Cause,
        (cycles, beyond_milli): (u32, u64),
    ) {
        self.erases += 1;
        if cause == Cause::Wear {
            // The block held no valid data, so no move is overdue.
            self.overdue = 0;
        }
        let b = &mut self.blocks[block.index()];
        self.free += u32::from(b.content != Content::Nothing);
        *b = Block {
            cycles: b.cycles + cycles,
            erased_at: self.erases,
            beyond_milli,
            ..Block::default()
        };
        let domain = (block.number() / self.blocks_per_domain) as usize;
        for most in [&mut self.most[domain], &mut self.erased[domain]] {
            *most = (*most).max(b.milli());
        }
    }

    /// Notes that a block begins with this many more cycles than others.
    pub(crate) fn begin_worn(&mut self, block: BlockId, more: u32) {
        let b = &mut self.blocks[block.index()];
        b.cycles += more;
        let most = &mut self.most[(block.number() / self.blocks_per_domain) as usize];
        *most = (*most).max(b.milli());
    }

    /// Notes that a block is no longer used, so it is neither free nor full.
    pub(crate) fn retire(&mut self, block: BlockId) {
        let b = &mut self.blocks[block.index()];
        self.free -= u32::from(b.content == Content::Nothing);
        (b.content, b.moving) = (Content::Pages, false);
    }

    /// Notes the content of a block at the start.
    pub(crate) fn load(&mut self, geometry: &Geometry, block: BlockId, pages: usize) {
        self.free -= u32::from(pages > 0 && self.blocks[block.index()].content == Content::Nothing);
        self.blocks[block.index()].content = match pages as u32 {
            0 => Content::Nothing,
            n if n >= geometry.pages_per_block => Content::Full,
            _ => Content::Pages,
        };
    }

    /// Notes the program of a page, numbered within its block. `of_worn` is true for data of worn
    /// blocks that stays in such blocks.
    pub(crate) fn program(
        &mut self,
        geometry: &Geometry,
        block: BlockId,
        page: u32,
        (cause, of_worn): (Cause, bool),
    ) {
        // Parity goes with the data that it belongs to.
        let by_host = matches!(cause, Cause::Host | Cause::Parity);
        if self.blocks[block.index()].content == Content::Nothing {
            let checked = self.check_choice(geometry, block, (cause, of_worn));
            self.findings.note(Kind::Books, checked);
            self.check_cold(geometry, block, cause);
            self.blocks[block.index()].by_host = by_host;
        } else if cause != Cause::Reclaim && by_host != self.blocks[block.index()].by_host {
            self.findings.add(Kind::Books, || {
                format!("block {block} is written by the host and also for {}", Cause::Gc.name())
            });
        }
        let b = &mut self.blocks[block.index()];
        self.free -= u32::from(b.content == Content::Nothing);
        b.programmed_at = self.erases;
        b.by_mover = matches!(cause, Cause::Reclaim | Cause::Wear);
        b.content =
            if page + 1 == geometry.pages_per_block { Content::Full } else { Content::Pages };
    }

    /// Checks that cold data goes to the most worn free block of the plane. If the pool is kept,
    /// only blocks on the same side of it count.
    fn check_cold(&mut self, geometry: &Geometry, block: BlockId, cause: Cause) {
        if cause != Cause::Wear || self.cold_to_young.is_some() {
            return;
        }
        let first = block.number() / geometry.blocks_per_plane * geometry.blocks_per_plane;
        let may_be =
            |b: &BlockId| !self.keep_pool || geometry.is_in_pool(*b) == geometry.is_in_pool(block);
        let free = BlockId::range(first..first + geometry.blocks_per_plane)
            .filter(|b| self.blocks[b.index()].content == Content::Nothing);
        let free = free.filter(may_be);
        let more_worn =
            free.max_by_key(|b| self.rank(*b)).filter(|b| self.rank(*b) > self.rank(block));
        let words = |b: BlockId| self.blocks[b.index()].words();
        self.cold_to_young = more_worn.map(|other| {
            format!(
                "cold data goes to block {block}, erased {}, although block {other}, erased {}, \
                 was free",
                words(block),
                words(other)
            )
        });
    }

    /// Returns the number of empty blocks.
    pub(crate) fn free_count(&self) -> u32 {
        self.free
    }

    /// Returns the erased blocks that are still empty.
    pub(crate) fn free(&self) -> impl Iterator<Item = BlockId> {
        BlockId::all()
            .zip(&self.blocks)
            .filter(|(_, block)| block.content == Content::Nothing)
            .map(|(block, _)| block)
    }

    /// Returns whether a block is programmed to its last page.
    pub(crate) fn is_full(&self, block: BlockId) -> bool {
        self.blocks[block.index()].content == Content::Full
    }

    /// Returns whether a move filled the block recently: fewer erases ago than there are spare
    /// blocks.
    pub(crate) fn is_protected(&self, block: BlockId, geometry: &Geometry) -> bool {
        let b = &self.blocks[block.index()];
        b.content == Content::Full
            && b.by_mover
            && self.erases < b.programmed_at + u64::from(geometry.spare_blocks_in_share())
    }

    /// Returns the rank of a block. Free blocks are used in this order, the lowest rank first.
    fn rank(&self, block: BlockId) -> u64 {
        let b = &self.blocks[block.index()];
        if self.dynamic { b.milli() } else { b.erased_at }
    }

    #[cold]
    fn check_choice(
        &self,
        geometry: &Geometry,
        block: BlockId,
        (cause, of_worn): (Cause, bool),
    ) -> Result<(), String> {
        let per_plane = geometry.blocks_per_plane;
        let first = block.number() / per_plane * per_plane;
        let others = || {
            BlockId::range(first..first + per_plane)
                .filter(|b| self.blocks[b.index()].content == Content::Nothing)
        };
        let rank = self.rank(block);
        let in_pool = geometry.is_in_pool(block);
        let beside = |b: &BlockId| geometry.is_in_pool(*b) == in_pool;
        let has_side = in_pool || self.keep_pool;
        let is_first = !others().any(|b| self.rank(b) < rank);
        let is_first_beside = || !others().filter(beside).any(|b| self.rank(b) < rank);
        let is_last =
            || !others().filter(|b| !self.keep_pool || beside(b)).any(|b| self.rank(b) > rank);
        if is_first
            || has_side && is_first_beside()
            || (cause == Cause::Wear || of_worn) && is_last()
        {
            return Ok(());
        }
        let better = others().min_by_key(|b| self.rank(*b)).expect("the block itself is one");
        let (worn, least) = (self.blocks[block.index()], self.blocks[better.index()]);
        Err(if self.dynamic {
            let (worn, least) = (worn.words(), least.words());
            format!(
                "block {block}, erased {worn}, was chosen for {}, although block {better}, erased \
                 {least}, was also free",
                cause.name()
            )
        } else {
            format!(
                "block {block} was chosen for {}, although block {better} was erased before it",
                cause.name()
            )
        })
    }

    /// Notes that data is read out of a block because of wear.
    pub(crate) fn level(&mut self, block: BlockId) {
        self.overdue = 0;
        let b = &mut self.blocks[block.index()];
        if std::mem::replace(&mut b.moving, true) {
            return;
        }
        let (cycles, most, gap) =
            (b.milli(), self.most[(block.number() / self.blocks_per_domain) as usize], self.gap);
        if gap > 0 && most > cycles + 1000 * u64::from(gap) {
            return;
        }
        self.findings.add(Kind::Books, || {
            let (cycles, most) = (cycles as f64 / 1000.0, most as f64 / 1000.0);
            format!(
                "block {block} was moved for wear with {cycles} erases; the most worn block has \
                 {most}, and the gap may be {gap}"
            )
        });
    }

    /// Checks, after some erases, if a lagging block could have been moved.
    #[inline]
    pub(crate) fn look(&mut self, geometry: &Geometry) {
        if self.erases >= self.looked_at + u64::from(geometry.blocks / LOOKS_PER_TURN).max(1)
            && self.gap > 0
        {
            self.look_around(geometry);
        }
    }

    #[cold]
    fn look_around(&mut self, geometry: &Geometry) {
        self.looked_at = self.erases;
        // Data is cold if it is older than as many erases as there are blocks.
        let rest = u64::from(geometry.blocks) + 1;
        let allowed = 1000 * (u64::from(self.gap) + FEW);
        let erased: Vec<_> = self.erased.iter_mut().map(std::mem::take).collect();
        let erased = |block: usize| erased[block / self.blocks_per_domain as usize];
        let lags = |(at, b): (usize, &Block)| {
            b.content == Content::Full
                && !b.moving
                && b.programmed_at + rest < self.erases
                && b.milli() + allowed < erased(at)
        };
        let lagging = self.blocks.iter().enumerate().position(lags);
        self.overdue = if lagging.is_some() { self.overdue + 1 } else { 0 };
        let is_late = self.overdue >= patience(self.dynamic);
        if let Some(block) = lagging.filter(|_| is_late && self.neglect.is_none()) {
            let of = |milli: u64| milli as f64 / 1000.0;
            let (cycles, most) = (of(self.blocks[block].milli()), of(erased(block)));
            let gap = self.gap;
            self.neglect = Some(format!(
                "block {block} stayed with {cycles} erases, although another block was erased \
                 {most} times and the gap may be {gap}"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns one plane of 40 blocks with one page each, 12 of them spare. Static levelling is
    /// checked after every two erases.
    fn drive(wear: &str) -> (Geometry, Wear) {
        let text = format!(
            r#"
            geometry = {{ channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 40, wordlines_per_block = 1, cell = "slc", page_size = "4KiB" }}
            timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }}
            drive = {{ capacity = "112KiB" }}
            wear = {{ {wear} }}
            "#
        );
        let config = toml::from_str::<DriveConfig>(&text).unwrap().resolve().unwrap();
        let geometry = Geometry::new(&config);
        let wear = Wear::new(&geometry, &config);
        (geometry, wear)
    }

    /// Programs and erases a block this number of times.
    fn cycle(geometry: &Geometry, wear: &mut Wear, block: BlockId, times: u32) {
        for _ in 0..times {
            (wear.blocks[block.index()].content, wear.blocks[block.index()].by_host) =
                (Content::Pages, true);
            wear.program(geometry, block, 0, (Cause::Host, false));
            wear.erase(block, Cause::Gc, (1, 0));
        }
    }

    #[test]
    fn the_least_worn_free_block_is_the_next() {
        let (g, mut wear) = drive("dynamic = true, static_gap = 0");
        cycle(&g, &mut wear, BlockId::new(7), 1);
        wear.program(&g, BlockId::new(3), 0, (Cause::Host, false));
        assert!(wear.findings.sentences().is_empty());
        wear.program(&g, BlockId::new(7), 0, (Cause::Host, false));
        assert_eq!(
            wear.findings.sentences(),
            ["block 7, erased 1 times, was chosen for host, although block 0, erased 0 times, \
                 was also free"]
        );
    }

    #[test]
    fn wear_levelling_may_take_the_most_worn_block() {
        let (g, mut wear) = drive("dynamic = true, static_gap = 0");
        cycle(&g, &mut wear, BlockId::new(7), 2);
        cycle(&g, &mut wear, BlockId::new(8), 1);
        wear.program(&g, BlockId::new(7), 0, (Cause::Wear, false));
        assert!(wear.findings.sentences().is_empty());
        wear.erase(BlockId::new(7), Cause::Gc, (1, 0));
        wear.program(&g, BlockId::new(8), 0, (Cause::Wear, false));
        assert_eq!(wear.findings.count(Kind::Books), 1, "neither the most nor the least worn");
    }

    #[test]
    fn without_dynamic_levelling_the_first_erased_is_the_next() {
        let (g, mut wear) = drive("dynamic = false, static_gap = 0");
        BlockId::range(0..40)
            .filter(|b| ![7, 8].contains(&b.number()))
            .for_each(|b| wear.load(&g, b, 1));
        cycle(&g, &mut wear, BlockId::new(7), 3);
        cycle(&g, &mut wear, BlockId::new(8), 1);
        wear.program(&g, BlockId::new(7), 0, (Cause::Host, false));
        assert!(wear.findings.sentences().is_empty(), "worn more, and erased before");
        wear.erase(BlockId::new(7), Cause::Gc, (1, 0));
        wear.program(&g, BlockId::new(7), 0, (Cause::Host, false));
        assert_eq!(
            wear.findings.sentences(),
            ["block 7 was chosen for host, although block 8 was erased before it"]
        );
    }

    #[test]
    fn only_a_block_that_lags_is_moved_for_wear() {
        let moved = |erases, gap: u32| {
            let (g, mut wear) = drive(&format!("dynamic = true, static_gap = {gap}"));
            wear.load(&g, BlockId::new(3), 1);
            cycle(&g, &mut wear, BlockId::new(7), erases);
            wear.level(BlockId::new(3));
            wear.level(BlockId::new(3));
            wear.findings.sentences().to_vec()
        };
        assert!(moved(6, 5).is_empty());
        assert_eq!(
            moved(5, 5),
            ["block 3 was moved for wear with 0 erases; the most worn block has 5, and the gap \
                 may be 5"]
        );
        assert_eq!(moved(9, 0).len(), 1, "it is switched off");
    }

    #[test]
    fn a_block_that_lags_is_not_left_behind() {
        let left = |moves: bool| {
            let (g, mut wear) = drive("dynamic = true, static_gap = 5");
            wear.load(&g, BlockId::new(3), 1);
            for _ in 0..60 {
                cycle(&g, &mut wear, BlockId::new(7), 1);
                wear.look(&g);
                if moves && wear.erases == 50 {
                    wear.level(BlockId::new(3));
                }
            }
            wear.neglect
        };
        assert_eq!(left(true), None);
        // The block lags from the 16th erase on. At the 42nd erase it has been full for longer than
        // a turn of the 40 blocks, and this is the first of six checks.
        assert_eq!(
            left(false).unwrap(),
            "block 3 stayed with 0 erases, although another block was erased 52 times and the gap may \
             be 5"
        );
    }
}
