//! The ages of what a drive begins with (`start.age`): each written block was programmed at a time
//! drawn evenly from that long before time 0 on.
//!
//! All was written at time 0, as far as the drive is concerned; an age is a time below 0 in the
//! block's record. Who refreshes data is told of it.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::base::units::{BlockId, Ns};
use crate::drive::Drive;

impl Drive {
    /// Gives every written block its age; the same seed, the same ages.
    pub(super) fn age_before_start(&mut self, seed: u64) {
        let oldest = self.config.start.age.0;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0xA6ED_A6ED);
        for block in self.geometry.block_ids() {
            let age = evenly(rng.next_u64(), oldest);
            if self.flash.hot(block).write_ptr > 0 {
                self.flash.set_age(block, age);
                self.arm_for_age(block);
            }
        }
    }

    /// The refresh technique says when it wants to look at a block first.
    fn arm_for_age(&mut self, block: BlockId) {
        let since = self.flash.cold(block).programmed_at;
        if let Some(at) = self.refresh.first_look(since) {
            self.ftl.wheel.set(block, at);
        }
        if self.ftl.steps.runs {
            self.ftl.steps.set(block, since);
        }
        self.flash.tell(|o| o.aged(block, since));
    }
}

/// A number from 0 to `most`, each as likely, of 64 random bits.
fn evenly(random: u64, most: Ns) -> Ns {
    ((u128::from(random) * (u128::from(most) + 1)) >> 64) as Ns
}
