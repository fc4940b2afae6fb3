//! Ages of the data in the start-up state (`start.age`). The program time of each written block is
//! drawn evenly from the time `start.age` before time 0.
//!
//! The drive itself writes all data at time 0. An age is a time below 0 in the block's record. The
//! refresh technique sees this age.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::base::units::{BlockId, Ns};
use crate::drive::Drive;
use crate::watch::observer::Event;

impl Drive {
    /// Gives every written block its age. The same seed gives the same ages.
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

    /// Sets the time at which the refresh technique first checks a block.
    fn arm_for_age(&mut self, block: BlockId) {
        let since = self.flash.cold(block).programmed_at;
        if let Some(at) = self.refresh.first_look(since) {
            self.ftl.wheel.set(block, at);
        }
        if self.ftl.steps.runs {
            self.ftl.steps.set(block, since);
        }
        self.flash.tell(Event::Aged { block, since });
    }
}

/// Returns a number from 0 to `most` from 64 random bits. All numbers are equally likely.
fn evenly(random: u64, most: Ns) -> Ns {
    ((u128::from(random) * (u128::from(most) + 1)) >> 64) as Ns
}
