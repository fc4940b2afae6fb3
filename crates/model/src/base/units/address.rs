//! Addresses: numbers of blocks, flash pages, wordlines and host pages. Each has its own type with
//! only the valid arithmetic.

use std::fmt;
use std::ops::{Add, Range, Sub};

use serde::{Deserialize, Serialize};

/// Operations that all addresses share, for collections of any address type.
pub trait Address: Copy {
    /// Creates the address with this number.
    fn new(number: u32) -> Self;
    /// Returns the number.
    fn number(self) -> u32;
}

macro_rules! address {
    ($(#[$about:meta])* $name:ident) => {
        $(#[$about])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(u32);

        impl $name {
            /// Address with number 0.
            pub const FIRST: Self = Self(0);

            /// Creates the address with this number.
            #[inline]
            pub const fn new(number: u32) -> Self {
                Self(number)
            }

            /// Creates the address of this row of a table.
            #[inline]
            pub const fn from_index(index: usize) -> Self {
                Self(index as u32)
            }

            /// Returns the number, for formats and for code that needs plain numbers.
            #[inline]
            pub const fn number(self) -> u32 {
                self.0
            }

            /// Returns the index in a table with one row for each address.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// Returns the addresses of a range of numbers, in order.
            #[inline]
            pub fn range(numbers: Range<u32>) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
                numbers.map(Self)
            }

            /// Returns all addresses in order, for the rows of a table.
            #[inline]
            pub fn all() -> impl Iterator<Item = Self> + Clone {
                (0..).map(Self)
            }
        }

        impl Address for $name {
            #[inline]
            fn new(number: u32) -> Self {
                Self(number)
            }

            #[inline]
            fn number(self) -> u32 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        /// Formats like [`fmt::Display`], because findings and messages quote numbers.
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

/// Implements addition of a count, and the distance of two addresses.
macro_rules! in_a_row {
    ($($name:ident)*) => {$(
        impl Add<u32> for $name {
            type Output = Self;
            /// Returns the address `count` after this one.
            #[inline]
            fn add(self, count: u32) -> Self {
                Self(self.0 + count)
            }
        }

        impl Sub for $name {
            type Output = u32;
            /// Returns the distance of two addresses.
            #[inline]
            fn sub(self, first: Self) -> u32 {
                self.0 - first.0
            }
        }
    )*};
}

in_a_row! { Ppn Lpn PageInBlock WordlineInBlock }

address! {
    /// Number of a block over the whole drive.
    BlockId
}

impl BlockId {
    /// Number that stands for no block. It is above every block number.
    pub const NONE: Self = Self(u32::MAX);
}

address! {
    /// Number of a physical page: `block * pages_per_block + page`, below 2^31 - 1.
    Ppn
}

impl Ppn {
    /// Returns `count` consecutive pages from this one on.
    #[inline]
    pub fn run(
        self,
        count: u32,
    ) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
        Self::range(self.0..self.0 + count)
    }
}

impl Add<PageInBlock> for Ppn {
    type Output = Self;
    /// Returns a page of the block whose first page this is.
    #[inline]
    fn add(self, page: PageInBlock) -> Self {
        Self(self.0 + page.0)
    }
}

address! {
    /// Number of a page within its block: `wordline * pages_per_wordline + kind`.
    PageInBlock
}

impl PageInBlock {
    /// Returns the wordline of the page, for this number of pages per wordline.
    #[inline]
    pub const fn wordline(self, pages_per_wordline: u32) -> WordlineInBlock {
        WordlineInBlock(self.0 / pages_per_wordline)
    }

    /// Returns the page kind, for this number of pages per wordline; LSB is 0.
    #[inline]
    pub const fn kind(self, pages_per_wordline: u32) -> u32 {
        self.0 % pages_per_wordline
    }
}

address! {
    /// Number of a wordline within its block.
    WordlineInBlock
}

impl WordlineInBlock {
    /// Returns the first page of the wordline, for this number of pages per wordline.
    #[inline]
    pub const fn first_page(self, pages_per_wordline: u32) -> PageInBlock {
        PageInBlock(self.0 * pages_per_wordline)
    }

    /// Returns the pages of the wordline in order, for this number of pages per wordline.
    #[inline]
    pub fn pages(
        self,
        pages_per_wordline: u32,
    ) -> impl DoubleEndedIterator<Item = PageInBlock> + ExactSizeIterator + Clone {
        let first = self.0 * pages_per_wordline;
        PageInBlock::range(first..first + pages_per_wordline)
    }

    /// Returns the wordline `count` before this one; `None` if the block begins later.
    #[inline]
    pub fn checked_sub(self, count: u32) -> Option<Self> {
        self.0.checked_sub(count).map(Self)
    }
}

address! {
    /// Number of a logical page, as the host addresses it, in drive pages. Parity pages have the
    /// numbers above those of the host.
    #[derive(Deserialize, Serialize)]
    #[serde(transparent)]
    Lpn
}

impl Lpn {
    /// Returns the page that holds a host byte. A page has `1 << page_shift` bytes.
    #[inline]
    pub const fn holding(offset: u64, page_shift: u32) -> Self {
        Self((offset >> page_shift) as u32)
    }

    /// Returns the first byte of the page, for this page size.
    #[inline]
    pub const fn offset(self, page_bytes: u32) -> u64 {
        self.0 as u64 * page_bytes as u64
    }

    /// Returns `count` consecutive pages from this one on.
    #[inline]
    pub fn run(self, count: u32) -> Lpns {
        Lpns { start: self, end: self + count }
    }
}

/// Consecutive host pages, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lpns {
    /// First page.
    pub start: Lpn,
    /// Page after the last page.
    pub end: Lpn,
}

impl Lpns {
    /// Returns whether a page is among these pages.
    #[inline]
    pub fn contains(&self, lpn: Lpn) -> bool {
        self.start <= lpn && lpn < self.end
    }
}

impl Iterator for Lpns {
    type Item = Lpn;

    #[inline]
    fn next(&mut self) -> Option<Lpn> {
        let next = self.start;
        (next < self.end).then(|| {
            self.start = next + 1;
            next
        })
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.end.0.saturating_sub(self.start.0) as usize;
        (left, Some(left))
    }
}

impl DoubleEndedIterator for Lpns {
    #[inline]
    fn next_back(&mut self) -> Option<Lpn> {
        (self.start < self.end).then(|| {
            self.end = Lpn(self.end.0 - 1);
            self.end
        })
    }
}

impl ExactSizeIterator for Lpns {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_read_as_their_numbers_wherever_they_are_quoted() {
        assert_eq!(
            (format!("{}", BlockId::new(7)), format!("{:?}", [Some(Ppn::new(12))])),
            ("7".into(), "[Some(12)]".into())
        );
        assert_eq!(format!("{:>4}", BlockId::new(7)), "   7");
    }

    #[test]
    fn pages_in_a_row_follow_each_other() {
        let first = Ppn::new(24);
        assert_eq!(first.run(3).collect::<Vec<_>>(), [24, 25, 26].map(Ppn::new));
        assert_eq!((first + 5 - first, (first + 5).index()), (5, 29));
        assert_eq!(BlockId::all().nth(3), BlockId::range(3..5).next());
        assert!(BlockId::range(0..9).all(|block| block < BlockId::NONE));
    }

    #[test]
    fn a_page_of_a_block_is_a_kind_of_a_wordline() {
        let wordline = WordlineInBlock::new(3);
        assert_eq!(wordline.pages(4).collect::<Vec<_>>(), [12, 13, 14, 15].map(PageInBlock::new));
        assert!(
            wordline.pages(4).all(|page| page.wordline(4) == wordline
                && wordline.first_page(4) + page.kind(4) == page)
        );
        assert_eq!(Ppn::new(48) + PageInBlock::new(5), Ppn::new(53));
        assert_eq!(
            (wordline.checked_sub(2), wordline.checked_sub(4)),
            (Some(WordlineInBlock::new(1)), None)
        );
    }

    #[test]
    fn a_run_of_the_hosts_pages_is_gone_through_from_both_ends() {
        let mut run = Lpn::new(4).run(3);
        assert_eq!(
            (
                run.len(),
                run.contains(Lpn::new(6)),
                run.contains(Lpn::new(7)),
                run.contains(Lpn::new(3))
            ),
            (3, true, false, false)
        );
        assert_eq!(run.clone().collect::<Vec<_>>(), Lpn::range(4..7).collect::<Vec<_>>());
        assert_eq!(
            (run.next_back(), run.next(), run.len(), run.next(), run.next_back()),
            (Some(Lpn::new(6)), Some(Lpn::new(4)), 1, Some(Lpn::new(5)), None)
        );
        assert_eq!((run.next(), run.len()), (None, 0));
        assert_eq!(Lpn::new(3_000_000).offset(4096), 12_288_000_000);
        assert_eq!(
            [Lpn::holding(0, 12), Lpn::holding(4095, 12), Lpn::holding(4096, 12)],
            [0, 0, 1].map(Lpn::new)
        );
    }
}
