//! The write buffer: gathers partial writes of a page and absorbs rewrites, first in first out.
//! A slot remembers where the page's older data lies on flash until that is no longer needed.

use std::collections::VecDeque;

use crate::base::units::{Lpn, Lpns};
use crate::ftl::map::Entry;
use crate::watch::observer::NO_LPN;

/// Which parts of a page are new: a bit per 64th of the page.
pub(crate) const WHOLE: u64 = u64::MAX;

#[derive(Clone, Copy)]
pub(crate) struct Slot {
    pub(crate) lpn: Lpn,
    pub(crate) mask: u64,
    /// The map entry that the buffer hides: a page of flash, or none.
    pub(crate) below: Entry,
    /// Of a page that waits for its wordline: the host wrote it, and it is no mover's copy, or no
    /// longer.
    pub(crate) is_new: bool,
    /// The write request that it came with first.
    pub(crate) group: u32,
}

pub(crate) struct WriteBuffer {
    /// The write request that pages come with now.
    pub(crate) group: u32,
    /// Whether they are too many to be kept: they go through.
    pub(crate) goes_through: bool,
    slots: Vec<Slot>,
    unused: Vec<u32>,
    order: VecDeque<u32>,
    /// So many at the front of the order go through.
    through: usize,
    /// Slots from this one on are for pages that wait for their wordline; unused ones of them.
    first_staged: u32,
    unused_staged: Vec<u32>,
}

impl WriteBuffer {
    pub(crate) fn new(slots: u32) -> Self {
        Self {
            group: 0,
            goes_through: false,
            slots: vec![
                Slot {
                    lpn: NO_LPN,
                    mask: 0,
                    below: Entry::UNMAPPED,
                    is_new: false,
                    group: 0
                };
                slots as usize
            ],
            unused: (0..slots).rev().collect(),
            order: VecDeque::with_capacity(slots as usize),
            through: 0,
            first_staged: slots,
            unused_staged: vec![],
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.unused.is_empty()
    }

    pub(crate) fn slot(&self, slot: u32) -> &Slot {
        &self.slots[slot as usize]
    }

    pub(crate) fn slot_mut(&mut self, slot: u32) -> &mut Slot {
        &mut self.slots[slot as usize]
    }

    /// Takes in a page that was not in the buffer, which must not be full; gives its slot.
    pub(crate) fn insert(&mut self, entry: Slot) -> u32 {
        let slot = self.unused.pop().expect("the caller made room");
        self.slots[slot as usize] = entry;
        self.order.push_back(slot);
        slot
    }

    /// Takes in a page that waits for its wordline; it is in nobody's way.
    pub(crate) fn stage(&mut self, entry: Slot) -> u32 {
        let slot = self.unused_staged.pop().unwrap_or(self.slots.len() as u32);
        if slot as usize == self.slots.len() {
            self.slots.push(entry);
        }
        self.slots[slot as usize] = entry;
        slot
    }

    pub(crate) fn is_staged(&self, slot: u32) -> bool {
        slot >= self.first_staged
    }

    /// The page waits no longer.
    pub(crate) fn unstage(&mut self, slot: u32) -> Slot {
        self.unused_staged.push(slot);
        self.slots[slot as usize]
    }

    /// The page that came first.
    pub(crate) fn oldest(&self) -> Option<&Slot> {
        self.nth(0)
    }

    /// The page that so many others came before.
    pub(crate) fn nth(&self, n: usize) -> Option<&Slot> {
        self.order.get(n).map(|s| &self.slots[*s as usize])
    }

    /// The page that came first, out of the buffer.
    #[inline]
    pub(crate) fn evict(&mut self) -> Option<Slot> {
        let slot = self.order.pop_front()?;
        self.through = self.through.saturating_sub(1);
        self.unused.push(slot);
        Some(self.slots[slot as usize])
    }

    /// Forgets a page (trimmed).
    pub(crate) fn discard(&mut self, slot: u32) {
        let at =
            self.order.iter().position(|s| *s == slot).expect("a buffered page is in the order");
        self.order.remove(at);
        self.through -= usize::from(at < self.through);
        self.unused.push(slot);
    }

    /// Whether a page leaves last, as things stand.
    pub(crate) fn is_newest(&self, slot: u32) -> bool {
        self.order.back() == Some(&slot)
    }

    /// Pages that go through.
    pub(crate) fn through(&self) -> usize {
        self.through
    }

    /// A page that came just now, or again, goes through: behind others that do, and before all
    /// that stay.
    pub(crate) fn pass(&mut self, slot: u32) {
        let at =
            self.order.iter().position(|s| *s == slot).expect("a buffered page is in the order");
        if at >= self.through {
            self.order.remove(at);
            self.order.insert(self.through, slot);
            self.through += 1;
        }
    }

    /// These pages, as far as they are there and stay, leave last from now on, and together.
    pub(crate) fn keep_longest(&mut self, pages: &Lpns) {
        let staying = self.order.split_off(self.through);
        let (last, first): (Vec<u32>, Vec<u32>) =
            staying.into_iter().partition(|slot| pages.contains(self.slots[*slot as usize].lpn));
        self.order.extend(first.into_iter().chain(last));
    }
}
