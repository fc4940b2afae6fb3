//! `vscsi`: the binary trace of `VMware`'s vscsiStats as published by `CloudPhysics`.
//!
//! The file `traceReader/include/vscsi.h` of libCacheSim defines the two versions of a record.
//! Records are little-endian. A file has no header, and all its records have the same version.
//!
//! | field | version 1, 32 bytes | version 2, 40 bytes | unit |
//! |---|---|---|---|
//! | serial | 0, 4 bytes | 4, 4 bytes | number |
//! | length | 4, 4 bytes | 8, 4 bytes | bytes |
//! | segments | 8, 4 bytes | 12, 4 bytes | number of memory segments |
//! | command | 12, 2 bytes | 0, 2 bytes | SCSI operation code |
//! | version | 14, 2 bytes | 2, 2 bytes | in its high byte |
//! | block | 16, 8 bytes | 16, 8 bytes | 512 B |
//! | time | 24, 8 bytes | 24, 8 bytes | us |
//! | response | - | 32, 8 bytes | us |
//!
//! The definition gives only the unit of the time. The other units are inferred from a public trace
//! of version 1. Lengths in this trace are multiples of 512, so lengths are in bytes. With blocks
//! of 512 bytes, all block numbers lie within a disk of 32 GiB, which is a plausible size. The
//! first request has a time of 65 days, so times are counted from the start of the host.
//!
//! Only reads and writes are replayed. For other commands, such as UNMAP and WRITE SAME, a record
//! does not say which bytes change.

use vpass_drive::base::request::Op;

use crate::traces::rows::format::{BadRow, Body, Epoch, Format, Kind, TraceRow, column};
use crate::traces::rows::head::Head;
use crate::traces::rows::reader::{Opening, RecordReader, Taken};
use crate::traces::rows::unit::Times;

pub(in crate::traces) const FORMAT: Format = Format {
    name: "vscsi",
    aliases: &[],
    description: "VMware vscsiStats binary, CloudPhysics",
    columns: &[
        column("serial", Kind::Whole),
        column("length", Kind::Size(1)),
        column("segments", Kind::Whole),
        column("command", Kind::Own("a SCSI operation code below 256")),
        column("version", Kind::Own("1 or 2 in the high byte, equal in every record")),
        column("block", Kind::Offset(512)),
        column("time", Kind::Time(1_000)),
        column("response", Kind::Own("a whole number of microseconds")),
    ],
    clock: Epoch::Relative,
    times: Times::Fixed("microseconds"),
    has_op: true,
    detect: |head| Layout::of(head.bytes()).is_some_and(|layout| looks_right(layout, head)),
    body: Body::Records(|opening: &Opening| {
        Box::new(Records(Layout::of(opening.head).unwrap_or(V1)))
    }),
};

const COMMAND: usize = 3;
const VERSION: usize = 4;
const BLOCK: usize = 5;
const TIME: usize = 6;

/// Positions of the fields in a record of one version, in bytes.
#[derive(Clone, Copy)]
struct Layout {
    version: u8,
    bytes: usize,
    length_at: usize,
    command_at: usize,
}

const V1: Layout = Layout { version: 1, bytes: 32, length_at: 4, command_at: 12 };
const V2: Layout = Layout { version: 2, bytes: 40, length_at: 8, command_at: 0 };
/// Position of the block number in a record of either version.
const BLOCK_AT: usize = 16;
const TIME_AT: usize = 24;

impl Layout {
    /// Returns the layout of the version that fits the first record.
    fn of(head: &[u8]) -> Option<Self> {
        [V2, V1].into_iter().find(|layout| {
            head.len() >= layout.bytes && head[layout.command_at + 3] == layout.version
        })
    }
}

/// Returns whether all of the first records of a file are valid and have the same version.
fn looks_right(layout: Layout, head: &Head) -> bool {
    head.bytes().chunks_exact(layout.bytes).take(16).all(|record| row(layout, record).is_ok())
}

struct Records(Layout);

impl RecordReader for Records {
    #[inline]
    fn record(&mut self, bytes: &[u8]) -> Taken {
        let length = self.0.bytes;
        let Some(record) = bytes.get(..length) else { return Taken::More(length) };
        match row(self.0, record) {
            Ok(Some(row)) => Taken::TraceRow(length, row),
            Ok(None) => Taken::Other(length),
            Err(bad) => Taken::Bad(length, bad),
        }
    }
}

#[inline]
fn row(layout: Layout, record: &[u8]) -> Result<Option<TraceRow>, BadRow> {
    let short = |at: usize| u16::from_le_bytes([record[at], record[at + 1]]);
    if record[layout.command_at + 3] != layout.version {
        return Err(BadRow::Column(VERSION));
    }
    let op = match short(layout.command_at) {
        // Command codes of READ, WRITE, and WRITE AND VERIFY. Such commands have 6, 10, 12 or 16
        // bytes.
        0x08 | 0x28 | 0xa8 | 0x88 => Op::Read,
        0x0a | 0x2a | 0xaa | 0x8a | 0x2e | 0xae | 0x8e => Op::Write,
        0..=0xff => return Ok(None),
        _ => return Err(BadRow::Column(COMMAND)),
    };
    let block = long(record, BLOCK_AT);
    if block >= 1 << 54 {
        return Err(BadRow::Column(BLOCK));
    }
    let at_ns = long(record, TIME_AT).checked_mul(1000).ok_or(BadRow::Column(TIME))?;
    let bytes = u32::from_le_bytes(record[layout.length_at..][..4].try_into().expect("four bytes"));
    Ok(Some(TraceRow {
        at_ns,
        device: 0,
        offset: block * 512,
        bytes: u64::from(bytes),
        op,
        hint: None,
    }))
}

#[inline]
fn long(record: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(record[at..][..8].try_into().expect("eight bytes"))
}
