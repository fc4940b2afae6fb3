//! Write buffer: gathers partial writes of a page and absorbs rewrites, first in first out. A slot
//! keeps the place of the page's older data on flash until that data is no longer needed.

use std::collections::VecDeque;

use crate::base::units::{Lpn, Lpns};
use crate::ftl::map::Entry;
use crate::watch::observer::NO_LPN;

/// Mask of a page that is new as a whole. Each bit stands for a 64th of the page.
pub(crate) const WHOLE: u64 = u64::MAX;

#[derive(Clone, Copy)]
pub(crate) struct Slot {
    pub(crate) lpn: Lpn,
    pub(crate) mask: u64,
    /// Map entry that the buffer hides: a page of flash, or none.
    pub(crate) below: Entry,
    /// Whether the host wrote the page. For pages that wait for their wordline, a mover's copy has
    /// false.
    pub(crate) is_new: bool,
    /// Number of the write request that first wrote the page.
    pub(crate) group: u32,
}

pub(crate) struct WriteBuffer {
    /// Number of the current write request.
    pub(crate) group: u32,
    /// Whether the current request has more pages than the buffer may keep. They then pass on to
    /// flash as soon as possible.
    pub(crate) goes_through: bool,
    slots: Vec<Slot>,
    unused: Vec<u32>,
    order: VecDeque<u32>,
    /// Number of pages at the front of the order that pass on to flash.
    through: usize,
    /// Number of the first slot for pages that wait for their wordline, and the unused slots from
    /// there on.
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

    /// Adds a page that was not in the buffer, and returns its slot. The buffer must not be full.
    pub(crate) fn insert(&mut self, entry: Slot) -> u32 {
        let slot = self.unused.pop().expect("the caller made room");
        self.slots[slot as usize] = entry;
        self.order.push_back(slot);
        slot
    }

    /// Adds a page that waits for its wordline. It takes no space of other pages.
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

    /// Removes a page that waited for its wordline.
    pub(crate) fn unstage(&mut self, slot: u32) -> Slot {
        self.unused_staged.push(slot);
        self.slots[slot as usize]
    }

    /// Returns the oldest page.
    pub(crate) fn oldest(&self) -> Option<&Slot> {
        self.nth(0)
    }

    /// Returns the page after the `n` oldest pages.
    pub(crate) fn nth(&self, n: usize) -> Option<&Slot> {
        self.order.get(n).map(|s| &self.slots[*s as usize])
    }

    /// Removes and returns the oldest page.
    #[inline]
    pub(crate) fn evict(&mut self) -> Option<Slot> {
        let slot = self.order.pop_front()?;
        self.through = self.through.saturating_sub(1);
        self.unused.push(slot);
        Some(self.slots[slot as usize])
    }

    /// Removes a trimmed page.
    pub(crate) fn discard(&mut self, slot: u32) {
        let at =
            self.order.iter().position(|s| *s == slot).expect("a buffered page is in the order");
        self.order.remove(at);
        self.through -= usize::from(at < self.through);
        self.unused.push(slot);
    }

    /// Returns whether a page is the last in the order now.
    pub(crate) fn is_newest(&self, slot: u32) -> bool {
        self.order.back() == Some(&slot)
    }

    /// Returns the number of pages that pass on to flash.
    pub(crate) fn through(&self) -> usize {
        self.through
    }

    /// Makes a page that was just written pass on to flash. It comes after earlier pages that pass
    /// on, and before all other pages.
    pub(crate) fn pass(&mut self, slot: u32) {
        let at =
            self.order.iter().position(|s| *s == slot).expect("a buffered page is in the order");
        if at >= self.through {
            self.order.remove(at);
            self.order.insert(self.through, slot);
            self.through += 1;
        }
    }

    /// Moves these pages to the end of the order, together, except those that pass on to flash.
    pub(crate) fn keep_longest(&mut self, pages: &Lpns) {
        let staying = self.order.split_off(self.through);
        let (last, first): (Vec<u32>, Vec<u32>) =
            staying.into_iter().partition(|slot| pages.contains(self.slots[*slot as usize].lpn));
        self.order.extend(first.into_iter().chain(last));
    }
}
