//! Law of a workload: the mean number of reads per second and of writes per second for each page.
//! Estimates need the law.

use std::ops::Range;

use vpass_workload::model::ModelLaw;
use vpass_workload::synthetic::PageLaw;

use crate::failure::Failure;
use crate::load::{Generated, Loaded};
use crate::plan::{RunPlan, Workload};

/// Law of generated requests: the mean read rate and write rate of each page. A `[workload]` table
/// or a workload model generates the requests.
pub(super) enum Law {
    Table(Box<PageLaw>),
    Model(Box<ModelLaw>),
}

impl Law {
    /// Returns the law of the plan's workload. Returns `None` if the workload has no law.
    ///
    /// # Errors
    /// Returns an error if the workload is invalid or cannot be read.
    pub(super) fn of_plan(plan: &RunPlan) -> Result<Option<Self>, Failure> {
        let Workload::Generated(Loaded { name, config, .. }) = &plan.workload else {
            return Ok(None);
        };
        match config {
            Generated::Workload(file) if file.workload.stripes.is_none() => {
                let page_bytes = plan.drive.config.geometry.page_size.0 as u32;
                PageLaw::new(&file.workload, plan.whole_capacity().0, page_bytes, plan.seed)
                    .map(|law| Some(Self::Table(Box::new(law))))
                    .map_err(|e| Failure::usage(e).at(format!("workload {name}")))
            }
            Generated::Model(_) => Ok(Some(Self::Model(Box::new(plan.model_law()?)))),
            _ => Ok(None),
        }
    }

    /// Returns the number of pages of the drive.
    pub(super) fn pages(&self) -> u64 {
        match self {
            Self::Table(law) => law.pages(),
            Self::Model(law) => law.pages(),
        }
    }

    /// Returns the number of reads per second and the number of writes per second of a page.
    pub(super) fn of(&self, page: u64) -> (f64, f64) {
        match self {
            Self::Table(law) => law.of(page),
            Self::Model(law) => law.of(page),
        }
    }

    /// Returns the page numbers of the most requested pages, in ascending order and without
    /// duplicates. The list has about `most` pages.
    pub(super) fn hottest(&self, most: u64) -> Vec<u64> {
        match self {
            Self::Table(law) => law.hottest(most),
            Self::Model(law) => law.hottest(most),
        }
    }

    /// Returns the number of bytes that the host writes per second.
    pub(super) fn write_bytes_per_s(&self) -> f64 {
        match self {
            Self::Table(law) => law.write_bytes_per_s(),
            Self::Model(law) => law.write_bytes_per_s(),
        }
    }

    /// Returns the number of bytes that the host reads per second.
    pub(super) fn read_bytes_per_s(&self) -> f64 {
        match self {
            Self::Table(law) => law.read_bytes_per_s(),
            Self::Model(law) => law.read_bytes_per_s(),
        }
    }

    /// Returns the share of partial writes in all page writes. A partial write covers only a part
    /// of a page. In workload models, all writes cover whole pages.
    pub(super) fn partial(&self) -> f64 {
        match self {
            Self::Table(law) => law.partial(),
            Self::Model(_) => 0.0,
        }
    }

    /// Returns whether all pages have the same rates of reads and writes, and the host writes them
    /// in random order.
    pub(super) fn is_even(&self) -> bool {
        match self {
            Self::Table(law) => law.is_even(),
            Self::Model(_) => false,
        }
    }

    /// Returns the pages that the host writes from start to end, again and again. The host reads
    /// all of these pages at the same rate. Returns `None` if the host writes in another order.
    pub(super) fn sequential(&self) -> Option<Range<u64>> {
        match self {
            Self::Table(law) => law.sequential().map(|pages| 0..pages),
            Self::Model(law) => law.window(),
        }
    }
}
