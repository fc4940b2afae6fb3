//! Whether a policy that goes by the age of each block hears of those that grow older: when a block
//! enters a step of age, limits are those of that step, and what the policy said for the step
//! before holds no more. Read or not, it is asked.
//!
//! ```text
//! asked when the block is in step 4, which ends 1.19 h after its first page: asked again by then, unless it is erased or a job has it
//! ```

use std::collections::BTreeSet;

use vpass_core::base::units::{BlockId, Moment};
use vpass_core::config::DriveConfig;

use crate::clock::program_us;
use crate::error_rates::{end_of, step_of};
use crate::oracle::Oracle;

/// Timed, time is told when a request is submitted: a pause may come on top, and a die that works
/// at one job in a piece.
const LATE: Moment = 100_000_000;
/// Slow dies may have so many operations before them.
const QUEUED: f64 = 64.0;

/// When each block enters the step after that for which its policy has answered.
#[derive(Debug, Default)]
pub(crate) struct Older {
    /// The step beyond which nothing changes; none where the policy goes by no age.
    longest: Option<u32>,
    late: Moment,
    due: Vec<Option<Moment>>,
    order: BTreeSet<(Moment, BlockId)>,
}

impl Older {
    /// A block is due no more, or at this time.
    fn set(&mut self, block: BlockId, at: Option<Moment>) {
        if self.due.len() <= block.index() {
            self.due.resize(block.index() + 1, None);
        }
        if let Some(before) = std::mem::replace(&mut self.due[block.index()], at) {
            self.order.remove(&(before, block));
        }
        self.order.extend(at.map(|at| (at, block)));
    }

    /// The first block that was due before this time, once.
    fn overdue(&mut self, now: Moment) -> Option<(Moment, BlockId)> {
        let (at, block) = *self.order.first()?;
        if at + self.late >= now {
            return None;
        }
        self.set(block, None);
        Some((at, block))
    }
}

/// The longest that operations take which were there before, in ns.
fn of_queue(config: &DriveConfig) -> Moment {
    let kinds = 0..config.geometry.cell.bits();
    let longest_us =
        kinds.map(|kind| program_us(config, kind)).fold(config.timing.longest_erase_us(), f64::max);
    (QUEUED * longest_us * 1000.0) as Moment
}

/// Reading, programming and erasing a whole block, a page after the other, in ns. Each read takes
/// all retries.
fn longest_piece(config: &DriveConfig) -> Moment {
    let (cell, timing) = (config.geometry.cell, &config.timing);
    let sense_us = timing.sense_per_kind_us(cell).into_iter().fold(0.0, f64::max);
    let longest_us = config.ecc.retry_sense_us.iter().copied().fold(sense_us, f64::max);
    let sensings = config.ecc.levels().max(1) as f64;
    let copy_us = sensings * longest_us
        + (0..cell.bits()).map(|kind| program_us(config, kind)).fold(0.0, f64::max);
    let pages = config.geometry.wordlines_per_block * cell.bits();
    ((f64::from(pages) * copy_us + timing.longest_erase_us()) * 1000.0) as Moment
}

impl Oracle {
    /// The policy goes by the age of each block.
    pub(crate) fn expect_follows_age(&mut self, config: &DriveConfig, timed: bool) {
        if self.doses.has_rates() && config.keeps_time() {
            self.older.longest = Some(step_of(config.longest_age().0));
            self.older.late =
                if timed { LATE.max(of_queue(config)) + longest_piece(config) } else { 0 };
        }
    }

    /// The policy has answered for a block as old as it is now, or what the block holds has become
    /// younger.
    pub(crate) fn asked_of_age(&mut self, block: BlockId) {
        let Some(longest) = self.older.longest else { return };
        let due = self.ageing.since(block).and_then(|since| {
            let step = step_of((self.ageing.now() - since).max(0).cast_unsigned());
            (step < longest).then(|| since + end_of(step).cast_signed())
        });
        self.older.set(block, due);
    }

    /// The drive tells the time: all that were to be asked about before it were.
    pub(crate) fn check_older(&mut self) -> Result<(), String> {
        if let Some((at, block)) = self.older.overdue(self.ageing.now()) {
            let (now, moves) = (
                self.ageing.now(),
                if self.jobs.contains_key(&block) { ", and the block is being moved" } else { "" },
            );
            return Err(format!(
                "block {block} entered a step of age at {at} ns, but at {now} ns its policy was \
                 not asked about it{moves}"
            ));
        }
        Ok(())
    }

    /// The clock is set back by so much.
    pub(crate) fn set_older_back(&mut self, passed: Moment) {
        self.older.due.iter_mut().flatten().for_each(|at| *at -= passed);
        self.older.order = std::mem::take(&mut self.older.order)
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
