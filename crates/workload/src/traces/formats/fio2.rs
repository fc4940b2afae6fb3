//! `fio2`: an iolog of version 2, which fio wrote before version 3.31 of the program (manual page
//! fio(1), "Trace file format v2").
//!
//! | column | unit |
//! |---|---|
//! | filename | without spaces |
//! | action | add, open, close; read, write, trim; sync, datasync, `sync_file_range`, wait |
//! | offset | bytes; for wait us; absent for add, open, close |
//! | length | bytes; absent for add, open, close |
//!
//! Requests have no times. The option `--assume-rate` gives requests evenly spaced times. vpass
//! treats the action `wait` as the manual page says: a wait begins at the end of the previous wait,
//! and waits below 100 us are ignored. In a closed loop, waits have no effect.

use crate::traces::formats::fio::{ACTIONS, Entry, FILENAME, entry};
use crate::traces::rows::fields::Blanks;
use crate::traces::rows::format::{BadRow, Body, Epoch, Format, Kind, TraceRow, column};
use crate::traces::rows::head::Head;
use crate::traces::rows::missing_times::MissingTimes;
use crate::traces::rows::names::Names;
use crate::traces::rows::reader::{LineReader, Opening};
use crate::traces::rows::unit::Times;

pub(in crate::traces) const FORMAT: Format = Format {
    name: "fio2",
    aliases: &[],
    description: "fio iolog version 2",
    columns: &[
        column("filename", FILENAME),
        column("action", ACTIONS),
        column("offset", Kind::Offset(1)),
        column("length", Kind::Size(1)),
    ],
    clock: Epoch::None,
    times: Times::None,
    has_op: true,
    detect: |head: &Head| head.first().trim_ascii_end() == HEADER,
    body: Body::Lines(open),
};

pub(in crate::traces) const HEADER: &[u8] = b"fio version 2 iolog";
const ACTION: usize = 1;
const OFFSET: usize = 2;
/// Length of the shortest wait that has an effect, in us. Shorter waits are ignored.
const LEAST_WAIT_US: u64 = 100;

/// State of the reader of a log.
struct Log {
    header_due: bool,
    files: Names,
    times: MissingTimes,
}

fn open(opening: &Opening) -> Box<dyn LineReader> {
    Box::new(Log {
        header_due: true,
        files: Names::default(),
        times: MissingTimes::new(opening.options.clock),
    })
}

impl LineReader for Log {
    #[inline]
    fn line(&mut self, line: &[u8]) -> Result<Option<TraceRow>, BadRow> {
        // fio appends to an existing log, so a file may have several headers.
        if line.trim_ascii_end() == HEADER {
            self.header_due = false;
            return Ok(None);
        }
        if self.header_due {
            return Err(BadRow::Fatal(
                "the first line should be the header \"fio version 2 iolog\"",
            ));
        }
        let mut fields = Blanks::new(line);
        let file = fields.text()?;
        match entry(&mut fields, ACTION)? {
            Entry::Data { op, offset, bytes } => Ok(Some(TraceRow {
                at_ns: self.times.next(),
                device: self.files.number(file)?,
                offset,
                bytes,
                op,
                hint: None,
            })),
            Entry::Wait { us } => {
                if us >= LEAST_WAIT_US {
                    self.times.wait(us.checked_mul(1000).ok_or(BadRow::Column(OFFSET))?)?;
                }
                Ok(None)
            }
            Entry::Other => Ok(None),
        }
    }

    fn device_name(&self, device: u32) -> String {
        self.files.name(device)
    }
}
