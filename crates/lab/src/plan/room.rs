//! Room for parity: plans that are compared share a drive, and all of them must fit on it.

use vpass_core::slots::parity;
use vpass_core::slots::reclaim::{Technique, technique};

use super::RunPlan;
use crate::failure::Failure;

/// Refuses plans for one drive of which one has no room there for its parity.
///
/// # Errors
/// What is short of room, and the largest capacity on the same flash on which all these plans fit.
pub fn require_room(plans: &[&RunPlan]) -> Result<(), Failure> {
    let lacking = plans.iter().filter_map(|plan| {
        let lack = parity::lack_of_room(&plan.drive.config, plan.parity, reclaim_of(plan))?;
        Some((parity::most_pages(&plan.drive.config, reclaim_of(plan)), plan, lack))
    });
    // Where those fit that need most, all others do.
    let Some((pages, plan, lack)) = lacking.min_by_key(|(pages, ..)| *pages) else { return Ok(()) };
    let for_whom = if plans.len() > 1 { format!(" for all {} rows of the comparison", plans.len()) } else { String::new() };
    let right = parity::right_capacity(&plan.drive.config, pages, &for_whom);
    Err(Failure::usage(format!("drive {}: {lack}: {right}", plan.drive.name)))
}

fn reclaim_of(plan: &RunPlan) -> &'static Technique {
    technique(plan.reclaim).expect("it is a name of the list")
}
