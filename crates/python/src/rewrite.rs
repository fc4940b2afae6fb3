//! Rewrite of a block that a Python policy returns.

use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use vpass_drive::api::reclaim::{self, Action};
use vpass_drive::base::page_set::PageSet;
use vpass_drive::base::units::{BlockId, PageInBlock};

/// Rewrite of a block: all its valid pages, the valid pages of some wordlines, or some pages.
/// Wordlines and pages are a mask, an array of numbers, or a list of numbers.
#[pyclass(frozen, module = "vpass")]
pub(crate) struct Rewrite {
    what: What,
}

enum What {
    All,
    Wordlines(Vec<u32>),
    Pages(Vec<u32>),
}

#[pymethods]
impl Rewrite {
    #[new]
    #[pyo3(signature = (*, wordlines=None, pages=None))]
    fn new(
        wordlines: Option<&Bound<'_, PyAny>>,
        pages: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let what = match (wordlines, pages) {
            (None, None) => What::All,
            (Some(wordlines), None) => What::Wordlines(numbers(wordlines)?),
            (None, Some(pages)) => What::Pages(numbers(pages)?),
            _ => return Err(PyValueError::new_err("give wordlines or pages, not both")),
        };
        Ok(Self { what })
    }
}

impl Rewrite {
    /// Returns whether all valid pages of a block are rewritten.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.what, What::All)
    }

    /// Returns the action that rewrites a block.
    pub(crate) fn action(&self, view: &reclaim::View, block: BlockId) -> PyResult<Action> {
        let (pages, bits) = (view.geometry.pages_per_block, view.geometry.cell.bits());
        let (what, numbers, most, pages_each) = match &self.what {
            What::All => return Ok(reclaim::Rewrite::all(block).into()),
            What::Wordlines(numbers) => {
                ("wordline", numbers, view.geometry.wordlines_per_block, bits)
            }
            What::Pages(numbers) => ("page", numbers, pages, 1),
        };
        let mut set = PageSet::none(pages);
        for number in numbers {
            if *number >= most {
                return Err(PyValueError::new_err(format!(
                    "{what} {number} does not exist: a block has {what}s 0 to {}",
                    most - 1
                )));
            }
            set.insert(PageInBlock::new(number * pages_each), pages_each);
        }
        Ok(reclaim::Rewrite::pages(block, set).into())
    }
}

fn numbers(of: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
    if let Ok(mask) = of.extract::<PyReadonlyArray1<'_, bool>>() {
        let mask = mask.as_array();
        let set = (0..).zip(mask.iter()).filter(|(_, is_set)| **is_set);
        return Ok(set.map(|(number, _)| number).collect());
    }
    if let Ok(array) = of.extract::<PyReadonlyArray1<'_, i64>>() {
        let number = |n: &i64| {
            u32::try_from(*n).map_err(|_| PyValueError::new_err(format!("{n}: numbers begin at 0")))
        };
        let array = array.as_array();
        return array.iter().map(number).collect();
    }
    let wrong = |_| PyTypeError::new_err("a mask, or numbers from 0 on, are expected");
    of.extract::<Vec<u32>>().map_err(wrong)
}
