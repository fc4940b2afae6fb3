//! Helpers that several tests use: rows written in each format, and trace files in a temporary
//! folder.
#![allow(dead_code, reason = "each test uses a part")]

pub(crate) mod writers;

use std::io::Write;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use vpass_drive::base::request::{Op, Request, RequestSource, SourceError};
use vpass_workload::traces::{
    Epoch, Format, Losses, MissingClock, Target, TraceFile, TraceOptions, TraceRow, TraceSource,
    TraceWriter, format_named,
};

/// Makes a row. The short name suits tables of rows.
pub(crate) fn row(at_ns: u64, device: u32, offset: u64, bytes: u64, op: Op) -> TraceRow {
    TraceRow { at_ns, device, offset, bytes, op, hint: None }
}

/// Writes the rows with the library; device numbers are the names. Returns the bytes and the
/// losses.
pub(crate) fn rewritten(target: Target, rows: &[TraceRow]) -> (Vec<u8>, Losses) {
    let mut writer = TraceWriter::new(target, vec![], Epoch::Relative);
    for row in rows {
        writer.row(row, |number| number.to_string()).unwrap();
    }
    writer.finish().unwrap()
}

/// Returns all rows of a text, or the first error.
pub(crate) fn rows_of(
    text: &[u8],
    format: Option<&'static Format>,
) -> Result<(&'static str, Vec<TraceRow>), SourceError> {
    let (file, rows) = read_all(text, &all_said(format))?;
    Ok((file.format().name, rows))
}

/// Returns options under which any file can be read. They give all facts that a format lacks.
pub(crate) fn all_said(format: Option<&'static Format>) -> TraceOptions {
    TraceOptions {
        format,
        assume_op: Some(Op::Write),
        clock: MissingClock::Rate(1e6),
        ..TraceOptions::default()
    }
}

/// Reads a file to its end. Returns the file and its rows, or the first error.
pub(crate) fn read_all(
    text: &[u8],
    options: &TraceOptions,
) -> Result<(TraceFile, Vec<TraceRow>), SourceError> {
    let mut file =
        TraceFile::from_reader(Path::new("trace"), std::io::Cursor::new(text.to_vec()), options)?;
    let mut rows = Vec::new();
    while let Some(row) = file.next_row()? {
        rows.push(row);
    }
    assert!(file.next_row().is_ok_and(|row| row.is_none()), "the end stays the end");
    Ok((file, rows))
}

/// Returns the error of a text under this format.
pub(crate) fn error_of(format: Option<&str>, text: &[u8]) -> String {
    let format = format.map(|name| format_named(name).unwrap());
    rows_of(text, format).expect_err("the text is wrong").to_string()
}

/// Makes a folder with one file.
pub(crate) fn file(content: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.csv");
    std::fs::File::create(&path).unwrap().write_all(content.as_ref()).unwrap();
    (folder, path)
}

/// Opens a source over one text. Unless it is replayed, the source can be read after its folder is
/// gone.
pub(crate) fn source(text: &str, capacity: u64, options: TraceOptions) -> (TempDir, TraceSource) {
    let (folder, path) = file(text);
    (folder, TraceSource::open(&[path], capacity, options).unwrap())
}

/// Returns all requests until the end of a source.
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
