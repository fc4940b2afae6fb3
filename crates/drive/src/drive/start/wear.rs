//! Wear that differs from block to block at the start (`start.pec_spread`, `start.worn_share`). It
//! represents a used drive with some blocks more worn than others.
//!
//! Data of the start-up state lies in blocks of any wear, as on a used drive. Later writes go where
//! wear levelling sends them.
//!
//! ```text
//! pec = 14990, pec_spread = 10                    each block has 14,990 to 15,000 cycles, each count as likely
//! worn_share = 0.01, worn_pec = 15001             1 of 100 blocks, wherever it lies, has 15,001 cycles
//! ```

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::base::units::BlockId;
use crate::drive::Drive;
use crate::drive::start::precondition::below;
use crate::watch::observer::Event;

impl Drive {
    /// Gives each block its wear at the start. The same seed gives the same wear.
    pub(super) fn wear_before_start(&mut self, seed: u64) {
        let start = &self.config.start;
        let (spread, blocks) = (start.pec_spread, self.geometry.blocks);
        let worn = (f64::from(blocks) * start.worn_share).round() as u32;
        if spread == 0 && worn == 0 {
            return;
        }
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x0A9E_0DB1_0C4B);
        let mut more: Vec<u32> = (0..blocks).map(|_| below(&mut rng, spread + 1)).collect();
        let mut order: Vec<BlockId> = self.geometry.block_ids().collect();
        for n in 0..worn {
            order.swap(n as usize, (n + below(&mut rng, blocks - n)) as usize);
            more[order[n as usize].index()] = start.worn_pec - start.pec;
        }
        self.flash.wear_before_start(more);
        self.ftl.worn.any_is_worn =
            self.geometry.block_ids().any(|block| self.ftl.is_worn(&self.flash, block));
        for block in self.geometry.block_ids() {
            let pec = self.flash.cold(block).pec;
            self.flash.tell(Event::WornBefore { block, pec });
        }
    }

    /// Ranks erased blocks by wear from now on.
    pub(super) fn rank_by_wear(&mut self) {
        if self.flash.is_worn_unevenly() {
            let (flash, ftl) = (&mut self.flash, &mut self.ftl);
            ftl.rank_free(flash);
        }
    }
}
