//! Number of erases per second for each cause, and the length of a life at these rates.

use std::ops::{Add, Mul};

/// Number of block erases per second, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Rate {
    /// Number of erases per second for host writes, including erases by GC.
    pub(super) host: f64,
    /// Number of erases per second for rewriting data because of reads.
    pub(super) reclaim: f64,
    /// Number of erases per second for rewriting data because of age.
    pub(super) refresh: f64,
}

impl Rate {
    /// Returns the number of erases per second for all causes together.
    pub(super) fn all(&self) -> f64 {
        self.host + self.reclaim + self.refresh
    }
}

impl Add for Rate {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            host: self.host + other.host,
            reclaim: self.reclaim + other.reclaim,
            refresh: self.refresh + other.refresh,
        }
    }
}

impl Mul<f64> for Rate {
    type Output = Self;

    fn mul(self, by: f64) -> Self {
        Self { host: self.host * by, reclaim: self.reclaim * by, refresh: self.refresh * by }
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
            life.erases = life.erases + rate * seconds;
        }
    }
    life
}

/// Returns the rate of erases at a P/E count, interpolated between known rates. `known` has the
/// rates, sorted by P/E count.
pub(super) fn between(known: &[(u32, Rate)], pec: u32) -> Rate {
    let next = known.partition_point(|(at, _)| *at <= pec);
    match (next.checked_sub(1).map(|before| known[before]), known.get(next)) {
        (Some((low, before)), Some((high, after))) => {
            let part = f64::from(pec - low) / f64::from(high - low);
            before * (1.0 - part) + *after * part
        }
        (Some((_, only)), None) => only,
        (None, Some((_, only))) => *only,
        (None, None) => Rate::default(),
    }
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
        let known = [(10, by_reads(1.0)), (20, by_reads(3.0))];
        for (pec, rate) in [(5, 1.0), (10, 1.0), (15, 2.0), (20, 3.0), (30, 3.0)] {
            assert!((between(&known, pec).reclaim - rate).abs() < 1e-12, "{pec}");
        }
        assert!(span(10.0, (0, 1), &|_| Rate::default()).seconds.is_infinite());
    }
}
