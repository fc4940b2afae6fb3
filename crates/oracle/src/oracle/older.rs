//! Checks that a policy that uses the age of each block is asked when a block grows older. When a
//! block enters a step of age, it has the limits of this step, and the policy's earlier answer does
//! not hold any more. The policy must be asked even if the block is not read.
//!
//! ```text
//! The policy is asked when the block is in step 4, which ends 1.19 h after its first page. It must
//! be asked again by then, unless the block is erased or under a job.
//! ```

use std::collections::BTreeSet;

use vpass_drive::base::units::{BlockId, Moment};
use vpass_drive::config::DriveConfig;

use crate::truth::Truth;

/// Tolerance in ns. In the timed gear, the drive reports the time when a request is submitted. A
/// pause, and a die that carries out one job in a piece, may delay this.
const LATE: Moment = 100_000_000;
/// Number of operations that may wait at a slow die.
const QUEUED: f64 = 64.0;

/// Time at which each block leaves the step of age for which its policy has answered.
#[derive(Debug, Default)]
pub(crate) struct Older {
    /// Step of age after which limits stay constant. `None` if the policy does not use ages.
    longest: Option<usize>,
    late: Moment,
    due: Vec<Option<Moment>>,
    order: BTreeSet<(Moment, BlockId)>,
}

impl Older {
    /// Sets the time at which a block is due, or removes it.
    fn set(&mut self, block: BlockId, at: Option<Moment>) {
        if self.due.len() <= block.index() {
            self.due.resize(block.index() + 1, None);
        }
        if let Some(before) = std::mem::replace(&mut self.due[block.index()], at) {
            self.order.remove(&(before, block));
        }
        self.order.extend(at.map(|at| (at, block)));
    }

    /// Removes and returns the first block that was due before this time.
    fn overdue(&mut self, now: Moment) -> Option<(Moment, BlockId)> {
        let (at, block) = *self.order.first()?;
        if at + self.late >= now {
            return None;
        }
        self.set(block, None);
        Some((at, block))
    }
}

/// Returns the longest time of the operations that may wait before, in ns.
fn of_queue(config: &DriveConfig) -> Moment {
    let timing = &config.timing;
    (QUEUED * timing.longest_erase_us().max(timing.program_us.longest()) * 1000.0) as Moment
}

/// Returns the time for reading, programming and erasing a whole block, page after page, in ns.
/// Each read takes all retries.
fn longest_piece(config: &DriveConfig) -> Moment {
    let (cell, timing) = (config.geometry.cell, &config.timing);
    let sense_us = timing.sense_per_kind_us(cell).into_iter().fold(0.0, f64::max);
    let longest_us = config.ecc.retry_sense_us.iter().copied().fold(sense_us, f64::max);
    let sensings = config.ecc.levels().max(1) as f64;
    let copy_us = sensings * longest_us + timing.program_us.longest();
    let pages = config.geometry.wordlines_per_block * cell.bits();
    ((f64::from(pages) * copy_us + timing.longest_erase_us()) * 1000.0) as Moment
}

impl Older {
    pub(super) fn expect(&mut self, truth: &Truth, config: &DriveConfig, timed: bool) {
        self.longest = Some(truth.ages.steps.step(config.longest_age().0));
        self.late = if timed { LATE.max(of_queue(config)) + longest_piece(config) } else { 0 };
    }

    /// Records that the policy has answered for the present age of a block, or that the block's
    /// data has become younger.
    pub(super) fn asked(&mut self, truth: &Truth, block: BlockId) {
        match truth.ages.since(block) {
            Some(since) => self.begins(truth, block, since),
            None if self.longest.is_some() => self.set(block, None),
            None => {}
        }
    }

    /// Records that the policy has answered for a block whose oldest page is of this time.
    pub(super) fn begins(&mut self, truth: &Truth, block: BlockId, since: Moment) {
        let Some(longest) = self.longest else { return };
        let steps = &truth.ages.steps;
        let step = steps.step((truth.ages.now() - since).max(0).cast_unsigned());
        let due = (step < longest).then(|| since + steps.begin(step + 1).cast_signed());
        self.set(block, due);
    }

    /// Checks, when the drive reports the time, that the policy was asked about all blocks due
    /// before it.
    pub(super) fn check(&mut self, truth: &Truth) -> Result<(), String> {
        let now = truth.ages.now();
        let Some((at, block)) = self.overdue(now) else { return Ok(()) };
        let moves =
            if truth.jobs.contains_key(&block) { ", and the block is being moved" } else { "" };
        Err(format!(
            "block {block} entered a step of age at {at} ns, but at {now} ns its policy was not \
             asked about it{moves}"
        ))
    }

    /// Sets the clock back by this time.
    pub(super) fn set_back(&mut self, passed: Moment) {
        self.due.iter_mut().flatten().for_each(|at| *at -= passed);
        self.order = std::mem::take(&mut self.order)
            .into_iter()
            .map(|(at, block)| (at - passed, block))
            .collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_overdue_once() {
        let mut older = Older::default();
        older.set(BlockId::new(3), Some(100));
        older.set(BlockId::new(1), Some(200));
        older.set(BlockId::new(3), Some(150));
        assert_eq!(
            [older.overdue(150), older.overdue(151), older.overdue(152)],
            [None, Some((150, BlockId::new(3))), None]
        );
        older.set(BlockId::new(1), None);
        assert_eq!(older.overdue(1000), None);
    }
}
