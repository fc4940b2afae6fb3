//! `srt`: the traces of HP's laboratories, version 1.3 (Ruemmler and Wilkes, "UNIX Disk Access
//! Patterns", USENIX Winter '93), as `DiskSim` reads them.
//!
//! HP's `SRTlite` defines the record, and `disksim_hptrace.h` of `DiskSim` repeats the definition.
//! A trace begins with a text header that ends with a form feed. Records of big-endian 32-bit
//! fields follow.
//!
//! | field | byte | unit |
//! |---|---|---|
//! | size | 0 | bytes of the record |
//! | kind | 4 | version 1 to 4 above 16 bits of type: 1 = request, 4 = request with extra flags |
//! | seconds | 8 | s since the start |
//! | microseconds | 12 | us after seconds |
//! | start, stop | 16, 20 | us after seconds and microseconds |
//! | bytes | 24 | bytes |
//! | sector | 28 | the disk's sectors, counted over the whole disk |
//! | device | 32 | driver, disk, section: the second lowest byte is the disk, a device here |
//! | driver | 36 | number |
//! | cylinder | 40 | number |
//! | flags | 44 | bit 0: 1 = read, 0 = write |
//! | origin, queue, oddities | 48, ... | not needed; 52, 56 or 60 bytes in all |
//!
//! The header gives the sector size of each disk (`sectorsize`). A sector number counts sectors of
//! this size, from the start of the disk and not from the start of a section. These rules are
//! inferred from a public trace. With these rules, the sector of each record gives the cylinder
//! that the record states. Records of other types contain no request.

use vpass_drive::base::request::Op;

use crate::traces::formats::srt_header::{Disks, disks};
use crate::traces::rows::format::{BadRow, Epoch, Format, TraceRow, column};
use crate::traces::rows::head::Head;
use crate::traces::rows::reader::{Body, RecordReader, Taken};
use crate::traces::rows::unit::Times;

pub(in crate::traces) const FORMAT: Format = Format {
    name: "srt",
    aliases: &[],
    description: "HP SRT 1.3 binary",
    columns: &[
        column("size", "the record's length, 52 to 64 bytes in steps of 4"),
        column("kind", "a version from 1 to 4 in the high bits, and a type in the low bits"),
        column("seconds", "a whole number"),
        column("microseconds", "a whole number below a million"),
        column("start", "a whole number of microseconds"),
        column("stop", "a whole number of microseconds"),
        column("bytes", "a whole number of bytes"),
        column("sector", "a whole number, in sectors of the disk"),
        column("device", "a disk whose sectorsize the header gives"),
        column("driver", "a whole number"),
        column("cylinder", "a whole number"),
        column("flags", "bit 0 set for a read"),
    ],
    clock: Epoch::Relative,
    times: Times::Fixed("seconds and microseconds"),
    has_op: true,
    detect: |head: &Head| head.bytes().starts_with(MAGIC),
    body: Body::Records(|_| Box::new(Records { disks: None })),
};

const MAGIC: &[u8] = b"$$TR_IOREC-1.3";
const FORM_FEED: u8 = 0x0c;
const SIZE: usize = 0;
const KIND: usize = 1;
const SECONDS: usize = 2;
const MICROSECONDS: usize = 3;
const BYTES: usize = 6;
const SECTOR: usize = 7;
const DEVICE: usize = 8;
const FLAGS: usize = 11;
/// Record types that describe requests.
const REQUESTS: [u32; 2] = [1, 4];
const LONGEST: usize = 4096;

/// State of the reader of a file.
struct Records {
    /// Sector sizes of the disks, known after the header was read.
    disks: Option<Disks>,
}

impl RecordReader for Records {
    #[inline]
    fn record(&mut self, bytes: &[u8]) -> Taken {
        let Some(disks) = &self.disks else { return self.header(bytes) };
        let Some(size) = bytes.first_chunk::<4>() else { return Taken::More(4) };
        let size = u32::from_be_bytes(*size) as usize;
        if !(8..=LONGEST).contains(&size) || !size.is_multiple_of(4) {
            return Taken::Bad(
                0,
                BadRow::Fatal("the record's length is invalid, so the next record cannot be found"),
            );
        }
        let Some(record) = bytes.get(..size) else { return Taken::More(size) };
        match row(disks, record) {
            Ok(Some(row)) => Taken::TraceRow(size, row),
            Ok(None) => Taken::Other(size),
            Err(bad) => Taken::Bad(size, bad),
        }
    }
}

impl Records {
    #[cold]
    fn header(&mut self, bytes: &[u8]) -> Taken {
        if !bytes.starts_with(&MAGIC[..bytes.len().min(MAGIC.len())]) {
            return Taken::Bad(0, BadRow::Fatal("the file should begin with $$TR_IOREC-1.3"));
        }
        let Some(length) = memchr::memchr(FORM_FEED, bytes) else {
            return Taken::More(bytes.len() + 1);
        };
        self.disks = Some(disks(&bytes[..length]));
        Taken::Other(length + 1)
    }
}

#[inline]
fn row(disks: &Disks, record: &[u8]) -> Result<Option<TraceRow>, BadRow> {
    let field = |i: usize| u32::from_be_bytes(record[4 * i..][..4].try_into().expect("four bytes"));
    if !(1..=4).contains(&(field(KIND) >> 16)) {
        return Err(BadRow::Column(KIND));
    }
    if !REQUESTS.contains(&(field(KIND) & 0xffff)) {
        return Ok(None);
    }
    if !(52..=64).contains(&record.len()) {
        return Err(BadRow::Column(SIZE));
    }
    if field(MICROSECONDS) >= 1_000_000 {
        return Err(BadRow::Column(MICROSECONDS));
    }
    let at_ns = (u64::from(field(SECONDS)) * 1_000_000 + u64::from(field(MICROSECONDS))) * 1000;
    let device = field(DEVICE) >> 8 & 0xff;
    let sector_bytes = disks[device as usize].ok_or(BadRow::Column(DEVICE))?;
    let op = if field(FLAGS) & 1 == 1 { Op::Read } else { Op::Write };
    Ok(Some(TraceRow {
        at_ns,
        device,
        offset: u64::from(field(SECTOR)) * u64::from(sector_bytes),
        bytes: field(BYTES).into(),
        op,
        hint: None,
    }))
}
