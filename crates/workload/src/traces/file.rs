//! Reads one trace file as a stream of rows. The reader detects the format and reads each line or
//! record. Each error is reported with its place in the file and a quotation.
//!
//! The checks in this source file do not depend on a drive. [`TraceSource`](super::TraceSource)
//! makes the checks that depend on a drive or a clock.

use crate::traces::shown::shown;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use vpass_drive::base::failure::Failure;
use vpass_drive::base::phrase::{Opt, Phrase};
use vpass_drive::base::request::{Op, SourceError};
use vpass_drive::phrase;

use crate::traces::bytes::input::{self, Input, RawBytes};
use crate::traces::bytes::lines::Lines;
use crate::traces::bytes::window::Window;
use crate::traces::detect::detected;
use crate::traces::options::TraceOptions;
use crate::traces::rows::column_reader::ColumnReader;
use crate::traces::rows::format::{BadRow, Body, Epoch, Format, TraceEvent, TraceRow};
use crate::traces::rows::head::BYTE_ORDER_MARK;
use crate::traces::rows::quote::quote;
use crate::traces::rows::reader::{LineReader, Odd, Opening, RecordReader};
use crate::traces::rows::records::Records;

/// Size of the largest valid read or write, in bytes. No operating system sends larger requests to
/// a drive. A larger size means that vpass misread a column.
pub const MAX_REQUEST_BYTES: u64 = 16 << 20;
/// Size of the largest valid discard, in bytes. Linux merges discards up to this size.
pub const MAX_TRIM_BYTES: u64 = u32::MAX as u64;

/// Open trace file.
pub struct TraceFile {
    path: PathBuf,
    raw: RawBytes,
    content: Content,
    /// Row that was read last.
    row: TraceRow,
    /// Events between the row before and the current row.
    events: Vec<TraceEvent>,
    /// Number of flushes so far, and all failures so far.
    flushes: u64,
    failures: Vec<Failure>,
    format: &'static Format,
    skips: bool,
    skipped: Skipped,
    /// Whether at least one valid row was read from the file.
    has_rows: bool,
}

/// Lines or records of a trace that `--skip-bad-lines` skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Number of skipped lines or records.
    pub count: u64,
    /// Error of the first skipped line or record.
    pub first: Option<Phrase>,
}

impl Skipped {
    /// Adds the skipped lines and records of another file, which was read later.
    pub(super) fn add(&mut self, later: &Self) {
        self.count += later.count;
        if self.first.is_none() {
            self.first.clone_from(&later.first);
        }
    }
}

enum Content {
    Lines(Lines, Box<dyn LineReader>),
    Records(Records, Box<dyn RecordReader>),
}

impl TraceFile {
    /// Opens a trace file. Without a format in the options, the first bytes decide the format.
    ///
    /// # Errors
    /// Returns an error if the file is empty or cannot be opened or decompressed. Returns an error
    /// if no format or several formats recognise the file. Returns an error if the options lack an
    /// option that the format needs.
    pub fn open(path: &Path, options: &TraceOptions) -> Result<Self, SourceError> {
        let (input, raw) = input::open(path)?;
        Self::begin(path, input, raw, options)
    }

    /// Opens a trace whose bytes come from a reader instead of a file. Messages use `name` as the
    /// path.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`TraceFile::open`].
    pub fn from_reader(
        name: &Path,
        input: impl Read + Send + 'static,
        options: &TraceOptions,
    ) -> Result<Self, SourceError> {
        Self::begin(name, input::decompressed(name, input)?, RawBytes::default(), options)
    }

    fn begin(
        path: &Path,
        input: Input,
        raw: RawBytes,
        options: &TraceOptions,
    ) -> Result<Self, SourceError> {
        let mut window = Window::new(input);
        window
            .refill()
            .map_err(|e| SourceError::new(format!("{}: {}", shown(path), io_sentence(&e))))?;
        let format = options.format.map_or_else(|| detected(path, window.pending()), Ok)?;
        options.suffice(path, format)?;
        if format.is_text() && window.pending().starts_with(BYTE_ORDER_MARK) {
            window.take(BYTE_ORDER_MARK.len());
        }
        let opening = Opening { options, head: window.pending() };
        let content = match format.body {
            Body::Columns(layout) => {
                let reader = Box::new(ColumnReader::new(format, layout, &opening));
                Content::Lines(Lines::new(window), reader)
            }
            Body::Lines(make) => {
                let reader = make(&opening);
                Content::Lines(Lines::new(window), reader)
            }
            Body::Records(make) => {
                let reader = make(&opening);
                Content::Records(Records::new(window), reader)
            }
        };
        Ok(Self {
            path: path.to_owned(),
            raw,
            content,
            row: TraceRow { at_ns: 0, device: 0, offset: 0, bytes: 0, op: Op::Read, hint: None },
            events: vec![],
            flushes: 0,
            failures: vec![],
            format,
            skips: options.skip_bad_lines,
            skipped: Skipped::default(),
            has_rows: false,
        })
    }

    /// Returns the path of the file, or the name that messages use instead.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the format in which the file is read.
    pub fn format(&self) -> &'static Format {
        self.format
    }

    /// Returns the lines and records skipped so far. By default, nothing is skipped.
    pub fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    /// Returns the name that the trace gives to a device number ([`TraceRow::device`]).
    pub fn device_name(&self, device: u32) -> String {
        match &self.content {
            Content::Lines(_, reader) => reader.device_name(device),
            Content::Records(_, reader) => reader.device_name(device),
        }
    }

    /// Returns the epoch of the trace's times. The epoch is known after the first row.
    pub fn clock(&self) -> Epoch {
        let stated = match &self.content {
            Content::Lines(..) => None,
            Content::Records(_, reader) => reader.clock(),
        };
        stated.unwrap_or(self.format.clock)
    }

    /// Returns the time at which a recorded run ended, at the end of its file.
    pub fn ends_at(&self) -> Option<u64> {
        match &self.content {
            Content::Lines(..) => None,
            Content::Records(_, reader) => reader.ends_at(),
        }
    }

    /// Returns the failures of flash in a recorded run, at the end of its file.
    pub fn failures(&self) -> &[Failure] {
        &self.failures
    }

    /// Returns the number of flushes in a recorded run so far.
    pub fn flushes(&self) -> u64 {
        self.flushes
    }

    /// Returns whether `name` is the name that the trace gives to the device. For the format `msr`,
    /// the disk number without the host also counts as a name of the device.
    pub fn is_device(&self, device: u32, name: &str) -> bool {
        match &self.content {
            Content::Lines(_, reader) => reader.is_device(device, name),
            Content::Records(..) => self.device_name(device) == name,
        }
    }

    /// Returns the number of bytes read from the file so far, before decompression. The number is 0
    /// if the bytes do not come from a file.
    pub fn bytes_read(&self) -> u64 {
        self.raw.load(Ordering::Relaxed)
    }

    /// Returns a note about events that do not count. It is known only at the end of the file.
    pub fn note(&self) -> Option<Phrase> {
        let path = shown(&self.path);
        let note = match &self.content {
            Content::Lines(_, reader) => reader.counted(),
            Content::Records(..) => self.event_note().map(Phrase::from),
        };
        note.map(|note| phrase!["{path}: ", note])
    }

    fn event_note(&self) -> Option<String> {
        let mut all = vec![];
        if !self.failures.is_empty() {
            let failures: Vec<_> = self.failures.iter().map(ToString::to_string).collect();
            all.push(format!("failures of flash ({})", failures.join(", ")));
        }
        if self.flushes > 0 {
            all.push(format!("flushes ({}), which only the timed gear repeats", self.flushes));
        }
        let all = Some(all).filter(|all| !all.is_empty())?;
        Some(format!("beside requests, the recording has {}", all.join(" and ")))
    }

    /// Returns the number of the line or record that was read last, counted from 1.
    pub fn number(&self) -> u64 {
        match &self.content {
            Content::Lines(lines, _) => lines.number(),
            Content::Records(records, _) => records.place().0,
        }
    }

    /// Returns the unit that [`TraceFile::number`] counts, as a word: line or record.
    fn rows_are(&self) -> &'static str {
        match &self.content {
            Content::Lines(..) => "line",
            Content::Records(..) => "record",
        }
    }

    /// Returns the place in the file of the row that was read last, such as `line 7` or `record 7
    /// at byte 192`.
    pub fn place(&self) -> String {
        let place = format!("{} {}", self.rows_are(), self.number());
        match &self.content {
            Content::Records(records, _) => format!("{place} at byte {}", records.place().1),
            Content::Lines(..) => place,
        }
    }

    /// Goes to the next row. Returns false at the end of the file.
    ///
    /// # Errors
    /// Returns an error for an invalid line or record, unless the options say that such lines and
    /// records are skipped. Returns an error at the end of a file without any row.
    #[inline]
    pub fn advance(&mut self) -> Result<bool, SourceError> {
        self.events.clear();
        loop {
            match self.content.next() {
                Ok(row) if is_good(&row) => {
                    self.row = row;
                    self.has_rows = true;
                    return Ok(true);
                }
                Ok(row) => self.odd(Odd::Size(row))?,
                Err(Odd::Nothing) => {}
                Err(Odd::Event(event)) => self.note_event(event),
                Err(Odd::End) => return self.end(),
                Err(odd) => self.odd(odd)?,
            }
        }
    }

    /// Returns the current row. The last call of [`TraceFile::advance`] must have returned true.
    #[inline]
    pub fn row(&self) -> &TraceRow {
        &self.row
    }

    #[cold]
    fn note_event(&mut self, event: TraceEvent) {
        match event {
            TraceEvent::Flush(_) => self.flushes += 1,
            TraceEvent::Failure(failure) => self.failures.push(failure),
        }
        self.events.push(event);
    }

    /// Returns the events that stand directly before the current row, or at the end of the file
    /// those after the last row.
    #[inline]
    pub fn events(&self) -> &[TraceEvent] {
        &self.events
    }

    /// Returns the next row, or `None` at the end of the file. `advance` and `row` are faster,
    /// because this function copies each row twice.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`TraceFile::advance`].
    #[inline]
    pub fn next_row(&mut self) -> Result<Option<TraceRow>, SourceError> {
        Ok(if self.advance()? { Some(*self.row()) } else { None })
    }

    /// Makes an error about the current line or record.
    #[cold]
    pub(super) fn complain(&self, what: impl Into<Phrase>) -> SourceError {
        let (path, place) = (shown(&self.path), self.place());
        SourceError::new(match &self.content {
            Content::Lines(lines, _) => {
                let line = quote(lines.text());
                phrase!["{path}, {place}: ", what, "; the line is {line}"]
            }
            Content::Records(records, _) => {
                let bytes: Vec<_> =
                    records.first_bytes().iter().map(|b| format!("{b:02x}")).collect();
                let bytes = bytes.join(" ");
                phrase!["{path}, {place}: ", what, "; the record begins with the bytes {bytes}"]
            }
        })
    }

    #[cold]
    fn end(&self) -> Result<bool, SourceError> {
        let path = shown(&self.path);
        match (self.has_rows, &self.skipped.first) {
            (false, None) => {
                Err(SourceError::new(phrase!["{path}: holds no requests", self.without_rows()]))
            }
            (false, Some(first)) => Err(SourceError::new(phrase![
                "{path}: holds no readable requests; the first error: ",
                first.clone(),
            ])),
            _ => Ok(false),
        }
    }

    fn without_rows(&self) -> Phrase {
        match &self.content {
            Content::Lines(_, reader) => reader.without_rows(),
            Content::Records(..) => Phrase::default(),
        }
    }

    /// Returns whether the current line contains a negative number. Some tracers write a negative
    /// number if a request has no address.
    fn has_negative(&self) -> bool {
        let Content::Lines(lines, _) = &self.content else { return false };
        lines.text().windows(3).any(|at| {
            matches!(at[0], b',' | b' ' | b'\t') && at[1] == b'-' && at[2].is_ascii_digit()
        })
    }

    /// Skips and counts a line or record that gives no row. Returns an error if the options do not
    /// allow skipping such a line or record.
    #[cold]
    fn odd(&mut self, odd: Odd) -> Result<(), SourceError> {
        let may_skip = !matches!(odd, Odd::Io(_) | Odd::Bad(BadRow::Fatal(_)));
        let complaint = match odd {
            Odd::End | Odd::Nothing | Odd::Event(_) => return Ok(()),
            Odd::Io(e) => SourceError::new(format!(
                "{}: after {}: {}",
                shown(&self.path),
                self.place(),
                io_sentence(&e)
            )),
            Odd::Bad(bad) => {
                let name = self.format.name;
                let mut what = phrase![self.format.explain(bad), " ({name} format)"];
                if may_skip && self.has_negative() {
                    what.push(phrase!["; ", Opt::SkipBadLines, " passes over such lines"]);
                }
                self.complain(what)
            }
            Odd::Size(TraceRow { op: Op::Trim, bytes, .. }) => self.complain(format_args!(
                "a discard of {bytes} bytes; a size from 1 byte to 4 GiB is expected"
            )),
            Odd::Size(TraceRow { bytes, .. }) => {
                let is_of_bytes = self.format.has_sectors() && bytes.is_multiple_of(512 * 512);
                let remedy = if is_of_bytes && bytes > 0 {
                    "; the sizes of this format are in sectors of 512 bytes, and not in bytes"
                } else {
                    ""
                };
                self.complain(format_args!(
                    "a request of {bytes} bytes; a size from 1 byte to 16 MiB is expected{remedy}"
                ))
            }
            Odd::TooLong => self.complain("the line is longer than 64 KiB"),
            Odd::Nul => self.complain("the line holds a NUL byte, so the file is not text"),
        };
        if !(self.skips && may_skip) {
            return Err(complaint);
        }
        self.skipped.count += 1;
        self.skipped.first.get_or_insert(complaint.into());
        Ok(())
    }
}

impl Content {
    /// Reads the next row, even if the size of the row is invalid.
    #[inline]
    fn next(&mut self) -> Result<TraceRow, Odd> {
        match self {
            Self::Lines(lines, reader) => {
                lines.advance()?;
                if is_blank_line(lines.text()) {
                    return Err(Odd::Nothing);
                }
                reader.line(lines.text()).map_err(Odd::Bad)?.ok_or(Odd::Nothing)
            }
            Self::Records(records, reader) => records.advance(reader.as_mut()),
        }
    }
}

fn io_sentence(e: &io::Error) -> String {
    match e.kind() {
        io::ErrorKind::UnexpectedEof => {
            "the compressed file ends too early; it is truncated".into()
        }
        _ => format!("cannot be read further: {e}"),
    }
}

/// Returns whether the size of a row is valid. Trims may be larger than reads and writes.
#[inline]
fn is_good(row: &TraceRow) -> bool {
    (1..=MAX_REQUEST_BYTES).contains(&row.bytes)
        || (row.op == Op::Trim && (1..=MAX_TRIM_BYTES).contains(&row.bytes))
}

#[inline]
fn is_blank_line(line: &[u8]) -> bool {
    line.first().is_none_or(u8::is_ascii_whitespace) && line.trim_ascii().is_empty()
}
