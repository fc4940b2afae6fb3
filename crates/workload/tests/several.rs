//! Replays several traces and several devices on one drive: merged by time, side by side, or
//! selected.

use crate::common;

use common::{drained, file};
use proptest::prelude::*;
use tempfile::TempDir;
use vpass_drive::base::request::RequestSource;
use vpass_workload::pass::PassSource;
use vpass_workload::traces::{Survey, TraceOptions, TraceSource};

const MIB: u64 = 1 << 20;

/// Returns times and offsets of the requests of these files on a large drive, and the source at its
/// end.
fn replayed(texts: &[&str], options: TraceOptions) -> (Vec<(u64, u64)>, TraceSource) {
    let (_folders, paths): (Vec<TempDir>, Vec<_>) = texts.iter().map(file).unzip();
    let mut source = TraceSource::open(&paths, 1 << 40, options).unwrap();
    let requests = drained(&mut source).unwrap();
    (requests.iter().map(|r| (r.at, r.offset)).collect(), source)
}

fn only(devices: &[&str]) -> TraceOptions {
    TraceOptions {
        only: devices.iter().map(|d| (*d).to_owned()).collect(),
        ..TraceOptions::default()
    }
}

#[test]
fn files_with_dates_share_their_clock() {
    // Times are ticks of 100 ns. The second file begins 3 ticks before the first.
    let a = "1000,a,0,Read,0,512,1\n1005,a,0,Read,512,512,1\n";
    let b = "997,b,3,Read,0,512,1\n1002,b,3,Read,1024,512,1\n1005,b,3,Read,0,512,1\n";
    let (requests, source) = replayed(&[a, b], TraceOptions::default());
    assert_eq!(requests, [(0, MIB), (300, 0), (500, MIB + 1024), (800, 512), (800, MIB)]);
    let devices: Vec<_> = source
        .survey()
        .devices()
        .iter()
        .map(|d| (d.name.as_str(), d.file, d.base, d.extent, d.rows))
        .collect();
    assert_eq!(devices, [("a_0", 0, 0, 1024, 2), ("b_3", 1, MIB, 1536, 3)]);
    assert!(source.report().several_devices);
    assert_eq!(source.len_hint(), Some(5));
}

#[test]
fn other_files_begin_together() {
    let (requests, _) = replayed(
        &["500 0 0 1 1\n700 0 1 1 1\n", "90 0 0 1 1\n100 0 5 1 1\n"],
        TraceOptions::default(),
    );
    assert_eq!(requests, [(0, 0), (0, MIB), (10, MIB + 2560), (200, 512)]);
    // A format with dates and a format without dates share no clock, so both files begin at 0.
    let (requests, _) = replayed(
        &["1000,a,0,Read,0,512,1\n1001,a,0,Read,0,512,1\n", "90 0 0 1 1\n100 0 5 1 1\n"],
        TraceOptions::default(),
    );
    assert_eq!(requests, [(0, 0), (0, MIB), (10, MIB + 2560), (100, 0)]);
}

#[test]
fn requests_out_of_order_are_moved_up_within_their_file() {
    let (requests, source) = replayed(
        &["0 0 0 1 1\n100 0 0 1 1\n50 0 0 1 1\n", "0 0 0 1 1\n60 0 0 1 1\n"],
        TraceOptions::default(),
    );
    assert_eq!(requests.iter().map(|r| r.0).collect::<Vec<_>>(), [0, 0, 60, 100, 100]);
    assert_eq!(source.report().clamped, 1);
}

#[test]
fn devices_of_one_file_lie_side_by_side() {
    let (requests, source) =
        replayed(&["0 7 0 1 1\n1 3 8 8 0\n2 7 4096 1 1\n3 3 0 1 1\n"], TraceOptions::default());
    // Device 7 ends at 2 MiB and one sector.
    assert_eq!(requests, [(0, 0), (1, 3 * MIB + 4096), (2, 2 * MIB), (3, 3 * MIB)]);
    assert_eq!(source.survey().space(), 3 * MIB + 8192);
}

#[test]
fn only_some_devices() {
    let text = "0 7 0 1 1\n10 3 8 8 0\n20 7 4096 1 1\n30 5 0 1 1\n";
    // Time counts from the first selected request.
    assert_eq!(replayed(&[text], only(&["3", "5"])).0, [(0, 4096), (20, MIB)]);
    assert_eq!(replayed(&[text], only(&["7"])).0, [(0, 0), (20, 2 * MIB)]);
    let msr = "1000,hm,0,Read,0,512,1\n1001,hm,1,Read,512,512,1\n1002,prn,0,Read,1024,512,1\n";
    assert_eq!(replayed(&[msr], only(&["hm_0"])).0, [(0, 0)]);
    assert_eq!(replayed(&[msr], only(&["0"])).0, [(0, 0), (200, MIB + 1024)]);
    let fio = "fio version 3 iolog\n0 /dev/sda read 0 512\n5 /dev/sdb read 512 512\n";
    assert_eq!(replayed(&[fio], only(&["/dev/sdb"])).0, [(0, 512)]);
    let blk = "8,0 1 1 0.5 9 Q R 8 + 8 [x]\n8,16 1 1 0.6 9 Q R 16 + 8 [x]\n";
    assert_eq!(replayed(&[blk], only(&["8,16"])).0, [(0, 8192)]);
    // A file without selected devices gives no requests. The clock begins at the first request of
    // the other file.
    let other = "900,prn,4,Read,0,512,1\n";
    assert_eq!(replayed(&[other, msr], only(&["hm_1"])).0, [(0, 512)]);
}

#[test]
fn passes_go_over_all_files() {
    let (_folders, paths): (Vec<TempDir>, Vec<_>) =
        ["0 0 0 1 1\n40 0 0 1 1\n", "0 0 0 1 1\n60 0 0 1 1\n"].iter().map(file).unzip();
    let mut source = TraceSource::open(&paths, 1 << 40, TraceOptions::default()).unwrap();
    let times = |source: &mut TraceSource| {
        drained(source).unwrap().iter().map(|r| r.at).collect::<Vec<_>>()
    };
    assert_eq!(times(&mut source), [0, 0, 40, 60]);
    source.next_pass().unwrap();
    // The three gaps take 60 ns, so the mean gap is 20 ns.
    assert_eq!(times(&mut source), [80, 80, 120, 140]);
    source.next_pass().unwrap();
    source.fill(&mut Vec::new(), 1).unwrap();
    source.next_pass().unwrap();
    assert_eq!(times(&mut source).len(), 4);
    assert_eq!((source.report().passes, source.report().rows), (4, 13));
}

#[test]
fn a_survey_counts_bytes_and_can_be_stopped() {
    let text = (0..30_000).map(|i| format!("{i} 0 8 8 1\n")).collect::<Vec<_>>().concat();
    let (_folder, path) = file(&text);
    let mut bytes = 0;
    let mut calls = 0;
    let mut watch = |more: u64| {
        bytes += more;
        calls += 1;
        true
    };
    let survey =
        Survey::of(std::slice::from_ref(&path), &TraceOptions::default(), &mut watch).unwrap();
    assert_eq!((survey.rows(), bytes, calls), (30_000, text.len() as u64, 4));
    let error =
        Survey::of(&[path], &TraceOptions::default(), &mut |_| false).unwrap_err().to_string();
    assert_eq!(error, "the reading of the trace was interrupted");
}

#[test]
fn a_file_that_changed_after_the_survey_is_an_error() {
    let (_folder, path) = file("0 0 0 1 1\n1 0 0 1 1\n");
    let mut source =
        TraceSource::open(std::slice::from_ref(&path), 1 << 20, TraceOptions::default()).unwrap();
    drained(&mut source).unwrap();
    std::fs::write(&path, "0 4 0 1 1\n").unwrap();
    source.next_pass().unwrap();
    let error = drained(&mut source).unwrap_err().to_string();
    assert!(
        error.contains("line 1: the trace file has changed since vpass first read it"),
        "{error}"
    );
}

proptest! {
    #[test]
    fn merging_is_sorting(
        files in proptest::collection::vec(
            proptest::collection::vec((0u64..200, 0u32..3, 0u64..100), 1..30),
            1..5,
        ),
    ) {
        let line = |(at, device, sector): &(u64, u32, u64)| format!("{at} {device} {sector} 1 1\n");
        let text = |rows: &Vec<_>| rows.iter().map(line).collect::<Vec<_>>().concat();
        let texts: Vec<String> = files.iter().map(text).collect();
        // Each file should begin at its own first row, and its times should never fall. All
        // requests should be sorted by time, then by file.
        let mut expected = vec![];
        let mut bases: Vec<(usize, u32)> = vec![];
        for (i, rows) in files.iter().enumerate() {
            let mut last = 0;
            for (at, device, sector) in rows {
                if !bases.contains(&(i, *device)) {
                    bases.push((i, *device));
                }
                last = last.max(at.saturating_sub(rows[0].0));
                // Every device here is smaller than a MiB.
                let base = bases.iter().position(|b| *b == (i, *device)).unwrap() as u64 * MIB;
                expected.push((last, base + sector * 512));
            }
        }
        expected.sort_by_key(|(at, _)| *at);
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        prop_assert_eq!(replayed(&texts, TraceOptions::default()).0, expected);
    }
}
