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

use crate::traces::rows::format::{BadRow, Body, Epoch, Format, Kind, TraceRow, column};
use crate::traces::rows::head::Head;
use crate::traces::rows::reader::{RecordReader, Taken};
use crate::traces::rows::unit::Times;

pub(in crate::traces) const FORMAT: Format = Format {
    name: "srt",
    aliases: &[],
    description: "HP SRT 1.3 binary",
    columns: &[
        column("size", Kind::Own("the record's length, 52 to 64 bytes in steps of 4")),
        column(
            "kind",
            Kind::Own("a version from 1 to 4 in the high bits, and a type in the low bits"),
        ),
        column("seconds", Kind::Whole),
        column("microseconds", Kind::Own("a whole number below a million")),
        column("start", Kind::Own("a whole number of microseconds")),
        column("stop", Kind::Own("a whole number of microseconds")),
        column("bytes", Kind::Size(1)),
        column("sector", Kind::Own("a whole number, in sectors of the disk")),
        column("device", Kind::Own("a disk whose sectorsize the header gives")),
        column("driver", Kind::Whole),
        column("cylinder", Kind::Whole),
        column("flags", Kind::Own("bit 0 set for a read")),
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

/// Sector size of each disk in bytes, or `None` for a disk that the header does not describe.
type Disks = [Option<u32>; 256];

/// Parses a header. The header is text such as `disks = { 0 -> { sectorsize = 256, sections = { 8
/// -> { .. } } }, 1 -> { .. } };`. Only the sector size of each disk is used. If the header gives
/// no sector size for a disk, the disk has no sector size in the result.
fn disks(header: &[u8]) -> Disks {
    let mut disks = [None; 256];
    let mut depth = 0;
    let mut in_disks = false;
    let mut disk = None;
    let mut before: [&[u8]; 2] = [b"", b""];
    for word in words(header) {
        match (word, before) {
            (b"{", [name, b"="]) if depth == 0 => in_disks = name == b"disks",
            (b"{", [number, b"->"]) if depth == 1 && in_disks => {
                disk = parse::<usize>(number).filter(|n| *n < disks.len());
            }
            (size, [b"sectorsize", b"="]) if depth == 2 && in_disks => {
                if let Some(disk) = disk {
                    disks[disk] = parse::<u32>(size).filter(|bytes| (1..=1 << 16).contains(bytes));
                }
            }
            _ => {}
        }
        match word {
            b"{" => depth += 1,
            b"}" => depth -= 1,
            _ => {}
        }
        before = [before[1], word];
    }
    disks
}

/// Splits a header into names, numbers, quoted texts, `->`, and single signs. Commas and blanks
/// separate these parts.
fn words(header: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = header;
    std::iter::from_fn(move || {
        let parts = |b: &u8| b.is_ascii_whitespace() || *b == b',' || *b == 0;
        rest = &rest[rest.iter().position(|b| !parts(b))?..];
        let length = match rest {
            [b'"', text @ ..] => {
                text.iter().position(|b| *b == b'"').map_or(rest.len(), |end| end + 2)
            }
            [b'-', b'>', ..] => 2,
            [b'{' | b'}' | b'(' | b')' | b'=' | b';', ..] => 1,
            _ => {
                rest.iter().position(|b| parts(b) || b"{}()=;\"".contains(b)).unwrap_or(rest.len())
            }
        };
        let (word, left) = rest.split_at(length);
        rest = left;
        Some(word)
    })
}

fn parse<T: std::str::FromStr>(word: &[u8]) -> Option<T> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_disk_has_its_own_sector_size() {
        let header = br#"$$TR_IOREC-1.3 (x)
            sectorsize = 1; disks = {
                0 -> { disktype = a, adaptor = 1 -> { b, sectorsize = 2 }, sectorsize  = 256,
                       sections = { 8 -> { "}", size = (1 2) } } },
                7 -> {sectorsize=512},
                9 -> { ncyl = 3 } };
            others = { 3 -> { sectorsize = 64 } };"#;
        let known: Vec<_> = disks(header)
            .into_iter()
            .enumerate()
            .filter_map(|(i, bytes)| Some((i, bytes?)))
            .collect();
        assert_eq!(known, [(0, 256), (7, 512)]);
    }

    #[test]
    fn nonsense_describes_nothing() {
        for header in [
            &b""[..],
            b"\"",
            b"}}}{",
            b"disks = { 999 -> { sectorsize = 512 } 0 -> { sectorsize = x } }",
        ] {
            assert!(disks(header).iter().all(Option::is_none));
        }
    }
}
