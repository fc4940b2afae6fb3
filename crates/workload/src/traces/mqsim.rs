//! `mqsim`: the ASCII trace of `MQSim` (its `src/host/ASCII_Trace_Definition.h` has the columns and the type codes); `SSDsim` writes the same.
//!
//! | column | unit |
//! |---|---|
//! | time | ns |
//! | device | number |
//! | sector | 512 B |
//! | sectors | 512 B |
//! | type | 1 = read, 0 = write |

use vpass_core::request::Op;

use super::detect::{Head, has_decimal_time, is_whole};
use super::fields::Blanks;
use super::format::{BadRow, Clock, Format, Row, column};
use super::reader::{Body, line_by_line};

pub(super) const FORMAT: Format = Format {
    name: "mqsim",
    aliases: &["ssdsim"],
    description: "MQSim and SSDsim ASCII",
    columns: &[
        column("time", "a whole number of nanoseconds"),
        column("device", "a whole number"),
        column("sector", "a whole number of 512-byte sectors below 2^54"),
        column("sectors", "a whole number of 512-byte sectors"),
        column("type", "1 for a read or 0 for a write"),
    ],
    clock: Clock::Relative,
    has_op: true,
    detect,
    body: Body::Lines(|_| line_by_line(parse)),
};

const TYPE: usize = 4;

fn detect(head: &Head) -> bool {
    let columns = head.first_columns();
    columns.len() == 5 && columns.iter().all(|c| is_whole(c)) && !has_decimal_time(head)
}

fn parse(line: &[u8]) -> Result<Option<Row>, BadRow> {
    let mut fields = Blanks::new(line);
    let at_ns = fields.number()?;
    let device = fields.device()?;
    let offset = fields.sector()?;
    let bytes = fields.sectors()?;
    let op = match fields.number()? {
        1 => Op::Read,
        0 => Op::Write,
        _ => return Err(BadRow::Column(TYPE)),
    };
    fields.end()?;
    Ok(Some(Row { at_ns, device, offset, bytes, op }))
}
