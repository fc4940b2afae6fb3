//! Execution of the next event: the end of the sensing or transfer of a page, or an event of other
//! work of a die.

use super::Device;
use super::dies::{NIL, Next, WorkKind, WorkOp};
use super::stripes::Stripe;
use super::wordlines::Rebuilt;
use crate::base::units::{Cause, DieId};
use crate::drive::Drive;

impl Device {
    /// Executes the next event of a die or channel.
    #[inline(always)]
    // Twice a page read.
    pub(super) fn step(&mut self, drive: &mut Drive, next: Next) {
        let busy = match next {
            Next::Sensed => {
                if let Some(die) = self.dies.sensed() {
                    self.pump(drive, die);
                }
                return;
            }
            Next::Transferred => {
                let (part, busy) = self.dies.transferred();
                let ready = self.now + self.speed.ecc;
                if part.is_delivered() {
                    self.host.deliver(part, ready, self.now);
                } else if let Some(serial) = part.rebuild() {
                    self.read_for_rebuild(drive, serial, part.met_reclaim);
                }
                busy
            }
            Next::Work => self.step_work(drive),
        };
        if let Some(die) = busy {
            self.pump(drive, die);
        }
        self.dies.settle();
        self.tell_if_many(drive);
    }

    /// Executes the next event of a die's work, and returns the die on which work ended.
    #[cold]
    fn step_work(&mut self, drive: &mut Drive) -> Option<DieId> {
        let (die, ended) = self.dies.step();
        self.work_ended(drive, die, &ended?);
        if drive.ftl.worn.pace.is_held && !self.has_better_work(drive) {
            drive.ftl.go_on_forming(self.now);
        }
        Some(die)
    }

    /// Ends programs of host pages. Their request may be complete, and their slots in the write
    /// buffer are free.
    fn end_programs(&mut self, drive: &mut Drive, (request, pages): (u32, u32)) {
        let now = self.now;
        if request != NIL {
            self.host.finish_part(request, now, now);
        }
        self.programming -= pages;
        self.unstall(drive);
    }

    fn work_ended(&mut self, drive: &mut Drive, die: DieId, op: &WorkOp) {
        if op.cause == Cause::Reclaim {
            drive.ftl.reclaim.stall_ns += self.dies.waited_for(usize::from(die), op, self.now);
        }
        match op.work {
            WorkKind::Striped { serial } => {
                let Some(Stripe { pages, request, .. }) = self.stripes.ended(serial) else {
                    return;
                };
                self.end_programs(drive, (request, pages));
            }
            WorkKind::Program { host: false, .. } => {
                self.copy_programs -= 1;
                if let Some(waiting) = self.held_back.pop_front() {
                    self.pump(drive, waiting);
                }
            }
            WorkKind::Program { host: true, request, pages, .. } => {
                self.end_programs(drive, (request, pages));
            }
            WorkKind::Copy { dst: Some(dst), then_host, request } => {
                let target = drive.die_of(dst);
                self.copy_programs += u32::from(!then_host);
                let program = WorkOp::new(
                    op.id,
                    WorkKind::Program { host: then_host, request, pages: 1 },
                    op.cause,
                    self.program(drive, dst),
                );
                self.dies.queue_work(target, program, false);
                self.pump(drive, target);
            }
            WorkKind::Load { serial } => self.loaded(drive, serial),
            WorkKind::Copy { dst: None, .. }
            | WorkKind::Retry
            | WorkKind::Erase
            | WorkKind::Exclusive => {}
        }
    }

    /// Handles a page that was read for a wordline or a stripe. The work that waited for the last
    /// of its pages goes on.
    #[cold]
    pub(super) fn loaded(&mut self, drive: &mut Drive, serial: u32) {
        let (programs, rebuilt) = self.wordlines.loaded(serial);
        if let Some(Rebuilt { part, decodings }) = rebuilt {
            let ready = self.now + decodings * self.speed.ecc;
            self.host.deliver(part, ready, self.now);
        }
        for (target, program) in programs {
            let is_copy =
                matches!(program.work, WorkKind::Program { .. }) && program.cause != Cause::Host;
            self.copy_programs += u32::from(is_copy);
            self.dies.queue_work(target, program, false);
            self.pump(drive, target);
        }
    }
}
