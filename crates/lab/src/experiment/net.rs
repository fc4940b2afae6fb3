//! Net read wear: the number of pages that a run programs, minus the number that the run's twin
//! programs. The twin is a run of the same workload on flash without read disturb.

use vpass_drive::api::reclaim::NO_RECLAIM;
use vpass_drive::config::{DisturbModel, ErrorConfig};
use vpass_techniques::card;

use crate::failure::Failure;
use crate::plan::RunPlan;
use crate::results::Summary;
use crate::results::flash::net_of;
use crate::setup::Watch;

/// Returns the plan of the twin of `plan`. The twin has flash without read disturb and without
/// errors, and its reclaim technique is `none`. The seed, the drive file, GC, refresh and parity
/// are the same as in `plan`.
///
/// Returns `None` if data ages or the host gives hints. A twin has no errors, and therefore cannot
/// simulate the ageing of data or the effect of hints.
fn twin_of(plan: &RunPlan) -> Option<RunPlan> {
    let config = &plan.drive.config;
    if config.keeps_time() || config.hints.said.is_some() {
        return None;
    }
    let mut twin = RunPlan {
        reclaim: card(NO_RECLAIM),
        ages: vec![],
        oracle: Watch::Off,
        stages: false,
        files: false,
        watchers: vec![],
        ..plan.clone()
    };
    twin.drive.config.disturb.model = DisturbModel::None;
    twin.drive.config.error = ErrorConfig::default();
    twin.checked().ok()
}

/// Returns whether the twin of `first` is also a twin for `plan`. Both plans must have the same GC,
/// refresh, parity and seed, because net read wear is the effect of reads alone.
fn serves(first: &RunPlan, plan: &RunPlan) -> bool {
    let of = |plan: &RunPlan| (plan.gc.name, plan.refresh.name, plan.parity.name, plan.seed);
    of(first) == of(plan)
}

/// Returns whether a plan is a twin. A twin has flash without read disturb, and no read reclaim.
fn is_twin(plan: &RunPlan) -> bool {
    *plan.reclaim == *NO_RECLAIM && !plan.drive.config.disturb.model.disturbs()
}

/// Returns an undisturbed twin for each of these plans, which have different seeds. `all` has all
/// plans that run. If one of them is such a twin, no further twin is needed.
pub fn twins(firsts: &[RunPlan], all: &[&RunPlan]) -> Vec<RunPlan> {
    let has_twin = |first: &&RunPlan| all.iter().any(|plan| is_twin(plan) && serves(first, plan));
    firsts.iter().filter(|first| !has_twin(first)).filter_map(twin_of).collect()
}

/// Writes the net read wear into the runs that have a twin among them.
pub fn add(plans: &[&RunPlan], runs: &mut [Result<Summary, Failure>]) {
    for (at, twin) in plans.iter().enumerate().filter(|(_, plan)| is_twin(plan)) {
        let Ok(of_twin) = runs[at].clone() else { continue };
        for (plan, run) in plans.iter().zip(runs.iter_mut()) {
            if let (true, Ok(run)) = (serves(twin, plan), run) {
                put_into(run, &of_twin, plan);
            }
        }
    }
}

/// Writes the net read wear into the summary of a run. Net read wear stays unknown if the host read
/// nothing. Net read wear also stays unknown if the run and the twin served different numbers of
/// bytes, which can happen with `--until stable`.
fn put_into(run: &mut Summary, twin: &Summary, plan: &RunPlan) {
    let moved = |s: &Summary| (s.host.read_bytes, s.host.write_bytes);
    if moved(run) == moved(twin) {
        let programs = (run.flash.programs.sum(), twin.flash.programs.sum());
        let page_bytes = plan.drive.config.geometry.page_size.0 as f64;
        run.read_wear_net = net_of(programs, page_bytes, run.host.read_bytes);
    }
}
