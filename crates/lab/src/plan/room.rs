//! Check that the drive has enough space for parity. Plans that are compared use the same drive. If
//! the drive is too small for at least one of the plans, the error names a capacity that suits all
//! plans.

use vpass_drive::api::parity;

use super::RunPlan;
use crate::failure::Failure;

/// Refuses plans that use the same drive, if the drive has too little space for the parity of at
/// least one plan.
///
/// # Errors
/// Returns an error if there is too little space. The error names the largest capacity that suits
/// all plans on the same flash.
pub fn require_room(plans: &[&RunPlan]) -> Result<(), Failure> {
    // The error of the plan that needs the most space is returned.
    let lacking = plans
        .iter()
        .zip(room_of_each(plans))
        .filter_map(|(plan, why)| Some((most_pages(plan), why?)));
    let most_needed = lacking.min_by_key(|(pages, _)| *pages);
    most_needed.map_or(Ok(()), |(_, why)| Err(Failure::usage(why)))
}

/// Returns one item for each plan: the reason why there is too little space for parity, or `None`
/// if there is enough. The reason names the largest capacity that suits all plans.
pub fn room_of_each(plans: &[&RunPlan]) -> Vec<Option<String>> {
    let lacks: Vec<_> = plans
        .iter()
        .map(|plan| parity::lack_of_room(&plan.drive.config, plan.parity, plan.reclaim))
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

/// Returns the largest number of host pages that leaves enough space for the parity.
fn most_pages(plan: &RunPlan) -> u32 {
    parity::most_pages(&plan.drive.config, plan.reclaim)
}
