//! Counts the reads and writes of every page exactly, in little memory. 16 neighbouring pages share
//! a line of two-byte counters, which fills a cache line. A hash table finds the line of a page. A
//! separate map counts how often each counter has overflowed.
//!
//! A line takes 64 bytes, the number of the line takes 8 bytes, and the hash-table entry takes 19
//! to 38 bytes. A page takes about 6 bytes if all 16 pages of a line are touched. If only one page
//! of a line is touched, this page takes about 100 bytes.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

/// Number of pages per line of counters.
pub(super) const LINE_PAGES: u64 = 16;
/// Number of lines in a slab of memory. A slab has 64 KiB. Memory grows by whole slabs, so that
/// lines are never copied.
const SLAB_LINES: usize = 1024;

/// Line with the counters of 16 pages: 16 counters of reads, then 16 counters of writes.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Line([u16; 2 * LINE_PAGES as usize]);

/// Number of reads and number of writes of each page.
#[derive(Debug, Default)]
pub struct PageCounts {
    /// Index of each line. The key is the number of the line: the page number divided by 16.
    places: HashMap<u64, u32, BuildHasherDefault<Spread>>,
    /// Number of each line, in the order in which lines were first touched.
    numbers: Vec<u64>,
    slabs: Vec<Vec<Line>>,
    latest: Option<(u64, u32)>,
    /// Number of times that a counter has overflowed. The key is the index of the line and the
    /// index of the counter in the line.
    rounds: BTreeMap<(u32, u8), u64>,
}

impl PageCounts {
    /// Counts one read of each of `pages` pages, from page `first` on.
    pub fn read(&mut self, first: u64, pages: u64) {
        self.count(first, pages, 0);
    }

    /// Counts one write of each of `pages` pages, from page `first` on.
    pub fn write(&mut self, first: u64, pages: u64) {
        self.count(first, pages, LINE_PAGES as u8);
    }

    fn count(&mut self, first: u64, pages: u64, counters: u8) {
        for page in first..first + pages {
            let place = self.place(page / LINE_PAGES);
            let counter = counters + (page % LINE_PAGES) as u8;
            let line = &mut self.slabs[place as usize / SLAB_LINES][place as usize % SLAB_LINES];
            let count = &mut line.0[usize::from(counter)];
            *count = count.wrapping_add(1);
            if *count == 0 {
                *self.rounds.entry((place, counter)).or_default() += 1;
            }
        }
    }

    fn place(&mut self, number: u64) -> u32 {
        if let Some((latest, place)) = self.latest
            && latest == number
        {
            return place;
        }
        let next = self.numbers.len() as u32;
        let place = *self.places.entry(number).or_insert(next);
        if place == next {
            self.numbers.push(number);
            if self.slabs.last().is_none_or(|slab| slab.len() == SLAB_LINES) {
                self.slabs.push(Vec::with_capacity(SLAB_LINES));
            }
            self.slabs.last_mut().expect("a slab with space exists").push(Line::default());
        }
        self.latest = Some((number, place));
        place
    }

    /// Returns the number of lines. Each line has the counters of 16 pages.
    pub(super) fn lines(&self) -> usize {
        self.numbers.len()
    }

    /// Removes lines. The function `keeps` receives the first page of a line, and returns true if
    /// the line is to be kept.
    pub(super) fn retain(&mut self, keeps: impl Fn(u64) -> bool) {
        let mut kept = Self::default();
        for ((line, number), place) in self.slabs.iter().flatten().zip(&self.numbers).zip(0u32..) {
            if keeps(number * LINE_PAGES) {
                let now = kept.place(*number);
                kept.slabs[now as usize / SLAB_LINES][now as usize % SLAB_LINES] = *line;
                let rounds = self.rounds.range((place, 0)..=(place, u8::MAX));
                kept.rounds.extend(rounds.map(|((_, counter), rounds)| ((now, *counter), *rounds)));
            }
        }
        *self = kept;
    }

    /// Returns the page number, the reads and the writes of every touched page. Pages are in the
    /// order in which their lines of counters were first touched.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let lines = self.slabs.iter().flatten();
        lines.zip(&self.numbers).zip(0..).flat_map(move |((line, number), place)| {
            let pages = (0..LINE_PAGES as u8).map(move |page| {
                let counter =
                    |c: u8| u64::from(line.0[usize::from(c)]) + self.rounds_of(place, c) * 65_536;
                (
                    number * LINE_PAGES + u64::from(page),
                    counter(page),
                    counter(page + LINE_PAGES as u8),
                )
            });
            pages.filter(|(_, reads, writes)| reads + writes > 0)
        })
    }

    fn rounds_of(&self, place: u32, counter: u8) -> u64 {
        if self.rounds.is_empty() {
            0
        } else {
            self.rounds.get(&(place, counter)).copied().unwrap_or(0)
        }
    }
}

/// Hash of a number. The number is multiplied by 2^64 / golden ratio, and the two halves of the
/// product are combined, so that all bits matter.
#[derive(Debug, Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, n: u64) {
        let product = u128::from(self.0 ^ n) * 0x9E37_79B9_7F4A_7C15;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_counted_one_by_one() {
        let mut counts = PageCounts::default();
        counts.read(15, 2);
        counts.read(16, 1);
        counts.write(15, 1);
        counts.write(1 << 50, 1);
        let all: Vec<_> = counts.iter().collect();
        assert_eq!(all, [(15, 1, 1), (16, 2, 0), (1 << 50, 0, 1)]);
    }

    #[test]
    fn counters_of_two_bytes_count_on() {
        let mut counts = PageCounts::default();
        for _ in 0..200_000 {
            counts.read(3, 1);
        }
        counts.read(4, 1);
        counts.write(3, 65_536);
        let all: Vec<_> = counts.iter().take(3).collect();
        assert_eq!(all, [(3, 200_000, 1), (4, 1, 1), (5, 0, 1)]);
        assert_eq!(counts.iter().count(), 65_536);
    }

    #[test]
    fn lines_that_are_kept_keep_their_counts() {
        let mut counts = PageCounts::default();
        for page in [0, 17, 40] {
            counts.read(page, 1);
        }
        counts.write(17, 1);
        for _ in 0..65_536 {
            counts.read(40, 1);
        }
        counts.retain(|page| page > 0);
        assert_eq!(
            (counts.lines(), counts.iter().collect::<Vec<_>>()),
            (2, vec![(17, 1, 1), (40, 65_537, 0)])
        );
        counts.read(41, 1);
        counts.read(3, 1);
        assert_eq!(
            counts.iter().collect::<Vec<_>>(),
            [(17, 1, 1), (40, 65_537, 0), (41, 1, 0), (3, 1, 0)]
        );
    }

    #[test]
    fn many_scattered_pages_keep_their_counts() {
        let mut counts = PageCounts::default();
        for i in 0..50_000u64 {
            counts.read(i * 7919 % 50_021 * 1_000_003, 1);
        }
        assert_eq!(counts.iter().count(), 50_000);
        assert!(
            counts
                .iter()
                .all(|(page, reads, writes)| page % 1_000_003 == 0 && reads == 1 && writes == 0)
        );
    }
}
