//! Content and counters of every wordline in one record, so that a read touches few cache lines and
//! memory pages.
//!
//! ```text
//! word 0     RC (40 bits)  lower part of s (24)       quarters of a dose unit
//! word 1     b  (48 bits)  upper part of s (16)
//! word 2 ..  the stamp of each page: lpn (32 bits), tag (32), all inverted
//! ```
//!
//! An erased block is all zeros, like new memory, so a new drive's records are written only where
//! something happens. In a block of a computed start, a stamp of zero stands for the data of that
//! start (`begun`). RC, s and b are explained in `doses`, and stamps in `stamps`. No run lasts long
//! enough to overflow the fields.

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::mem::{huge_zeros, prefetch};
use vpass_drive::base::units::{BlockId, Lpn, Ppn};

use crate::begun::Begun;
use crate::stamps::Stamp;

/// Words of a record before its stamps.
const HEADER: usize = 2;
const READ_BITS: u32 = 40;
const BLOCK_BITS: u32 = 48;
const S_LOW_BITS: u32 = 64 - READ_BITS;

/// Place of a flash page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct At {
    pub(crate) block: BlockId,
    /// Number of the wordline over the whole drive.
    pub(crate) wordline: u32,
    /// Number of the wordline within its block.
    pub(crate) index: u32,
    /// Page kind; 0 is LSB.
    pub(crate) kind: u32,
}

impl At {
    #[inline]
    pub(crate) fn new(geometry: &Geometry, ppn: Ppn) -> Self {
        let (block, wordline) = (geometry.block_of(ppn), geometry.wordline_of(ppn));
        let kind = ppn.number() - wordline * geometry.cell.bits();
        Self { block, wordline, index: wordline - geometry.first_wordline(block), kind }
    }
}

/// Counters of a wordline, in quarters of a dose unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counters {
    /// RC: dose read from the wordline since its erase.
    pub(crate) read: u64,
    /// s: RC of its lower neighbour at its program.
    pub(crate) neighbour_before: u64,
    /// b: BLK of its block at its program.
    pub(crate) block_before: u64,
}

/// The records of all wordlines.
#[derive(Debug)]
pub(crate) struct Medium {
    records: Vec<u64>,
    /// Words of a record.
    words: usize,
    wordlines_per_block: usize,
    kinds: u32,
    /// Computed start of the drive, if it has one.
    begun: Option<Box<Begun>>,
}

impl Medium {
    pub(crate) fn new(geometry: &Geometry) -> Self {
        let words = HEADER + geometry.cell.bits() as usize;
        Self {
            records: huge_zeros(geometry.wordlines() as usize * words),
            words,
            wordlines_per_block: geometry.wordlines_per_block as usize,
            kinds: geometry.cell.bits(),
            begun: None,
        }
    }

    /// Returns the size in bytes for a drive of this geometry.
    pub(crate) fn bytes(geometry: &Geometry) -> u64 {
        u64::from(geometry.wordlines())
            * (HEADER as u64 + u64::from(geometry.cell.bits()))
            * size_of::<u64>() as u64
            + Begun::bytes(geometry)
    }

    /// Prefetches the beginning of a wordline's record.
    #[inline]
    pub(crate) fn prefetch(&self, wordline: u32) {
        prefetch(&self.records, wordline as usize * self.words);
    }

    /// Prefetches a page's stamp. This comes after the prefetch of the record's beginning, so the
    /// processor already has the address translation.
    #[inline]
    pub(crate) fn prefetch_stamp(&self, at: At) {
        prefetch(&self.records, at.wordline as usize * self.words + HEADER + at.kind as usize);
    }

    /// Prefetches the counters of a wordline's neighbours at this distance, and all counters of its
    /// own.
    #[inline]
    pub(crate) fn prefetch_around(&self, wordline: u32, stride: u32) {
        let first = wordline as usize * self.words;
        let reach = stride as usize * self.words;
        prefetch(&self.records, first + HEADER - 1);
        if reach != 0 {
            prefetch(&self.records, first.wrapping_sub(reach));
            prefetch(&self.records, first + reach);
        }
    }

    #[inline]
    fn record(&self, wordline: u32) -> &[u64] {
        &self.records[wordline as usize * self.words..][..self.words]
    }

    #[inline]
    fn record_mut(&mut self, wordline: u32) -> &mut [u64] {
        &mut self.records[wordline as usize * self.words..][..self.words]
    }

    /// Returns RC of a wordline.
    #[inline]
    pub(crate) fn read(&self, wordline: u32) -> u64 {
        self.records[wordline as usize * self.words] & low(READ_BITS)
    }

    #[inline]
    pub(crate) fn counters(&self, wordline: u32) -> Counters {
        let record = self.record(wordline);
        Counters {
            read: record[0] & low(READ_BITS),
            neighbour_before: record[0] >> READ_BITS | (record[1] >> BLOCK_BITS) << S_LOW_BITS,
            block_before: record[1] & low(BLOCK_BITS),
        }
    }

    /// Adds this dose to RC of a wordline, and returns the new RC.
    #[inline]
    pub(crate) fn sense(&mut self, wordline: u32, dose: u32) -> u64 {
        let word = &mut self.records[wordline as usize * self.words];
        *word += u64::from(dose);
        *word & low(READ_BITS)
    }

    /// Stores s and b at the program of a wordline's first page.
    pub(crate) fn start(&mut self, wordline: u32, neighbour: u64, block: u64) {
        let record = self.record_mut(wordline);
        record[0] = record[0] & low(READ_BITS) | neighbour << READ_BITS;
        record[1] = block & low(BLOCK_BITS) | (neighbour >> S_LOW_BITS) << BLOCK_BITS;
    }

    #[inline]
    pub(crate) fn stamp(&self, at: At) -> Stamp {
        match self.record(at.wordline)[HEADER + at.kind as usize] {
            0 => self.untouched(at.block, at.index * self.kinds + at.kind),
            word => Stamp::unpack(word),
        }
    }

    /// Returns the stamp of a page and stores it, so that it is not computed again from the start.
    #[inline]
    pub(crate) fn settle(&mut self, at: At) -> Stamp {
        match self.record(at.wordline)[HEADER + at.kind as usize] {
            0 => self.note(at),
            word => Stamp::unpack(word),
        }
    }

    #[cold]
    #[inline(never)]
    fn note(&mut self, at: At) -> Stamp {
        let stamp = self.untouched(at.block, at.index * self.kinds + at.kind);
        self.record_mut(at.wordline)[HEADER + at.kind as usize] = stamp.pack();
        stamp
    }

    /// Returns the stamp of a page that has got none since its block's erase or since the start.
    #[cold]
    #[inline(never)]
    fn untouched(&self, block: BlockId, page: u32) -> Stamp {
        match &self.begun {
            Some(begun) if begun.stands(block) => {
                begun.page_at(block, page).map_or(Stamp::DEAD, Stamp::first)
            }
            _ => Stamp::ERASED,
        }
    }

    pub(crate) fn set_stamp(&mut self, at: At, stamp: Stamp) {
        self.record_mut(at.wordline)[HEADER + at.kind as usize] = stamp.pack();
        if let Some(begun) = &mut self.begun {
            begun.alter(at.block);
        }
    }

    /// Returns the stamps of a wordline's pages.
    pub(crate) fn stamps(&self, wordline: u32) -> impl Iterator<Item = Stamp> {
        let (block, index) = (
            wordline / self.wordlines_per_block as u32,
            wordline % self.wordlines_per_block as u32,
        );
        (0..self.kinds)
            .map(move |kind| self.stamp(At { block: BlockId::new(block), wordline, index, kind }))
    }

    /// Takes the computed start of the drive.
    pub(crate) fn begin(&mut self, begun: Begun) {
        self.begun = Some(Box::new(begun));
    }

    /// Returns the computed start, if the drive began with one.
    pub(crate) fn begun(&self) -> Option<&Begun> {
        self.begun.as_deref()
    }

    pub(crate) fn begun_mut(&mut self) -> Option<&mut Begun> {
        self.begun.as_deref_mut()
    }

    /// Returns whether a block holds the data of a computed start, and nothing else was written or
    /// damaged there since.
    pub(crate) fn is_as_begun(&self, block: BlockId) -> bool {
        self.begun.as_ref().is_some_and(|begun| begun.stands(block) && !begun.is_altered(block))
    }

    /// Returns the owner of the data that the start put into a page; `None` after an erase of its
    /// block.
    pub(crate) fn put_by_start(&self, ppn: Ppn) -> Option<Lpn> {
        let begun = self.begun.as_deref()?;
        let block = BlockId::new(ppn.number() / (self.wordlines_per_block as u32 * self.kinds));
        if begun.stands(block) { begun.page_of(ppn) } else { None }
    }

    pub(crate) fn erase(&mut self, block: BlockId) {
        let block_words = self.wordlines_per_block * self.words;
        self.records[block.index() * block_words..][..block_words].fill(0);
        if let Some(begun) = &mut self.begun {
            begun.erase(block);
        }
    }
}

/// Returns a mask of this number of low bits.
const fn low(bits: u32) -> u64 {
    (1 << bits) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_keeps_its_counters_apart() {
        let mut m = Medium {
            records: vec![0; 15],
            words: 5,
            wordlines_per_block: 3,
            kinds: 3,
            begun: None,
        };
        let large = Counters {
            read: (1 << 40) - 1,
            neighbour_before: (1 << 40) - 3,
            block_before: (1 << 48) - 5,
        };
        m.sense(1, 1);
        m.start(1, large.neighbour_before, large.block_before);
        assert_eq!(m.counters(1), Counters { read: 1, ..large });
        m.records[5] += large.read - 1;
        assert_eq!((m.counters(1), m.read(1)), (large, large.read));
        for other in [0, 2] {
            assert_eq!(
                m.counters(other),
                Counters { read: 0, neighbour_before: 0, block_before: 0 }
            );
        }
        assert!(
            m.stamps(1).all(|stamp| stamp == Stamp::ERASED),
            "a new record is that of an erased wordline"
        );
        m.set_stamp(At { block: BlockId::new(0), wordline: 1, index: 1, kind: 2 }, Stamp::DEAD);
        assert!(
            m.stamps(1).eq([Stamp::ERASED, Stamp::ERASED, Stamp::DEAD]) && m.counters(1) == large
        );
        m.erase(BlockId::new(0));
        assert!(m.records.iter().all(|word| *word == 0));
    }
}
