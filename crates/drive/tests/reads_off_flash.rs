//! Reads of pages that are not on flash count alike in the fluid gear and request by request: pages
//! that were never written or were trimmed, lost pages, and pages in the write buffer.

use vpass_drive::base::rates::{PageRates, ReadRates};
use vpass_drive::base::request::{Arrival, Op, Request, RequestSource, SourceError};
use vpass_drive::base::units::{Lpn, Ns};
use vpass_drive::drive::{Drive, Techniques};
use vpass_drive::time::{FluidRun, FluidSource, run_untimed};
use vpass_techniques::{card, usual};

use crate::common::config;

const PAGE: u32 = 4096;
/// Reads per second, all pages alike, and the mean time between two writes or trims.
const READS_PER_S: u64 = 20_000;
const GAP: Ns = 20_000_000;
/// Number of writes and trims.
const CHANGES: u64 = 3000;

/// Drive of 864 host pages, half of them with data. Unprotected data is lost at the limit.
const DRIVE: &str = r#"
    geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 60, wordlines_per_block = 8, cell = "tlc", page_size = "4KiB" }
    timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
    drive = { spare = 0.4, write_buffer = "128KiB" }
    disturb = { model = "count", table = [{ pec = 0, limit = [4000] }] }
    start = { fill = 0.5 }
"#;

/// Writes and trims of single pages, with the reads between them or without reads.
struct Host {
    random: u64,
    pages: u32,
    sends_reads: bool,
    at: Ns,
    changes: u64,
}

impl Host {
    fn new(drive: &Drive, sends_reads: bool) -> Self {
        let pages = drive.geometry().host_pages;
        Self { random: 1, pages, sends_reads, at: 0, changes: 0 }
    }

    fn below(&mut self, n: u32) -> u32 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((self.random >> 33) % u64::from(n)) as u32
    }

    /// Returns the next write or trim.
    fn change(&mut self) -> (Op, u32) {
        // These numbers do not depend on the reads between the changes.
        self.random = self.changes;
        self.changes += 1;
        self.at += GAP;
        self.below(9);
        let op = if self.below(3) == 0 { Op::Trim } else { Op::Write };
        (op, self.below(self.pages))
    }

    fn request(&self, op: Op, page: u32) -> Request {
        let offset = u64::from(page) * u64::from(PAGE);
        Request { at: self.at, offset, bytes: PAGE, op, origin: 0, hint: None }
    }
}

impl RequestSource for Host {
    fn fill(&mut self, out: &mut Vec<Request>, _max: usize) -> Result<(), SourceError> {
        if self.changes == CHANGES {
            return Ok(());
        }
        if self.sends_reads {
            for _ in 0..READS_PER_S * GAP / 1_000_000_000 {
                let page = self.below(self.pages);
                out.push(self.request(Op::Read, page));
            }
        }
        let (op, page) = self.change();
        out.push(self.request(op, page));
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        Arrival::Open
    }
}

impl FluidSource for Host {
    fn rates(&mut self, _from: Ns) -> (ReadRates, Ns) {
        let pages = PageRates::Same(READS_PER_S as f64 / f64::from(self.pages));
        (ReadRates { pages, requests_per_page: 1.0, bytes_per_page: f64::from(PAGE) }, Ns::MAX)
    }

    fn writes(&mut self) -> &mut dyn RequestSource {
        self
    }
}

fn drive(reclaim: &str) -> Drive {
    let techniques = Techniques { reclaim: card(reclaim), ..usual() };
    let mut drive = Drive::new(config(DRIVE), &techniques, false).unwrap();
    drive.precondition(1);
    drive.begin_measurement();
    drive
}

/// Returns the drive after the run, in the fluid gear or request by request.
fn after(reclaim: &str, is_fluid: bool) -> Drive {
    let mut drive = drive(reclaim);
    let mut host = Host::new(&drive, !is_fluid);
    if !is_fluid {
        run_untimed(&mut drive, &mut host, &mut |_, _| true).unwrap();
        return drive;
    }
    let mut run = FluidRun::begin(&mut drive, &mut host, 1);
    run.go_on(&mut drive, &mut host, CHANGES * GAP, &mut |_, _| true).unwrap();
    run.end(&mut drive);
    drive
}

/// Returns the expected number of reads of pages without data, if none is lost.
fn expected_without_data() -> f64 {
    let mut host = Host::new(&drive("block"), false);
    let mut has_data: Vec<bool> = (0..host.pages).map(|page| page < host.pages / 2).collect();
    let mut reads = 0.0;
    for _ in 0..CHANGES {
        let empty = has_data.iter().filter(|has| !**has).count() as f64;
        reads += empty / f64::from(host.pages) * (READS_PER_S * GAP) as f64 / 1e9;
        let (op, page) = host.change();
        has_data[page as usize] = op == Op::Write;
    }
    reads
}

/// Returns the host's read requests, pages without data, and failed reads.
fn counts(drive: &Drive) -> [f64; 3] {
    let host = drive.host_counts();
    assert_eq!(host.read_pages, host.read_requests, "each request reads a page");
    [host.read_requests, host.unmapped_read_pages, drive.uncorrectable_reads()].map(|n| n as f64)
}

fn near(what: &str, one: f64, other: f64, share: f64) {
    assert!((one - other).abs() <= share * other, "{what}: {one} instead of {other}");
}

#[test]
fn reads_of_pages_without_data_count_in_both_gears() {
    let all = (CHANGES * GAP * READS_PER_S) as f64 / 1e9;
    for is_fluid in [false, true] {
        let [reads, without_data, failed] = counts(&after("block", is_fluid));
        near("reads", reads, all, 0.003);
        near("reads without data", without_data, expected_without_data(), 0.01);
        assert!(failed < 0.5, "block loses nothing");
    }
}

/// Lost pages are read as often as others, until they are written or trimmed. The fluid gear serves
/// reads of lost data in rows, so some of them come after their page was trimmed or written.
#[test]
fn reads_of_lost_pages_fail_in_both_gears() {
    let [untimed, fluid] = [false, true].map(|is_fluid| after("none", is_fluid));
    let ([reads, empty, failed], [of_fluid, empty_of_fluid, failed_of_fluid]) =
        (counts(&untimed), counts(&fluid));
    assert!(failed > 0.1 * reads, "much is lost: {failed} of {reads}");
    near("reads", of_fluid, reads, 0.003);
    near("reads without data", empty_of_fluid, empty, 0.02);
    near("failed reads", failed_of_fluid, failed, 0.1);
}

/// Pages change their rates while they hold data and while they hold none.
#[test]
fn a_change_of_rates_counts_for_pages_without_data() {
    struct Waning {
        pages: u32,
        second: u64,
    }
    impl RequestSource for Waning {
        fn fill(&mut self, _: &mut Vec<Request>, _: usize) -> Result<(), SourceError> {
            Ok(())
        }
        fn arrival(&self) -> Arrival {
            Arrival::Open
        }
    }
    impl FluidSource for Waning {
        fn rates(&mut self, _: Ns) -> (ReadRates, Ns) {
            let pages = PageRates::Each(vec![100.0; self.pages as usize]);
            let rates = ReadRates { pages, requests_per_page: 1.0, bytes_per_page: 4096.0 };
            (rates, 1_000_000_000)
        }
        fn changes(&mut self, from: Ns, changed: &mut Vec<(Lpn, f32)>) -> Option<Ns> {
            self.second += 1;
            // Page n is read n times a second from now on, and then not at all.
            let rate = |page| if self.second == 1 { page as f32 } else { 0.0 };
            changed.extend((0..self.pages).map(|page| (Lpn::new(page), rate(page))));
            Some(from + 1_000_000_000)
        }
        fn writes(&mut self) -> &mut dyn RequestSource {
            self
        }
    }
    let mut drive = drive("block");
    let pages = drive.geometry().host_pages;
    let mut host = Waning { pages, second: 0 };
    let mut run = FluidRun::begin(&mut drive, &mut host, 1);
    run.go_on(&mut drive, &mut host, 10_000_000_000, &mut |_, _| true).unwrap();
    run.end(&mut drive);
    let of = |first: u32| -> u32 { (first..pages).map(|page| 100 + page).sum() };
    let [reads, without_data, _] = counts(&drive);
    near("reads", reads, of(0).into(), 0.01);
    near("reads without data", without_data, of(pages / 2).into(), 0.01);
}
