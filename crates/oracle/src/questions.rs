//! Whether the reclaim policy is asked in time: at the very read at which it wants to be asked,
//! with what movers deposit on top. A policy that is asked too late cannot keep its promise.
//!
//! ```text
//! the policy wants to be asked at 100 reads; the block has 98     one page is moved, one read for the host, one for the host: asked
//!                                                                  a read for the host more, and not asked: a finding
//! ```

use vpass_core::base::geometry::Geometry;
use vpass_core::base::units::{BlockId, Reads};

use crate::endurance::COUNTED_UNIT;

/// Of one block: the dose, in quarters, at which the policy wants to be asked.
#[derive(Clone, Copy, Debug)]
struct Question {
    due: u64,
    /// A host read has reached it.
    reached: bool,
    /// That read was a failing fill. The scan at the end of a run reports pages by such fills, and
    /// nobody is asked then.
    excused: bool,
}

const NEVER: Question = Question { due: u64::MAX, reached: false, excused: false };

/// The questions of all blocks; none where requests are not followed.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    blocks: Vec<Question>,
    /// Of each block: what was read from it since its erase that no host could choose the place of,
    /// in quarters.
    not_chosen: Vec<u64>,
    /// Deferred jobs that the last read they were allowed came before, since the measured phase
    /// began.
    pub(crate) overtaken: u64,
    /// The block whose question was named last.
    named: BlockId,
    /// Jobs may follow from retries, too, and no question is their deadline.
    has_early_jobs: bool,
}

impl Questions {
    pub(crate) fn new(geometry: &Geometry) -> Self {
        Self {
            blocks: vec![NEVER; geometry.blocks as usize],
            not_chosen: vec![0; geometry.blocks as usize],
            ..Self::default()
        }
    }

    /// Bytes for a drive of this geometry.
    pub(crate) fn bytes(geometry: &Geometry) -> u64 {
        u64::from(geometry.blocks) * (size_of::<Question>() + size_of::<u64>()) as u64
    }

    /// Jobs may begin because a read took retries, whatever question is named.
    pub(crate) fn expect_early_jobs(&mut self) {
        self.has_early_jobs = true;
    }

    /// The policy has named its next question.
    pub(crate) fn name(&mut self, block: BlockId, at: Reads) {
        let Some(question) = self.blocks.get_mut(block.index()) else { return };
        self.named = block;
        let due = if at == Reads::NEVER { u64::MAX } else { COUNTED_UNIT * u64::from(at.0) };
        *question = Question { due, ..NEVER };
    }

    /// A job begins with a block of this dose, in quarters: what may still be read of it, where the
    /// policy has just said so. That is without end where nobody needs to be asked again. Unknown
    /// where a job follows from a question about another block, or may follow from retries.
    pub(crate) fn left(&self, block: BlockId, dose: u64) -> Option<u64> {
        let question = self
            .blocks
            .get(block.index())
            .filter(|_| self.named == block && dose > 0 && !self.has_early_jobs)?;
        Some(if question.due == u64::MAX { u64::MAX } else { question.due.saturating_sub(dose) })
    }

    /// A job ends that has left data in its block: where its last read was reached, it was too
    /// late.
    pub(crate) fn end_job(&mut self, block: BlockId) {
        let Some(question) = self.blocks.get_mut(block.index()) else { return };
        self.overtaken += u64::from(question.reached);
        *question = NEVER;
    }

    pub(crate) fn erase(&mut self, block: BlockId) {
        let Some(question) = self.blocks.get_mut(block.index()) else { return };
        self.overtaken += u64::from(question.reached);
        *question = NEVER;
        self.not_chosen[block.index()] = 0;
    }

    /// A mover deposits a dose, in quarters.
    pub(crate) fn put_off(&mut self, block: BlockId, dose: u32) {
        if let Some(question) = self.blocks.get_mut(block.index()) {
            question.due = question.due.saturating_add(dose.into());
            self.not_chosen[block.index()] += u64::from(dose);
        }
    }

    /// A block has served reads before the run, spread evenly.
    pub(crate) fn begin_with(&mut self, block: BlockId, doses: &[u32]) {
        if let Some(not_chosen) = self.not_chosen.get_mut(block.index()) {
            *not_chosen += doses.iter().map(|dose| u64::from(*dose)).sum::<u64>();
        }
    }

    /// What was read from a block since its erase by movers, and before the run: not where a host
    /// chose to.
    pub(crate) fn not_chosen(&self, block: BlockId) -> u64 {
        self.not_chosen.get(block.index()).copied().unwrap_or(0)
    }

    /// The host has read from a block, which has served this dose, in quarters, by now.
    #[inline]
    pub(crate) fn read(&mut self, block: BlockId, served: u64) -> Result<(), String> {
        match self.blocks.get_mut(block.index()) {
            Some(question) if served >= question.due => question.reach(block, served),
            _ => Ok(()),
        }
    }

    /// A fill for the host has found its page gone.
    pub(crate) fn failing_fill(&mut self, block: BlockId, served: u64) {
        if let Some(question) = self.blocks.get_mut(block.index())
            && served >= question.due
            && !question.reached
        {
            (question.reached, question.excused) = (true, true);
        }
    }

    /// The run is over: who was to be asked was asked.
    pub(crate) fn end(&self) -> Result<(), String> {
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
        Questions { blocks: vec![NEVER; 2], not_chosen: vec![0; 2], ..Questions::default() }
    }

    #[test]
    fn a_question_is_due_at_its_read_and_not_later() {
        let mut q = questions();
        q.name(BlockId::new(1), Reads(100));
        q.put_off(BlockId::new(1), 4);
        assert!(q.read(BlockId::new(1), 403).is_ok() && q.end().is_ok());
        assert!(q.read(BlockId::new(1), 404).is_ok(), "with this read it is asked");
        assert!(q.end().is_err());
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
        assert!(q.end().is_ok());
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
        q.end_job(BlockId::new(0));
        reached(&mut q);
        q.erase(BlockId::new(0));
        assert_eq!(q.overtaken, 2);
        q.name(BlockId::new(0), Reads::NEVER);
        assert!(q.read(BlockId::new(0), u64::MAX - 1).is_ok());
    }
}
