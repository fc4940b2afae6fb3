//! Blocks that become due by time alone, in the order of their times. Of blocks with the same time,
//! the lowest number comes first.

use std::collections::BTreeSet;

use crate::base::units::{BlockId, Moment, Ns};

/// Times at which blocks become due. A block has at most one time. A new time replaces the old one.
#[derive(Debug, Default)]
pub(crate) struct TimeWheel {
    due: BTreeSet<(Moment, BlockId)>,
    /// Time of each block; empty until the first time is set.
    times: Vec<Option<Moment>>,
    /// Time at which something that belongs to no block becomes due; `Ns::MAX` if nothing is.
    other_due: Ns,
    /// First time at which a block or something else becomes due; `Ns::MAX` if nothing is. A
    /// request checks only this time.
    next: Ns,
    /// Whether time affects the drive's data.
    pub(crate) runs: bool,
}

impl TimeWheel {
    /// Creates a wheel in which nothing is due.
    pub(crate) fn new() -> Self {
        Self { due: BTreeSet::new(), times: vec![], other_due: Ns::MAX, next: Ns::MAX, runs: false }
    }

    /// Returns the first time at which something becomes due; `Ns::MAX` if nothing does.
    #[inline(always)]
    // A load, once a request.
    pub(crate) fn next(&self) -> Ns {
        self.next
    }

    /// Sets the only time of a block.
    pub(crate) fn set(&mut self, block: BlockId, at: Moment) {
        if self.times.len() <= block.index() {
            self.times.resize(block.index() + 1, None);
        }
        if let Some(before) = self.times[block.index()].replace(at) {
            self.due.remove(&(before, block));
        }
        self.due.insert((at, block));
        self.look();
    }

    /// Removes the time of a block.
    pub(crate) fn clear(&mut self, block: BlockId) {
        if let Some(at) = self.times.get_mut(block.index()).and_then(Option::take) {
            self.due.remove(&(at, block));
            self.look();
        }
    }

    /// Removes and returns the first block that is due by now.
    pub(crate) fn take_due(&mut self, now: Ns) -> Option<BlockId> {
        if self.next > now {
            return None;
        }
        let (_, block) = self.due.first().copied().filter(|(at, _)| due(*at) <= now)?;
        self.due.pop_first();
        self.times[block.index()] = None;
        self.look();
        Some(block)
    }

    /// Sets the clock and all times back.
    pub(crate) fn set_back(&mut self, by: Ns) {
        let due = std::mem::take(&mut self.due);
        for (at, block) in due {
            self.set(block, at - by.cast_signed());
        }
        if self.other_due != Ns::MAX {
            self.set_other_due(self.other_due.saturating_sub(by));
        }
    }

    /// Returns the time at which something that belongs to no block becomes due.
    pub(crate) fn other_due(&self) -> Ns {
        self.other_due
    }

    /// Sets the time at which something that belongs to no block becomes due, and replaces the
    /// earlier such time. `Ns::MAX` means never.
    pub(crate) fn set_other_due(&mut self, at: Ns) {
        self.other_due = at;
        self.look();
    }

    fn look(&mut self) {
        self.next = self.due.first().map_or(Ns::MAX, |(at, _)| due(*at)).min(self.other_due);
    }
}

/// Returns when a moment is due. A moment before time 0 is due at once.
fn due(at: Moment) -> Ns {
    at.max(0) as Ns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_in_the_order_of_their_times() {
        let mut wheel = TimeWheel::new();
        assert_eq!(wheel.next(), Ns::MAX);
        for (block, at) in [(3, 50), (1, 20), (2, 20), (0, -5)] {
            wheel.set(BlockId::new(block), at);
        }
        assert_eq!(wheel.next(), 0, "what was due before time 0 is due at once");
        assert_eq!(wheel.take_due(10), Some(BlockId::new(0)));
        assert_eq!((wheel.take_due(10), wheel.next()), (None, 20));
        wheel.set(BlockId::new(1), 60);
        wheel.clear(BlockId::new(3));
        assert_eq!(wheel.take_due(100), Some(BlockId::new(2)));
        wheel.set_back(15);
        assert_eq!(wheel.next(), 45);
        assert_eq!(
            (wheel.take_due(45), wheel.take_due(100), wheel.next()),
            (Some(BlockId::new(1)), None, Ns::MAX)
        );
    }

    #[test]
    fn what_is_no_blocks_is_due_apart_from_them() {
        let mut wheel = TimeWheel::new();
        wheel.set(BlockId::new(1), 60);
        wheel.set_other_due(40);
        assert_eq!((wheel.next(), wheel.take_due(50)), (40, None));
        wheel.set_back(10);
        assert_eq!((wheel.next(), wheel.other_due()), (30, 30));
        wheel.set_other_due(Ns::MAX);
        assert_eq!((wheel.next(), wheel.take_due(50)), (50, Some(BlockId::new(1))));
    }
}
