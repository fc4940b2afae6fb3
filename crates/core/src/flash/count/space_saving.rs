//! Space-Saving counters (Metwally et al., ICDT 2005): of each block the few wordlines that were
//! read most, and how often at most and at least. One search and one addition per sensing.
//!
//! ```text
//! hit     count += w
//! miss    an entry of the lowest count becomes the wordline's: error = count, count += w
//!
//! reads of a wordline <= count and >= count - error; of one without an entry <= min, the lowest count
//! the counts of a block add up to its reads, so min <= reads / entries; neither a count nor min ever falls before the erase
//! ```
//!
//! All counts are in quarters of a dose unit. For those who count from a wordline's own
//! programming, the block's dose when each [`SEGMENTS`]th of its wordlines began to be written is
//! kept too.

use std::cmp::Reverse;
use std::collections::VecDeque;

use crate::base::dose::Quarters;
use crate::base::mem::{equal_keys, huge_vec, prefetch};
use crate::base::units::{BlockId, WordlineInBlock};
use crate::bugs::{Bug, Bugs, planted};

/// Parts of a block whose first programming is remembered.
pub(crate) const SEGMENTS: usize = 8;
/// Entries of a bank: their keys fill a cache line.
const BANK: usize = 32;
/// The key of an entry that counts nothing yet; blocks have fewer wordlines.
const NONE: u16 = u16::MAX;

/// What is known of one wordline's reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    /// At most this.
    pub(crate) count: Quarters,
    /// At least `count` less this.
    pub(crate) error: Quarters,
}

/// Some entries of a block and the wordlines that they count, close together: a read touches one
/// page of memory.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Bank {
    keys: [u16; BANK],
    entries: [Entry; BANK],
}

impl Bank {
    /// A bank of so many entries. What is beyond them is never the lowest.
    fn empty(entries: usize) -> Self {
        let count = |n| if n < entries { Quarters::ZERO } else { Quarters::MAX };
        Self {
            keys: [NONE; BANK],
            entries: std::array::from_fn(|n| Entry { count: count(n), error: Quarters::ZERO }),
        }
    }

    /// Which entries count just this: bit n for entry n.
    fn entries_of(&self, count: Quarters) -> u32 {
        self.entries
            .iter()
            .enumerate()
            .fold(0, |bits, (n, entry)| bits | u32::from(entry.count == count) << n)
    }
}

/// Where misses go: to the entries of a bank that count `min`, then to those of the banks behind
/// it. No entry counts less.
#[derive(Clone, Copy)]
struct Lowest {
    min: Quarters,
    /// Bit n for entry n of the bank.
    entries: u32,
    bank: u16,
    /// Where a hit puts its key, which stands in the bank already: comparing the bank's keys would
    /// wait for a store to them.
    key_of_hit: u16,
}

/// The counters of all blocks; of none where nobody wants them.
#[derive(Default)]
pub(crate) struct SpaceSaving {
    entries_per_block: usize,
    banks_per_block: usize,
    wordlines_per_segment: u32,
    banks: Vec<Bank>,
    /// Apart from the banks: a sixth of a cache line each, so that more of them stay in the cache.
    lowest: Vec<Lowest>,
    begun_at: Vec<[Quarters; SEGMENTS]>,
    /// A bug of the drive that it belongs to.
    pub(crate) bugs: Bugs,
}

impl SpaceSaving {
    /// Counters for so many blocks of so many wordlines (below 65,535), so many entries each.
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
            bugs: Bugs::default(),
        };
        for last in counters.banks.chunks_mut(banks).map(|of_block| &mut of_block[banks - 1]) {
            *last = Bank::empty(entries - (banks - 1) * BANK);
        }
        counters.lowest = vec![Lowest::first(&counters.banks[..banks]); blocks];
        counters
    }

    /// Memory that the counters of so many blocks take.
    pub(crate) fn bytes(blocks: u32, entries: u32) -> u64 {
        let of_block = entries.div_ceil(BANK as u32) as usize * size_of::<Bank>()
            + size_of::<Lowest>()
            + size_of::<[Quarters; SEGMENTS]>();
        u64::from(blocks) * of_block as u64
    }

    /// Whether anything is counted.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        !self.banks.is_empty()
    }

    /// Asks the processor for what tells where a read of this block is counted.
    #[inline]
    pub(crate) fn prefetch(&self, block: BlockId) {
        prefetch(&self.banks, block.index() * self.banks_per_block);
        prefetch(&self.lowest, block.index());
    }

    /// Asks for the entry that the next miss of this block takes, once that is known.
    #[inline]
    pub(crate) fn prefetch_entry(&self, block: BlockId) {
        let lowest = &self.lowest[block.index()];
        if let Some(bank) =
            self.banks.get(block.index() * self.banks_per_block + lowest.bank as usize)
        {
            prefetch(&bank.entries, lowest.entries.trailing_zeros() as usize);
        }
    }

    /// Counts a sensing of a wordline, numbered within its block; its dose is above 0.
    ///
    /// Nothing foretells whether it has an entry, so both ways are one, but for the error.
    #[inline]
    pub(crate) fn count(&mut self, block: BlockId, wordline: WordlineInBlock, dose: Quarters) {
        let banks = &mut self.banks[block.index() * self.banks_per_block..][..self.banks_per_block];
        let lowest = &mut self.lowest[block.index()];
        let key = if planted(Bug::KeyCutOff) { wordline.number() & 255 } else { wordline.number() }
            as u16;
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
        // What is counted counts more than the lowest now.
        lowest.entries &= !(u32::from(at == lowest.bank as usize) << place);
        let bank = &mut banks[at];
        let entry = &mut bank.entries[place as usize];
        entry.error = if equal == 0 { entry.count } else { entry.error };
        entry.count += dose;
        *(if equal == 0 { &mut bank.keys[place as usize] } else { &mut lowest.key_of_hit }) = key;
    }

    /// Counts of reads in any order what every order comes to: the doses of wordlines whose entries
    /// no miss can take, which are 0 then. The others are to be counted one by one.
    ///
    /// Put some entries aside. What is read elsewhere goes to the others, and the lowest of these
    /// never counts more than they do in the mean. So whoever was put aside and counts more than
    /// that mean at the end is never the lowest of all, and its reads all hit.
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

    /// What [`Self::count`] comes to for the wordlines of a block in order, each once with its
    /// dose; for a block that has counted nothing, and doses of two sizes at most, those of 0
    /// apart. What misses takes the lowest count, of these the first in place: with two sizes that
    /// is the head of one of two queues, as each is filled in just this order.
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
        // Where the last miss went, the next one looks first.
        let (min, bank) = last;
        self.lowest[block.index()] = Lowest {
            min,
            bank: bank as u16,
            entries: banks[bank].entries_of(min),
            key_of_hit: NONE,
        };
    }

    /// The first page of a wordline is about to be programmed, and what came before does not count:
    /// `spared` of the block's dose.
    pub(crate) fn begin_wordline(
        &mut self,
        block: BlockId,
        wordline: WordlineInBlock,
        spared: Quarters,
    ) {
        if wordline.number().is_multiple_of(self.wordlines_per_segment)
            || self.bugs.has(Bug::SegmentsBeginLate)
        {
            self.begun_at[block.index()]
                [(wordline.number() / self.wordlines_per_segment) as usize] = spared;
        }
    }

    /// Forgets a block that is erased.
    pub(crate) fn reset(&mut self, block: BlockId) {
        let block = block.index();
        let banks = &mut self.banks[block * self.banks_per_block..][..self.banks_per_block];
        for (n, bank) in banks.iter_mut().enumerate() {
            *bank = Bank::empty((self.entries_per_block - n * BANK).min(BANK));
        }
        self.lowest[block] = Lowest::first(banks);
        self.begun_at[block] = [Quarters::ZERO; SEGMENTS];
    }

    /// What is known of a block.
    pub(crate) fn of(&self, block: BlockId) -> Tracked<'_> {
        let block = block.index();
        Tracked {
            banks: &self.banks[block * self.banks_per_block..][..self.banks_per_block],
            entries: self.entries_per_block,
            begun_at: &self.begun_at[block],
            bugs: self.bugs,
            wordlines_per_segment: self.wordlines_per_segment as usize,
        }
    }
}

impl Lowest {
    /// Where the first miss of all goes, and the first after `min` rose.
    fn first(banks: &[Bank]) -> Self {
        let min = lowest_count(banks);
        Self::among(banks, 0, min).expect("an entry counts the least")
    }

    /// From a bank without such entries to the next. Counts only rise, so it lies behind, and where
    /// there is none `min` has risen: a turn around the banks for each rise.
    #[cold]
    fn next(self, banks: &[Bank]) -> Self {
        Self::among(banks, self.bank as usize + 1, self.min).unwrap_or_else(|| Self::first(banks))
    }

    /// The first of the banks from `from` on with entries that count `min`.
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

/// What the counters know of one block.
pub(crate) struct Tracked<'a> {
    banks: &'a [Bank],
    entries: usize,
    begun_at: &'a [Quarters; SEGMENTS],
    wordlines_per_segment: usize,
    bugs: Bugs,
}

impl Tracked<'_> {
    /// How many entries there are, empty ones counted.
    pub(crate) fn len(&self) -> usize {
        self.entries
    }

    /// The lowest count: what a wordline without an entry was read at most.
    pub(crate) fn min(&self) -> Quarters {
        lowest_count(self.banks)
    }

    /// Wordlines, numbered within the block, that have an entry.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (usize, Entry)> {
        let all = self.banks.iter().flat_map(|bank| bank.keys.iter().zip(&bank.entries));
        let known = |entry: &Entry| {
            if self.bugs.has(Bug::CountersExact) {
                Entry { error: Quarters::ZERO, ..*entry }
            } else {
                *entry
            }
        };
        all.filter(|(key, _)| **key != NONE)
            .map(move |(key, entry)| (usize::from(*key), known(entry)))
    }

    /// The block's dose, as far as it need not be answered for, when each segment began to be
    /// written, and a segment's wordlines.
    pub(crate) fn begun_at(&self) -> (&[Quarters; SEGMENTS], usize) {
        (self.begun_at, self.wordlines_per_segment)
    }
}

#[cfg(test)]
mod tests;
