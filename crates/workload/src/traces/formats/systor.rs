//! `systor`: the traces of an enterprise virtual desktop storage (Lee et al., "Understanding
//! Storage Traffic Characteristics on Enterprise Virtual Desktop Infrastructure", SYSTOR '17; SNIA
//! IOTTA).
//!
//! | column | unit |
//! |---|---|
//! | timestamp | s since 1970-01-01, decimal; issue of the request |
//! | response | s, decimal; may be empty |
//! | type | R or W |
//! | LUN | number; a device here |
//! | offset | bytes |
//! | size | bytes |
//!
//! The header `Timestamp,Response,IOType,LUN,Offset,Size` may occur anywhere in a file, because
//! files may be concatenated. The header is skipped. Rows are roughly in the order of completion,
//! so the time of a row is often before the time of the previous row.

use crate::traces::rows::fields::{Commas, letter};
use crate::traces::rows::format::{BadRow, Epoch, Format, TraceRow, column};
use crate::traces::rows::head::{Head, is_decimal};
use crate::traces::rows::reader::{Body, line_by_line};
use crate::traces::rows::unit::Times;

pub(in crate::traces) const FORMAT: Format = Format {
    name: "systor",
    aliases: &[],
    description: "SYSTOR '17 desktop storage, CSV",
    columns: &[
        column("Timestamp", "a decimal number of seconds"),
        column("Response", "a decimal number of seconds, or empty"),
        column("IOType", "R or W"),
        column("LUN", "a whole number"),
        column("Offset", "a whole number below 2^63, in bytes"),
        column("Size", "a whole number of bytes"),
    ],
    clock: Epoch::Absolute,
    times: Times::Fixed("seconds"),
    has_op: true,
    detect,
    body: Body::Lines(|_| line_by_line(parse)),
};

const HEADER: &[u8] = b"Timestamp,Response,IOType,LUN,Offset,Size";
const TYPE: usize = 2;

fn detect(head: &Head) -> bool {
    let columns = head.first_fields();
    head.first() == HEADER
        || columns.len() == 6 && is_decimal(columns[0]) && letter(columns[TYPE]).is_some()
}

fn parse(line: &[u8]) -> Result<Option<TraceRow>, BadRow> {
    if line.first() == Some(&b'T') && line.trim_ascii_end() == HEADER {
        return Ok(None);
    }
    let mut fields = Commas::new(line);
    let at_ns = fields.seconds()?;
    fields.skip()?;
    let op = letter(fields.text()?).ok_or(BadRow::Column(TYPE))?;
    let device = fields.device()?;
    let offset = fields.offset()?;
    let bytes = fields.number()?;
    fields.end()?;
    Ok(Some(TraceRow { at_ns, device, offset, bytes, op, hint: None }))
}
