//! Verdict on a comparison of techniques: the sentences that `vpass compare` prints below its
//! table.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use vpass_drive::api::card::{Card, InSlot};
use vpass_lab::compare;
use vpass_lab::compare::column::Sizes;
use vpass_lab::compare::verdict::sentences;
use vpass_lab::plan::RunPlan;
use vpass_lab::results::Summary;

use crate::ran::Ran;

/// Returns `first` if both cards have the same name. Each run makes a new card of an object, and
/// all cards of one object stand for one technique.
fn same<P: InSlot + ?Sized>(first: &'static Card<P>, card: &'static Card<P>) -> &'static Card<P> {
    if card.name == first.name { first } else { card }
}

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
    let first = all[0].0.clone();
    for (plan, _) in &mut all {
        plan.gc = same(first.gc, plan.gc);
        plan.refresh = same(first.refresh, plan.refresh);
    }
    let (plans, summaries): (Vec<_>, Vec<_>) = all.into_iter().unzip();
    let plans: Vec<&RunPlan> = plans.iter().collect();
    let (rows, _) = compare::rows(&plans, summaries.into_iter().map(Ok).collect(), seeds);
    Ok(sentences(&rows, &Sizes::of(&first)))
}
