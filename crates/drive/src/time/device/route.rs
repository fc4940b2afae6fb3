//! Recorded work on its way to the dies. The effects of a change of the drive's state are queued at
//! their dies. Each operation is queued by itself, or all operations of a job as one piece.

use super::Device;
use super::dies::{NIL, WorkKind, WorkOp};
use super::host::ReadPart;
use super::rebuilt::ForRebuild;
use crate::base::codings::FASTER;
use crate::base::units::{Cause, DieId, Ns, Ppn};
use crate::drive::Drive;
use crate::drive::failing::RebuiltRead;
use crate::time::drive::NandOp;
use crate::watch::time_event::{OpId, TimeEvent};

/// Uninterruptible piece of a job.
#[derive(Clone, Copy)]
struct Piece {
    op: OpId,
    die: DieId,
    cause: Cause,
    /// Time of the piece so far.
    ns: Ns,
}

/// Progress of queueing the recorded work.
struct Routing {
    /// Request that completes with the last host program.
    request: u32,
    /// Rebuild that a host read waits for.
    awaited: Option<RebuiltRead>,
    /// Whether pieces go before waiting reads.
    foreground: bool,
    /// Piece to which the next operations belong.
    piece: Option<Piece>,
    /// Page that completes the next host program, its coding, and the level at which its read
    /// begins.
    fill: Option<(Ppn, u8, u8)>,
    /// Number of host programs that were queued.
    programs: u32,
}

impl Routing {
    /// Adds time to the current piece.
    fn lengthen(&mut self, ns: Ns) {
        if let Some(piece) = &mut self.piece {
            piece.ns += ns;
        }
    }
}

/// Returns whether merging into a coding is done by a refresh technique for faster reads, which has
/// its own time.
fn adjusts(drive: &Drive, coding: u8) -> bool {
    coding >= FASTER && drive.adjusts()
}

impl Device {
    /// Queues the work that the drive has recorded, and starts it. Returns the number of queued
    /// host programs. `request` completes with the last of them.
    pub(super) fn route(&mut self, drive: &mut Drive, request: u32) -> u32 {
        let programs = self.queue_recorded(drive, request, None, true);
        self.pump_touched(drive, None);
        programs
    }

    /// Works like [`Self::route`] for a host read that waits for a rebuild.
    pub(super) fn route_read(&mut self, drive: &mut Drive, awaited: Option<RebuiltRead>) {
        if let Some(RebuiltRead { serial, was_read: true }) = awaited {
            self.wordlines.awaits(serial);
        }
        self.queue_recorded(drive, NIL, awaited, true);
        self.pump_touched(drive, None);
    }

    /// Works like [`Self::route`] for a piece of a batch. Waiting reads keep their credit.
    pub(super) fn route_batch(&mut self, drive: &mut Drive) {
        self.queue_recorded(drive, NIL, None, false);
        self.pump_touched(drive, None);
    }

    /// Starts the possible work at all dies that got work, except one.
    pub(super) fn pump_touched(&mut self, drive: &mut Drive, but: Option<DieId>) {
        while let Some(die) = self.touched.pop() {
            if Some(die) != but {
                self.pump(drive, die);
            }
        }
    }

    /// Queues the work that the drive has recorded, and the deferred jobs that it has begun. A host
    /// read waits for the reads of the rebuild `awaited`. Returns the number of queued host
    /// programs.
    pub(super) fn queue_recorded(
        &mut self,
        drive: &mut Drive,
        request: u32,
        awaited: Option<RebuiltRead>,
        foreground: bool,
    ) -> u32 {
        drive.take_recorded(&mut self.ops);
        let mut routing =
            Routing { request, awaited, foreground, piece: None, fill: None, programs: 0 };
        for i in 0..self.ops.len() {
            if !self.queue_awaited(drive, i, &routing) {
                self.queue_op(drive, self.ops[i], &mut routing);
            }
        }
        self.ops.clear();
        if drive.ftl.worn.lifetime.beginnings().len() > self.stages {
            self.note_stages(drive);
        }
        while let Some((job, die, cause)) = drive.take_started_job() {
            self.dies.add_job(die, job, cause, self.now);
            self.touched.push(die);
        }
        routing.programs
    }

    /// Notes a new stage of the drive's life: requests that complete from now on count for it.
    #[cold]
    fn note_stages(&mut self, drive: &Drive) {
        for _ in self.stages..drive.ftl.worn.lifetime.beginnings().len() {
            self.host
                .metrics
                .stages
                .push((self.host.metrics.read.clone(), self.host.metrics.write.clone()));
        }
        self.stages = drive.ftl.worn.lifetime.beginnings().len();
    }

    /// Queues an operation among the host's reads if a host read waits for it. It is a read for a
    /// rebuild, or a retry of such a read. Returns whether it was queued.
    fn queue_awaited(&mut self, drive: &Drive, i: usize, routing: &Routing) -> bool {
        let Some(awaited) = routing.awaited.filter(|_| routing.piece.is_none()) else {
            return false;
        };
        // Retries come directly before the read to which they belong.
        let read =
            self.ops[i..].iter().find(|op| !matches!(op, NandOp::Retry { of_request: false, .. }));
        let Some(NandOp::Load { src, coding, level, serial, .. }) =
            read.copied().filter(|op| op.loads_for(awaited.serial))
        else {
            return false;
        };
        let retry =
            if let NandOp::Retry { attempt, .. } = self.ops[i] { Some(attempt) } else { None };
        let times = retry.map_or_else(
            || self.begin(drive, src, coding, level),
            |attempt| self.retry(drive, src, coding, attempt),
        );
        let mut part = ReadPart::for_rebuild(serial);
        match retry {
            Some(_) => part = part.undelivered(),
            None => self.wordlines.awaits(serial),
        }
        let read = ForRebuild { src, part, times, serial, retry };
        if awaited.was_read {
            self.hold_for_rebuild(read);
        } else if let Some(busy) = self.queue_for_rebuild(drive, read) {
            self.touched.push(busy);
        }
        true
    }

    /// Queues an operation: by itself, or in the current piece.
    fn queue_op(&mut self, drive: &Drive, op: NandOp, routing: &mut Routing) {
        let id = routing.piece.map_or_else(|| self.name_work(), |piece| piece.op);
        if self.dies.events.is_some() {
            self.note_recorded(id, op, routing.piece.is_some(), routing.fill.map(|(src, ..)| src));
        }
        let g = drive.geometry();
        match op {
            NandOp::JobBegin { die, cause } => {
                let outer = routing.piece.replace(Piece { op: id, die, cause, ns: 0 });
                assert!(outer.is_none(), "a job begins within another");
            }
            NandOp::JobEnd => {
                let piece = routing.piece.take().expect("a job that ends has begun");
                self.queue_piece(piece, routing.foreground);
            }
            _ if routing.piece.is_some() => routing.lengthen(self.ns_in_piece(drive, op)),
            NandOp::Fill { src, coding, level } => routing.fill = Some((src, coding, level)),
            NandOp::Program { dst } => self.queue_host_program(drive, id, dst, routing),
            NandOp::Load { src, coding, level, serial, cause } => {
                self.wordlines.awaits(serial);
                let (load, times) =
                    (WorkKind::Load { serial }, self.begin(drive, src, coding, level));
                self.queue_work(drive.die_of(src), WorkOp::reading(id, load, cause, times));
            }
            NandOp::ProgramWordline { dst, pages, serial, cause } => {
                let program =
                    self.wordline_program(id, pages, cause, self.program(drive, dst), routing);
                if let Some((die, program)) =
                    self.wordlines.program(serial, drive.die_of(dst), program)
                {
                    self.copy_programs += u32::from(cause != Cause::Host);
                    self.queue_work(die, program);
                }
            }
            NandOp::Striped { dst, serial, waits, cause } => {
                self.queue_striped(drive, id, (dst, cause), (serial, waits), routing);
            }
            NandOp::Copy { src, coding, level, dst, cause } => {
                let sensed = src;
                let copy = WorkKind::Copy { dst, then_host: false, request: NIL };
                let times = self.begin(drive, sensed, coding, level);
                self.queue_work(drive.die_of(src), WorkOp::reading(id, copy, cause, times));
            }
            NandOp::Begin { level } => self.tired.get_or_insert_default().level = level,
            NandOp::Retry { of_request: true, .. } => {
                self.tired.get_or_insert_default().retries += 1;
            }
            NandOp::Retry { src, attempt, cause, coding, .. } => {
                let times = self.retry(drive, src, coding, attempt);
                let retry = WorkOp::reading(id, WorkKind::Retry, cause, times);
                self.queue_work(drive.die_of(src), retry);
            }
            NandOp::Probe { block, .. } => {
                // The probe is one piece, before the read that caused it: its results decide the
                // next work.
                let ns = self.ns_in_piece(drive, op);
                self.queue_piece(
                    Piece { op: id, die: g.die_of(block), cause: Cause::Reclaim, ns },
                    routing.foreground,
                );
            }
            NandOp::Merge { block, cause, coding } => {
                self.copy_programs += 1;
                let program = WorkKind::Program { host: false, request: NIL, pages: 1 };
                let merge = WorkOp::new(id, program, cause, self.merge(drive, coding));
                self.queue_work(g.die_of(block), merge);
            }
            NandOp::Erase { block, cause, pec } => {
                let die = g.die_of(block);
                self.queue_work(
                    die,
                    WorkOp::new(id, WorkKind::Erase, cause, self.speed.erase(pec)),
                );
            }
        }
    }

    /// Queues the program of a host page, after the read that completes the page.
    fn queue_host_program(&mut self, drive: &Drive, id: OpId, dst: Ppn, routing: &mut Routing) {
        routing.programs += 1;
        self.programming += 1;
        let request = routing.request;
        let (die, work) = if let Some((src, coding, level)) = routing.fill.take() {
            let copy = WorkKind::Copy { dst: Some(dst), then_host: true, request };
            (
                drive.die_of(src),
                WorkOp::reading(id, copy, Cause::Host, self.begin(drive, src, coding, level)),
            )
        } else {
            let program = WorkKind::Program { host: true, request, pages: 1 };
            (drive.die_of(dst), WorkOp::new(id, program, Cause::Host, self.program(drive, dst)))
        };
        self.queue_work(die, work);
    }

    /// Queues the program of a page of a stripe. If it waits for reads, it comes after them.
    fn queue_striped(
        &mut self,
        drive: &Drive,
        id: OpId,
        (dst, cause): (Ppn, Cause),
        (serial, waits): (u32, bool),
        routing: &mut Routing,
    ) {
        let by_host = cause == Cause::Host;
        self.stripes.begins(serial, by_host, if by_host { routing.request } else { NIL });
        routing.programs += u32::from(by_host);
        self.programming += u32::from(by_host);
        let (die, program) = (
            drive.die_of(dst),
            WorkOp::new(id, WorkKind::Striped { serial }, cause, self.program(drive, dst)),
        );
        let ready =
            if waits { self.wordlines.program(serial, die, program) } else { Some((die, program)) };
        if let Some((die, program)) = ready {
            self.queue_work(die, program);
        }
    }

    /// Creates the program of a wordline of this number of pages, and counts host pages.
    fn wordline_program(
        &mut self,
        id: OpId,
        pages: u32,
        cause: Cause,
        ns: Ns,
        routing: &mut Routing,
    ) -> WorkOp {
        let host = cause == Cause::Host;
        if host {
            routing.programs += 1;
            self.programming += pages;
        }
        let request = if host { routing.request } else { NIL };
        WorkOp::new(id, WorkKind::Program { host, request, pages }, cause, ns)
    }

    /// Returns the time of an operation in a piece, in which each operation begins when the last
    /// has ended.
    fn ns_in_piece(&self, drive: &Drive, op: NandOp) -> Ns {
        match op {
            NandOp::Copy { src, coding, level, dst, .. } if dst.is_some() => {
                let program = self.program(drive, dst.unwrap_or(src));
                self.speed.serial_read(self.begin(drive, src, coding, level))
                    + self.speed.serial_program(1, program)
            }
            NandOp::Copy { src, coding, level, .. }
            | NandOp::Load { src, coding, level, .. }
            | NandOp::Fill { src, coding, level } => {
                self.speed.serial_read(self.begin(drive, src, coding, level))
            }
            NandOp::ProgramWordline { dst, pages, .. } => {
                self.speed.serial_program(pages, self.program(drive, dst))
            }
            NandOp::Merge { coding, .. } => self.speed.serial_program(1, self.merge(drive, coding)),
            NandOp::Program { dst } | NandOp::Striped { dst, .. } => {
                self.speed.serial_program(1, self.program(drive, dst))
            }
            NandOp::Erase { pec, .. } => self.speed.erase(pec),
            NandOp::Retry { src, attempt, coding, of_request: false, .. } => {
                let (array, channel) = self.retry(drive, src, coding, attempt);
                array + channel
            }
            NandOp::Probe { wordlines, .. } => u64::from(wordlines) * self.speed.probe,
            // Retries of a request are queued with its read. The other operations mark the
            // beginning and the end of a piece.
            NandOp::Begin { .. }
            | NandOp::Retry { .. }
            | NandOp::JobBegin { .. }
            | NandOp::JobEnd => 0,
        }
    }

    /// Returns the array and channel time of the first sensing of a whole page by a read that
    /// begins with this level.
    fn begin(&self, drive: &Drive, ppn: Ppn, coding: u8, level: u8) -> (Ns, Ns) {
        self.speed.begin((self.sense(drive, ppn, coding), self.speed.page_transfer), level)
    }

    /// Returns the array and channel time of a retry.
    fn retry(&self, drive: &Drive, ppn: Ppn, coding: u8, attempt: u8) -> (Ns, Ns) {
        (
            self.speed.retry(self.sense(drive, ppn, coding), attempt),
            self.speed.retry_transfer(self.speed.page_transfer, attempt),
        )
    }

    /// Returns the time of sensing a page in a coding.
    fn sense(&self, drive: &Drive, ppn: Ppn, coding: u8) -> Ns {
        self.speed.sense[usize::from(coding)][drive.geometry().kind_of(ppn) as usize]
    }

    /// Returns the time of programming a page, or a wordline that begins with it.
    pub(super) fn program(&self, drive: &Drive, dst: Ppn) -> Ns {
        let kind = drive.geometry().kind_of(dst);
        self.speed.program(kind)
    }

    /// Returns the time of merging a wordline into a coding.
    fn merge(&self, drive: &Drive, coding: u8) -> Ns {
        if adjusts(drive, coding) { self.speed.adjust } else { self.speed.merge }
    }

    /// Returns a new number for a work. No host read has it.
    fn name_work(&mut self) -> OpId {
        self.works = self.works.wrapping_add(1);
        self.works | 1 << 31
    }

    /// Queues a piece, unless it takes no time.
    fn queue_piece(&mut self, piece: Piece, foreground: bool) {
        let Piece { op, die, cause, ns } = piece;
        if ns > 0 {
            let at = self.now;
            self.dies.note(|| TimeEvent::Piece { op, die, cause, at });
            self.dies.queue_work(die, WorkOp::new(op, WorkKind::Exclusive, cause, ns), foreground);
            self.touched.push(die);
        }
    }

    fn queue_work(&mut self, die: DieId, op: WorkOp) {
        self.dies.queue_work(die, op, false);
        self.touched.push(die);
    }
}
