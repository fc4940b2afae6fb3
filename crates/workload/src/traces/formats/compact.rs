//! `compact`: vpass's own format for traces that are read often (docs/compact-trace.md).
//!
//! A compact trace keeps every row of a trace in any other format, without loss. A record of 24
//! bytes holds a row. Records stand in blocks, and each block has a checksum.
//!
//! | field | bytes | meaning |
//! |---|---|---|
//! | time | 8 | ns, on the clock of the original trace; of an end, the time at which the run ended |
//! | offset | 8 | bytes below 2^63; of an end, the number of rows; of a failure, the failing part |
//! | size | 4 | bytes; of a device, the length of its name, which follows the record |
//! | device | 2 | index of a device that was named before |
//! | kind | 1 | 0 read, 1 write, 2 trim, 5 flush, 6 failure; 3 names the next device, 4 ends the file |
//! | hint | 1 | 0 none, 1 idle, 2 typical, 3 smallest, as NVMe numbers access latencies |

mod read;
mod write;

use vpass_drive::base::failure::Unit;
use vpass_drive::base::latency::AccessLatency;
use vpass_drive::base::request::Op;

use crate::traces::rows::format::{Body, Epoch, Format, Kind, column};
use crate::traces::rows::head::Head;
use crate::traces::rows::names::{MAX_DEVICES, MAX_NAME_BYTES};
use crate::traces::rows::unit::Times;

pub(in crate::traces) use write::CompactWriter;

pub(in crate::traces) const FORMAT: Format = Format {
    name: "compact",
    aliases: &["vpt"],
    description: "vpass's own compact form",
    columns: &[
        column("time", Kind::Time(1)),
        column("offset", Kind::Offset(1)),
        column("size", Kind::Size(1)),
        column("device", Kind::Own("the index of a device that was named before")),
        column("direction", Kind::Own("read, write or trim")),
    ],
    // The header of each file states the epoch of the file, which replaces this value.
    clock: Epoch::Relative,
    times: Times::Fixed("nanoseconds"),
    has_op: true,
    detect,
    body: Body::Records(|_| Box::new(read::Decoder::default())),
};

fn detect(head: &Head) -> bool {
    head.bytes().starts_with(MAGIC)
}

/// First bytes of a compact trace, similar to those of a PNG file. No text file begins with the
/// first of these bytes. A transfer that changes line ends also changes these bytes, so the damage
/// is noticed.
const MAGIC: &[u8; 8] = b"\x89vpt\r\n\x1a\n";
const VERSION: u8 = 3;
/// Length of the header of a file: the magic, the version, the clock, two bytes of 0, and the
/// checksum of these.
const HEADER_BYTES: usize = 16;
/// Length of the head of a block: the length of its records, and their checksum.
const HEAD_BYTES: usize = 8;
const RECORD_BYTES: usize = 24;
/// Length at which a block ends: 4,096 rows. A block of this size fits into the second-level cache
/// of a core.
const BLOCK_BYTES: usize = 4096 * RECORD_BYTES;
/// Largest length of a block, which may end in a device, its name, and the end of the file.
const MAX_BLOCK_BYTES: usize = BLOCK_BYTES + 2 * RECORD_BYTES + MAX_NAME_BYTES;

/// Clocks of a file, each with its number in the header.
const CLOCKS: [Epoch; 3] = [Epoch::Relative, Epoch::Absolute, Epoch::Run];
/// Directions of a row, each with the number of its kind.
const OPS: [Op; 3] = [Op::Read, Op::Write, Op::Trim];
/// Kind of a record that names a device.
const DEVICE: u8 = 3;
/// Kind of the last record of a file.
const END: u8 = 4;
/// Kind of a flush.
const FLUSH: u8 = 5;
/// Kind of a failure of flash. Its device is an index of [`UNITS`]. Its size is 0 for a failure at
/// a time, and 1 for a failure before the request whose number replaces the time.
const FAILURE: u8 = 6;
/// Parts that fail.
const UNITS: [fn(u32) -> Unit; 4] = [Unit::Die, Unit::Plane, Unit::Block, Unit::Page];
/// Hint for each number in a file.
const HINTS: [Option<AccessLatency>; 4] =
    [None, Some(AccessLatency::Idle), Some(AccessLatency::Typical), Some(AccessLatency::Smallest)];

/// Makes the header of a file.
fn header(clock: u8) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..8].copy_from_slice(MAGIC);
    (header[8], header[10]) = (VERSION, clock);
    let crc = crc32fast::hash(&header[..12]);
    header[12..].copy_from_slice(&crc.to_le_bytes());
    header
}
