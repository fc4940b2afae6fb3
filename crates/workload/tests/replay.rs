//! A trace on a drive: time from 0, requests moved where they must be, passes and files in a row, and a report of all that.

mod common;

use std::num::NonZeroU32;

use common::{drained, file, source};
use vpass_core::request::{Arrival, Op, Request, RequestSource};
use vpass_workload::pass::{PassSource, Repeated};
use vpass_workload::traces::{Fit, Skipped, TraceOptions, TraceReport, TraceSource};

fn read(at: u64, offset: u64, bytes: u32) -> Request {
    Request { at, offset, bytes, op: Op::Read, origin: 0 }
}

fn options(fit: Fit) -> TraceOptions {
    TraceOptions { fit, ..TraceOptions::default() }
}

const BACKWARDS: &str = "100 0 0 1 1\n160 0 1 1 1\n120 0 2 1 0\n200 0 3 1 1\n";

#[test]
fn the_clock_starts_at_0_and_never_falls() {
    let (_folder, mut source) = source(BACKWARDS, 4096, TraceOptions::default());
    let expected = [read(0, 0, 512), read(60, 512, 512), Request { op: Op::Write, ..read(60, 1024, 512) }, read(100, 1536, 512)];
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

#[test]
fn twice_the_speed_is_half_the_time() {
    let (_folder, mut source) = source(BACKWARDS, 4096, TraceOptions { speed: 2.0, ..TraceOptions::default() });
    assert_eq!(drained(&mut source).unwrap().iter().map(|r| r.at).collect::<Vec<_>>(), [0, 30, 30, 50]);
    assert_eq!(source.report().span_ns, 50);
}

#[test]
fn a_closed_loop_is_told_so() {
    let arrival = Arrival::Closed { depth: 4 };
    let (_folder, source) = source(BACKWARDS, 4096, TraceOptions { arrival, ..TraceOptions::default() });
    assert_eq!(source.arrival(), arrival);
}

#[test]
fn wrapping_counts_what_it_moved() {
    // 8 KiB: sector 16 is the end. The third crosses it, the fourth starts behind it.
    let (_folder, mut source) = source("0 0 0 1 1\n0 0 15 1 1\n0 0 14 4 1\n0 0 35 2 1\n", 8192, options(Fit::Wrap));
    let offsets: Vec<_> = drained(&mut source).unwrap().iter().map(|r| r.offset).collect();
    assert_eq!(offsets, [0, 15 * 512, 12 * 512, 3 * 512]);
    assert_eq!(source.report().refitted, 2);
}

#[test]
fn scaling_measures_all_files_first() {
    let (_first, a) = file("0 0 0 2 1\n10 0 4 2 1\n");
    let (_second, b) = file("0 0 30 2 1\n");
    let mut source = TraceSource::open(&[a, b], 8192, TraceOptions { concat: true, ..options(Fit::Scale) }).unwrap();
    assert_eq!(source.len_hint(), Some(3));
    // The extent is sector 32 and the drive has 16: every offset is halved.
    let requests = drained(&mut source).unwrap();
    assert_eq!(requests.iter().map(|r| r.offset).collect::<Vec<_>>(), [0, 1024, 15 * 512 - 512]);
    assert_eq!(source.report().refitted, 2);
}

#[test]
fn files_that_are_parts_of_one_trace_follow_each_other() {
    let (_first, a) = file("100 7 0 1 1\n140 7 1 1 1\n");
    let (_second, b) = file("0.000005 7 2 1 1\n0.000105 7 3 1 1\n");
    let mut source = TraceSource::open(&[a, b], 8192, TraceOptions { concat: true, ..TraceOptions::default() }).unwrap();
    // The mean gap so far is 40 ns, so the second file begins at 80; device 7 is the same in both.
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
fn a_pass_can_be_left_early() {
    let (_folder, mut source) = source("0 0 0 1 1\n100 0 1 1 1\n", 8192, TraceOptions::default());
    source.fill(&mut Vec::new(), 1).unwrap();
    source.next_pass().unwrap();
    assert_eq!(drained(&mut source).unwrap().len(), 2);
}

#[test]
fn repeated_is_one_stream() {
    let (_folder, source) = source("0 0 0 1 1\n100 0 1 1 1\n", 8192, options(Fit::Scale));
    let mut repeated = Repeated::new(source, NonZeroU32::new(3).unwrap());
    assert_eq!(repeated.len_hint(), Some(6));
    assert_eq!(drained(&mut repeated).unwrap().iter().map(|r| r.at).collect::<Vec<_>>(), [0, 100, 200, 300, 400, 500]);
    assert_eq!(repeated.inner().report().passes, 3);
}

#[test]
fn a_boxed_source_repeats_too() {
    let (_folder, source) = source("0 0 0 1 1\n", 8192, TraceOptions::default());
    let boxed: Box<dyn PassSource> = Box::new(source);
    let mut repeated = Repeated::new(boxed, NonZeroU32::new(2).unwrap());
    assert_eq!(drained(&mut repeated).unwrap().len(), 2);
}

#[test]
fn a_file_that_goes_away_between_passes_is_an_error() {
    let (folder, mut source) = source("0 0 0 1 1\n", 8192, TraceOptions::default());
    drained(&mut source).unwrap();
    drop(folder);
    assert!(source.next_pass().unwrap_err().0.contains("cannot be opened"));
    assert!(drained(&mut source).is_err(), "and the stream stays ended");
}
