//! Blocks of low density. They are made in place by reprogramming, or opened with low density by a
//! stream. The number of such blocks is limited.
//!
//! Reprogramming a block (ipr-2018 III-C): valid pages of the kind that will be lost move
//! elsewhere. Then each wordline is read completely, and its most significant page is reprogrammed,
//! so that its cells leave the guard levels (`base::coding`). The limits of the block grow when all
//! wordlines are done. Its dose stays.

use crate::api::rewrite::{Destination, Merges, Part, Recode, Rewrite};
use crate::api::{Away, Context};
use crate::base::codings::{FASTER, FULL};
use crate::base::page_set::{PageSet, holds, holds_any};
use crate::base::units::{BlockId, Cause, Lpn, PageInBlock, StreamId, WordlineInBlock};
use crate::flash::Flash;
use crate::flash::block::HAS_RECODED;
use crate::flash::operate::sense::Sensed;
use crate::ftl::Ftl;
use crate::ftl::job::Job;
use crate::ftl::recycle::before_next_filling;

impl Ftl {
    /// Changes a wanted rewrite of a block into a possible one. A block or wordline that cannot be
    /// recoded moves to the destination that the request names. So does a block without space to be
    /// written again. The pages that a coding gives up are added to those that move.
    pub(crate) fn settle(&mut self, flash: &Flash, rewrite: &mut Rewrite) {
        let block = rewrite.block;
        if let Some(within) = rewrite.parts.iter_mut().find(|part| part.to == Destination::Within) {
            within.pages = before_next_filling(flash, block);
            if within.pages.is_none() {
                *rewrite = Rewrite::all_to(block, rewrite.otherwise);
            }
        }
        match &mut rewrite.recode {
            Recode::Nothing => {}
            Recode::Block(coding) => {
                if let Some(leaving) = self.leaving_block(flash, block, *coding) {
                    rewrite.parts.push(Part::of(leaving, rewrite.otherwise));
                } else {
                    self.reclaim.low_density_refused += 1;
                    *rewrite = Rewrite::all_to(block, rewrite.otherwise);
                }
            }
            Recode::Wordlines(wordlines) => {
                let leaving = self.leaving_wordlines(flash, block, wordlines);
                rewrite.parts.push(Part::of(leaving, rewrite.otherwise));
            }
        }
    }

    /// Returns the pages that must leave a block before it is recoded. Returns `None` if it cannot
    /// be recoded. In this case, its cells do not have the coding, a part of it has its own coding
    /// already, or the drive cannot spare the pages.
    fn leaving_block(&self, flash: &Flash, block: BlockId, coding: u8) -> Option<PageSet> {
        let g = &flash.geometry;
        let (bits, written) = (g.cell.bits(), flash.hot(block).written_to());
        let hot = flash.hot(block);
        if !g.codings.has(coding)
            || hot.mode != FULL
            || hot.has(HAS_RECODED)
            || !self.has_to_spare(flash, block, flash.pages_if_recoded(block, coding))
        {
            return None;
        }
        let mut leaving = PageSet::none(g.pages_per_block);
        let whole = written.wordline(bits).number();
        for kind in g.codings.kinds_given_up(coding) {
            WordlineInBlock::range(0..whole)
                .for_each(|wordline| leaving.insert(wordline.first_page(bits) + kind, 1));
        }
        // A partly written wordline keeps its coding.
        leaving.insert(written.wordline(bits).first_page(bits), written.kind(bits));
        Some(leaving)
    }

    /// Returns the pages that must leave some wordlines of a block before the wordlines are
    /// recoded. If a wordline cannot be recoded, all its pages leave, and it is removed from
    /// `wordlines`.
    fn leaving_wordlines(&self, flash: &Flash, block: BlockId, wordlines: &mut Merges) -> PageSet {
        let (bits, codings) = (flash.geometry.cell.bits(), &flash.geometry.codings);
        let mut room = self.pages_to_spare.saturating_sub(self.away(flash, block).pages);
        let mut leaving = PageSet::none(flash.geometry.pages_per_block);
        let mut merging = Merges::none();
        for (coding, wordlines) in wordlines.by_coding() {
            let can_merge = codings.has(coding) && flash.hot(block).mode == FULL;
            let whole = if can_merge { flash.whole_wordlines(block) } else { 0 };
            let away = codings.kept_away(coding);
            for wordline in wordlines.iter() {
                if wordline.number() >= whole
                    || room < away
                    || flash.recoded.coding(block, wordline) != FULL
                {
                    leaving.insert(wordline.first_page(bits), bits);
                    continue;
                }
                room -= away;
                merging.insert(coding, wordline, flash.geometry.wordlines_per_block);
                codings
                    .kinds_given_up(coding)
                    .for_each(|kind| leaving.insert(wordline.first_page(bits) + kind, 1));
            }
        }
        *wordlines = merging;
        leaving
    }

    /// Returns whether a block's domain can spare this number of further pages. Running jobs count.
    fn has_to_spare(&self, flash: &Flash, block: BlockId, pages: u32) -> bool {
        self.away(flash, block).pages + pages <= self.pages_to_spare
    }

    /// Returns the number of pages that low density takes away in a block's domain, with those of
    /// running jobs, and the largest number allowed.
    pub(crate) fn away(&self, flash: &Flash, block: BlockId) -> Away {
        let domain = flash.geometry.domain_of(block);
        let is_here = |job: &&Job| flash.geometry.domain_of(job.block) == domain;
        let leaving: u32 =
            self.jobs.iter().flatten().filter(is_here).map(|job| job.pages_taken(flash)).sum();
        Away {
            pages: flash.pages_away(domain) + self.leaving_now[domain] + leaving,
            at_most: self.pages_to_spare,
        }
    }

    /// Merges the next wordline of a job whose pages have moved. Returns false if no wordline is
    /// left and the limits have grown.
    pub(crate) fn merge_next(&mut self, cx: &mut Context, job: &mut Job) -> bool {
        match &mut job.rewrite.recode {
            Recode::Nothing => false,
            Recode::Wordlines(left) => {
                let next = next_with_data(cx.flash, job.block, left);
                if let Some(next) = next {
                    self.recode_wordline(cx, job, next);
                } else {
                    self.end_adjusting(cx, job);
                    cx.flash.end_recoding(job.block);
                }
                next.is_some()
            }
            Recode::Block(coding) => {
                let coding = *coding;
                if job.merged.number() < cx.flash.whole_wordlines(job.block) {
                    if !self.prepare_merge(cx, job, job.merged) {
                        return true;
                    }
                    self.sense_wordline(cx, job, job.merged);
                    cx.flash.merge(job.block, job.merged, coding, job.cause);
                    job.merged = job.merged + 1;
                    return true;
                }
                // A partly written wordline gets no guard levels, but its block still gets the
                // limits of guard levels.
                let part = WordlineInBlock::new(cx.flash.whole_wordlines(job.block));
                self.make_whole_before_recoding(cx.flash, job.block, &(part..part + 1));
                self.reclaim.reprograms += 1;
                cx.flash.recode(job.block, coding);
                false
            }
        }
    }

    fn recode_wordline(&mut self, cx: &mut Context, job: &mut Job, next: (u8, WordlineInBlock)) {
        let (coding, wordline) = next;
        let block = job.block;
        if !self.prepare_merge(cx, job, wordline) {
            return;
        }
        if coding >= FASTER && self.adjusting.is_some() {
            return self.adjust(cx, job, (coding, wordline));
        }
        self.sense_wordline(cx, job, wordline);
        cx.flash.recode_wordline(block, wordline, coding, job.cause);
    }

    /// Prepares for reprogramming a wordline if pages have stripes. Afterwards, no partial parity
    /// needs an old version in the wordline, and there is space for all its data. Nothing is
    /// cleaned until it is programmed and verified: its data may be corrupted in that time, and
    /// cleaning may rebuild another page from it. Returns false if this is impossible. The job then
    /// moves the whole block.
    fn prepare_merge(
        &mut self,
        cx: &mut Context,
        job: &mut Job,
        wordline: WordlineInBlock,
    ) -> bool {
        if self.stripes.is_none() {
            return true;
        }
        let (block, bits) = (job.block, cx.flash.geometry.cell.bits());
        if let Some(page) =
            wordline.pages(bits).find(|page| holds(cx.flash.contents.valid_words(block), *page))
        {
            let lpn = cx.flash.contents.owner(cx.flash.geometry.first_page(block) + page);
            let has_room = |ftl: &mut Self, flash: &Flash, job: &Job| {
                let to = ftl.way_out(flash, job, lpn);
                ftl.room_at_turn(flash, to) >= bits
            };
            let domain = cx.flash.geometry.domain_of(block);
            let is_ready = has_room(self, cx.flash, job)
                || self.free_if_it_gains(cx, domain, job.cause)
                // Cleaning may have opened a block.
                || has_room(self, cx.flash, job);
            if !is_ready {
                *job = job.clone().widened();
                return false;
            }
        }
        self.make_whole_before_recoding(cx.flash, block, &(wordline..wordline + 1));
        true
    }

    /// Returns the stream of a page that cannot stay in its wordline. The next page of this stream
    /// is then the given page.
    pub(super) fn way_out(&mut self, flash: &Flash, job: &Job, lpn: Lpn) -> StreamId {
        let to = self.stream_of(job.rewrite.otherwise, lpn);
        let to = self.in_class(flash, job.block, to);
        self.aim(to, lpn);
        to
    }

    /// Reads all pages of a wordline of a job before its most significant page is reprogrammed.
    fn sense_wordline(&mut self, cx: &mut Context, job: &Job, wordline: WordlineInBlock) {
        let (block, cause, bits) = (job.block, job.cause, cx.flash.geometry.cell.bits());
        for page in wordline.pages(bits).take(bits as usize) {
            if cx.flash.contents.next_valid(block, page) == Some(page) {
                self.sense_valid(cx, job, page);
            } else {
                let ppn = cx.flash.geometry.first_page(block) + page;
                cx.flash.sense_for_nobody(ppn, cause);
                cx.flash.record_read(ppn, 0, cause);
            }
        }
    }

    /// Reads a valid page of a wordline that will be reprogrammed. A page that cannot be decoded
    /// cannot be programmed again: it is rebuilt elsewhere from its stripe, or lost.
    pub(super) fn sense_valid(&mut self, cx: &mut Context, job: &Job, page: PageInBlock) {
        let ppn = cx.flash.geometry.first_page(job.block) + page;
        let lpn = cx.flash.contents.owner(ppn);
        let Sensed { good, level, .. } = self.sense(cx.flash, lpn, ppn, job.cause, false);
        if !good && self.stripes.is_some() {
            let origin = self.rebuild_for_move(cx.flash, lpn);
            let to = self.way_out(cx.flash, job, lpn);
            return self.carry_page(cx, job, (ppn, level, origin), Some(to));
        }
        if !good {
            self.invalidate(cx.flash, ppn);
            self.unmap_lost(lpn);
        }
        cx.flash.record_read(ppn, level, job.cause);
    }

    /// Opens an erased block in a mode without some page kinds for a stream, if the drive can spare
    /// the pages.
    pub(crate) fn open_in_mode(&mut self, flash: &mut Flash, block: BlockId, mode: u8) {
        if mode == FULL || !flash.geometry.codings.has(mode) {
            return;
        }
        let taken = flash.geometry.pages_per_block - flash.geometry.available_pages(mode);
        if !self.has_to_spare(flash, block, taken) {
            self.reclaim.low_density_refused += 1;
            return;
        }
        flash.open_in_mode(block, mode, taken);
    }

    /// Records how much of its limit a block in a mode has used. The block will be erased.
    pub(crate) fn book_low_density(&mut self, flash: &Flash, block: BlockId, cause: Cause) {
        let (mode, reads) = (flash.hot(block).mode, flash.hot(block).reads);
        if mode == 0 {
            return;
        }
        self.reclaim.low_density_erases_by_gc += u64::from(cause == Cause::Gc);
        let pec = flash.limit_pec(block);
        if let Some(limits) = flash.limits() {
            let weakest = (0..limits.groups())
                .map(|group| limits.truth(group, pec).limit)
                .min()
                .expect("a table has a group");
            self.reclaim.low_density_used.note(reads, limits.in_mode(weakest, mode));
        }
    }
}

/// Returns the first of these wordlines that still holds data, with its coding. It and the
/// wordlines before it are removed.
fn next_with_data(
    flash: &Flash,
    block: BlockId,
    left: &mut Merges,
) -> Option<(u8, WordlineInBlock)> {
    let bits = flash.geometry.cell.bits();
    let holds_data =
        |wordline: WordlineInBlock| holds_any(flash.contents.valid_words(block), wordline, bits);
    loop {
        let (coding, wordline) = left.take_first()?;
        if holds_data(wordline) {
            return Some((coding, wordline));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::codings::GUARDED;
    use crate::base::page_set::WordlineSet;
    use crate::base::streams::RECLAIM;
    use crate::base::units::{Lpn, Reads};
    use crate::config::DriveConfig;
    use crate::drive::Drive;
    use crate::testing::fakes;

    /// Returns an empty drive with one plane of 60 blocks of 24 pages.
    fn drive() -> Drive {
        let text = r#"
            geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 60, wordlines_per_block = 8, cell = "tlc", page_size = "4KiB" }
            timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
            drive = { spare = 0.4 }
            start = { fill = 0.0 }
        "#;
        let config = toml::from_str::<DriveConfig>(text).unwrap().resolve().unwrap();
        Drive::new(config, &fakes(), false).unwrap()
    }

    fn write(drive: &mut Drive, lpn: Lpn) {
        drive.write_page(lpn, u64::MAX);
        drive.drain_buffer();
    }

    fn block_of(drive: &Drive, lpn: Lpn) -> BlockId {
        drive.geometry.block_of(drive.ftl.place_of(lpn).expect("on flash"))
    }

    /// Two of eight wordlines are merged. The pages that they lose are no room that GC could gain.
    #[test]
    fn a_merged_wordline_counts_as_full() {
        let mut drive = drive();
        (0..24).for_each(|lpn| write(&mut drive, Lpn::new(lpn)));
        let block = block_of(&drive, Lpn::new(0));
        let mut wordlines = WordlineSet::none(8);
        wordlines.insert(WordlineInBlock::new(0), 2);
        let none = PageSet::none(24);
        let mut rewrite = Rewrite::recode_wordlines(block, GUARDED, wordlines, none);
        let (ftl, mut cx) = drive.parts();
        ftl.settle(cx.flash, &mut rewrite);
        ftl.rewrite(&mut cx, rewrite, Cause::Reclaim, Reads::NEVER);
        assert_eq!((drive.flash.hot(block).valid, drive.flash.pages_away(0)), (22, 2));
        assert_eq!(drive.ftl.score(&drive.flash, block), 24);
        let (ftl, mut cx) = drive.parts();
        ftl.rewrite(&mut cx, Rewrite::all(block), Cause::Reclaim, Reads::NEVER);
        assert_eq!(drive.flash.pages_away(0), 0, "an erased block has all of its pages again");
    }

    /// Ten of 24 pages are written: three whole wordlines, each of which keeps two pages, and a
    /// page that moves. GC would find 6 of 16 pages valid and take the block at once, but nothing
    /// more is written to the block.
    #[test]
    fn a_block_reprogrammed_before_it_was_full_does_not_look_empty() {
        let mut drive = drive();
        (0..10).for_each(|lpn| write(&mut drive, Lpn::new(lpn)));
        let block = block_of(&drive, Lpn::new(0));
        let mut rewrite = Rewrite::recode(block, GUARDED, RECLAIM);
        let (ftl, mut cx) = drive.parts();
        ftl.settle(cx.flash, &mut rewrite);
        ftl.rewrite(&mut cx, rewrite, Cause::Reclaim, Reads::NEVER);
        assert_eq!((drive.flash.hot(block).mode, drive.flash.hot(block).valid), (GUARDED, 6));
        assert_eq!((drive.ftl.score(&drive.flash, block), drive.flash.pages_away(0)), (24, 18));
        write(&mut drive, Lpn::new(0));
        assert_eq!(drive.ftl.score(&drive.flash, block), 20, "5 of 6 pages");
        let (ftl, mut cx) = drive.parts();
        ftl.rewrite(&mut cx, Rewrite::all(block), Cause::Reclaim, Reads::NEVER);
        assert_eq!((drive.flash.hot(block).mode, drive.flash.pages_away(0)), (0, 0));
    }
}
