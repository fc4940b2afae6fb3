//! Binary search for numbers.

/// Returns the largest number from `least` to `most` for which `holds` is true. If `holds` is true
/// for a number, it must be true for all smaller numbers.
pub fn largest(least: u32, most: u32, holds: &dyn Fn(u32) -> bool) -> Option<u32> {
    if most < least || !holds(least) {
        return None;
    }
    let (mut right, mut wrong) = (least, most.saturating_add(1));
    while wrong - right > 1 {
        let middle = right + (wrong - right) / 2;
        if holds(middle) { right = middle } else { wrong = middle }
    }
    Some(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_that_holds_is_found() {
        for most in [1, 2, 7, 100] {
            for last in 0..=most {
                assert_eq!(largest(0, most, &|n| n <= last), Some(last));
            }
        }
        assert_eq!((largest(3, 9, &|n| n <= 2), largest(3, 2, &|_| true)), (None, None));
    }
}
