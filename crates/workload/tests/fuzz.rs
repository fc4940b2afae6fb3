//! Damaged and random files: no reader may panic, hang or hand out a request that a drive could not serve.
//!
//! The corpus is read as it stands and then mutated. `VPASS_FUZZ_EXECS` is the number of mutants; set high, this test is the soak run:
//! `VPASS_FUZZ_EXECS=50000000 cargo test --release -p vpass-workload --test fuzz -- --nocapture`.
//! `VPASS_FUZZ_SEED` starts elsewhere; a failure prints the seed and the number of the mutant that shows it.

#![expect(clippy::print_stderr, reason = "a soak run says how far it got")]

use std::io::Cursor;
use std::path::Path;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use vpass_core::request::{Op, RequestSource};
use vpass_workload::traces::{
    FORMATS, Fit, Format, MAX_REQUEST_BYTES, MAX_TRIM_BYTES, MissingClock, ReadOptions, TraceFile, TraceOptions, TraceSource,
};

const DEFAULT_EXECS: u64 = 20_000;
/// Longest mutant: long enough for several lines, short enough for speed.
const MAX_BYTES: usize = 4096;
/// Bytes that mean something to a reader.
const BYTES: &[u8] = b"0123456789 ,.\n\r\t-\0xRr\xff";
/// One mutant in this many goes through a file and a replay, which costs a hundred times as much.
const REPLAYED: u64 = 64;

fn corpus() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap())
        })
        .collect();
    files.sort();
    files
}

/// Reads everything under one format; returns the rows before the end or the first error.
fn read(bytes: &[u8], format: Option<&'static Format>) -> (u64, Option<String>) {
    let mut rows = 0;
    let options = ReadOptions { format, assume_op: Some(Op::Read), clock: MissingClock::Rate(1e6), ..ReadOptions::default() };
    let result = TraceFile::from_reader(Path::new("mutant"), Cursor::new(bytes.to_vec()), &options).and_then(|mut file| {
        while let Some(row) = file.next_row()? {
            assert!((1..=if row.op == Op::Trim { MAX_TRIM_BYTES } else { MAX_REQUEST_BYTES }).contains(&row.bytes));
            assert!(row.offset < 1 << 63);
            rows += 1;
        }
        Ok(())
    });
    (rows, result.err().map(|e| e.0))
}

/// Replays a file on a small drive; every request must lie on it, in order of time.
fn replay(path: &Path, fit: Fit) {
    const CAPACITY: u64 = 1 << 30;
    let read = ReadOptions { clock: MissingClock::Ignore, ..ReadOptions::default() };
    let options = TraceOptions { read, fit, concat: fit == Fit::Wrap, ..TraceOptions::default() };
    let Ok(mut source) = TraceSource::open(&[path.to_owned(), path.to_owned()], CAPACITY, options) else { return };
    let mut out = Vec::new();
    let mut before = 0;
    while source.fill(&mut out, 5).is_ok() && out.len() > before {
        before = out.len();
    }
    assert!(out.iter().all(|r| r.bytes > 0 && r.offset + u64::from(r.bytes) <= CAPACITY));
    assert!(out.is_sorted_by_key(|r| r.at));
    let report = source.report();
    assert!(report.rows == out.len() as u64 && report.clamped <= report.rows && report.refitted <= report.rows);
}

/// The next mutant: one corpus file with one to eight changes.
fn mutant(random: &mut Xoshiro256PlusPlus, corpus: &[(String, Vec<u8>)]) -> Vec<u8> {
    let pick = |random: &mut Xoshiro256PlusPlus, count: usize| (random.next_u64() % count.max(1) as u64) as usize;
    let mut bytes = corpus[pick(random, corpus.len())].1.clone();
    // Mostly one change or two: more rarely leave anything that gets past the first line.
    for _ in 0..=random.next_u64().trailing_zeros().min(7) {
        let at = pick(random, bytes.len() + 1);
        match pick(random, 7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << pick(random, 8),
            1 if at < bytes.len() => bytes[at] = BYTES[pick(random, BYTES.len())],
            2 => bytes.truncate(at),
            3 => {
                let other = &corpus[pick(random, corpus.len())].1;
                let from = pick(random, other.len() + 1);
                bytes.splice(at.., other[from..].iter().copied());
            }
            4 => {
                let number = edge_number(random);
                let digits = bytes[at..].iter().take_while(|b| b.is_ascii_digit()).count();
                bytes.splice(at..at + digits, number.bytes());
            }
            5 => drop(bytes.drain(at..(at + pick(random, 16)).min(bytes.len()))),
            _ => {
                let piece: Vec<u8> = bytes[at..].iter().take(64).copied().collect();
                let to = pick(random, bytes.len() + 1);
                bytes.splice(to..to, piece);
            }
        }
        bytes.truncate(MAX_BYTES);
    }
    if bytes.starts_with(b"\x89vpt") && !random.next_u64().is_multiple_of(4) {
        mend(&mut bytes);
    }
    bytes
}

/// Gives the sections of a compact trace the checksums of what they hold now: without that, no damage gets past them.
fn mend(bytes: &mut [u8]) {
    let mut at = 0;
    while let Some(header) = bytes.get(at..).and_then(|rest| rest.first_chunk::<12>()) {
        // The file's header has no length.
        let length = if at == 0 { 0 } else { u32::from_le_bytes(*header[8..].first_chunk().unwrap()) as usize };
        let mut hash = crc32fast::Hasher::new();
        hash.update(header);
        let Some(payload) = bytes.get(at + 16..).and_then(|rest| rest.get(..length)) else { return };
        hash.update(payload);
        bytes[at + 12..at + 16].copy_from_slice(&hash.finalize().to_le_bytes());
        at += 16 + length;
    }
}

/// A number at or near a limit of some type.
fn edge_number(random: &mut Xoshiro256PlusPlus) -> String {
    let bits = random.next_u64();
    match bits % 5 {
        0 => (bits >> 3).to_string(),
        1 => (1u128 << (bits >> 3 & 127)).to_string(),
        2 => ((1u128 << (bits >> 3 & 127)) - 1).to_string(),
        3 => "9".repeat((bits >> 3 & 31) as usize),
        _ => (bits >> 3 & 0xffff).to_string(),
    }
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

#[test]
fn the_corpus_reads_as_it_should() {
    let expected = [
        ("alibaba.csv", 2, None),
        ("ambiguous.csv", 0, Some("may be spc")),
        ("arc.lis", 4, None),
        ("binary", 0, Some("is no text and no binary")),
        ("blank.txt", 0, Some("the format is not recognised")),
        ("blkparse.txt", 3, None),
        ("broken.csv", 0, Some("a request of 0 bytes")),
        ("broken.trace", 1, Some("more than the 4 columns")),
        ("compact.vpt", 40, None),
        ("diskmon.txt", 2, None),
        ("disksim.trace", 4, None),
        ("empty", 0, Some("holds no requests")),
        ("fio.log", 3, None),
        ("fio2.log", 3, None),
        ("mqsim.gz", 4, None),
        ("mqsim.trace", 4, None),
        ("msr.csv", 4, None),
        ("msr.zst", 4, None),
        ("ours.srt", 3, None),
        ("spc.csv", 3, None),
        ("systor.csv", 2, None),
        ("tencent.csv", 2, None),
        ("two.gz", 3, Some("column 3")),
        ("v1.vscsi", 3, None),
        ("v2.vscsi", 3, None),
        ("wiscsee.txt", 3, None),
    ];
    let corpus = corpus();
    assert_eq!(corpus.iter().map(|f| f.0.as_str()).collect::<Vec<_>>(), expected.map(|e| e.0));
    for ((name, bytes), (_, rows, error)) in corpus.iter().zip(expected) {
        let (read, complaint) = read(bytes, None);
        assert_eq!((read, complaint.is_some()), (rows, error.is_some()), "{name}: {complaint:?}");
        assert!(complaint.unwrap_or_default().contains(error.unwrap_or_default()), "{name}");
    }
}

#[test]
fn mutants_never_panic() {
    let (execs, seed) = (setting("VPASS_FUZZ_EXECS", DEFAULT_EXECS), setting("VPASS_FUZZ_SEED", 1));
    let corpus = corpus();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mutant");
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (mut rows, mut whole) = (0, 0u64);
    for i in 0..execs {
        let bytes = mutant(&mut random, &corpus);
        let outcome = std::panic::catch_unwind(|| {
            let readings = std::iter::once(None).chain(FORMATS.iter().map(Some)).map(|format| read(&bytes, format));
            let sums = readings.fold((0, 0), |(rows, whole), (n, error)| (rows + n, whole + u64::from(error.is_none())));
            if i % REPLAYED == 0 {
                std::fs::write(&path, &bytes).unwrap();
                for fit in [Fit::Error, Fit::Wrap, Fit::Scale] {
                    replay(&path, fit);
                }
            }
            sums
        });
        let Ok(sums) = outcome else { panic!("mutant {i} of seed {seed} does it: {}", bytes.escape_ascii()) };
        rows += sums.0;
        whole += sums.1;
    }
    eprintln!("{execs} mutants of seed {seed}, each under {} readers: {rows} rows, {whole} readings to the end", FORMATS.len() + 1);
    // A mutator that breaks everything at once would test nothing but the first check.
    assert!(execs < 1000 || (rows * 2 > execs && whole * 20 > execs), "{rows} rows, {whole} whole");
}
