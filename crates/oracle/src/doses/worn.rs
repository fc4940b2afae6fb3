//! Wear of blocks: cycles, and what reprogramming wears beyond them.

/// Cycles of a block since the drive began.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Worn {
    pub(super) cycles: u32,
    /// Those that it began with, and others did not.
    pub(super) more: u32,
    /// Those with a reprogramming, and whether the present one is such.
    reprogrammed: u32,
    pub(super) is_reprogrammed: bool,
    /// What they wore beyond a cycle each, in thousandths.
    beyond_milli: u64,
}

impl Worn {
    /// A cycle ends, which counts as so many and stands for so many `times` itself. Gives the
    /// cycles that the block is worn as if by, as far as limits go.
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

    /// All of its cycles but those with which every block began.
    pub(super) fn all(self) -> u32 {
        self.more + self.cycles
    }

    /// The same of a drive whose blocks began with so many cycles.
    pub(super) fn since(self, start_pec: u32) -> BlockWear {
        let cycles = u64::from(start_pec) + u64::from(self.all());
        BlockWear {
            cycles: self.cycles,
            reprogrammed: self.reprogrammed,
            effective_milli: cycles * 1000 + self.beyond_milli,
            beyond_milli: self.beyond_milli,
        }
    }
}

/// What a block has been through.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockWear {
    /// Cycles since the drive began, and those with a reprogramming.
    pub(crate) cycles: u32,
    pub(crate) reprogrammed: u32,
    /// Thousandths of cycles that it is worn as if by, and those of them that reprogramming wore.
    pub(crate) effective_milli: u64,
    pub(crate) beyond_milli: u64,
}
