//! Reads damaged and random files. No reader may panic, hang, use unbounded memory or hand out a
//! request that a drive could not serve.
//!
//! The corpus is read unchanged and then mutated. `VPASS_FUZZ_EXECS` is the number of mutants per
//! reader. With a high number, this test is the soak run: `VPASS_FUZZ_EXECS=10000000 cargo test
//! --release -p vpass-workload --test fuzz -- --nocapture`.
//!
//! `VPASS_FUZZ_READER` selects one reader, and `VPASS_FUZZ_SEED` sets the seed. A failure prints
//! the reader, the seed and the number of the mutant.

#![expect(clippy::print_stderr, reason = "a soak run reports its progress")]

mod mutants;

use std::io::Cursor;
use std::panic::catch_unwind;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use mutants::{corpus, mutate};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use vpass_drive::base::request::{Op, RequestSource};
use vpass_workload::traces::{
    FORMATS, Fit, Format, MAX_REQUEST_BYTES, MAX_TRIM_BYTES, MissingClock, TraceFile, TraceOptions,
    TraceSource, format_named,
};

const DEFAULT_EXECS: u64 = 4000;
/// Number of mutants for each mutant that is replayed from a file. A replay costs a thousand times
/// as much.
const REPLAYED: u64 = 1024;
/// Largest memory that the process may use.
const MOST_MIB: u64 = 256;

/// Reads a file under one format. Returns the number of rows before the end or the first error.
fn read(
    bytes: &[u8],
    format: Option<&'static Format>,
    skip_bad_lines: bool,
) -> (u64, Option<String>) {
    let mut rows = 0;
    let options = TraceOptions {
        format,
        assume_op: Some(Op::Read),
        clock: MissingClock::Rate(1e6),
        skip_bad_lines,
        ..TraceOptions::default()
    };
    let result = TraceFile::from_reader(Path::new("mutant"), Cursor::new(bytes.to_vec()), &options)
        .and_then(|mut file| {
            while let Some(row) = file.next_row()? {
                assert!(
                    (1..=if row.op == Op::Trim { MAX_TRIM_BYTES } else { MAX_REQUEST_BYTES })
                        .contains(&row.bytes)
                );
                assert!(row.offset < 1 << 63);
                assert!(
                    !file.device_name(row.device).is_empty() || format.is_none_or(Format::is_text)
                );
                rows += 1;
            }
            assert!(skip_bad_lines || file.skipped().count == 0);
            Ok(())
        });
    (rows, result.err().map(|e| e.to_string()))
}

/// Replays a file on a small drive. Every request must lie on the drive. Requests must be in the
/// order of time.
fn replay(path: &Path, format: Option<&'static Format>, fit: Fit) {
    const CAPACITY: u64 = 1 << 30;
    let assume_op = format.filter(|f| !f.has_op).map(|_| Op::Write);
    let read = TraceOptions {
        format,
        assume_op,
        clock: MissingClock::Ignore,
        skip_bad_lines: true,
        ..TraceOptions::default()
    };
    let options = TraceOptions { fit, concat: fit == Fit::Wrap, ..read };
    let Ok(mut source) = TraceSource::open(&[path.to_owned(), path.to_owned()], CAPACITY, options)
    else {
        return;
    };
    let mut out = Vec::new();
    let mut before = 0;
    while source.fill(&mut out, 5).is_ok() && out.len() > before {
        before = out.len();
    }
    assert!(out.iter().all(|r| r.bytes > 0 && r.offset + u64::from(r.bytes) <= CAPACITY));
    assert!(out.is_sorted_by_key(|r| r.at));
    let report = source.report();
    assert!(
        report.rows == out.len() as u64
            && report.clamped <= report.rows
            && report.refitted <= report.rows
    );
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| {
        text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a number"))
    })
}

/// Invalid files, with the number of rows before the fault and a part of the error.
const FAULTY: [(&str, u64, &str); 7] = [
    ("ambiguous.csv", 0, "may be spc"),
    ("binary", 0, "is not a recognised trace format"),
    ("blank.txt", 0, "the format is not recognised"),
    ("broken.csv", 0, "a request of 0 bytes"),
    ("broken.trace", 1, "more columns than the 4"),
    ("empty", 0, "holds no requests"),
    ("two.gz", 3, "column 3"),
];

#[test]
fn the_corpus_reads_as_it_should() {
    let corpus = corpus();
    for (name, rows, fault) in FAULTY {
        let (_, bytes) =
            corpus.iter().find(|file| file.0 == name).unwrap_or_else(|| panic!("no {name}"));
        let (read, complaint) = read(bytes, None, false);
        assert!(
            read == rows && complaint.as_ref().is_some_and(|said| said.contains(fault)),
            "{name}: {read} rows, {complaint:?}"
        );
    }
    let sound = corpus.iter().filter(|(name, _)| FAULTY.iter().all(|faulty| faulty.0 != name));
    let mut known: Vec<&str> = vec![];
    for (name, bytes) in sound {
        let (rows, complaint) = read(bytes, None, false);
        assert!(rows >= 2 && complaint.is_none(), "{name}: {rows} rows, {complaint:?}");
        let said = TraceOptions {
            assume_op: Some(Op::Read),
            clock: MissingClock::Rate(1e6),
            ..TraceOptions::default()
        };
        known.push(
            TraceFile::from_reader(Path::new(name), Cursor::new(bytes.clone()), &said)
                .unwrap()
                .format()
                .name,
        );
    }
    let without: Vec<_> =
        FORMATS.iter().map(|format| format.name).filter(|name| !known.contains(name)).collect();
    assert!(without.is_empty(), "tests/corpus has no file of {without:?}");
}

/// Fuzzes one reader, or the detection of formats. Returns the number of rows read, and the number
/// of files read to their end.
fn fuzz(format: Option<&'static Format>, execs: u64, seed: u64, folder: &Path) -> (u64, u64) {
    let name = format.map_or("detection", |f| f.name);
    let corpus = corpus();
    // Most mutants come from files of this format. Other files rarely pass the first line.
    let known: Vec<_> =
        corpus.iter().filter(|(_, bytes)| read(bytes, format, false).0 > 0).collect();
    let path = folder.join(name);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (mut bytes, mut rows, mut whole) = (vec![], 0, 0);
    for i in 0..execs {
        let bits = random.next_u64();
        let from = if bits % 8 == 0 {
            &corpus[(bits >> 8) as usize % corpus.len()]
        } else {
            known[(bits >> 8) as usize % known.len()]
        };
        mutate(&mut random, &from.1, &corpus, &mut bytes);
        let outcome = catch_unwind(|| {
            let read = read(&bytes, format, bits & 64 == 0);
            if i % REPLAYED == 0 {
                std::fs::write(&path, &bytes).unwrap();
                for fit in [Fit::Error, Fit::Wrap, Fit::Scale] {
                    replay(&path, format, fit);
                }
            }
            read
        });
        let Ok((read, error)) = outcome else {
            panic!("{name}: mutant {i} of seed {seed} does it: {}", bytes.escape_ascii())
        };
        rows += read;
        whole += u64::from(error.is_none());
    }
    eprintln!("{name}: {execs} mutants of seed {seed}: {rows} rows, {whole} files to the end");
    // If every mutant broke at once, only the first check of a reader would be tested.
    assert!(
        execs < 1000 || (rows > execs / 2 && whole > execs / 20),
        "{name}: {rows} rows, {whole} whole"
    );
    (rows, whole)
}

#[test]
fn mutants_never_panic() {
    let (execs, seed) = (setting("VPASS_FUZZ_EXECS", DEFAULT_EXECS), setting("VPASS_FUZZ_SEED", 1));
    let folder = tempfile::tempdir().unwrap();
    let mut readers: Vec<_> = std::iter::once(None).chain(FORMATS.iter().map(Some)).collect();
    if let Ok(only) = std::env::var("VPASS_FUZZ_READER") {
        readers = vec![Some(format_named(&only).unwrap())];
    }
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(format) = readers.get(next.fetch_add(1, Ordering::Relaxed)) {
            fuzz(*format, execs, seed, folder.path());
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    if let Some(mib) = peak_mib() {
        assert!(mib < MOST_MIB, "{mib} MiB of memory");
    }
}

/// Returns the peak memory of this process, if the system reports it.
fn peak_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kib: u64 = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?
        .trim()
        .strip_suffix("kB")?
        .trim()
        .parse()
        .ok()?;
    Some(kib / 1024)
}
