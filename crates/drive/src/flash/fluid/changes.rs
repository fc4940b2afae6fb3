//! Changes of read rates: a page is programmed or is no longer wanted, or the host reads it more or
//! less often.

use super::absent::Kind;
use crate::base::mem::prefetch;
use crate::base::units::{BlockId, Lpn, PageInBlock, Ppn};
use crate::flash::Flash;
use crate::flash::block::BlockState;

impl Flash {
    /// Adds the reads of a page that was just programmed to the reads of its block.
    #[inline]
    pub(in crate::flash) fn gain_reads(&mut self, block: BlockId, page: PageInBlock, lpn: Lpn) {
        if let Some(fluid) = &mut self.fluid {
            fluid.held.note(self.geometry.first_page(block) + page, lpn, &fluid.rates.pages);
            self.change_reads(block, page, lpn, 1.0);
        }
    }

    /// Removes the reads of a page whose data is no longer wanted. It is not read there any more.
    #[inline]
    pub(in crate::flash) fn lose_reads(&mut self, block: BlockId, page: PageInBlock) {
        if self.fluid.is_some() {
            let lpn = self.contents.owner(self.geometry.first_page(block) + page);
            self.change_reads(block, page, lpn, -1.0);
        }
    }

    /// Prefetches the memory that is needed when the data of a page is no longer wanted.
    #[inline]
    pub(in crate::flash) fn prefetch_bulk(&self, block: BlockId, ppn: Ppn) {
        if let Some(fluid) = &self.fluid {
            self.contents.prefetch_owner(ppn);
            prefetch(&fluid.flows, block.index());
            prefetch(
                &fluid.pending,
                if fluid.by_page { ppn.index() } else { self.geometry.wordline_of(ppn) as usize },
            );
        }
    }

    fn change_reads(&mut self, block: BlockId, page: PageInBlock, lpn: Lpn, sign: f64) {
        if let Some(fluid) = &self.fluid {
            self.change_rate((block, page), lpn, sign * fluid.per_ns(lpn));
            self.change_absent(Kind::Any, lpn, -sign);
        }
    }

    /// Sets the rate of reads per second of a host page. `ppn` is where flash holds its data.
    pub(crate) fn set_read_rate(&mut self, lpn: Lpn, ppn: Option<Ppn>, per_s: f32) {
        let fluid = self.fluid.as_mut().expect("reads come in bulk");
        let before = fluid.rates.pages.per_ns(lpn);
        fluid.rates.pages.set(lpn, per_s);
        let by = fluid.rates.pages.per_ns(lpn) - before;
        let now = fluid.hours.worked(self.now);
        fluid.mean_reads.change(now, by);
        let Some(ppn) = ppn else { return };
        let block = self.geometry.block_of(ppn);
        let page = self.geometry.page_in(block, ppn);
        if self.contents.next_valid(block, page) == Some(page) {
            fluid.held.note(ppn, lpn, &fluid.rates.pages);
            self.change_rate((block, page), lpn, by);
        }
    }

    /// Adds a number of reads per nanosecond, which may be negative, to the rate of a page of a
    /// block. The page holds this data.
    fn change_rate(&mut self, (block, page): (BlockId, PageInBlock), lpn: Lpn, by: f64) {
        let now = self.time_of_reads();
        let place = self.place_of(block, page);
        let hot = &self.hot[block.index()];
        let (is_empty, is_open) = (hot.valid == 0, hot.state == BlockState::Open);
        let Some(fluid) = &mut self.fluid else { return };
        let flow = &mut fluid.flows[block.index()];
        flow.change(now, by);
        if is_empty {
            // The rest is rounding.
            flow.rate = 0.0;
        }
        let there = (now - flow.drawn_at) as f64;
        if by > 0.0 && flow.is_early() {
            let at = flow.next_look(is_open);
            fluid.agenda.plan(&mut fluid.flows, block, at);
        }
        if let Some(pending) = fluid.pending.get_mut(place) {
            *pending -= (by * there) as f32;
        }
        if let Some(words) = &mut fluid.words {
            words.leave_out(block, lpn, by * there);
        }
    }

    fn place_of(&self, block: BlockId, page: PageInBlock) -> usize {
        let ppn = self.geometry.first_page(block) + page;
        let by_page = self.fluid.as_ref().is_some_and(|fluid| fluid.by_page);
        if by_page { ppn.index() } else { self.geometry.wordline_of(ppn) as usize }
    }
}
