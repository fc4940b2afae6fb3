//! Draws the size of each request: one size for all, or a size from a list with shares.

use vpass_core::base::request::Request;

use super::random::{Random, Rng, threshold};

/// Sizes with the thresholds that choose them.
#[derive(Clone, Debug)]
pub(super) struct Sizes {
    /// Ascending thresholds of random numbers, with their sizes. The last size takes the rest.
    limits: Vec<(u64, u32)>,
}

impl Sizes {
    /// Makes the choice among these sizes, whose shares add up to 1.
    pub(super) fn new(sizes: &[(u32, f64)]) -> Self {
        let mut sum = 0.0;
        let limits = sizes.iter().map(|(bytes, share)| {
            sum += share;
            (threshold(sum), *bytes)
        });
        Self { limits: limits.collect() }
    }

    /// Returns the first size. If there is only one size, all requests have it.
    pub(super) fn first(&self) -> u32 {
        self.limits[0].1
    }

    /// Draws a size for each request of `batch`, if there is more than one size.
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
