//! Garbage collection policies written in Python, which choose among the blocks with the fewest
//! valid pages.

use std::sync::Arc;

use numpy::PyArray1;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use vpass_drive::api::gc::{self, GcPolicy, GcTechnique};
use vpass_drive::api::given::Given;
use vpass_drive::base::units::BlockId;

use crate::object::Caller;
use crate::shared::Shared;

/// Blocks from which a policy may choose, with the fewest valid pages first. Among blocks with
/// equally many valid pages, the block that has not changed for the longest time comes first. The
/// arrays are copies.
#[pyclass(frozen, module = "vpass")]
pub(crate) struct Candidates {
    /// Number of each block.
    #[pyo3(get)]
    blocks: Py<PyArray1<u32>>,
    /// Number of valid pages of each block, scaled to a full block.
    #[pyo3(get)]
    valid_pages: Py<PyArray1<u32>>,
    /// Number of page programs of the drive since the last change of each block.
    #[pyo3(get)]
    unchanged: Py<PyArray1<u32>>,
    /// Effective P/E cycles of each block.
    #[pyo3(get)]
    wear: Py<PyArray1<f64>>,
    /// Number of pages of a full block.
    #[pyo3(get)]
    pages_per_block: u32,
    /// Number of page programs of the drive so far, modulo 2^32.
    #[pyo3(get)]
    clock: u32,
}

#[pymethods]
impl Candidates {
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.blocks.bind(py).len()
    }
}

/// Python garbage collection policy of one drive.
struct Asked {
    pick: Py<PyAny>,
    /// Largest number of blocks among which the policy chooses.
    most: usize,
    caller: Caller,
}

/// Rows of candidate blocks, before they become arrays.
#[derive(Default)]
struct Rows {
    blocks: Vec<u32>,
    valid_pages: Vec<u32>,
    unchanged: Vec<u32>,
    wear: Vec<f64>,
}

impl Rows {
    fn of(among: &gc::Candidates, most: usize) -> Self {
        let mut rows = Self::default();
        let lists = among.lists().flat_map(|valid| {
            among.index.in_bucket(valid).map(move |(block, since)| (valid, block, since))
        });
        for (valid, block, since) in
            lists.filter(|(_, block, _)| (among.allowed)(*block)).take(most)
        {
            rows.blocks.push(block.number());
            rows.valid_pages.push(valid);
            rows.unchanged.push(among.clock.wrapping_sub(since));
            rows.wear.push((among.wear)(block) as f64 / 1e3);
        }
        rows
    }
}

/// Converts an answer: the number of the chosen block, or `None`.
fn picked(answer: &Bound<'_, PyAny>) -> PyResult<Option<BlockId>> {
    if answer.is_none() {
        return Ok(None);
    }
    let block = answer.extract::<u32>().map_err(|_| {
        let kind = answer.get_type().name().map_or_else(|_| "?".into(), |name| name.to_string());
        PyTypeError::new_err(format!(
            "the gc policy returned a {kind}; the number of a block of `among.blocks`, or None, is \
             expected"
        ))
    })?;
    Ok(Some(BlockId::new(block)))
}

impl GcPolicy for Asked {
    fn pick(&mut self, among: &gc::Candidates) -> Option<BlockId> {
        let rows = Rows::of(among, self.most);
        let first = *rows.blocks.first()?;
        self.caller.call(
            "pick",
            || format!("block {first} and others"),
            |py| {
                let among = Candidates {
                    blocks: PyArray1::from_vec(py, rows.blocks).unbind(),
                    valid_pages: PyArray1::from_vec(py, rows.valid_pages).unbind(),
                    unchanged: PyArray1::from_vec(py, rows.unchanged).unbind(),
                    wear: PyArray1::from_vec(py, rows.wear).unbind(),
                    pages_per_block: among.pages_per_block,
                    clock: among.clock,
                };
                picked(self.pick.call1(py, (among,))?.bind(py))
            },
        )
    }
}

/// Makes the card of a policy object. Each drive gets a deep copy of the object.
///
/// # Errors
/// Reports an object without its method, or with a wrong number of candidates.
pub(crate) fn card(
    object: &Bound<'_, PyAny>,
    shared: &Arc<Shared>,
) -> PyResult<&'static GcTechnique> {
    let caller = Caller::of(("gc", "gc policy"), object, &["pick(among)"], shared)?;
    let name = caller.name.to_string();
    let most = object.getattr_opt("candidates")?.map(|most| most.extract::<i64>()).transpose()?;
    let most = match most.map_or(Ok(64), usize::try_from) {
        Ok(most) if most > 0 => most,
        _ => {
            return Err(PyValueError::new_err(format!(
                "gc policy {name} has candidates = {}; it must be 1 or more",
                most.unwrap_or(0)
            )));
        }
    };
    let given = Given { summary: "a gc policy in Python".into(), ..Given::new(name) };
    let prototype = object.clone().unbind();
    Ok(given.card::<dyn GcPolicy>(move |_, config, seed| {
        Box::new(caller.begin(&prototype, config, seed.own(), |object| {
            Ok(Asked { pick: object.getattr("pick")?.unbind(), most, caller: caller.clone() })
        }))
    }))
}
