//! Reads real traces, if they exist. `VPASS_SHARED_TRACES` names their folder. The expected counts
//! were made with awk.
#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]

use std::path::PathBuf;

use vpass_drive::base::request::{Op, RequestSource, SourceError};
use vpass_workload::traces::{
    MissingClock, Survey, Target, TraceFile, TraceOptions, TraceReport, TraceRow, TraceSource,
    TraceWriter,
};

/// Returns the path of a sample, or prints a note.
fn sample(name: &str) -> Option<PathBuf> {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/traces");
    let folder = std::env::var_os("VPASS_SHARED_TRACES")
        .map_or_else(|| PathBuf::from(default), PathBuf::from);
    let path = folder.join(name);
    if !path.exists() {
        eprintln!(
            "skipped: {} is not there; VPASS_SHARED_TRACES names the folder of sample traces",
            path.display()
        );
        return None;
    }
    Some(path)
}

fn options(skip_bad_lines: bool) -> TraceOptions {
    TraceOptions { skip_bad_lines, ..TraceOptions::default() }
}

/// Returns the number of reads and of other requests.
fn drain(source: &mut TraceSource) -> Result<(u64, u64), SourceError> {
    let mut out = Vec::new();
    let (mut reads, mut others) = (0, 0);
    loop {
        out.clear();
        source.fill(&mut out, 4096)?;
        if out.is_empty() {
            return Ok((reads, others));
        }
        let these = out.iter().filter(|r| r.op == Op::Read).count() as u64;
        reads += these;
        others += out.len() as u64 - these;
    }
}

/// Samples with their numbers of reads and writes, their formats, and their lengths in seconds.
const SAMPLES: [(&str, u64, u64, &str, Option<u64>); 12] = [
    ("rsrch_1_fullweek.csv.zst", 42, 13_738, "msr", Some(576_557)),
    ("hm_0_excerpt7016.csv.zst", 5820, 1196, "msr", None),
    ("proj_0_head1000.csv.zst", 1, 999, "msr", None),
    ("mds_0_head1000.csv.zst", 0, 1000, "msr", None),
    ("msnfs_disk5_150k.trace.zst", 130_483, 19_516, "disksim", None),
    ("websearch_head24783.trace.zst", 24_779, 4, "mqsim", None),
    ("financial1_head10000.ascii.zst", 4077, 5923, "mqsim", None),
    ("cloudPhysicsIO.vscsi.zst", 46_974, 66_898, "vscsi", Some(7200)),
    ("ajw.1week.srt.zst", 13_040, 31_479, "srt", Some(603_064)),
    ("mayun2.txt.zst", 36_705, 50_455, "diskmon", None),
    ("cbs_sample50000.csv.zst", 24_521, 25_479, "tencent", None),
    ("systor17_sample999.csv.zst", 826, 173, "systor", None),
];

#[test]
fn samples_have_their_reads_and_writes() {
    for (name, read, written, format, seconds) in SAMPLES {
        let Some(path) = sample(name) else { continue };
        // The drive has 100 TiB.
        let mut source = TraceSource::open(&[path], 100 << 40, options(false)).unwrap();
        assert_eq!(drain(&mut source).unwrap(), (read, written), "{name}");
        let TraceReport { formats, span_ns, clamped, several_devices, .. } = source.report();
        assert_eq!(formats, [format], "{name}");
        assert!(seconds.is_none_or(|seconds| span_ns / 1_000_000_000 == seconds), "{name}");
        match name {
            "msnfs_disk5_150k.trace.zst" => assert!(!several_devices),
            "websearch_head24783.trace.zst" => {
                assert!(several_devices && (55e9..65e9).contains(&(span_ns as f64)), "a minute");
            }
            "cbs_sample50000.csv.zst" => assert_eq!(clamped, 1297),
            _ => {}
        }
    }
}

#[test]
fn arc_streams() {
    let expected = [("OLTP.lis.zst", 914_145), ("P3.lis.zst", 238_578)];
    for (name, rows) in expected {
        let Some(path) = sample(name) else { return };
        let read = TraceOptions {
            assume_op: Some(Op::Read),
            clock: MissingClock::Rate(100.0),
            ..TraceOptions::default()
        };
        let mut source = TraceSource::open(&[path], 1 << 40, read).unwrap();
        assert_eq!(drain(&mut source).unwrap(), (rows, 0), "{name}");
        assert_eq!(source.report().formats, ["arc"]);
    }
}

#[test]
fn tencent_volumes_lie_side_by_side() {
    let Some(path) = sample("cbs_sample50000.csv.zst") else { return };
    let survey = Survey::of(&[path], &options(false), &mut |_| true).unwrap();
    assert_eq!((survey.devices().len(), survey.rows()), (2038, 50_000));
    assert!(
        survey
            .devices()
            .is_sorted_by(|a, b| a.base + a.extent <= b.base && b.base % (1 << 20) == 0)
    );
}

#[test]
fn wiscsee_with_an_offset_below_0() {
    let Some(path) = sample("sqlite_wal_20k.txt.zst") else { return };
    let error = TraceSource::open(std::slice::from_ref(&path), 1 << 40, options(false))
        .and_then(|mut s| drain(&mut s))
        .unwrap_err()
        .to_string();
    assert!(error.contains("column 4 (offset)") && error.contains("-8388608"), "{error}");
    let mut source = TraceSource::open(&[path], 1 << 40, options(true)).unwrap();
    let (reads, others) = drain(&mut source).unwrap();
    assert_eq!((reads, others, source.report().skipped.count), (48, 19_951, 1));
}

/// Returns all rows with the names of their devices.
fn rows(mut file: TraceFile) -> Vec<(TraceRow, String)> {
    let mut rows = vec![];
    while file.advance().unwrap() {
        let row = *file.row();
        rows.push((TraceRow { device: 0, ..row }, file.device_name(row.device)));
    }
    rows
}

#[test]
fn the_compact_form_keeps_every_row() {
    let names = [
        "ajw.1week.srt.zst",
        "cbs_sample50000.csv.zst",
        "cloudPhysicsIO.vscsi.zst",
        "financial1_head10000.ascii.zst",
        "mayun2.txt.zst",
        "msnfs_disk5_150k.trace.zst",
        "P3.lis.zst",
        "rsrch_1_fullweek.csv.zst",
        "sqlite_wal_20k.txt.zst",
        "systor17_sample999.csv.zst",
        "websearch_head24783.trace.zst",
    ];
    let clock = MissingClock::Rate(100.0);
    let options = TraceOptions {
        assume_op: Some(Op::Read),
        clock,
        skip_bad_lines: true,
        ..TraceOptions::default()
    };
    for name in names {
        let Some(path) = sample(name) else { return };
        let mut file = TraceFile::open(&path, &options).unwrap();
        let mut writer = TraceWriter::new(Target::Compact, vec![], file.clock());
        while file.advance().unwrap() {
            writer.row(file.row(), |device| file.device_name(device)).unwrap();
        }
        let written = writer.finish().unwrap().0;
        let back =
            TraceFile::from_reader(&path, std::io::Cursor::new(written), &TraceOptions::default())
                .unwrap();
        assert!(rows(back) == rows(TraceFile::open(&path, &options).unwrap()), "{name}");
    }
}
