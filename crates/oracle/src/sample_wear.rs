//! Wear of a sample: one page in N of a larger drive, on blocks of which it has a few more than its
//! share.
//!
//! Each block of the sample is erased less often than one of the larger drive. To be worn alike,
//! erases count as more than a cycle in the mean. The sample's cycles so far are always the whole
//! part of what its erases come to.
//!
//! ```text
//! 189 blocks, 720 / 4 = 180 of them its share: 20 erases come to 20 x 189 / 180 = 21 cycles, and the 20th counts as two
//! ```

use vpass_core::config::DriveConfig;

/// How many cycles the next erase counts as.
#[derive(Debug, Default)]
pub(crate) struct SampleWear {
    /// The sample's blocks and its share, both times N; none where the drive is no sample.
    blocks: u64,
    share: u64,
    /// What is left of the erases so far beyond whole cycles.
    left: u64,
}

impl SampleWear {
    pub(crate) fn new(config: &DriveConfig) -> Self {
        let rows = u64::from(config.geometry.blocks_per_plane.unwrap_or(0));
        let of_part = |part: &vpass_core::config::PartOf| Self {
            blocks: rows * u64::from(config.geometry.planes()) * u64::from(part.of),
            share: u64::from(part.blocks),
            left: 0,
        };
        config.part_of.as_ref().map_or_else(Self::default, of_part)
    }

    /// A block is erased.
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
