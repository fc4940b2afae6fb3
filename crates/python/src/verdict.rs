//! Comparison of finished runs: the net read wear, and the verdict that `vpass compare` prints below
//! its table.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use vpass_lab::compare::{Comparison, Finished};
use vpass_lab::experiment::net;
use vpass_lab::plan::RunPlan;
use vpass_lab::progress::Unwatched;
use vpass_lab::results::Summary;
use vpass_lab::run::execute;

use crate::ran::Ran;
use crate::run::awaited;
use crate::shared::Shared;

/// Returns the sentences about the runs of several techniques. All techniques have the same number
/// of seeds.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 passes arguments from Python by value")]
pub(crate) fn verdict(runs: Vec<Vec<PyRef<'_, Ran>>>) -> PyResult<Vec<String>> {
    let seeds = runs.first().map_or(0, Vec::len);
    if seeds == 0 || runs.iter().any(|of| of.len() != seeds) {
        return Err(PyValueError::new_err("a verdict needs a run of each technique and seed"));
    }
    let mut all: Vec<(RunPlan, Summary)> = vec![];
    for run in runs.iter().flatten() {
        let of = run.of.lock().map_err(|_| PyValueError::new_err("a run is in use"))?;
        all.push((of.0.clone(), of.1.summary.clone()));
    }
    let label = |plan: &RunPlan| plan.reclaim.name.to_owned();
    let finished = all.chunks(seeds).map(|runs| Finished {
        plan: &runs[0].0,
        label: label(&runs[0].0),
        runs: runs.iter().map(|(_, summary)| Ok(summary.clone())).collect(),
    });
    Ok(Comparison::of(finished.collect(), vec![]).verdict)
}

/// Returns the net read wear of each run, in the order of the runs. The runs are one for each
/// technique, with the same seed. Their twin runs first, on flash that reads do not disturb.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 passes arguments from Python by value")]
pub(crate) fn read_wear_net(
    py: Python<'_>,
    runs: Vec<PyRef<'_, Ran>>,
) -> PyResult<Vec<Option<f64>>> {
    let (mut plans, mut summaries) = (vec![], vec![]);
    for run in &runs {
        let of = run.of.lock().map_err(|_| PyValueError::new_err("a run is in use"))?;
        plans.push(of.0.clone());
        summaries.push(Ok(of.1.summary.clone()));
    }
    let count = plans.len();
    let work = move || {
        let twins = net::twins(&plans[..1], &plans.iter().collect::<Vec<_>>());
        for twin in twins {
            summaries.push(execute(&twin, &Unwatched).map(|outcome| outcome.summary));
            plans.push(twin);
        }
        net::add(&plans.iter().collect::<Vec<_>>(), &mut summaries);
        summaries.truncate(count);
        summaries.into_iter().map(|run| run.ok()?.read_wear_net).collect()
    };
    let shared = Shared::default();
    let found = awaited(py, &shared, work);
    shared.take_error().map_or_else(|| Ok(found.unwrap_or_else(|| vec![None; count])), Err)
}
