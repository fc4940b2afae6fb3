//! Tests of reads in the fluid gear whose rates change before earlier reads are drawn. The reads of
//! each wordline must be the sum of rate times duration over all phases, within five standard
//! deviations.

use std::any::Any;

use vpass_drive::base::rates::{PageRates, ReadRates};
use vpass_drive::base::request::{Arrival, Request, RequestSource, SourceError};
use vpass_drive::base::units::{Lpn, Ns};
use vpass_drive::config::DriveConfig;
use vpass_drive::drive::{Drive, Techniques};
use vpass_drive::time::{FluidRun, FluidSource};
use vpass_drive::watch::observer::{Event, Observer};
use vpass_techniques::{card, resolve, usual};

/// Drive of 16 blocks of 24 pages on one die. No read reaches its limits.
const DRIVE: &str = r#"
timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
drive = { spare = 0.5 }
disturb = { model = "wordline", table = [{ pec = 0, limit = [2e7], alpha = [2.0] }] }

[geometry]
channels = 1
dies_per_channel = 1
planes_per_die = 1
blocks_per_plane = 24
wordlines_per_block = 8
cell = "tlc"
page_size = "16KiB"
"#;

const SECOND: Ns = 1_000_000_000;
/// Phases. Each has a duration in seconds, requests per page read, the distance between two pages
/// that are read, and reads per second.
const PHASES: [(u64, f64, usize, f32); 3] =
    [(3, 0.5, 2, 400.0), (5, 2.0, 3, 700.0), (2, 1.0, 7, 90.0)];

/// Source of reads in [`PHASES`]. At each change of phase, the source gives all rates anew, or only
/// the rates of single pages.
struct Changing {
    pages: usize,
    phase: usize,
    anew: bool,
    none: NoWrites,
}

struct NoWrites;

impl RequestSource for NoWrites {
    fn fill(&mut self, _: &mut Vec<Request>, _: usize) -> Result<(), SourceError> {
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        Arrival::Open
    }
}

fn rate(phase: usize, page: usize) -> f32 {
    let (.., every, rate) = PHASES[phase];
    if page.is_multiple_of(every) { rate } else { 0.0 }
}

impl Changing {
    /// Returns the end of the present phase. The last phase never ends.
    fn end(&self) -> Ns {
        if self.phase + 1 == PHASES.len() {
            return Ns::MAX;
        }
        PHASES[..=self.phase].iter().map(|(seconds, ..)| seconds * SECOND).sum()
    }

    fn go_on(&mut self, from: Ns) {
        self.phase += usize::from(from > 0);
    }
}

impl FluidSource for Changing {
    fn rates(&mut self, from: Ns) -> (ReadRates, Ns) {
        self.go_on(from);
        let (_, requests_per_page, ..) = PHASES[self.phase];
        let pages = PageRates::Each((0..self.pages).map(|page| rate(self.phase, page)).collect());
        (ReadRates { pages, requests_per_page, bytes_per_page: 4096.0 }, self.end())
    }

    fn changes(&mut self, from: Ns, pages: &mut Vec<(Lpn, f32)>) -> Option<Ns> {
        if self.anew {
            return None;
        }
        self.go_on(from);
        pages.extend((0..self.pages).map(|page| (Lpn::new(page as u32), rate(self.phase, page))));
        Some(self.end())
    }

    fn writes(&mut self) -> &mut dyn RequestSource {
        &mut self.none
    }
}

/// Number of drawn reads of each wordline, and the place of each page.
#[derive(Default)]
struct Drawn {
    reads: u64,
    /// Number of reads by block and wordline.
    doses: Vec<Vec<u64>>,
    /// Block and page of each page of the host.
    places: Vec<(usize, usize)>,
}

impl Observer for Drawn {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::ReadInBulk { block, reads, doses } => {
                self.reads += reads;
                let of_block = &mut self.doses[block.index()];
                of_block.resize(doses.len(), 0);
                of_block.iter_mut().zip(doses).for_each(|(sum, dose)| *sum += u64::from(*dose) / 4);
            }
            Event::BeginsInOrder { .. } | Event::PreloadedInOrder { .. } => {
                panic!("the start of a drive as small as these is written")
            }
            Event::Preloaded { block, lpns } => {
                for (page, lpn) in lpns.iter().enumerate() {
                    if let Some(place) = self.places.get_mut(lpn.index()) {
                        *place = (block.index(), page);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Runs all phases. Returns the drawn reads, and the numbers of the host's requests, bytes and
/// pages.
fn run(anew: bool, seed: u64) -> (Drawn, [u64; 3]) {
    let config = resolve(toml::from_str::<DriveConfig>(DRIVE).unwrap()).unwrap();
    let techniques = Techniques { reclaim: card("none"), ..usual() };
    let mut drive = Drive::new(config, &techniques, false).unwrap();
    let (pages, blocks) = (drive.geometry().host_pages as usize, drive.geometry().blocks as usize);
    drive.observe(Box::new(Drawn {
        reads: 0,
        doses: vec![vec![]; blocks],
        places: vec![(0, 0); pages],
    }));
    drive.precondition(1);
    drive.begin_measurement();
    let mut source = Changing { pages, phase: 0, anew, none: NoWrites };
    let mut run = FluidRun::begin(&mut drive, &mut source, seed);
    run.go_on(&mut drive, &mut source, 10 * SECOND, &mut |_, _| true).unwrap();
    run.end(&mut drive);
    let host = drive.host_counts();
    let counts = [host.read_requests, host.read_bytes, host.read_pages];
    let watcher: Box<dyn Any> = drive.end_observation().unwrap();
    (*watcher.downcast().unwrap(), counts)
}

/// Returns the expected number of reads of a page, as the weighted sum over all phases.
fn expected(page: usize, weight: impl Fn(usize) -> f64) -> f64 {
    (0..PHASES.len())
        .map(|phase| weight(phase) * f64::from(rate(phase, page)) * PHASES[phase].0 as f64)
        .sum()
}

#[track_caller]
fn within(what: &str, drawn: f64, mean: f64, variance: f64) {
    assert!(
        (drawn - mean).abs() <= 5.0 * variance.sqrt(),
        "{what}: {drawn} drawn, {mean} expected"
    );
}

#[test]
fn reads_before_a_change_of_rates_are_kept() {
    for (anew, seed) in [(false, 1), (false, 2), (true, 1), (true, 2)] {
        let (drawn, [requests, bytes, pages]) = run(anew, seed);
        let mut of_wordline = vec![[0.0; 8]; drawn.doses.len()];
        for (page, (block, at)) in drawn.places.iter().enumerate() {
            of_wordline[*block][at / 3] += expected(page, |_| 1.0);
        }
        for (block, wordlines) in of_wordline.iter().enumerate() {
            for (wordline, mean) in wordlines.iter().enumerate() {
                let of = drawn.doses[block].get(wordline).copied().unwrap_or(0);
                within(
                    &format!("anew {anew}, block {block}, wordline {wordline}"),
                    of as f64,
                    *mean,
                    *mean,
                );
            }
        }
        let all = |weight: &dyn Fn(usize) -> f64| {
            (0..drawn.places.len()).map(|page| expected(page, weight)).sum::<f64>()
        };
        within("pages", pages as f64, all(&|_| 1.0), all(&|_| 1.0));
        assert_eq!(pages, drawn.reads, "pages that the host read, and those that were drawn");
        // If only the rates of single pages change, the number of requests per page read remains
        // that of the first phase.
        let each = |phase: usize| if anew { PHASES[phase].1 } else { PHASES[0].1 };
        within("requests", requests as f64, all(&each), all(&|phase| each(phase) * each(phase)));
        assert_eq!(bytes, 4096 * pages, "bytes");
    }
}
