//! Number of P/E cycles that one erase counts as. A simulation may let wear pass faster than a real
//! drive does (`wear.acceleration`). In a sample, which has one page in N of a larger drive and
//! slightly more than that share of its blocks, each block is erased less often than a block of the
//! larger drive. For equal wear, an erase counts as more than one cycle on average. The number of
//! cycles so far is always rounded down to a whole one.
//!
//! ```text
//! 189 blocks, with a share of 720 / 4 = 180: 20 erases make 20 x 189 / 180 = 21 cycles, and the
//! 20th erase counts as two
//! ```

use vpass_drive::base::units::Cause;
use vpass_drive::config::{DriveConfig, PartOf};

/// P/E cycles that the next erase counts as.
#[derive(Debug)]
pub(crate) struct Cycles {
    /// Value of `wear.acceleration`. It takes effect with the measured phase.
    configured: u32,
    /// Acceleration at present.
    now: u32,
    /// Blocks of the sample and its share, both times N; 0 if the drive is not a sample.
    blocks: u64,
    share: u64,
    /// Fraction of a cycle that the erases so far have left over, in units of `share`. The next
    /// erases add it to their cycles.
    left: u64,
}

impl Cycles {
    pub(crate) fn new(config: &DriveConfig) -> Self {
        let rows = u64::from(config.geometry.blocks_per_plane.unwrap_or(0));
        let of_part = |part: &PartOf| {
            let blocks = rows * u64::from(config.geometry.planes()) * u64::from(part.of);
            (blocks, u64::from(part.blocks))
        };
        let (blocks, share) = config.part_of.as_ref().map_or((0, 0), of_part);
        Self { configured: config.wear.acceleration, now: 1, blocks, share, left: 0 }
    }

    /// Notes an erase. Returns its cycles, and the number of erases that it stands for. Erases of
    /// wear levelling are never accelerated.
    pub(crate) fn of_erase(&mut self, cause: Cause) -> (u32, u32) {
        let times = if cause == Cause::Wear { 1 } else { self.now };
        if self.share == 0 {
            return (times, times);
        }
        self.left += self.blocks;
        let cycles = self.left / self.share;
        self.left %= self.share;
        (times * cycles as u32, times)
    }

    pub(crate) fn begin_measured_phase(&mut self) {
        self.now = self.configured;
    }
}
