//! Draws the size of each request: one size for all requests, or a size from a list with shares.

use vpass_drive::base::request::Request;

use super::random::{Random, Rng, threshold};

/// Request sizes, with the thresholds that choose among them.
#[derive(Clone, Debug)]
pub(super) struct Sizes {
    /// Ascending thresholds for random numbers, each with its size. A number above all thresholds
    /// chooses the last size.
    limits: Vec<(u64, u32)>,
}

impl Sizes {
    /// Prepares the draw from a list of sizes with their shares. The shares add up to 1.
    pub(super) fn new(sizes: &[(u32, f64)]) -> Self {
        let mut sum = 0.0;
        let limits = sizes.iter().map(|(bytes, share)| {
            sum += share;
            (threshold(sum), *bytes)
        });
        Self { limits: limits.collect() }
    }

    /// Returns the first size of the list. If the list has only one size, all requests have this
    /// size.
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
