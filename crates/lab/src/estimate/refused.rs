//! Reasons why there is no estimate. Each reason explains why no known equation fits the drive or
//! the technique.

use vpass_drive::api::parity::NO_PARITY;
use vpass_drive::api::reclaim::OWN_AGE;
use vpass_drive::api::refresh::NO_REFRESH;

use crate::plan::{RunPlan, Workload};

/// Returns whether the limits of the technique depend on the age of each block's data.
fn limits_by_age(plan: &RunPlan) -> bool {
    let technique = plan.reclaim;
    let args = technique.args(&plan.drive.config);
    args.has(&OWN_AGE) && args.whole(&OWN_AGE) == 1
}

/// Returns the reason why the equations do not hold for a plan; `None` if they hold. vpass prints
/// the reason after the words "No estimate:".
pub(super) fn why(plan: &RunPlan) -> Option<String> {
    let config = &plan.drive.config;
    let why = match () {
        () if *plan.parity != *NO_PARITY => {
            format!("no equation is known for parity (`{}`)", plan.parity)
        }
        () if config.hints.said.is_some() => "no equation is known for drives with hints".into(),
        () if *plan.refresh != *NO_REFRESH => {
            format!("no equation is known for refresh (`{}`)", plan.refresh)
        }
        () if config.start.pec_most() > config.start.pec => {
            "blocks have different wear at the start (start.pec_spread, start.worn_share)".into()
        }
        () if config.start.pec >= config.drive.rated_pec => "the drive is worn out at the \
             start"
            .into(),
        () if plan.before.is_some() || !plan.fail.is_empty() => {
            "the run has stages or failures".into()
        }
        () if limits_by_age(plan) => {
            "no equation is known for limits that depend on the age of each block (own_age)".into()
        }
        () if matches!(plan.workload, Workload::Adversary { .. }) => {
            "an adversary has no rates".into()
        }
        () => return None,
    };
    Some(why)
}
