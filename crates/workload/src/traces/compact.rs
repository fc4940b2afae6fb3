//! `compact`: vpass's own form of a trace, for reading it often (docs/compact-trace.md): every row of any other format without loss,
//! in columns of as few bytes as they need, with a checksum per block.
//!
//! | column of a block | unit |
//! |---|---|
//! | time | ns, on the clock of the trace that it was made from |
//! | offset | bytes |
//! | size | bytes |
//! | device | index in the file's list of devices, which keeps their names |
//! | direction | read, write or trim |

mod block;
mod pack;
mod read;
mod section;
mod write;

use super::detect::Head;
use super::format::{Clock, Format, column};
use super::names::{MAX_DEVICES, MAX_NAME_BYTES};
use super::reader::Body;
use super::unit::Times;

pub(super) use write::CompactWriter;

pub(super) const FORMAT: Format = Format {
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
    // What a file's own header says goes before this.
    clock: Clock::Relative,
    times: Times::Fixed("nanoseconds"),
    has_op: true,
    detect,
    body: Body::Batches(|_| Box::new(read::Decoder::default())),
};

fn detect(head: &Head) -> bool {
    head.bytes().starts_with(section::MAGIC)
}
