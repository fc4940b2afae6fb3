//! Pages that wait for the rest of their wordline, up to a wordline for each stream.

use crate::base::units::{BlockId, Cause, StreamId};

/// Writer that gathers pages for a wordline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gatherer {
    Stream(StreamId),
    /// Block whose data is written again within the block itself.
    Block(BlockId),
}

/// Largest number of pages of a wordline: QLC has four.
pub(super) const MOST: usize = 4;

/// Page that waits for its wordline.
#[derive(Clone, Copy)]
pub(super) struct Waiting {
    /// Slot of the write buffer.
    pub(super) slot: u32,
    pub(super) cause: Cause,
}

/// Waiting pages of one wordline.
pub(super) struct Gather {
    pub(super) by: Gatherer,
    /// Serial number of this wordline in the timed gear.
    pub(super) serial: u32,
    pub(super) pages: [Waiting; MOST],
    pub(super) len: u32,
}

impl Gather {
    pub(super) fn push(&mut self, page: Waiting) {
        self.pages[self.len as usize] = page;
        self.len += 1;
    }
}

/// Waiting pages of all wordlines; empty if pages are programmed one by one.
pub(crate) struct Gathers {
    pub(super) open: Vec<Gather>,
    pub(super) next_serial: u32,
}

impl Gathers {
    pub(crate) fn new() -> Self {
        Self { open: vec![], next_serial: 0 }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.open.iter().all(|gather| gather.len == 0)
    }

    pub(super) fn of(&mut self, by: Gatherer) -> &mut Gather {
        let at = self.open.iter().position(|gather| gather.by == by).unwrap_or_else(|| {
            self.next_serial = self.next_serial.wrapping_add(1);
            self.open.push(Gather {
                by,
                serial: self.next_serial,
                pages: [Waiting { slot: 0, cause: Cause::Host }; MOST],
                len: 0,
            });
            self.open.len() - 1
        });
        &mut self.open[at]
    }

    pub(super) fn len(&self, by: Gatherer) -> u32 {
        self.open.iter().find(|gather| gather.by == by).map_or(0, |gather| gather.len)
    }

    /// Takes the first waiting pages of a wordline and its serial number in the timed gear. The
    /// pages that are left belong to the next wordline.
    pub(super) fn take(&mut self, by: Gatherer, pages: u32) -> (u32, [Waiting; MOST]) {
        self.next_serial = self.next_serial.wrapping_add(1);
        let next = self.next_serial;
        let gather = self.of(by);
        let taken = gather.pages;
        gather.pages.rotate_left(pages as usize);
        gather.len -= pages;
        let serial = std::mem::replace(&mut gather.serial, next);
        if gather.len == 0 && matches!(by, Gatherer::Block(_)) {
            self.open.retain(|gather| gather.by != by);
        }
        (serial, taken)
    }

    pub(super) fn forget(&mut self, slot: u32) {
        for gather in &mut self.open {
            if let Some(at) =
                gather.pages[..gather.len as usize].iter().position(|page| page.slot == slot)
            {
                gather.pages[at..].rotate_left(1);
                gather.len -= 1;
            }
        }
    }
}
