//! What several tests need: rows written in each format, and trace files in a folder that goes away.
#![allow(dead_code, reason = "each test uses a part")]

use std::fmt::Write;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use vpass_core::request::{Op, Request, RequestSource, SourceError};
use vpass_workload::traces::{Format, Row, TraceFile, TraceOptions, TraceSource, format_named};

/// A row, short enough for a table of them.
pub(crate) fn row(at_ns: u64, device: u32, offset: u64, bytes: u64, op: Op) -> Row {
    Row { at_ns, device, offset, bytes, op }
}

/// The rows as a file of that format. Times must be whole in its unit, addresses in its sectors, directions among its own.
pub(crate) fn written(format: &str, rows: &[Row]) -> String {
    let mut text = String::new();
    if format == "fio" {
        text.push_str("fio version 3 iolog\n0 /dev/sda add\n0 /dev/sda open\n");
    }
    for Row { at_ns, device, offset, bytes, op } in rows {
        let read = u8::from(*op == Op::Read);
        match format {
            "msr" => writeln!(text, "{},host,{device},{},{offset},{bytes},17", at_ns / 100, ["Write", "Read"][usize::from(read)]),
            "disksim" => {
                let (ms, ns) = (at_ns / 1_000_000, at_ns % 1_000_000);
                writeln!(text, "{ms}.{ns:06} {device} {} {} {read}", offset / 512, bytes / 512)
            }
            "mqsim" => writeln!(text, "{at_ns} {device} {} {} {read}", offset / 512, bytes / 512),
            "fio" => writeln!(text, "{} /dev/sda {} {offset} {bytes}", at_ns / 1000, format!("{op:?}").to_lowercase()),
            _ => panic!("{format} has no writer here"),
        }
        .expect("a String takes everything");
    }
    text
}

/// The unit of time of a format, in ns, and of its addresses, in bytes.
pub(crate) fn units(format: &str) -> (u64, u64) {
    match format {
        "msr" => (100, 1),
        "fio" => (1000, 1),
        _ => (1, 512),
    }
}

/// All rows of a text, or the first error.
pub(crate) fn rows_of(text: &[u8], format: Option<&'static Format>) -> Result<(&'static str, Vec<Row>), SourceError> {
    let mut file = TraceFile::from_reader(Path::new("trace"), std::io::Cursor::new(text.to_vec()), format)?;
    let mut rows = Vec::new();
    while let Some(row) = file.next_row()? {
        rows.push(row);
    }
    assert!(file.next_row().is_ok_and(|row| row.is_none()), "the end stays the end");
    Ok((file.format().name, rows))
}

/// The error of a text that is read under this format.
pub(crate) fn error_of(format: Option<&str>, text: &[u8]) -> String {
    let format = format.map(|name| format_named(name).unwrap());
    rows_of(text, format).expect_err("the text is wrong").0
}

/// A folder with one file in it.
pub(crate) fn file(content: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.csv");
    std::fs::File::create(&path).unwrap().write_all(content.as_ref()).unwrap();
    (folder, path)
}

/// A source over one text, which stays open after its folder is gone unless it is replayed.
pub(crate) fn source(text: &str, capacity: u64, options: TraceOptions) -> (TempDir, TraceSource) {
    let (folder, path) = file(text);
    (folder, TraceSource::open(&[path], capacity, options).unwrap())
}

/// Everything a source gives until its end.
pub(crate) fn drained(source: &mut impl RequestSource) -> Result<Vec<Request>, SourceError> {
    let mut out = Vec::new();
    loop {
        let before = out.len();
        source.fill(&mut out, 7)?;
        assert!(out.len() - before <= 7, "fill keeps to its maximum");
        if out.len() == before {
            return Ok(out);
        }
    }
}
