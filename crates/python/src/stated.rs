//! Values that a Python policy states about blocks at a P/E count: budgets and thresholds.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyDictMethods, PyList};
use vpass_drive::api::card::Protection;
use vpass_drive::api::reclaim::{Budget as Core, Promise, Threshold, View as Look};

/// Limit of a wordline in dose units, and the parts of the limit that a policy reserves.
#[pyclass(frozen, module = "vpass")]
#[derive(Clone, Copy)]
pub(crate) struct Budget(Core);

#[pymethods]
impl Budget {
    /// Makes the budget of a group of wordlines. `reads` is the number of neighbour reads until the
    /// wordline is rewritten. `own` is the dose from the reads of the rewrite itself.
    #[new]
    #[pyo3(signature = (*, group, endures, alpha, reads, own))]
    fn new(group: usize, endures: f64, alpha: f64, reads: u32, own: f64) -> PyResult<Self> {
        if [endures, alpha, own].iter().any(|number| !number.is_finite()) {
            return Err(PyValueError::new_err(
                "endures, alpha and own of a Budget must be finite numbers of dose units",
            ));
        }
        Ok(Self(Core { group, endures, alpha, reads, own }))
    }

    /// Dose units of the limit that remain. The number is negative if the guarantee does not hold.
    #[getter]
    fn slack(&self) -> f64 {
        self.0.slack()
    }
}

/// Returns the guarantee that follows from an answer: a budget, a list of budgets, or `None`.
pub(crate) fn promise(
    answer: &Bound<'_, PyAny>,
    protects: Protection,
    look: &Look,
) -> PyResult<Promise> {
    let budgets: Vec<Core> = match (answer.cast::<Budget>(), answer.cast::<PyList>()) {
        (Ok(one), _) => vec![one.get().0],
        (_, Ok(list)) => list
            .iter()
            .map(|one| Ok(one.cast::<Budget>().map_err(|_| not_a_budget(&one))?.get().0))
            .collect::<PyResult<_>>()?,
        _ if answer.is_none() => vec![],
        _ => return Err(not_a_budget(answer)),
    };
    let groups = look.disturb.groups.len();
    if let Some(beyond) = budgets.iter().find(|budget| budget.group >= groups) {
        return Err(PyValueError::new_err(format!(
            "a Budget names group {}, but the drive has groups 0 to {}",
            beyond.group,
            groups - 1
        )));
    }
    let Some(tightest) = budgets.into_iter().min_by(|a, b| a.slack().total_cmp(&b.slack())) else {
        return Ok(Promise::Nothing("a policy in Python states no budget"));
    };
    Ok(match protects {
        Protection::Sound => Promise::Within(tightest),
        Protection::Deceivable => Promise::Deceivable(tightest),
        Protection::Unsafe => {
            Promise::Unsafe(tightest, "the policy in Python says that its budget is too small")
        }
        Protection::None => Promise::Nothing("the policy in Python protects nothing"),
    })
}

fn not_a_budget(answer: &Bound<'_, PyAny>) -> PyErr {
    let kind = answer.get_type().name().map_or_else(|_| "?".into(), |name| name.to_string());
    PyTypeError::new_err(format!(
        "budget() returned a {kind}; a Budget, a list of Budgets, or None is expected"
    ))
}

/// Returns the thresholds in an answer. The answer maps names to numbers of reads of a block.
pub(crate) fn thresholds(answer: &Bound<'_, PyAny>) -> PyResult<Vec<Threshold>> {
    if answer.is_none() {
        return Ok(vec![]);
    }
    let named = answer.cast::<PyDict>().map_err(|_| {
        PyTypeError::new_err("thresholds must be None, or a dict from names to numbers of reads")
    })?;
    let mut all = vec![];
    for (name, reads) in named.iter() {
        let (name, reads): (String, f64) = (name.extract()?, reads.extract()?);
        if !reads.is_finite() || !(1.0..=f64::from(u32::MAX)).contains(&reads) {
            return Err(PyValueError::new_err(format!(
                "threshold {name} is {reads}; it must be 1 read or more, and a threshold that is \
                 never reached must be left out"
            )));
        }
        all.push(Threshold { name, reads: reads as u32, because: "as the policy states".into() });
    }
    Ok(all)
}
