//! File header and section headers of a compact trace (docs/compact-trace.md). A section header has
//! the kind, the length and the checksum of a section.

use super::block;
use crate::traces::rows::format::Epoch;

/// Length of a file header in bytes. A section header has the same length.
pub(super) const HEADER_BYTES: usize = 16;
/// Largest length of a section's content in bytes. The largest sections contain a block of rows;
/// all other sections are short.
pub(super) const MAX_PAYLOAD_BYTES: usize = block::MAX_BYTES;
/// First bytes of a compact trace, similar to those of a PNG file. No text file begins with the
/// first of these bytes. A transfer that changes line ends also changes these bytes, so the damage
/// is noticed.
pub(super) const MAGIC: &[u8; 8] = b"\x89vpt\r\n\x1a\n";
/// Version number of a file whose rows have no hints. If rows may have hints, the version number is
/// [`VERSION_WITH_HINTS`].
const VERSION: u16 = 1;
const VERSION_WITH_HINTS: u16 = 2;
/// Position of a byte in the file header. This byte says whether rows have hints.
const HINTS_AT: usize = 11;
const CRC_AT: usize = 12;
const DAMAGED: &str = "the header of the compact trace is damaged";

/// Kind of a section in a compact trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Section with names of devices. Later blocks refer to these devices.
    Devices,
    /// Section with a block of rows.
    Rows,
    /// Section at the end of the file, with the number of rows and the number of devices.
    End,
}

impl Kind {
    const ALL: [(Self, [u8; 4]); 3] =
        [(Self::Devices, *b"DEVS"), (Self::Rows, *b"ROWS"), (Self::End, *b"DONE")];

    fn tag(self) -> [u8; 4] {
        Self::ALL[self as usize].1
    }
}

/// Header of a section in a compact trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: Kind,
    /// Number of devices or rows in the section.
    pub(super) count: usize,
    /// Number of bytes in the section after the section header.
    pub(super) length: usize,
    crc: u32,
}

impl Header {
    /// Parses the header from the first 16 bytes of a section.
    pub(super) fn read(bytes: &[u8; HEADER_BYTES]) -> Result<Self, &'static str> {
        let word =
            |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let kind = Kind::ALL
            .iter()
            .find(|(_, tag)| bytes.starts_with(tag))
            .ok_or("no section begins at this place")?
            .0;
        let header =
            Self { kind, count: word(4) as usize, length: word(8) as usize, crc: word(CRC_AT) };
        if header.length > MAX_PAYLOAD_BYTES { Err("the section is too long") } else { Ok(header) }
    }

    /// Returns whether the checksum of a section is right. `section` is the whole section with its
    /// header.
    pub(super) fn is_sound(&self, section: &[u8]) -> bool {
        checksum(section) == self.crc
    }
}

/// Writes the header of a section to the first [`HEADER_BYTES`] bytes of `section`. These bytes are
/// reserved for the header, and the content follows the header.
pub(super) fn finish(section: &mut [u8], kind: Kind, count: usize) {
    let length = (section.len() - HEADER_BYTES) as u32;
    section[..4].copy_from_slice(&kind.tag());
    section[4..8].copy_from_slice(&(count as u32).to_le_bytes());
    section[8..CRC_AT].copy_from_slice(&length.to_le_bytes());
    let crc = checksum(section);
    section[CRC_AT..HEADER_BYTES].copy_from_slice(&crc.to_le_bytes());
}

/// Returns the CRC-32 of a section without the bytes of the checksum itself.
fn checksum(section: &[u8]) -> u32 {
    let mut hash = crc32fast::Hasher::new();
    hash.update(&section[..CRC_AT]);
    hash.update(&section[HEADER_BYTES..]);
    hash.finalize()
}

/// Epoch of the times in a file, as the number in the header of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Clock {
    /// Start of the recording.
    #[default]
    Start,
    /// Date.
    Date,
    /// Recorded run of a drive. The end of the file has the time at which the run ended.
    Run,
}

impl From<Epoch> for Clock {
    fn from(epoch: Epoch) -> Self {
        match epoch {
            Epoch::Absolute => Self::Date,
            Epoch::Run => Self::Run,
            Epoch::Relative | Epoch::None => Self::Start,
        }
    }
}

/// Properties of a file's rows, which the header of the file states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct About {
    /// Epoch of the times.
    pub(super) clock: Clock,
    /// Whether rows have a column of hints.
    pub(super) hints: bool,
}

/// Makes the header of a file.
pub(super) fn file_header(about: About) -> [u8; HEADER_BYTES] {
    let version = if about.hints { VERSION_WITH_HINTS } else { VERSION };
    let mut header = [0; HEADER_BYTES];
    header[..8].copy_from_slice(MAGIC);
    header[8..10].copy_from_slice(&version.to_le_bytes());
    header[10] = about.clock as u8;
    header[HINTS_AT] = u8::from(about.hints);
    sealed(header)
}

/// Adds the checksum to the header of a file.
pub(super) fn sealed(mut header: [u8; HEADER_BYTES]) -> [u8; HEADER_BYTES] {
    let crc = checksum(&header);
    header[CRC_AT..].copy_from_slice(&crc.to_le_bytes());
    header
}

/// Checks the header of a file, and returns the properties in it.
pub(super) fn read_file_header(bytes: &[u8; HEADER_BYTES]) -> Result<About, &'static str> {
    if !bytes.starts_with(MAGIC) {
        return Err("the file does not begin like a compact trace");
    }
    let version = u16::from_le_bytes([bytes[8], bytes[9]]);
    if !(VERSION..=VERSION_WITH_HINTS).contains(&version) {
        return Err(
            "the compact trace has a version that this vpass does not know; version 1 or 2 is \
             expected",
        );
    }
    if bytes[CRC_AT..] != checksum(bytes).to_le_bytes() {
        return Err(DAMAGED);
    }
    let clocks = [Clock::Start, Clock::Date, Clock::Run];
    let clock = *clocks.get(usize::from(bytes[10])).ok_or(DAMAGED)?;
    if bytes[HINTS_AT] > u8::from(version == VERSION_WITH_HINTS) {
        return Err("the compact trace of version 1 has a hint column, which only version 2 has");
    }
    Ok(About { clock, hints: bytes[HINTS_AT] == 1 })
}
