//! Next block to check: a heap of times. If a block is planned again, its older entries stay in the
//! heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::flow::{Flow, NEVER};
use crate::base::units::{BlockId, Ns};

/// Heap of planned checks. An entry counts if its time equals [`Flow::look`] of its block.
#[derive(Default)]
pub(super) struct Agenda {
    heap: BinaryHeap<Reverse<(Ns, BlockId)>>,
}

/// Number of entries per block, with outdated ones, from which the heap is cleaned.
const MOST_A_BLOCK: usize = 8;

impl Agenda {
    /// Plans the next check of a block.
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

    /// Returns the earliest time at which a block may have to be checked.
    #[inline]
    pub(super) fn next(&self) -> Ns {
        self.heap.peek().map_or(NEVER, |Reverse((at, _))| *at)
    }

    /// Takes a block that must be checked by `now`.
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
