//! Checks that the drive asks the reclaim policy in time. The policy names the read at which it
//! wants to be asked, and doses of movers postpone it. A policy that is asked too late cannot keep
//! its guarantee.
//!
//! ```text
//! the policy wants to be asked at 100 reads, and the block has 98
//! one page moves, two host reads    the policy must be asked
//! one more host read                a finding if it was not asked
//! ```

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Reads};

use crate::limits::COUNTED_UNIT;

/// Dose of one block, in quarters, at which the policy wants to be asked.
#[derive(Clone, Copy, Debug)]
struct Question {
    due: u64,
    /// Whether a host read has reached the dose.
    reached: bool,
    /// Whether that read was a failing fill. The scan at the end of a run reports lost pages by
    /// such fills, and the drive asks no policy then.
    excused: bool,
}

const NEVER: Question = Question { due: u64::MAX, reached: false, excused: false };

/// The questions of all blocks.
#[derive(Debug)]
pub(crate) struct Questions {
    blocks: Vec<Question>,
    /// Number of deferred jobs that ended after the last read they allowed, since the measured
    /// phase began.
    pub(crate) overtaken: u64,
}

impl Questions {
    pub(crate) fn new(geometry: &Geometry) -> Self {
        Self { blocks: vec![NEVER; geometry.blocks as usize], overtaken: 0 }
    }

    /// Returns the size in bytes for a drive of this geometry.
    pub(crate) fn bytes(geometry: &Geometry) -> u64 {
        u64::from(geometry.blocks) * size_of::<Question>() as u64
    }

    /// Notes the next question of the policy.
    pub(crate) fn name(&mut self, block: BlockId, at: Reads) {
        let Some(question) = self.blocks.get_mut(block.index()) else { return };
        let due = if at == Reads::NEVER { u64::MAX } else { COUNTED_UNIT * u64::from(at.0) };
        *question = Question { due, ..NEVER };
    }

    /// Ends a job that has left data in its block, or erases the block. If the block's last read
    /// was reached, the job was too late.
    pub(crate) fn end(&mut self, block: BlockId) {
        let Some(question) = self.blocks.get_mut(block.index()) else { return };
        self.overtaken += u64::from(question.reached);
        *question = NEVER;
    }

    /// Postpones the question by a dose of a mover, in quarters.
    pub(crate) fn put_off(&mut self, block: BlockId, dose: u32) {
        if let Some(question) = self.blocks.get_mut(block.index()) {
            question.due = question.due.saturating_add(dose.into());
        }
    }

    /// Checks a host read of a block whose dose is now `served` quarters.
    #[inline]
    pub(crate) fn read(&mut self, block: BlockId, served: u64) -> Result<(), String> {
        match self.blocks.get_mut(block.index()) {
            Some(question) if served >= question.due => question.reach(block, served),
            _ => Ok(()),
        }
    }

    /// Notes that a fill for the host has found its page lost.
    pub(crate) fn failing_fill(&mut self, block: BlockId, served: u64) {
        if let Some(question) = self.blocks.get_mut(block.index())
            && served >= question.due
            && !question.reached
        {
            (question.reached, question.excused) = (true, true);
        }
    }

    /// Checks at the end of the run that no question is open.
    pub(crate) fn check_open(&self) -> Result<(), String> {
        let left = BlockId::all()
            .zip(&self.blocks)
            .find(|(_, question)| question.reached && !question.excused);
        left.map_or(Ok(()), |(block, question)| Err(late(block, question.due, question.due)))
    }
}

impl Question {
    #[cold]
    fn reach(&mut self, block: BlockId, served: u64) -> Result<(), String> {
        if std::mem::replace(&mut self.reached, true) {
            let due = std::mem::replace(self, NEVER).due;
            return Err(late(block, due, served));
        }
        Ok(())
    }
}

fn late(block: BlockId, due: u64, served: u64) -> String {
    let units = |quarters: u64| quarters as f64 / COUNTED_UNIT as f64;
    format!(
        "the policy must be asked about block {block} at a dose of {}; the dose is {}, and the \
         policy was not asked",
        units(due),
        units(served)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn questions() -> Questions {
        Questions { blocks: vec![NEVER; 2], overtaken: 0 }
    }

    #[test]
    fn a_question_is_due_at_its_read_and_not_later() {
        let mut q = questions();
        q.name(BlockId::new(1), Reads(100));
        q.put_off(BlockId::new(1), 4);
        assert!(q.read(BlockId::new(1), 403).is_ok() && q.check_open().is_ok());
        assert!(q.read(BlockId::new(1), 404).is_ok(), "with this read it is asked");
        assert!(q.check_open().is_err());
        assert!(
            q.read(BlockId::new(1), 408)
                .unwrap_err()
                .contains("block 1 at a dose of 101; the dose is 102")
        );
        assert!(q.read(BlockId::new(1), 412).is_ok(), "said once");
    }

    #[test]
    fn a_failing_fill_may_be_the_last_of_a_run() {
        let mut q = questions();
        q.name(BlockId::new(1), Reads(0));
        q.failing_fill(BlockId::new(1), 60);
        q.failing_fill(BlockId::new(1), 64);
        assert!(q.check_open().is_ok());
        assert!(q.read(BlockId::new(1), 68).is_err(), "in the midst of a run it is answered");
    }

    #[test]
    fn a_job_that_was_overtaken_is_known_by_its_end() {
        let mut q = questions();
        let reached = |q: &mut Questions| {
            q.name(BlockId::new(0), Reads(1));
            q.read(BlockId::new(0), 4).unwrap();
        };
        reached(&mut q);
        q.name(BlockId::new(0), Reads(30));
        assert_eq!(q.overtaken, 0, "the policy was asked");
        reached(&mut q);
        q.name(BlockId::new(0), Reads(0));
        assert_eq!(q.overtaken, 0, "the block is older, and its job goes on");
        reached(&mut q);
        q.end(BlockId::new(0));
        reached(&mut q);
        q.end(BlockId::new(0));
        assert_eq!(q.overtaken, 2);
        q.name(BlockId::new(0), Reads::NEVER);
        assert!(q.read(BlockId::new(0), u64::MAX - 1).is_ok());
    }
}
