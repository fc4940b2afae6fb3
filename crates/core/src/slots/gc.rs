//! Garbage collection: chooses the next block to clean. This file is the seam; each policy has its
//! own file.

mod cost_benefit;
mod greedy;
mod stable_greedy;
pub(crate) mod victims;

use super::card::{Card, InSlot};
use crate::base::units::BlockId;
use crate::config::{DriveConfig, Params};
use crate::slots::gc::victims::Victims;

/// What a policy may pick from, and what it may know of it.
pub struct Candidates<'a> {
    /// Closed blocks by their valid pages, scaled to a full block.
    pub index: Victims<'a>,
    /// Pages of a full block.
    pub pages_per_block: u32,
    /// Whether a block may be picked that has no invalid page: it gives nothing back but itself.
    pub full_ones: bool,
    /// Page programs of the drive.
    pub clock: u32,
    /// Whether a block may be picked.
    pub allowed: &'a dyn Fn(BlockId) -> bool,
    /// Effective wear of a block, in thousandths of a cycle.
    pub wear: &'a dyn Fn(BlockId) -> u64,
}

impl Candidates<'_> {
    /// The lists to pick from, fewest valid pages first.
    fn lists(&self) -> impl Iterator<Item = u32> + '_ {
        self.index.buckets().take_while(|valid| self.full_ones || *valid < self.pages_per_block)
    }
}

/// Picks victims. It sees closed blocks by their valid pages over the pages they could hold (a mode
/// may take pages away), scaled to a full block.
pub trait GcPolicy: Send {
    /// The block to clean.
    fn pick(&mut self, among: &Candidates) -> Option<BlockId>;
}

impl InSlot for dyn GcPolicy {
    const TABLE: &'static str = "gc";

    fn given(config: &DriveConfig) -> &Params {
        &config.gc.params
    }

    fn given_mut(config: &mut DriveConfig) -> &mut Params {
        &mut config.gc.params
    }
}

/// A technique of this slot.
pub type GcTechnique = Card<dyn GcPolicy>;

/// Every GC policy; one line each.
pub const GC: &[GcTechnique] = &[greedy::CARD, cost_benefit::CARD, stable_greedy::CARD];

/// The GC policy of this name, for a drive of this configuration.
pub fn gc_policy(name: &str, config: &DriveConfig, seed: u64) -> Option<Box<dyn GcPolicy>> {
    GC.iter().find(|t| t.name == name).map(|t| t.make(config, seed))
}
