//! `fio` and `fio2`: iologs of fio (manual page fio(1), "Trace file format").
//!
//! | column | unit |
//! |---|---|
//! | timestamp | us since the start of the job; only in version 3 |
//! | filename | without spaces |
//! | action | add, open, close; read, write, trim; sync, datasync, `sync_file_range`, wait |
//! | offset | bytes; for wait us; absent for add, open, close |
//! | length | bytes; absent for add, open, close |
//!
//! Only read, write and trim move data. fio 3.31 and later write version 3 with `--write_iolog`;
//! earlier programs wrote version 2.
//!
//! - **Version 3.** The manual page does not name the unit of the timestamp. The unit is
//!   microseconds: at 100 requests per second, fio 3.33 writes timestamps that differ by 10,000.
//!   The source of fio agrees: the function `log_io_u` prints `utime_since_now`. The action `wait`
//!   is skipped, because fio itself ignores this action in version 3.
//! - **Version 2.** Requests have no times. The option `--assume-rate` gives requests evenly spaced
//!   times. vpass treats the action `wait` as the manual page says: a wait begins at the end of the
//!   previous wait, and waits below 100 us are ignored. In a closed loop, waits have no effect.

use vpass_drive::base::request::Op;

use crate::traces::rows::fields::Blanks;
use crate::traces::rows::format::{BadRow, Body, Column, Epoch, Format, Kind, TraceRow, column};
use crate::traces::rows::missing_times::MissingTimes;
use crate::traces::rows::names::Names;
use crate::traces::rows::reader::{LineReader, Opening};
use crate::traces::rows::unit::{TimeUnit, Times};

const COLUMNS: &[Column] = &[
    column("timestamp", Kind::Time(1_000)),
    column("filename", Kind::Own("a name without spaces")),
    column(
        "action",
        Kind::Own(
            "one of add, open, close, read, write, trim, sync, datasync, sync_file_range, wait",
        ),
    ),
    column("offset", Kind::Offset(1)),
    column("length", Kind::Size(1)),
];

pub(in crate::traces) const VERSION_3: Format = Format {
    name: "fio",
    aliases: &[],
    description: "fio iolog version 3",
    columns: COLUMNS,
    clock: Epoch::Relative,
    times: Times::Usual(TimeUnit::Microseconds),
    has_op: true,
    // An unknown version is included, so that the reader can report an error about the version.
    detect: |head| is_header(head.first()) && head.first().trim_ascii_end() != HEADER_2,
    body: Body::Lines(|opening| Box::new(Log::new(opening, HEADER_3))),
};

pub(in crate::traces) const VERSION_2: Format = Format {
    name: "fio2",
    description: "fio iolog version 2",
    columns: COLUMNS.split_at(1).1,
    clock: Epoch::None,
    times: Times::None,
    detect: |head| head.first().trim_ascii_end() == HEADER_2,
    body: Body::Lines(|opening| Box::new(Log::new(opening, HEADER_2))),
    ..VERSION_3
};

const HEADER_2: &[u8] = b"fio version 2 iolog";
const HEADER_3: &[u8] = b"fio version 3 iolog";
const IS_VERSION_2: BadRow =
    BadRow::Fatal("the file is a version 2 iolog; the name of this format is fio2");
const NOT_3: BadRow = BadRow::Fatal("the first line should be the header \"fio version 3 iolog\"");
const NOT_2: BadRow = BadRow::Fatal("the first line should be the header \"fio version 2 iolog\"");
/// Length of the shortest wait that has an effect, in us. Shorter waits are ignored.
const LEAST_WAIT_US: u64 = 100;

fn is_header(line: &[u8]) -> bool {
    line.starts_with(b"fio version ")
}

/// State of the reader of a log.
struct Log {
    header: &'static [u8],
    header_due: bool,
    files: Names,
    unit_ns: u64,
    /// Start time of the current log. `latest_ns` is the latest time of a row so far.
    start_ns: u64,
    latest_ns: u64,
    /// Times of the rows of version 2.
    made: Option<MissingTimes>,
}

impl Log {
    fn new(opening: &Opening, header: &'static [u8]) -> Self {
        let unit = opening.options.time_unit.unwrap_or(TimeUnit::Microseconds);
        let clock = opening.options.clock;
        Self {
            header,
            header_due: true,
            files: Names::default(),
            unit_ns: unit.ns(),
            start_ns: 0,
            latest_ns: 0,
            made: (header == HEADER_2).then(|| MissingTimes::new(clock)),
        }
    }

    /// Checks the header of a log. fio appends to an existing log, so a file may have several
    /// headers. Times after a header are counted from the latest time before the header.
    fn check_header(&mut self, line: &[u8]) -> Result<(), BadRow> {
        self.header_due = false;
        self.start_ns = self.latest_ns;
        match line.trim_ascii_end() {
            header if header == self.header => Ok(()),
            _ if self.made.is_some() => Err(NOT_2),
            HEADER_2 => Err(IS_VERSION_2),
            _ => Err(NOT_3),
        }
    }
}

impl LineReader for Log {
    #[inline]
    fn line(&mut self, line: &[u8]) -> Result<Option<TraceRow>, BadRow> {
        if self.header_due || is_header(line) {
            return self.check_header(line).map(|()| None);
        }
        let mut fields = Blanks::new(line);
        let mut at_ns = 0;
        if self.made.is_none() {
            at_ns = fields
                .scaled(self.unit_ns)?
                .checked_add(self.start_ns)
                .ok_or_else(|| fields.wrong())?;
        }
        let file = fields.text()?;
        let op = match fields.text()? {
            b"read" => Op::Read,
            b"write" => Op::Write,
            b"trim" => Op::Trim,
            b"sync" | b"datasync" | b"sync_file_range" => {
                return numbers(&mut fields).map(|_| None);
            }
            b"wait" => {
                let (us, _) = numbers(&mut fields)?;
                if let Some(made) = self.made.as_mut().filter(|_| us >= LEAST_WAIT_US) {
                    made.wait(us.checked_mul(1000).ok_or(BadRow::Column(2))?)?;
                }
                return Ok(None);
            }
            b"add" | b"open" | b"close" => return fields.end().map(|()| None),
            _ => return Err(fields.wrong()),
        };
        let (offset, bytes) = numbers(&mut fields)?;
        match &mut self.made {
            Some(made) => at_ns = made.next(),
            None => self.latest_ns = self.latest_ns.max(at_ns),
        }
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

#[inline]
fn numbers(fields: &mut Blanks) -> Result<(u64, u64), BadRow> {
    let numbers = (fields.offset(1)?, fields.number()?);
    fields.end().map(|()| numbers)
}
