//! Compresses a trace while it is written. The extension of the file name decides between gzip,
//! zstd and no compression.

use std::io::{self, Write};
use std::path::Path;

use flate2::write::GzEncoder;

/// Compression level of zstd, a compromise between speed and size. Level 9 takes four times as long
/// and makes files 10 % smaller.
const ZSTD_LEVEL: i32 = 3;

/// Output that is compressed if the extension of the file name names a compression. Call
/// [`Compressed::finish`] at the end; otherwise, a compressed file is truncated.
pub struct Compressed<W: Write>(Kind<W>);

enum Kind<W: Write> {
    Plain(W),
    Gzip(GzEncoder<W>),
    Zstd(zstd::Encoder<'static, W>),
}

impl<W: Write> Compressed<W> {
    /// Makes an output that writes to `out`. The output is compressed if the file name ends in
    /// `.gz` or `.zst`.
    ///
    /// # Errors
    /// Returns an error if the compressor cannot get enough memory.
    pub fn new(path: &Path, out: W) -> io::Result<Self> {
        let ends_with =
            |ending: &str| path.extension().is_some_and(|e| e.eq_ignore_ascii_case(ending));
        Ok(Self(if ends_with("gz") {
            Kind::Gzip(GzEncoder::new(out, flate2::Compression::default()))
        } else if ends_with("zst") {
            Kind::Zstd(zstd::Encoder::new(out, ZSTD_LEVEL)?)
        } else {
            Kind::Plain(out)
        }))
    }

    /// Ends the compressed stream, and returns the output to which the stream was written.
    ///
    /// # Errors
    /// Returns an error if writing to the output fails.
    pub fn finish(self) -> io::Result<W> {
        match self.0 {
            Kind::Plain(out) => Ok(out),
            Kind::Gzip(encoder) => encoder.finish(),
            Kind::Zstd(encoder) => encoder.finish(),
        }
    }
}

impl<W: Write> Write for Compressed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Kind::Plain(out) => out.write(bytes),
            Kind::Gzip(encoder) => encoder.write(bytes),
            Kind::Zstd(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Kind::Plain(out) => out.flush(),
            Kind::Gzip(encoder) => encoder.flush(),
            Kind::Zstd(encoder) => encoder.flush(),
        }
    }
}
