//! Opens a trace file, which is plain, gzip or zstd. The first bytes of the file show the
//! compression; the file name does not matter. A compressed file may have several members or
//! frames.

use crate::traces::shown::shown;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;
use vpass_drive::base::request::SourceError;

/// Stream of the decompressed bytes of a trace.
pub(in crate::traces) type Input = Box<dyn Read + Send>;

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// Compressions that are recognised but not supported. The error names the compression, because the
/// error "not a trace" would mislead the user.
const REFUSED: [(&str, &[u8]); 4] = [
    ("xz", &[0xfd, b'7', b'z', b'X', b'Z', 0]),
    ("bzip2", b"BZh"),
    ("zip", b"PK\x03\x04"),
    ("lz4", &[0x04, 0x22, 0x4d, 0x18]),
];
/// Length of the longest magic number in [`REFUSED`], in bytes.
const MAGIC_BYTES: u64 = 6;

/// Number of bytes read from a file so far, before decompression.
pub(in crate::traces) type RawBytes = Arc<AtomicU64>;

/// File that counts the bytes read from it.
struct Counted {
    file: File,
    read: RawBytes,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// Opens a file. The returned number counts the bytes that are read from the file.
pub(in crate::traces) fn open(path: &Path) -> Result<(Input, RawBytes), SourceError> {
    let sentence =
        |e: io::Error| SourceError::new(format!("{}: cannot be opened: {e}", shown(path)));
    let file = File::open(path).map_err(sentence)?;
    if file.metadata().map_err(sentence)?.is_dir() {
        return Err(SourceError::new(format!(
            "{}: is a directory; a trace file is expected",
            shown(path)
        )));
    }
    let read = RawBytes::default();
    Ok((decompressed(path, Counted { file, read: read.clone() })?, read))
}

/// Returns a stream of the content of `input`. If the first bytes of `input` show a compression,
/// the content is decompressed. Messages use `name` as the name of the input.
pub(in crate::traces) fn decompressed(
    name: &Path,
    mut input: impl Read + Send + 'static,
) -> Result<Input, SourceError> {
    let sentence = |e: io::Error| SourceError::new(format!("{}: cannot be read: {e}", shown(name)));
    let mut magic = Vec::new();
    input.by_ref().take(MAGIC_BYTES).read_to_end(&mut magic).map_err(sentence)?;
    if let Some((compression, _)) = REFUSED.iter().find(|(_, bytes)| magic.starts_with(bytes)) {
        return Err(SourceError::new(format!(
            "{}: is compressed with {compression}; plain text, gzip or zstd is expected",
            shown(name)
        )));
    }
    let (gzip, zstd) = (magic.starts_with(GZIP), magic.starts_with(ZSTD));
    let whole = Cursor::new(magic).chain(input);
    Ok(if gzip {
        Box::new(MultiGzDecoder::new(whole))
    } else if zstd {
        Box::new(zstd::Decoder::new(whole).map_err(sentence)?)
    } else {
        Box::new(whole)
    })
}
