//! `spc`: the trace file format of the Storage Performance Council ("SPC Trace File Format
//! Specification", revision 1.0.1, 2002). The traces Financial and `WebSearch` of the `UMass`
//! collection have this format.
//!
//! | column | unit |
//! |---|---|
//! | ASU | number of the application storage unit; a device here |
//! | LBA | 512 B |
//! | size | bytes |
//! | opcode | R or W, in any case |
//! | timestamp | s since the start, decimal |
//! | optional columns | - |
//!
//! According to the specification, the description of a trace gives the size of a block. The size
//! is 512 bytes in all known collections. White space around a value is allowed since revision
//! 1.0.1.

use vpass_drive::base::request::Op;

use crate::traces::rows::fields::{Commas, is_blank};
use crate::traces::rows::format::{BadRow, Epoch, Format, TraceRow, column};
use crate::traces::rows::head::{Head, is_whole};
use crate::traces::rows::reader::{Body, LineReader};
use crate::traces::rows::unit::Times;

pub(in crate::traces) const FORMAT: Format = Format {
    name: "spc",
    aliases: &[],
    description: "SPC-1 ASCII, UMass",
    columns: &[
        column("ASU", "a whole number"),
        column("LBA", "a whole number below 2^54, in blocks of 512 bytes"),
        column("size", "a whole number of bytes"),
        column("opcode", "R or W"),
        column("timestamp", "a decimal number of seconds"),
    ],
    clock: Epoch::Relative,
    times: Times::Fixed("seconds"),
    has_op: true,
    detect,
    body: Body::Lines(|_| Box::new(Rows::default())),
};

const OPCODE: usize = 3;

fn detect(head: &Head) -> bool {
    let columns = head.first_fields();
    columns.len() >= 5
        && is_whole(columns[0].trim_ascii())
        && direction(columns[OPCODE].trim_ascii()).is_some()
}

#[derive(Default)]
struct Rows {
    /// Current line without its blanks; used only if the line has blanks.
    squeezed: Vec<u8>,
}

impl LineReader for Rows {
    #[inline]
    fn line(&mut self, line: &[u8]) -> Result<Option<TraceRow>, BadRow> {
        if memchr::memchr2(b' ', b'\t', line).is_none() {
            return parse(line);
        }
        self.squeezed.clear();
        self.squeezed.extend(line.iter().filter(|b| !is_blank(**b)));
        parse(&self.squeezed)
    }
}

#[inline]
fn parse(line: &[u8]) -> Result<Option<TraceRow>, BadRow> {
    let mut fields = Commas::new(line);
    let device = fields.device()?;
    let offset = fields.sector()?;
    let bytes = fields.number()?;
    let op = direction(fields.text()?).ok_or(BadRow::Column(OPCODE))?;
    let at_ns = fields.seconds()?;
    Ok(Some(TraceRow { at_ns, device, offset, bytes, op, hint: None }))
}

#[inline]
fn direction(text: &[u8]) -> Option<Op> {
    match text {
        b"R" | b"r" => Some(Op::Read),
        b"W" | b"w" => Some(Op::Write),
        _ => None,
    }
}
