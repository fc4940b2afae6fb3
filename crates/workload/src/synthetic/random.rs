//! Chance: one seed, one stream of random numbers for each purpose, no division. Separate streams
//! keep the choice of read or write from bending the addresses, and make a run independent of how
//! it is cut into batches.

pub(crate) use rand_core::Rng;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The generator in use: 1.1 ns a number.
pub(crate) type Random = Xoshiro256PlusPlus;

/// A stream for each purpose, 2^128 numbers apart.
pub(crate) struct Streams {
    pub(crate) direction: Random,
    pub(crate) size: Random,
    pub(crate) arrival: Random,
    pub(crate) address: Random,
    /// Addresses of writes, where they have a distribution of their own.
    pub(crate) write_address: Random,
    pub(crate) scatter: Random,
}

impl Streams {
    pub(crate) fn new(seed: u64) -> Self {
        Self::after(Random::seed_from_u64(seed))
    }

    /// Of an earlier time of the same host: other chance, but for `scatter`, which says what is
    /// hot.
    pub(crate) fn earlier(seed: u64) -> Self {
        let (now, mut root) = (Self::new(seed), Random::seed_from_u64(seed));
        root.long_jump();
        Self { scatter: now.scatter, ..Self::after(root) }
    }

    /// The streams that follow from this one.
    pub(crate) fn after(mut root: Random) -> Self {
        let mut next = || {
            let stream = root.clone();
            root.jump();
            stream
        };
        Self {
            direction: next(),
            size: next(),
            arrival: next(),
            address: next(),
            write_address: next(),
            scatter: next(),
        }
    }
}

/// A number from 0 to `count - 1`. Lemire's multiplication without the rejection step: its bias is
/// below `count / 2^64`, here under 2^-27.
#[inline]
pub(crate) fn below(random: &mut Random, count: u64) -> u64 {
    scaled(random.next_u64(), count)
}

/// The top of a 64-bit random number as a number from 0 to `count - 1`.
#[inline]
pub(crate) fn scaled(bits: u64, count: u64) -> u64 {
    ((u128::from(bits) * u128::from(count)) >> 64) as u64
}

/// A share as a threshold: a 64-bit random number is below it with that probability. 1 becomes 2^64
/// - 1, short of it by 2^-64.
pub(crate) fn threshold(share: f64) -> u64 {
    (share * 2f64.powi(64)) as u64
}
