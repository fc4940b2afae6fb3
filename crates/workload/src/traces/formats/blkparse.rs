//! `blkparse`: the text that blkparse(1) prints by default for a recording of blktrace(8). The
//! manual page of blkparse defines the text in the section "DEFAULT OUTPUT".
//!
//! | column | unit |
//! |---|---|
//! | device | major,minor |
//! | CPU | number |
//! | sequence | number |
//! | time | s since the start, decimal |
//! | process | number |
//! | action | Q = queued, D = issued, C = completed, and others |
//! | RWBS | R, W or D = discard, or none; F = flush may precede, other letters may follow |
//! | sector | 512 B; absent for events with a payload or without data |
//! | + | the sign |
//! | sectors | 512 B |
//! | command | in brackets, and more for some actions |
//!
//! blktrace records several events for each request. vpass takes one kind of event (action) as the
//! request. The option `--blk-action` names this action. Without the option, vpass takes the first
//! of Q, D and C that occurs at the start of the file. Q shows the requests of the application,
//! before merging and splitting. D shows the requests that the drive received. Payloads and flushes
//! have no sector and are skipped, because they move no data. The summaries that follow the events
//! are skipped.

use vpass_drive::base::phrase::Phrase;
use vpass_drive::base::request::Op;

use crate::traces::rows::blk::{Counted, without_rows};
use crate::traces::rows::fields::{Blanks, rwbs};
use crate::traces::rows::format::{BadRow, Body, Epoch, Format, Kind, TraceRow, column};
use crate::traces::rows::head::{Head, is_decimal, is_whole};
use crate::traces::rows::names::Names;
use crate::traces::rows::reader::{LineReader, Opening};
use crate::traces::rows::unit::Times;

pub(in crate::traces) const FORMAT: Format = Format {
    name: "blkparse",
    aliases: &[],
    description: "blkparse text of blktrace",
    columns: &[
        column("device", Kind::Own("major,minor such as 8,0")),
        column("CPU", Kind::Whole),
        column("sequence", Kind::Whole),
        column("time", Kind::Decimal(1_000_000_000)),
        column("process", Kind::Whole),
        column("action", Kind::Action),
        column("RWBS", Kind::Own("letters such as R, WS or D")),
        column("sector", Kind::Offset(512)),
        column("+", Kind::Own("the sign +")),
        column("sectors", Kind::Size(512)),
    ],
    clock: Epoch::Relative,
    times: Times::Fixed("seconds"),
    has_op: true,
    detect,
    body: Body::Lines(open),
};

const DEVICE: usize = 0;
const ACTION: usize = 5;

fn detect(head: &Head) -> bool {
    let columns = head.first_columns();
    columns.len() >= 6
        && is_device(columns[DEVICE])
        && is_whole(columns[1])
        && is_whole(columns[2])
        && is_decimal(columns[3])
}

/// State of the reader of a file.
struct Events {
    counted: Counted,
    devices: Names,
    /// Whether the reader has reached the summaries at the end of the file.
    in_summary: bool,
}

fn open(opening: &Opening) -> Box<dyn LineReader> {
    let counted = Counted::new(opening, ACTION);
    Box::new(Events { counted, devices: Names::default(), in_summary: false })
}

impl LineReader for Events {
    #[inline]
    fn line(&mut self, line: &[u8]) -> Result<Option<TraceRow>, BadRow> {
        let mut fields = Blanks::new(line);
        let device = fields.text()?;
        if !is_device(device) {
            self.in_summary |= begins_summary(line);
            return if self.in_summary { Ok(None) } else { Err(BadRow::Column(DEVICE)) };
        }
        fields.unused_number()?;
        fields.unused_number()?;
        let at_ns = fields.decimal(9, false)?;
        fields.unused_number()?;
        let action = fields.text()?;
        let Some((op, offset, bytes)) = self.counted.take(action, || request(fields))? else {
            return Ok(None);
        };
        let device = self.devices.number(device)?;
        Ok(Some(TraceRow { at_ns, device, offset, bytes, op, hint: None }))
    }

    fn counted(&self) -> Option<Phrase> {
        self.counted.text()
    }

    fn device_name(&self, device: u32) -> String {
        self.devices.name(device)
    }

    fn without_rows(&self) -> Phrase {
        without_rows()
    }
}

/// Returns the direction, offset and size that the columns from RWBS on state. Returns `None` for
/// an event without data.
#[inline]
fn request(mut fields: Blanks) -> Result<Option<(Op, u64, u64)>, BadRow> {
    let Some(op) = rwbs(fields.text()?).ok_or_else(|| fields.wrong())? else { return Ok(None) };
    if !fields.rest().first().is_some_and(u8::is_ascii_digit) {
        return Ok(None);
    }
    let offset = fields.offset(512)?;
    match fields.text()? {
        b"+" => {}
        // The bracket shows that the event has a payload, or that a flush failed.
        [b'(' | b'[', ..] => return Ok(None),
        _ => return Err(fields.wrong()),
    }
    Ok(Some((op, offset, fields.scaled(512)?)))
}

fn is_device(text: &[u8]) -> bool {
    let mut numbers = text.splitn(2, |b| *b == b',');
    numbers.next().is_some_and(is_whole) && numbers.next().is_some_and(is_whole)
}

/// Returns whether a line begins a summary, such as `CPU0 (sda):` or `Total (sda):`. With the
/// option -s of blkparse, the line can also name a process, such as `fio (4711)`.
fn begins_summary(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    let line = line.strip_suffix(b":").unwrap_or(line);
    line.first().is_some_and(|b| !b.is_ascii_whitespace())
        && line.ends_with(b")")
        && line.windows(2).any(|two| two == b" (")
}
