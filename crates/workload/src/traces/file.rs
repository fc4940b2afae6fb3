//! One trace file as a stream of rows: its format found, every line read, and every complaint with file, line and text.
//! What is checked here holds for any drive; what depends on a drive or a clock is checked in `source`.

use std::fmt::Display;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use vpass_core::request::SourceError;

use super::detect::Head;
use super::format::{BadLine, Format, Row, known};
use super::input::{self, Input};
use super::lines::{LineError, Lines, MAX_LINE_BYTES};
use super::quote::quote;

/// Largest request: no operating system sends larger ones to a drive, so a larger size means that a column was misread.
pub const MAX_REQUEST_BYTES: u64 = 16 << 20;

/// An open trace file.
pub struct TraceFile {
    path: PathBuf,
    lines: Lines,
    format: &'static Format,
    header_due: bool,
    rows: u64,
}

impl TraceFile {
    /// Opens a file; without a format, finds it from the first lines.
    ///
    /// # Errors
    /// A sentence: the file cannot be opened or decompressed, holds nothing, or no format fits.
    pub fn open(path: &Path, format: Option<&'static Format>) -> Result<Self, SourceError> {
        Self::begin(path, input::open(path)?, format)
    }

    /// The same for bytes from elsewhere; `name` stands for the path in messages.
    ///
    /// # Errors
    /// As for [`TraceFile::open`].
    pub fn from_reader(name: &Path, input: impl Read + Send + 'static, format: Option<&'static Format>) -> Result<Self, SourceError> {
        Self::begin(name, input::decompressed(name, input)?, format)
    }

    fn begin(path: &Path, input: Input, format: Option<&'static Format>) -> Result<Self, SourceError> {
        let mut lines = Lines::new(input);
        let format = match (lines.peek(), format) {
            (Ok(_), Some(given)) => Ok(given),
            (Ok(head), None) => detected(path, head),
            (Err(e), _) => Err(SourceError(format!("{}: {}", path.display(), line_sentence(&e)))),
        }?;
        Ok(Self { path: path.to_owned(), lines, format, header_due: format.header.is_some(), rows: 0 })
    }

    /// The format taken.
    pub fn format(&self) -> &'static Format {
        self.format
    }

    /// The next row; none at the end of the file.
    ///
    /// # Errors
    /// The first line that cannot be read, or an end of the file without any row.
    #[inline]
    pub fn next_row(&mut self) -> Result<Option<Row>, SourceError> {
        loop {
            match self.lines.advance() {
                Ok(true) => {}
                Ok(false) => return self.end(),
                Err(e) => return Err(self.line_error(&e)),
            }
            if self.header_due || is_blank_line(self.lines.text()) {
                self.odd_line()?;
                continue;
            }
            match (self.format.parse)(self.lines.text()) {
                Ok(Some(row)) if (1..=MAX_REQUEST_BYTES).contains(&row.bytes) => {
                    self.rows += 1;
                    return Ok(Some(row));
                }
                Ok(Some(row)) => return Err(self.bad_size(row.bytes)),
                Ok(None) => {}
                Err(bad) => return Err(self.bad_line(bad)),
            }
        }
    }

    /// A complaint about the current line.
    #[cold]
    pub(super) fn complain(&self, what: impl Display) -> SourceError {
        let text = quote(self.lines.text());
        SourceError(format!("{}, line {}: {what}; the line is {text}", self.path.display(), self.lines.number()))
    }

    /// A blank line, or the header where one is due.
    #[cold]
    fn odd_line(&mut self) -> Result<(), SourceError> {
        if let Some(header) = self.format.header
            && !is_blank_line(self.lines.text())
        {
            header(self.lines.text()).map_err(|bad| self.bad_line(bad))?;
            self.header_due = false;
        }
        Ok(())
    }

    #[cold]
    fn end(&self) -> Result<Option<Row>, SourceError> {
        if self.rows == 0 {
            return Err(SourceError(format!("{}: holds no requests", self.path.display())));
        }
        Ok(None)
    }

    #[cold]
    fn bad_line(&self, bad: BadLine) -> SourceError {
        self.complain(format_args!("{} ({} format)", self.format.explain(bad), self.format.name))
    }

    #[cold]
    fn bad_size(&self, bytes: u64) -> SourceError {
        self.complain(format_args!("a request of {bytes} bytes; a size from 1 byte to 16 MiB is expected"))
    }

    #[cold]
    fn line_error(&self, e: &LineError) -> SourceError {
        match e {
            LineError::Io(_) => SourceError(format!("{}: after line {}: {}", self.path.display(), self.lines.number(), line_sentence(e))),
            LineError::TooLong | LineError::Nul => self.complain(line_sentence(e)),
        }
    }
}

/// The format that the beginning of a file shows.
fn detected(path: &Path, head: &[u8]) -> Result<&'static Format, SourceError> {
    let sentence = |what: String| Err(SourceError(format!("{}: {what}", path.display())));
    let Some(head) = Head::new(head) else {
        return sentence("holds no requests".into());
    };
    let first = head.first();
    if head.lines().any(|line| line.contains(&0) || (line.len() <= MAX_LINE_BYTES && std::str::from_utf8(line).is_err())) {
        return sentence(format!(
            "is no text; a text trace, plain or compressed with gzip or zstd, is expected; it begins with {}",
            quote(first)
        ));
    }
    head.format().map_or_else(
        || {
            sentence(format!(
                "the format is not recognised; the first line is {}; known formats: {}; name one with --format",
                quote(first),
                known()
            ))
        },
        Ok,
    )
}

fn line_sentence(e: &LineError) -> String {
    match e {
        LineError::Io(e) if e.kind() == io::ErrorKind::UnexpectedEof => "the compressed file ends too early; it is truncated".into(),
        LineError::Io(e) => format!("cannot be read further: {e}"),
        LineError::TooLong => "the line is longer than 64 KiB".into(),
        LineError::Nul => "the line holds a NUL byte, so this is no text".into(),
    }
}

#[inline]
fn is_blank_line(line: &[u8]) -> bool {
    line.first().is_none_or(u8::is_ascii_whitespace) && line.trim_ascii().is_empty()
}
