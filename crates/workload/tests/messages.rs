//! What a user reads when a trace is wrong: the exact text of every complaint.

mod common;

use std::path::{Path, PathBuf};

use common::{all_said, drained, error_of, file, read_all, rewritten, row, source};
use vpass_core::request::Op;
use vpass_workload::traces::{Fit, MissingClock, ReadOptions, Skipped, Target, TraceFile, TraceOptions, TraceSource, format_named};

const KNOWN: &str = "msr (MSR Cambridge CSV), disksim (DiskSim ASCII), mqsim or ssdsim (MQSim and SSDsim ASCII), \
    fio (fio iolog version 3), arc (ARC address streams (.lis)), vscsi (VMware vscsiStats binary, CloudPhysics), compact or vpt (vpass's own compact form)";

#[track_caller]
fn says(format: &str, text: &str, expected: &str) {
    assert_eq!(error_of(Some(format), text.as_bytes()), expected);
}

#[test]
fn msr() {
    let says = |line: &str, what: &str| {
        let text = format!("1,h,0,Read,0,512,9\n{line}\n");
        says("msr", &text, &format!("trace, line 2: {what} (msr format); the line is {line:?}"));
    };
    says("x,h,0,Read,0,512,9", "column 1 (timestamp) should be a whole number of 100-ns ticks");
    says("999999999999999999,h,0,Read,0,512,9", "column 1 (timestamp) should be a whole number of 100-ns ticks");
    says("1,,0,Read,0,512,9", "column 2 (host) should be a name");
    says("1,h,-1,Read,0,512,9", "column 3 (disk) should be a whole number");
    says("1,h,0,Reed,0,512,9", "column 4 (type) should be Read or Write");
    says("1,h,0,Read,-512,512,9", "column 5 (offset) should be a whole number of bytes below 2^63");
    says("1,h,0,Read,9223372036854775808,512,9", "column 5 (offset) should be a whole number of bytes below 2^63");
    says("1,h,0,Read,0,4k,9", "column 6 (size) should be a whole number of bytes");
    says("1,h,0,Read,0,512,", "column 7 (response) should be a whole number of 100-ns ticks");
    says("1,h,0,Read,0", "column 6 (size) is missing; it should be a whole number of bytes");
    says("1,h,0,Read,0,512,9,9", "there are more than the 7 columns timestamp, host, disk, type, offset, size, response");
    says("#comment", "column 1 (timestamp) should be a whole number of 100-ns ticks");
}

#[test]
fn disksim() {
    let says = |line: &str, what: &str| {
        let text = format!("0.5 0 8 8 1\n{line}\n");
        says("disksim", &text, &format!("trace, line 2: {what} (disksim format); the line is {line:?}"));
    };
    says("1. 0 8 8 1", "column 1 (time) should be a decimal number of milliseconds");
    says("1.5 4294967296 8 8 1", "column 2 (device) should be a whole number");
    says("1.5 0 18014398509481984 8 1", "column 3 (block) should be a whole number of 512-byte blocks below 2^54");
    says("1.5 0 8 8.5 1", "column 4 (blocks) should be a whole number of 512-byte blocks");
    says("1.5 0 8 8 R", "column 5 (flags) should be hexadecimal flags with bit 0 set for a read");
    says("1.5 0 8 8", "column 5 (flags) is missing; it should be hexadecimal flags with bit 0 set for a read");
    says("1.5 0 8 8 1 7", "there are more than the 5 columns time, device, block, blocks, flags");
}

#[test]
fn mqsim() {
    let says = |line: &str, what: &str| {
        let text = format!("0 0 8 8 1\n{line}\n");
        says("mqsim", &text, &format!("trace, line 2: {what} (mqsim format); the line is {line:?}"));
    };
    says("1.5 0 8 8 1", "column 1 (time) should be a whole number of nanoseconds");
    says("18446744073709551616 0 8 8 1", "column 1 (time) should be a whole number of nanoseconds");
    says("1 d 8 8 1", "column 2 (device) should be a whole number");
    says("1 0 -8 8 1", "column 3 (sector) should be a whole number of 512-byte sectors below 2^54");
    says("1 0 8 99999999999999999999 1", "column 4 (sectors) should be a whole number of 512-byte sectors");
    says("1 0 8 8 2", "column 5 (type) should be 1 for a read or 0 for a write");
    says("1 0 8 8 1 1", "there are more than the 5 columns time, device, sector, sectors, type");
}

#[test]
fn fio() {
    let says_after_header = |line: &str, what: &str| {
        let text = format!("fio version 3 iolog\n{line}\n");
        says("fio", &text, &format!("trace, line 2: {what} (fio format); the line is {line:?}"));
    };
    says_after_header("1.0 /f read 0 512", "column 1 (timestamp) should be a whole number of microseconds");
    says_after_header("1", "column 2 (filename) is missing; it should be a name without spaces");
    says_after_header(
        "1 /f erase 0 512",
        "column 3 (action) should be one of add, open, close, read, write, trim, sync, datasync, sync_file_range, wait",
    );
    says_after_header("1 /f read x 512", "column 4 (offset) should be a whole number of bytes below 2^63");
    says_after_header("1 /f read 0", "column 5 (length) is missing; it should be a whole number of bytes");
    says_after_header("1 /f add 0", "there are more than the 5 columns timestamp, filename, action, offset, length");
    assert_eq!(
        error_of(None, b"fio version 2 iolog\n/f add\n"),
        "trace, line 1: this is a version 2 iolog, which keeps no time for each request; record it again with fio 3.31 or newer, \
         which writes version 3 (fio format); the line is \"fio version 2 iolog\""
    );
    let header = "trace, line 1: the first line should be the header \"fio version 3 iolog\" (fio format); the line is";
    assert_eq!(error_of(None, b"fio version 4 iolog\n"), format!("{header} \"fio version 4 iolog\""));
    says("fio", "1 /f read 0 512\n", &format!("{header} \"1 /f read 0 512\""));
}

#[test]
fn arc() {
    let says = |line: &str, what: &str| {
        let text = format!("1 8 0 0\n{line}\n");
        says("arc", &text, &format!("trace, line 2: {what} (arc format); the line is {line:?}"));
    };
    says("-1 8 0 1", "column 1 (block) should be a whole number of 512-byte blocks below 2^54");
    says("1 x 0 1", "column 2 (blocks) should be a whole number of 512-byte blocks");
    says("1 8 0", "column 4 (request) is missing; it should be a whole number");
}

#[test]
fn vscsi() {
    let record = |command: u16, version: u16, block: u64| {
        let codes = [command, version].map(u16::to_le_bytes).concat();
        [&[0; 4][..], &[0, 2, 0, 0], &[0; 4], &codes, &block.to_le_bytes(), &[0; 8]].concat()
    };
    let good = record(0x28, 0x0100, 8);
    let says = |second: &[u8], what: &str| {
        assert_eq!(error_of(Some("vscsi"), &[&good, second].concat()), format!("trace, record 2 at byte 32: {what}"));
    };
    says(
        &record(0x28, 0, 8),
        "the field version should be 1 or 2 in its high byte, the same in every record (vscsi format); \
         it begins with the bytes 00 00 00 00 00 02 00 00 00 00 00 00 28 00 00 00",
    );
    says(
        &record(0x2800, 0x0100, 8),
        "the field command should be a SCSI operation code below 256 (vscsi format); \
         it begins with the bytes 00 00 00 00 00 02 00 00 00 00 00 00 00 28 00 01",
    );
    says(
        &record(0x28, 0x0100, 1 << 54),
        "the field block should be a whole number of 512-byte blocks below 2^54 (vscsi format); \
         it begins with the bytes 00 00 00 00 00 02 00 00 00 00 00 00 28 00 00 01",
    );
    says(&good[..5], "the file ends within a record; it is truncated (vscsi format); it begins with the bytes 00 00 00 00 00");
}

#[test]
fn what_a_format_does_not_keep_has_to_be_said() {
    let read = |options: &ReadOptions| read_all(b"1 8 0 0\n", options).map(|_| ()).map_err(|e| e.0);
    let said = ReadOptions { assume_op: Some(Op::Read), ..ReadOptions::default() };
    assert_eq!(
        read(&ReadOptions::default()).unwrap_err(),
        "trace: the trace does not say what is read and what is written; say --assume-op read or --assume-op write (arc format)"
    );
    assert_eq!(
        read(&said).unwrap_err(),
        "trace: the trace keeps no time for its requests; say --assume-rate IOPS, or --queue-depth N for a closed loop (arc format)"
    );
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(
            read(&ReadOptions { clock: MissingClock::Rate(rate), ..said.clone() }).unwrap_err(),
            format!("trace: {rate} requests a second are no rate; a number above 0 is expected (arc format)")
        );
    }
    assert!(read(&ReadOptions { clock: MissingClock::Ignore, ..said }).is_ok());
}

#[test]
fn bad_lines_can_be_skipped_and_are_counted() {
    let skip = |format: &str, bytes: &[u8]| {
        let options = ReadOptions { skip_bad_lines: true, ..all_said(Some(format_named(format).unwrap())) };
        read_all(bytes, &options).map(|(file, rows)| (rows.len(), file.skipped().clone())).map_err(|e| e.0)
    };
    let first = "trace, line 2: a request of 0 bytes; a size from 1 byte to 16 MiB is expected; the line is \"1 0 8 0 1\"";
    let text = [&b"0 0 8 8 1\n1 0 8 0 1\n2 0 -8 8 1\n3 0 8 32769 1\n4 0 8 8 1\0\n"[..], &vec![b'x'; 300_000], b"\n5 0 8 8 1\n"].concat();
    assert_eq!(skip("mqsim", &text).unwrap(), (2, Skipped { count: 5, first: Some(first.into()) }));
    assert_eq!(skip("mqsim", b"0 0 8 8 1\n").unwrap(), (1, Skipped::default()));
    assert_eq!(
        skip("mqsim", b"x\n0 0 8 0 1\n").unwrap_err(),
        "trace: holds no requests that can be read; the first complaint: trace, line 1: column 1 (time) should be a whole number of \
         nanoseconds (mqsim format); the line is \"x\""
    );
    // The rest of a file without its header means nothing, and a damaged compressed file says nothing about what is missing.
    assert!(skip("fio", b"1 /f read 0 512\n").unwrap_err().contains("the header"));
    let zstd = zstd::encode_all(&b"0 0 8 8 1\n"[..], 3).unwrap();
    assert_eq!(skip("mqsim", &zstd[..zstd.len() - 1]).unwrap_err(), "trace: the compressed file ends too early; it is truncated");
    let record = |version: u8| [&[0, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0x28, 0, 0, version][..], &[0; 16]].concat();
    assert_eq!(skip("vscsi", &[record(1), record(7), record(1)].concat()).unwrap().0, 2);
}

#[test]
fn sizes() {
    says(
        "mqsim",
        "0 0 8 0 1\n",
        "trace, line 1: a request of 0 bytes; a size from 1 byte to 16 MiB is expected; the line is \"0 0 8 0 1\"",
    );
    says(
        "mqsim",
        "0 0 8 32769 1\n",
        "trace, line 1: a request of 16777728 bytes; a size from 1 byte to 16 MiB is expected; the line is \"0 0 8 32769 1\"",
    );
    assert!(common::rows_of(b"0 0 8 32768 1\n", None).is_ok());
}

#[test]
fn text_that_is_no_trace() {
    assert_eq!(error_of(None, b""), "trace: holds no requests");
    assert_eq!(error_of(Some("msr"), b""), "trace: holds no requests");
    assert_eq!(error_of(None, b" \r\n\n\t\n"), "trace: holds no requests");
    assert_eq!(error_of(None, b"fio version 3 iolog\n1 /f add\n"), "trace: holds no requests");
    assert_eq!(
        error_of(None, b"\ntime;op;lba\n1;R;0\n"),
        format!("trace: the format is not recognised; the first line is \"time;op;lba\"; known formats: {KNOWN}; name one with --format")
    );
    let no_text =
        "is no text and no binary trace that is known; a trace, plain or compressed with gzip or zstd, is expected; it begins with";
    assert_eq!(error_of(None, b"\x7fELF\0\x01\n"), format!(r#"trace: {no_text} "\x7fELF\x00\x01""#));
    assert_eq!(error_of(None, b"caf\xe9,1\n"), format!(r#"trace: {no_text} "caf\xe9,1""#));
    assert_eq!(
        error_of(Some("msr"), b"1,h,0,Read,0,512,9\n1,h\0,0,Read,0,512,9\n"),
        r#"trace, line 2: the line holds a NUL byte, so this is no text; the line is "1,h\x00,0,Read,0,512,9""#
    );
    let long = "1,".repeat(40_000);
    let shown = "1,".repeat(40);
    assert_eq!(error_of(Some("msr"), long.as_bytes()), format!("trace, line 1: the line is longer than 64 KiB; the line is \"{shown}…\""));
    assert_eq!(
        error_of(Some("mqsim"), format!("0 0 8 8 1\n{}", "x".repeat(200)).as_bytes()),
        format!(
            "trace, line 2: column 1 (time) should be a whole number of nanoseconds (mqsim format); the line is \"{}…\"",
            "x".repeat(80)
        )
    );
}

#[test]
fn files_that_cannot_be_opened() {
    let folder = tempfile::tempdir().unwrap();
    let open = |path: &Path| TraceFile::open(path, &ReadOptions::default()).err().unwrap().0;
    assert_eq!(open(Path::new("/no/such/trace")), "/no/such/trace: cannot be opened: No such file or directory (os error 2)");
    assert_eq!(open(folder.path()), format!("{}: is a directory; a trace file is expected", folder.path().display()));
    assert_eq!(TraceSource::open(&[], 1, TraceOptions::default()).err().unwrap().0, "no trace file is given");
}

#[test]
fn names_of_formats() {
    let error = |name: &str| format_named(name).unwrap_err().0;
    assert_eq!(error("dsksim"), format!("there is no trace format \"dsksim\" (did you mean disksim?); known formats: {KNOWN}"));
    assert_eq!(error("parquet"), format!("there is no trace format \"parquet\"; known formats: {KNOWN}"));
}

#[test]
fn requests_that_do_not_fit() {
    let error = |fit: Fit, line: &str| {
        let (_folder, path) = file(format!("0 0 0 8 1\n{line}\n"));
        let opened = TraceSource::open(std::slice::from_ref(&path), 8192, TraceOptions { fit, ..TraceOptions::default() });
        let error = opened.and_then(|mut source| drained(&mut source)).unwrap_err().0;
        error.replace(&path.display().to_string(), "trace")
    };
    assert_eq!(
        error(Fit::Error, "1 0 9 8 1"),
        "trace, line 2: offset 4608 with 4096 bytes is beyond the drive's capacity of 8192 bytes (8KiB); take --fit wrap, --fit scale \
         or a bigger drive; the line is \"1 0 9 8 1\""
    );
    for fit in [Fit::Error, Fit::Wrap, Fit::Scale] {
        assert_eq!(
            error(fit, "1 0 0 17 1"),
            "trace, line 2: a request of 8704 bytes is larger than the drive's capacity of 8192 bytes (8KiB); the line is \"1 0 0 17 1\""
        );
    }
}

#[test]
fn time() {
    let strict = TraceOptions { strict: true, ..TraceOptions::default() };
    let (folder, mut strictly) = source("5 0 0 8 1\n4 0 0 8 1\n", 8192, strict);
    let path: PathBuf = folder.path().join("trace.csv");
    let expected =
        format!("{}, line 2: the request is earlier than one before it, which --strict refuses; the line is \"4 0 0 8 1\"", path.display());
    assert_eq!(drained(&mut strictly).unwrap_err().0, expected);
    assert_eq!(drained(&mut strictly).unwrap_err().0, expected, "an error stays");
    for speed in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let options = TraceOptions { speed, ..TraceOptions::default() };
        let error = TraceSource::open(std::slice::from_ref(&path), 8192, options).err().unwrap().0;
        assert_eq!(error, format!("a speed of {speed} is no speed; a number above 0 is expected, 2 for twice as fast"));
    }
}

#[test]
fn compact() {
    let rows: Vec<_> = (0..5000u64).map(|i| row(i, 0, i * 4096, 4096, Op::Read)).collect();
    let good = rewritten(Target::Compact, &rows).0;
    let says = |bytes: &[u8], what: &str| assert_eq!(error_of(None, bytes), format!("trace, {what} (compact format)"));
    let damaged = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 0x40;
        bytes
    };
    // The file's header and the list of devices take 16 + 16 + 3 bytes; then the first block.
    let second = 35 + 16 + u32::from_le_bytes(good[43..47].try_into().unwrap()) as usize;
    says(&damaged(8), "after row 0, at byte 0: the compact trace is of a version that this vpass does not know; version 1 is expected");
    says(&damaged(10), "after row 0, at byte 0: the header of the compact trace is damaged");
    says(&damaged(30), "after row 0, at byte 16: the section's checksum does not match; the file is damaged");
    says(&damaged(100), "after row 0, at byte 35: the section's checksum does not match; the file is damaged");
    says(&damaged(35), "after row 0, at byte 35: there is no section where one should begin");
    says(&damaged(second + 50), &format!("after row 4096, at byte {second}: the section's checksum does not match; the file is damaged"));
    says(&good[..second + 50], &format!("after row 4096, at byte {second}: the file ends too early; it is truncated"));
    let end = good.len() - 32;
    says(&good[..end], &format!("after row 4096, at byte {second}: the file ends too early; it is truncated"));
    says(&[&good[..second], &good[end..]].concat(), &format!("after row 4096, at byte {second}: rows are missing; the file is damaged"));
    says(&[&good[..], &good[..]].concat(), &format!("after row 5000, at byte {}: the file goes on behind its end", good.len()));
    let empty = rewritten(Target::Compact, &[]).0;
    assert_eq!(error_of(None, &empty), "trace: holds no requests");
    assert_eq!(
        error_of(Some("compact"), b"text"),
        "trace, after row 0, at byte 0: the file ends too early; it is truncated (compact format)"
    );
}
