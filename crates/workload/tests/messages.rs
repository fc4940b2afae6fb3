//! Checks the exact text of every error about a trace.

use crate::common;

use std::path::{Path, PathBuf};

use common::{all_said, drained, error_of, file, read_all, rewritten, row, source};
use vpass_drive::base::request::Op;
use vpass_workload::traces::{
    BlkAction, FORMATS, Fit, Format, MAX_TRIM_BYTES, MissingClock, ReadOptions, Skipped, Survey,
    Target, TimeUnit, TraceFile, TraceOptions, TraceSource, format_named,
};

/// Lists every format with its other names and its description, as messages do.
fn known() -> String {
    let one = |format: &Format| {
        let names: Vec<_> = std::iter::once(&format.name).chain(format.aliases).copied().collect();
        format!("{} ({})", names.join(" or "), format.description)
    };
    FORMATS.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[test]
fn formats_are_listed_with_their_other_names() {
    let known = known();
    assert!(
        known.starts_with(
            "msr (MSR Cambridge CSV), disksim (DiskSim ASCII), mqsim or ssdsim \
                               (MQSim and SSDsim ASCII), "
        ),
        "{known}"
    );
}

#[track_caller]
fn says(format: &str, text: &str, expected: &str) {
    assert_eq!(error_of(Some(format), text.as_bytes()), expected);
}

#[test]
fn facts_that_a_format_lacks_have_to_be_given() {
    let read = |options: &ReadOptions| {
        read_all(b"1 8 0 0\n", options).map(|_| ()).map_err(|e| e.to_string())
    };
    let said = ReadOptions { assume_op: Some(Op::Read), ..ReadOptions::default() };
    assert_eq!(
        read(&ReadOptions::default()).unwrap_err(),
        "trace: the trace does not say which requests are reads and which are writes; give \
         `assume_op=read` or `assume_op=write` (arc format)"
    );
    assert_eq!(
        read(&said).unwrap_err(),
        "trace: the trace has no times for its requests; give `assume_rate=IOPS`, or \
         `queue_depth=N` for a closed loop (arc format)"
    );
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(
            read(&ReadOptions { clock: MissingClock::Rate(rate), ..said.clone() }).unwrap_err(),
            format!(
                "trace: `assume_rate={rate}` is not a rate; a number above 0 is expected (arc \
                 format)"
            )
        );
    }
    assert!(read(&ReadOptions { clock: MissingClock::Ignore, ..said }).is_ok());
}

#[test]
fn bad_lines_can_be_skipped_and_are_counted() {
    let skip = |format: &str, bytes: &[u8]| {
        let options =
            ReadOptions { skip_bad_lines: true, ..all_said(Some(format_named(format).unwrap())) };
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
    assert_eq!(
        skip("mqsim", b"x\n0 0 8 0 1\n").unwrap_err(),
        "trace: holds no readable requests; the first error: trace, line 1: column 1 (time) should \
         be a whole number of nanoseconds (or of `time_unit`) (mqsim format); the line is \"x\""
    );
    // Without its header, the rest of a file cannot be read. The rest of a damaged compressed file
    // cannot be read either.
    assert!(skip("fio", b"1 /f read 0 512\n").unwrap_err().contains("the header"));
    let zstd = zstd::encode_all(&b"0 0 8 8 1\n"[..], 3).unwrap();
    assert_eq!(
        skip("mqsim", &zstd[..zstd.len() - 1]).unwrap_err(),
        "trace: the compressed file ends too early; it is truncated"
    );
    let record = |version: u8| {
        [&[0, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0x28, 0, 0, version][..], &[0; 16]].concat()
    };
    assert_eq!(skip("vscsi", &[record(1), record(7), record(1)].concat()).unwrap().0, 2);
}

#[test]
fn sizes() {
    says(
        "mqsim",
        "0 0 8 0 1\n",
        "trace, line 1: a request of 0 bytes; a size from 1 byte to 16 MiB is expected; the line \
         is \"0 0 8 0 1\"",
    );
    says(
        "mqsim",
        "0 0 8 32769 1\n",
        "trace, line 1: a request of 16777728 bytes; a size from 1 byte to 16 MiB is expected; the \
         line is \"0 0 8 32769 1\"",
    );
    assert!(common::rows_of(b"0 0 8 32768 1\n", None).is_ok());
    // Linux merges discards up to 4 GiB.
    assert!(common::rows_of(b"9 D discard 0 4294967295 0.5\n", None).is_ok());
    says(
        "wiscsee",
        "9 D discard 0 4294967296 0.5\n",
        "trace, line 1: a discard of 4294967296 bytes; a size from 1 byte to 4 GiB is expected; \
         the line is \"9 D discard 0 4294967296 0.5\"",
    );
}

#[test]
fn text_that_is_no_trace() {
    assert_eq!(error_of(None, b""), "trace: holds no requests");
    assert_eq!(error_of(Some("msr"), b""), "trace: holds no requests");
    assert_eq!(error_of(None, b" \r\n\n\t\n"), "trace: holds no requests");
    assert_eq!(error_of(None, b"fio version 3 iolog\n1 /f add\n"), "trace: holds no requests");
    assert_eq!(
        error_of(None, b"\ntime;op;lba\n1;R;0\n"),
        format!(
            "trace: the format is not recognised; the first line is \"time;op;lba\"; known \
             formats: {}; name the format with `format`",
            known()
        )
    );
    let no_text = "is not a recognised trace format; a trace, plain or compressed with gzip or \
                   zstd, is expected; the file begins with";
    assert_eq!(
        error_of(None, b"\x7fELF\0\x01\n"),
        format!(r#"trace: {no_text} "\x7fELF\x00\x01""#)
    );
    for bytes in [&b"\x07tae\x01\0\0\0"[..], b"eat\x07\0\0\0\x01"] {
        assert_eq!(
            error_of(None, bytes),
            "trace: is a binary recording of blktrace; text is expected, as `blkparse -i FILE` \
             prints"
        );
    }
    assert_eq!(
        error_of(Some("disksim"), b"0.5 0 8 65536 1\n"),
        "trace, line 1: a request of 33554432 bytes; a size from 1 byte to 16 MiB is expected; the \
         sizes of this format are in sectors of 512 bytes, and not in bytes; the line is \"0.5 0 8 \
         65536 1\""
    );
    assert_eq!(error_of(None, b"caf\xe9,1\n"), format!(r#"trace: {no_text} "caf\xe9,1""#));
    assert_eq!(
        error_of(Some("msr"), b"1,h,0,Read,0,512,9\n1,h\0,0,Read,0,512,9\n"),
        "trace, line 2: the line holds a NUL byte, so the file is not text; the line is \
         \"1,h\\x00,0,Read,0,512,9\""
    );
    let long = "1,".repeat(40_000);
    let shown = "1,".repeat(40);
    assert_eq!(
        error_of(Some("msr"), long.as_bytes()),
        format!("trace, line 1: the line is longer than 64 KiB; the line is \"{shown}…\"")
    );
    assert_eq!(
        error_of(Some("mqsim"), format!("0 0 8 8 1\n{}", "x".repeat(200)).as_bytes()),
        format!(
            "trace, line 2: column 1 (time) should be a whole number of nanoseconds (or of \
             `time_unit`) (mqsim format); the line is \"{}…\"",
            "x".repeat(80)
        )
    );
}

#[test]
fn a_file_that_may_be_either() {
    assert_eq!(
        error_of(None, b"1,R,8,R,5\n"),
        "trace: may be spc (SPC-1 ASCII, UMass) or alibaba (Alibaba cloud disks, CSV); the first \
         line is \"1,R,8,R,5\"; name the format with `format`"
    );
    // The file is not ambiguous if its first column shows the format.
    for (text, format) in [
        ("3 0 8 8 1\n", "mqsim"),
        ("3.0 0 8 8 1\n", "disksim"),
        ("3 0 8 8 1\n3.5 0 8 8 1\n", "disksim"),
    ] {
        assert_eq!(common::rows_of(text.as_bytes(), None).unwrap().0, format);
    }
}

#[test]
fn files_that_cannot_be_opened() {
    let folder = tempfile::tempdir().unwrap();
    let open =
        |path: &Path| TraceFile::open(path, &ReadOptions::default()).err().unwrap().to_string();
    assert_eq!(
        open(Path::new("/no/such/trace")),
        "/no/such/trace: cannot be opened: No such file or directory (os error 2)"
    );
    assert_eq!(
        open(folder.path()),
        format!("{}: is a directory; a trace file is expected", folder.path().display())
    );
    assert_eq!(
        TraceSource::open(&[], 1, TraceOptions::default()).err().unwrap().to_string(),
        "no trace file is given"
    );
    assert_eq!(
        TraceSource::open(&["/dev/null".into()], 1, TraceOptions::default())
            .err()
            .unwrap()
            .to_string(),
        "/dev/null: is a pipe or a device; a trace is read more than once, so a file on a disk is \
         expected"
    );
}

#[test]
fn names_of_formats() {
    let error = |name: &str| format_named(name).unwrap_err().to_string();
    assert_eq!(
        error("dsksim"),
        format!(
            "there is no trace format \"dsksim\" (did you mean disksim?); known formats: {}",
            known()
        )
    );
    assert_eq!(
        error("parquet"),
        format!("there is no trace format \"parquet\"; known formats: {}", known())
    );
}

#[test]
fn requests_that_do_not_fit() {
    let error = |fit: Fit, line: &str| {
        let (_folder, path) = file(format!("0 0 0 8 1\n{line}\n"));
        let opened = TraceSource::open(
            std::slice::from_ref(&path),
            8192,
            TraceOptions { fit, ..TraceOptions::default() },
        );
        let error = opened.and_then(|mut source| drained(&mut source)).unwrap_err().to_string();
        error.replace(&path.display().to_string(), "trace")
    };
    assert_eq!(
        error(Fit::Error, "1 0 9 8 1"),
        "trace (mqsim format): the requests to device 0 reach up to 8.5 KiB (line 2 of trace); the \
         drive has 8 KiB; use `fit=scale` or `fit=wrap` to change the addresses, or use a larger \
         drive with `drive.capacity=1MiB`"
    );
    assert_eq!(
        error(Fit::Error, "1 5 0 1 1"),
        "trace (mqsim format): 2 devices: 0 4 KiB, 5 512 bytes; side by side, all devices take \
         1.1 MiB; the drive has 8 KiB; select some devices with `only=DEV`, use `fit=scale` or \
         `fit=wrap` to change the addresses, or use a larger drive with `drive.capacity=2MiB`"
    );
    assert_eq!(
        error(Fit::Pack, "1 0 900000 9 1"),
        "trace (mqsim format): the touched pages take 12 KiB even without gaps; the drive has 8 \
         KiB; use a larger drive with `drive.capacity=SIZE`"
    );
    for fit in [Fit::Wrap, Fit::Scale] {
        assert_eq!(
            error(fit, "1 0 0 17 1"),
            "trace, line 2: a request of 8704 bytes is larger than the drive's capacity of 8192 \
             bytes (8KiB); the line is \"1 0 0 17 1\""
        );
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
    assert!(
        error(8191).ends_with("`drive.capacity=440MiB` (8 KiB are enough with `fit=pack`)"),
        "{}",
        error(8191)
    );
    assert!(packed.fits(8192, Fit::Pack).is_ok() && packed.fits(8191, Fit::Pack).is_err());
    let options = TraceOptions { fit: Fit::Pack, ..TraceOptions::default() };
    let error =
        TraceSource::new(survey(Fit::Error).into(), 8192, options).err().unwrap().to_string();
    assert!(error.contains("`fit=pack` needs a survey of the touched pages"), "{error}");
}

#[test]
fn devices_that_are_not_there() {
    let (_folder, path) = file("0 0 0 8 1\n0 1 0 8 1\n0 2 0 8 1\n");
    let error = |only: &[&str]| {
        let only = only.iter().map(|d| (*d).to_owned()).collect();
        TraceSource::open(
            std::slice::from_ref(&path),
            1 << 30,
            TraceOptions { only, ..TraceOptions::default() },
        )
        .err()
        .unwrap()
        .to_string()
    };
    assert_eq!(
        error(&["1", "7"]),
        "`only=7`: no device of the trace has that number or name; the devices are 1, 0, 2"
    );
    let devices =
        |count: u32| (0..count).map(|n| format!("0 {n} 0 8 1\n")).collect::<Vec<_>>().concat();
    let (_folder, path) = file(devices(20));
    let options = TraceOptions { only: vec!["sda".into()], ..TraceOptions::default() };
    assert_eq!(
        TraceSource::open(&[path], 1 << 30, options).err().unwrap().to_string(),
        "`only=sda`: no device of the trace has that number or name; the devices are 0, 1, 2, 3, \
         4, 5, 6, 7, 8, 9, ..."
    );
    let (_folder, path) = file(devices(70_000));
    let error =
        TraceSource::open(&[path], 1 << 30, TraceOptions::default()).err().unwrap().to_string();
    assert_eq!(
        error,
        "the trace names more than 65,536 devices, more than any known trace; a column was \
         probably misread"
    );
}

#[test]
fn options_without_effect() {
    let (_folder, path) = file("0 0 0 8 1\n");
    let error = |read: ReadOptions| {
        let options = TraceOptions { read, ..TraceOptions::default() };
        let error = TraceSource::open(std::slice::from_ref(&path), 1 << 30, options)
            .err()
            .unwrap()
            .to_string();
        error.replace(&path.display().to_string(), "trace")
    };
    let nothing = ReadOptions::default;
    assert_eq!(
        error(ReadOptions { assume_op: Some(Op::Read), ..nothing() }),
        "`assume_op` is for traces that do not say which requests are reads and which are writes; \
         trace does not need this option (mqsim format)"
    );
    assert_eq!(
        error(ReadOptions { clock: MissingClock::Rate(9.0), ..nothing() }),
        "`assume_rate` is for traces that have no times for their requests; trace does not need \
         this option (mqsim format)"
    );
    assert_eq!(
        error(ReadOptions { blk_action: Some(BlkAction::Q), ..nothing() }),
        "`blk_action` is for traces that record several events per request; trace does not need \
         this option (mqsim format)"
    );
}

#[test]
fn units_that_a_format_fixes() {
    let said = |format: &str, text: &[u8]| {
        let format = Some(format_named(format).unwrap());
        let options = ReadOptions { time_unit: Some(TimeUnit::Seconds), ..all_said(format) };
        read_all(text, &options).map(|(_, rows)| rows.len()).map_err(|e| e.to_string())
    };
    assert_eq!(
        said("msr", b"1,h,0,Read,0,512,9\n").unwrap_err(),
        "trace: the format fixes the unit of its times (ticks of 100 ns), so `time_unit` has no \
         effect; leave it out (msr format)"
    );
    assert_eq!(
        said("arc", b"0 8 0 0\n").unwrap_err(),
        "trace: the trace has no times for its requests, so `time_unit` has no effect; leave it \
         out (arc format)"
    );
    assert_eq!(said("mqsim", b"18446744073 0 0 8 1\n"), Ok(1));
    // This time is above 2^64 ns.
    assert!(said("mqsim", b"18446744074 0 0 8 1\n").unwrap_err().contains("column 1 (time)"));
}

#[test]
fn time() {
    let strict = TraceOptions { strict: true, ..TraceOptions::default() };
    let (folder, mut strictly) = source("5 0 0 8 1\n4 0 0 8 1\n", 8192, strict);
    let path: PathBuf = folder.path().join("trace.csv");
    let expected = format!(
        "{}, line 2: the request is earlier than the previous request; `strict` refuses such \
         requests; the line is \"4 0 0 8 1\"",
        path.display()
    );
    assert_eq!(drained(&mut strictly).unwrap_err().to_string(), expected);
    assert_eq!(drained(&mut strictly).unwrap_err().to_string(), expected, "an error stays");
    for speed in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let options = TraceOptions { speed, ..TraceOptions::default() };
        let error = TraceSource::open(std::slice::from_ref(&path), 8192, options)
            .err()
            .unwrap()
            .to_string();
        assert_eq!(
            error,
            format!(
                "invalid speed {speed}: a number above 0 is expected, such as 2 for twice as fast"
            )
        );
    }
    let with = |speed| {
        let options = TraceOptions { speed, ..TraceOptions::default() };
        TraceSource::open(std::slice::from_ref(&path), 8192, options).err().map(|e| e.to_string())
    };
    assert_eq!(with(1e12), None);
    assert_eq!(
        with(1e13).unwrap(),
        "invalid speed 10000000000000: requests would have no time between them; the speed must be \
         at most 1e12"
    );
}

#[test]
fn compact() {
    let rows: Vec<_> = (0..5000u64).map(|i| row(i, 0, i * 4096, 4096, Op::Read)).collect();
    let good = rewritten(Target::Compact, &rows).0;
    let says = |bytes: &[u8], what: &str| {
        assert_eq!(error_of(None, bytes), format!("trace, {what} (compact format)"));
    };
    let damaged = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 0x40;
        bytes
    };
    // The first block begins after the file's header. It has 4,096 records: a device with a name of
    // one byte, and 4,095 rows.
    let second = 16 + 8 + 4096 * 24 + 1;
    says(
        &damaged(8),
        "after row 0, at byte 0: the compact trace has a version that this vpass does not know; \
         version 3 is expected",
    );
    let mut packed = good.clone();
    packed[8] = 2;
    says(
        &packed,
        "after row 0, at byte 0: the compact trace has the packed form of an earlier vpass; \
         convert or record the trace again",
    );
    says(&damaged(10), "after row 0, at byte 0: the header of the compact trace is damaged");
    says(
        &damaged(30),
        "after row 0, at byte 16: the block's checksum does not match; the file is damaged",
    );
    says(
        &damaged(second + 50),
        &format!(
            "after row 4095, at byte {second}: the block's checksum does not match; the file is \
             damaged"
        ),
    );
    says(
        &damaged(second + 3),
        &format!("after row 4095, at byte {second}: the block is too long; the file is damaged"),
    );
    says(
        &good[..second + 50],
        &format!("after row 4095, at byte {second}: the file ends too early; it is truncated"),
    );
    says(
        &good[..second],
        &format!(
            "after row 4095, at byte {second}: the file ends before its last block; it is truncated"
        ),
    );
    says(
        &[&good[..16], &good[second..]].concat(),
        "after row 0, at byte 16: a row names a device that was not named before this row",
    );
    says(
        &[&good[..second], &good[16..second], &good[second..]].concat(),
        &format!(
            "after row 8190, at byte {}: the number of rows is wrong; the file is damaged",
            2 * second - 16
        ),
    );
    says(
        &[&good[..], &good[..]].concat(),
        &format!("after row 5000, at byte {}: the file continues after its end", good.len()),
    );
    let sizes = [
        row(0, 0, 0, 4096, Op::Read),
        row(0, 0, 0, MAX_TRIM_BYTES, Op::Trim),
        row(0, 0, 0, (16 << 20) + 1, Op::Write),
    ];
    let error = error_of(None, &rewritten(Target::Compact, &sizes).0);
    assert_eq!(
        error,
        "trace, row 3: a request of 16777217 bytes; a size from 1 byte to 16 MiB is expected"
    );
    let empty = rewritten(Target::Compact, &[]).0;
    assert_eq!(error_of(None, &empty), "trace: holds no requests");
    assert_eq!(
        error_of(Some("compact"), b"text"),
        "trace, after row 0, at byte 0: the file ends too early; it is truncated (compact format)"
    );
}
