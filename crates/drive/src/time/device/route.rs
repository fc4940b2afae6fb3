//! Recorded work on its way to the dies. The effects of a change of the drive's state are queued at
//! their dies. Each operation is queued by itself, or all operations of a job as one piece.

use super::Device;
use super::dies::{NIL, WorkKind, WorkOp};
use super::host::ReadPart;
use super::rebuilt::ForRebuild;
use crate::base::codings::FASTER;
use crate::base::units::{BlockId, Cause, DieId, Ns, Ppn};
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
    /// Page that completes the next host program, and the cost of its read.
    fill: Option<(Ppn, Cost)>,
    /// Number of host programs that were queued.
    programs: u32,
}

/// Die of an operation, and the times of its parts.
#[derive(Clone, Copy, Default)]
struct Cost {
    die: DieId,
    /// Array and channel time of a read, and the time to decode it.
    read: (Ns, Ns),
    decode: Ns,
    /// Number of pages that are transferred to be programmed.
    pages: u32,
    /// Array time of everything except reads.
    array: Ns,
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
        debug_assert!(self.ops.is_empty(), "earlier work was handled");
        std::mem::swap(&mut drive.flash.ops, &mut self.ops);
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
        let Some(NandOp::Load { src, serial, .. }) =
            read.copied().filter(|op| op.loads_for(awaited.serial))
        else {
            return false;
        };
        let retry =
            if let NandOp::Retry { attempt, .. } = self.ops[i] { Some(attempt) } else { None };
        let times = self.cost(drive, self.ops[i]).read;
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
        let cost = self.cost(drive, op);
        let Cost { die, read, array, .. } = cost;
        match op {
            NandOp::JobBegin { die, cause } => {
                let outer = routing.piece.replace(Piece { op: id, die, cause, ns: 0 });
                assert!(outer.is_none(), "a job begins within another");
            }
            NandOp::JobEnd => {
                let piece = routing.piece.take().expect("a job that ends has begun");
                self.queue_piece(piece, routing.foreground);
            }
            _ if routing.piece.is_some() => {
                let ns = self.serial_ns(cost);
                routing.piece.as_mut().expect("it was seen").ns += ns;
            }
            NandOp::Fill { src, .. } => routing.fill = Some((src, cost)),
            NandOp::Program { dst } => {
                routing.programs += 1;
                self.programming += 1;
                let (request, cause) = (routing.request, Cause::Host);
                if let Some((_, Cost { die, read, .. })) = routing.fill.take() {
                    let copy = WorkKind::Copy { dst: Some(dst), then_host: true, request };
                    self.queue_work(die, WorkOp::reading(id, copy, cause, read));
                } else {
                    let program = WorkKind::Program { host: true, request, pages: 1 };
                    self.queue_work(die, WorkOp::new(id, program, cause, array));
                }
            }
            NandOp::Load { serial, cause, .. } => {
                self.wordlines.awaits(serial);
                self.queue_work(die, WorkOp::reading(id, WorkKind::Load { serial }, cause, read));
            }
            NandOp::ProgramWordline { pages, serial, cause, .. } => {
                let host = cause == Cause::Host;
                routing.programs += u32::from(host);
                self.programming += if host { pages } else { 0 };
                let request = if host { routing.request } else { NIL };
                let program = WorkKind::Program { host, request, pages };
                let program = WorkOp::new(id, program, cause, array);
                if let Some((die, program)) = self.wordlines.program(serial, die, program) {
                    self.copy_programs += u32::from(!host);
                    self.queue_work(die, program);
                }
            }
            NandOp::Striped { serial, waits, cause, .. } => {
                let by_host = cause == Cause::Host;
                self.stripes.begins(serial, by_host, if by_host { routing.request } else { NIL });
                routing.programs += u32::from(by_host);
                self.programming += u32::from(by_host);
                let program = WorkOp::new(id, WorkKind::Striped { serial }, cause, array);
                let ready = if waits {
                    self.wordlines.program(serial, die, program)
                } else {
                    Some((die, program))
                };
                if let Some((die, program)) = ready {
                    self.queue_work(die, program);
                }
            }
            NandOp::Copy { dst, cause, .. } => {
                let copy = WorkKind::Copy { dst, then_host: false, request: NIL };
                self.queue_work(die, WorkOp::reading(id, copy, cause, read));
            }
            NandOp::Begin { level } => self.tired.get_or_insert_default().level = level,
            NandOp::Retry { of_request: true, .. } => {
                self.tired.get_or_insert_default().retries += 1;
            }
            NandOp::Retry { cause, .. } => {
                self.queue_work(die, WorkOp::reading(id, WorkKind::Retry, cause, read));
            }
            NandOp::Probe { .. } => {
                // The probe is one piece, before the read that caused it: its results decide the
                // next work.
                let piece = Piece { op: id, die, cause: Cause::Reclaim, ns: array };
                self.queue_piece(piece, routing.foreground);
            }
            NandOp::Merge { cause, .. } => {
                self.copy_programs += 1;
                let program = WorkKind::Program { host: false, request: NIL, pages: 1 };
                self.queue_work(die, WorkOp::new(id, program, cause, array));
            }
            NandOp::Erase { cause, .. } => {
                self.queue_work(die, WorkOp::new(id, WorkKind::Erase, cause, array));
            }
        }
    }

    /// Returns the die of an operation and the times of its parts.
    fn cost(&self, drive: &Drive, op: NandOp) -> Cost {
        let (g, speed) = (drive.geometry(), &self.speed);
        let program = |dst: Ppn, pages: u32| Cost {
            die: drive.die_of(dst),
            pages,
            array: self.program(drive, dst),
            ..Cost::default()
        };
        let of_block = |block: BlockId, pages: u32, array: Ns| Cost {
            die: g.die_of(block),
            pages,
            array,
            ..Cost::default()
        };
        match op {
            NandOp::Copy { src, coding, level, dst, .. } => Cost {
                pages: u32::from(dst.is_some()),
                array: dst.map_or(0, |dst| self.program(drive, dst)),
                ..self.cost(drive, NandOp::Fill { src, coding, level })
            },
            NandOp::Load { src, coding, level, .. } | NandOp::Fill { src, coding, level } => {
                let first = (self.sense(drive, src, coding), speed.page_transfer);
                let (die, read) = (drive.die_of(src), speed.begin(first, level));
                Cost { die, read, decode: speed.ecc, ..Cost::default() }
            }
            NandOp::Retry { src, attempt, coding, of_request: false, .. } => {
                let array = speed.retry(self.sense(drive, src, coding), attempt);
                let channel = speed.retry_transfer(speed.page_transfer, attempt);
                Cost { die: drive.die_of(src), read: (array, channel), ..Cost::default() }
            }
            NandOp::ProgramWordline { dst, pages, .. } => program(dst, pages),
            NandOp::Program { dst } | NandOp::Striped { dst, .. } => program(dst, 1),
            // A refresh technique that merges for faster reads has its own time.
            NandOp::Merge { block, coding, .. } if coding >= FASTER && drive.adjusts() => {
                of_block(block, 1, speed.adjust)
            }
            NandOp::Merge { block, .. } => of_block(block, 1, speed.merge),
            NandOp::Erase { block, pec, .. } => of_block(block, 0, speed.erase(pec)),
            NandOp::Probe { block, wordlines } => {
                of_block(block, 0, u64::from(wordlines) * speed.probe)
            }
            // Retries of a request are queued with its read. The other operations mark the
            // beginning and the end of a piece.
            NandOp::Begin { .. }
            | NandOp::Retry { .. }
            | NandOp::JobBegin { .. }
            | NandOp::JobEnd => Cost::default(),
        }
    }

    /// Returns the time of an operation in a piece, in which each part begins when the last has
    /// ended.
    fn serial_ns(&self, cost: Cost) -> Ns {
        let Cost { read: (sense, transfer), decode, pages, array, .. } = cost;
        sense + transfer + decode + u64::from(pages) * self.speed.page_transfer + array
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
