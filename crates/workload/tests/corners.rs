//! Checks corner cases of every format: unexpected blanks, blank lines, a missing last line end,
//! and files with only a header. Also checks the highest addresses and device names with an
//! underscore.
//!
//! Either a file is read correctly, or the error names the line and the fault.

use crate::common;

use std::path::Path;

use common::writers::{holds, written};
use common::{all_said, drained, error_of, file, read_all, row, rows_of};
use vpass_drive::base::request::Op::{self, Read, Trim, Write};
use vpass_workload::fio::{FioOptions, FioSource, JobFile};
use vpass_workload::traces::{FORMATS, Format, TraceOptions, TraceRow, TraceSource};

/// Formats with blanks between columns. The formats in the next list drop blanks. Both read an
/// indented line.
const BLANKS: [&str; 8] =
    ["disksim", "mqsim", "fio", "fio2", "blkparse", "diskmon", "wiscsee", "arc"];
const DROPS_BLANKS: [&str; 1] = ["spc"];

fn text_formats() -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().filter(|format| format.is_text())
}

/// Returns four rows that the format can hold. The last two are out of order in time and address.
fn rows(format: &str) -> Vec<TraceRow> {
    let of = holds(format);
    let op = |wanted: Op| if of.ops.contains(&wanted) { wanted } else { of.ops[0] };
    let at = |n: u64| n * 1_000_000_000;
    let rows = [
        row(at(5), 0, 8192, 4096, op(Read)),
        row(at(9), 0, 512, 1024, op(Write)),
        row(at(7), 0, 0, 512, op(Trim)),
    ];
    rows.into_iter().chain([row(at(7), 0, of.capacity - 512, 512, op(Read))]).collect()
}

fn text(format: &str) -> String {
    String::from_utf8(written(format, &rows(format))).unwrap()
}

/// Returns the rows that should be read: the written rows, in the order of the file.
fn expected(format: &str) -> Vec<TraceRow> {
    let clockless = holds(format).time == 0;
    let at = |(n, row): (u64, TraceRow)| TraceRow {
        at_ns: if clockless { n * 1000 } else { row.at_ns },
        ..row
    };
    (0..).zip(rows(format)).map(at).collect()
}

/// Checks the rows of a text. Its format must be recognised. Devices are compared by their index
/// among the file's devices.
#[track_caller]
fn check(format: &Format, text: &str) {
    let (file, read) = read_all(text.as_bytes(), &all_said(None))
        .unwrap_or_else(|e| panic!("{}: {}\n{text}", format.name, e));
    assert_eq!(
        (file.format().name, file.device_name(0)),
        (format.name, (holds(format.name).device)(0))
    );
    assert_eq!(read, expected(format.name), "{}:\n{text}", format.name);
}

/// Puts text before and after each line.
fn around(text: &str, before: &str, behind: &str) -> String {
    text.lines().fold(String::new(), |all, line| all + before + line + behind)
}

#[test]
fn line_ends_and_blank_lines() {
    for format in text_formats() {
        let text = text(format.name);
        check(format, &around(&text, "", "\r\n"));
        check(format, &around(&text, "\n", "\n \t\n\r\n"));
        check(format, text.trim_end());
        check(format, &format!("\r\n\n{}", text.trim_end()));
        check(format, &around(&text, "", "\r\n").replace("\r\n\r\n", "\n"));
    }
}

/// Indents all lines except headers, which must be exact.
fn indented(text: &str, by: &str) -> String {
    let is_header = |line: &str| line.starts_with("fio version") || line.starts_with("Timestamp");
    text.lines()
        .fold(String::new(), |all, line| all + if is_header(line) { "" } else { by } + line + "\n")
}

#[test]
fn indented_lines_are_read_or_named() {
    for format in text_formats() {
        for by in [" ", "\t", "  \t "] {
            let text = indented(&text(format.name), by);
            if BLANKS.contains(&format.name) || DROPS_BLANKS.contains(&format.name) {
                check(format, &text);
                continue;
            }
            let error = error_of(Some(format.name), text.as_bytes());
            let (line, column) =
                (if format.name == "systor" { 2 } else { 1 }, format.columns[0].name);
            assert!(
                error.contains(&format!("line {line}")) && error.contains(column),
                "{}: {error}",
                format.name
            );
            // The error also names a bad line after good lines. A bad line is never accepted as
            // another format.
            let first = self::text(format.name).lines().take(line).collect::<Vec<_>>().join("\n");
            let second =
                format!("{first}\n{by}{}", self::text(format.name).lines().last().unwrap());
            let error = error_of(None, second.as_bytes());
            assert!(
                error.contains(&format!("line {}", line + 1)) && error.contains(column),
                "{}: {error}",
                format.name
            );
        }
    }
}

#[test]
fn blanks_behind_a_line_are_dropped_or_named() {
    for format in text_formats() {
        let text = around(&text(format.name), "", " \t\n");
        match rows_of(text.as_bytes(), Some(format)) {
            Ok((_, read)) => assert_eq!(read, expected(format.name), "{}", format.name),
            Err(error) => {
                let is_comma =
                    !BLANKS.contains(&format.name) && !DROPS_BLANKS.contains(&format.name);
                assert!(
                    is_comma && error.to_string().contains("line "),
                    "{}: {}",
                    format.name,
                    error
                );
            }
        }
    }
}

#[test]
fn a_header_alone_holds_no_requests() {
    for (format, header) in [
        ("fio", "fio version 3 iolog\n"),
        ("fio", "fio version 3 iolog\n0 /dev/sda add\n1 /dev/sda open\n2 /dev/sda close"),
        ("fio2", "fio version 2 iolog"),
        ("fio2", "fio version 2 iolog\r\n/dev/sda add\r\n/dev/sda wait 500 0\r\n"),
        ("systor", "Timestamp,Response,IOType,LUN,Offset,Size\n\n"),
        ("systor", "Timestamp,Response,IOType,LUN,Offset,Size"),
    ] {
        let error = error_of(None, header.as_bytes());
        assert!(error.contains("holds no requests"), "{format}: {error}");
        assert!(error_of(Some(format), header.as_bytes()).contains("holds no requests"));
    }
    let srt = written("srt", &[]);
    assert!(error_of(None, &srt).contains("holds no requests"));
    assert!(error_of(None, &written("compact", &[])).contains("holds no requests"));
}

#[test]
fn addresses_end_where_they_are_said_to() {
    for format in text_formats() {
        let of = holds(format.name);
        let last = TraceRow {
            offset: of.capacity - of.address,
            bytes: of.address,
            ..rows(format.name)[0]
        };
        let (_, read) = rows_of(&written(format.name, &[last]), Some(format)).unwrap();
        assert_eq!((read[0].offset, read[0].bytes), (last.offset, last.bytes), "{}", format.name);
        let beyond = TraceRow { offset: of.capacity, ..last };
        let error = error_of(Some(format.name), &written(format.name, &[beyond]));
        assert!(error.contains("below 2^"), "{}: {error}", format.name);
    }
}

/// Rows of four disks of three hosts. Two of the hosts have an underscore in their names.
const HOSTS: &str = "100,web_1,0,Read,0,512,1\n110,web_1,1,Read,512,512,1\n\
                     120,web,1,Read,1024,512,1\n130,_,2,Read,1536,512,1\n";

/// Returns the offsets of the requests of the selected devices.
fn only(names: &[&str]) -> Result<Vec<u64>, String> {
    let (_folder, path) = file(HOSTS);
    let options = TraceOptions {
        only: names.iter().map(|name| (*name).to_owned()).collect(),
        ..TraceOptions::default()
    };
    let mut source = TraceSource::open(&[path], 4 << 20, options).map_err(|e| e.to_string())?;
    let bases: Vec<(String, u64)> =
        source.survey().devices().iter().map(|d| (d.name.clone(), d.base)).collect();
    let requests = drained(&mut source).map_err(|e| e.to_string())?;
    // Devices lie side by side from 0 on, so the offset of a request identifies its device.
    let own = |offset: u64| {
        bases
            .iter()
            .rev()
            .find(|(_, base)| *base <= offset)
            .map_or(offset, |(_, base)| offset - base)
    };
    Ok(requests.iter().map(|r| own(r.offset)).collect())
}

#[test]
fn devices_with_an_underscore_are_told_apart() {
    assert_eq!(only(&["web_1_0"]), Ok(vec![0]));
    assert_eq!(only(&["web_1_1"]), Ok(vec![512]));
    assert_eq!(only(&["web_1"]), Ok(vec![1024]), "disk 1 of host web, and no disk of host web_1");
    assert_eq!(only(&["__2"]), Ok(vec![1536]));
    assert_eq!(only(&["1"]), Ok(vec![512, 1024]), "disk 1 of every host");
    for wrong in ["web", "web_", "_1", "web_1_", "1_0", "_", ""] {
        let error = only(&[wrong]).unwrap_err();
        assert!(error.contains(&format!("`only={wrong}`: no device of the trace")), "{error}");
    }
    // In a log of fio, the name is the whole path.
    let log = "fio version 3 iolog\n0 /a_1 read 0 512\n1 /a read 512 512\n2 1 read 1024 512\n";
    let (file, _) = read_all(log.as_bytes(), &TraceOptions::default()).unwrap();
    let asked =
        |name: &str| (0..3).filter(|device| file.is_device(*device, name)).collect::<Vec<_>>();
    assert_eq!(
        [asked("/a_1"), asked("/a"), asked("1"), asked("a_1")],
        [vec![0], vec![1], vec![2], vec![]]
    );
}

/// Returns the requests of a job: direction, offset and size.
fn job(options: &str) -> Vec<(Op, u64, u32)> {
    let jobs = JobFile::parse(Path::new("a.fio"), &format!("[a]\n{options}\n")).unwrap();
    let mut source = FioSource::new(
        &jobs,
        1 << 30,
        4096,
        FioOptions { seed: 1, queue_depth: None, has_clock: false },
    )
    .unwrap();
    drained(&mut source).unwrap().iter().map(|r| (r.op, r.offset, r.bytes)).collect()
}

#[test]
fn trims_and_writes_are_jobs_of_their_own() {
    assert_eq!(job("rw=trim\nsize=8k"), [(Trim, 0, 4096), (Trim, 4096, 4096)]);
    assert_eq!(job("rw=write\nsize=8k"), [(Write, 0, 4096), (Write, 4096, 4096)]);
    assert!(job("rw=randtrim\nsize=64k").iter().all(|(op, ..)| *op == Trim));
    let error = |options: &str| {
        JobFile::parse(Path::new("a.fio"), &format!("[a]\nsize=1m\n{options}\n"))
            .unwrap_err()
            .to_string()
    };
    assert!(error("rw=trimwrite:4k").contains("trimwrite is not supported"));
    assert!(error("rw=trimwrit").contains("one of read, write, trim"));
}
