//! Wear of blocks: P/E cycles, and additional wear by reprogramming.

/// Cycles of a block since the drive began.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Worn {
    pub(super) cycles: u32,
    /// Cycles that the block began with, beyond those of every block, and cycles that it skipped.
    pub(super) more: u32,
    /// Number of skipped cycles of the drive at the block's last erase.
    skipped: u32,
    /// Number of cycles with a reprogramming, and a flag for the present cycle.
    reprogrammed: u32,
    pub(super) is_reprogrammed: bool,
    /// Wear of these cycles beyond one cycle each, in thousandths of a cycle.
    beyond_milli: u64,
}

impl Worn {
    /// Adds the cycles that the drive has skipped since the block's last erase. `skipped` counts
    /// from the drive's start.
    pub(super) fn take_over(&mut self, skipped: u32) {
        self.more += skipped - self.skipped;
        self.skipped = skipped;
    }

    /// Ends a cycle that counts as `cycles` cycles. A reprogramming in it counts `times` times.
    /// Returns the P/E count for which the block's limits are looked up.
    pub(super) fn end_cycle(
        &mut self,
        (cycles, times): (u32, u32),
        wear: f64,
        counts: bool,
    ) -> u32 {
        self.cycles += cycles;
        if std::mem::take(&mut self.is_reprogrammed) {
            self.reprogrammed += times;
            let seldom = 0.2 * f64::from(self.cycles) / f64::from(self.reprogrammed);
            self.beyond_milli +=
                u64::from(times) * ((wear - 1.0) * seldom.max(1.0).sqrt() * 1000.0).round() as u64;
        }
        self.all() + if counts { self.beyond_milli.div_ceil(1000) as u32 } else { 0 }
    }

    /// Returns all cycles, without those with which every block began.
    pub(super) fn all(self) -> u32 {
        self.more + self.cycles
    }

    /// Returns the wear of a block, on a drive whose blocks began with `start_pec` cycles.
    pub(super) fn since(self, start_pec: u32) -> BlockWear {
        let cycles = u64::from(start_pec) + u64::from(self.all());
        BlockWear {
            cycles: self.cycles,
            reprogrammed: self.reprogrammed,
            effective_milli: cycles * 1000 + self.beyond_milli,
        }
    }
}

/// Wear of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockWear {
    /// Cycles since the drive began, and the number of cycles with a reprogramming.
    pub(crate) cycles: u32,
    pub(crate) reprogrammed: u32,
    /// Effective wear in thousandths of a cycle.
    pub(crate) effective_milli: u64,
}
