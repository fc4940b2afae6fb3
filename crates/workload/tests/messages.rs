//! What a user reads when a trace is wrong: the exact text of every complaint.

mod common;

use std::path::{Path, PathBuf};

use common::{drained, error_of, file, source};
use vpass_workload::traces::{Fit, TraceFile, TraceOptions, TraceSource, format_named};

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
        "trace: the format is not recognised; the first line is \"time;op;lba\"; known formats: fio (fio iolog version 3), \
         msr (MSR Cambridge CSV), disksim (DiskSim ASCII), mqsim (MQSim and SSDsim ASCII); name one with --format"
    );
    let no_text = "is no text; a text trace, plain or compressed with gzip or zstd, is expected; it begins with";
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
    let open = |path: &Path| TraceFile::open(path, None).err().unwrap().0;
    assert_eq!(open(Path::new("/no/such/trace")), "/no/such/trace: cannot be opened: No such file or directory (os error 2)");
    assert_eq!(open(folder.path()), format!("{}: is a directory; a trace file is expected", folder.path().display()));
    assert_eq!(TraceSource::open(&[], 1, TraceOptions::default()).err().unwrap().0, "no trace file is given");
}

#[test]
fn names_of_formats() {
    let known =
        "known formats: fio (fio iolog version 3), msr (MSR Cambridge CSV), disksim (DiskSim ASCII), mqsim (MQSim and SSDsim ASCII)";
    let error = |name: &str| format_named(name).unwrap_err().0;
    assert_eq!(error("dsksim"), format!("there is no trace format \"dsksim\" (did you mean disksim?); {known}"));
    assert_eq!(error("parquet"), format!("there is no trace format \"parquet\"; {known}"));
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
