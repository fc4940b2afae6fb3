//! Random drives in the fluid gear, under the oracle, with all kinds of read rates and writes. The
//! drive's counts must agree with its reports, every copy must have the right data, and each page
//! past its limit must be reported.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use vpass_drive::api::card::Protection;
use vpass_drive::api::reclaim::Policy;
use vpass_drive::base::latency::AccessLatency;
use vpass_drive::base::rates::{PageRates, ReadRates};
use vpass_drive::base::request::{Arrival, Op, Request, RequestSource, SourceError};
use vpass_drive::base::units::{Bytes, Cause, Ns};
use vpass_drive::config::{DriveConfig, Number};
use vpass_drive::drive::{Drive, Techniques};
use vpass_drive::hints::HintRange;
use vpass_drive::time::{FluidRun, FluidSource};
use vpass_oracle::{Level, Oracle, OracleReport};
use vpass_techniques::{card, usual};

use crate::watched::config;

const SECOND: Ns = 1_000_000_000;

/// Reads at random rates that sometimes change, and writes and trims at random times and places.
struct Host {
    random: Xoshiro256PlusPlus,
    pages: u32,
    page_bytes: u32,
    reads_per_s: f64,
    /// Mean time between two writes; `None` without writes.
    gap: Option<Ns>,
    at: Ns,
    /// Time for which rates stay constant.
    hold: Ns,
}

impl Host {
    fn below(&mut self, n: u64) -> u64 {
        self.random.next_u64() % n
    }
}

impl FluidSource for Host {
    fn rates(&mut self, from: Ns) -> (ReadRates, Ns) {
        let each: Option<Vec<f32>> = match self.below(3) {
            0 => None,
            // A few pages are hot, and the others are not read.
            1 => Some((0..self.pages).map(|_| 20.0 * f32::from(self.below(20) == 0)).collect()),
            _ => Some((0..self.pages).map(|_| self.below(1000) as f32).collect()),
        };
        let pages =
            each.map_or(PageRates::Same(self.reads_per_s / f64::from(self.pages)), |rates| {
                let sum = rates.iter().copied().map(f64::from).sum::<f64>().max(f64::MIN_POSITIVE);
                let scaled = |rate: f32| (f64::from(rate) * self.reads_per_s / sum) as f32;
                PageRates::Each(rates.into_iter().map(scaled).collect())
            });
        let bytes_per_page = f64::from(self.page_bytes);
        let rates = ReadRates { pages, requests_per_page: 1.0, bytes_per_page };
        (rates, from.saturating_add(self.hold))
    }

    fn writes(&mut self) -> &mut dyn RequestSource {
        self
    }
}

impl RequestSource for Host {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        let Some(gap) = self.gap else { return Ok(()) };
        for _ in 0..max {
            self.at += self.below(2 * gap);
            let page = u64::from(self.page_bytes);
            let first = self.below(u64::from(self.pages) - 4);
            let (op, offset, bytes) = match self.below(8) {
                0 => (Op::Trim, first * page, page * (1 + self.below(3))),
                1 => (Op::Write, first * page + page / 4, page / 4),
                2 => (Op::Write, first * page, 3 * page),
                _ => (Op::Write, first * page, page),
            };
            let (at, bytes) = (self.at, bytes as u32);
            out.push(Request { at, offset, bytes, op, origin: 0, hint: None });
        }
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        Arrival::Open
    }
}

const RECLAIM: [&str; 7] =
    ["block", "page-type", "straw-wl", "erased-probe", "ipr-wl", "none", "ideal"];

/// Result of a case.
struct Driven {
    report: OracleReport,
    /// Number of pages that the host read.
    read: f64,
    /// Expected number of pages that the host reads.
    expected: f64,
    /// Number of reads that took retries.
    retried: u64,
    /// Number of pages that were moved to data with the same hint.
    regrouped: u64,
}

impl Driven {
    fn is_clean(&self, case: &str) {
        assert!(!self.report.is_bug(), "case {case}: {:?}", self.report.findings);
        // Reads of pages without data, in the write buffer or lost count, too.
        assert!(
            (self.read - self.expected).abs() <= 6.0 * self.expected.sqrt(),
            "case {case}: {} of {}",
            self.read,
            self.expected
        );
    }
}

/// Kind of data, by the retries that its reads may take.
#[derive(Clone, Copy, PartialEq)]
enum Data {
    /// No retries.
    Fresh,
    /// Two retries, with hints for two parts of the drive.
    Tired,
    /// Three retries, because data grows old.
    Aged,
}

/// Drives a small drive for a while.
fn case(seed: u64) -> Driven {
    case_of(seed, RECLAIM[(seed % RECLAIM.len() as u64) as usize], Data::Fresh)
}

/// Drives a small drive whose data ages, for weeks.
fn aged_case(seed: u64) -> Driven {
    const AGED: [&str; 5] = ["block", "straw-wl", "erased-probe", "page-type", "straw-ss"];
    case_of(seed, AGED[(seed % AGED.len() as u64) as usize], Data::Aged)
}

/// Drives a small drive whose reads may take two retries. Most of these drives have hints for two
/// parts.
fn tired_case(seed: u64) -> Driven {
    const TIRED: [&str; 6] =
        ["block", "straw-wl", "observed-retries", "erased-probe", "page-type", "ipr-wl"];
    case_of(seed, TIRED[(seed % TIRED.len() as u64) as usize], Data::Tired)
}

fn case_of(seed: u64, reclaim: &str, data: Data) -> Driven {
    let tired = data == Data::Tired;
    // If data grows old, hours replace the seconds of other drives.
    let slower = if data == Data::Aged { 17_280 } else { 1 };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut pick = |n: u64| random.next_u64() % n;
    let (limit, dose) = ([4000, 20_000][pick(2) as usize], ["reads", "sensings"][pick(2) as usize]);
    let (model, alpha) = [("wordline", "alpha = [4.0]"), ("count", "alpha = []")][pick(2) as usize];
    let (model, alpha) =
        if reclaim == "ideal" { ("wordline", "alpha = [4.0]") } else { (model, alpha) };
    let preprogram = ["0", "1"][pick(2) as usize];
    let refresh = ["block", "ida", "none"][pick(3) as usize];
    let spare = if data == Data::Fresh { 0.45 } else { 0.65 };
    let text = format!(
        r#"
        geometry = {{ channels = 1, dies_per_channel = 2, planes_per_die = 1, blocks_per_plane = 24, wordlines_per_block = 16, cell = "tlc", page_size = "16KiB" }}
        timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }}
        drive = {{ spare = {spare}, write_buffer = "{}" }}
        disturb = {{ model = "{model}", dose = "{dose}", preprogram_weight = {preprogram}, table = [{{ pec = 0, limit = [{limit}], {alpha} }}] }}
        refresh = {{ period = "{}s" }}
        reclaim = {{ check_interval = 100, late_reads = 50 }}
        start = {{ fill = 0.9 }}
        {}
        "#,
        ["128KiB", "0"][pick(2) as usize],
        40 * slower,
        match data {
            Data::Fresh => "",
            Data::Tired => RETRIES,
            Data::Aged => AGES,
        },
    );
    let mut config = config(&text);
    if reclaim == "count" {
        count_few_reads(&mut config, seed, tired);
    }
    if tired && !seed.is_multiple_of(4) {
        let said = |offset: u64, mib: u64, latency| HintRange {
            offset: Bytes(offset << 20),
            bytes: Bytes(mib << 20),
            access_latency: Some(latency),
            rank: 0,
        };
        config.hints.said =
            Some(vec![said(0, 5, AccessLatency::Idle), said(8, 3, AccessLatency::Typical)]);
        config.hints.regroup = [None, Some(0.01), Some(0.5), Some(1.0)][(seed / 6 % 4) as usize];
    }
    let techniques = Techniques { reclaim: card(reclaim), refresh: card(refresh), seed, ..usual() };
    let (gap, hold) = (
        [None, Some(slower * SECOND / 50), Some(slower * SECOND / 500)][pick(3) as usize],
        [Ns::MAX, slower * 30 * SECOND][pick(2) as usize],
    );
    // At the limit, the drive checks each read of a page singly.
    let reads_per_s = if reclaim == "none" { 2000.0 } else { 20_000.0 } / slower as f64;
    let mut drive =
        Drive::new(config, &techniques, false).unwrap_or_else(|e| panic!("case {seed}: {e}"));
    let mut oracle = Oracle::new(drive.geometry(), drive.config()).at(Level::On);
    oracle.expect_refresh(drive.config(), refresh, seed, false);
    if card::<dyn Policy>(reclaim).protects == Protection::Sound {
        oracle.expect_budgets(drive.config());
    }
    drive.observe(Box::new(oracle));
    drive.precondition(seed);
    drive.restart_clock();
    drive.begin_measurement();
    let mut host = Host {
        pages: drive.geometry().host_pages,
        page_bytes: drive.geometry().page_bytes,
        reads_per_s,
        gap,
        at: 0,
        hold,
        random,
    };
    let mut run = FluidRun::begin(&mut drive, &mut host, seed);
    run.go_on(&mut drive, &mut host, slower * 100 * SECOND, &mut |_, _| true).unwrap();
    run.end(&mut drive);
    drive.report_unread_losses();
    let report = drive.end_observation_of::<Oracle>().unwrap().conclude(&drive);
    let flash = drive.flash_counts();
    Driven {
        report,
        read: drive.host_counts().read_pages as f64,
        expected: slower as f64 * 100.0 * reads_per_s,
        retried: flash.retried.iter().skip(1).sum(),
        regrouped: flash.programs[Cause::Hint as usize],
    }
}

/// Gives `count` a number of reads that is reached, and each of its other parameters in turn.
fn count_few_reads(config: &mut DriveConfig, seed: u64, has_retries: bool) {
    let params = [
        ("reads", [700, 3000][(seed % 2) as usize]),
        ("drive_wide", [0, 1][(seed / 2 % 2) as usize]),
        ("spread", [0, 1][(seed / 4 % 2) as usize]),
        ("retries", if has_retries { [0, 1, 2][(seed / 8 % 3) as usize] } else { 0 }),
    ];
    for (key, value) in params {
        config.reclaim.params.set(Some("count"), key, Number::Whole(value));
    }
}

/// A read takes its second retry beyond 1.5 times the limit, and fails beyond 2.2 times.
const RETRIES: &str = r#"
        error = { model = "powerlaw", e = 0.0045, b = 0.0 }
        ecc = { codeword = "4KiB", cap = [0.0085, 0.0105, 0.0133], retry_decode_us = [50, 70] }
        hints = { typical_us = 220, idle_us = 1000 }
"#;

/// Age alone makes reads take the first retry after 64 hours, the second after 6 days and the third
/// after 13.
const AGES: &str = r#"
        error = { model = "powerlaw", e = 0.0045, b = 0.0005, m = 0.0, n = 0.5, longest_age = "60d" }
        ecc = { codeword = "4KiB", cap = [0.0085, 0.0105, 0.0133, 0.0240], retry_decode_us = [50, 60, 70] }
"#;

#[test]
fn random_drives_whose_data_grows_old_are_clean() {
    let mut retried = 0;
    for seed in 0..60 {
        let driven = aged_case(seed);
        driven.is_clean(&seed.to_string());
        retried += driven.retried;
    }
    assert!(retried > 1_000_000, "{retried}");
}

#[test]
fn random_tired_drives_with_hints_are_clean() {
    let (mut retried, mut regrouping) = (0, 0);
    for seed in 0..90 {
        let driven = tired_case(seed);
        driven.is_clean(&seed.to_string());
        (retried, regrouping) =
            (retried + driven.retried, regrouping + u32::from(driven.regrouped > 100));
    }
    assert!(retried > 10_000 && regrouping > 20, "{retried} {regrouping}");
}

/// Techniques that draw reads of their own, count with a few counters for each block, or also
/// follow the reads of other blocks.
#[test]
fn random_drives_of_techniques_with_state_are_clean() {
    const WITH_STATE: [&str; 9] = [
        "chance-probe",
        "straw-ss-sound",
        "straw-ss",
        "straw-ss-published",
        "tiered",
        "redftl",
        "read-leveling",
        "hotld",
        "ipr",
    ];
    for seed in 0..108 {
        let reclaim = WITH_STATE[(seed % WITH_STATE.len() as u64) as usize];
        // Streams of read-hot data and of several budgets need more blocks than so small a drive
        // has.
        let is_tired = seed % 2 == 0 && seed % WITH_STATE.len() as u64 <= 4;
        let data = if is_tired { Data::Tired } else { Data::Fresh };
        case_of(1000 + seed, reclaim, data).is_clean(&format!("{seed}, {reclaim}"));
    }
}

/// A fixed count loses data whose limit is lower. It must be reported, and nothing else may be.
#[test]
fn random_drives_with_a_fixed_count_are_clean() {
    for seed in 0..48 {
        let data = if seed % 3 == 0 { Data::Tired } else { Data::Fresh };
        case_of(2000 + seed, "count", data).is_clean(&seed.to_string());
    }
}

#[test]
fn random_drives_in_bulk_are_clean() {
    for seed in 0..140 {
        let driven = case(seed);
        driven.is_clean(&seed.to_string());
    }
}
