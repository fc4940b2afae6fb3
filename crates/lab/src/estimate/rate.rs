//! Number of erases per second for each cause, and the length of a life at these rates.

/// Number of block erases per second, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Rate {
    /// Number of erases per second for host writes, including erases by GC.
    pub(super) host: f64,
    /// Number of erases per second for rewriting data because of reads.
    pub(super) reclaim: f64,
}

impl Rate {
    /// Returns the number of erases per second for all causes together.
    pub(super) fn all(&self) -> f64 {
        self.host + self.reclaim
    }
}

/// Length of a life, and number of erases during the life, by cause.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    pub(super) seconds: f64,
    /// Length of the first P/E cycle, in seconds.
    pub(super) first: f64,
    pub(super) erases: Rate,
}

/// Returns the length of a life and the number of erases in this life. The drive has `blocks`
/// blocks. During the life, the wear of the drive rises from one P/E count to another. The length
/// of the life is the sum of the lengths of all P/E cycles.
pub(super) fn span(blocks: f64, (from, to): (u32, u32), rate: &dyn Fn(u32) -> Rate) -> Span {
    let mut life = Span::default();
    for pec in from..to {
        let rate = rate(pec);
        let seconds = blocks / rate.all();
        life.first = if pec == from { seconds } else { life.first };
        life.seconds += seconds;
        if seconds.is_finite() {
            life.erases.host += rate.host * seconds;
            life.erases.reclaim += rate.reclaim * seconds;
        }
    }
    life
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_life_adds_up_its_cycles() {
        let by_reads = |reclaim: f64| Rate { reclaim, ..Rate::default() };
        // A cycle of ten blocks takes 1 s at 10 erases per second, and 0.5 s at 20 erases per
        // second.
        let life = span(10.0, (8, 12), &|pec| by_reads(if pec < 10 { 10.0 } else { 20.0 }));
        assert!((life.seconds - 3.0).abs() < 1e-12 && (life.erases.reclaim - 40.0).abs() < 1e-9);
        assert!(span(10.0, (0, 1), &|_| Rate::default()).seconds.is_infinite());
    }
}
