//! Net read wear: how much more a run programs than its twin. The twin is a run of the same
//! workload on flash that reads do not disturb.

use vpass_drive::api::reclaim::{NO_RECLAIM, RECLAIM};
use vpass_drive::config::{DisturbModel, ErrorConfig};

use crate::plan::RunPlan;
use crate::results::Summary;
use crate::results::flash::net_of;
use crate::setup::Watch;

/// Returns the plan of the twin. The twin has flash without disturbance and errors, technique
/// `none`, and the seed of `plan`. Drive file, GC, refresh and parity are those of `plan`.
///
/// Returns `None` if a twin cannot run. Ageing data and reads share one error budget, and hints
/// need this budget.
pub fn twin_of(plan: &RunPlan) -> Option<RunPlan> {
    let config = &plan.drive.config;
    if config.keeps_time() || config.hints.said.is_some() {
        return None;
    }
    let mut twin = RunPlan {
        reclaim: &RECLAIM[0],
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
pub fn serves(first: &RunPlan, plan: &RunPlan) -> bool {
    let of = |plan: &RunPlan| (plan.gc.name, plan.refresh.name, plan.parity.name, plan.seed);
    of(first) == of(plan)
}

/// Returns whether a plan is itself a twin: its flash has no read disturb, and it has no reclaim.
pub fn is_twin(plan: &RunPlan) -> bool {
    *plan.reclaim == *NO_RECLAIM && !plan.drive.config.disturb.model.disturbs()
}

/// Writes the net read wear into the summary of a run. Net read wear stays unknown if the host read
/// nothing. Net read wear also stays unknown if the twin's host moved other numbers of bytes, as
/// with `--until stable`.
pub fn put_into(run: &mut Summary, twin: &Summary, plan: &RunPlan) {
    let moved = |s: &Summary| (s.host.read_bytes, s.host.write_bytes);
    if moved(run) == moved(twin) {
        let programs = (run.flash.programs.sum(), twin.flash.programs.sum());
        let page_bytes = plan.drive.config.geometry.page_size.0 as f64;
        run.read_wear_net = net_of(programs, page_bytes, run.host.read_bytes);
    }
}
