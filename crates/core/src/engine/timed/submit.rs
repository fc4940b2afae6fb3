//! Host requests on their way in: reads to the dies, writes and trims through the write buffer or behind those that wait for room in it.

use super::TimedEngine;
use super::dies::{NIL, NewRead};
use super::host::{Done, Measured, Page, single};
use crate::bugs::Bug;
use crate::drive::{Drive, NandOp};
use crate::engine::split::Pages;
use crate::engine::untimed::trim;
use crate::observer::{FROM_BUFFER, NO_PPN};
use crate::request::{Op, Request};
use crate::units::{Cause, Lpn, Ns};

impl TimedEngine {
    #[inline]
    pub(super) fn submit(&mut self, drive: &mut Drive, request: &Request, start: Ns) {
        drive.now = self.now;
        self.host.outstanding += 1;
        match request.op {
            Op::Read => self.submit_read(drive, request, start),
            Op::Write => self.submit_write(drive, request, start),
            Op::Trim => {
                drive.host.trim_requests += 1;
                self.accept_in_order(drive, request, start, self.now);
            }
        }
    }

    #[inline]
    fn submit_read(&mut self, drive: &mut Drive, request: &Request, start: Ns) {
        drive.host.read_requests += 1;
        drive.host.read_bytes += u64::from(request.bytes);
        let page_bytes = u64::from(drive.geometry.page_bytes);
        if (request.offset & (page_bytes - 1)) + u64::from(request.bytes) <= page_bytes {
            self.read_part(drive, single(request.origin), (request.offset >> drive.geometry.page_shift()) as Lpn, request.bytes, start);
            return;
        }
        let pages = Pages::of(request, &drive.geometry, drive.geometry.page_shift());
        let slot = self.host.open(start, pages.count, Measured::Read, request.origin);
        for page in 0..pages.count {
            let (from, to) = pages.range(page);
            self.read_part(drive, slot, pages.first + page, to - from, start);
        }
    }

    /// Reads so many bytes of a page for a request, [`single`] where they are all of it.
    #[inline]
    fn read_part(&mut self, drive: &mut Drive, request: u32, lpn: Lpn, bytes: u32, start: Ns) {
        let ppn = drive.read_page(lpn);
        if !drive.ops.is_empty() || !drive.started_jobs.is_empty() {
            // A job in the foreground is queued before the read that triggered it.
            self.route(drive, NIL);
        }
        if ppn == NO_PPN || ppn == FROM_BUFFER {
            let page = Page { request, at: self.now, bytes, start, during_reclaim: false };
            self.host.deliver(page, self.now, &self.speed, &mut self.metrics);
            return;
        }
        let sense = self.speed.sense[drive.geometry.kind_of(ppn) as usize & 3];
        let unit = self.by_unit.quotient(drive.geometry.block_of(ppn)) as usize;
        let read = NewRead { request, bytes, sense, transfer: self.transfer(bytes), start };
        if let Some(busy) = self.dies.queue_read(unit, read, self.now) {
            self.pump(drive, busy);
        }
    }

    /// Transfer time on a channel; a workload has few sizes, often one.
    #[inline]
    fn transfer(&mut self, bytes: u32) -> Ns {
        if bytes != self.last_transfer.0 {
            self.last_transfer = (bytes, self.speed.channel(bytes));
        }
        self.last_transfer.1
    }

    fn submit_write(&mut self, drive: &mut Drive, request: &Request, start: Ns) {
        drive.host.write_requests += 1;
        drive.host.write_bytes += u64::from(request.bytes);
        let arrived = self.host.receive(self.now, request.bytes, &self.speed);
        if self.program_slots == 0 {
            self.write_through(drive, request, start, arrived);
            return;
        }
        self.accept_in_order(drive, request, start, arrived);
    }

    /// Takes in a write or trim now, or behind the writes that wait for room in the buffer.
    fn accept_in_order(&mut self, drive: &mut Drive, request: &Request, start: Ns, arrived: Ns) {
        if self.stalled.is_empty() && self.has_room() {
            self.accept(drive, request, start, arrived);
        } else {
            if drive.bugs.has(Bug::StalledForgotten) && self.served.is_multiple_of(5) {
                let done = Done { start, end: arrived.max(self.now), measured: Measured::Not, origin: request.origin };
                return self.host.complete(done, self.now, &mut self.metrics);
            }
            self.stalled.push_back((*request, start, arrived));
        }
    }

    fn has_room(&self) -> bool {
        self.program_slots == 0 || self.programming < self.program_slots
    }

    /// Takes a write into the buffer, or trims, and acknowledges it.
    fn accept(&mut self, drive: &mut Drive, request: &Request, start: Ns, arrived: Ns) {
        drive.now = self.now;
        let pages = Pages::of(request, &drive.geometry, drive.geometry.page_shift());
        let measured = if request.op == Op::Trim {
            trim(drive, &pages);
            Measured::Not
        } else {
            for page in 0..pages.count {
                drive.write_page(pages.first + page, pages.mask(page));
            }
            drive.end_write();
            Measured::Write
        };
        let done = Done { start, end: arrived.max(self.now), measured, origin: request.origin };
        self.host.complete(done, self.now, &mut self.metrics);
        self.route(drive, NIL);
    }

    /// Takes in writes that waited for room in the buffer.
    pub(super) fn unstall(&mut self, drive: &mut Drive) {
        while self.has_room() {
            let Some((request, start, arrived)) = self.stalled.pop_front() else { return };
            self.accept(drive, &request, start, arrived);
        }
    }

    /// Without a write buffer a write is acknowledged when its last page is programmed.
    fn write_through(&mut self, drive: &mut Drive, request: &Request, start: Ns, arrived: Ns) {
        if drive.by_wordline {
            self.write_wordlines_through(drive, request, start, arrived);
            return;
        }
        let pages = Pages::of(request, &drive.geometry, drive.geometry.page_shift());
        let slot = self.host.open(start, pages.count, Measured::Write, request.origin);
        for page in 0..pages.count {
            drive.write_page(pages.first + page, pages.mask(page));
            if self.route(drive, slot) == 0 {
                self.host.finish_part(slot, arrived.max(self.now), self.now, &mut self.metrics);
            }
        }
    }

    /// The same where a program takes a wordline: which pages share one is known when the last of them is taken in.
    fn write_wordlines_through(&mut self, drive: &mut Drive, request: &Request, start: Ns, arrived: Ns) {
        let pages = Pages::of(request, &drive.geometry, drive.geometry.page_shift());
        for page in 0..pages.count {
            drive.write_page(pages.first + page, pages.mask(page));
        }
        drive.end_write();
        let programs = drive.ops.iter().filter(|op| matches!(op, NandOp::ProgramWordline { cause: Cause::Host, .. })).count() as u32;
        // One part more for the data's arrival.
        let slot = self.host.open(start, programs + 1, Measured::Write, request.origin);
        self.route(drive, slot);
        self.host.finish_part(slot, arrived.max(self.now), self.now, &mut self.metrics);
    }
}
