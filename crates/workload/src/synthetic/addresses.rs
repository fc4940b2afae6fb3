//! Parts that all generators of addresses share, and the generators `uniform` and `sequential`. The
//! footprint, which is the used part of the drive, is cut into aligned blocks. Generators with
//! popularity ranks also cut the footprint into runs of blocks.

use vpass_drive::base::request::{Op, Request};

use super::random::{Random, below};

/// Size of requests. The footprint is cut into blocks of this size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SizeClass {
    pub(super) bytes: u64,
    /// Number of whole aligned blocks of this size in the footprint.
    pub(super) blocks: u64,
    /// Number of whole aligned blocks of this size in a run.
    pub(super) per_run: u64,
}

impl SizeClass {
    /// Returns the byte offset of a random block within the run that begins at `first_byte`.
    #[inline]
    pub(super) fn within_run(&self, random: &mut Random, first_byte: u64) -> u64 {
        if self.per_run == 1 {
            first_byte
        } else {
            first_byte + below(random, self.per_run) * self.bytes
        }
    }
}

/// Generator of request addresses.
pub(super) trait Addresses: Send {
    /// Returns the byte offset of the next request, which has the given direction and size.
    fn offset(&mut self, random: &mut Random, class: &SizeClass, op: Op) -> u64;

    /// Returns the number of bytes that the generator's tables occupy in memory.
    fn memory(&self) -> u64 {
        0
    }

    /// Sets the offset of each request of `batch`. If `only` is given, only requests of this
    /// direction get an offset. The loop is compiled once for each generator. The common case of
    /// one size and one distribution needs no look-up.
    fn fill(
        &mut self,
        random: &mut Random,
        classes: &[SizeClass],
        batch: &mut [Request],
        only: Option<Op>,
    ) {
        let mut random_here = random.clone();
        if let ([class], None) = (classes, only) {
            for request in batch {
                request.offset = self.offset(&mut random_here, class, request.op);
            }
        } else {
            for request in batch.iter_mut().filter(|r| only.is_none_or(|op| r.op == op)) {
                let class = classes
                    .iter()
                    .find(|c| c.bytes == u64::from(request.bytes))
                    .expect("each block size has its own class");
                request.offset = self.offset(&mut random_here, class, request.op);
            }
        }
        *random = random_here;
    }
}

/// Generator of uniformly distributed addresses: every aligned block of the footprint has the same
/// chance.
#[derive(Clone, Debug)]
pub(super) struct Uniform;

impl Addresses for Uniform {
    #[inline]
    fn offset(&mut self, random: &mut Random, class: &SizeClass, _op: Op) -> u64 {
        below(random, class.blocks) * class.bytes
    }
}

/// Generator of sequential addresses: one block after the other, from the start of the footprint to
/// its end, and again from the start. Reads and writes have separate cursors, as if one file is
/// read while another file is written.
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
