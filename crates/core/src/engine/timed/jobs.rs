//! Deferred jobs in time: a step where the schedule lets them have one, in the gaps that a die's other work leaves or, when urgent, before it.

use super::TimedEngine;
use super::dies::NIL;
use crate::config::Schedule;
use crate::drive::{Drive, NandOp};
use crate::ftl::mover::JobRef;
use crate::time_event::TimeEvent;
use crate::units::{Cause, DieId};

impl TimedEngine {
    /// Starts what a die can start, and gives its job a step where the schedule lets it.
    pub(super) fn pump(&mut self, drive: &mut Drive, die: DieId) {
        let pressure = !self.stalled.is_empty();
        let die_index = usize::from(die);
        if self.dies.has_jobs(die) {
            self.before_dispatch(drive, die);
        }
        while self.dies.dispatch(die_index, self.now, pressure, &self.speed) {
            if !self.step_job(drive, die) {
                return;
            }
            self.before_dispatch(drive, die);
        }
    }

    /// Drops finished jobs, notes urgency, and queues the next batch of a job under `batch:N`.
    fn before_dispatch(&mut self, drive: &mut Drive, die: DieId) {
        drive.now = self.now;
        self.dies.drop_jobs(die, |job| drive.job(job).is_none());
        let (on, was_on) = self.dies.put_urgent_first(die, |job| drive.job(job).is_some_and(|job| drive.is_urgent(job)));
        if on != was_on {
            let at = self.now;
            self.dies.note(|| TimeEvent::Urgent { die, on, at });
        }
        let Schedule::Batch(copies) = self.schedule else { return };
        let Some((job, cause)) = self.dies.first_job(die) else { return };
        if cause == Cause::Reclaim && !self.dies.has_piece(die) {
            self.queue_batch(drive, die, job, copies);
        }
    }

    /// Copies the next pages of a job in one uninterrupted piece.
    fn queue_batch(&mut self, drive: &mut Drive, die: DieId, job: JobRef, copies: u32) {
        drive.now = self.now;
        drive.record(NandOp::JobBegin { die, cause: Cause::Reclaim });
        for _ in 0..copies {
            if !drive.step_job(job) {
                break;
            }
        }
        drive.record(NandOp::JobEnd);
        self.route_batch(drive);
    }

    /// Moves one page of the job at the head of an idle die. False where the die has to wait.
    fn step_job(&mut self, drive: &mut Drive, die: DieId) -> bool {
        if !self.dies.is_urgent(die) && self.copy_programs >= 2 * drive.geometry.dies() {
            self.held_back.push_back(die);
            return false;
        }
        let Some((job, _)) = self.dies.first_job(die) else { return false };
        drive.now = self.now;
        if !drive.step_job(job) {
            self.dies.job_done(die);
        }
        self.queue_ops(drive, NIL);
        self.pump_touched(drive, Some(die));
        true
    }
}
