//! Makes random numbers without division. All random numbers come from one seed, with one stream
//! for each purpose.
//!
//! Because streams are separate, the choice between read and write does not affect addresses. For
//! the same reason, the size of a batch does not affect the requests.

pub(crate) use rand_core::Rng;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Random generator of all workloads. Making a random number takes 1.1 ns.
pub(crate) type Random = Xoshiro256PlusPlus;

/// Random streams, one for each purpose. The starts of two streams lie 2^128 numbers apart.
pub(crate) struct Streams {
    pub(crate) direction: Random,
    pub(crate) size: Random,
    pub(crate) arrival: Random,
    pub(crate) address: Random,
    /// Stream for the addresses of writes, if writes have a distribution of their own.
    pub(crate) write_address: Random,
    pub(crate) scatter: Random,
}

impl Streams {
    pub(crate) fn new(seed: u64) -> Self {
        Self::after(Random::seed_from_u64(seed))
    }

    /// Makes the streams for the requests that the same host made before the run. The stream
    /// `scatter` is the same as for the run, so that the same addresses are hot. All other streams
    /// differ.
    pub(crate) fn earlier(seed: u64) -> Self {
        let (now, mut root) = (Self::new(seed), Random::seed_from_u64(seed));
        root.long_jump();
        Self { scatter: now.scatter, ..Self::after(root) }
    }

    /// Makes all streams from the generator `root`.
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

/// Draws a number from 0 to `count - 1`, by Lemire's multiplication method without the rejection
/// step. The bias is below `count / 2^64`, which is below 2^-27 for every count in vpass.
#[inline]
pub(crate) fn below(random: &mut Random, count: u64) -> u64 {
    scaled(random.next_u64(), count)
}

/// Scales a 64-bit random number to a number from 0 to `count - 1`.
#[inline]
pub(crate) fn scaled(bits: u64, count: u64) -> u64 {
    ((u128::from(bits) * u128::from(count)) >> 64) as u64
}

/// Converts a share to a threshold. The share is the probability that a 64-bit random number is
/// below the threshold. For a share of 1, the threshold is 2^64 - 1, so the probability is too low
/// by 2^-64.
pub(crate) fn threshold(share: f64) -> u64 {
    (share * 2f64.powi(64)) as u64
}
