//! Merging of wordlines in place, so that reads of them take fewer sensings (ida-coding-2018 III).
//! Names in the code call this adjusting.
//!
//! The valid pages of a wordline are sensed, and stay in the controller's memory while the cells
//! are programmed. Then they are sensed again. A page that was corrupted is written elsewhere from
//! memory.
//!
//! After that, the data of a wordline counts as newly programmed: each of its cells was verified at
//! its new level (inference). The dose of earlier reads stays.

use crate::api::Context;
use crate::api::refresh::Held;
use crate::api::rewrite::{Merges, Recode, Rewrite};
use crate::base::page_set::{holds, holds_any};
use crate::base::streams::GC;
use crate::base::units::{BlockId, Cause, PageInBlock, Reads, WordlineInBlock};
use crate::flash::Flash;
use crate::flash::block::{BlockState, MOVING};
use crate::flash::operate::sense::Sensed;
use crate::ftl::Ftl;
use crate::ftl::job::Job;
use crate::watch::observer::{Event, Origin};

/// Largest number of blocks that are checked when GC picks one. In most of them, there is nothing
/// to merge.
const LOOKS: u32 = 16;

/// State of the merging checks that follow GC's picks. `next` is the block to check next.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    /// Whether the refresh technique wants a check after each pick of GC.
    pub(crate) run: bool,
    next: BlockId,
    /// Number of valid pages of the block that GC picked since the last check.
    picked: Option<u32>,
}

impl Turns {
    /// Notes that GC has picked this block.
    #[inline]
    pub(super) fn pass(&mut self, flash: &Flash, picked: BlockId) {
        if self.run {
            self.picked = Some(flash.hot(picked).valid.into());
        }
    }
}

impl Ftl {
    /// Merges wordlines of another block in place if GC has picked a block.
    #[inline(always)]
    // A comparison, for every page that the host writes.
    pub(crate) fn adjust_in_turn(&mut self, cx: &mut Context) {
        if let Some(picked) = self.turns.picked {
            self.adjust_next(cx, picked);
        }
    }

    #[cold]
    fn adjust_next(&mut self, cx: &mut Context, picked: u32) {
        self.turns.picked = None;
        for _ in 0..LOOKS {
            let block = self.turns.next;
            self.turns.next = cx.flash.geometry.block_behind(block);
            if cx.flash.hot(block).state != BlockState::Closed
                || cx.flash.hot(block).has(MOVING)
                || self.is_left_alone(cx.flash, block)
            {
                continue;
            }
            let held = Held::of(cx.flash, block);
            let merges = cx.refresh.ask("at_gc", |refresh| refresh.at_gc(&held, picked));
            if self.adjust_in_place(cx, block, merges) {
                return;
            }
        }
    }

    /// Merges wordlines of a block in place. The block has no job, and no page has to move for it.
    /// Returns false if the policy's reserve of reads is too small.
    pub(crate) fn adjust_in_place(
        &mut self,
        cx: &mut Context,
        block: BlockId,
        merges: Merges,
    ) -> bool {
        if merges.is_empty() {
            return false;
        }
        let burden = cx
            .flash
            .burden_of_adjusting(block, &merges.wordlines(cx.flash.geometry.wordlines_per_block));
        if !cx.flash.has_room_for(block, burden) {
            self.refresh.no_room += 1;
            return false;
        }
        let mut rewrite =
            Rewrite { block, parts: vec![], recode: Recode::Wordlines(merges), otherwise: GC };
        self.settle(cx.flash, &mut rewrite);
        self.rewrite(cx, rewrite, Cause::Refresh, Reads::NEVER);
        if self.job_of(block).is_some() {
            cx.flash.bring_forward(block, burden);
        }
        true
    }

    /// Merges a wordline of a job in place for a coding.
    pub(super) fn adjust(&mut self, cx: &mut Context, job: &mut Job, next: (u8, WordlineInBlock)) {
        let (coding, wordline) = next;
        let (block, bits) = (job.block, cx.flash.geometry.cell.bits());
        for page in wordline.pages(bits) {
            if holds(cx.flash.contents.valid_words(block), page) {
                self.sense_valid(cx, job, page);
            }
        }
        if !holds_any(cx.flash.contents.valid_words(block), wordline, bits) {
            return;
        }
        let now = cx.flash.now;
        cx.flash.tell(Event::Clock { at: now });
        cx.flash.recode_wordline(block, wordline, coding, job.cause);
        self.refresh.merged_wordlines += 1;
        job.note_adjusted(wordline, now.cast_signed(), cx.flash.geometry.wordlines_per_block);
        for page in wordline.pages(bits) {
            if holds(cx.flash.contents.valid_words(block), page) {
                self.verify(cx, job, page);
            }
        }
    }

    /// Senses a page of a wordline that was just merged, and writes it elsewhere if it differs from
    /// the copy in memory.
    fn verify(&mut self, cx: &mut Context, job: &Job, page: PageInBlock) {
        let Some(adjusting) = self.adjusting else { return };
        let src = cx.flash.geometry.first_page(job.block) + page;
        let is_corrupted = adjusting.corrupts(src, cx.flash.cold(job.block).pec);
        let lpn = cx.flash.contents.owner(src);
        let to = self.way_out(cx.flash, job, lpn);
        if is_corrupted && !job.reserved && self.needs_block(to) {
            self.free_for(cx, (to, cx.flash.geometry.domain_of(job.block)), job.cause);
        }
        let hidden = self.is_hidden(cx.flash, lpn);
        let Sensed { good, level, .. } = cx.flash.verify(lpn, src, job.cause, hidden, is_corrupted);
        if good {
            return cx.flash.record_read(src, level, job.cause);
        }
        self.refresh.corrupted_pages += 1;
        self.carry_page(cx, job, (src, level, Some(Origin::Copy(src))), Some(to));
    }

    /// Ends the merging of a job. If all remaining wordlines of its block were merged by it, the
    /// block is as old as the first merge.
    pub(super) fn end_adjusting(&mut self, cx: &mut Context, job: &Job) {
        let Some((adjusted, first)) = &job.adjusted else { return };
        let (block, bits) = (job.block, cx.flash.geometry.cell.bits());
        let holds = |wordline: &WordlineInBlock| {
            holds_any(cx.flash.contents.valid_words(block), *wordline, bits)
        };
        let is_new = cx
            .flash
            .geometry
            .wordlines_in_block()
            .filter(holds)
            .all(|wordline| adjusted.holds(wordline));
        if is_new {
            // Old versions in the block were not merged.
            self.make_whole_before_recoding(
                cx.flash,
                block,
                &(WordlineInBlock::FIRST
                    ..WordlineInBlock::new(cx.flash.geometry.wordlines_per_block)),
            );
            cx.flash.restart_age(block, *first);
            // It is due later, and enters its next step of age earlier.
            self.set_checks_of_age(cx, block, true);
        }
    }
}
