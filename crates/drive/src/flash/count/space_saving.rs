//! Space-Saving counters (Metwally et al., ICDT 2005). They have the most-read wordlines of each
//! block, with upper and lower bounds of their reads. A sensing costs one search and one addition.
//!
//! ```text
//! hit     count += w
//! miss    an entry of the lowest count becomes the wordline's: error = count, count += w
//!
//! reads of a wordline <= count and >= count - error; of one without an entry <= min, the lowest count
//! the counts of a block add up to its reads, so min <= reads / entries; neither a count nor min ever falls before the erase
//! ```
//!
//! All counts are in quarters of a dose unit. Some techniques count from a wordline's own
//! programming. For them, the counters also keep the block's dose at the first write of each
//! [`SEGMENTS`]th of its wordlines.

use std::cmp::Reverse;
use std::collections::VecDeque;

use crate::base::dose::Quarters;
use crate::base::mem::{equal_keys, huge_vec, prefetch};
use crate::base::units::{BlockId, WordlineInBlock};

/// Number of parts of a block for which the dose at the first programming is kept.
pub(crate) const SEGMENTS: usize = 8;
/// Number of entries of a bank. Their keys fill a cache line.
const BANK: usize = 32;
/// Key of an entry that counts nothing yet. Blocks have fewer wordlines.
const NONE: u16 = u16::MAX;

/// Bounds of the reads of one wordline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// Upper bound.
    pub count: Quarters,
    /// Difference between the upper and the lower bound.
    pub error: Quarters,
}

/// Some entries of a block and the wordlines that they count, close together in memory. A read uses
/// one page of memory.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Bank {
    keys: [u16; BANK],
    entries: [Entry; BANK],
}

impl Bank {
    /// Creates a bank with this number of entries. Entries beyond it never have the lowest count.
    fn empty(entries: usize) -> Self {
        let count = |n| if n < entries { Quarters::ZERO } else { Quarters::MAX };
        Self {
            keys: [NONE; BANK],
            entries: std::array::from_fn(|n| Entry { count: count(n), error: Quarters::ZERO }),
        }
    }

    /// Returns the entries with this count: bit n for entry n.
    fn entries_of(&self, count: Quarters) -> u32 {
        self.entries
            .iter()
            .enumerate()
            .fold(0, |bits, (n, entry)| bits | u32::from(entry.count == count) << n)
    }
}

/// Entries that the next misses take: entries of a bank that count `min`, and then those of the
/// following banks. No entry counts less.
#[derive(Clone, Copy)]
struct Lowest {
    min: Quarters,
    /// Entries of the bank. Bit n stands for entry n.
    entries: u32,
    bank: u16,
    /// Key that a hit writes. It is already in the bank. Otherwise, comparing the bank's keys would
    /// wait for a store to them.
    key_of_hit: u16,
}

/// Counters of all blocks; empty if no technique wants them.
#[derive(Default)]
pub(crate) struct SpaceSaving {
    entries_per_block: usize,
    banks_per_block: usize,
    wordlines_per_segment: u32,
    banks: Vec<Bank>,
    /// Data apart from the banks. It takes a sixth of a cache line per block, so that more blocks
    /// stay in the cache.
    lowest: Vec<Lowest>,
    begun_at: Vec<[Quarters; SEGMENTS]>,
}

impl SpaceSaving {
    /// Creates counters for these numbers of blocks, of wordlines per block (below 65,535), and of
    /// entries per block.
    pub(crate) fn new(blocks: u32, wordlines_per_block: u32, entries: u32) -> Self {
        assert!(
            entries > 0 && wordlines_per_block < u32::from(NONE),
            "{entries} entries for {wordlines_per_block} wordlines"
        );
        let (blocks, entries) = (blocks as usize, entries as usize);
        let banks = entries.div_ceil(BANK);
        let mut counters = Self {
            entries_per_block: entries,
            banks_per_block: banks,
            wordlines_per_segment: wordlines_per_block.div_ceil(SEGMENTS as u32),
            banks: huge_vec(blocks * banks, Bank::empty(BANK)),
            lowest: vec![],
            begun_at: vec![[Quarters::ZERO; SEGMENTS]; blocks],
        };
        for last in counters.banks.chunks_mut(banks).map(|of_block| &mut of_block[banks - 1]) {
            *last = Bank::empty(entries - (banks - 1) * BANK);
        }
        counters.lowest = vec![Lowest::first(&counters.banks[..banks]); blocks];
        counters
    }

    /// Returns the number of bytes of the counters.
    pub(crate) fn bytes(blocks: u32, entries: u32) -> u64 {
        let of_block = entries.div_ceil(BANK as u32) as usize * size_of::<Bank>()
            + size_of::<Lowest>()
            + size_of::<[Quarters; SEGMENTS]>();
        u64::from(blocks) * of_block as u64
    }

    /// Returns whether anything is counted.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        !self.banks.is_empty()
    }

    /// Prefetches the memory that locates the count of a block's read.
    #[inline]
    pub(crate) fn prefetch(&self, block: BlockId) {
        prefetch(&self.banks, block.index() * self.banks_per_block);
        prefetch(&self.lowest, block.index());
    }

    /// Prefetches the entry that the next miss of this block takes, once it is known.
    #[inline]
    pub(crate) fn prefetch_entry(&self, block: BlockId) {
        let lowest = &self.lowest[block.index()];
        if let Some(bank) =
            self.banks.get(block.index() * self.banks_per_block + lowest.bank as usize)
        {
            prefetch(&bank.entries, lowest.entries.trailing_zeros() as usize);
        }
    }

    /// Counts a sensing of a wordline. Its dose is above 0.
    ///
    /// It cannot be predicted whether the wordline has an entry. So both cases use the same code,
    /// except for the error.
    #[inline]
    pub(crate) fn count(&mut self, block: BlockId, wordline: WordlineInBlock, dose: Quarters) {
        let banks = &mut self.banks[block.index() * self.banks_per_block..][..self.banks_per_block];
        let lowest = &mut self.lowest[block.index()];
        let key = wordline.number() as u16;
        let (mut at, mut equal) = (lowest.bank as usize, 0);
        for (n, bank) in banks.iter().enumerate() {
            let here = equal_keys(&bank.keys, key);
            at = if here == 0 { at } else { n };
            equal |= here;
        }
        if equal | lowest.entries == 0 {
            *lowest = lowest.next(banks);
            at = lowest.bank as usize;
        }
        let place =
            (if equal == 0 { lowest.entries } else { equal }).trailing_zeros() % BANK as u32;
        // The counted entry now counts more than the lowest.
        lowest.entries &= !(u32::from(at == lowest.bank as usize) << place);
        let bank = &mut banks[at];
        let entry = &mut bank.entries[place as usize];
        entry.error = if equal == 0 { entry.count } else { entry.error };
        entry.count += dose;
        *(if equal == 0 { &mut bank.keys[place as usize] } else { &mut lowest.key_of_hit }) = key;
    }

    /// Counts the reads whose result does not depend on their order: doses of wordlines whose
    /// entries no miss can take. These doses are then 0, and the other doses must be counted one by
    /// one.
    ///
    /// Consider some entries set aside. Reads of other wordlines go to the other entries, and the
    /// lowest of these never counts more than their mean. An entry that was set aside and finally
    /// counts more than that mean is never the lowest. So all reads of its wordline hit.
    pub(crate) fn settle(&mut self, block: BlockId, doses: &mut [Quarters]) {
        let of_block = &self.banks[block.index() * self.banks_per_block..][..self.banks_per_block];
        let both = of_block.iter().flat_map(|bank| bank.entries.iter().zip(bank.keys));
        let mut entries: Vec<(u64, usize)> = both
            .take(self.entries_per_block)
            .map(|(entry, key)| (entry.count.count().into(), key.into()))
            .collect();
        entries.sort_unstable_by_key(|(count, _)| Reverse(*count));
        let read_of = |key: usize| doses.get(key).map_or(0, |dose| u64::from(dose.count()));
        let read: u64 = doses.iter().map(|dose| u64::from(dose.count())).sum();
        let (mut counted, mut elsewhere): (u64, u64) =
            (entries.iter().map(|(count, _)| count).sum(), read);
        let mut settled = 0;
        for (n, (count, key)) in (1..).zip(&entries) {
            (counted, elsewhere) = (counted - count, elsewhere - read_of(*key));
            let others = (entries.len() - n) as u64;
            if elsewhere == 0 || count * others > counted + elsewhere {
                settled = n;
            }
        }
        for (_, key) in &entries[..settled] {
            let dose = doses.get_mut(*key).map_or(Quarters::ZERO, std::mem::take);
            if dose > Quarters::ZERO {
                self.count(block, WordlineInBlock::from_index(*key), dose);
            }
        }
    }

    /// Has the effect of [`Self::count`] for the wordlines of a block in order, each once with its
    /// dose. The block must have counted nothing, and doses other than 0 must have at most two
    /// sizes. A miss takes the first entry with the lowest count. With two sizes, this is the head
    /// of one of two queues, because each queue is filled in this order.
    pub(crate) fn count_each(&mut self, block: BlockId, doses: &[Quarters]) {
        let banks = &mut self.banks[block.index() * self.banks_per_block..][..self.banks_per_block];
        assert!(banks[0].keys[0] == NONE, "block {block} has counted before");
        let smaller =
            doses.iter().copied().filter(|dose| *dose > Quarters::ZERO).min().unwrap_or_default();
        let larger = doses.iter().copied().max().unwrap_or_default();
        let mut queues = [
            (0..self.entries_per_block).map(|place| (Quarters::ZERO, place)).collect(),
            VecDeque::with_capacity(self.entries_per_block),
        ];
        let mut last = (Quarters::ZERO, 0);
        for (wordline, dose) in (0..).zip(doses).filter(|(_, dose)| **dose > Quarters::ZERO) {
            debug_assert!([smaller, larger].contains(dose), "doses of two sizes");
            let heads =
                queues.each_ref().map(|queue| queue.front().copied().unwrap_or((Quarters::MAX, 0)));
            let (count, place) =
                queues[usize::from(heads[1] < heads[0])].pop_front().expect("there are entries");
            queues[usize::from(*dose != smaller)].push_back((count + *dose, place));
            let bank = &mut banks[place / BANK];
            bank.keys[place % BANK] = wordline;
            bank.entries[place % BANK] = Entry { count: count + *dose, error: count };
            last = (count, place / BANK);
        }
        // The next miss first checks the place of the last miss.
        let (min, bank) = last;
        self.lowest[block.index()] = Lowest {
            min,
            bank: bank as u16,
            entries: banks[bank].entries_of(min),
            key_of_hit: NONE,
        };
    }

    /// Begins the first programming of a wordline. The part `spared` of the block's dose before it
    /// does not count.
    pub(crate) fn begin_wordline(
        &mut self,
        block: BlockId,
        wordline: WordlineInBlock,
        spared: Quarters,
    ) {
        if wordline.number().is_multiple_of(self.wordlines_per_segment) {
            self.begun_at[block.index()]
                [(wordline.number() / self.wordlines_per_segment) as usize] = spared;
        }
    }

    /// Clears the counters of an erased block.
    pub(crate) fn reset(&mut self, block: BlockId) {
        let block = block.index();
        let banks = &mut self.banks[block * self.banks_per_block..][..self.banks_per_block];
        for (n, bank) in banks.iter_mut().enumerate() {
            *bank = Bank::empty((self.entries_per_block - n * BANK).min(BANK));
        }
        self.lowest[block] = Lowest::first(banks);
        self.begun_at[block] = [Quarters::ZERO; SEGMENTS];
    }

    /// Returns the counters of a block.
    pub(crate) fn of(&self, block: BlockId) -> Tracked<'_> {
        let block = block.index();
        Tracked {
            banks: &self.banks[block * self.banks_per_block..][..self.banks_per_block],
            entries: self.entries_per_block,
            begun_at: &self.begun_at[block],
            wordlines_per_segment: self.wordlines_per_segment as usize,
        }
    }
}

impl Lowest {
    /// Returns the place of the very first miss, and of the first miss after `min` has risen.
    fn first(banks: &[Bank]) -> Self {
        let min = lowest_count(banks);
        Self::among(banks, 0, min).expect("an entry counts the least")
    }

    /// Goes from a bank without entries at the lowest count to the next bank. Counts only rise, so
    /// the next bank lies behind. If there is none, `min` has risen. Each rise takes one pass over
    /// the banks.
    #[cold]
    fn next(self, banks: &[Bank]) -> Self {
        Self::among(banks, self.bank as usize + 1, self.min).unwrap_or_else(|| Self::first(banks))
    }

    /// Returns the first bank from `from` on with entries that count `min`.
    fn among(banks: &[Bank], from: usize, min: Quarters) -> Option<Self> {
        let mut of_banks = (from..banks.len()).map(|n| Self {
            min,
            bank: n as u16,
            entries: banks[n].entries_of(min),
            key_of_hit: NONE,
        });
        of_banks.find(|lowest| lowest.entries != 0)
    }
}

fn lowest_count(banks: &[Bank]) -> Quarters {
    banks.iter().flat_map(|bank| &bank.entries).fold(Quarters::MAX, |min, e| min.min(e.count))
}

/// Counters of one block.
pub struct Tracked<'a> {
    banks: &'a [Bank],
    entries: usize,
    begun_at: &'a [Quarters; SEGMENTS],
    wordlines_per_segment: usize,
}

impl Tracked<'_> {
    /// Returns the number of entries, including empty ones.
    pub fn capacity(&self) -> usize {
        self.entries
    }

    /// Returns the lowest count, which is the upper bound for a wordline without an entry.
    pub fn min(&self) -> Quarters {
        lowest_count(self.banks)
    }

    /// Returns the wordlines that have an entry.
    pub fn entries(&self) -> impl Iterator<Item = (usize, Entry)> {
        let all = self.banks.iter().flat_map(|bank| bank.keys.iter().zip(&bank.entries));
        all.filter(|(key, _)| **key != NONE).map(|(key, entry)| (usize::from(*key), *entry))
    }

    /// Returns the uncounted part of the block's dose at the first write of each segment, and the
    /// number of wordlines of a segment.
    pub fn begun_at(&self) -> (&[Quarters; SEGMENTS], usize) {
        (self.begun_at, self.wordlines_per_segment)
    }
}

#[cfg(test)]
mod tests;
