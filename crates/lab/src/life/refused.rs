//! Refusal of plans that cannot have a life.

use vpass_drive::base::phrase::{Opt, set};
use vpass_drive::base::request::{Arrival, RequestSource};
use vpass_drive::config::{DriveConfig, ErrorLaw};
use vpass_drive::phrase;
use vpass_workload::traces::shown;

use super::{MOST_YEARS, Until};
use crate::failure::Failure;
use crate::plan::{RunPlan, Workload};
use crate::setup::Gear;

/// Refuses a plan that cannot have a life. Examples are a workload without request times, and a
/// limit for the error rate of a drive without error rates.
///
/// # Errors
/// Returns an error if a setting is missing or wrong. The error names the setting.
pub fn check(plan: &RunPlan, until: Until) -> Result<(), Failure> {
    check_end(plan, until)?;
    if plan.gear == Gear::Timed {
        return Err(Failure::usage(phrase![
            "vpass life takes ",
            Opt::Gear.to("fluid"),
            " or, to check it, ",
            Opt::Gear.to("untimed"),
            "; the timed gear is too slow for years",
        ]));
    }
    if plan.repeat.get() != 1 || plan.until_stable || plan.warm_up > 0 || !plan.ages.is_empty() {
        return Err(Failure::usage(phrase![
            Opt::Repeat,
            ", ",
            Opt::Until,
            ", ",
            Opt::WarmUp,
            " and ",
            Opt::Ages,
            " are only for `vpass run` and `vpass compare`: `vpass life` repeats the workload \
             until the life ends, counts from the first request and includes every age",
        ]));
    }
    if !plan.fail.is_empty() {
        return Err(Failure::usage(
            "the recording holds failures of flash, but `vpass life` repeats its workload; replay \
             it with `vpass run` or `vpass compare`",
        ));
    }
    check_duration(plan)?;
    if plan.gear == Gear::Untimed && plan.source()?.arrival() != Arrival::Open {
        return Err(Failure::usage(phrase![
            "the workload has neither a rate nor time stamps, but `vpass life` counts years: set \
             workload.rate, which replaces workload.queue_depth (",
            set("workload.rate", 1000),
            "), or replay a trace with its recorded times, without ",
            Opt::QueueDepth,
            "; for a closed loop, `vpass run` and `vpass compare` count the life in bytes until \
             the drive is worn out",
        ]));
    }
    Ok(())
}

/// Refuses a trace without a duration. The trace is repeated for years, so its duration gives the
/// number of requests per second.
fn check_duration(plan: &RunPlan) -> Result<(), Failure> {
    let Workload::Trace { survey, .. } = &plan.workload else { return Ok(()) };
    match survey.files() {
        [file] if file.span_ns == 0 => Err(Failure::usage(format!(
            "{}: all requests of the trace have the same time, so the trace has no duration and no \
             number of requests per second",
            shown(&file.path)
        ))
        .with_remedy(
            "give a longer trace, or a generated workload with workload.rate (see `vpass workload \
             fit`)",
        )),
        _ => Ok(()),
    }
}

/// Refuses a limit that cannot end a life. The limit is a number of years or an error rate.
fn check_end(plan: &RunPlan, until: Until) -> Result<(), Failure> {
    if let Some(years) = until.years.filter(|years| !(*years > 0.0 && *years <= MOST_YEARS)) {
        return Err(Failure::usage(format!(
            "a number of years above 0 and up to {MOST_YEARS} is expected"
        ))
        .at(Opt::Years.to(years)));
    }
    if let Some(uber) = until.uber.filter(|uber| !(*uber > 0.0 && *uber < 1.0)) {
        return Err(Failure::usage(
            "an error rate above 0 and below 1 is expected, in errors per bit read; JESD218 has \
             1e-15 for client drives and 1e-16 for enterprise drives",
        )
        .at(Opt::Uber.to(format_args!("{uber:e}"))));
    }
    if let Some(uber) = until.uber.filter(|_| !has_uber(&plan.drive.config)) {
        return Err(Failure::usage(format!(
            "drive {} has no error rate, so the errors of its reads are unknown",
            plan.drive.name
        ))
        .at(Opt::Uber.to(format_args!("{uber:e}")))
        .with_remedy(
            "set error.model with its numbers, set ecc.codeword and ecc.cap, or use a drive with \
             error rates, for example aged-tlc",
        ));
    }
    Ok(())
}

/// Returns whether the configuration of the drive determines how many codewords are lost in reads.
fn has_uber(config: &DriveConfig) -> bool {
    config.error.model != ErrorLaw::None
        && config.ecc.codeword.is_some()
        && config.disturb.model.has_table()
}

/// Refuses a drive that is worn out before the life begins: writing the start-up content already
/// brings the mean block to the rated P/E cycles.
///
/// ```text
/// start.pec = 15,000 and rated_pec = 15,006; writing the content takes 9.3 P/E cycles
/// the drive has 15,009.3 P/E cycles at the start of its life, so it is refused
/// ```
pub(super) fn require_life(plan: &RunPlan, worn: f64) -> Result<(), Failure> {
    let (start, rated) = (plan.drive.config.start.pec, plan.drive.config.drive.rated_pec);
    if worn < f64::from(rated) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "drive {}: once the start-up data is written, the mean block has {worn:.1} P/E cycles, but \
         drive.rated_pec = {rated}, so no life is left. start.pec is {start}; set a smaller \
         start.pec, or a drive.rated_pec of {} or more",
        plan.drive.name,
        worn.floor() as u64 + 1
    )))
}
