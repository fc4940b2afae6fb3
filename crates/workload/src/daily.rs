//! Workloads that make requests only in some hours of each day (`workload.hours_per_day`). The
//! source of such a workload uses a clock that stands still in the other hours. This file converts
//! the times of this clock to real times of the day.

use vpass_drive::base::daily::DailyHours;
use vpass_drive::base::rates::ReadRates;
use vpass_drive::base::request::{Arrival, Request, RequestSource, SourceError};
use vpass_drive::base::units::{Lpn, Ns};
use vpass_drive::time::FluidSource;

use crate::pass::PassSource;

/// Source whose requests arrive only in some hours of each day.
pub struct Daily<S> {
    source: S,
    hours: DailyHours,
}

impl<S> Daily<S> {
    /// Makes a source whose requests arrive only in the given hours of each day.
    pub fn new(source: S, hours: DailyHours) -> Self {
        Self { source, hours }
    }
}

impl<S: RequestSource> RequestSource for Daily<S> {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        let first = out.len();
        self.source.fill(out, max)?;
        out[first..].iter_mut().for_each(|request| request.at = self.hours.resumes(request.at));
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        self.source.arrival()
    }

    fn len_hint(&self) -> Option<u64> {
        self.source.len_hint()
    }
}

impl<S: PassSource> PassSource for Daily<S> {
    fn next_pass(&mut self) -> Result<(), SourceError> {
        self.source.next_pass()
    }

    fn memory(&self) -> u64 {
        self.source.memory()
    }
}

/// Source of request rates that apply only in some hours of each day.
pub struct DailyRates {
    source: Box<dyn FluidSource + Send>,
    hours: DailyHours,
}

impl DailyRates {
    /// Makes a source of request rates that apply only in the given hours of each day.
    pub fn new(source: Box<dyn FluidSource + Send>, hours: DailyHours) -> Self {
        Self { source, hours }
    }
}

impl FluidSource for DailyRates {
    fn rates(&mut self, from: Ns) -> (ReadRates, Ns) {
        let (rates, until) = self.source.rates(self.hours.worked(from));
        (rates, self.hours.resumes(until))
    }

    fn changes(&mut self, from: Ns, pages: &mut Vec<(Lpn, f32)>) -> Option<Ns> {
        let until = self.source.changes(self.hours.worked(from), pages)?;
        Some(self.hours.resumes(until))
    }

    fn hours(&self) -> DailyHours {
        self.hours
    }

    fn writes(&mut self) -> &mut dyn RequestSource {
        self
    }
}

impl RequestSource for DailyRates {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        let first = out.len();
        self.source.writes().fill(out, max)?;
        out[first..].iter_mut().for_each(|request| request.at = self.hours.resumes(request.at));
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        Arrival::Open
    }
}

#[cfg(test)]
mod tests {
    use vpass_drive::base::span::HOUR;

    use super::*;
    use crate::phases::{FluidPhases, PhasesFile};
    use crate::synthetic::{Sample, SyntheticSource, WorkloadConfig};

    #[test]
    fn requests_keep_to_their_hours() {
        let config: WorkloadConfig =
            toml::from_str("rate = 0.01\nrequests = 5000\narrivals = \"constant\"").unwrap();
        let source = SyntheticSource::new(&config, 1 << 30, 4096, 1).unwrap();
        let mut out = vec![];
        Daily::new(source, DailyHours::new(6.0)).fill(&mut out, 5000).unwrap();
        assert!(out.iter().all(|request| request.at % (24 * HOUR) < 6 * HOUR));
        // All 216 requests of a day arrive in its first 6 hours.
        assert_eq!((out[215].at / HOUR, out[216].at / HOUR), (5, 24));
    }

    #[test]
    fn phases_end_on_the_clock_of_the_day() {
        // Each phase takes 4 of the 6 hours with requests of a day.
        let file = PhasesFile::parse(
            "[workload]\nrate = 0.01\nphase = [{ pages = [5], requests = 144 }, \
             { pages = [6], requests = 144 }]",
        )
        .unwrap();
        let phases = FluidPhases::new(&file.workload, 100 * 4096, 4096, 1, Sample::WHOLE).unwrap();
        let mut daily = DailyRates::new(Box::new(phases), DailyHours::new(6.0));
        assert_eq!(daily.rates(0).1, 4 * HOUR);
        let mut pages = vec![];
        assert_eq!(daily.changes(4 * HOUR, &mut pages), Some(26 * HOUR));
        assert_eq!(daily.changes(26 * HOUR, &mut pages), Some(48 * HOUR));
    }
}
