//! `alibaba`: the block traces of Alibaba's cloud disks (Li et al., "An In-Depth Analysis of Cloud
//! Block Storage Workloads in Large-Scale Production", IISWC '20).
//!
//! The repository alibaba/block-traces defines the columns and their units.
//!
//! | column | unit |
//! |---|---|
//! | device | number |
//! | opcode | R or W |
//! | offset | bytes |
//! | length | bytes |
//! | timestamp | us since 1970-01-01 |

use crate::traces::rows::fields::{Commas, letter};
use crate::traces::rows::format::{BadRow, Epoch, Format, TraceRow, column};
use crate::traces::rows::head::{Head, is_whole};
use crate::traces::rows::reader::{Body, line_by_line};
use crate::traces::rows::unit::Times;

pub(in crate::traces) const FORMAT: Format = Format {
    name: "alibaba",
    aliases: &[],
    description: "Alibaba cloud disks, CSV",
    columns: &[
        column("device", "a whole number"),
        column("opcode", "R or W"),
        column("offset", "a whole number below 2^63, in bytes"),
        column("length", "a whole number of bytes"),
        column("timestamp", "a whole number of microseconds"),
    ],
    clock: Epoch::Absolute,
    times: Times::Fixed("microseconds"),
    has_op: true,
    detect,
    body: Body::Lines(|_| line_by_line(parse)),
};

const OPCODE: usize = 1;
const US_NS: u64 = 1_000;

fn detect(head: &Head) -> bool {
    let columns = head.first_fields();
    columns.len() >= 5 && is_whole(columns[0]) && letter(columns[OPCODE]).is_some()
}

fn parse(line: &[u8]) -> Result<Option<TraceRow>, BadRow> {
    let mut fields = Commas::new(line);
    let device = fields.device()?;
    let op = letter(fields.text()?).ok_or(BadRow::Column(OPCODE))?;
    let offset = fields.offset()?;
    let bytes = fields.number()?;
    let at_ns = fields.scaled(US_NS)?;
    fields.end()?;
    Ok(Some(TraceRow { at_ns, device, offset, bytes, op, hint: None }))
}
