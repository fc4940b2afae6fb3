//! `msr`: the CSV of the MSR Cambridge traces (Narayanan, Donnelly and Rowstron, "Write
//! Off-Loading", FAST '08; SNIA IOTTA).
//!
//! | column | unit |
//! |---|---|
//! | timestamp | 100 ns since 1601-01-01 (a Windows file time) |
//! | host | name |
//! | disk | number |
//! | type | Read or Write, in any case |
//! | offset | bytes |
//! | size | bytes |
//! | response | 100 ns; may be absent |
//! | hint | accepted latency: none, idle, typical or smallest; may be absent |
//!
//! A line that begins with `Timestamp,` is a header with the names of the columns.

use vpass_drive::base::latency::AccessLatency;
use vpass_drive::base::request::Op;

use crate::traces::rows::fields::Commas;
use crate::traces::rows::format::{BadRow, Epoch, Format, TraceRow, column};
use crate::traces::rows::head::Head;
use crate::traces::rows::names::Names;
use crate::traces::rows::reader::{Body, LineReader, Opening};
use crate::traces::rows::unit::Times;

pub(in crate::traces) const FORMAT: Format = Format {
    name: "msr",
    aliases: &[],
    description: "MSR Cambridge CSV",
    columns: &[
        column("timestamp", "a whole number of 100-ns ticks"),
        column("host", "a name"),
        column("disk", "a whole number"),
        column("type", "Read or Write"),
        column("offset", "a whole number below 2^63, in bytes"),
        column("size", "a whole number of bytes"),
        column("response", "a whole number of 100-ns ticks"),
        column("hint", "none, idle, typical or smallest"),
    ],
    clock: Epoch::Absolute,
    times: Times::Fixed("ticks of 100 ns"),
    has_op: true,
    detect,
    body: Body::Lines(open),
};

const TYPE: usize = 3;
const HINT: usize = 7;
const TICK_NS: u64 = 100;

fn detect(head: &Head) -> bool {
    let first = head.lines().find(|line| !is_header(line)).unwrap_or_default();
    let mut columns = first.split(|b| *b == b',');
    columns.nth(TYPE).is_some_and(|text| direction(text).is_some()) && columns.next().is_some()
}

/// Returns whether a line is a header. Some copies of the collection begin with a header.
fn is_header(line: &[u8]) -> bool {
    const NAME: &[u8] = b"timestamp,";
    line.get(..NAME.len()).is_some_and(|name| name.eq_ignore_ascii_case(NAME))
}

/// Reader of a file, with the devices of the file. The name of a device is `host,disk`.
#[derive(Default)]
struct Rows {
    disks: Names,
}

fn open(_: &Opening) -> Box<dyn LineReader> {
    Box::new(Rows::default())
}

impl LineReader for Rows {
    #[inline]
    fn line(&mut self, line: &[u8]) -> Result<Option<TraceRow>, BadRow> {
        let mut fields = Commas::new(line);
        let at_ns = match fields.scaled(TICK_NS) {
            Ok(at_ns) => at_ns,
            Err(_) if is_header(line) => return Ok(None),
            Err(bad) => return Err(bad),
        };
        // Most lines have the same host and disk as the previous line. In this case, these two
        // columns are not parsed again.
        let known =
            self.disks.last().and_then(|(disk, device)| fields.take(disk, 2).then_some(device));
        let disk = if known.is_some() { b"" } else { disk(&mut fields)? };
        let op = if fields.take(b"Read", 1) {
            Op::Read
        } else if fields.take(b"Write", 1) {
            Op::Write
        } else {
            direction(fields.text()?).ok_or(BadRow::Column(TYPE))?
        };
        let offset = fields.offset()?;
        let bytes = fields.number()?;
        let mut hint = None;
        if fields.more() {
            fields.unused_number()?;
            if fields.more() {
                hint = access_latency(fields.text()?)?;
            }
            fields.end()?;
        }
        let device = known.map_or_else(|| self.disks.number(disk), Ok)?;
        Ok(Some(TraceRow { at_ns, device, offset, bytes, op, hint }))
    }

    /// Returns the name of a device in the form of the collection's file names. The name `hm_0` is
    /// disk 0 of host hm.
    fn device_name(&self, device: u32) -> String {
        self.disks.name(device).replace(',', "_")
    }

    /// Returns whether `name` is the name of the device, such as `hm_0`, or the disk number of the
    /// device. A disk number such as 0 stands for disk 0 of every host.
    fn is_device(&self, device: u32, name: &str) -> bool {
        let disk = self.device_name(device);
        disk == name || disk.rsplit_once('_').is_some_and(|(_, number)| number == name)
    }
}

/// Parses the columns host and disk, and returns them as one text.
fn disk<'a>(fields: &mut Commas<'a>) -> Result<&'a [u8], BadRow> {
    let host = fields.place();
    fields.text()?;
    fields.device()?;
    Ok(fields.since(host))
}

/// Parses the column with the hint of a request.
fn access_latency(text: &[u8]) -> Result<Option<AccessLatency>, BadRow> {
    let hint = std::str::from_utf8(text).ok().and_then(|text| AccessLatency::parse(text).ok());
    hint.ok_or(BadRow::Column(HINT))
}

fn direction(text: &[u8]) -> Option<Op> {
    if text.eq_ignore_ascii_case(b"Read") {
        Some(Op::Read)
    } else if text.eq_ignore_ascii_case(b"Write") {
        Some(Op::Write)
    } else {
        None
    }
}
