//! Read rates that never change, and single writes, for simulation gears that draw reads in bulk.

use vpass_drive::base::rates::ReadRates;
use vpass_drive::base::request::{Arrival, RequestSource};
use vpass_drive::base::units::Ns;
use vpass_drive::time::FluidSource;

use crate::listed::ListedSource;

/// Source of read rates that never change, and of single writes.
pub struct SteadyRates {
    pub(crate) rates: ReadRates,
    pub(crate) writes: Box<dyn RequestSource + Send>,
}

impl FluidSource for SteadyRates {
    fn rates(&mut self, _from: Ns) -> (ReadRates, Ns) {
        (self.rates.clone(), Ns::MAX)
    }

    fn writes(&mut self) -> &mut dyn RequestSource {
        self.writes.as_mut()
    }
}

/// Makes an empty source of requests, for a workload without writes.
pub(crate) fn no_writes() -> Box<dyn RequestSource + Send> {
    Box::new(ListedSource::new(vec![].into(), Arrival::Open))
}
