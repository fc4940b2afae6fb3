//! `vpass run --seeds`: repeats a run with other seeds. Some events are so rare that one run may
//! not have them.

use vpass_drive::base::phrase::Opt;
use vpass_drive::config::ErrorLaw;
use vpass_lab::failure::Failure;
use vpass_lab::plan::RunPlan;
use vpass_lab::results::Uber;
use vpass_lab::{memory, run};

use crate::progress::Bar;

/// Runs the plan with each further seed. Returns the UBER (uncorrectable bit error rate) and the
/// lost pages of these runs. `seeds` is the number of all seeds, including the plan's own seed.
pub(crate) fn others(plan: &RunPlan, seeds: u32) -> Result<Vec<(Uber, u64)>, Failure> {
    if seeds == 1 {
        return Ok(vec![]);
    }
    let config = &plan.drive.config;
    if config.error.model == ErrorLaw::None || config.ecc.codeword.is_none() {
        return Err(Failure::usage(format!(
            "several seeds repeat a run to find its UBER, but drive {} has no error rates. Set \
             ecc.codeword and an error.model other than none. For all other results, use `vpass \
             compare` with several seeds",
            plan.drive.name
        ))
        .at(Opt::Seeds.to(seeds)));
    }
    memory::require(plan)?;
    let one = |n: u32| {
        let plan = plan.with_later_seed(n.into())?;
        let progress = Bar::new(plan.requests()?, "requests");
        let summary = run::execute(&plan, &progress)?.summary;
        Ok((
            summary.uber.expect("the data of this drive has error rates and codewords"),
            summary.data_lost_pages,
        ))
    };
    (1..seeds).map(one).collect()
}
