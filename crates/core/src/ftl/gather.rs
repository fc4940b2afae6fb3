//! Where a die programs whole wordlines (`timing.program_unit = "wordline"`): pages wait in the
//! controller's memory, a wordline's worth for each stream, until one program takes them all. Until
//! then the map leads to the write buffer, and reads are served from there.
//!
//! A wordline that would wait too long is padded: it is programmed with what there is, and its
//! other pages hold nothing. That is so without a write buffer at the end of each request, after a
//! time without requests, and at the end of preparation. The memory is as safe as the write buffer,
//! so the block that a waiting copy came from may be erased.
//!
//! ```text
//! TLC, pages A to E for one stream:    A waits    A B wait    A B C are programmed    D waits    D E wait    padded: D E - are programmed
//! ```

use crate::base::units::{BlockId, Cause, Lpn, PageInBlock, StreamId};
use crate::bugs::Bug;
use crate::flash::Flash;
use crate::flash::block::BlockState;
use crate::flash::ops::NandOp;
use crate::ftl::Ftl;
use crate::ftl::buffer::{Slot, WHOLE};
use crate::ftl::gathers::{Gatherer, Waiting};
use crate::ftl::map::Entry;
use crate::slots::Slots;
use crate::watch::observer::Origin;

impl Ftl {
    /// Takes in a page for a wordline to come, and programs that when it is complete. The caller
    /// has seen to free blocks.
    pub(crate) fn gather(
        &mut self,
        flash: &mut Flash,
        slots: &mut Slots,
        by: Gatherer,
        lpn: Lpn,
        origin: Origin,
        cause: Cause,
    ) {
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
            flash.tell(|o| o.gathered(lpn, src));
        }
        self.gathers.of(by).push(Waiting { slot, cause });
        self.program_gathered(flash, slots, by, false);
    }

    /// What the timed gear knows the next wordline by.
    pub(crate) fn gather_serial(&mut self, by: Gatherer) -> u32 {
        self.gathers.of(by).serial
    }

    /// Programs a wordline with what waits for it, if anything does.
    pub(crate) fn pad(&mut self, flash: &mut Flash, slots: &mut Slots, by: Gatherer) {
        self.before_padding(flash, slots, by);
        if let Gatherer::Stream(stream) = by
            && self.gathers.len(by) > 0
            && self.needs_block(stream)
        {
            // Pages that have dies of their own do not wait for their wordline.
            self.ensure_room(flash, slots, 0);
        }
        // GC may have completed it meanwhile.
        while self.gathers.len(by) > 0 {
            self.program_gathered(flash, slots, by, true);
        }
    }

    /// Programs the wordlines that some kind of data waits for.
    pub(crate) fn pad_kind(&mut self, flash: &mut Flash, slots: &mut Slots, kind: StreamId) {
        for stream in self.streams.of_kind(kind) {
            self.pad(flash, slots, Gatherer::Stream(stream));
        }
    }

    /// Programs all wordlines that pages wait for. Jobs under way within a block keep theirs.
    pub(crate) fn pad_streams(&mut self, flash: &mut Flash, slots: &mut Slots) {
        while let Some(gather) =
            self.gathers.open.iter().find(|g| g.len > 0 && matches!(g.by, Gatherer::Stream(_)))
        {
            let by = gather.by;
            self.pad(flash, slots, by);
        }
    }

    /// The host trimmed a page that waits.
    pub(crate) fn forget_gathered(&mut self, slot: u32) {
        if !self.bugs.has(Bug::GatherForgetsTrim) {
            self.gathers.forget(if self.bugs.has(Bug::GatherForgetsAnother) {
                slot ^ 1
            } else {
                slot
            });
        }
        self.buffer.unstage(slot);
    }

    /// Programs the next wordline where as many pages wait as it takes or, with `padded`, however
    /// many wait.
    fn program_gathered(
        &mut self,
        flash: &mut Flash,
        slots: &mut Slots,
        by: Gatherer,
        padded: bool,
    ) {
        let waiting = self.gathers.len(by);
        // Before there are as many as a wordline of any block of this stream takes, no block is
        // opened.
        let bits = flash.geometry.cell.bits();
        let fewest = match by {
            Gatherer::Stream(stream) => flash
                .geometry
                .codings
                .row(self.streams.mode(stream))
                .kinds()
                .min(self.streams.most_pages(stream)),
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
            Gatherer::Stream(stream) => self.block_at_turn(flash, slots, stream),
            Gatherer::Block(block) => block,
        };
        let (kept, wanted) = self.pages_of_next_wordline(flash, by, block);
        // A block is not opened for nothing: one that is denser than the stream wanted begins with
        // a padded wordline.
        let is_new = flash.hot(block).write_ptr == 0;
        if waiting < wanted && !padded && !is_new {
            return;
        }
        let (serial, pages) = self.gathers.take(by, waiting.min(wanted));
        self.program_wordline(
            flash,
            by,
            block,
            &pages[..waiting.min(wanted) as usize],
            kept,
            serial,
        );
        if let Gatherer::Stream(stream) = to {
            self.end_turn(flash, stream, block);
        }
    }

    /// Pages of a block's next wordline that are programmed, and those of them that may hold data.
    fn pages_of_next_wordline(&self, flash: &Flash, by: Gatherer, block: BlockId) -> (u32, u32) {
        let hot = flash.hot(block);
        let kept = flash.geometry.codings.row(hot.mode).kinds();
        let most = match by {
            Gatherer::Stream(stream) => self.streams.most_pages(stream) - u32::from(hot.write_ptr),
            Gatherer::Block(_) => kept,
        };
        (kept, kept.min(most))
    }

    fn program_wordline(
        &mut self,
        flash: &mut Flash,
        by: Gatherer,
        block: BlockId,
        pages: &[Waiting],
        kept: u32,
        serial: u32,
    ) {
        let is_within = matches!(by, Gatherer::Block(_));
        if is_within {
            // It is no stream's: open for this program only.
            flash.set_state(block, BlockState::Open);
        }
        let first = flash.next_page(block);
        let mut cause = Cause::Host;
        for (n, waiting) in (1..).zip(pages) {
            let page = flash.next_page(block);
            let slot = self.buffer.unstage(waiting.slot);
            if !self.bugs.has(Bug::GatherKeepsMap) {
                self.map.set(slot.lpn, Entry::UNMAPPED);
            }
            cause = waiting.cause;
            if n == pages.len() as u32 && n < kept && self.bugs.has(Bug::PaddingTakesLast) {
                flash.program_nothing(block, page, cause);
                continue;
            }
            let by_host = slot.is_new || self.bugs.has(Bug::GatherClaimsHost);
            self.program(
                flash,
                block,
                page,
                slot.lpn,
                if by_host { Origin::Host } else { Origin::Gathered },
                cause,
            );
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
