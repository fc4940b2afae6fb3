//! `compact`: vpass's own format for traces that are read often (docs/compact-trace.md).
//!
//! A compact trace keeps every row of a trace in any other format, without loss. Rows are stored in
//! blocks. The columns of a block are packed into few bytes, and each block has a checksum.
//!
//! | column of a block | unit |
//! |---|---|
//! | time | ns, on the clock of the original trace |
//! | offset | bytes |
//! | size | bytes |
//! | device | index in the file's list of devices, which keeps their names |
//! | direction | read, write or trim |

mod block;
mod pack;
mod read;
mod section;
mod write;

use crate::traces::rows::format::{Epoch, Format, column};
use crate::traces::rows::head::Head;
use crate::traces::rows::names::{MAX_DEVICES, MAX_NAME_BYTES};
use crate::traces::rows::reader::Body;
use crate::traces::rows::unit::Times;

pub(in crate::traces) use write::CompactWriter;

pub(in crate::traces) const FORMAT: Format = Format {
    name: "compact",
    aliases: &["vpt"],
    description: "vpass's own compact form",
    columns: &[
        column("time", "nanoseconds"),
        column("offset", "bytes below 2^63"),
        column("size", "bytes"),
        column("device", "the index of a device that was listed before"),
        column("direction", "read, write or trim"),
    ],
    // The header of each file states the epoch of the file, which replaces this value.
    clock: Epoch::Relative,
    times: Times::Fixed("nanoseconds"),
    has_op: true,
    detect,
    body: Body::Batches(|_| Box::new(read::Decoder::default())),
};

fn detect(head: &Head) -> bool {
    head.bytes().starts_with(section::MAGIC)
}
