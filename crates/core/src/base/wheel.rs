//! Blocks that time alone will set off, in the order of their times; of those of one time the
//! lowest number first.

use std::collections::BTreeSet;

use crate::base::units::{BlockId, Moment, Ns};

/// A block is set off at most once: another time takes the place of the one before.
#[derive(Debug, Default)]
pub(crate) struct TimeWheel {
    due: BTreeSet<(Moment, BlockId)>,
    /// By block; empty until the first is set.
    times: Vec<Option<Moment>>,
    /// When something else is due that time sets off and that is no block's; `Ns::MAX` where
    /// nothing is.
    other_due: Ns,
    /// When the first is due, or the other, `Ns::MAX` where nothing is: all that a request looks
    /// at.
    next: Ns,
    /// Whether time counts for what the drive holds.
    pub(crate) runs: bool,
}

impl TimeWheel {
    /// Nothing is due.
    pub(crate) fn new() -> Self {
        Self { due: BTreeSet::new(), times: vec![], other_due: Ns::MAX, next: Ns::MAX, runs: false }
    }

    /// When the first is due; `Ns::MAX` where none is.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a load, once a request")]
    pub(crate) fn next(&self) -> Ns {
        self.next
    }

    /// Sets a block off at this time, and at no other.
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

    /// The block is not set off any more.
    pub(crate) fn clear(&mut self, block: BlockId) {
        if let Some(at) = self.times.get_mut(block.index()).and_then(Option::take) {
            self.due.remove(&(at, block));
            self.look();
        }
    }

    /// Takes the first block that is due by now.
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

    /// The clock is set back by so much, and with it every time.
    pub(crate) fn set_back(&mut self, by: Ns) {
        let due = std::mem::take(&mut self.due);
        for (at, block) in due {
            self.set(block, at - by.cast_signed());
        }
        if self.other_due != Ns::MAX {
            self.set_other_due(self.other_due.saturating_sub(by));
        }
    }

    /// When what is no block's is due.
    pub(crate) fn other_due(&self) -> Ns {
        self.other_due
    }

    /// Sets off what is no block's at this time, and at no other; `Ns::MAX` is never.
    pub(crate) fn set_other_due(&mut self, at: Ns) {
        self.other_due = at;
        self.look();
    }

    fn look(&mut self) {
        self.next = self.due.first().map_or(Ns::MAX, |(at, _)| due(*at)).min(self.other_due);
    }
}

/// What was due before time 0 is due at once.
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
