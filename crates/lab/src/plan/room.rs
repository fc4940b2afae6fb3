//! Check that parity fits on the drive. Compared plans share a drive. If the parity of one plan
//! does not fit, the error names a capacity that suits all plans.

use vpass_drive::api::parity;

use super::RunPlan;
use crate::failure::Failure;

/// Refuses plans for one drive if the parity of any plan does not fit.
///
/// # Errors
/// Reports too little space. Also reports the largest capacity on the same flash that suits all
/// plans.
pub fn require_room(plans: &[&RunPlan]) -> Result<(), Failure> {
    // If the plans that need the most space fit, all other plans fit, too.
    let lacking = plans
        .iter()
        .zip(room_of_each(plans))
        .filter_map(|(plan, why)| Some((most_pages(plan), why?)));
    let most_needed = lacking.min_by_key(|(pages, _)| *pages);
    most_needed.map_or(Ok(()), |(_, why)| Err(Failure::usage(why)))
}

/// Returns, for each plan, the reason why its parity does not fit. The reason names the largest
/// capacity that suits all plans. A plan that fits has `None`.
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
