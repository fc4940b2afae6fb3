//! Checks that requests generated from statistics meet every statistic within 2 %, for a hand-made
//! table and for real disks.
//!
//! Equal seeds must give equal streams. Any table must give its footprint and totals, or be
//! refused.
#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use vpass_drive::base::request::{Arrival, Op, Request, RequestSource};
use vpass_workload::pass::PassSource;
use vpass_workload::statistics::{
    DiskStatistics, Imported, Meter, Statistic, StatisticsConfig, StatisticsFile, StatisticsSource,
    agreement, import,
};
use vpass_workload::traces::{TraceOptions, TraceSource};

const TIB: u64 = 1 << 40;

/// Returns the hand-made table that comes with vpass.
fn office_day() -> StatisticsConfig {
    let text = include_str!("../../../examples/statistics/office-day.toml");
    StatisticsFile::parse(text).unwrap().statistics
}

fn source(config: &StatisticsConfig, seed: u64) -> StatisticsSource {
    StatisticsSource::new(config, TIB, seed).unwrap()
}

/// Returns a pass, drawn `batch` requests at a time.
fn pass(source: &mut StatisticsSource, batch: usize) -> Vec<Request> {
    let mut out = Vec::new();
    loop {
        let before = out.len();
        source.fill(&mut out, batch).unwrap();
        if out.len() == before {
            return out;
        }
    }
}

/// Returns the measured statistics of a pass.
fn measured(source: &mut StatisticsSource) -> DiskStatistics {
    let mut meter = Meter::of(source.statistics());
    let mut out = Vec::new();
    loop {
        out.clear();
        source.fill(&mut out, 4096).unwrap();
        if out.is_empty() {
            return meter.finish();
        }
        for request in &out {
            meter.add(request);
        }
    }
}

#[track_caller]
fn fits(config: &StatisticsConfig, seed: u64) -> Vec<Statistic> {
    let mut source = source(config, seed);
    let found = measured(&mut source);
    let statistics = agreement(source.statistics(), &found);
    for s in &statistics {
        assert!(s.error_percent <= 2.0, "{} at scale {}: {s:?}", config.disk, config.scale);
    }
    statistics
}

#[test]
fn every_statistic_of_a_table_of_ours_is_met() {
    let names =
        |statistics: &[Statistic]| statistics.iter().map(|s| s.name.clone()).collect::<Vec<_>>();
    let whole = fits(&office_day(), 1);
    // There are two rows about both directions together. Each direction has requests, bytes,
    // accesses, pages, two rows of windows, 8 percentiles of popularity, and 8 of size.
    assert_eq!(whole.len(), 2 + 2 * (6 + 8 + 8));
    for (seed, scale) in [(2, 1.0), (1, 0.3), (1, 0.1)] {
        assert_eq!(names(&fits(&StatisticsConfig { scale, ..office_day() }, seed)), names(&whole));
    }
    let config = StatisticsConfig {
        speed: 100.0,
        extent: vpass_drive::base::units::Bytes(65_536),
        ..office_day()
    };
    fits(&config, 1);
}

#[test]
fn one_direction_is_enough() {
    let reads = StatisticsConfig { writes: None, footprint_pages: 200_000, ..office_day() };
    let none = vec![0; 24];
    let reads = StatisticsConfig {
        windows: vpass_workload::statistics::WindowsConfig { write_pages: none, ..reads.windows },
        ..reads
    };
    fits(&reads, 1);
    assert!(pass(&mut source(&reads, 1), 4096).iter().all(|r| r.op == Op::Read));
}

#[test]
fn a_seed_is_a_stream_for_every_batch_size() {
    let config = StatisticsConfig { scale: 0.05, ..office_day() };
    let whole = pass(&mut source(&config, 1), usize::MAX);
    assert_eq!(source(&config, 1).len_hint(), Some(whole.len() as u64));
    for batch in [1, 7, 4096] {
        assert_eq!(pass(&mut source(&config, 1), batch), whole);
    }
    assert_ne!(pass(&mut source(&config, 2), 4096), whole);
    assert!(whole.is_sorted_by_key(|r| r.at));
}

#[test]
fn passes_go_on_in_time_and_touch_the_same_pages() {
    let config = StatisticsConfig { scale: 0.05, speed: 2.0, ..office_day() };
    let mut source = source(&config, 1);
    let first = pass(&mut source, 4096);
    let day = 43_200_000_000_000;
    assert!(first.last().unwrap().at < day);
    source.next_pass().unwrap();
    let second = pass(&mut source, 4096);
    assert!(second.iter().all(|r| (day..2 * day).contains(&r.at)));
    assert_ne!(
        first.iter().map(|r| r.offset).collect::<Vec<_>>(),
        second.iter().map(|r| r.offset).collect::<Vec<_>>()
    );
    let sorted = |pass: &[Request]| {
        let mut all: Vec<_> = pass.iter().map(|r| (r.op as u8, r.offset / 4096)).collect();
        all.sort_unstable();
        all
    };
    assert_eq!(sorted(&first), sorted(&second), "every pass touches every block equally often");
}

#[test]
fn arrival_is_open_unless_a_depth_is_given() {
    assert_eq!(source(&office_day(), 1).arrival(), Arrival::Open);
    let closed = StatisticsConfig { queue_depth: Some(7), ..office_day() };
    assert_eq!(source(&closed, 1).arrival(), Arrival::Closed { depth: 7 });
}

#[test]
fn a_trace_that_is_measured_can_be_generated() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/traces/pgbench-ext4.csv.zst");
    let mut trace = TraceSource::open(&[path], TIB, TraceOptions::default()).unwrap();
    let mut meter = Meter::of_anything(4096);
    let mut out = Vec::new();
    loop {
        out.clear();
        trace.fill(&mut out, 4096).unwrap();
        if out.is_empty() {
            break;
        }
        for request in &out {
            meter.add(request);
        }
    }
    let imported = Imported::measured(&meter.finish(), "pgbench", "a trace of ours");
    fits(&imported.config, 1);
    let text = imported.config.to_file_text("pgbench, generated");
    assert_eq!(StatisticsFile::parse(&text).unwrap().statistics, imported.config);
}

/// Returns the tables of real disks, or prints a note.
fn published() -> Option<(PathBuf, PathBuf)> {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/traces");
    let folder = std::env::var_os("VPASS_SHARED_TRACES")
        .map_or_else(|| PathBuf::from(default), PathBuf::from);
    let file = |name| folder.join(name);
    let files = (
        file("cloudphysics_dev_even_whole_trace_cp_block.csv.zst"),
        file("cloudphysics_dev_even_30min_pages.csv.zst"),
    );
    if files.0.exists() && files.1.exists() {
        return Some(files);
    }
    eprintln!(
        "skipped: {} is not there; VPASS_SHARED_TRACES names the folder of sample traces",
        files.0.display()
    );
    None
}

#[test]
fn every_statistic_of_real_disks_is_met() {
    let Some((totals, windows)) = published() else { return };
    // These scales take a few seconds in all. At a smaller scale, the largest requests (257 pages)
    // exceed some windows or percentiles.
    let disks = [
        ("w02", 0.02),
        ("w44", 0.1),
        ("w12", 0.05),
        ("w36", 0.1),
        ("w92", 0.1),
        ("w64", 0.05),
        ("w80", 0.1),
        ("w54", 0.01),
    ];
    for (disk, scale) in disks {
        let imported = import(&totals, &windows, disk).unwrap();
        assert!(imported.notes.is_empty(), "{disk}: {:?}", imported.notes);
        fits(&StatisticsConfig { scale, ..imported.config }, 1);
    }
}

#[test]
fn statistics_that_contradict_themselves_are_repaired_and_noted() {
    let Some((totals, windows)) = published() else { return };
    let (few, many) =
        (import(&totals, &windows, "w98").unwrap(), import(&totals, &windows, "w106").unwrap());
    assert!(
        few.notes[0].starts_with(
            "1933220 pages are read in the statistics; with these popularity \
            percentiles"
        ),
        "{:?}",
        few.notes
    );
    assert!(
        many.notes[0].starts_with("in the statistics, the most popular page is read 272598 times"),
        "{:?}",
        many.notes
    );
    for imported in [few, many] {
        fits(&StatisticsConfig { scale: 0.2, ..imported.config }, 1);
    }
}

#[test]
fn a_week_of_w02_is_planned_in_no_time() {
    let Some((totals, windows)) = published() else { return };
    let config = import(&totals, &windows, "w02").unwrap().config;
    let mut source = source(&config, 1);
    assert_eq!(source.len_hint().unwrap() / 1_000_000, 122);
    let mut out = Vec::new();
    source.fill(&mut out, 100_000).unwrap();
    assert_eq!(out.len(), 100_000);
}

/// Makes a few small requests, similar to those of a trace.
fn requests() -> impl Strategy<Value = Vec<Request>> {
    let request = (0u64..20_000, 0u64..300, 1u32..40, any::<bool>(), any::<bool>());
    prop::collection::vec(request, 1..400).prop_map(|rows| {
        let mut at = 0;
        let request = |(gap, page, sectors, whole, read): (u64, u64, u32, bool, bool)| {
            at += gap;
            let bytes = if whole { sectors.div_ceil(8) * 4096 } else { sectors * 512 };
            let offset = page * 4096 + if whole { 0 } else { u64::from(sectors % 8) * 512 };
            Request {
                at,
                offset,
                bytes,
                op: if read { Op::Read } else { Op::Write },
                origin: 0,
                hint: None,
            }
        };
        rows.into_iter().map(request).collect()
    })
}

/// Checks footprint and totals of the generated requests, unless the table is refused.
fn meets_footprint_and_totals(config: &StatisticsConfig, seed: u64) -> Result<bool, TestCaseError> {
    let Ok(mut source) = StatisticsSource::new(config, TIB, seed) else { return Ok(false) };
    let target = source.statistics().clone();
    let found = measured(&mut source);
    prop_assert_eq!(
        (found.footprint_pages, found.shared_pages()),
        (target.footprint_pages, target.shared_pages())
    );
    for (wanted, got) in [(&target.reads, &found.reads), (&target.writes, &found.writes)] {
        prop_assert_eq!(wanted.is_some(), got.is_some());
        let (Some(wanted), Some(got)) = (wanted, got) else { continue };
        prop_assert_eq!(wanted.pages, got.pages);
        let largest = wanted.sizes.last().unwrap().1 as f64 / target.page_bytes as f64 + 2.0;
        let off = (wanted.page_accesses() as f64 - got.page_accesses() as f64).abs();
        prop_assert!(
            off <= (0.02 * wanted.page_accesses() as f64).max(largest),
            "{off} of {:?}",
            wanted
        );
    }
    Ok(true)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn measured_statistics_are_met(requests in requests(), seed: u64, scale in 0.05f64..1.0) {
        let mut meter = Meter::of_anything(4096);
        for request in &requests {
            meter.add(request);
        }
        let config = Imported::measured(&meter.finish(), "random", "").config;
        let accepted = meets_footprint_and_totals(&config, seed)?;
        prop_assert!(
            accepted || requests.len() < 100,
            "{:?}",
            StatisticsSource::new(&config, TIB, seed).err()
        );
        meets_footprint_and_totals(&StatisticsConfig { scale, ..config }, seed)?;
    }

    #[test]
    fn no_table_panics(
        mut ends in prop::collection::vec(0.0f64..1e6, 1..5),
        pages in prop::collection::vec((0u64..3000, 0u64..300), 5),
        side in (1u64..2000, 1u64..3000, 0.5f64..40.0),
        mut accesses in prop::collection::vec(1u64..300, 1..6),
        mut sizes in prop::collection::vec(1u64..200_000, 6),
        footprint in 1u64..4000,
        seed: u64,
    ) {
        ends.sort_by(f64::total_cmp);
        accesses.sort_unstable();
        sizes.truncate(accesses.len());
        sizes.sort_unstable();
        let (requests, different, mean) = side;
        let percentiles: Vec<_> =
            (1..=accesses.len()).map(|i| i as f64 * 100.0 / accesses.len() as f64).collect();
        let list = |pick: fn(&(u64, u64)) -> u64| {
            pages.iter().take(ends.len()).map(pick).collect::<Vec<_>>()
        };
        let (reads, writes) = (list(|p| p.0), list(|p| p.1));
        let side = |requests: u64, different: u64| format!(
            "requests = {requests}\nbytes = {}\npages = {different}\npercentiles = \
             {percentiles:?}\naccesses = {accesses:?}\nsizes = {sizes:?}\n",
            (requests as f64 * mean * 1000.0) as u64
        );
        let text = format!(
            "[statistics]\ndisk = 'x'\nfootprint_pages = {footprint}\n[statistics.windows]\nends_s \
             = {ends:?}\nread_pages = {reads:?}\nwrite_pages = {writes:?}\n[statistics.reads]\n\
             {}[statistics.writes]\n{}",
            side(requests, different), side(requests / 10 + 1, different / 7 + 1)
        );
        let config = StatisticsFile::parse(&text).unwrap().statistics;
        meets_footprint_and_totals(&config, seed)?;
    }
}
