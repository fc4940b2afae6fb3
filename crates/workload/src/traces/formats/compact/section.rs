//! The frame of a compact trace: the file's header, and sections with their kind, length and
//! checksum (docs/compact-trace.md).

use super::block;

/// Size of the file's header and of a section's.
pub(super) const HEADER_BYTES: usize = 16;
/// Longest payload: a block's, which is the only long one.
pub(super) const MAX_PAYLOAD_BYTES: usize = block::MAX_BYTES;
/// As PNG's: no text has the first byte, and a transfer that changes line ends is found at once.
pub(super) const MAGIC: &[u8; 8] = b"\x89vpt\r\n\x1a\n";
/// Version that is written where no row has a hint, and of rows that may have some.
const VERSION: u16 = 1;
const VERSION_WITH_HINTS: u16 = 2;
/// Where the header says whether rows have hints.
const HINTS_AT: usize = 11;
const CRC_AT: usize = 12;

/// What a section holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Devices that the blocks behind it name.
    Devices,
    /// A block of rows.
    Rows,
    /// The end, and what came before it.
    End,
}

impl Kind {
    const ALL: [(Self, [u8; 4]); 3] =
        [(Self::Devices, *b"DEVS"), (Self::Rows, *b"ROWS"), (Self::End, *b"DONE")];

    fn tag(self) -> [u8; 4] {
        Self::ALL[self as usize].1
    }
}

/// A section's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: Kind,
    /// Devices or rows.
    pub(super) count: usize,
    /// Bytes behind the header.
    pub(super) length: usize,
    crc: u32,
}

impl Header {
    /// From the first 16 bytes of a section.
    pub(super) fn read(bytes: &[u8; HEADER_BYTES]) -> Result<Self, &'static str> {
        let word =
            |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let kind = Kind::ALL
            .iter()
            .find(|(_, tag)| bytes.starts_with(tag))
            .ok_or("there is no section where one should begin")?
            .0;
        let header =
            Self { kind, count: word(4) as usize, length: word(8) as usize, crc: word(CRC_AT) };
        if header.length > MAX_PAYLOAD_BYTES { Err("the section is too long") } else { Ok(header) }
    }

    /// Whether a whole section, header and all, is as it was written.
    pub(super) fn is_sound(&self, section: &[u8]) -> bool {
        checksum(section) == self.crc
    }
}

/// Makes a section of a payload that stands behind [`HEADER_BYTES`] kept free for its header.
pub(super) fn finish(section: &mut [u8], kind: Kind, count: usize) {
    let length = (section.len() - HEADER_BYTES) as u32;
    section[..4].copy_from_slice(&kind.tag());
    section[4..8].copy_from_slice(&(count as u32).to_le_bytes());
    section[8..CRC_AT].copy_from_slice(&length.to_le_bytes());
    let crc = checksum(section);
    section[CRC_AT..HEADER_BYTES].copy_from_slice(&crc.to_le_bytes());
}

/// The CRC-32 of everything but its own place.
fn checksum(section: &[u8]) -> u32 {
    let mut hash = crc32fast::Hasher::new();
    hash.update(&section[..CRC_AT]);
    hash.update(&section[HEADER_BYTES..]);
    hash.finalize()
}

/// What a file's header says of its rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct About {
    /// Their times count from a date.
    pub(super) absolute_clock: bool,
    /// They have a column of hints.
    pub(super) hints: bool,
}

/// The file's header.
pub(super) fn file_header(about: About) -> [u8; HEADER_BYTES] {
    let version = if about.hints { VERSION_WITH_HINTS } else { VERSION };
    let mut header = [0; HEADER_BYTES];
    header[..8].copy_from_slice(MAGIC);
    header[8..10].copy_from_slice(&version.to_le_bytes());
    header[10] = u8::from(about.absolute_clock);
    header[HINTS_AT] = u8::from(about.hints);
    sealed(header)
}

/// A file's header with its checksum.
pub(super) fn sealed(mut header: [u8; HEADER_BYTES]) -> [u8; HEADER_BYTES] {
    let crc = checksum(&header);
    header[CRC_AT..].copy_from_slice(&crc.to_le_bytes());
    header
}

/// Checks a file's header; gives what it says.
pub(super) fn read_file_header(bytes: &[u8; HEADER_BYTES]) -> Result<About, &'static str> {
    if !bytes.starts_with(MAGIC) {
        return Err("the file does not begin like a compact trace");
    }
    let version = u16::from_le_bytes([bytes[8], bytes[9]]);
    if !(VERSION..=VERSION_WITH_HINTS).contains(&version) {
        return Err(
            "the compact trace is of a version that this vpass does not know; version 1 or 2 is expected",
        );
    }
    if bytes[CRC_AT..] != checksum(bytes).to_le_bytes() || bytes[10] > 1 {
        return Err("the header of the compact trace is damaged");
    }
    if bytes[HINTS_AT] > u8::from(version == VERSION_WITH_HINTS) {
        return Err("the compact trace of version 1 has a hint column, which only version 2 has");
    }
    Ok(About { absolute_clock: bytes[10] == 1, hints: bytes[HINTS_AT] == 1 })
}
