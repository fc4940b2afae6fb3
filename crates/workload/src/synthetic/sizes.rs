//! The size of each request: one for all, or drawn from a list of sizes with shares.

use vpass_core::base::request::Request;

use super::random::{Random, Rng, threshold};

/// Sizes with the random numbers that choose them.
#[derive(Clone, Debug)]
pub(super) struct Sizes {
    /// Threshold below which a size is taken, rising; the last is taken in any case.
    limits: Vec<(u64, u32)>,
}

impl Sizes {
    /// Sizes with shares that add up to 1.
    pub(super) fn new(sizes: &[(u32, f64)]) -> Self {
        let mut sum = 0.0;
        let limits = sizes.iter().map(|(bytes, share)| {
            sum += share;
            (threshold(sum), *bytes)
        });
        Self { limits: limits.collect() }
    }

    /// The first size, which is every request's where there is one.
    pub(super) fn first(&self) -> u32 {
        self.limits[0].1
    }

    /// Draws a size for each request of `batch`, where there is a choice.
    pub(super) fn draw(&self, random: &mut Random, batch: &mut [Request]) {
        let Some(((_, last), others)) =
            self.limits.split_last().filter(|(_, others)| !others.is_empty())
        else {
            return;
        };
        for request in batch {
            let bits = random.next_u64();
            request.bytes =
                others.iter().find(|(limit, _)| bits < *limit).map_or(*last, |(_, bytes)| *bytes);
        }
    }
}
