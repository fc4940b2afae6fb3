//! Programming the next page of an open block: with data, or with nothing in a wordline that could
//! not wait for more data.

use crate::base::codings::FULL;
use crate::base::dose::Quarters;
use crate::base::units::{BlockId, Cause, Lpn, PageInBlock, Ppn, WordlineInBlock};
use crate::disturb::spared;
use crate::flash::Flash;
use crate::flash::contents::NOBODYS;
use crate::flash::rules;
use crate::watch::observer::{Event, Origin};

/// Data of a page that is programmed.
#[derive(Clone, Copy)]
pub(crate) struct NewPage {
    pub(crate) lpn: Lpn,
    pub(crate) origin: Origin,
    pub(crate) cause: Cause,
}

impl Flash {
    /// Programs the next page of a block. Until then, the page's older data stays valid in its old
    /// place.
    #[inline(always)]
    // Its caller is the write path.
    pub(crate) fn program(&mut self, block: BlockId, page: PageInBlock, data: NewPage) -> Ppn {
        let NewPage { lpn, origin, cause } = data;
        rules::program(block, &self.hot[block.index()], page, &self.geometry);
        let ppn = self.geometry.first_page(block) + page;
        let begins = !self.wordlines.is_empty() && self.begins_wordline(block);
        if begins {
            self.begin_wordline(block, self.geometry.wordline_in(block, ppn));
        }
        let hot = &mut self.hot[block.index()];
        hot.write_ptr = page.number() as u16 + 1;
        hot.valid += 1;
        let disturbed_before = begins && hot.reads > Quarters::ZERO && self.preprogram_weight > 0.0;
        self.contents.set_owner(block, ppn, lpn);
        self.contents.set_valid(block, page);
        self.gain_reads(block, page, lpn);
        if disturbed_before {
            // Reads may have brought the page beyond its limit before the page was written.
            self.reassess(block);
        }
        self.seq += 1;
        self.counts.programs[cause as usize] += 1;
        let seq = self.seq;
        self.tell(Event::Programmed { ppn, lpn, seq, origin, cause });
        ppn
    }

    /// Returns whether a block's next wordline has no programmed page yet.
    #[inline]
    fn begins_wordline(&self, block: BlockId) -> bool {
        self.geometry
            .kind_of(self.geometry.first_page(block) + self.hot[block.index()].written_to())
            == 0
    }

    /// Records the dose before the first page of a wordline, which does not count for the wordline.
    fn begin_wordline(&mut self, block: BlockId, wordline: WordlineInBlock) {
        self.draw_before_wordline(block);
        let row = self.geometry.row_of(block, wordline);
        let reads = self.hot[block.index()].reads;
        if reads == Quarters::ZERO {
            self.wordlines[row].base = Quarters::ZERO;
            return;
        }
        let base = self.with_block_view(block, |model, view| model.base_at_program(view, wordline));
        self.wordlines[row].base = base;
        if self.tracker.is_on() {
            self.tracker.begin_wordline(block, wordline, spared(reads, self.preprogram_weight));
        }
    }

    /// Programs an empty page of a padded wordline.
    pub(crate) fn program_nothing(&mut self, block: BlockId, page: PageInBlock, cause: Cause) {
        rules::program(block, &self.hot[block.index()], page, &self.geometry);
        let ppn = self.geometry.first_page(block) + page;
        self.hot[block.index()].write_ptr = page.number() as u16 + 1;
        self.contents.set_owner(block, ppn, NOBODYS);
        self.seq += 1;
        self.counts.programs[cause as usize] += 1;
        self.counts.padded_pages += 1;
        let seq = self.seq;
        self.tell(Event::Padded { ppn, seq, cause });
    }

    /// Handles a page that was just programmed. In a block in a mode, the program that merges
    /// states follows the last page that the wordline keeps.
    #[inline(always)]
    // A comparison, for every page written.
    pub(crate) fn complete_wordline(&mut self, block: BlockId, page: PageInBlock, cause: Cause) {
        let mode = self.hot[block.index()].mode;
        if mode != FULL {
            self.complete_in_mode(block, page, mode, cause);
        }
    }

    fn complete_in_mode(&mut self, block: BlockId, page: PageInBlock, mode: u8, cause: Cause) {
        let bits = self.geometry.cell.bits();
        if self.geometry.codings.row(mode).kept >> page.kind(bits) != 1 {
            return;
        }
        let wordline = page.wordline(bits);
        self.hot[block.index()].write_ptr = (wordline + 1).first_page(bits).number() as u16;
        if self.by_wordline {
            // The only program of the wordline leaves guard levels unused.
            self.counts.reprograms[cause as usize] += 1;
        } else {
            self.book_merge(block, mode, cause);
        }
        self.tell(Event::Merged { block, wordline, mode, cause });
    }

    /// Marks the data of a page as no longer wanted.
    #[inline]
    pub(crate) fn invalidate(&mut self, ppn: Ppn) -> BlockId {
        let block = self.geometry.block_of(ppn);
        let page = self.geometry.page_in(block, ppn);
        if self.hot[block.index()].valid == 1 {
            // An erase would drop the block's reads so far.
            self.draw_until_now(block);
        }
        self.contents.clear_valid(block, page);
        self.hot[block.index()].valid -= 1;
        self.lose_reads(block, page);
        block
    }
}
