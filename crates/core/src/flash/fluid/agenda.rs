//! Which block to look at next: a heap of times in which a block that was planned anew leaves its
//! older entries behind.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::flow::{Flow, NEVER};
use crate::base::units::{BlockId, Ns};

/// An entry counts if its time is that of its block's [`Flow::look`].
#[derive(Default)]
pub(super) struct Agenda {
    heap: BinaryHeap<Reverse<(Ns, BlockId)>>,
}

/// Entries a block, with those left behind, from which on the heap is cleared up.
const MOST_A_BLOCK: usize = 8;

impl Agenda {
    /// Plans the next look at a block.
    pub(super) fn plan(&mut self, flows: &mut [Flow], block: BlockId, at: Ns) {
        let flow = &mut flows[block.index()];
        if flow.look == at {
            return;
        }
        flow.look = at;
        if at == NEVER {
            return;
        }
        self.heap.push(Reverse((at, block)));
        if self.heap.len() > MOST_A_BLOCK * flows.len() + 64 {
            self.heap.retain(|Reverse((at, block))| flows[block.index()].look == *at);
        }
    }

    /// The first time at which there may be something to look at.
    #[inline]
    pub(super) fn next(&self) -> Ns {
        self.heap.peek().map_or(NEVER, |Reverse((at, _))| *at)
    }

    /// Takes the block to look at by `now`.
    pub(super) fn take(&mut self, flows: &mut [Flow], now: Ns) -> Option<BlockId> {
        while self.next() <= now {
            let Reverse((at, block)) = self.heap.pop()?;
            if flows[block.index()].look == at {
                flows[block.index()].look = NEVER;
                return Some(block);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_taken_at_its_last_plan_only() {
        let mut flows = vec![Flow::STILL; 3];
        let mut agenda = Agenda::default();
        for (block, at) in [(0, 50), (1, 40), (2, 10), (1, 60), (2, NEVER)] {
            agenda.plan(&mut flows, BlockId::new(block), at);
        }
        assert_eq!(agenda.take(&mut flows, 55), Some(BlockId::new(0)));
        assert_eq!(agenda.take(&mut flows, 55), None);
        assert_eq!(agenda.next(), 60);
        agenda.plan(&mut flows, BlockId::new(0), 50);
        assert_eq!(
            agenda.take(&mut flows, 55),
            Some(BlockId::new(0)),
            "planned anew for the time at which it was taken"
        );
        (0..1000).for_each(|at| agenda.plan(&mut flows, BlockId::new(0), 1000 - at));
        assert!(agenda.heap.len() < 100, "what is left behind is cleared up");
        assert_eq!(
            (agenda.take(&mut flows, 2000), agenda.take(&mut flows, 2000)),
            (Some(BlockId::new(0)), Some(BlockId::new(1)))
        );
    }
}
