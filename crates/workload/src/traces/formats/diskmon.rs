//! `diskmon`: logs of Windows disks by `DiskMon` of Sysinternals. The web page of `DiskMon` says
//! that offsets are in sectors of 512 bytes.
//!
//! | column | unit |
//! |---|---|
//! | number | from 0 |
//! | time | s since the start, decimal |
//! | duration | s, decimal |
//! | disk | number |
//! | request | Read or Write |
//! | sector | 512 B |
//! | length | 512 B |
//!
//! The web page does not define the columns of a saved log, so vpass infers the units from a public
//! log of 87,160 requests. Time and duration are in seconds: with this unit, the log takes 3.3
//! hours, and the durations are plausible latencies of a disk. Lengths are in sectors: with this
//! unit, many requests begin where another request ends. If `DiskMon` runs with the option Show
//! Clock Time, the second column is a time of day, which vpass cannot read.

use vpass_drive::base::request::Op;

use crate::traces::rows::fields::Blanks;
use crate::traces::rows::format::{BadRow, Epoch, Format, TraceRow, column};
use crate::traces::rows::head::{Head, is_decimal, is_whole};
use crate::traces::rows::reader::{Body, line_by_line};
use crate::traces::rows::unit::Times;

pub(in crate::traces) const FORMAT: Format = Format {
    name: "diskmon",
    aliases: &[],
    description: "Sysinternals DiskMon log",
    columns: &[
        column("number", "a whole number"),
        column("time", "a decimal number of seconds"),
        column("duration", "a decimal number of seconds"),
        column("disk", "a whole number"),
        column("request", "Read or Write"),
        column("sector", "a whole number below 2^54, in sectors of 512 bytes"),
        column("length", "a whole number of 512-byte sectors"),
    ],
    clock: Epoch::Relative,
    times: Times::Fixed("seconds"),
    has_op: true,
    detect,
    body: Body::Lines(|_| line_by_line(parse)),
};

const REQUEST: usize = 4;

fn detect(head: &Head) -> bool {
    let columns = head.first_columns();
    columns.len() >= 7
        && is_whole(columns[0])
        && is_decimal(columns[1])
        && direction(columns[REQUEST]).is_some()
}

fn parse(line: &[u8]) -> Result<Option<TraceRow>, BadRow> {
    let mut fields = Blanks::new(line);
    fields.unused_number()?;
    let at_ns = fields.seconds()?;
    fields.skip()?;
    let device = fields.device()?;
    let op = direction(fields.text()?).ok_or(BadRow::Column(REQUEST))?;
    let offset = fields.sector()?;
    let bytes = fields.sectors()?;
    fields.end()?;
    Ok(Some(TraceRow { at_ns, device, offset, bytes, op, hint: None }))
}

#[inline]
fn direction(text: &[u8]) -> Option<Op> {
    match text {
        b"Read" => Some(Op::Read),
        b"Write" => Some(Op::Write),
        _ => None,
    }
}
