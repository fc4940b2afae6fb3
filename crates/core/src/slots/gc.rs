//! Garbage collection: which block to clean next. One policy a file; this file is the seam.

mod cost_benefit;
mod greedy;
mod stable_greedy;
pub(crate) mod victims;

use crate::base::units::BlockId;
use crate::config::GcConfig;
use crate::slots::gc::victims::VictimIndex;

/// What a policy may pick from, and what it may know of it.
pub struct Candidates<'a> {
    /// Closed blocks by their valid pages, scaled to a full block.
    pub index: &'a VictimIndex,
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

/// Picks victims. It sees closed blocks by their valid pages over the pages they could hold (a mode may take pages away),
/// scaled to a full block.
pub trait GcPolicy: Send {
    /// The block to clean.
    fn pick(&self, among: &Candidates) -> Option<BlockId>;
}

/// A GC policy's name, what it does, and its constructor.
pub struct GcTechnique {
    /// Name on the command line.
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    new: fn(&GcConfig) -> Box<dyn GcPolicy>,
}

/// Every GC policy; one line each.
pub const GC: &[GcTechnique] = &[
    GcTechnique { name: "greedy", summary: "cleans the block with the fewest valid pages", new: |_| Box::new(greedy::Greedy) },
    GcTechnique {
        name: "cost-benefit",
        summary: "weighs the space a block gives against how long it was left alone",
        new: |_| Box::new(cost_benefit::CostBenefit),
    },
    GcTechnique {
        name: "stable-greedy",
        summary: "of the emptiest blocks one left alone for long, the least worn first (TECS 2016, as far as it is public)",
        new: |config| Box::new(stable_greedy::StableGreedy::new(config)),
    },
];

/// The GC policy of this name.
pub fn gc_policy(name: &str, config: &GcConfig) -> Option<Box<dyn GcPolicy>> {
    GC.iter().find(|t| t.name == name).map(|t| (t.new)(config))
}
