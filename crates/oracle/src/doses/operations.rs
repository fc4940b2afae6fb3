//! Operations on flash, and the doses that they deposit.

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::BlockId;
use vpass_drive::config::DisturbModel;

use super::Doses;
use crate::limits;
use crate::medium::{At, Medium};

impl Doses {
    /// Notes that a page was sensed, for any reason and with any result.
    #[inline]
    pub(crate) fn sense(&mut self, medium: &mut Medium, at: At) {
        if self.model != DisturbModel::None {
            let dose = self.of_page(at);
            let block = &mut self.blocks[at.block.index()];
            block.read += u64::from(dose);
            block.most_read = block.most_read.max(medium.sense(at.wordline, dose));
        }
    }

    /// Returns the dose of a read of a page, in quarters. The dose equals that of the full-density
    /// page kind with the same number of sensings.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the read path")]
    pub(crate) fn of_page(&self, at: At) -> u32 {
        let block = &self.blocks[at.block.index()];
        if block.has_own || block.mode > 0 {
            self.of_coded(at)
        } else {
            self.per_kind[at.kind as usize]
        }
    }

    #[cold]
    pub(super) fn of_coded(&self, at: At) -> u32 {
        let row = self.codings.row(self.mode_at(at));
        if row.keeps(at.kind) {
            let sensings = row.sensings[at.kind as usize];
            limits::dose_of(self.unit, self.cell, sensings.into())
        } else {
            self.per_kind[at.kind as usize]
        }
    }

    /// Returns the dose of a read of this page kind in full density, in quarters.
    #[inline]
    pub(crate) fn of_read(&self, kind: u32) -> u32 {
        self.per_kind[kind as usize]
    }

    /// Returns the doses of all page kinds of these cells.
    pub(crate) fn per_kind(&self, geometry: &Geometry) -> &[u32] {
        &self.per_kind[..geometry.cell.bits() as usize]
    }

    /// Returns the dose of a reprogramming of a wordline, in quarters.
    pub(crate) fn of_reprogramming(&self) -> u32 {
        self.by_reprogramming
    }

    /// Notes that a wordline was reprogrammed in place. The other wordlines get the dose of a
    /// number of reads.
    pub(crate) fn reprogram(&mut self, medium: &mut Medium, block: BlockId, wordline: u32) {
        if self.model != DisturbModel::None && self.by_reprogramming > 0 {
            let record = &mut self.blocks[block.index()];
            record.read += u64::from(self.by_reprogramming);
            record.most_read = record.most_read.max(medium.sense(wordline, self.by_reprogramming));
        }
    }

    /// Adds these doses to the wordlines of a block, from its first one on.
    pub(crate) fn age(&mut self, medium: &mut Medium, block: BlockId, doses: &[u32]) {
        if self.model == DisturbModel::None {
            return;
        }
        let record = &mut self.blocks[block.index()];
        for (wordline, dose) in (block.number() * self.wordlines_per_block..).zip(doses) {
            record.read += u64::from(*dose);
            record.most_read = record.most_read.max(medium.sense(wordline, *dose));
        }
    }

    /// Adds the dose of `times` sensings of a page.
    pub(crate) fn sense_often(&mut self, medium: &mut Medium, at: At, times: u32) {
        if self.model != DisturbModel::None {
            let dose = self.of_page(at) * times;
            let block = &mut self.blocks[at.block.index()];
            block.read += u64::from(dose);
            block.most_read = block.most_read.max(medium.sense(at.wordline, dose));
        }
    }

    /// Notes that the first page of a wordline is programmed.
    pub(crate) fn program(&self, medium: &mut Medium, at: At) {
        let neighbour = self.low(medium, at);
        medium.start(at.wordline, neighbour, self.blocks[at.block.index()].read);
    }

    /// Notes that a block, or one of its wordlines, was reprogrammed.
    pub(crate) fn note_reprogramming(&mut self, block: BlockId) {
        self.worn[block.index()].is_reprogrammed = true;
    }

    /// Gives a block the limits of a coding mode until its erase.
    pub(crate) fn set_mode(&mut self, block: BlockId, mode: u8) {
        self.blocks[block.index()].mode = mode;
    }

    /// Gives a single wordline the limits of a coding mode until its block's erase.
    pub(crate) fn recode_wordline(&mut self, block: BlockId, index: u32, mode: u8) {
        self.blocks[block.index()].has_own = true;
        let modes = &mut self.own_modes[block.index()];
        modes.resize(self.wordlines_per_block as usize, 0);
        modes[index as usize] = mode;
    }

    /// Resets a block's doses at an erase. Its next limits follow from the added cycles, and from
    /// the wear of reprogramming in each cycle that the last one stands for.
    pub(crate) fn erase(&mut self, block: BlockId, cycles: (u32, u32)) {
        self.worn[block.index()].take_over(self.skipped);
        let limits = self.worn[block.index()].end_cycle(cycles, self.wear, self.counts_wear)
            * self.table.groups() as u32;
        let record = &mut self.blocks[block.index()];
        if record.has_own {
            self.own_modes[block.index()] = vec![];
        }
        (record.read, record.most_read, record.limits, record.mode, record.has_own) =
            (0, 0, limits, 0, false);
        if let Some(level) = self.first_levels.get_mut(block.index()) {
            *level = 0;
        }
        self.know_limits(limits);
    }

    /// Skips this number of P/E cycles of every block. Their limits begin with the next erase.
    pub(crate) fn skip_cycles(&mut self, cycles: u32) {
        self.skipped += cycles;
    }

    /// Lets a block begin with this number of P/E cycles.
    pub(crate) fn begin_worn(&mut self, block: BlockId, pec: u32) {
        let more = pec.saturating_sub(self.start_pec);
        let limits = more * self.table.groups() as u32;
        self.worn[block.index()].more = more;
        self.blocks[block.index()].limits = limits;
        self.know_limits(limits);
    }
}
