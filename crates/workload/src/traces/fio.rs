//! `fio`: an iolog of version 3, as `fio --write_iolog` has written it since 3.31 (fio(1), "Trace file format v3").
//!
//! | column | unit |
//! |---|---|
//! | timestamp | us since the start of the job |
//! | filename | without spaces |
//! | action | add, open, close; read, write, trim; sync, datasync, `sync_file_range`, wait |
//! | offset | bytes; absent for add, open, close |
//! | length | bytes; absent for add, open, close |
//!
//! The manual page names no unit for the timestamp. It is microseconds: fio 3.33 run at 100 requests a second stamps them 10,000 apart,
//! and its `log_io_u` prints `utime_since_now`. Only read, write and trim move data; the other actions are passed over, wait too, since fio
//! itself ignores it in version 3.

use vpass_core::request::Op;

use super::detect::Head;
use super::fields::Blanks;
use super::format::{BadRow, Clock, Format, Row, column};
use super::names::Names;
use super::reader::{Body, LineReader, Opening};

pub(super) const FORMAT: Format = Format {
    name: "fio",
    aliases: &[],
    description: "fio iolog version 3",
    columns: &[
        column("timestamp", "a whole number of microseconds"),
        column("filename", "a name without spaces"),
        column("action", "one of add, open, close, read, write, trim, sync, datasync, sync_file_range, wait"),
        column("offset", "a whole number of bytes below 2^63"),
        column("length", "a whole number of bytes"),
    ],
    clock: Clock::Relative,
    has_op: true,
    detect,
    body: Body::Lines(open),
};

const ACTION: usize = 2;
const US_NS: u64 = 1_000;

fn detect(head: &Head) -> bool {
    head.first().starts_with(b"fio version ")
}

/// Where the reading of a log stands.
struct Log {
    header_due: bool,
    files: Names,
}

fn open(_: &Opening) -> Box<dyn LineReader> {
    Box::new(Log { header_due: true, files: Names::default() })
}

impl LineReader for Log {
    #[inline]
    fn line(&mut self, line: &[u8]) -> Result<Option<Row>, BadRow> {
        if self.header_due {
            header(line)?;
            self.header_due = false;
            return Ok(None);
        }
        let mut fields = Blanks::new(line);
        let at_ns = fields.scaled(US_NS)?;
        let file = fields.text()?;
        let op = match fields.text()? {
            b"read" => Some(Op::Read),
            b"write" => Some(Op::Write),
            b"trim" => Some(Op::Trim),
            b"sync" | b"datasync" | b"sync_file_range" | b"wait" => None,
            b"add" | b"open" | b"close" => return fields.end().map(|()| None),
            _ => return Err(BadRow::Column(ACTION)),
        };
        let offset = fields.offset()?;
        let bytes = fields.number()?;
        fields.end()?;
        let Some(op) = op else { return Ok(None) };
        Ok(Some(Row { at_ns, device: self.files.number(file)?, offset, bytes, op }))
    }

    fn device_name(&self, device: u32) -> String {
        self.files.name(device)
    }
}

fn header(line: &[u8]) -> Result<(), BadRow> {
    match line.trim_ascii() {
        b"fio version 3 iolog" => Ok(()),
        b"fio version 2 iolog" => Err(BadRow::Fatal(
            "this is a version 2 iolog, which keeps no time for each request; record it again with fio 3.31 or newer, which writes version 3",
        )),
        _ => Err(BadRow::Fatal("the first line should be the header \"fio version 3 iolog\"")),
    }
}
