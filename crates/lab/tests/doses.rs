//! Tests of the files of doses and erases. The tests compare the files with doses computed from a
//! trace, with the oracle's verdict, and with each other's sizes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use vpass_lab::files::{File, of_run};
use vpass_lab::manifest::Call;
use vpass_lab::plan::{Chosen, RunPlan};
use vpass_lab::progress::{Unwatched, unwatched};
use vpass_lab::run::{Outcome, execute};
use vpass_lab::setup::{Base, Gear, Named, Replay, Setup, Watch};

/// Table of a CSV file: a map by column for each row.
type Rows<'a> = Vec<BTreeMap<&'a str, &'a str>>;

fn text<'a>(files: &'a [File], name: &str) -> Option<&'a str> {
    files.iter().find(|(of, _)| of == name).map(|(_, text)| text.as_str())
}

fn rows<'a>(files: &'a [File], name: &str) -> Rows<'a> {
    let mut lines = text(files, name).unwrap_or_else(|| panic!("no {name}")).lines();
    let columns: Vec<_> = lines.next().unwrap().split(',').collect();
    let row = |line: &'a str| {
        let values: Vec<_> = line.split(',').collect();
        assert_eq!(values.len(), columns.len(), "{line}");
        columns.iter().copied().zip(values).collect()
    };
    lines.map(row).collect()
}

fn number(row: &BTreeMap<&str, &str>, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column} in {row:?}"))
}

fn ran(plan: &RunPlan) -> (Outcome, Vec<File>) {
    let outcome = execute(plan, &Unwatched).unwrap_or_else(|e| panic!("{e}"));
    let files = of_run(plan, &outcome, &Call::of_library("run")).unwrap();
    (outcome, files)
}

/// Returns a plan that records doses. It has a preset's workload and these keys.
fn plan(drive: &str, workload: &str, gear: Gear, reclaim: &str, keys: &str) -> RunPlan {
    let set = keys.split_whitespace().map(str::to_owned).collect();
    let base = Base { gear, set, ..Base::new(drive) };
    let setup = Setup::new(base, Named::Workload(workload.into()));
    let chosen = Chosen { reclaim, ..Chosen::default() };
    RunPlan { files: true, ..RunPlan::new(&setup, chosen, &unwatched).unwrap() }
}

/// Drive of 24 blocks. A block has 4 wordlines of 3 pages, alpha 9.25, and a limit that no read
/// reaches.
const SMALL: &str = r#"
    [geometry]
    channels = 1
    dies_per_channel = 2
    planes_per_die = 1
    blocks_per_plane = 12
    wordlines_per_block = 4
    cell = "tlc"
    page_size = "4KiB"
    [timing]
    sense_us = 50
    program_us = 200
    erase_us = 3000
    channel_mb_s = 800
    [drive]
    spare = 0.5
    [start]
    fill = 1.0
    [disturb]
    model = "wordline"
    groups = ["only"]
    table = [{ pec = 0, limit = [20000], alpha = [9.25] }]
"#;

/// Returns the pages that the trace reads, in order. Page 7 is read often, other pages by a
/// pattern.
fn reads() -> Vec<u64> {
    (0..4000u64).map(|n| if n % 3 == 0 { 7 } else { n * n % 61 }).collect()
}

/// Returns a plan of these reads on the small drive, without reclaim.
fn replay(folder: &Path, gear: Gear) -> RunPlan {
    let (drive, trace) = (folder.join("drive.toml"), folder.join("trace.csv"));
    fs::write(&drive, SMALL).unwrap();
    let row = |(n, page): (usize, u64)| {
        format!("{},host,0,Read,{},4096,0\n", 128_166_372_000_000_000 + n * 5000, page * 4096)
    };
    fs::write(&trace, reads().into_iter().enumerate().map(row).collect::<String>()).unwrap();
    let base = Base { gear, ..Base::new(drive.to_str().unwrap()) };
    let named = Named::Trace { files: vec![trace], replay: Replay::default() };
    let chosen = Chosen { reclaim: "none", ..Chosen::default() };
    let plan = RunPlan::new(&Setup::new(base, named), chosen, &unwatched).unwrap();
    RunPlan { files: true, ..plan }
}

/// Returns the dose of each wordline of a block after the first `count` reads. A read adds 9.25 to
/// its neighbours, 0 to its own wordline, and 1 to every other wordline of the block.
fn doses_after(count: usize, block: usize, wordline_of: &BTreeMap<u64, usize>) -> [f64; 4] {
    let mut doses = [0.0; 4];
    for page in &reads()[..count] {
        let read = wordline_of[page];
        if read / 4 != block {
            continue;
        }
        for (wordline, dose) in (block * 4..).zip(&mut doses) {
            *dose += match read.abs_diff(wordline) {
                0 => 0.0,
                1 => 9.25,
                _ => 1.0,
            };
        }
    }
    doses
}

#[test]
fn doses_are_those_of_the_trace_at_one_moment() {
    let folder = tempfile::tempdir().unwrap();
    for gear in [Gear::Untimed, Gear::Timed] {
        let (outcome, files) = ran(&replay(folder.path(), gear));
        // No data moves, so all reads find the pages at their places of the end.
        let places = outcome.drive.map_rows();
        let places = places.map(|row| (u64::from(row.lpn.number()), row.ppn.number() as usize / 3));
        let wordline_of: BTreeMap<u64, usize> = places.collect();
        let dose = rows(&files, "dose.csv");
        let mut blocks: Vec<usize> = vec![];
        for wordlines in dose.chunks(4) {
            let of = |column: &str| wordlines.iter().map(|row| number(row, column)).collect();
            let (found, limits): (Vec<f64>, Vec<f64>) = (of("dose"), of("limit"));
            let block = number(&wordlines[0], "block") as usize;
            let reads_then = number(&wordlines[0], "at_host_read_pages") as usize;
            // The snapshot may come before the effect of the last of these reads.
            let expected = [0, 1].map(|less| doses_after(reads_then - less, block, &wordline_of));
            if gear == Gear::Untimed {
                assert!(expected.iter().any(|doses| doses[..] == found), "{found:?} {expected:?}");
            } else {
                let end = doses_after(reads().len(), block, &wordline_of);
                assert!(found.iter().zip(end).all(|(then, end)| *then <= end), "{found:?} {end:?}");
            }
            assert_eq!(limits, [20000.0; 4]);
            assert_eq!(of("alpha"), [9.25; 4].to_vec());
            assert_eq!(of("wordline"), [0.0, 1.0, 2.0, 3.0].to_vec());
            let at_s = wordlines[0]["at_s"];
            assert_eq!(at_s.is_empty(), gear == Gear::Untimed, "{at_s}");
            assert_eq!(wordlines[0]["group"], "only");
            assert_eq!(number(&wordlines[0], "die") as usize, block / 12);
            blocks.push(block);
        }
        // The file has all blocks that were read, the worst block first.
        let mut read: Vec<usize> = reads().iter().map(|page| wordline_of[page] / 4).collect();
        read.sort_unstable();
        read.dedup();
        assert_eq!(read.len(), blocks.len());
        assert_eq!(blocks[0], wordline_of[&7] / 4, "page 7 is read most");
        let worst: Vec<f64> = blocks
            .iter()
            .map(|block| number(&rows(&files, "dose_blocks.csv")[*block], "worst_ratio"))
            .collect();
        assert!(worst.is_sorted_by(|a, b| a >= b), "{worst:?}");
        // The most-read block is worst at the end.
        let end = doses_after(reads().len(), blocks[0], &wordline_of);
        let highest = end.into_iter().fold(0.0, f64::max) / 20000.0;
        assert!((worst[0] - highest).abs() < 1e-12, "{} {highest}", worst[0]);
        assert!(outcome.summary.threshold_used.is_none(), "`none` reclaims nothing");
    }
}

/// Reads of hot pages on a worn drive. They bring blocks to their limits.
const HOT: &str =
    "workload.requests=1500000 workload.distribution=hot-cold:0.002/0.95 start.pec=3000";

#[test]
fn the_worst_block_is_the_oracles() {
    for (gear, reclaim) in [
        (Gear::Untimed, "block"),
        (Gear::Untimed, "straw-wl"),
        (Gear::Timed, "page-type"),
        (Gear::Fluid, "block"),
        (Gear::Fluid, "ipr-wl"),
    ] {
        let rate =
            if gear == Gear::Fluid { " workload.rate=100000 workload.queue_depth=" } else { "" };
        let (outcome, files) =
            ran(&plan("tiny", "uniform-read", gear, reclaim, &format!("{HOT}{rate}")));
        let summary = &outcome.summary;
        assert!(
            summary.data_lost_pages == 0 && summary.reclaim.counts.invocations > 0,
            "{reclaim}"
        );
        let oracle = summary.oracle.as_ref().unwrap();
        assert!(!oracle.is_bug(), "{:?}", oracle.findings);
        let blocks = rows(&files, "dose_blocks.csv");
        let worst = blocks.iter().map(|row| number(row, "worst_ratio")).fold(0.0, f64::max);
        assert!(
            worst.to_bits() == oracle.worst_dose_ratio.to_bits(),
            "{reclaim}: {worst} {oracle:?}"
        );
        let used = summary.threshold_used.unwrap();
        assert!(used > 0.0 && used <= worst, "{used} of {worst}");
        // The snapshot of the worst block is of one moment. It is within 1 % of the worst ratio.
        let dose = rows(&files, "dose.csv");
        let first = dose.iter().filter(|row| row["block"] == dose[0]["block"]);
        let ratios = first.filter(|row| number(row, "valid_pages") > 0.0);
        let highest =
            ratios.map(|row| number(row, "dose") / number(row, "limit")).fold(0.0, f64::max);
        assert!(highest <= worst && highest > worst - 0.011, "{highest} of {worst}");
        check_bins(&files);
        // Erases for reads happen when jobs end, so the used share of the limit is at least that at
        // the beginning of jobs.
        let erasures = rows(&files, "erasures.csv");
        let by_reclaim = erasures.iter().filter(|row| row["cause"] == "reclaim");
        let shares: Vec<f64> = by_reclaim.map(|row| number(row, "share_used")).collect();
        if reclaim == "block" {
            assert!(shares.iter().copied().fold(0.0, f64::max) >= used, "{shares:?} {used}");
        }
        let at: Vec<_> = erasures.iter().map(|row| row["at_s"]).collect();
        assert!(at.iter().all(|at| at.is_empty() == (gear == Gear::Untimed)), "{at:?}");
    }
}

/// Checks bins by the wordlines of the same blocks at the same moments.
fn check_bins(files: &[File]) {
    let (dose, map) = (rows(files, "dose.csv"), rows(files, "dose_map.csv"));
    let with_pages = |row: &BTreeMap<&str, &str>, kind| number(row, kind) > 0.0;
    let mut checked = 0;
    for wordlines in dose.chunk_by(|a, b| a["block"] == b["block"]) {
        for bin in map.iter().filter(|bin| bin["block"] == wordlines[0]["block"]) {
            let first = number(bin, "first_wordline") as usize;
            let own = &wordlines[first..first + number(bin, "wordlines") as usize];
            let is_lost = own.iter().any(|row| with_pages(row, "lost_pages"));
            let with_data = own
                .iter()
                .filter(|row| with_pages(row, "valid_pages") || with_pages(row, "lost_pages"));
            let ratios = with_data.map(|row| number(row, "dose") / number(row, "limit"));
            let worst = ratios.reduce(f64::max);
            let state = worst.map_or("none", |_| if is_lost { "lost" } else { "data" });
            assert_eq!(bin["state"], state, "{bin:?}");
            match worst {
                None => assert_eq!(bin["worst_ratio"], ""),
                Some(worst) => {
                    assert!((number(bin, "worst_ratio") - worst).abs() < 1e-9, "{bin:?} {worst}");
                }
            }
            checked += 1;
        }
    }
    assert!(checked >= 64, "{checked} bins");
}

#[test]
fn without_reclaim_blocks_pass_their_limits_and_lose_pages() {
    let (outcome, files) = ran(&plan("tiny", "uniform-read", Gear::Untimed, "none", HOT));
    assert!(outcome.summary.data_lost_pages > 0 && !outcome.is_bug());
    let worst = &rows(&files, "dose.csv")[..64];
    let lost = worst.iter().filter(|row| number(row, "lost_pages") > 0.0);
    let ratio = |row: &BTreeMap<&str, &str>| number(row, "dose") / number(row, "limit");
    assert!(lost.map(ratio).fold(0.0, f64::max) > 1.0);
    check_bins(&files);
    let map = rows(&files, "dose_map.csv");
    assert!(map.iter().any(|row| row["state"] == "lost" && number(row, "worst_ratio") > 1.0));
    let blocks = rows(&files, "dose_blocks.csv");
    assert!(blocks.iter().any(|row| number(row, "wordlines_past_limit") > 1.0));
}

#[test]
fn every_erase_has_its_reads() {
    let keys = "workload.requests=600000 workload.read_share=0.9 start.pec=3000 disturb.dose=reads";
    let (outcome, files) = ran(&plan("tiny", "random-70-30", Gear::Untimed, "block", keys));
    check_bins(&files);
    let erasures = rows(&files, "erasures.csv");
    assert!(erasures.len() > 100 && erasures.iter().all(|row| row["every"] == "1"));
    assert_eq!(erasures.len() as u64, outcome.summary.flash.erases.sum());
    // Each sensing adds a dose unit to its block. The file of erases or the file of blocks has this
    // unit.
    let erased: f64 = erasures.iter().map(|row| number(row, "reads")).sum();
    let standing: f64 =
        rows(&files, "blocks.csv").iter().map(|row| number(row, "reads_dose_units")).sum();
    let all = outcome.summary.flash.reads.sum() as f64;
    assert!((erased + standing - all).abs() < 1e-6, "{erased} + {standing}, of {all}");
    let blocks = rows(&files, "dose_blocks.csv");
    let counted: f64 = blocks.iter().map(|row| number(row, "erases")).sum();
    assert_eq!(counted as usize, erasures.len());
    for (number_of, row) in blocks.iter().enumerate().filter(|(_, row)| number(row, "erases") > 0.0)
    {
        let of_block = erasures.iter().filter(|e| e["block"] == number_of.to_string());
        let highest = of_block.map(|e| number(e, "share_used")).fold(0.0, f64::max);
        assert!((number(row, "share_used_at_erase") - highest).abs() < 1e-12);
    }
}

#[test]
fn a_record_changes_no_other_file_and_is_the_same_each_time() {
    let keys = "workload.requests=300000 workload.read_share=0.9 start.pec=3000";
    let recorded = plan("tiny", "random-70-30", Gear::Timed, "straw-wl", keys);
    let (_, with) = ran(&recorded);
    let (_, again) = ran(&recorded);
    let (_, without) = ran(&RunPlan { files: false, ..recorded.clone() });
    let timeless = |files: &[File]| {
        let files = files.iter().filter(|(name, _)| name != "timing.json");
        files.cloned().collect::<BTreeMap<_, _>>()
    };
    assert_eq!(timeless(&with), timeless(&again));
    let added = ["dose.csv", "dose_map.csv", "dose_blocks.csv", "erasures.csv"];
    let mut rest = timeless(&with);
    for name in added {
        assert!(rest.remove(name).is_some(), "{name}");
    }
    // A run with a record also has windows of time, so its latencies have more intervals.
    let windowed = |name: &str| {
        name == "latency.csv"
            || std::path::Path::new(name).extension().is_some_and(|end| end == "hlog")
    };
    rest.retain(|name, _| !windowed(name));
    let mut without = timeless(&without);
    without.retain(|name, _| !windowed(name));
    assert!(rest.len() > 4, "{:?}", rest.keys());
    assert_eq!(rest, without);
    // Without an oracle, doses are unknown, but erases are the same.
    let (outcome, off) = ran(&RunPlan { oracle: Watch::Off, ..recorded });
    assert!(added[..3].iter().all(|name| text(&off, name).is_none()));
    assert_eq!(outcome.summary.threshold_used, None);
    let with: Rows = rows(&with, "erasures.csv");
    for (with, off) in with.into_iter().zip(rows(&off, "erasures.csv")) {
        assert_eq!(off["share_used"], "");
        assert!(
            ["block", "at_s", "cause", "reads"].iter().all(|column| with[column] == off[column])
        );
        assert!(number(&with, "share_used") >= 0.0);
    }
}

#[test]
fn files_stay_small_on_a_larger_drive() {
    let keys = "geometry.page_size=4KiB drive.capacity=4GiB geometry.wordlines_per_block=64 \
         start.pec=3000 workload.read_share=0.6 workload.requests=3000000";
    let (outcome, files) = ran(&plan("tiny", "random-70-30", Gear::Untimed, "block", keys));
    check_bins(&files);
    let blocks = outcome.drive.geometry().blocks as usize;
    assert!(blocks > 4000);
    assert_eq!(rows(&files, "dose.csv").len(), 250 * 64);
    assert_eq!(rows(&files, "dose_map.csv").len(), 500 * 64);
    assert_eq!(rows(&files, "dose_blocks.csv").len(), blocks);
    assert!(text(&files, "dose.csv").unwrap().len() < 2_000_000);
    let erasures = rows(&files, "erasures.csv");
    let every = number(&erasures[0], "every") as u64;
    assert!(every > 1, "{} erases", outcome.summary.flash.erases.sum());
    assert_eq!(erasures.len() as u64, outcome.summary.flash.erases.sum().div_ceil(every));
    assert!((1000..=2000).contains(&erasures.len()));
}
