//! Addresses: numbers of a kind each, that neither mix nor add up.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

macro_rules! address {
    ($(#[$about:meta])* $name:ident) => {
        $(#[$about])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        #[repr(transparent)]
        pub struct $name(u32);

        impl $name {
            /// The one with this number.
            #[inline]
            pub const fn new(number: u32) -> Self {
                Self(number)
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
