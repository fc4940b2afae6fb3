//! Checks that static wear levelling leaves no cold data behind, from erases and programs alone. A
//! block holds cold data if it stays full for as many erases as the drive has blocks. While such a
//! block is there, no block may be erased again and again that is more worn by more than the gap and
//! a few cycles.

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Cause, Ppn};
use vpass_drive::config::DriveConfig;
use vpass_drive::drive::Drive;
use vpass_drive::watch::observer::Event;

use crate::oracle::{Books, Check};
use crate::report::{Findings, Kind};
use crate::truth::Truth;

/// Number of checks during as many erases as the drive has blocks.
const LOOKS_PER_TURN: u32 = 16;
/// Number of cycles by which wear may differ more than the gap (key `wear.static_gap`), while a
/// worn block is not free or data does not count as cold yet.
const FEW: u64 = 10;

/// Number of checks in a row that must find a lagging block and no move before this counts as an
/// error. One check may find the block open or in a move, and another may come during the erases of
/// one cleaning. Without dynamic levelling, wear differs by chance, and data in lagging blocks is
/// often a turn of the drive old when the host overwrites it. So the checks of a turn are added.
fn patience(dynamic: bool) -> u32 {
    if dynamic { 6 } else { 6 + LOOKS_PER_TURN }
}

#[derive(Clone, Copy, Debug, Default)]
struct Block {
    /// Wear since the drive began, in thousandths of a cycle. `more` are cycles that the block began
    /// with, beyond those of other blocks.
    milli: u64,
    more: u32,
    /// Number of erases of the drive at the last program of the block.
    programmed_at: u64,
    /// Whether the block is programmed to its last page, and whether its data is being moved because
    /// of wear.
    is_full: bool,
    is_moving: bool,
}

/// Wear and contents of all blocks.
#[derive(Debug)]
pub(crate) struct Levelling {
    blocks: Vec<Block>,
    erases: u64,
    /// Wear of the most worn block of each domain that was erased since the last check.
    erased: Vec<u64>,
    start_pec: u32,
    dynamic: bool,
    gap: u32,
    looked_at: u64,
    /// Number of checks in a row that found a lagging block without a move since.
    overdue: u32,
    neglect: Option<String>,
}

impl Levelling {
    /// Returns `None` if wear is not levelled.
    pub(crate) fn new(geometry: &Geometry, config: &DriveConfig) -> Option<Self> {
        (config.wear.static_gap > 0).then(|| Self {
            blocks: vec![Block::default(); geometry.blocks as usize],
            erases: 0,
            erased: vec![0; geometry.domains() as usize],
            start_pec: config.start.pec,
            dynamic: config.wear.dynamic,
            gap: config.wear.static_gap,
            looked_at: 0,
            overdue: 0,
            neglect: None,
        })
    }

    /// Returns the size in bytes for a drive of this geometry.
    pub(crate) fn bytes(geometry: &Geometry) -> u64 {
        u64::from(geometry.blocks) * size_of::<Block>() as u64
    }

    fn erase(&mut self, truth: &Truth, block: BlockId, cause: Cause) {
        self.erases += 1;
        if cause == Cause::Wear {
            // The block held no valid data, so no move is overdue.
            self.overdue = 0;
        }
        let (worn, more) = (truth.doses.worn(block), self.blocks[block.index()].more);
        let milli = 1000 * u64::from(worn.cycles + more) + worn.beyond_milli;
        self.blocks[block.index()] = Block { milli, more, ..Block::default() };
        let erased = &mut self.erased[truth.geometry.domain_of(block)];
        *erased = milli.max(*erased);
    }

    fn program(&mut self, truth: &Truth, ppn: Ppn) {
        let block = truth.geometry.block_of(ppn);
        let page = ppn - truth.geometry.first_page(block);
        let b = &mut self.blocks[block.index()];
        b.programmed_at = self.erases;
        b.is_full = page + 1 == truth.geometry.pages_per_block;
    }

    /// Checks, after some erases, if a lagging block could have been moved.
    fn look(&mut self, geometry: &Geometry) {
        if self.erases < self.looked_at + u64::from(geometry.blocks / LOOKS_PER_TURN).max(1) {
            return;
        }
        self.looked_at = self.erases;
        let rest = u64::from(geometry.blocks) + 1;
        let allowed = 1000 * (u64::from(self.gap) + FEW);
        let erased: Vec<u64> = self.erased.iter_mut().map(std::mem::take).collect();
        let lags = |block: &BlockId| {
            let b = &self.blocks[block.index()];
            b.is_full
                && !b.is_moving
                && b.programmed_at + rest < self.erases
                && b.milli + allowed < erased[geometry.domain_of(*block)]
        };
        let lagging = geometry.block_ids().find(lags);
        self.overdue = if lagging.is_some() { self.overdue + 1 } else { 0 };
        let is_late = self.overdue >= patience(self.dynamic);
        if let Some(block) = lagging.filter(|_| is_late && self.neglect.is_none()) {
            let of = |milli: u64| milli as f64 / 1000.0;
            let cycles = of(self.blocks[block.index()].milli);
            let most = of(erased[geometry.domain_of(block)]);
            let gap = self.gap;
            self.neglect = Some(format!(
                "block {block} stayed with {cycles} erases, although another block was erased \
                 {most} times and the gap may be {gap}"
            ));
        }
    }
}

impl Check for Levelling {
    fn after(&mut self, truth: &Truth, event: &Event<'_>, _: &mut Findings) {
        match *event {
            Event::Erased { block, cause } if truth.has_block(block) => {
                self.erase(truth, block, cause);
            }
            Event::Programmed { ppn, .. } | Event::Padded { ppn, .. }
                if truth.geometry.has_page(ppn) =>
            {
                self.program(truth, ppn);
            }
            Event::Preloaded { block, lpns } if truth.has_block(block) => {
                self.blocks[block.index()].is_full =
                    lpns.len() >= truth.geometry.pages_per_block as usize;
            }
            Event::PreloadedInOrder { block, .. } if truth.has_block(block) => {
                self.blocks[block.index()].is_full = true;
            }
            Event::WornBefore { block, pec } if truth.has_block(block) => {
                let more = pec.saturating_sub(self.start_pec);
                let b = &mut self.blocks[block.index()];
                (b.more, b.milli) = (more, 1000 * u64::from(more));
            }
            Event::Failed { pages } => {
                for block in pages.blocks(&truth.geometry) {
                    let b = &mut self.blocks[block.index()];
                    (b.is_full, b.is_moving) = (false, false);
                }
            }
            Event::Reads { batch } => {
                for read in batch.iter().filter(|read| read.cause == Cause::Wear) {
                    if truth.geometry.has_page(read.ppn) {
                        self.overdue = 0;
                        let block = truth.geometry.block_of(read.ppn);
                        self.blocks[block.index()].is_moving = true;
                    }
                }
            }
            Event::Wrote { .. } => self.look(&truth.geometry),
            _ => {}
        }
    }

    /// In the timed gear, moves may wait for idle time.
    fn end(&mut self, _: &Truth, drive: &Drive, _: &Books, findings: &mut Findings) {
        if let Some(neglect) = self.neglect.take().filter(|_| !drive.is_timed()) {
            findings.add(Kind::Books, || neglect);
        }
    }
}
