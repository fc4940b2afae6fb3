//! Programs of whole wordlines (`timing.program_unit = "wordline"`). For each stream, up to a
//! wordline of pages waits in the controller's memory until one program takes them all. Until then
//! the map leads to the write buffer, and reads are served from there.
//!
//! A wordline that would wait too long is padded: it is programmed with the waiting pages, and its
//! other pages are empty. Without a write buffer, this happens at the end of each request. It also
//! happens after a time without requests and at the end of preparation. The memory is as safe as
//! the write buffer, so the block that a waiting copy came from may be erased.
//!
//! ```text
//! TLC, pages A to E for one stream:    A waits    A B wait    A B C are programmed    D waits    D E wait    padded: D E - are programmed
//! ```

use crate::api::Context;
use crate::base::units::{BlockId, Cause, PageInBlock, StreamId};
use crate::flash::Flash;
use crate::flash::block::BlockState;
use crate::flash::operate::program::NewPage;
use crate::flash::ops::NandOp;
use crate::ftl::Ftl;
use crate::ftl::buffer::{Slot, WHOLE};
use crate::ftl::gathers::{Gatherer, Waiting};
use crate::ftl::map::Entry;
use crate::watch::observer::{Event, Origin};

impl Ftl {
    /// Adds a page to the next wordline, and programs the wordline when it is complete. The caller
    /// has ensured that there are free blocks.
    pub(crate) fn gather(&mut self, cx: &mut Context, by: Gatherer, data: NewPage) {
        let NewPage { lpn, origin, cause } = data;
        debug_assert!(self.map.slot_of(lpn).is_none(), "newer data of page {lpn} is in the buffer");
        let slot = self.buffer.stage(Slot {
            lpn,
            mask: WHOLE,
            below: Entry::UNMAPPED,
            is_new: origin == Origin::Host,
            group: 0,
        });
        self.map.set(lpn, Entry::buffered(slot));
        if let Origin::Copy(src) = origin {
            cx.flash.tell(Event::Gathered { lpn, from: src });
        }
        self.gathers.of(by).push(Waiting { slot, cause });
        self.program_gathered(cx, by, false);
    }

    /// Returns the serial number of the next wordline in the timed gear.
    pub(crate) fn gather_serial(&mut self, by: Gatherer) -> u32 {
        self.gathers.of(by).serial
    }

    /// Programs a wordline with the pages that wait for it, if there are any.
    pub(crate) fn pad(&mut self, cx: &mut Context, by: Gatherer) {
        self.before_padding(cx, by);
        if let Gatherer::Stream(stream) = by
            && self.gathers.len(by) > 0
            && self.needs_block(stream)
        {
            // Pages with fixed dies do not wait for their wordline.
            self.ensure_room(cx, 0);
        }
        // GC may have completed the wordline in the meantime.
        while self.gathers.len(by) > 0 {
            self.program_gathered(cx, by, true);
        }
    }

    /// Programs the incomplete wordlines of a kind of data.
    pub(crate) fn pad_kind(&mut self, cx: &mut Context, kind: StreamId) {
        for stream in self.streams.of_kind(kind) {
            self.pad(cx, Gatherer::Stream(stream));
        }
    }

    /// Programs all incomplete wordlines of streams. Jobs that write within a block keep their
    /// incomplete wordlines.
    pub(crate) fn pad_streams(&mut self, cx: &mut Context) {
        while let Some(gather) =
            self.gathers.open.iter().find(|g| g.len > 0 && matches!(g.by, Gatherer::Stream(_)))
        {
            let by = gather.by;
            self.pad(cx, by);
        }
    }

    /// Drops a waiting page that the host trimmed.
    pub(crate) fn forget_gathered(&mut self, slot: u32) {
        self.gathers.forget(slot);
        self.buffer.unstage(slot);
    }

    /// Programs the next wordline if enough pages wait for it. With `padded`, any number of pages
    /// is enough.
    fn program_gathered(&mut self, cx: &mut Context, by: Gatherer, padded: bool) {
        let waiting = self.gathers.len(by);
        // No block is opened before the pages fill a wordline of any block of this stream.
        let bits = cx.flash.geometry.cell.bits();
        let fewest = match by {
            Gatherer::Stream(stream) => cx
                .flash
                .geometry
                .codings
                .row(self.streams.of(stream).mode)
                .kinds()
                .min(self.streams.of(stream).most_pages),
            Gatherer::Block(_) => bits,
        };
        if waiting < fewest && !padded {
            return;
        }
        let to = if let Gatherer::Stream(stream) = by {
            Gatherer::Stream(self.stream_with_room(stream))
        } else {
            by
        };
        let block = match to {
            Gatherer::Stream(stream) => self.block_at_turn(cx, stream),
            Gatherer::Block(block) => block,
        };
        let (kept, wanted) = self.pages_of_next_wordline(cx.flash, by, block);
        // An opened block is written at once. If it is denser than the stream wanted, it begins
        // with a padded wordline.
        let is_new = cx.flash.hot(block).write_ptr == 0;
        if waiting < wanted && !padded && !is_new {
            return;
        }
        let (serial, pages) = self.gathers.take(by, waiting.min(wanted));
        let pages = &pages[..waiting.min(wanted) as usize];
        self.program_wordline(cx.flash, (by, block), pages, kept, serial);
        if let Gatherer::Stream(stream) = to {
            self.streams.next_turn(stream);
            self.close_when_written(cx.flash, stream, block);
        }
    }

    /// Returns the number of programmed pages of a block's next wordline, and how many of them may
    /// hold data.
    fn pages_of_next_wordline(&self, flash: &Flash, by: Gatherer, block: BlockId) -> (u32, u32) {
        let hot = flash.hot(block);
        let kept = flash.geometry.codings.row(hot.mode).kinds();
        let most = match by {
            Gatherer::Stream(stream) => {
                self.streams.of(stream).most_pages - u32::from(hot.write_ptr)
            }
            Gatherer::Block(_) => kept,
        };
        (kept, kept.min(most))
    }

    fn program_wordline(
        &mut self,
        flash: &mut Flash,
        (by, block): (Gatherer, BlockId),
        pages: &[Waiting],
        kept: u32,
        serial: u32,
    ) {
        let is_within = matches!(by, Gatherer::Block(_));
        if is_within {
            // The block belongs to no stream, so it is open only for this program.
            flash.set_state(block, BlockState::Open);
        }
        let first = flash.next_page(block);
        let mut cause = Cause::Host;
        for waiting in pages {
            let page = flash.next_page(block);
            let slot = self.buffer.unstage(waiting.slot);
            self.map.set(slot.lpn, Entry::UNMAPPED);
            cause = waiting.cause;
            let by_host = slot.is_new;
            let origin = if by_host { Origin::Host } else { Origin::Gathered };
            self.program(flash, block, page, NewPage { lpn: slot.lpn, origin, cause });
        }
        (pages.len() as u32..kept)
            .for_each(|_| flash.program_nothing(block, flash.next_page(block), cause));
        let last = PageInBlock::new(u32::from(flash.hot(block).write_ptr) - 1);
        flash.complete_wordline(block, last, cause);
        if is_within {
            flash.set_state(block, BlockState::Closed);
        }
        let dst = flash.geometry.first_page(block) + first;
        flash.record(NandOp::ProgramWordline { dst, pages: pages.len() as u32, serial, cause });
    }
}
