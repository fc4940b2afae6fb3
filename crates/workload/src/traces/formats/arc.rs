//! `arc`: the address streams of the ARC paper (Megiddo and Modha, "ARC: A Self-Tuning, Low
//! Overhead Replacement Cache", FAST '03), `.lis` files.
//!
//! | column | unit |
//! |---|---|
//! | block | 512 B |
//! | blocks | 512 B |
//! | ignored | - |
//! | request | number, from 0 |
//!
//! Each line describes a run of blocks. Cache simulators read the columns as follows: first block,
//! number of blocks, an ignored column, and number of the request. vpass reads the columns in the
//! same way.
//!
//! No file states the size of a block. The size of 512 bytes is inferred from the trace P3 of a
//! Windows workstation. Four fifths of the requests in P3 have 8, 16, 32, 64 or 128 blocks, which
//! are then 4 to 64 KiB. The trace OLTP counts pages of a database; vpass reads these pages as
//! blocks of 512 bytes too. The format has no times and no directions, so the user must give both.

use vpass_drive::base::request::Op;

use crate::traces::rows::fields::Blanks;
use crate::traces::rows::format::{BadRow, Epoch, Format, TraceRow, column};
use crate::traces::rows::head::{Head, is_whole};
use crate::traces::rows::missing_times::MissingTimes;
use crate::traces::rows::reader::{Body, LineReader, Opening};
use crate::traces::rows::unit::Times;

pub(in crate::traces) const FORMAT: Format = Format {
    name: "arc",
    aliases: &[],
    description: "ARC address streams (.lis)",
    columns: &[
        column("block", "a whole number below 2^54, in blocks of 512 bytes"),
        column("blocks", "a whole number of 512-byte blocks"),
        column("ignored", "a whole number"),
        column("request", "a whole number"),
    ],
    clock: Epoch::None,
    times: Times::None,
    has_op: false,
    detect,
    body: Body::Lines(open),
};

fn detect(head: &Head) -> bool {
    let columns = head.first_columns();
    columns.len() == 4 && columns.iter().all(|c| is_whole(c))
}

struct Rows {
    op: Op,
    times: MissingTimes,
}

fn open(opening: &Opening) -> Box<dyn LineReader> {
    let op = opening.options.assume_op.unwrap_or(Op::Read);
    Box::new(Rows { op, times: MissingTimes::new(opening.options.clock) })
}

impl LineReader for Rows {
    #[inline]
    fn line(&mut self, line: &[u8]) -> Result<Option<TraceRow>, BadRow> {
        let mut fields = Blanks::new(line);
        let offset = fields.sector()?;
        let bytes = fields.sectors()?;
        fields.unused_number()?;
        fields.unused_number()?;
        fields.end()?;
        Ok(Some(TraceRow {
            at_ns: self.times.next(),
            device: 0,
            offset,
            bytes,
            op: self.op,
            hint: None,
        }))
    }
}
