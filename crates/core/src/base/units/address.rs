//! Addresses: blocks and flash pages by number, a type each, with the arithmetic that is allowed.

use std::fmt;
use std::ops::{Add, Range, Sub};

macro_rules! address {
    ($(#[$about:meta])* $name:ident) => {
        $(#[$about])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(u32);

        impl $name {
            /// The one with this number.
            #[inline]
            pub const fn new(number: u32) -> Self {
                Self(number)
            }

            /// The one that this row of a table is for.
            #[inline]
            pub const fn from_index(index: usize) -> Self {
                Self(index as u32)
            }

            /// Its number: for formats, and for what goes by numbers alone.
            #[inline]
            pub const fn number(self) -> u32 {
                self.0
            }

            /// Its place in a table that has a row for each.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// Those of a range of numbers, in order.
            #[inline]
            pub fn range(numbers: Range<u32>) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
                numbers.map(Self)
            }

            /// All numbers, in order: of the rows of a table.
            #[inline]
            pub fn all() -> impl Iterator<Item = Self> + Clone {
                (0..).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        /// As [`fmt::Display`] has it: findings and messages quote numbers.
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

address! {
    /// Block number over the whole drive.
    BlockId
}

impl BlockId {
    /// No block: above every number.
    pub const NONE: Self = Self(u32::MAX);
}

address! {
    /// Physical page number: `block * pages_per_block + page`, below 2^31 - 1.
    Ppn
}

impl Ppn {
    /// So many from this one on, in order.
    #[inline]
    pub fn run(self, count: u32) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
        Self::range(self.0..self.0 + count)
    }
}

impl Add<u32> for Ppn {
    type Output = Self;
    /// The page so many behind this one.
    #[inline]
    fn add(self, count: u32) -> Self {
        Self(self.0 + count)
    }
}

impl Sub for Ppn {
    type Output = u32;
    /// How many pages lie between: the page within its block, from the block's first.
    #[inline]
    fn sub(self, first: Self) -> u32 {
        self.0 - first.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_read_as_their_numbers_wherever_they_are_quoted() {
        assert_eq!((format!("{}", BlockId::new(7)), format!("{:?}", [Some(Ppn::new(12))])), ("7".into(), "[Some(12)]".into()));
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
}
