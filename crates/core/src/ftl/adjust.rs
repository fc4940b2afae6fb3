//! Adjusting wordlines: they are programmed over themselves so that reads of them take fewer sensings (ida-coding-2018 III).
//!
//! What is valid of a wordline is sensed, and stays in the controller's memory while its cells are programmed. Then it is sensed again. A page that
//! this has corrupted is written elsewhere from memory.
//!
//! The data of a wordline is as new then as if it had been programmed: each of its cells was verified at the level that it has now
//! (inference). What reads did to it stays.

use crate::base::page_set::any;
use crate::base::units::BlockId;
use crate::bugs::{Bug, planted};
use crate::flash::Flash;
use crate::flash::ops::NandOp;
use crate::ftl::Ftl;
use crate::ftl::job::Job;
use crate::slots::Slots;
use crate::watch::observer::Origin;

impl Ftl {
    /// Adjusts a wordline of a job for a coding. `reserved` as for a move.
    pub(super) fn adjust(&mut self, flash: &mut Flash, slots: &mut Slots, job: &mut Job, (coding, wordline): (u8, u32), reserved: bool) {
        let (block, bits) = (job.block, flash.geometry.cell.bits());
        if planted(Bug::AgeRestartsInPart) && wordline % 4 == 3 {
            return;
        }
        for page in wordline * bits..(wordline + 1) * bits {
            if any(flash.contents().valid_words(block), page, 1) {
                self.sense_valid(flash, block, page, job.cause);
            }
        }
        if !any(flash.contents().valid_words(block), wordline * bits, bits) {
            return;
        }
        let now = flash.now;
        flash.tell(|o| o.clock(now));
        flash.recode_wordline(block, wordline, coding, job.cause);
        self.refresh.merged_wordlines += 1;
        job.note_adjusted(wordline, now.cast_signed(), flash.geometry.wordlines_per_block);
        for page in wordline * bits..(wordline + 1) * bits {
            if any(flash.contents().valid_words(block), page, 1) {
                self.verify(flash, slots, job, page, reserved);
            }
        }
    }

    /// Senses a page of a wordline that was just adjusted, and writes it elsewhere where it is not what memory holds.
    fn verify(&mut self, flash: &mut Flash, slots: &mut Slots, job: &Job, page: u32, reserved: bool) {
        let Some(adjusting) = self.adjusting else { return };
        let src = flash.geometry.first_page(job.block) + page;
        let is_corrupted = adjusting.corrupts(src, flash.cold(job.block).pec);
        let lpn = flash.contents().to_logical[src as usize];
        let to = self.stream_of(job.rewrite.otherwise, lpn);
        self.aim(to, lpn);
        if is_corrupted && !reserved && self.needs_block(to) {
            self.free_for(flash, slots, (to, flash.geometry.domain_of(job.block)), job.cause);
        }
        let hidden = self.is_hidden(flash, lpn);
        if flash.verify(lpn, src, job.cause, hidden, is_corrupted) || planted(Bug::CorruptedLeft) {
            flash.record(NandOp::Read { src, coding: flash.read_coding(src), level: flash.began_at(), cause: job.cause });
            return;
        }
        self.refresh.corrupted_pages += 1;
        self.carry_page(flash, slots, job, (src, Some(Origin::Copy(src))), Some(to));
    }

    /// A job has adjusted all that it will. Where all that is left of its block was adjusted in it, the block is as old as the first of that.
    pub(super) fn end_adjusting(&mut self, flash: &mut Flash, slots: &mut Slots, job: &Job) {
        let Some((adjusted, first)) = &job.adjusted else { return };
        let (block, bits) = (job.block, flash.geometry.cell.bits());
        let holds = |wordline: &u32| any(flash.contents().valid_words(block), wordline * bits, bits);
        let is_new = (0..flash.geometry.wordlines_per_block).filter(holds).all(|wordline| adjusted.holds(wordline));
        if is_new || planted(Bug::AgeRestartsInPart) {
            flash.restart_age(block, *first);
            self.arm_again_for_age(flash, slots, block);
        }
    }

    fn arm_again_for_age(&mut self, flash: &Flash, slots: &Slots, block: BlockId) {
        if let Some(at) = slots.first_look(flash.cold(block).programmed_at).filter(|_| self.wheel.runs) {
            self.wheel.set(block, at);
        }
    }

    /// What merging a wordline of a job takes on an idle drive.
    pub(super) fn ns_of_merge(&self, job: &Job) -> crate::base::units::Ns {
        if self.adjusting.is_some() && job.adjusts() { self.adjust_ns } else { self.merge_ns }
    }
}
