//! Replays traces on a drive. Checks time from 0 on, moved requests, passes, concatenated files,
//! and the report.

use crate::common;

use std::num::NonZeroU32;

use common::{drained, file, source};
use vpass_drive::base::request::{Arrival, Op, Request, RequestSource};
use vpass_workload::pass::{PassSource, Passes};
use vpass_workload::traces::{Fit, Skipped, TraceOptions, TraceReport, TraceSource};

fn read(at: u64, offset: u64, bytes: u32) -> Request {
    Request::new(at, offset, bytes, Op::Read)
}

fn options(fit: Fit) -> TraceOptions {
    TraceOptions { fit, ..TraceOptions::default() }
}

const BACKWARDS: &str = "100 0 0 1 1\n160 0 1 1 1\n120 0 2 1 0\n200 0 3 1 1\n";

#[test]
fn the_clock_starts_at_0_and_never_falls() {
    let (_folder, mut source) = source(BACKWARDS, 4096, TraceOptions::default());
    let expected = [
        read(0, 0, 512),
        read(60, 512, 512),
        Request { op: Op::Write, ..read(60, 1024, 512) },
        read(100, 1536, 512),
    ];
    assert_eq!(drained(&mut source).unwrap(), expected);
    let report = TraceReport {
        formats: vec!["mqsim"],
        passes: 1,
        rows: 4,
        clamped: 1,
        refitted: 0,
        skipped: Skipped::default(),
        several_devices: false,
        span_ns: 100,
    };
    assert_eq!(source.report(), report);
    assert_eq!((source.arrival(), source.len_hint()), (Arrival::Open, Some(4)));
}

/// Two recordings of three rows in one file: times of 1, 2 and 3 s, and then of 1, 2 and 3 s.
#[test]
fn recordings_in_a_file_can_follow_each_other() {
    let rows: String =
        [1, 2, 3, 1, 2, 3].map(|s| format!("{}.0 0 {} 8 1\n", 1000 * s, 8 * s)).concat();
    let (_folder, path) = file(rows);
    for (join_recordings, clamped, last_s) in [(false, 2, 2), (true, 0, 5)] {
        let options = TraceOptions { join_recordings, ..options(Fit::Error) };
        let mut source = TraceSource::open(std::slice::from_ref(&path), 1 << 30, options).unwrap();
        let requests = drained(&mut source).unwrap();
        assert_eq!((source.report().clamped, requests[5].at), (clamped, last_s * 1_000_000_000));
        let doubts = source.survey().files()[0].doubts(None, true, false);
        assert!(doubts[0].to_string().contains("starts again once, so 2 recordings"), "{doubts:?}");
    }
}

#[test]
fn twice_the_speed_is_half_the_time() {
    let (_folder, mut source) =
        source(BACKWARDS, 4096, TraceOptions { speed: 2.0, ..TraceOptions::default() });
    assert_eq!(
        drained(&mut source).unwrap().iter().map(|r| r.at).collect::<Vec<_>>(),
        [0, 30, 30, 50]
    );
    assert_eq!(source.report().span_ns, 50);
}

#[test]
fn a_closed_loop_has_its_depth() {
    let arrival = Arrival::Closed { depth: 4 };
    let (_folder, source) =
        source(BACKWARDS, 4096, TraceOptions { arrival, ..TraceOptions::default() });
    assert_eq!(source.arrival(), arrival);
}

#[test]
fn wrapping_counts_what_it_moved() {
    // The drive has 8 KiB, so sector 16 is its end. The third request crosses the end. The fourth
    // request starts after it.
    let (_folder, mut source) =
        source("0 0 0 1 1\n0 0 15 1 1\n0 0 14 4 1\n0 0 35 2 1\n", 8192, options(Fit::Wrap));
    let offsets: Vec<_> = drained(&mut source).unwrap().iter().map(|r| r.offset).collect();
    assert_eq!(offsets, [0, 15 * 512, 12 * 512, 3 * 512]);
    assert_eq!(source.report().refitted, 2);
}

#[test]
fn scaling_measures_all_files_first() {
    let (_first, a) = file("0 0 0 2 1\n10 0 4 2 1\n");
    let (_second, b) = file("0 0 30 2 1\n");
    let mut source =
        TraceSource::open(&[a, b], 8192, TraceOptions { concat: true, ..options(Fit::Scale) })
            .unwrap();
    assert_eq!(source.len_hint(), Some(3));
    // The trace has 32 sectors and the drive has 16, so every offset is halved.
    let requests = drained(&mut source).unwrap();
    assert_eq!(requests.iter().map(|r| r.offset).collect::<Vec<_>>(), [0, 1024, 15 * 512 - 512]);
    assert_eq!(source.report().refitted, 2);
}

#[test]
fn packing_puts_touched_pages_side_by_side() {
    // Pages of 4 KiB have 8 sectors. Device 3 touches pages 1, 2 and 1000; device 9 touches page
    // 50, and trims itself.
    let rows = "0 3 8 16 1\n1 3 8001 1 0\n2 9 400 8 1\n3 3 12 8 1\n";
    let (_first, a) = file(rows);
    let (_second, b) = file("fio version 3 iolog\n0 /f trim 0 409600\n0 /f read 204800 4096\n");
    let mut source = TraceSource::open(&[a, b], 6 * 4096, options(Fit::Pack)).unwrap();
    let mut requests = drained(&mut source).unwrap();
    requests.sort_by_key(|r| (r.at, r.offset));
    let write = |at, offset, bytes| Request { op: Op::Write, ..read(at, offset, bytes) };
    // The drive has pages 1, 2 and 1000 of device 3, page 50 of device 9, and pages 0 and 50 of /f.
    // Page 0 is the start of the trim.
    let trim = Request::new(0, 4 * 4096, 8192, Op::Trim);
    assert_eq!(
        requests,
        [
            read(0, 0, 8192),
            trim,
            read(0, 5 * 4096, 4096),
            write(1, 2 * 4096 + 512, 512),
            read(2, 3 * 4096, 4096),
            read(3, 2048, 4096)
        ]
    );
    assert_eq!((source.report().rows, source.report().refitted), (6, 6));
}

#[test]
fn packing_uses_the_drives_page_size() {
    // The trace reads 4 KiB at 0 and at 20 KiB. In pages of 16 KiB, these are the first quarter of
    // a page and the second quarter of the next page.
    let rows = "0 0 0 8 1\n1 0 40 8 1\n2 0 100000 8 1\n";
    let packed = |page_bytes| {
        let (_folder, mut source) =
            source(rows, 1 << 20, TraceOptions { page_bytes, ..options(Fit::Pack) });
        drained(&mut source).unwrap().iter().map(|r| r.offset).collect::<Vec<_>>()
    };
    assert_eq!(packed(4096), [0, 4096, 8192]);
    // Byte 51,200,000 is exactly the start of page 3,125 of 16 KiB.
    assert_eq!(packed(16_384), [0, 20_480, 32_768]);
}

#[test]
fn times_are_in_the_given_unit() {
    use vpass_workload::traces::TimeUnit;
    let times = |text: &str, unit| {
        let read = TraceOptions { time_unit: unit, ..TraceOptions::default() };
        let (_folder, mut source) = source(text, 1 << 20, read);
        drained(&mut source).unwrap().last().unwrap().at
    };
    let units = [
        None,
        Some(TimeUnit::Nanoseconds),
        Some(TimeUnit::Microseconds),
        Some(TimeUnit::Milliseconds),
        Some(TimeUnit::Seconds),
    ];
    assert_eq!(
        units.map(|u| times("0 0 0 8 1\n7 0 0 8 1\n", u)),
        [7, 7, 7_000, 7_000_000, 7_000_000_000]
    );
    assert_eq!(
        units.map(|u| times("0.0 0 0 8 1\n7.5 0 0 8 1\n", u)),
        [7_500_000, 7, 7_500, 7_500_000, 7_500_000_000]
    );
    let log = "fio version 3 iolog\n0 /f read 0 512\n7 /f read 0 512\n";
    assert_eq!(units.map(|u| times(log, u)), [7_000, 7, 7_000, 7_000_000, 7_000_000_000]);
}

#[test]
fn files_that_are_parts_of_one_trace_follow_each_other() {
    let (_first, a) = file("100 7 0 1 1\n140 7 1 1 1\n");
    let (_second, b) = file("0.000005 7 2 1 1\n0.000105 7 3 1 1\n");
    let mut source =
        TraceSource::open(&[a, b], 8192, TraceOptions { concat: true, ..TraceOptions::default() })
            .unwrap();
    // The mean gap so far is 40 ns, so the second file begins at 80 ns. Device 7 is the same device
    // in both files.
    assert_eq!(
        drained(&mut source).unwrap().iter().map(|r| (r.at, r.offset)).collect::<Vec<_>>(),
        [(0, 0), (40, 512), (80, 1024), (180, 1536)]
    );
    let report = source.report();
    assert_eq!((report.formats, report.several_devices), (vec!["mqsim", "disksim"], false));
}

#[test]
fn passes_are_driven_by_the_caller() {
    let (_folder, mut source) = source("0 0 0 1 1\n100 0 1 1 1\n", 8192, TraceOptions::default());
    assert_eq!(drained(&mut source).unwrap(), [read(0, 0, 512), read(100, 512, 512)]);
    assert_eq!(drained(&mut source).unwrap(), [], "the pass is over until another is asked for");
    source.next_pass().unwrap();
    assert_eq!(drained(&mut source).unwrap(), [read(200, 0, 512), read(300, 512, 512)]);
    let report = source.report();
    assert_eq!((report.passes, report.rows, report.span_ns, report.formats.len()), (2, 4, 300, 1));
}

#[test]
fn repeated_is_one_stream() {
    let (_folder, source) = source("0 0 0 1 1\n100 0 1 1 1\n", 8192, options(Fit::Scale));
    let boxed: Box<dyn PassSource> = Box::new(source);
    let mut repeated = Passes::new(boxed, NonZeroU32::new(3).unwrap());
    assert_eq!(
        drained(&mut repeated).unwrap().iter().map(|r| r.at).collect::<Vec<_>>(),
        [0, 100, 200, 300, 400, 500]
    );
    assert_eq!(repeated.source().trace_report().unwrap().passes, 3);
}

#[test]
fn every_pass_begins_where_the_one_before_ended() {
    let (_folder, mut source) =
        source("0 0 0 1 1\n100 0 1 1 1\n90 0 2 1 1\n", 8192, TraceOptions::default());
    let first = drained(&mut source).unwrap();
    for pass in 1..3 {
        source.next_pass().unwrap();
        let again = drained(&mut source).unwrap();
        assert!(
            again.iter().zip(&first).all(|(again, first)| {
                (again.at, again.offset) == (first.at + pass * 150, first.offset)
            }),
            "{again:?}"
        );
        assert_eq!((again.len(), drained(&mut source).unwrap().len()), (3, 0));
    }
    assert_eq!((source.report().clamped, source.report().rows), (3, 9));
}

#[test]
fn a_file_that_goes_away_between_passes_is_an_error() {
    let (folder, mut source) = source("0 0 0 1 1\n", 8192, TraceOptions::default());
    drained(&mut source).unwrap();
    drop(folder);
    assert!(source.next_pass().unwrap_err().to_string().contains("cannot be opened"));
    assert!(drained(&mut source).is_err(), "and the stream stays ended");
}
