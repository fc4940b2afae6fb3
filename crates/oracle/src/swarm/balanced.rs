//! Balanced draws (permuted blocks). Consecutive cases take the values of a list in shuffled
//! rounds, so every value has its share of any few hundred cases. A case still follows from its
//! number alone.
//!
//! ```text
//! 4 values: cases 0 to 3 have each value once, in an order that follows from list and round;
//!           so have cases 4 to 7, in another order
//! ```

use crate::dice::Dice;

/// Returns a list in which one value is true.
pub(super) const fn one_of<const COUNT: usize>() -> [bool; COUNT] {
    let mut list = [false; COUNT];
    list[0] = true;
    list
}

/// Source of balanced draws: a case takes one value from each list.
pub(super) struct Balanced {
    pub(super) case: u64,
}

impl Balanced {
    /// Returns the value of this case. Lists of different names are shuffled independently.
    pub(super) fn pick<T: Copy>(&self, name: &str, values: &[T]) -> T {
        let count = values.len() as u64;
        let (round, place) = (self.case / count, (self.case % count) as usize);
        let name = name
            .bytes()
            .fold(0u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3));
        let mut dice = Dice::new(round.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ name);
        let mut order: Vec<usize> = (0..values.len()).collect();
        // The loop goes from the last place to the first. Each place that it has passed keeps its
        // value.
        for last in (1..values.len()).rev() {
            order.swap(last, dice.between(0, last as u64) as usize);
        }
        values[order[place]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_its_share_and_two_lists_do_not_go_together() {
        let values = ["a", "b", "c", "d"];
        let count = |name: &str, value: &str| {
            (0..400).filter(|case| Balanced { case: *case }.pick(name, &values) == value).count()
        };
        assert!(
            values.iter().all(|value| count("cell", value) == 100 && count("gear", value) == 100)
        );
        let both = |case: u64| {
            Balanced { case }.pick("cell", &values) == "a"
                && Balanced { case }.pick("gear", &values) == "a"
        };
        // The expectation is 25 of 400 if they are independent.
        let together = (0..400).filter(|case| both(*case)).count();
        assert!((10..45).contains(&together), "{together}");
    }
}
