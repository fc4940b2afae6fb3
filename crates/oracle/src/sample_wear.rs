//! Wear of a sample, which has one page in N of a larger drive and slightly more than that share of
//! its blocks.
//!
//! Each block of the sample is erased less often than a block of the larger drive. For equal wear,
//! an erase counts as more than one cycle on average. The number of cycles so far is always rounded
//! down to a whole one.
//!
//! ```text
//! 189 blocks, with a share of 720 / 4 = 180: 20 erases make 20 x 189 / 180 = 21 cycles, and the
//! 20th erase counts as two
//! ```

use vpass_drive::config::DriveConfig;

/// Number of cycles that the next erase counts as.
#[derive(Debug, Default)]
pub(crate) struct SampleWear {
    /// Blocks of the sample and its share, both times N; 0 if the drive is not a sample.
    blocks: u64,
    share: u64,
    /// Fraction of a cycle that the erases so far have left over, in units of `share`. The next
    /// erases add it to their cycles.
    left: u64,
}

impl SampleWear {
    pub(crate) fn new(config: &DriveConfig) -> Self {
        let rows = u64::from(config.geometry.blocks_per_plane.unwrap_or(0));
        let of_part = |part: &vpass_drive::config::PartOf| Self {
            blocks: rows * u64::from(config.geometry.planes()) * u64::from(part.of),
            share: u64::from(part.blocks),
            left: 0,
        };
        config.part_of.as_ref().map_or_else(Self::default, of_part)
    }

    /// Notes an erase, and returns the cycles that it counts as.
    pub(crate) fn next_erase(&mut self) -> u32 {
        if self.share == 0 {
            return 1;
        }
        self.left += self.blocks;
        let cycles = self.left / self.share;
        self.left %= self.share;
        cycles as u32
    }
}
