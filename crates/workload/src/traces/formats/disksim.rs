//! `disksim`: the default ASCII trace of `DiskSim` 4, whose lines have the form `%lf %d %d %d %x`
//! (Bucy et al., reference manual CMU-PDL-08-101).
//!
//! | column | unit |
//! |---|---|
//! | time | ms, decimal; other writers use other units (`--time-unit`) |
//! | device | number |
//! | block | 512 B |
//! | blocks | 512 B |
//! | flags | hexadecimal; bit 0: 1 = read, 0 = write |

use vpass_drive::base::request::Op;

use crate::traces::rows::fields::Blanks;
use crate::traces::rows::format::{BadRow, Epoch, Format, TraceRow, column, time_column};
use crate::traces::rows::head::{Head, has_decimal_time, is_decimal, is_whole};
use crate::traces::rows::reader::{Body, LineReader, Opening, line_by_line};
use crate::traces::rows::unit::{TimeUnit, Times};

pub(in crate::traces) const FORMAT: Format = Format {
    name: "disksim",
    aliases: &[],
    description: "DiskSim ASCII",
    columns: &[
        time_column("time", "a decimal number of milliseconds"),
        column("device", "a whole number"),
        column("block", "a whole number below 2^54, in blocks of 512 bytes"),
        column("blocks", "a whole number of 512-byte blocks"),
        column("flags", "hexadecimal flags with bit 0 set for a read"),
    ],
    clock: Epoch::Relative,
    times: Times::Usual(TimeUnit::Milliseconds),
    has_op: true,
    detect,
    body: Body::Lines(open),
};

const FLAGS: usize = 4;

/// Returns whether the first line has five numbers and at least one time in the first lines has a
/// decimal point. A file without decimal points looks like the format `mqsim`.
fn detect(head: &Head) -> bool {
    let columns = head.first_columns();
    columns.len() == 5
        && is_decimal(columns[0])
        && columns[1..4].iter().all(|c| is_whole(c))
        && has_decimal_time(head)
}

/// Makes the reader of a file. The options give the time unit. Decimal places below 1 ns are
/// dropped.
fn open(opening: &Opening) -> Box<dyn LineReader> {
    match opening.options.time_unit.unwrap_or(TimeUnit::Milliseconds) {
        TimeUnit::Seconds => line_by_line(parse::<9>),
        TimeUnit::Milliseconds => line_by_line(parse::<6>),
        TimeUnit::Microseconds => line_by_line(parse::<3>),
        TimeUnit::Nanoseconds => line_by_line(parse::<0>),
    }
}

fn parse<const PLACES: usize>(line: &[u8]) -> Result<Option<TraceRow>, BadRow> {
    let mut fields = Blanks::new(line);
    let at_ns = fields.decimal::<PLACES>()?;
    let device = fields.device()?;
    let offset = fields.sector()?;
    let bytes = fields.sectors()?;
    let op = direction(fields.text()?).ok_or(BadRow::Column(FLAGS))?;
    fields.end()?;
    Ok(Some(TraceRow { at_ns, device, offset, bytes, op, hint: None }))
}

/// Returns the direction of a row, which is bit 0 of the hexadecimal flags.
fn direction(flags: &[u8]) -> Option<Op> {
    let digits = flags.strip_prefix(b"0x").unwrap_or(flags);
    if digits.is_empty() || digits.len() > 8 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let last = char::from(digits[digits.len() - 1]).to_digit(16)?;
    Some(if last & 1 == 1 { Op::Read } else { Op::Write })
}
