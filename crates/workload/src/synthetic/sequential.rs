//! `sequential`: block after block from the start of the footprint, and again from the start at its
//! end. Reads and writes each have a cursor of their own, as a reader and a writer of two files
//! would.

use vpass_core::base::request::Op;

use super::addresses::{Addresses, SizeClass};
use super::random::Random;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Sequential {
    footprint: u64,
    /// Next byte, by direction.
    cursors: [u64; 2],
    /// Whether blocks differ in size, so that a cursor may stand unaligned.
    mixed: bool,
}

impl Sequential {
    pub(super) fn new(footprint: u64, mixed: bool) -> Self {
        Self { footprint, cursors: [0; 2], mixed }
    }
}

impl Addresses for Sequential {
    #[inline]
    fn offset(&mut self, _random: &mut Random, class: &SizeClass, op: Op) -> u64 {
        let cursor = &mut self.cursors[usize::from(op == Op::Write)];
        let mut at = *cursor;
        if self.mixed {
            at = at.next_multiple_of(class.bytes);
        }
        if at + class.bytes > self.footprint {
            at = 0;
        }
        *cursor = at + class.bytes;
        at
    }
}
