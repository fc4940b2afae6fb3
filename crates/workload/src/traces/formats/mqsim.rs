//! `mqsim`: the ASCII trace of `MQSim`. The source file `src/host/ASCII_Trace_Definition.h` of
//! `MQSim` defines the columns and the type codes. `SSDsim` writes the same format.
//!
//! | column | unit |
//! |---|---|
//! | time | ns; other writers use other units (`--time-unit`) |
//! | device | number |
//! | sector | 512 B |
//! | sectors | 512 B |
//! | type | 1 = read, 0 = write |

use vpass_drive::base::request::Op;

use crate::traces::rows::fields::Blanks;
use crate::traces::rows::format::{BadRow, Epoch, Format, TraceRow, column, time_column};
use crate::traces::rows::head::{Head, has_decimal_time, is_whole};
use crate::traces::rows::reader::{Body, LineReader, Opening, line_by_line};
use crate::traces::rows::unit::{TimeUnit, Times};

pub(in crate::traces) const FORMAT: Format = Format {
    name: "mqsim",
    aliases: &["ssdsim"],
    description: "MQSim and SSDsim ASCII",
    columns: &[
        time_column("time", "a whole number of nanoseconds"),
        column("device", "a whole number"),
        column("sector", "a whole number below 2^54, in sectors of 512 bytes"),
        column("sectors", "a whole number of 512-byte sectors"),
        column("type", "1 for a read or 0 for a write"),
    ],
    clock: Epoch::Relative,
    times: Times::Usual(TimeUnit::Nanoseconds),
    has_op: true,
    detect,
    body: Body::Lines(open),
};

const TYPE: usize = 4;

fn detect(head: &Head) -> bool {
    let columns = head.first_columns();
    columns.len() == 5 && columns.iter().all(|c| is_whole(c)) && !has_decimal_time(head)
}

fn open(opening: &Opening) -> Box<dyn LineReader> {
    let unit_ns = opening.options.time_unit.unwrap_or(TimeUnit::Nanoseconds).ns();
    line_by_line(move |line| parse(line, unit_ns))
}

fn parse(line: &[u8], unit_ns: u64) -> Result<Option<TraceRow>, BadRow> {
    let mut fields = Blanks::new(line);
    let at_ns = fields.scaled(unit_ns)?;
    let device = fields.device()?;
    let offset = fields.sector()?;
    let bytes = fields.sectors()?;
    let op = match fields.number()? {
        1 => Op::Read,
        0 => Op::Write,
        _ => return Err(BadRow::Column(TYPE)),
    };
    fields.end()?;
    Ok(Some(TraceRow { at_ns, device, offset, bytes, op, hint: None }))
}
