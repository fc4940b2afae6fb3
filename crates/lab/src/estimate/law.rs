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
pub(super) struct Law {
    /// Number of pages of the drive.
    pub(super) pages: u64,
    /// Number of bytes that the host writes per second.
    pub(super) write_bytes_per_s: f64,
    /// Number of bytes that the host reads per second.
    pub(super) read_bytes_per_s: f64,
    /// Share of partial writes in all page writes. A partial write covers only a part of a page. In
    /// workload models, all writes cover whole pages.
    pub(super) partial: f64,
    /// Whether all pages have the same rates of reads and writes, and the host writes them in
    /// random order.
    pub(super) is_even: bool,
    /// Pages that the host writes from start to end, again and again. The host reads all of these
    /// pages at the same rate. `None` if the host writes in another order.
    pub(super) sequential: Option<Range<u64>>,
    rates: Rates,
}

enum Rates {
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
        Ok(match config {
            Generated::Workload(file) if file.workload.stripes.is_none() => {
                let page_bytes = plan.drive.config.geometry.page_size.0 as u32;
                let capacity = plan.whole_capacity().0;
                let law = PageLaw::new(&file.workload, capacity, page_bytes, plan.seed)
                    .map_err(|e| Failure::usage(e).at(format!("workload {name}")))?;
                Some(Self {
                    pages: law.pages(),
                    write_bytes_per_s: law.write_bytes_per_s(),
                    read_bytes_per_s: law.read_bytes_per_s(),
                    partial: law.partial(),
                    is_even: law.is_even(),
                    sequential: law.sequential().map(|pages| 0..pages),
                    rates: Rates::Table(Box::new(law)),
                })
            }
            Generated::Model(_) => {
                let law = plan.model_law()?;
                Some(Self {
                    pages: law.pages(),
                    write_bytes_per_s: law.write_bytes_per_s(),
                    read_bytes_per_s: law.read_bytes_per_s(),
                    partial: 0.0,
                    is_even: false,
                    sequential: law.window(),
                    rates: Rates::Model(Box::new(law)),
                })
            }
            _ => None,
        })
    }

    /// Returns the number of reads per second and the number of writes per second of a page.
    pub(super) fn of(&self, page: u64) -> (f64, f64) {
        match &self.rates {
            Rates::Table(law) => law.of(page),
            Rates::Model(law) => law.of(page),
        }
    }

    /// Returns the page numbers of the most requested pages, in ascending order and without
    /// duplicates. The list has about `most` pages.
    pub(super) fn hottest(&self, most: u64) -> Vec<u64> {
        match &self.rates {
            Rates::Table(law) => law.hottest(most),
            Rates::Model(law) => law.hottest(most),
        }
    }
}
