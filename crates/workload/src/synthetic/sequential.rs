//! Makes the addresses of `sequential`: one block after the other, from the start of the footprint
//! to its end, and again from the start.
//!
//! Reads and writes have separate cursors, as if one file is read while another file is written.

use vpass_drive::base::request::Op;

use super::addresses::{Addresses, SizeClass};
use super::random::Random;

/// Generator of sequential addresses.
#[derive(Clone, Debug)]
pub(super) struct Sequential {
    footprint: u64,
    /// Byte offset of the next read, and byte offset of the next write.
    cursors: [u64; 2],
    /// Whether requests have different sizes. If so, a cursor may be unaligned.
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
