//! Real traces, read in place where they are there: `VPASS_SHARED_TRACES` names their folder. Counts were taken with awk.
#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]

use std::path::PathBuf;

use vpass_core::request::{Op, RequestSource};
use vpass_workload::traces::{Fit, MissingClock, ReadOptions, TraceOptions, TraceReport, TraceSource};

/// The file, or nothing and a message.
fn sample(name: &str) -> Option<PathBuf> {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/traces");
    let folder = std::env::var_os("VPASS_SHARED_TRACES").map_or_else(|| PathBuf::from(default), PathBuf::from);
    let path = folder.join(name);
    if !path.exists() {
        eprintln!("skipped: {} is not there; VPASS_SHARED_TRACES names the folder of sample traces", path.display());
        return None;
    }
    Some(path)
}

/// Reads, writes and the report of a sample on a drive of 1 TiB.
fn counts(name: &str) -> Option<(u64, u64, TraceReport)> {
    let read = ReadOptions { assume_op: Some(Op::Read), clock: MissingClock::Rate(100.0), ..ReadOptions::default() };
    let options = TraceOptions { read, fit: Fit::Error, strict: true, ..TraceOptions::default() };
    let mut source = TraceSource::open(&[sample(name)?], 1 << 40, options).unwrap();
    let mut out = Vec::new();
    let (mut reads, mut writes) = (0, 0);
    loop {
        out.clear();
        source.fill(&mut out, 4096).unwrap();
        if out.is_empty() {
            return Some((reads, writes, source.report()));
        }
        let these = out.iter().filter(|r| r.op == Op::Read).count() as u64;
        reads += these;
        writes += out.len() as u64 - these;
    }
}

#[test]
fn msr_a_whole_week() {
    let Some((reads, writes, report)) = counts("rsrch_1_fullweek.csv.zst") else { return };
    assert_eq!((reads, writes, report.formats), (42, 13_738, vec!["msr"]));
    assert_eq!(report.span_ns / 1_000_000_000, 576_557, "6.7 days");
}

#[test]
fn msr_excerpts() {
    let expected = [("hm_0_excerpt7016.csv.zst", 5820, 1196), ("proj_0_head1000.csv.zst", 1, 999), ("mds_0_head1000.csv.zst", 0, 1000)];
    for (name, read, written) in expected {
        let Some((reads, writes, report)) = counts(name) else { return };
        assert_eq!((reads, writes, report.formats), (read, written, vec!["msr"]), "{name}");
    }
}

#[test]
fn disksim_file_server() {
    let Some((reads, writes, report)) = counts("msnfs_disk5_150k.trace.zst") else { return };
    assert_eq!((reads, writes, report.formats), (130_483, 19_516, vec!["disksim"]));
    assert!(!report.several_devices);
}

#[test]
fn mqsim_web_search() {
    let Some((reads, writes, report)) = counts("websearch_head24783.trace.zst") else { return };
    assert_eq!((reads, writes, report.formats), (24_779, 4, vec!["mqsim"]));
    assert!(report.several_devices);
    assert!((55e9..65e9).contains(&(report.span_ns as f64)), "a minute");
}

#[test]
fn ssdsim_is_the_same_as_mqsim() {
    let Some((reads, writes, report)) = counts("financial1_head10000.ascii.zst") else { return };
    assert_eq!((reads, writes, report.formats), (4077, 5923, vec!["mqsim"]));
}

#[test]
fn vscsi_of_a_virtual_disk() {
    let Some((reads, writes, report)) = counts("cloudPhysicsIO.vscsi.zst") else { return };
    assert_eq!((reads, writes, report.formats), (46_974, 66_898, vec!["vscsi"]));
    assert_eq!(report.span_ns / 1_000_000_000, 7200, "2 hours");
}

#[test]
fn arc_streams() {
    let expected = [("OLTP.lis.zst", 914_145), ("P3.lis.zst", 238_578)];
    for (name, rows) in expected {
        let Some((reads, writes, report)) = counts(name) else { return };
        assert_eq!((reads, writes, report.formats), (rows, 0, vec!["arc"]), "{name}");
    }
}

#[test]
fn formats_that_are_not_read_are_refused() {
    for name in ["ajw.1week.srt.zst", "cbs_sample50000.csv.zst", "mayun2.txt.zst"] {
        let Some(path) = sample(name) else { return };
        let error = TraceSource::open(&[path], 1 << 40, TraceOptions::default()).err().unwrap().0;
        assert!(error.contains("the format is not recognised") || error.contains("is no text"), "{name}: {error}");
    }
}
