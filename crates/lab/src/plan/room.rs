//! Room for parity: plans that are compared share a drive, and those that do not fit on it are
//! refused with a capacity on which all fit.

use vpass_core::slots::parity;
use vpass_core::slots::reclaim::{Technique, technique};

use super::RunPlan;
use crate::failure::Failure;

/// Refuses plans for one drive of which one has no room there for its parity.
///
/// # Errors
/// What is short of room, and the largest capacity on the same flash on which all these plans fit.
pub fn require_room(plans: &[&RunPlan]) -> Result<(), Failure> {
    // Where those fit that need most, all others do.
    let lacking = plans
        .iter()
        .zip(room_of_each(plans))
        .filter_map(|(plan, why)| Some((most_pages(plan), why?)));
    let most_needed = lacking.min_by_key(|(pages, _)| *pages);
    most_needed.map_or(Ok(()), |(_, why)| Err(Failure::usage(why)))
}

/// Why each of these plans for one drive has no room there for its parity, with the largest
/// capacity on which all of them fit; none for a plan that has room.
pub fn room_of_each(plans: &[&RunPlan]) -> Vec<Option<String>> {
    let lacks: Vec<_> = plans
        .iter()
        .map(|plan| parity::lack_of_room(&plan.drive.config, plan.parity, reclaim_of(plan)))
        .collect();
    let lacking = plans.iter().zip(&lacks).filter(|(_, lack)| lack.is_some());
    let Some(pages) = lacking.map(|(plan, _)| most_pages(plan)).min() else {
        return vec![None; plans.len()];
    };
    let for_whom = if plans.len() > 1 {
        format!(" for all {} rows of the comparison", plans.len())
    } else {
        String::new()
    };
    let why = |(plan, lack): (&&RunPlan, Option<_>)| {
        let right = parity::right_capacity(&plan.drive.config, pages, &for_whom);
        Some(format!("drive {}: {}: {right}", plan.drive.name, lack?))
    };
    plans.iter().zip(lacks).map(why).collect()
}

/// Pages of a host that fit beside the parity.
fn most_pages(plan: &RunPlan) -> u32 {
    parity::most_pages(&plan.drive.config, reclaim_of(plan))
}

fn reclaim_of(plan: &RunPlan) -> &'static Technique {
    technique(plan.reclaim).expect("it is a name of the list")
}
