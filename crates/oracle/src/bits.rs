//! One bit for each host page. The bits are small enough to stay in a cache, unlike the data that
//! they describe.

use vpass_drive::base::mem::huge_zeros;
use vpass_drive::base::units::Lpn;

/// A set of bits.
#[derive(Debug)]
pub(crate) struct Bits {
    words: Vec<u64>,
}

impl Bits {
    /// Returns this number of bits, with no bit set.
    pub(crate) fn none_of(len: u32) -> Self {
        Self { words: huge_zeros(len.div_ceil(64) as usize) }
    }

    /// Returns the size in bytes of this number of bits.
    pub(crate) fn bytes(len: u32) -> u64 {
        u64::from(len.div_ceil(64)) * 8
    }

    #[inline]
    pub(crate) fn contains(&self, lpn: Lpn) -> bool {
        self.words[lpn.index() / 64] >> (lpn.number() % 64) & 1 == 1
    }

    /// Sets a bit. Returns whether the bit was unset before.
    #[inline]
    pub(crate) fn insert(&mut self, lpn: Lpn) -> bool {
        let (word, bit) = (&mut self.words[lpn.index() / 64], 1 << (lpn.number() % 64));
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    pub(crate) fn clear(&mut self) {
        self.words.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_that_were_set() {
        let mut some = Bits::none_of(130);
        assert!(
            [0, 63, 64, 129].map(|n| some.insert(Lpn::new(n))) == [true; 4]
                && !some.insert(Lpn::new(64))
        );
        let set =
            |bits: &Bits| (0..130).filter(|n| bits.contains(Lpn::new(*n))).collect::<Vec<_>>();
        assert_eq!(set(&some), [0, 63, 64, 129]);
        some.clear();
        assert!(set(&some).is_empty());
    }
}
