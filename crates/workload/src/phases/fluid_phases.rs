//! Turns the phases of a workload into read rates and single writes, for simulation gears that draw
//! reads in bulk. The source serves a whole drive or a sample of its pages.
//!
//! A phase of n requests takes n / rate seconds. Arrivals are not random. Within a phase, each page
//! is read at its mean rate, even if the phase reads its pages in turn. Writes and trims keep their
//! order and are evenly spaced.

use rand_core::SeedableRng;
use vpass_drive::base::rates::{PageRates, ReadRates};
use vpass_drive::base::request::{Arrival, Op, Request, RequestSource, SourceError};
use vpass_drive::base::units::{Lpn, Ns};
use vpass_drive::config::ConfigError;
use vpass_drive::time::FluidSource;

use super::phases_config::{Order, PhaseConfig, PhasesConfig};
use super::phases_source::{Cursor, Runs};
use crate::steady::no_writes;
use crate::synthetic::random::{Random, Streams, below};
use crate::synthetic::{Sample, require_rate};
use crate::windows::{add_up, changed};

/// Source of the read rates and writes of a workload with phases.
pub struct FluidPhases {
    clock: PhaseClock,
    /// For each phase, the pages of the sample that a complete phase reads, with the number of
    /// reads of each page. For a phase that writes or trims, the list is empty.
    reads: Vec<Vec<(Lpn, u64)>>,
    phases: Vec<PhaseConfig>,
    pages: u32,
    page_bytes: u32,
    sample: Sample,
    writes: Box<dyn RequestSource + Send>,
}

/// Position in the sequence of phases. A pass begins with the first phase, and ends after the
/// number of requests of a pass.
#[derive(Clone)]
struct PhaseClock {
    of_phase: Vec<u64>,
    of_pass: u64,
    rate: f64,
    /// Number of the current phase.
    phase: usize,
    /// Number of requests of the current phase.
    requests: u64,
    /// Number of requests of all phases before the current phase.
    before: u64,
    /// Number of requests of the pass that follow the current phase.
    left: u64,
}

impl PhaseClock {
    fn new(config: &PhasesConfig, rate: f64) -> Self {
        let (of_phase, of_pass) = (
            config.phase.iter().map(|phase| phase.requests).collect::<Vec<_>>(),
            config.requests(),
        );
        let requests = of_phase[0].min(of_pass);
        Self { of_phase, of_pass, rate, phase: 0, requests, before: 0, left: of_pass - requests }
    }

    fn advance(&mut self) {
        self.before += self.requests;
        self.phase = if self.left == 0 { 0 } else { (self.phase + 1) % self.of_phase.len() };
        let left = if self.left == 0 { self.of_pass } else { self.left };
        self.requests = self.of_phase[self.phase].min(left);
        self.left = left - self.requests;
    }

    /// Returns the time at which `requests` requests have arrived.
    fn time_of(&self, requests: u64) -> Ns {
        (requests as f64 / self.rate * 1e9) as Ns
    }

    fn ends(&self) -> Ns {
        // If the only phase is always repeated as a whole, the rates never change. The phase then
        // counts as endless.
        let is_alone = self.of_phase.len() == 1 && self.of_pass.is_multiple_of(self.of_phase[0]);
        if is_alone { Ns::MAX } else { self.time_of(self.before + self.requests) }
    }

    fn seconds(&self) -> f64 {
        self.requests as f64 / self.rate
    }

    fn is_whole(&self) -> bool {
        self.requests == self.of_phase[self.phase]
    }
}

impl FluidPhases {
    /// Makes the source for a sample of a drive. The drive has `capacity` bytes and pages of
    /// `page_bytes` bytes.
    ///
    /// # Errors
    /// Returns an error if a key is invalid, or if a page lies beyond the end of the drive. Also
    /// returns an error if the workload has no rate.
    pub fn new(
        config: &PhasesConfig,
        capacity: u64,
        page_bytes: u32,
        seed: u64,
        sample: Sample,
    ) -> Result<Self, ConfigError> {
        let pages = (capacity / u64::from(page_bytes)) as u32;
        config.check(pages.into())?;
        Self::check(config)?;
        let clock = PhaseClock::new(config, config.rate.unwrap_or_default());
        let reads =
            config.phase.iter().map(|phase| reads_of(phase, phase.requests, sample)).collect();
        let writes = Writes::new(config, &clock, page_bytes, seed, sample);
        let writes: Box<dyn RequestSource + Send> =
            if writes.has_any() { Box::new(writes) } else { no_writes() };
        let pages = (pages - sample.residue).div_ceil(sample.of);
        Ok(Self { clock, reads, phases: config.phase.clone(), pages, page_bytes, sample, writes })
    }

    /// Checks that a workload with phases has a rate.
    ///
    /// # Errors
    /// Returns an error if the workload has no rate.
    pub fn check(config: &PhasesConfig) -> Result<(), ConfigError> {
        require_rate(config.rate)
    }

    /// Returns the largest number of bytes that the source occupies in memory if the phases name
    /// `pages` pages. This memory holds the read rates of all pages and three sets of read counts.
    pub fn memory(pages: u64) -> u64 {
        pages * (2 * 4 + 3 * 16)
    }

    /// Returns the number of reads of each page in the current phase. Each page occurs once.
    fn under_way(&self) -> Vec<(Lpn, u64)> {
        let phase = self.clock.phase;
        if self.clock.is_whole() {
            self.reads[phase].clone()
        } else {
            reads_of(&self.phases[phase], self.clock.requests, self.sample)
        }
    }

    fn per_s(&self, reads: u64) -> f32 {
        // Read counts have fractions. For example, 10 reads of 4 pages in random order are 2.5
        // reads of each page on average.
        (reads as f64 / PARTS / self.clock.seconds()) as f32
    }
}

/// Number of units per read. Read counts are whole numbers of these units.
const PARTS: f64 = 65_536.0;

/// Returns the mean number of reads of each page of a sample in a phase of `requests` requests. The
/// unit of these numbers is 1 / [`PARTS`] of a read.
fn reads_of(phase: &PhaseConfig, requests: u64, sample: Sample) -> Vec<(Lpn, u64)> {
    if Op::from(phase.op) != Op::Read {
        return vec![];
    }
    let runs = Runs::of(phase);
    let each = (requests as f64 / runs.count as f64 * PARTS) as u64;
    let round_robin = |place: u64| {
        (requests / runs.count + u64::from(place < requests % runs.count)) * PARTS as u64
    };
    let reads = |place: u64| if phase.order == Order::Random { each } else { round_robin(place) };
    let mut cursor = Cursor::default();
    let places = (0..runs.count).map(|place| (runs.next(&mut cursor), reads(place)));
    let mut pages: Vec<(Lpn, u64)> =
        places.filter_map(|(lpn, reads)| Some((sample.number_of(lpn)?, reads))).collect();
    add_up(&mut pages);
    pages
}

impl FluidSource for FluidPhases {
    fn rates(&mut self, _from: Ns) -> (ReadRates, Ns) {
        let mut rates = vec![0.0; self.pages as usize];
        for (lpn, reads) in self.under_way() {
            rates[lpn.index()] = self.per_s(reads);
        }
        let pages = PageRates::Each(rates);
        (
            ReadRates { pages, requests_per_page: 1.0, bytes_per_page: self.page_bytes.into() },
            self.clock.ends(),
        )
    }

    fn changes(&mut self, _from: Ns, pages: &mut Vec<(Lpn, f32)>) -> Option<Ns> {
        let before = self.under_way();
        self.clock.advance();
        let now = self.under_way().into_iter().map(|(lpn, reads)| (lpn, self.per_s(reads)));
        changed(before.iter().map(|(lpn, _)| *lpn), now, pages);
        Some(self.clock.ends())
    }

    fn writes(&mut self) -> &mut dyn RequestSource {
        self.writes.as_mut()
    }
}

/// Source of the endless writes and trims of a sample's pages.
struct Writes {
    clock: PhaseClock,
    phases: Vec<(Op, Order, Runs)>,
    page_bytes: u32,
    sample: Sample,
    address: Random,
    /// Number of requests made so far in the current phase, and position in the phase's list of
    /// pages.
    made: u64,
    cursor: Cursor,
}

impl Writes {
    fn new(
        config: &PhasesConfig,
        clock: &PhaseClock,
        page_bytes: u32,
        seed: u64,
        sample: Sample,
    ) -> Self {
        let phases = config
            .phase
            .iter()
            .map(|phase| (phase.op.into(), phase.order, Runs::of(phase)))
            .collect();
        let address = Streams::after(Random::seed_from_u64(seed)).address;
        Self {
            clock: clock.clone(),
            phases,
            page_bytes,
            sample,
            address,
            made: 0,
            cursor: Cursor::default(),
        }
    }

    /// Returns whether any page of the sample is written or trimmed in any phase.
    fn has_any(&self) -> bool {
        let asks = |(at, (op, _, runs)): (usize, &(Op, Order, Runs))| {
            // Phases that begin after the end of a pass are never reached, so they are not
            // considered.
            let before: u64 = self.clock.of_phase[..at].iter().sum();
            *op != Op::Read
                && before < self.clock.of_pass
                && (0..runs.count).any(|place| self.sample.number_of(runs.at(place)).is_some())
        };
        self.phases.iter().enumerate().any(asks)
    }

    fn next_phase(&mut self) {
        self.clock.advance();
        (self.made, self.cursor) = (0, Cursor::default());
    }
}

impl RequestSource for Writes {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        let end = out.len() + max;
        while out.len() < end {
            let (op, order, runs) = &self.phases[self.clock.phase];
            if *op == Op::Read || self.made == self.clock.requests {
                self.next_phase();
                continue;
            }
            let lpn = match order {
                Order::RoundRobin => runs.next(&mut self.cursor),
                Order::Random => runs.at(below(&mut self.address, runs.count)),
            };
            let at = self.clock.time_of(self.clock.before + self.made);
            self.made += 1;
            if let Some(lpn) = self.sample.number_of(lpn) {
                let offset = lpn.offset(self.page_bytes);
                out.push(Request::new(at, offset, self.page_bytes, *op));
            }
        }
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        Arrival::Open
    }
}

#[cfg(test)]
mod tests {
    use super::super::PhasesFile;
    use super::*;

    const S: Ns = 1_000_000_000;

    fn source(table: &str, sample: Sample) -> Result<FluidPhases, ConfigError> {
        let file = PhasesFile::parse(&format!("[workload]\n{table}")).unwrap();
        FluidPhases::new(&file.workload, 100 * 4096, 4096, 1, sample)
    }

    /// Table of two phases. The first has three reads of page 5 and one of page 3; the second has
    /// two writes. A pass has 9 requests, so it ends within the second round.
    const TABLE: &str = "rate = 1.0\nrequests = 9\n\
        phase = [{ pages = [5, 3, 5, 5], requests = 4 }, \
        { ranges = [[7, 8]], op = 'write', requests = 2 }]";

    #[test]
    fn rates_are_those_of_the_phase_under_way() {
        let mut source = source(TABLE, Sample::WHOLE).unwrap();
        let (rates, until) = source.rates(0);
        assert_eq!(
            (rates.pages.per_ns(Lpn::new(5)) * 1e9, rates.pages.per_ns(Lpn::new(3)) * 1e9, until),
            (0.75, 0.25, 4 * S)
        );
        let mut changes = |from: Ns| {
            let mut pages = vec![];
            (
                source.changes(from, &mut pages),
                pages.into_iter().map(|(lpn, rate)| (lpn.number(), rate)).collect::<Vec<_>>(),
            )
        };
        assert_eq!(changes(4 * S), (Some(6 * S), vec![(3, 0.0), (5, 0.0)]));
        // In its second round, the first phase ends after three of its four requests, with the
        // pass. Page 5 has two of these three reads.
        let third = 1.0 / 3.0;
        assert_eq!(changes(6 * S), (Some(9 * S), vec![(3, third), (5, 2.0 * third)]));
        assert_eq!(changes(9 * S), (Some(13 * S), vec![(3, 0.25), (5, 0.75)]));
    }

    #[test]
    fn writes_keep_their_order_and_are_divided_among_samples() {
        let of = |sample: Sample| {
            let mut writes = vec![];
            source(TABLE, sample).unwrap().writes().fill(&mut writes, 3).unwrap();
            writes.iter().map(|write| (write.at / S, write.offset / 4096)).collect::<Vec<_>>()
        };
        assert_eq!(of(Sample::WHOLE), [(4, 7), (5, 8), (13, 7)]);
        assert_eq!(of(Sample { of: 2, residue: 1 }), [(4, 3), (13, 3), (22, 3)]);
        assert_eq!(of(Sample { of: 4, residue: 1 }), []);
    }

    #[test]
    fn phases_without_a_rate_are_refused() {
        let refused = source("phase = [{ pages = [1], requests = 2 }]", Sample::WHOLE)
            .err()
            .unwrap()
            .to_string();
        assert!(refused.contains("workload.rate"), "{refused}");
    }
}
