//! What a plan in the fluid gear asks for: reads as rates, and how long they go on.

use vpass_core::base::units::{END_OF_TIME, Ns};
use vpass_core::slots::reclaim::{sees_each_read, technique};
use vpass_core::time::FluidSource;
use vpass_workload::synthetic::{FluidSynthetic, WorkloadConfig};

use super::{Plan, Workload};
use crate::failure::Failure;
use crate::load::Generated;
use crate::setup::{Gear, Watch};

/// Reads as rates, and whatever else the host asks for.
pub type Fluid = Box<dyn FluidSource + Send>;

impl Plan {
    /// Refuses what the fluid gear cannot do, before anything is made.
    pub(super) fn check_fluid(&self) -> Result<(), Failure> {
        let name = self.reclaim;
        if sees_each_read(technique(name).expect("its name was found"), &self.drive.config) {
            return Err(Failure::usage(format!(
                "--gear fluid: reclaim technique {name} keeps state that every read changes, and reads come in bulk there; take --gear untimed"
            )));
        }
        if self.oracle == Watch::Full {
            return Err(Failure::usage(
                "--oracle full follows every request, and reads have none in the fluid gear; take --oracle on or --gear untimed",
            ));
        }
        if self.until_stable {
            return Err(Failure::usage("--until stable compares passes, and the fluid gear knows none; take --gear untimed"));
        }
        let config = self.fluid_table()?;
        FluidSynthetic::check(config).map_err(|e| Failure::usage(format!("workload {}: {e}", self.workload.name())))
    }

    /// The workload, if it has rates.
    fn fluid_table(&self) -> Result<&WorkloadConfig, Failure> {
        let why = match &self.workload {
            Workload::Generated(loaded) => match &loaded.config {
                Generated::Workload(file) if file.workload.stripes.is_some() => "stripes that are written again come request by request",
                Generated::Workload(file) => return Ok(&file.workload),
                Generated::Phases(_) => "phases come page by page",
                Generated::Statistics(_) => "the windows of a disk's statistics are made request by request",
            },
            Workload::Trace { .. } => "a trace is a list of requests",
            Workload::Fio { .. } => "jobs of a fio file ask when earlier requests are complete",
            Workload::Adversary { .. } => "an adversary asks page by page",
        };
        Err(Failure::usage(format!(
            "--gear fluid: {why}, and no rates are known of its reads; set up a workload with distribution and rate (vpass show workload \
             zipf-read), or take --gear untimed"
        )))
    }

    /// Requests a second of the whole drive.
    fn fluid_rate(&self) -> Result<f64, Failure> {
        Ok(self.fluid_table()?.rate.expect("a checked workload of the fluid gear has a rate"))
    }

    /// How long so many requests take.
    fn time_of(&self, requests: f64) -> Result<Ns, Failure> {
        let seconds = requests / self.fluid_rate()?;
        if seconds > END_OF_TIME as f64 / 1e9 {
            return Err(Failure::usage(format!(
                "workload.requests = {requests} at this workload.rate end after 2^62 ns, which is 146 years; simulated time ends there"
            )));
        }
        Ok((seconds * 1e9) as Ns)
    }

    /// How long the warm-up takes, and what counts.
    pub(crate) fn fluid_span(&self) -> Result<(Ns, Ns), Failure> {
        let of_a_pass = self.fluid_table()?.requests;
        if self.warm_up > of_a_pass {
            return Err(Failure::usage(format!("--warm-up {}: the workload has only {of_a_pass} requests in a pass", self.warm_up)));
        }
        let counted = of_a_pass as f64 * f64::from(self.repeat.get()) - self.warm_up as f64;
        Ok((self.time_of(self.warm_up as f64)?, self.time_of(counted)?))
    }

    /// Requests of the drive that is simulated in a span of time, in the mean.
    pub(crate) fn requests_in(&self, span: Ns) -> u64 {
        let rate = self.fluid_rate().unwrap_or(0.0) / f64::from(self.sample.of);
        (rate * span as f64 / 1e9) as u64
    }

    /// The workload as rates, of the plan's sample.
    ///
    /// # Errors
    /// A workload that has no rates.
    pub fn fluid(&self) -> Result<Fluid, Failure> {
        Ok(Box::new(self.fluid_synthetic()?))
    }

    fn fluid_synthetic(&self) -> Result<FluidSynthetic, Failure> {
        let page = self.drive.config.geometry.page_size.0 as u32;
        let source = FluidSynthetic::new(self.fluid_table()?, self.whole_capacity().0, page, self.seed, self.sample);
        source.map_err(|e| Failure::usage(format!("workload {}: {e}", self.workload.name())))
    }

    /// Memory that its rates take at most, in bytes.
    pub(crate) fn fluid_memory(&self) -> u64 {
        let pages = self.drive.config.drive.capacity.expect("a resolved drive has a capacity").0 / self.drive.config.geometry.page_size.0;
        FluidSynthetic::memory(pages)
    }

    /// Whether reads come in bulk.
    pub fn is_fluid(&self) -> bool {
        self.gear == Gear::Fluid
    }
}
