//! Requests on their way in. Reads go to the dies. Writes and trims go through the write buffer, or
//! wait behind others for space in it.

use super::dies::NIL;
use super::host::{Known, Measured, ReadPart};
use super::{Command, Device, Tag, Tired};
use crate::base::codings::CODINGS;
use crate::base::request::{Op, Request};
use crate::base::units::{Lpn, Ns, Ppn};
use crate::drive::Drive;
use crate::drive::failing::RebuiltRead;
use crate::time::split::Pages;
use crate::watch::observer::{FROM_BUFFER, NO_PPN};
use crate::watch::time_event::TimeEvent;

impl Device {
    /// Takes over a request with this number from the host.
    #[inline(always)]
    // Called once per request; otherwise its arguments would go through memory.
    pub(super) fn take_over(
        &mut self,
        drive: &mut Drive,
        tag: Tag,
        number: u32,
        request: &Request,
    ) {
        drive.flash.now = self.now;
        if drive.next_wake() <= self.now {
            self.wake(drive);
        }
        self.host.outstanding += 1;
        let at = self.now;
        self.dies.note(|| TimeEvent::Submitted { request: number, at });
        drive.count_request(request.op, request.bytes);
        let page_bytes = u64::from(drive.geometry().page_bytes);
        if request.op == Op::Read
            && (request.offset & (page_bytes - 1)) + u64::from(request.bytes) <= page_bytes
        {
            let lpn = Lpn::holding(request.offset, drive.geometry().page_shift());
            return self.read_part(drive, lpn, ReadPart::all_of(request, tag, number));
        }
        self.take_over_other(drive, &Command { request: *request, tag, number });
    }

    /// Takes over a request of any kind except reads of one page.
    #[inline(never)]
    fn take_over_other(&mut self, drive: &mut Drive, command: &Command) {
        match command.request.op {
            Op::Read => self.submit_pages(drive, command),
            Op::Write => self.submit_write(drive, command),
            Op::Trim => self.take_in_at(drive, command, self.now),
        }
    }

    /// Reads the pages of a request of several pages.
    fn submit_pages(&mut self, drive: &mut Drive, command: &Command) {
        let pages = Pages::of(&command.request, drive.geometry());
        let count = pages.count;
        let place = self.host.begin_parts(Known::of(command, Measured::Read), count);
        for page in 0..count {
            let (from, to) = pages.range(page);
            let part = ReadPart::of(command, place, to - from);
            self.read_part(drive, pages.first + page, part);
        }
    }

    /// Reads a page, or a part of one, for a request.
    #[inline(always)]
    // Called for each page read; otherwise its arguments would go through memory.
    fn read_part(&mut self, drive: &mut Drive, lpn: Lpn, part: ReadPart) {
        // The read may cause work that changes the coding.
        let coding = drive.read_coding(lpn);
        let ppn = drive.read_page(lpn);
        if drive.has_recorded() {
            // A job in the foreground is queued before the read that triggered it.
            let rebuilt = drive.take_rebuilt_read();
            self.route_read(drive, rebuilt);
            match rebuilt {
                Some(RebuiltRead { serial, was_read: false }) => {
                    return self.read_rebuilt(part, serial);
                }
                Some(RebuiltRead { serial, was_read: true }) => {
                    return self.read_to_repair(drive, part, (ppn, coding), serial);
                }
                _ => {}
            }
        }
        if ppn == NO_PPN || ppn == FROM_BUFFER {
            return self.read_from_memory(part);
        }
        let times = self.times_of(drive, (ppn, coding), part.bytes);
        let unit = self.unit_of(drive, ppn);
        let times =
            if self.tired.is_some() { self.queue_retries(ppn, unit, part, times) } else { times };
        if self.dies.events.is_some() {
            self.dies.note_read(part.number, ppn, part.bytes, self.now);
        }
        if let Some(busy) = self.dies.queue_read(unit, part, times, self.now) {
            self.pump(drive, busy);
        }
    }

    /// Returns the time of sensing a page, and of transferring a number of its bytes.
    #[inline(always)]
    // Once a page read.
    pub(super) fn times_of(
        &mut self,
        drive: &Drive,
        (ppn, coding): (Ppn, u8),
        bytes: u32,
    ) -> (Ns, Ns) {
        let kind = drive.geometry().kind_of(ppn);
        (self.speed.sense[usize::from(coding) % CODINGS][kind as usize & 3], self.transfer(bytes))
    }

    /// Returns the unit that reads a page. A unit is a die, or a plane with
    /// `timing.independent_planes`.
    #[inline(always)]
    // Once a page read.
    pub(super) fn unit_of(&self, drive: &Drive, ppn: Ppn) -> usize {
        self.by_unit.quotient(drive.geometry().block_of(ppn).number()) as usize
    }

    /// Queues the retries of a page that the host reads before the sensing with which its data
    /// counts as read. In either order, they need the array and the channel for this time. Returns
    /// the times of that sensing.
    #[cold]
    pub(super) fn queue_retries(
        &mut self,
        ppn: Ppn,
        unit: usize,
        part: ReadPart,
        (sense, transfer): (Ns, Ns),
    ) -> (Ns, Ns) {
        let Tired { level, retries } = self.tired.take().unwrap_or_default();
        for attempt in level + 1..=level + retries {
            if self.dies.events.is_some() {
                self.dies.note_retry(part.number, ppn, part.bytes, attempt, self.now);
            }
            self.dies.queue_read(
                unit,
                part.undelivered(),
                (self.speed.retry(sense, attempt), self.speed.retry_transfer(transfer, attempt)),
                self.now,
            );
        }
        self.speed.begin((sense, transfer), level)
    }

    /// Gives the host the data in the controller's memory.
    #[inline(always)]
    // Called for each page read; otherwise its arguments would go through memory.
    fn read_from_memory(&mut self, part: ReadPart) {
        let (request, bytes, at) = (part.number, part.bytes, self.now);
        self.dies.note(|| TimeEvent::FromMemory { request, bytes, at });
        self.host.deliver(part, at, at);
    }

    /// Returns the transfer time on a channel. A workload has few sizes, often one.
    #[inline]
    fn transfer(&mut self, bytes: u32) -> Ns {
        if bytes != self.last_transfer.0 {
            self.last_transfer = (bytes, self.speed.channel(bytes));
        }
        self.last_transfer.1
    }

    fn submit_write(&mut self, drive: &mut Drive, command: &Command) {
        let arrived = self.host.receive(self.now, command.request.bytes);
        self.take_in_at(drive, command, arrived);
    }

    /// Handles a write when its data has arrived over the link. A trim is not handled before
    /// earlier writes.
    fn take_in_at(&mut self, drive: &mut Drive, command: &Command, arrived: Ns) {
        if arrived > self.now || self.host.receives() {
            self.host.arrives(*command, arrived);
        } else {
            self.take_in(drive, command);
        }
    }

    /// Handles a write or trim: now, behind the writes that wait for space in the buffer, or
    /// directly to flash.
    pub(super) fn take_in(&mut self, drive: &mut Drive, command: &Command) {
        let command = *command;
        if self.program_slots == 0 && command.request.op == Op::Write {
            self.write_through(drive, &command);
        } else if self.stalled.is_empty() && self.has_room() {
            self.accept(drive, &command);
        } else {
            self.stalled.push_back(command);
        }
    }

    fn has_room(&self) -> bool {
        let slots = self.program_slots;
        slots == 0 || self.programming < slots
    }

    /// Takes a write into the buffer, or trims, and acknowledges it.
    fn accept(&mut self, drive: &mut Drive, command: &Command) {
        self.note_acceptance(drive, command);
        let pages = Pages::of(&command.request, drive.geometry());
        let measured = if command.request.op == Op::Trim {
            drive.trim_pages(&pages);
            Measured::Not
        } else {
            drive.write_pages(&pages);
            Measured::Write
        };
        self.host.complete(Known::of(command, measured), self.now, self.now);
        self.route(drive, NIL);
    }

    /// Notes that a write or trim has its effect from now on.
    fn note_acceptance(&mut self, drive: &mut Drive, command: &Command) {
        drive.flash.now = self.now;
        let later = (drive.announced() as u32).wrapping_sub(command.number);
        drive.writing = drive.announced() - u64::from(later);
        let at = self.now;
        self.dies.note(|| TimeEvent::Accepted { request: command.number, at });
    }

    /// Takes in writes that waited for space in the buffer.
    pub(super) fn unstall(&mut self, drive: &mut Drive) {
        while self.has_room() {
            let Some(command) = self.stalled.pop_front() else { return };
            self.accept(drive, &command);
        }
    }

    /// Handles a write without a write buffer: it is acknowledged when its last page is programmed.
    fn write_through(&mut self, drive: &mut Drive, command: &Command) {
        self.note_acceptance(drive, command);
        let pages = Pages::of(&command.request, drive.geometry());
        if drive.flash.by_wordline || drive.geometry.stripes.is_some() {
            return self.write_together(drive, &pages, command);
        }
        let place = self.host.begin_parts(Known::of(command, Measured::Write), pages.count);
        for page in 0..pages.count {
            drive.write_page(pages.first + page, pages.mask(page));
            if self.route(drive, place) == 0 {
                self.host.finish_part(place, self.now, self.now);
            }
        }
    }

    /// Handles a write without a write buffer if a program takes a wordline, or if pages of a
    /// stripe are written together. The pages of a program are known only after the last one is
    /// taken in.
    fn write_together(&mut self, drive: &mut Drive, pages: &Pages, command: &Command) {
        drive.write_pages(pages);
        // One more part is needed, because a request without programs would never complete.
        let parts = drive.recorded_host_wordlines() + drive.recorded_host_stripes() + 1;
        let place = self.host.begin_parts(Known::of(command, Measured::Write), parts);
        self.route(drive, place);
        self.host.finish_part(place, self.now, self.now);
    }
}
