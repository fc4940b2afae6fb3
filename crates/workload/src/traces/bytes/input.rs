//! The bytes of a trace file, plain, gzip or zstd, told apart by the first bytes and never by the name.
//! Compressed files may consist of several members or frames.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;
use vpass_core::base::request::SourceError;

/// An open trace, decompressed.
pub(in crate::traces) type Input = Box<dyn Read + Send>;

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// Compressions that are recognised to be refused by name: a "not a trace" would send the user looking in the wrong place.
const REFUSED: [(&str, &[u8]); 4] =
    [("xz", &[0xfd, b'7', b'z', b'X', b'Z', 0]), ("bzip2", b"BZh"), ("zip", b"PK\x03\x04"), ("lz4", &[0x04, 0x22, 0x4d, 0x18])];
/// The longest of these magic numbers.
const MAGIC_BYTES: u64 = 6;

/// How many bytes of a file were read, before decompression.
pub(in crate::traces) type BytesRead = Arc<AtomicU64>;

/// A file that counts what is read of it.
struct Counted {
    file: File,
    read: BytesRead,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// Opens a file, and counts what is read of it.
pub(in crate::traces) fn open(path: &Path) -> Result<(Input, BytesRead), SourceError> {
    let sentence = |e: io::Error| SourceError(format!("{}: cannot be opened: {e}", path.display()));
    let file = File::open(path).map_err(sentence)?;
    if file.metadata().map_err(sentence)?.is_dir() {
        return Err(SourceError(format!("{}: is a directory; a trace file is expected", path.display())));
    }
    let read = BytesRead::default();
    Ok((decompressed(path, Counted { file, read: read.clone() })?, read))
}

/// The content of `input`, decompressed where it begins like a compressed file; `name` is for messages.
pub(in crate::traces) fn decompressed(name: &Path, mut input: impl Read + Send + 'static) -> Result<Input, SourceError> {
    let sentence = |e: io::Error| SourceError(format!("{}: cannot be read: {e}", name.display()));
    let mut magic = Vec::new();
    input.by_ref().take(MAGIC_BYTES).read_to_end(&mut magic).map_err(sentence)?;
    if let Some((compression, _)) = REFUSED.iter().find(|(_, bytes)| magic.starts_with(bytes)) {
        return Err(SourceError(format!("{}: is compressed with {compression}; plain text, gzip or zstd is expected", name.display())));
    }
    let (gzip, zstd) = (magic.starts_with(GZIP), magic.starts_with(ZSTD));
    let whole = Cursor::new(magic).chain(input);
    Ok(if gzip {
        Box::new(MultiGzDecoder::new(BufReader::with_capacity(1 << 16, whole)))
    } else if zstd {
        Box::new(zstd::Decoder::new(whole).map_err(sentence)?)
    } else {
        Box::new(whole)
    })
}
