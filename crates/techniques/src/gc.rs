//! Garbage collection (GC): the list of GC policies. Each policy has its own file.

mod cost_benefit;
mod greedy;
mod stable_greedy;

use vpass_drive::api::gc::{Candidates, GcPolicy, GcTechnique};

/// All GC policies of this crate.
pub(crate) const LIST: &[GcTechnique] = &[greedy::CARD, cost_benefit::CARD, stable_greedy::CARD];
