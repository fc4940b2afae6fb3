//! Garbage collection: which block to clean next. One policy a file; this file is the seam.

mod cost_benefit;
mod greedy;

use crate::ftl::victims::VictimIndex;
use crate::units::BlockId;

/// Picks victims. It sees closed blocks by their valid pages over the pages they could hold (a mode may take pages away),
/// scaled to a full block.
pub trait GcPolicy: Send {
    /// The block to clean, of those for which `allowed` holds; `clock` counts page programs of the drive.
    fn pick(&self, index: &VictimIndex, pages_per_block: u32, clock: u32, allowed: &dyn Fn(BlockId) -> bool) -> Option<BlockId>;
}

/// A GC policy's name, what it does, and its constructor.
pub struct GcTechnique {
    /// Name on the command line.
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    new: fn() -> Box<dyn GcPolicy>,
}

/// Every GC policy; one line each.
pub const GC: &[GcTechnique] = &[
    GcTechnique { name: "greedy", summary: "cleans the block with the fewest valid pages", new: || Box::new(greedy::Greedy) },
    GcTechnique {
        name: "cost-benefit",
        summary: "weighs the space a block gives against how long it was left alone",
        new: || Box::new(cost_benefit::CostBenefit),
    },
];

/// The GC policy of this name.
pub fn gc_policy(name: &str) -> Option<Box<dyn GcPolicy>> {
    GC.iter().find(|t| t.name == name).map(|t| (t.new)())
}
