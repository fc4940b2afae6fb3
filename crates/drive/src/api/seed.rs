//! Seed for the random draws of a technique. It is computed from the run's seed and the technique's
//! name, so a new technique does not change the draws of others.

use crate::base::splitmix::number;

/// Seed that a technique gets in a run.
#[derive(Clone, Copy, Debug)]
pub struct Seed {
    run: u64,
    /// Hash of the slot's name and the technique's name.
    name: u64,
}

impl Seed {
    /// Creates a technique's seed from the run's seed, the slot's name and the technique's name.
    pub(super) fn new(run: u64, slot: &str, technique: &str) -> Self {
        let bytes = slot.bytes().chain([b'.']).chain(technique.bytes());
        // The hash function is FNV-1a.
        Self {
            run,
            name: bytes.fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
            }),
        }
    }

    /// Returns the technique's own seed. It differs from the own seeds of all other techniques.
    pub fn own(self) -> u64 {
        // The function `number` turns consecutive seeds and similar names into very different
        // numbers.
        number(self.run ^ self.name, 0)
    }

    /// Returns the run's seed. Only techniques with published random draws use it, and each of them
    /// combines it with its own hash.
    pub fn of_run(self) -> u64 {
        self.run
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn techniques_draw_apart_and_runs_too() {
        let own = |run, slot, name| Seed::new(run, slot, name).own();
        let seeds = [
            own(1, "reclaim", "block"),
            own(1, "refresh", "block"),
            own(1, "reclaim", "none"),
            own(2, "reclaim", "block"),
        ];
        assert!((0..4).all(|i| (0..i).all(|j| seeds[i] != seeds[j])), "{seeds:?}");
        assert_eq!(own(1, "reclaim", "block"), seeds[0]);
        assert_eq!(Seed::new(7, "refresh", "ida").of_run(), 7);
    }
}
