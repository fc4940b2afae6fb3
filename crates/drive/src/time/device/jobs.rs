//! Deferred jobs: each runs a step when the schedule allows it. Steps run in idle gaps of a die or,
//! if the job is urgent, before its other work.

use super::Device;
use super::dies::NIL;
use crate::base::units::{Cause, DieId};
use crate::config::Schedule;
use crate::drive::Drive;
use crate::ftl::job::JobRef;
use crate::time::drive::NandOp;
use crate::watch::time_event::TimeEvent;

impl Device {
    /// Starts the work that a die can start, and runs a step of its job if the schedule allows it.
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

    /// Removes finished jobs, notes urgency, and queues the next batch of a job under `batch:N`.
    fn before_dispatch(&mut self, drive: &mut Drive, die: DieId) {
        drive.flash.now = self.now;
        let (on, was_on) = self.dies.review_jobs(
            die,
            |job| drive.ftl.job(job).is_none(),
            |job| drive.ftl.job(job).is_some_and(|job| drive.is_urgent(job)),
            self.now,
        );
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

    /// Copies the next pages of a job in one uninterruptible piece.
    fn queue_batch(&mut self, drive: &mut Drive, die: DieId, job: JobRef, copies: u32) {
        drive.flash.record(NandOp::JobBegin { die, cause: Cause::Reclaim });
        for _ in 0..copies {
            if !drive.step_job(job) {
                break;
            }
        }
        drive.flash.record(NandOp::JobEnd);
        // Waiting reads keep their credit.
        self.queue_recorded(drive, NIL, None, false);
        self.pump_touched(drive, None);
    }

    /// Moves one page of the first job of an idle die. Returns false if the die must wait.
    fn step_job(&mut self, drive: &mut Drive, die: DieId) -> bool {
        if !self.dies.is_urgent(die) && self.copy_programs >= 2 * drive.geometry().dies() {
            // A die is held back only once. Each program that ends lets one die go on, and a second
            // entry would wait behind dies that go on already.
            if !self.held_back.contains(&die) {
                self.held_back.push_back(die);
            }
            return false;
        }
        let Some((job, _)) = self.dies.first_job(die) else { return false };
        if !drive.step_job(job) {
            self.dies.drop_job(die, 0, self.now);
        }
        self.queue_recorded(drive, NIL, None, true);
        // The caller continues with this die itself.
        self.pump_touched(drive, Some(die));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::request::{Arrival, Op, Request, RequestSource, SourceError};
    use crate::drive::tests::tiny_config;
    use crate::testing::fakes;
    use crate::time::Replay;

    /// Source of writes and reads in turn, all over the drive, sixteen at a time.
    struct Busy {
        left: u64,
        random: u64,
        pages: u64,
    }

    impl RequestSource for Busy {
        fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
            let n = self.left.min(max as u64);
            self.left -= n;
            for _ in 0..n {
                self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let op = if (self.random >> 60).is_multiple_of(2) { Op::Read } else { Op::Write };
                out.push(Request {
                    at: 0,
                    offset: (self.random >> 33) % self.pages * 16_384,
                    bytes: 16_384,
                    op,
                    origin: 0,
                    hint: None,
                });
            }
            Ok(())
        }

        fn arrival(&self) -> Arrival {
            Arrival::Closed { depth: 16 }
        }
    }

    /// If there are many programs of copies, dies with waiting jobs are checked again at every
    /// read. Each of them is held back once. When the programs are done, none is held back: enough
    /// programs end before that.
    #[test]
    fn a_die_is_held_back_once() {
        let mut config = tiny_config();
        config.start.fill = 1.0;
        config.gc.background = 0.6;
        let mut drive = Drive::new(config.resolve().unwrap(), &fakes(), true).unwrap();
        drive.precondition(1);
        let mut replay = Replay::new(&drive);
        let mut source = Busy { left: 0, random: 7, pages: u64::from(drive.geometry.host_pages) };
        let mut most = 0;
        for _ in 0..2000 {
            source.left = 20;
            replay.run(&mut drive, &mut source, &mut |_, _| true).unwrap();
            let mut held: Vec<_> = replay.device.held_back.iter().collect();
            held.sort();
            assert!(held.windows(2).all(|pair| pair[0] != pair[1]), "{held:?}");
            assert!(
                held.is_empty() || replay.device.copy_programs > 0,
                "{held:?} wait for nothing"
            );
            most = most.max(held.len());
        }
        assert!(most > 1, "no two dies were ever held back");
    }
}
