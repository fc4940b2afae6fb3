//! Garbage collection: one file per policy, and the list.

mod cost_benefit;
mod greedy;
mod stable_greedy;

use vpass_drive::api::gc::{Candidates, GcPolicy, GcTechnique};

/// GC policies, one line each.
pub(crate) const LIST: &[GcTechnique] = &[greedy::CARD, cost_benefit::CARD, stable_greedy::CARD];
