//! `fio`: an iolog of version 3, which fio 3.31 and later write with `--write_iolog` (manual page
//! fio(1), "Trace file format v3").
//!
//! | column | unit |
//! |---|---|
//! | timestamp | us since the start of the job |
//! | filename | without spaces |
//! | action | add, open, close; read, write, trim; sync, datasync, `sync_file_range`, wait |
//! | offset | bytes; absent for add, open, close |
//! | length | bytes; absent for add, open, close |
//!
//! The manual page does not name the unit of the timestamp. The unit is microseconds: at 100
//! requests per second, fio 3.33 writes timestamps that differ by 10,000. The source of fio agrees:
//! the function `log_io_u` prints `utime_since_now`.
//!
//! Only read, write and trim move data. Other actions are skipped. The action `wait` is also
//! skipped, because fio itself ignores this action in version 3.

use vpass_drive::base::request::Op;

use crate::traces::formats::fio2;
use crate::traces::rows::fields::Blanks;
use crate::traces::rows::format::{BadRow, Body, Epoch, Format, Kind, TraceRow, column};
use crate::traces::rows::head::Head;
use crate::traces::rows::names::Names;
use crate::traces::rows::reader::{LineReader, Opening};
use crate::traces::rows::unit::{TimeUnit, Times};

pub(in crate::traces) const FORMAT: Format = Format {
    name: "fio",
    aliases: &[],
    description: "fio iolog version 3",
    columns: &[
        column("timestamp", Kind::Time(1_000)),
        column("filename", FILENAME),
        column("action", ACTIONS),
        column("offset", Kind::Offset(1)),
        column("length", Kind::Size(1)),
    ],
    clock: Epoch::Relative,
    times: Times::Usual(TimeUnit::Microseconds),
    has_op: true,
    detect,
    body: Body::Lines(open),
};

/// Columns that versions 2 and 3 of the log share.
pub(in crate::traces) const FILENAME: Kind = Kind::Own("a name without spaces");
pub(in crate::traces) const ACTIONS: Kind =
    Kind::Own("one of add, open, close, read, write, trim, sync, datasync, sync_file_range, wait");

const TIMESTAMP: usize = 0;
const ACTION: usize = 2;

const HEADER: &[u8] = b"fio version 3 iolog";

/// Returns whether a file is a fio log of any version except 2. An unknown version is included, so
/// that the reader can report an error about the version.
fn detect(head: &Head) -> bool {
    head.first().starts_with(b"fio version ") && head.first().trim_ascii_end() != fio2::HEADER
}

/// State of the reader of a log.
struct Log {
    unit_ns: u64,
    header_due: bool,
    files: Names,
    /// Start time of the current log. `latest_ns` is the latest time of a row so far.
    start_ns: u64,
    latest_ns: u64,
}

fn open(opening: &Opening) -> Box<dyn LineReader> {
    let unit_ns = opening.options.time_unit.unwrap_or(TimeUnit::Microseconds).ns();
    Box::new(Log { unit_ns, header_due: true, files: Names::default(), start_ns: 0, latest_ns: 0 })
}

impl LineReader for Log {
    #[inline]
    fn line(&mut self, line: &[u8]) -> Result<Option<TraceRow>, BadRow> {
        if self.header_due || line.starts_with(b"fio ") {
            return self.header(line).map(|()| None);
        }
        let mut fields = Blanks::new(line);
        let at_ns = fields
            .scaled(self.unit_ns)?
            .checked_add(self.start_ns)
            .ok_or(BadRow::Column(TIMESTAMP))?;
        let file = fields.text()?;
        let Entry::Data { op, offset, bytes } = entry(&mut fields, ACTION)? else {
            return Ok(None);
        };
        self.latest_ns = self.latest_ns.max(at_ns);
        Ok(Some(TraceRow {
            at_ns,
            device: self.files.number(file)?,
            offset,
            bytes,
            op,
            hint: None,
        }))
    }

    fn device_name(&self, device: u32) -> String {
        self.files.name(device)
    }
}

impl Log {
    /// Checks the header of a log. fio appends to an existing log, so a file may have several
    /// headers. Times after a header are counted from the latest time before the header.
    fn header(&mut self, line: &[u8]) -> Result<(), BadRow> {
        self.header_due = false;
        self.start_ns = self.latest_ns;
        match line.trim_ascii_end() {
            HEADER => Ok(()),
            fio2::HEADER => {
                Err(BadRow::Fatal("the file is a version 2 iolog; the name of this format is fio2"))
            }
            _ => Err(BadRow::Fatal("the first line should be the header \"fio version 3 iolog\"")),
        }
    }
}

/// Action of a line in a log.
pub(in crate::traces) enum Entry {
    Data { op: Op, offset: u64, bytes: u64 },
    Wait { us: u64 },
    Other,
}

/// Parses the column with the action, and the columns after the action. `action` is the number of
/// the action's column, counted from 0. Versions 2 and 3 of the log share these columns.
#[inline]
pub(in crate::traces) fn entry(fields: &mut Blanks, action: usize) -> Result<Entry, BadRow> {
    let kind = match fields.text()? {
        b"read" => Some(Op::Read),
        b"write" => Some(Op::Write),
        b"trim" => Some(Op::Trim),
        b"sync" | b"datasync" | b"sync_file_range" => None,
        b"wait" => return Ok(Entry::Wait { us: numbers(fields)?.0 }),
        b"add" | b"open" | b"close" => return fields.end().map(|()| Entry::Other),
        _ => return Err(BadRow::Column(action)),
    };
    let (offset, bytes) = numbers(fields)?;
    Ok(kind.map_or(Entry::Other, |op| Entry::Data { op, offset, bytes }))
}

#[inline]
fn numbers(fields: &mut Blanks) -> Result<(u64, u64), BadRow> {
    let numbers = (fields.offset(1)?, fields.number()?);
    fields.end().map(|()| numbers)
}
