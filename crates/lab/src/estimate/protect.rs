//! Reasons why a technique does not protect the data of a drive during its whole life. A drive that
//! loses data has no life that an estimate could tell.
//!
//! ```text
//! count on `tiny` at 3,000 P/E cycles: a wordline endures a dose of 20,000; each page read of the
//! block adds 1.1 to it, so data is lost after 18,182 reads; `count` moves the block after 70,000
//! ```

use vpass_drive::api::card::Protection;
use vpass_drive::api::reclaim::promise::first_broken;
use vpass_drive::base::geometry::Geometry;
use vpass_drive::disturb::table::{LimitTable, dose_per_kind};

use super::host::{Host, Order};
use crate::numbers::count;
use crate::plan::RunPlan;

/// Factor by which a block may serve more reads than the mean block before the host's writes cause
/// its next erase.
const ABOVE_MEAN: f64 = 2.0;

/// Returns the reason why the technique does not protect the data until the drive is worn out.
/// Returns `None` if it protects the data. `threshold` is the number of page reads at which the
/// technique moves a block of the rated P/E count. `served` is the mean number of page reads of a
/// block before the host's writes cause its erase; `None` if some blocks are never written.
pub(super) fn why_not(
    plan: &RunPlan,
    host: Option<&Host>,
    threshold: Option<f64>,
    served: Option<f64>,
) -> Option<String> {
    let (config, label) = (&plan.drive.config, plan.reclaim.name);
    if !config.disturb.model.disturbs() || host.is_some_and(|host| host.reads <= 0.0) {
        return None;
    }
    let rated = config.drive.rated_pec;
    if !matches!(plan.reclaim.protects, Protection::None) {
        let (pec, _) = first_broken(config, plan.reclaim, rated)?;
        return Some(format!(
            "`{label}` does not protect the data: from {} P/E cycles on, its guarantee does not \
             hold",
            count(pec.into())
        ));
    }
    let moved = threshold.map_or_else(|| "is never rewritten".into(), |reads| rewritten("", reads));
    let (moves_at, moved) = match served.map(|served| ABOVE_MEAN * served) {
        Some(served) if threshold.is_none_or(|threshold| served < threshold) => {
            (served, rewritten("up to ", served))
        }
        _ => (threshold.unwrap_or(f64::INFINITY), moved),
    };
    let is_even = host.is_some_and(|host| host.order == Order::Even);
    let endured = |is_even| endured(plan, rated, is_even);
    let (Some(most), Some(least)) = (endured(true), endured(false)) else {
        return Some(format!(
            "`{label}` gives no guarantee, and the drive has no fixed read limits"
        ));
    };
    let (reads, loses) = match () {
        () if most < moves_at => (most, "loses"),
        () if least < moves_at && !is_even => (least, "may lose"),
        () => return None,
    };
    Some(format!(
        "`{label}` does not protect the data: at {} P/E cycles, a block {loses} data after {} \
         reads, but {moved}",
        count(rated.into()),
        count(reads as u64)
    ))
}

fn rewritten(most: &str, reads: f64) -> String {
    format!("is rewritten after {most}{}", count(reads as u64))
}

/// Returns the number of page reads after which the weakest block loses data, at this P/E count.
/// The reads are spread evenly over the block's wordlines, or all are on neighbours of the weakest
/// wordline. Returns `None` if the drive has no fixed limits, because reads may be retried.
fn endured(plan: &RunPlan, pec: u32, is_even: bool) -> Option<f64> {
    let config = &plan.drive.config;
    let table = LimitTable::of(config).filter(|_| !config.has_retries())?;
    let geometry = Geometry::new(config);
    let kinds = geometry.cell.bits() as usize;
    let doses = dose_per_kind(config.disturb.dose, geometry.cell);
    let dose = doses[..kinds].iter().map(|dose| dose.units()).sum::<f64>() / kinds as f64;
    let of_group = |group: usize| {
        let truth = table.truth(group, pec);
        let beside =
            if config.disturb.model.has_neighbours() { truth.alpha.weight() - 1.0 } else { 0.0 };
        let share = if is_even { 2.0 / f64::from(geometry.wordlines_per_block) } else { 1.0 };
        truth.limit.units() / (1.0 + beside * share) / dose
    };
    let used = |group: &usize| geometry.wordlines_in_block().any(|w| table.group_of(w) == *group);
    (0..table.groups()).filter(used).map(of_group).min_by(f64::total_cmp)
}
