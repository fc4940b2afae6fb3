//! Draws the size of each request as fio does. A job has one size, a range of sizes, or a list of
//! sizes with shares.
//!
//! Sizes are multiples of the smallest size. If a drawn size does not fit before the end of the
//! file, another size is drawn. If even the smallest size does not fit, no size is drawn.

use super::values::{self, KbBase};
use crate::synthetic::random::{Random, Rng, below, threshold};
use crate::traces::MAX_REQUEST_BYTES;

/// Request sizes of one direction of a fio job.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Blocks {
    One(u64),
    Range(u64, u64),
    /// List of sizes with percentages that add up to 100.
    Split(Vec<(u64, u32)>),
}

impl Blocks {
    pub(super) fn one(text: &str, base: KbBase) -> Result<Self, String> {
        if text.contains(['-', ':']) {
            return Err(
                "a single size is expected; use bsrange for a range of sizes, and bssplit for \
                 sizes with shares"
                    .into(),
            );
        }
        size(text, base).map(Self::One)
    }

    pub(super) fn range(text: &str, base: KbBase) -> Result<Self, String> {
        let (min, max) = values::range(text, base)?;
        possible(min)?;
        possible(max)?;
        Ok(if min == max { Self::One(min) } else { Self::Range(min, max) })
    }

    pub(super) fn split(text: &str, base: KbBase) -> Result<Self, String> {
        let mut pairs = values::shares(text, |t| size(t, base))?;
        pairs.retain(|(_, percent)| *percent > 0);
        Ok(if let [(only, _)] = pairs[..] { Self::One(only) } else { Self::Split(pairs) })
    }

    /// Returns the smallest and the largest request size.
    pub(super) fn ends(&self) -> (u64, u64) {
        match self {
            Self::One(bytes) => (*bytes, *bytes),
            Self::Range(min, max) => (*min, *max),
            Self::Split(pairs) => {
                let sizes = pairs.iter().map(|(bytes, _)| *bytes);
                (sizes.clone().min().unwrap_or(0), sizes.max().unwrap_or(0))
            }
        }
    }

    /// Returns whether all requests have the same size.
    pub(super) fn is_one(&self) -> bool {
        matches!(self, Self::One(_))
    }

    /// Returns the mean request size. The shorter requests at the end of a file are not considered.
    pub(super) fn mean(&self) -> f64 {
        match self {
            Self::One(bytes) => *bytes as f64,
            Self::Range(min, max) => (min + max) as f64 / 2.0,
            Self::Split(pairs) => pairs
                .iter()
                .map(|(bytes, percent)| *bytes as f64 * f64::from(*percent) / 100.0)
                .sum(),
        }
    }

    /// Returns the request sizes in fio's notation.
    pub(super) fn text(&self) -> String {
        match self {
            Self::One(bytes) => bytes.to_string(),
            Self::Range(min, max) => format!("{min}-{max}"),
            Self::Split(pairs) => pairs
                .iter()
                .map(|(bytes, percent)| format!("{bytes}/{percent}"))
                .collect::<Vec<_>>()
                .join(":"),
        }
    }
}

fn size(text: &str, base: KbBase) -> Result<u64, String> {
    values::bytes(text, base).and_then(possible)
}

fn possible(bytes: u64) -> Result<u64, String> {
    if (1..=MAX_REQUEST_BYTES).contains(&bytes) {
        Ok(bytes)
    } else {
        Err(format!("a request of {bytes} bytes; a size from 1 byte to 16 MiB is expected"))
    }
}

/// Generator of the request sizes of one direction.
#[derive(Clone, Debug)]
pub(super) struct SizeDraw {
    pub(super) min: u64,
    max: u64,
    /// Sizes with thresholds for random numbers, if the sizes have shares. As in fio, the rarest
    /// size comes first.
    limits: Vec<(u64, u64)>,
}

/// Largest number of draws for one request. If no drawn size fits, the request gets the smallest
/// size. If only a size with a share of 1 % fits, all draws miss this size with a probability of
/// 0.99^2000.
const TRIES: u32 = 2000;

impl SizeDraw {
    pub(super) fn new(blocks: &Blocks) -> Self {
        let (min, max) = blocks.ends();
        let mut pairs = if let Blocks::Split(pairs) = blocks { pairs.clone() } else { vec![] };
        pairs.sort_by_key(|(_, percent)| *percent);
        let mut sum = 0;
        let limits = pairs.iter().map(|(bytes, percent)| {
            sum += percent;
            (*bytes, threshold(f64::from(sum) / 100.0))
        });
        Self { min, max, limits: limits.collect() }
    }

    /// Draws a size of at most `space` bytes. The smallest size must fit into `space`.
    #[inline]
    pub(super) fn draw(&self, random: &mut Random, space: u64) -> u64 {
        match &self.limits[..] {
            [] if self.min == self.max => self.min,
            [] => self.in_range(random, space),
            limits => self.of_split(limits, random, space),
        }
    }

    /// Draws a size from a range. As in fio, the size is the smallest size plus a random number
    /// below the largest size. The sum is rounded down to a multiple of the smallest size. A sum
    /// above the largest size becomes the largest size.
    fn in_range(&self, random: &mut Random, space: u64) -> u64 {
        if space >= self.max {
            let bytes = self.min + below(random, self.max);
            return (bytes - bytes % self.min).min(self.max);
        }
        // If the largest size does not fit, all sizes that fit have the same chance.
        self.min * (1 + below(random, space / self.min))
    }

    fn of_split(&self, limits: &[(u64, u64)], random: &mut Random, space: u64) -> u64 {
        for _ in 0..TRIES {
            let bits = random.next_u64();
            let fits = |limit: &&(u64, u64)| bits <= limit.1 && limit.0 <= space;
            let bytes =
                limits.iter().find(fits).map_or(limits[limits.len() - 1].0, |(bytes, _)| *bytes);
            if bytes <= space {
                return bytes - bytes % self.min;
            }
        }
        self.min
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rand_core::SeedableRng;

    use super::*;

    /// Returns the shares of the sizes that were drawn, in percent.
    fn drawn(blocks: &Blocks, space: u64) -> BTreeMap<u64, i32> {
        let (draw, mut random) = (SizeDraw::new(blocks), Random::seed_from_u64(1));
        let mut counts = BTreeMap::new();
        (0..100_000).for_each(|_| *counts.entry(draw.draw(&mut random, space)).or_insert(0) += 1);
        counts
            .into_iter()
            .map(|(bytes, n)| (bytes, (f64::from(n) / 1000.0).round() as i32))
            .collect()
    }

    #[test]
    fn a_range_gives_multiples_of_its_smallest() {
        // Shares measured with fio 3.33: bsrange=4k-10k gives 40 % requests of 4 KiB, 40 % of 8
        // KiB, and 20 % of 10 KiB.
        let range = Blocks::range("4k-10k", KbBase::Binary).unwrap();
        assert_eq!(drawn(&range, 1 << 20), BTreeMap::from([(4096, 40), (8192, 40), (10_240, 20)]));
        assert_eq!(drawn(&range, 9000), BTreeMap::from([(4096, 50), (8192, 50)]));
    }

    #[test]
    fn a_split_gives_its_shares() {
        let split = Blocks::split("64k/50:4k/10:32k/40:1k/0", KbBase::Binary).unwrap();
        assert_eq!(
            drawn(&split, 1 << 20),
            BTreeMap::from([(4096, 10), (32_768, 40), (65_536, 50)])
        );
        // Sizes that do not fit into the remaining 40,000 bytes are drawn again.
        assert_eq!(drawn(&split, 40_000), BTreeMap::from([(4096, 20), (32_768, 80)]));
        // As in fio, a size of 6 KiB is rounded down to 4 KiB, because it is not a multiple of 4
        // KiB.
        let odd = Blocks::split("4k/50:6k/50", KbBase::Binary).unwrap();
        assert_eq!(drawn(&odd, 1 << 20), BTreeMap::from([(4096, 100)]));
    }

    #[test]
    fn impossible_sizes_are_refused() {
        assert!(Blocks::one("0", KbBase::Binary).is_err());
        assert!(Blocks::one("17m", KbBase::Binary).is_err());
        assert!(Blocks::one("4k-8k", KbBase::Binary).unwrap_err().contains("bsrange"));
        assert!(Blocks::range("0-4k", KbBase::Binary).is_err());
        assert_eq!(Blocks::range("4k-4k", KbBase::Binary), Ok(Blocks::One(4096)));
    }
}
