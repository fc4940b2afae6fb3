//! `tencent`: the traces of Tencent's cloud block storage, CBS (Zhang et al., "OSCA: An
//! Online-Model Based Cache Allocation Scheme in Cloud Block Storage Systems", USENIX ATC '20).
//!
//! The README of the traces at SNIA IOTTA defines the columns and their units.
//!
//! | column | unit |
//! |---|---|
//! | timestamp | s since 1970-01-01, whole |
//! | offset | 512 B |
//! | size | 512 B |
//! | type | 0 = read, 1 = write |
//! | volume | number; a device here |
//!
//! The clock of the trace ticks once per second. All requests of a second have the same time, and
//! keep the order of the file.

use vpass_drive::base::request::Op;

use crate::traces::rows::fields::Commas;
use crate::traces::rows::format::{BadRow, Epoch, Format, TraceRow, column};
use crate::traces::rows::head::{Head, is_whole};
use crate::traces::rows::reader::{Body, line_by_line};
use crate::traces::rows::unit::Times;

pub(in crate::traces) const FORMAT: Format = Format {
    name: "tencent",
    aliases: &["cbs"],
    description: "Tencent cloud block storage, CSV",
    columns: &[
        column("timestamp", "a whole number of seconds, less than 2^64 ns in total"),
        column("offset", "a whole number below 2^54, in sectors of 512 bytes"),
        column("size", "a whole number of 512-byte sectors"),
        column("type", "0 for a read or 1 for a write"),
        column("volume", "a whole number"),
    ],
    clock: Epoch::Absolute,
    times: Times::Fixed("seconds"),
    has_op: true,
    detect,
    body: Body::Lines(|_| line_by_line(parse)),
};

const TYPE: usize = 3;
const S_NS: u64 = 1_000_000_000;

fn detect(head: &Head) -> bool {
    let columns = head.first_fields();
    columns.len() == 5 && columns.iter().all(|c| is_whole(c))
}

fn parse(line: &[u8]) -> Result<Option<TraceRow>, BadRow> {
    let mut fields = Commas::new(line);
    let at_ns = fields.scaled(S_NS)?;
    let offset = fields.sector()?;
    let bytes = fields.sectors()?;
    let op = match fields.number()? {
        0 => Op::Read,
        1 => Op::Write,
        _ => return Err(BadRow::Column(TYPE)),
    };
    let device = fields.device()?;
    fields.end()?;
    Ok(Some(TraceRow { at_ns, device, offset, bytes, op, hint: None }))
}
