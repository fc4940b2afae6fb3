//! View of a block for a Python policy. A view can be used only inside the call that provides it.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use numpy::PyArray1;
use pyo3::exceptions::{PyIndexError, PyRuntimeError};
use pyo3::prelude::*;
use vpass_drive::api::reclaim as core;
use vpass_drive::base::units::{BlockId, WordlineInBlock};
use vpass_drive::disturb::table::{Worn, dose_per_kind};

/// Read-only view of the drive and of one of its blocks.
#[pyclass(frozen, module = "vpass")]
pub(crate) struct View {
    at: AtomicPtr<core::View<'static>>,
    /// Mark of the thread that calls the policy. Other threads cannot use the view.
    thread: AtomicU64,
    block: AtomicU32,
    /// P/E count of a view that has no block.
    pec: AtomicU32,
}

/// Number that stands for the block of a view without a block.
const NO_BLOCK: BlockId = BlockId::new(u32::MAX);

/// Returns a mark of the current thread. The mark is an address that no other living thread has.
fn this_thread() -> u64 {
    thread_local!(static HERE: u8 = const { 0 });
    HERE.with(|here| std::ptr::from_ref(here).addr() as u64)
}

const GONE: &str = "a view is valid only during the call that received it; copy the values that \
    you need later";

impl View {
    /// Makes a view that shows nothing yet.
    pub(crate) fn none() -> Self {
        Self {
            at: AtomicPtr::new(null_mut()),
            thread: AtomicU64::new(0),
            block: AtomicU32::new(0),
            pec: AtomicU32::new(0),
        }
    }

    /// Makes the view usable while `work` runs, for a P/E count instead of a block.
    pub(crate) fn lend_at<T>(
        &self,
        view: &core::View<'_>,
        pec: u32,
        work: impl FnOnce() -> T,
    ) -> T {
        self.pec.store(pec, Ordering::Relaxed);
        self.lend(view, NO_BLOCK, work)
    }

    /// Makes the view usable while `work` runs.
    pub(crate) fn lend<T>(
        &self,
        view: &core::View<'_>,
        block: BlockId,
        work: impl FnOnce() -> T,
    ) -> T {
        struct Back<'a>(&'a View);
        impl Drop for Back<'_> {
            fn drop(&mut self) {
                self.0.at.store(null_mut(), Ordering::Release);
            }
        }
        let short: *mut core::View<'_> = std::ptr::from_ref(view).cast_mut();
        // A Python object cannot carry the lifetime of the view. `Back` removes the pointer before
        // this function ends, even after a panic.
        let long = short.cast::<core::View<'static>>();
        self.block.store(block.number(), Ordering::Relaxed);
        self.thread.store(this_thread(), Ordering::Relaxed);
        self.at.store(long, Ordering::Release);
        let _back = Back(self);
        work()
    }

    /// Returns the view and its block, if the current thread is calling a policy about a block.
    fn here(&self) -> PyResult<(&core::View<'_>, BlockId)> {
        match self.drive()? {
            (_, NO_BLOCK) => Err(PyRuntimeError::new_err(
                "this view has no block, because budgets and thresholds hold for all blocks of a \
                 P/E count",
            )),
            found => Ok(found),
        }
    }

    /// Returns the wear of the block, or the wear at the P/E count of a view without a block.
    fn worn(&self) -> PyResult<(&core::View<'_>, Worn)> {
        Ok(match self.drive()? {
            (view, NO_BLOCK) => (view, Worn::at_longest(self.pec.load(Ordering::Relaxed))),
            (view, block) => (view, view.worn(block, false)),
        })
    }

    /// Returns the view, if the current thread is calling a policy. Also returns the block, or
    /// [`NO_BLOCK`].
    #[expect(unsafe_code, reason = "a Python object cannot carry the lifetime of the view")]
    fn drive(&self) -> PyResult<(&core::View<'_>, BlockId)> {
        let at = self.at.load(Ordering::Acquire);
        if at.is_null() || self.thread.load(Ordering::Relaxed) != this_thread() {
            return Err(PyRuntimeError::new_err(GONE));
        }
        // SAFETY: `lend` has set the pointer and has not removed it. Callers drop the reference
        // before they return to Python, and `lend` waits for Python.
        Ok((unsafe { &*at }, BlockId::new(self.block.load(Ordering::Relaxed))))
    }
}

type Floats<'py> = Bound<'py, PyArray1<f64>>;

#[pymethods]
impl View {
    /// Number of the block.
    #[getter]
    fn block(&self) -> PyResult<u32> {
        Ok(self.here()?.1.number())
    }

    /// Reads of the block since its erase, in dose units, rounded up.
    #[getter]
    fn reads(&self) -> PyResult<u32> {
        let (view, block) = self.here()?;
        Ok(view.reads(block).0)
    }

    /// Reads of the block since its erase, in dose units, not rounded.
    #[getter]
    fn dose(&self) -> PyResult<f64> {
        let (view, block) = self.here()?;
        Ok(view.dose(block).units())
    }

    /// P/E cycles of the block, or the P/E count in question if the view has no block.
    #[getter]
    fn pec(&self) -> PyResult<u32> {
        Ok(match self.drive()? {
            (_, NO_BLOCK) => self.pec.load(Ordering::Relaxed),
            (view, block) => view.pec(block),
        })
    }

    /// Number of reads that a block may serve between an alarm and the end of its job.
    #[getter]
    fn late_reads(&self) -> PyResult<u32> {
        Ok(self.drive()?.0.late_reads)
    }

    /// Number of valid pages of the block.
    #[getter]
    fn valid_pages(&self) -> PyResult<u32> {
        let (view, block) = self.here()?;
        Ok(view.valid_pages(block))
    }

    /// Number of pages of the block that can still be programmed.
    #[getter]
    fn pages_to_come(&self) -> PyResult<u32> {
        let (view, block) = self.here()?;
        Ok(view.pages_to_come(block))
    }

    /// Number of pages of a block.
    #[getter]
    fn pages_per_block(&self) -> PyResult<u32> {
        Ok(self.drive()?.0.geometry.pages_per_block)
    }

    /// Number of wordlines of a block.
    #[getter]
    fn wordlines_per_block(&self) -> PyResult<u32> {
        Ok(self.drive()?.0.geometry.wordlines_per_block)
    }

    /// Number of pages of a wordline.
    #[getter]
    fn pages_per_wordline(&self) -> PyResult<u32> {
        Ok(self.drive()?.0.geometry.cell.bits())
    }

    /// Wordline whose read reached the alarm.
    #[getter]
    fn wordline_read(&self) -> PyResult<u32> {
        let (view, block) = self.here()?;
        Ok(view.wordline_read(block).number())
    }

    /// Largest dose that one read of a page causes, in dose units.
    #[getter]
    fn heaviest_read(&self) -> PyResult<f64> {
        let (view, _) = self.drive()?;
        let cell = view.geometry.cell;
        let doses = &dose_per_kind(view.disturb.dose, cell)[..cell.bits() as usize];
        Ok(doses.iter().map(|dose| dose.units()).fold(0.0, f64::max))
    }

    /// Whether reads count for wordlines that are not yet programmed.
    #[getter]
    fn preprogram_counts(&self) -> PyResult<bool> {
        Ok(self.drive()?.0.disturb.preprogram_weight > 0.0)
    }

    /// Number of the stream to which the block's data belongs.
    #[getter]
    fn stream(&self) -> PyResult<u8> {
        let (view, block) = self.here()?;
        Ok(view.stream(block))
    }

    /// Number of page operations of the host so far.
    #[getter]
    fn clock(&self) -> PyResult<u64> {
        Ok(self.here()?.0.clock())
    }

    /// Class of the block's limits; `None` if reads disturb nothing. Blocks of the same class have
    /// the same limits.
    #[getter]
    fn limit_class(&self) -> PyResult<Option<(u64, Option<usize>)>> {
        let (view, worn) = self.worn()?;
        Ok(view.limits.map(|limits| limits.worn_class(worn)))
    }

    /// Limit and alpha of each group of wordlines, in dose units; `None` if reads disturb nothing.
    #[getter]
    fn limits(&self) -> PyResult<Option<Vec<(f64, f64)>>> {
        let (view, worn) = self.worn()?;
        Ok(view.limits.map(|limits| {
            (0..limits.groups())
                .map(|group| {
                    let endurance = limits.lookup_worn(group, worn);
                    (endurance.limit.units(), endurance.alpha.weight())
                })
                .collect()
        }))
    }

    /// Limit and alpha of each wordline of the block, as two arrays.
    fn wordline_limits<'py>(&self, py: Python<'py>) -> PyResult<(Floats<'py>, Floats<'py>)> {
        let groups = self.limits()?.ok_or_else(no_limits)?;
        let (view, _) = self.drive()?;
        let limits = view.limits.ok_or_else(no_limits)?;
        let of: Vec<_> =
            view.geometry.wordlines_in_block().map(|w| groups[limits.group_of(w)]).collect();
        Ok((
            PyArray1::from_iter(py, of.iter().map(|(limit, _)| *limit)),
            PyArray1::from_iter(py, of.iter().map(|(_, alpha)| *alpha)),
        ))
    }

    /// Dose that the reads of each wordline have caused since the erase of the block.
    #[getter]
    fn wordline_reads<'py>(&self, py: Python<'py>) -> PyResult<Floats<'py>> {
        let (view, block) = self.here()?;
        Ok(PyArray1::from_iter(py, view.wordlines(block).iter().map(|w| w.reads.units())))
    }

    /// Dose that each wordline had at the time of its programming.
    #[getter]
    fn wordline_base<'py>(&self, py: Python<'py>) -> PyResult<Floats<'py>> {
        let (view, block) = self.here()?;
        Ok(PyArray1::from_iter(py, view.wordlines(block).iter().map(|w| w.base.units())))
    }

    /// Dose of each wordline. The value is exact, because all doses are multiples of 1/1024.
    #[getter]
    fn doses<'py>(&self, py: Python<'py>) -> PyResult<Floats<'py>> {
        let (view, block) = self.here()?;
        let limits = view.limits.ok_or_else(no_limits)?;
        let worn = view.worn(block, false);
        let alphas: Vec<f64> = (0..limits.groups())
            .map(|group| limits.lookup_worn(group, worn).alpha.weight())
            .collect();
        let rows = view.wordlines(block);
        let own = if view.disturb.model.own_reads_disturb() { 0.0 } else { 1.0 };
        let (total, stride) = (view.dose(block).units(), view.geometry.neighbour_stride as usize);
        let read =
            |at: Option<usize>| at.and_then(|at| rows.get(at)).map_or(0.0, |w| w.reads.units());
        let dose = |(at, row): (usize, &_)| {
            let row: &vpass_drive::flash::block::Wordline = row;
            let near = read(at.checked_sub(stride)) + read(Some(at + stride));
            let far = total - near - own * row.reads.units() - row.base.units();
            near * alphas[limits.group_of(WordlineInBlock::from_index(at))] + far
        };
        Ok(PyArray1::from_iter(py, rows.iter().enumerate().map(dose)))
    }

    /// Mask of the wordlines that have valid pages.
    #[getter]
    fn valid_wordlines<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let (view, block) = self.here()?;
        let valid = view.geometry.wordlines_in_block().map(|w| view.is_valid(block, w));
        Ok(PyArray1::from_iter(py, valid))
    }

    /// Reads of another block since its erase, in dose units, rounded up.
    fn reads_of(&self, block: u32) -> PyResult<u32> {
        let (view, _) = self.here()?;
        if block >= view.geometry.blocks {
            return Err(PyIndexError::new_err(format!(
                "block {block} does not exist: the drive has {} blocks",
                view.geometry.blocks
            )));
        }
        Ok(view.reads(BlockId::new(block)).0)
    }
}

fn no_limits() -> PyErr {
    PyRuntimeError::new_err("this drive has no limits, because its reads disturb nothing")
}
