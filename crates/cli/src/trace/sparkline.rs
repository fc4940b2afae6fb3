//! Sparkline: a line of small bars that shows numbers over time.

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Returns one bar for each number. The largest number gets the highest bar.
pub(super) fn sparkline(numbers: &[u64]) -> String {
    let largest = numbers.iter().copied().max().unwrap_or(0).max(1);
    let bar = |n: u64| match n {
        0 => ' ',
        // The largest number gets the highest bar. Each number above 0 gets a visible bar.
        n => {
            BARS[((u128::from(n) * BARS.len() as u128).div_ceil(u128::from(largest)) - 1) as usize]
        }
    };
    numbers.iter().map(|n| bar(*n)).collect()
}

#[cfg(test)]
mod tests {
    use super::sparkline;

    #[test]
    fn bars_by_hand() {
        assert_eq!(sparkline(&[0, 1, 8, 4, 5, 7]), " ▁█▄▅▇");
        assert_eq!(sparkline(&[u64::MAX, u64::MAX / 2, 1]), "█▄▁");
        assert_eq!(sparkline(&[0, 0]), "  ");
        assert_eq!(sparkline(&[]), "");
    }
}
