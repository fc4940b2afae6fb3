//! The physical work that a change of the drive's state implies, on its way to the dies.

use super::TimedEngine;
use super::dies::{NIL, Work, WorkOp};
use crate::base::units::{Cause, DieId, Ns, Ppn};
use crate::bugs::{Bug, planted};
use crate::drive::Drive;
use crate::flash::ops::NandOp;
use crate::watch::time_event::{self, OpId, TimeEvent};

impl TimedEngine {
    /// Queues the physical work that the drive has recorded and starts it. Gives the host programs queued.
    pub(super) fn route(&mut self, drive: &mut Drive, request: u32) -> u32 {
        let programs = self.queue_ops(drive, request);
        self.pump_touched(drive, None);
        programs
    }

    /// As `route`, for a piece of a batch: waiting reads keep the credit they were given.
    pub(super) fn route_batch(&mut self, drive: &mut Drive) {
        self.queue_ops_with(drive, NIL, false);
        self.pump_touched(drive, None);
    }

    pub(super) fn pump_touched(&mut self, drive: &mut Drive, but: Option<DieId>) {
        while let Some(die) = self.touched.pop() {
            if Some(die) != but {
                self.pump(drive, die);
            }
        }
    }

    pub(super) fn queue_ops(&mut self, drive: &mut Drive, request: u32) -> u32 {
        self.queue_ops_with(drive, request, true)
    }

    fn queue_ops_with(&mut self, drive: &mut Drive, request: u32, foreground: bool) -> u32 {
        std::mem::swap(&mut self.ops, &mut drive.flash.ops);
        let mut routing = Routing { job: None, fill: None, programs: 0, foreground };
        for i in 0..self.ops.len() {
            let op = self.ops[i];
            self.queue_op(drive, op, request, &mut routing);
        }
        self.ops.clear();
        while let Some(job) = drive.ftl.started_jobs.pop() {
            if let Some(running) = drive.job(job) {
                let die = drive.geometry.die_of(running.block);
                self.dies.add_job(die, job, running.cause, self.now);
                self.touched.push(die);
            }
        }
        routing.programs
    }

    fn queue_op(&mut self, drive: &Drive, op: NandOp, request: u32, routing: &mut Routing) {
        if routing.job.is_some() {
            return self.add_part(drive, op, routing);
        }
        let id = self.next_work();
        if self.dies.events.is_some() {
            self.note_work(id, op, routing);
        }
        let g = &drive.geometry;
        let die_of = |ppn: Ppn| g.die_of(g.block_of(ppn));
        let sense = |ppn: Ppn| self.speed.sense[g.kind_of(ppn) as usize];
        match op {
            NandOp::JobBegin { die, cause } => routing.job = Some(Piece { op: id, die, cause, ns: 0 }),
            NandOp::JobEnd => unreachable!("a job ends that did not begin"),
            NandOp::Fill { src } => routing.fill = Some(src),
            NandOp::Program { dst } => {
                routing.programs += 1;
                self.programming += 1;
                let (die, work, sense) = match routing.fill.take() {
                    Some(src) => (die_of(src), Work::Copy { dst: Some(dst), then_host: true, request }, sense(src)),
                    None => (die_of(dst), Work::Program { host: true, request, pages: 1 }, 0),
                };
                self.queue_work(die, WorkOp::new(id, work, Cause::Host, sense), false);
            }
            NandOp::Copy { src, dst, cause } => {
                let op = WorkOp::new(
                    id,
                    Work::Copy { dst, then_host: false, request: NIL },
                    cause,
                    sense(if planted(Bug::CopySensesTarget) { dst.unwrap_or(src) } else { src }),
                );
                self.queue_work(die_of(src), op, false);
            }
            NandOp::Load { src, serial, cause } => {
                let serial = if drive.bugs.has(Bug::ProgramBeforeLoads) { u32::MAX } else { serial };
                self.wordlines.awaits(serial);
                self.queue_work(die_of(src), WorkOp::new(id, Work::Load { serial }, cause, sense(src)), false);
            }
            NandOp::ProgramWordline { dst, pages, serial, cause } => {
                let host = cause == Cause::Host;
                if host {
                    routing.programs += 1;
                    self.programming += pages;
                }
                let request = if host { request } else { NIL };
                let program = WorkOp::new(id, Work::Program { host, request, pages }, cause, 0);
                if let Some((die, program)) = self.wordlines.program(serial, die_of(dst), program) {
                    self.copy_programs += u32::from(!host);
                    self.queue_work(die, program, false);
                }
            }
            NandOp::Probe { block, wordlines } => {
                // In one piece, before the read that asked: what is done next follows from what is found.
                let ns = u64::from(if planted(Bug::ProbesOnce) { 1 } else { wordlines }) * self.speed.probe;
                self.dies.note(|| TimeEvent::Part { op: id, work: time_event::Work::Probe { block, wordlines } });
                self.queue_piece(Piece { op: id, die: g.die_of(block), cause: Cause::Reclaim, ns }, routing.foreground);
            }
            NandOp::Read { src, cause } => {
                let op = WorkOp::new(id, Work::Copy { dst: None, then_host: false, request: NIL }, cause, sense(src));
                self.queue_work(die_of(src), op, false);
            }
            NandOp::Merge { block, cause } => {
                self.copy_programs += 1;
                let program = Work::Program { host: false, request: NIL, pages: 1 };
                self.queue_work(g.die_of(block), WorkOp::new(id, program, cause, 0), false);
            }
            NandOp::Erase { .. } if drive.bugs.has(Bug::ErasesFree) => {}
            NandOp::Erase { block, cause } if drive.bugs.has(Bug::OthersDie) => {
                let die = g.dies() as DieId - 1 - g.die_of(block);
                self.queue_work(die, WorkOp::new(id, Work::Erase, cause, 0), false);
            }
            NandOp::Erase { block, cause } => self.queue_work(g.die_of(block), WorkOp::new(id, Work::Erase, cause, 0), false),
        }
    }

    /// Adds work to the piece of a job that is open, or ends that.
    fn add_part(&mut self, drive: &Drive, op: NandOp, routing: &mut Routing) {
        let g = &drive.geometry;
        let piece = routing.job.as_mut().expect("the caller saw it");
        if let Some(work) = told(op) {
            let op = piece.op;
            self.dies.note(|| TimeEvent::Part { op, work });
        }
        let programs_all = drive.bugs.has(Bug::LostCopiesProgrammed);
        piece.ns += match op {
            NandOp::Copy { src, dst, .. } if dst.is_some() || programs_all => self.speed.serial_copy(g.kind_of(src)),
            NandOp::Copy { src, .. } | NandOp::Read { src, .. } | NandOp::Load { src, .. } => self.speed.serial_read(g.kind_of(src)),
            NandOp::ProgramWordline { pages, .. } => {
                u64::from(if planted(Bug::PieceMovesOnePage) { 1 } else { pages }) * self.speed.page_transfer + self.speed.program
            }
            NandOp::Merge { .. } => self.speed.page_transfer + self.speed.program,
            NandOp::Erase { .. } => self.speed.erase,
            NandOp::Probe { wordlines, .. } => u64::from(wordlines) * self.speed.probe,
            NandOp::JobEnd => {
                let piece = routing.job.take().expect("just seen");
                return self.queue_piece(piece, routing.foreground);
            }
            NandOp::Fill { .. } | NandOp::Program { .. } | NandOp::JobBegin { .. } => unreachable!("no host work within a job"),
        };
    }

    /// Tells whoever watches of work that is queued by itself; a fill together with its program, probes as the piece that they are.
    #[cold]
    fn note_work(&mut self, id: OpId, op: NandOp, routing: &Routing) {
        let work = match (op, routing.fill) {
            (NandOp::Program { dst }, Some(src)) => Some(time_event::Work::Copy { src, dst: Some(dst), cause: Cause::Host }),
            (NandOp::Probe { .. }, _) => None,
            _ => told(op),
        };
        if let Some(work) = work {
            let at = self.now;
            self.dies.note(|| TimeEvent::Work { op: id, work, at });
        }
    }

    /// Names a work, unlike any host read.
    fn next_work(&mut self) -> OpId {
        self.works = self.works.wrapping_add(1);
        self.works | 1 << 31
    }

    fn queue_piece(&mut self, piece: Piece, foreground: bool) {
        let Piece { op, die, cause, ns } = piece;
        if ns > 0 {
            let at = self.now;
            self.dies.note(|| TimeEvent::Piece { op, die, cause, at });
            self.queue_work(die, WorkOp::new(op, Work::Exclusive { ns }, cause, 0), foreground);
        }
    }

    fn queue_work(&mut self, die: DieId, op: WorkOp, first: bool) {
        self.dies.queue_work(die, op, first);
        self.touched.push(die);
    }
}

/// Where the routing of recorded work stands.
struct Routing {
    /// The job in the foreground.
    job: Option<Piece>,
    /// Page that fills in the rest of the next host program.
    fill: Option<Ppn>,
    programs: u32,
    foreground: bool,
}

/// A piece of a job that nothing interrupts.
#[derive(Clone, Copy)]
struct Piece {
    op: OpId,
    die: DieId,
    cause: Cause,
    /// Its time so far.
    ns: Ns,
}

/// Recorded work as a watcher is told of it; a fill is told with its program.
fn told(op: NandOp) -> Option<time_event::Work> {
    Some(match op {
        NandOp::Program { dst } => time_event::Work::Program { dst, pages: 1, wordline: None, cause: Cause::Host },
        NandOp::Load { src, serial, cause } => time_event::Work::Load { src, wordline: serial, cause },
        NandOp::ProgramWordline { dst, pages, serial, cause } => time_event::Work::Program { dst, pages, wordline: Some(serial), cause },
        NandOp::Copy { src, dst, cause } => time_event::Work::Copy { src, dst, cause },
        NandOp::Read { src, cause } => time_event::Work::Copy { src, dst: None, cause },
        NandOp::Probe { block, wordlines } => time_event::Work::Probe { block, wordlines },
        NandOp::Merge { block, cause } => time_event::Work::Merge { block, cause },
        NandOp::Erase { block, cause } => time_event::Work::Erase { block, cause },
        NandOp::Fill { .. } | NandOp::JobBegin { .. } | NandOp::JobEnd => return None,
    })
}
