//! Percentiles by nearest rank. Percentile p of n sorted items is the item at rank p n / 100,
//! rounded up.
//!
//! A percentile by nearest rank is always a value that occurs. An interpolated percentile may be a
//! value between two items. With more than a few hundred items, the difference does not matter.

/// Returns the default percentiles. Published statistics of block traces have the same percentiles.
pub(super) fn usual() -> Vec<f64> {
    std::iter::once(1.0).chain((1..=20).map(|i| f64::from(i) * 5.0)).collect()
}

/// Returns the rank of a percentile among `items` items. Ranks begin at 1. The percentile is above
/// 0 and at most 100, and there is at least one item.
pub(super) fn rank(percent: f64, items: u64) -> u64 {
    ((items as f64 * percent / 100.0).ceil() as u64).clamp(1, items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_rounded_up() {
        assert_eq!([1.0, 5.0, 50.0, 95.0, 100.0].map(|p| rank(p, 100)), [1, 5, 50, 95, 100]);
        assert_eq!([1.0, 34.0, 66.0, 67.0, 100.0].map(|p| rank(p, 3)), [1, 2, 2, 3, 3]);
        assert_eq!(rank(0.001, 10), 1);
        assert_eq!(rank(35.0, 10_000_000_000), 3_500_000_000);
        assert!(usual().iter().all(|p| rank(*p, 100) == *p as u64));
    }
}
