//! Host requests on their way in: reads to the dies, writes and trims through the write buffer or behind those that wait for room in it.

use super::dies::{NIL, NewRead};
use super::host::{Done, Measured, Page, single};
use super::{Asked, TimedEngine};
use crate::base::request::Op;
use crate::base::units::{Cause, Lpn, Ns};
use crate::bugs::{Bug, Bugs, planted};
use crate::drive::Drive;
use crate::flash::ops::NandOp;
use crate::time::split::Pages;
use crate::time::untimed::trim;
use crate::watch::observer::{FROM_BUFFER, NO_PPN};
use crate::watch::time_event::TimeEvent;

impl TimedEngine {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a request; what is asked would go through memory")]
    pub(super) fn submit(&mut self, drive: &mut Drive, asked: &Asked) {
        drive.now = self.now;
        self.host.outstanding += 1;
        let at = self.now;
        self.dies.note(|| TimeEvent::Submitted { request: asked.number, at });
        match asked.request.op {
            Op::Read => self.submit_read(drive, asked),
            Op::Write => self.submit_write(drive, asked),
            Op::Trim => {
                drive.host.trim_requests += 1;
                if planted(Bug::TrimOvertakes) { self.accept(drive, asked) } else { self.take_in_at(drive, asked, self.now) }
            }
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a request; what is asked would go through memory")]
    fn submit_read(&mut self, drive: &mut Drive, asked: &Asked) {
        let request = &asked.request;
        drive.host.read_requests += 1;
        drive.host.read_bytes += u64::from(request.bytes);
        let page_bytes = u64::from(drive.geometry.page_bytes);
        if (request.offset & (page_bytes - 1)) + u64::from(request.bytes) <= page_bytes {
            self.read_part(drive, single(request.origin), asked, (request.offset >> drive.geometry.page_shift()) as Lpn, request.bytes);
            return;
        }
        self.submit_pages(drive, asked);
    }

    /// Reads the pages of a request of several.
    #[inline(never)]
    fn submit_pages(&mut self, drive: &mut Drive, asked: &Asked) {
        let pages = Pages::of(&asked.request, &drive.geometry, drive.geometry.page_shift());
        let slot = self.host.open(asked, pages.count, Measured::Read);
        for page in 0..pages.count {
            let (from, to) = pages.range(page);
            self.read_part(drive, slot, asked, pages.first + page, to - from);
        }
    }

    /// Reads so many bytes of a page for a request, [`single`] where they are all of it.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a page read; its arguments would go through memory")]
    fn read_part(&mut self, drive: &mut Drive, request: u32, asked: &Asked, lpn: Lpn, bytes: u32) {
        let Asked { number, start, .. } = *asked;
        let ppn = drive.read_page(lpn);
        if !drive.flash.ops.is_empty() || !drive.ftl.started_jobs.is_empty() {
            // A job in the foreground is queued before the read that triggered it.
            self.route(drive, NIL);
        }
        if ppn == NO_PPN || ppn == FROM_BUFFER || planted(Bug::FillTimeless) && drive.ftl.map.to_physical[lpn as usize] != ppn {
            let page = Page {
                request,
                number,
                at: self.now,
                bytes: if planted(Bug::MemorySkipsLink) { 0 } else { bytes },
                start,
                during_reclaim: false,
            };
            self.dies.note(|| TimeEvent::FromMemory { request: number, bytes, at: page.at });
            self.host.deliver(page, self.now, &self.speed, &mut self.metrics);
            return;
        }
        let kind = if drive.bugs.has(Bug::FirstKindForAll) { 0 } else { drive.geometry.kind_of(ppn) };
        let sense = self.speed.sense[kind as usize & 3];
        let unit = self.by_unit.quotient(drive.geometry.block_of(ppn)) as usize;
        let read = NewRead { request, number, bytes, sense, transfer: self.transfer(bytes), start };
        if self.dies.events.is_some() {
            self.dies.note_read(number, ppn, bytes, self.now);
        }
        if let Some(busy) = self.dies.queue_read(unit, read, self.now) {
            self.pump(drive, busy);
        }
    }

    /// Transfer time on a channel; a workload has few sizes, often one.
    #[inline]
    fn transfer(&mut self, bytes: u32) -> Ns {
        if bytes != self.last_transfer.0 && !(planted(Bug::TransferMemoStale) && bytes < self.last_transfer.0) {
            self.last_transfer = (bytes, self.speed.channel(bytes));
        }
        self.last_transfer.1
    }

    fn submit_write(&mut self, drive: &mut Drive, asked: &Asked) {
        drive.host.write_requests += 1;
        drive.host.write_bytes += u64::from(asked.request.bytes);
        let arrived = self.host.receive(
            self.now,
            if planted(Bug::LinkRoundsUp) { asked.request.bytes.next_multiple_of(drive.geometry.page_bytes) } else { asked.request.bytes },
            &self.speed,
        );
        let arrived = if drive.bugs.has(Bug::ArrivalForgotten) { self.now } else { arrived };
        self.take_in_at(drive, asked, arrived);
    }

    /// Takes in a write when its data has arrived over the link, and a trim not before the writes that came earlier.
    fn take_in_at(&mut self, drive: &mut Drive, asked: &Asked, arrived: Ns) {
        if arrived > self.now || self.host.receives() {
            self.host.arrives(*asked, arrived);
        } else {
            self.take_in(drive, asked);
        }
    }

    /// Takes in a write or trim: now, behind the writes that wait for room in the buffer, or through to flash.
    pub(super) fn take_in(&mut self, drive: &mut Drive, asked: &Asked) {
        let mut asked = *asked;
        if planted(Bug::LinkTimeUncounted) {
            asked.start = self.now;
        }
        let asked = &asked;
        if self.program_slots == 0 && asked.request.op == Op::Write {
            self.write_through(drive, asked);
        } else if self.stalled.is_empty() && self.has_room(drive.bugs) {
            self.accept(drive, asked);
        } else {
            if drive.bugs.has(Bug::StalledForgotten) && self.served.is_multiple_of(5) {
                return self.complete(asked, Measured::Not);
            }
            self.stalled.push_back(*asked);
        }
    }

    fn has_room(&self, bugs: Bugs) -> bool {
        let slots = if bugs.has(Bug::RoomUnseen) { self.program_slots.div_ceil(2) } else { self.program_slots };
        slots == 0 || self.programming < slots || bugs.has(Bug::RoomForgotten)
    }

    /// Takes a write into the buffer, or trims, and acknowledges it.
    fn accept(&mut self, drive: &mut Drive, asked: &Asked) {
        drive.now = self.now;
        let at = self.now;
        self.dies.note(|| TimeEvent::Accepted { request: asked.number, at });
        let pages = Pages::of(&asked.request, &drive.geometry, drive.geometry.page_shift());
        let measured = if asked.request.op == Op::Trim {
            trim(drive, &pages);
            Measured::Not
        } else {
            for page in 0..pages.count {
                drive.write_page(pages.first + page, pages.mask(page));
            }
            drive.end_write();
            Measured::Write
        };
        self.complete(asked, measured);
        self.route(drive, NIL);
    }

    /// A write or trim is acknowledged now.
    fn complete(&mut self, asked: &Asked, measured: Measured) {
        let done = Done { number: asked.number, start: asked.start, end: self.now, measured, origin: asked.request.origin };
        self.host.complete(done, self.now, &mut self.metrics);
    }

    /// Takes in writes that waited for room in the buffer.
    pub(super) fn unstall(&mut self, drive: &mut Drive) {
        let mut taken = 0;
        while self.has_room(drive.bugs) && !(planted(Bug::UnstallsOne) && taken > 0) {
            taken += 1;
            let Some(mut asked) = self.stalled.pop_front() else { return };
            if drive.bugs.has(Bug::StallUncounted) {
                asked.start = self.now;
            }
            self.accept(drive, &asked);
        }
    }

    /// Without a write buffer a write is acknowledged when its last page is programmed.
    fn write_through(&mut self, drive: &mut Drive, asked: &Asked) {
        drive.now = self.now;
        let at = self.now;
        self.dies.note(|| TimeEvent::Accepted { request: asked.number, at });
        let pages = Pages::of(&asked.request, &drive.geometry, drive.geometry.page_shift());
        if drive.flash.by_wordline() {
            self.write_wordlines_through(drive, &pages, asked);
            return;
        }
        let at_once = drive.bugs.has(Bug::AcknowledgedAtOnce);
        let slot = self.host.open(asked, pages.count, Measured::Write);
        for page in 0..pages.count {
            drive.write_page(pages.first + page, pages.mask(page));
            if self.route(drive, if at_once { NIL } else { slot }) == 0 || at_once {
                self.host.finish_part(slot, at, at, &mut self.metrics);
            }
        }
    }

    /// The same where a program takes a wordline: which pages share one is known when the last of them is taken in.
    fn write_wordlines_through(&mut self, drive: &mut Drive, pages: &Pages, asked: &Asked) {
        for page in 0..pages.count {
            drive.write_page(pages.first + page, pages.mask(page));
        }
        drive.end_write();
        let programs = drive.flash.ops.iter().filter(|op| matches!(op, NandOp::ProgramWordline { cause: Cause::Host, .. })).count() as u32;
        // One part more, or a request without programs would never be complete.
        let slot = self.host.open(asked, programs + 1, Measured::Write);
        self.route(drive, slot);
        self.host.finish_part(slot, self.now, self.now, &mut self.metrics);
    }
}
