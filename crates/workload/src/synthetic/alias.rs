//! Draws one of a few thousand weighted cases in constant time, with one random number. This is
//! Walker's alias method with Vose's construction.

use std::hint::select_unpredictable;

use super::random::{Random, Rng};

/// Slot of an alias table. Two cases share each slot.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Threshold for 32 random bits. If the bits are below the threshold, the slot gives its own
    /// case; otherwise, the slot gives the case `other`. With eight bytes per slot, the table fits
    /// into the first-level cache.
    own: u32,
    other: u32,
}

/// Table from which a case is drawn according to weights. The cases are the numbers 0 to n - 1.
#[derive(Clone, Debug)]
pub(crate) struct Alias {
    /// Slots of the table. The number of slots is a power of two, so a shift of the random bits
    /// gives the index of a slot.
    slots: Vec<Slot>,
    index_bits: u32,
}

impl Alias {
    /// Makes the table for the given weights. All weights are finite and not negative, and at least
    /// one is above 0.
    pub(crate) fn new(weights: &[f64]) -> Self {
        let count = weights.len().next_power_of_two().max(2);
        let total: f64 = weights.iter().sum();
        assert!(total > 0.0 && total.is_finite());
        let mut level: Vec<f64> = weights.iter().map(|w| w / total * count as f64).collect();
        level.resize(count, 0.0);
        let mut slots: Vec<Slot> =
            (0..count).map(|i| Slot { own: u32::MAX, other: i as u32 }).collect();
        let (mut short, mut long): (Vec<usize>, Vec<usize>) =
            (0..count).partition(|i| level[*i] < 1.0);
        while let (Some(small), Some(&large)) = (short.pop(), long.last()) {
            slots[small] = Slot { own: (level[small] * 2f64.powi(32)) as u32, other: large as u32 };
            level[large] -= 1.0 - level[small];
            if level[large] < 1.0 {
                long.pop();
                short.push(large);
            }
        }
        // Each remaining slot belongs to a single case, apart from rounding errors. The slot of a
        // case with weight 0 must not remain here, because the case would then be drawn.
        debug_assert!(short.iter().all(|i| level[*i] > 0.5));
        Self { slots, index_bits: count.trailing_zeros() }
    }

    /// Draws a case according to the weights.
    #[inline]
    pub(crate) fn draw(&self, random: &mut Random) -> usize {
        self.pick(random.next_u64())
    }

    /// Returns the case that 64 random bits select.
    #[inline]
    pub(crate) fn pick(&self, bits: u64) -> usize {
        let index = (bits >> (64 - self.index_bits)) as usize;
        let slot = self.slots[index];
        // The processor would mispredict an ordinary branch once every few draws.
        select_unpredictable((bits as u32) < slot.own, index, slot.other as usize)
    }
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    #[test]
    fn cases_come_by_their_weight() {
        let alias = Alias::new(&[1.0, 0.0, 5.0, 2.0, 8.0]);
        let mut random = Random::seed_from_u64(1);
        let mut seen = [0u32; 5];
        for _ in 0..160_000 {
            seen[alias.draw(&mut random)] += 1;
        }
        // A weight of 1 is expected 10,000 times. The tolerance is 1,000, which is five standard
        // deviations of the largest count.
        for (count, expected) in seen.iter().zip([10_000.0, 0.0, 50_000.0, 20_000.0, 80_000.0]) {
            assert!(
                (f64::from(*count) - expected).abs() <= 1000f64.min(expected / 5.0),
                "{seen:?}"
            );
        }
    }

    #[test]
    fn one_case_is_always_drawn() {
        let alias = Alias::new(&[3.0]);
        let mut random = Random::seed_from_u64(1);
        assert!((0..1000).all(|_| alias.draw(&mut random) == 0));
    }
}
