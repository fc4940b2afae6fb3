//! Checks every error about a bad trace, job file or workload file against the record `errors.txt`.
//! Each error names the file and the line, what is wrong, and what would be right.

use crate::common;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use common::{all_said, drained, error_of, file, read_all, rewritten, row, rows_of};
use vpass_drive::base::request::Op;
use vpass_workload::fio::{FioOptions, FioSource, JobFile};
use vpass_workload::model::{ModelFile, ModelSource};
use vpass_workload::phases::{PhasesFile, PhasesSource};
use vpass_workload::synthetic::{SyntheticSource, WorkloadFile};
use vpass_workload::traces::{
    BlkAction, Fit, Format, MAX_TRIM_BYTES, MissingClock, Skipped, Survey, Target, TraceFile,
    TraceOptions, TraceSource, format_named,
};

/// Record of the errors.
const RECORD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/errors.txt");

#[test]
fn errors_are_those_of_the_record() {
    let record = std::fs::read_to_string(RECORD).unwrap();
    let (mut written, mut text, mut head) = (String::new(), String::new(), "");
    for line in record.lines() {
        if let Some(begin) = line.strip_prefix("== ") {
            (head, text) = (begin, String::new());
        } else if let Some(part) = line.strip_prefix('|') {
            text += &(part.strip_prefix(' ').unwrap_or(part).replace("\\0", "\0") + "\n");
        } else if line.starts_with('>') {
            writeln!(written, "> {}", error(head, &text)).unwrap();
            continue;
        }
        writeln!(written, "{line}").unwrap();
    }
    if std::env::var_os("VPASS_RECORD").is_some() {
        std::fs::write(RECORD, written).unwrap();
        return;
    }
    for (is, should_be) in written.lines().zip(record.lines()) {
        assert_eq!(is, should_be);
    }
    let errors: Vec<_> = record.lines().filter(|line| line.starts_with('>')).collect();
    assert!(errors.len() > 150 && !errors.contains(&"> no error"), "the record is cut");
}

/// Returns the error of a file, whose kind and options are in `head`.
fn error(head: &str, text: &str) -> String {
    let made = match head.split_once(' ').unwrap_or((head, "")) {
        ("jobs", gear) => jobs(text, gear != "untimed"),
        ("workload" | "phases" | "model", _) => workload(head, text),
        (_, options) => trace(options, text),
    };
    made.err().unwrap_or_else(|| "no error".into())
}

fn jobs(text: &str, has_clock: bool) -> Result<(), String> {
    let options = FioOptions { seed: 1, queue_depth: None, has_clock };
    let source = |file| FioSource::new(&file, 1 << 30, 16_384, options);
    JobFile::parse(Path::new("a.fio"), text).and_then(source).map(|_| ()).map_err(|e| e.to_string())
}

/// Returns the error of a workload file for a drive of 64 pages.
fn workload(kind: &str, text: &str) -> Result<(), String> {
    let (capacity, page, seed) = (1 << 20, 16_384, 1);
    let of = match kind {
        "workload" => WorkloadFile::parse(text)
            .and_then(|file| SyntheticSource::new(&file.workload, capacity, page, seed).map(drop)),
        "phases" => PhasesFile::parse(text)
            .and_then(|file| PhasesSource::new(&file.workload, capacity, page, seed).map(drop)),
        _ => ModelFile::parse(text)
            .and_then(|file| ModelSource::new(&file.workload, capacity, page, seed).map(drop)),
    };
    of.map_err(|e| e.to_string())
}

fn trace(words: &str, text: &str) -> Result<(), String> {
    let (mut options, mut capacity) = (TraceOptions::default(), 1 << 50);
    let (mut name, mut columns) = (None, None);
    for word in words.split(' ').filter(|word| !word.is_empty()) {
        match word.split_once('=') {
            None if word == "strict" => options.strict = true,
            None if word == "skip_bad_lines" => options.skip_bad_lines = true,
            None => name = Some(word),
            Some(("columns", list)) => columns = Some(list),
            Some(("assume_op", _)) => options.assume_op = Some(Op::Read),
            Some(("assume_rate", rate)) => {
                options.clock = MissingClock::Rate(rate.parse().unwrap())
            }
            Some(("blk_action", _)) => options.blk_action = Some(BlkAction::Q),
            Some(("time_unit", unit)) => options.time_unit = Some(unit.parse()?),
            Some(("capacity", bytes)) => capacity = bytes.parse().unwrap(),
            Some(("fit", fit)) => options.fit = fit.parse::<Fit>().map_err(|e| e.to_string())?,
            Some(("only", device)) => options.only.push(device.into()),
            Some(("speed", speed)) => options.speed = speed.parse().unwrap(),
            Some((other, _)) => panic!("{other} is not an option of the record"),
        }
    }
    let (_folder, path) = file(text);
    options.format = Format::chosen(name, columns).map_err(|e| e.to_string())?;
    let source = TraceSource::open(std::slice::from_ref(&path), capacity, options);
    let read = source.and_then(|mut source| {
        let first = drained(&mut source);
        assert_eq!(first.is_err(), drained(&mut source).is_err(), "an error stays");
        first
    });
    read.map(|_| ()).map_err(|e| e.to_string().replace(&path.display().to_string(), "trace"))
}

#[test]
fn bad_lines_can_be_skipped_and_are_counted() {
    let skip = |format: &str, bytes: &[u8]| {
        let options =
            TraceOptions { skip_bad_lines: true, ..all_said(Some(format_named(format).unwrap())) };
        read_all(bytes, &options)
            .map(|(file, rows)| (rows.len(), file.skipped().clone()))
            .map_err(|e| e.to_string())
    };
    let first = "trace, line 2: a request of 0 bytes; a size from 1 byte to 16 MiB is expected; \
                 the line is \"1 0 8 0 1\"";
    let text = [
        &b"0 0 8 8 1\n1 0 8 0 1\n2 0 -8 8 1\n3 0 8 32769 1\n4 0 8 8 1\0\n"[..],
        &vec![b'x'; 300_000],
        b"\n5 0 8 8 1\n",
    ]
    .concat();
    assert_eq!(skip("mqsim", &text).unwrap(), (2, Skipped { count: 5, first: Some(first.into()) }));
    assert_eq!(skip("mqsim", b"0 0 8 8 1\n").unwrap(), (1, Skipped::default()));
    // The rest of a damaged compressed file cannot be read.
    let zstd = zstd::encode_all(&b"0 0 8 8 1\n"[..], 3).unwrap();
    assert_eq!(
        skip("mqsim", &zstd[..zstd.len() - 1]).unwrap_err(),
        "trace: the compressed file ends too early; it is truncated"
    );
    let record = |version: u8| {
        [&[0, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0x28, 0, 0, version][..], &[0; 16]].concat()
    };
    assert_eq!(skip("vscsi", &[record(1), record(7), record(1)].concat()).unwrap().0, 2);
    // Linux merges discards up to 4 GiB.
    assert!(rows_of(b"9 D discard 0 4294967295 0.5\n", None).is_ok());
    assert!(rows_of(b"0 0 8 32768 1\n", None).is_ok());
}

#[test]
fn bytes_that_are_no_trace() {
    for (bytes, said) in [
        (&b""[..], "trace: holds no requests".to_owned()),
        (b"\x07tae\x01\0\0\0", "is a binary recording of blktrace; text is expected".into()),
        (b"eat\x07\0\0\0\x01", "as `blkparse -i FILE` prints".into()),
        (b"\x7fELF\0\x01\n", r#"the file begins with "\x7fELF\x00\x01""#.into()),
        (b"caf\xe9,1\n", r#"the file begins with "caf\xe9,1""#.into()),
    ] {
        let error = error_of(None, bytes);
        assert!(error.contains(&said), "{error}");
    }
    let long = error_of(Some("msr"), "1,".repeat(40_000).as_bytes());
    let shown = "1,".repeat(40);
    assert_eq!(
        long,
        format!("trace, line 1: the line is longer than 64 KiB; the line is \"{shown}…\"")
    );
}

#[test]
fn records_of_binary_formats() {
    let header = b"$$TR_IOREC-1.3\ndisks = { 0 -> { sectorsize = 512 } };\n\x0c";
    let srt = |size: u32, kind: u32, us: u32, device: u32| {
        [size, kind, 1, us, 0, 9, 512, 8, device, 4, 1, 1, 0, 1]
            .into_iter()
            .flat_map(u32::to_be_bytes)
            .collect::<Vec<u8>>()
    };
    for (record, said) in [
        (srt(56, 0x0005_0001, 0, 0), "the field kind should be a version from 1 to 4"),
        (srt(56, 0x0004_0001, 1_000_000, 0), "microseconds should be a whole number below a mill"),
        (srt(56, 0x0004_0001, 0, 0x0800_0308), "should be a disk whose sectorsize the header"),
        (srt(48, 0x0004_0001, 0, 0)[..48].into(), "the record's length, 52 to 64 bytes"),
        (srt(56, 0x0004_0001, 0, 0)[..40].into(), "the file ends within a record; it is trunc"),
        (srt(57, 0x0004_0001, 0, 0), "so the next record cannot be found"),
    ] {
        let error = error_of(Some("srt"), &[&header[..], &record].concat());
        let bytes: Vec<_> = record.iter().take(16).map(|b| format!("{b:02x}")).collect();
        assert!(
            error.starts_with("trace, record 2 at byte 55: ")
                && error.contains(said)
                && error.ends_with(&format!("begins with the bytes {}", bytes.join(" "))),
            "{error}"
        );
    }
    assert!(error_of(Some("srt"), b"text\n").contains("the file should begin with $$TR_IOREC-1.3"));
    let vscsi = |command: u16, version: u16, block: u64| {
        let codes = [command, version].map(u16::to_le_bytes).concat();
        [&[0; 4][..], &[0, 2, 0, 0], &[0; 4], &codes, &block.to_le_bytes(), &[0; 8]].concat()
    };
    let good = vscsi(0x28, 0x0100, 8);
    for (record, said) in [
        (vscsi(0x28, 0, 8), "version should be 1 or 2 in the high byte, equal in every record"),
        (vscsi(0x2800, 0x0100, 8), "the field command should be a SCSI operation code below 256"),
        (vscsi(0x28, 0x0100, 1 << 54), "the field block should be a whole number below 2^54"),
        (good[..5].to_vec(), "the file ends within a record; it is truncated"),
    ] {
        let error = error_of(Some("vscsi"), &[&good, &record[..]].concat());
        assert!(
            error.starts_with("trace, record 2 at byte 32: ") && error.contains(said),
            "{error}"
        );
    }
}

#[test]
fn compact_traces() {
    let rows: Vec<_> = (0..5000u64).map(|i| row(i, 0, i * 4096, 4096, Op::Read)).collect();
    let good = rewritten(Target::Compact, &rows).0;
    let damaged = |at: usize, bits: u8| {
        let mut bytes = good.clone();
        bytes[at] ^= bits;
        bytes
    };
    // The first block begins after the file's header. It has 4,096 records: a device with a name of
    // one byte, and 4,095 rows.
    let second = 16 + 8 + 4096 * 24 + 1;
    let doubled = [&good[..second], &good[16..second], &good[second..]].concat();
    for (bytes, at, said) in [
        (damaged(8, 0x40), 0, "has a version that this vpass does not know; version 3 is expected"),
        (damaged(8, 1), 0, "the compact trace has the packed form of an earlier vpass"),
        (damaged(10, 0x40), 0, "the header of the compact trace is damaged"),
        (damaged(30, 0x40), 16, "the block's checksum does not match; the file is damaged"),
        (damaged(second + 50, 0x40), second, "the block's checksum does not match"),
        (damaged(second + 3, 0x40), second, "the block is too long; the file is damaged"),
        (good[..second + 50].into(), second, "the file ends within a record; it is truncated"),
        (good[..second].into(), second - 24, "the file ends before its last block; it is trunc"),
        ([&good[..16], &good[second..]].concat(), 24, "a row names a device that was not named"),
        (doubled, 2 * second + 905 * 24 - 8, "the number of rows is wrong; the file is damaged"),
        ([&good[..], &good[..]].concat(), good.len(), "the file continues after its end"),
        (b"text".to_vec(), 0, "the file ends within a record; it is truncated"),
    ] {
        let error = error_of(Some("compact"), &bytes);
        assert!(error.contains(&format!(" at byte {at}: ")) && error.contains(said), "{error}");
    }
    let sizes = [row(0, 0, 0, MAX_TRIM_BYTES, Op::Trim), row(0, 0, 0, (16 << 20) + 1, Op::Write)];
    let error = error_of(None, &rewritten(Target::Compact, &sizes).0);
    assert!(error.contains("a request of 16777217 bytes; a size from 1 byte to 16 MiB"), "{error}");
}

#[test]
fn files_that_cannot_be_opened() {
    let folder = tempfile::tempdir().unwrap();
    let trace = |path: &Path| TraceFile::open(path, &TraceOptions::default()).err().unwrap();
    let jobs = |path: &Path| JobFile::read(path).unwrap_err();
    let missing = Path::new("/no/such");
    for error in [trace(missing), jobs(missing)].map(|e| e.to_string()) {
        assert_eq!(error, "/no/such: cannot be opened: No such file or directory (os error 2)");
    }
    assert!(trace(folder.path()).to_string().contains("is a directory; a trace file is expected"));
    assert!(jobs(folder.path()).to_string().contains("is not a regular file; a fio job file"));
    let traces = |paths: &[PathBuf]| {
        TraceSource::open(paths, 1, TraceOptions::default()).err().unwrap().to_string()
    };
    assert_eq!(traces(&[]), "no trace file is given");
    assert!(traces(&["/dev/null".into()]).contains("is a pipe or a device; a trace is read more"));
    let path = folder.path().join("a.fio");
    for (bytes, said) in [
        (b"[a]\n\x80\n".to_vec(), "is not text (line 2); a fio job file is expected"),
        (vec![b'\n'; 2 << 20], "is larger than 1 MiB; a fio job file"),
        (b"[a]\ninclude missing.inc\n".to_vec(), "line 2: the included file: "),
        (["[a]\ndescription=", &"x".repeat(9000)].concat().into(), "line 2: the line is longer"),
    ] {
        std::fs::write(&path, bytes).unwrap();
        let error = jobs(&path).to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn a_survey_of_touched_pages_says_whether_packing_helps() {
    let (_folder, path) = file("0 0 0 8 1\n1 0 900000 8 1\n");
    let survey = |fit| {
        Survey::of(
            std::slice::from_ref(&path),
            &TraceOptions { fit, ..TraceOptions::default() },
            &mut |_| true,
        )
        .unwrap()
    };
    let packed = survey(Fit::Pack);
    assert_eq!((packed.packed_bytes(), survey(Fit::Error).packed_bytes()), (Some(8192), None));
    let error = |capacity| packed.fits(capacity, Fit::Error).unwrap_err().to_string();
    let words = "use `fit=pack` to place the touched pages (8 KiB) side by side, use `fit=scale` \
                 or `fit=wrap` to change the addresses, or use a larger";
    assert!(error(8192).contains(words), "{}", error(8192));
    assert!(error(8191).ends_with("`drive.capacity=440MiB` (8 KiB are enough with `fit=pack`)"));
    assert!(packed.fits(8192, Fit::Pack).is_ok() && packed.fits(8191, Fit::Pack).is_err());
    let options = TraceOptions { fit: Fit::Pack, ..TraceOptions::default() };
    let error = TraceSource::new(survey(Fit::Error).into(), 8192, options).err().unwrap();
    assert!(error.to_string().contains("`fit=pack` needs a survey of the touched pages"));
}

#[test]
fn a_trace_has_at_most_65_536_devices() {
    let rows: Vec<_> = (0..70_000).map(|n| format!("0 {n} 0 8 1")).collect();
    let devices = rows.join("\n");
    let error = trace("", &devices).unwrap_err();
    assert!(error.starts_with("the trace names more than 65,536 devices"), "{error}");
}

#[test]
fn jobs_have_notes_about_options_without_effect() {
    let source = |text: &str, has_clock| {
        let file = JobFile::parse(Path::new("a.fio"), text).unwrap();
        let options = FioOptions { seed: 1, queue_depth: None, has_clock };
        let left_out = file.left_out().join(" ");
        (FioSource::new(&file, 1 << 30, 4096, options).unwrap().notes().to_vec(), left_out)
    };
    for option in ["startdelay", "runtime"] {
        let (notes, _) = source(&format!("[a]\nsize=1m\n{option}=5\n"), false);
        let note = format!("job a: its {option} is ignored, because the untimed gear has no time");
        assert!(notes[0].to_string().starts_with(&note), "{notes:?}");
    }
    let (notes, _) = source("[a]\nsize=1m\nruntime=5\ntime_based\nrate_iops=10\n", false);
    assert!(notes.is_empty());
    let safe = "[global]\nfsync=32\nend_fsync=1\nfdatasync=0\n[a]\nsize=1m\nsync=dsync\n\
                fsync_on_close\n[b]\nsize=1m\nfsync=1\n";
    let (notes, left_out) = source(safe, true);
    let note = "fsync, end_fsync, sync, fsync_on_close: these options have no effect";
    assert!(notes.len() == 1 && notes[0].to_string().starts_with(note), "{notes:?}");
    assert_eq!(left_out, "fdatasync");
    let text = "[global]\nioengine=libaio\ndirect=1\nthread\nfsync=0\n[a]\nsize=1m\ndirect=0\n\
                log_avg_msec=10\n[b]\nsize=1m\ngroup_reporting\n";
    let left_out = source(text, true).1;
    assert_eq!(left_out, "ioengine direct thread fsync log_avg_msec group_reporting");
    for line in [
        "rw_sequencer=sequential",
        "bs_unaligned=0",
        "percentage_random=100",
        "random_generator=tausworthe64",
        "file_service_type=roundrobin",
        "iodepth_low=0",
        "thinktime=0",
        "exitall=0",
        "do_verify=1",
        "zonemode=none",
    ] {
        let left_out = source(&format!("[a]\nsize=1m\n{line}\n"), true).1;
        assert_eq!(left_out, line.split('=').next().unwrap());
    }
}
