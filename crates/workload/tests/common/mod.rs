//! What several tests need: rows written in each format, and trace files in a folder that goes away.
#![allow(dead_code, reason = "each test uses a part")]

use std::io::Write;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use vpass_core::request::{Op, Request, RequestSource, SourceError};
use vpass_workload::traces::{
    Clock, Format, Losses, MissingClock, ReadOptions, Row, Target, TraceFile, TraceOptions, TraceSource, TraceWriter, format_named,
};

/// A row, short enough for a table of them.
pub(crate) fn row(at_ns: u64, device: u32, offset: u64, bytes: u64, op: Op) -> Row {
    Row { at_ns, device, offset, bytes, op }
}

/// The rows as a file of that format. Times must be whole in its unit, addresses in its sectors, directions among its own.
pub(crate) fn written(format: &str, rows: &[Row]) -> Vec<u8> {
    if format == "compact" {
        return rewritten(Target::Compact, rows).0;
    }
    let mut out = match format {
        "fio" => b"fio version 3 iolog\n0 /dev/sda add\n0 /dev/sda open\n".to_vec(),
        _ => vec![],
    };
    for (i, Row { at_ns, device, offset, bytes, op }) in rows.iter().enumerate() {
        let read = u8::from(*op == Op::Read);
        let (sector, sectors) = (offset / 512, bytes / 512);
        match format {
            "msr" => writeln!(out, "{},host,{device},{},{offset},{bytes},17", at_ns / 100, ["Write", "Read"][usize::from(read)]),
            "disksim" => {
                let (ms, ns) = (at_ns / 1_000_000, at_ns % 1_000_000);
                writeln!(out, "{ms}.{ns:06} {device} {sector} {sectors} {read}")
            }
            "mqsim" => writeln!(out, "{at_ns} {device} {sector} {sectors} {read}"),
            "fio" => writeln!(out, "{} /dev/sd{device} {} {offset} {bytes}", at_ns / 1000, format!("{op:?}").to_lowercase()),
            "arc" => writeln!(out, "{sector} {sectors} 0 {i}"),
            "vscsi" => {
                let command = [0x2a_u16, 0x28][usize::from(read)];
                let words = [i as u32, *bytes as u32, 1].map(u32::to_le_bytes).concat();
                let codes = [command, 0x0100].map(u16::to_le_bytes).concat();
                let longs = [sector, at_ns / 1000].map(u64::to_le_bytes).concat();
                out.write_all(&[words, codes, longs].concat())
            }
            _ => panic!("{format} has no writer here"),
        }
        .expect("a Vec takes everything");
    }
    out
}

/// The rows as the library writes them, each device by its number, and what that loses.
pub(crate) fn rewritten(target: Target, rows: &[Row]) -> (Vec<u8>, Losses) {
    let mut writer = TraceWriter::new(target, vec![], Clock::Relative).unwrap();
    for row in rows {
        writer.row(row, |number| number.to_string()).unwrap();
    }
    writer.finish().unwrap()
}

/// What a format can hold.
pub(crate) struct Holds {
    /// Unit of time, in ns; 0 where there is no clock.
    pub(crate) time: u64,
    /// Unit of addresses, in bytes.
    pub(crate) address: u64,
    /// How a device is named.
    pub(crate) device: fn(u32) -> String,
    pub(crate) ops: &'static [Op],
}

pub(crate) fn holds(format: &str) -> Holds {
    use Op::{Read, Trim, Write};
    let number = |n: u32| n.to_string();
    let only = |_: u32| "0".to_owned();
    let text = Holds { time: 1, address: 512, device: number, ops: &[Read, Write] };
    match format {
        "msr" => Holds { time: 100, address: 1, device: |n| format!("host_{n}"), ..text },
        "fio" => Holds { time: 1000, address: 1, device: |n| format!("/dev/sd{n}"), ops: &[Read, Write, Trim] },
        "arc" => Holds { time: 0, device: only, ops: &[Write], ..text },
        "vscsi" => Holds { time: 1000, device: only, ..text },
        "compact" => Holds { address: 1, ops: &[Read, Write, Trim], ..text },
        _ => text,
    }
}

/// All rows of a text, or the first error.
pub(crate) fn rows_of(text: &[u8], format: Option<&'static Format>) -> Result<(&'static str, Vec<Row>), SourceError> {
    let (file, rows) = read_all(text, &all_said(format))?;
    Ok((file.format().name, rows))
}

/// Options under which any file can be read: what a format does not keep is said.
pub(crate) fn all_said(format: Option<&'static Format>) -> ReadOptions {
    ReadOptions { format, assume_op: Some(Op::Write), clock: MissingClock::Rate(1e6), ..ReadOptions::default() }
}

/// The file at its end and its rows, or the first error.
pub(crate) fn read_all(text: &[u8], options: &ReadOptions) -> Result<(TraceFile, Vec<Row>), SourceError> {
    let mut file = TraceFile::from_reader(Path::new("trace"), std::io::Cursor::new(text.to_vec()), options)?;
    let mut rows = Vec::new();
    while let Some(row) = file.next_row()? {
        rows.push(row);
    }
    assert!(file.next_row().is_ok_and(|row| row.is_none()), "the end stays the end");
    Ok((file, rows))
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
