//! Readers of the content of a trace file: line by line, or record by record.
//!
//! Each file gets a reader of its own, so a reader may keep what it learned from earlier lines or
//! records.

use std::io;

use crate::traces::options::TraceOptions;
use crate::traces::rows::format::{BadRow, Epoch, TraceEvent, TraceRow};
use vpass_drive::base::phrase::Phrase;

/// Reason why a line or record gives no row.
#[derive(Debug)]
pub(in crate::traces) enum Odd {
    /// The file has ended.
    End,
    /// The line or record is valid, but moves no data.
    Nothing,
    Event(TraceEvent),
    Bad(BadRow),
    /// The size of the request is invalid.
    Size(TraceRow),
    /// The line is too long. Later lines can still be read.
    TooLong,
    /// The line contains a NUL byte.
    Nul,
    /// The stream failed, because of a read error or a damaged compressed file.
    Io(io::Error),
}

/// Reader of the lines of a text format. The reader gets no blank lines.
pub(in crate::traces) trait LineReader: Send {
    /// Parses the next line, which is given without its line end. Returns `None` if the line is
    /// valid but moves no data.
    fn line(&mut self, line: &[u8]) -> Result<Option<TraceRow>, BadRow>;

    /// Returns the name that the trace gives to a device number ([`TraceRow::device`]).
    fn device_name(&self, device: u32) -> String {
        device.to_string()
    }

    /// Returns whether a name that the user gave stands for the device with the given number.
    fn is_device(&self, device: u32, name: &str) -> bool {
        self.device_name(device) == name
    }

    /// Returns a text that says which of several events of a request counts, with the number of
    /// events of each kind. `None` if a request is one row.
    fn counted(&self) -> Option<Phrase> {
        None
    }

    /// Returns text to add to the error "holds no requests". By default, the text is empty.
    fn without_rows(&self) -> Phrase {
        Phrase::default()
    }
}

/// Reader of the records of a binary format.
pub(in crate::traces) trait RecordReader: Send {
    /// Parses the record that begins at the start of `bytes`. `bytes` may be empty, may end within
    /// the record, or may continue after the record.
    fn record(&mut self, bytes: &[u8]) -> Taken;

    /// Checks that the records so far are a whole file. Called at the end of the file.
    fn end(&self) -> Result<(), BadRow> {
        Ok(())
    }

    /// Returns the epoch of the file's times, if the file states it. Known after the first record.
    fn clock(&self) -> Option<Epoch> {
        None
    }

    /// Returns the time at which the recorded run ended, at the end of the file.
    fn ends_at(&self) -> Option<u64> {
        None
    }

    /// Returns the name that the trace gives to a device number ([`TraceRow::device`]).
    fn device_name(&self, device: u32) -> String {
        device.to_string()
    }
}

/// Result of a [`RecordReader`]. In every variant except `More`, the number is the length of the
/// record in bytes.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::traces) enum Taken {
    /// The record contains a row.
    TraceRow(usize, TraceRow),
    /// The record contains an event other than a request.
    Event(usize, TraceEvent),
    /// The record contains no row. The header of a file counts as such a record.
    Other(usize),
    /// The record is invalid. The number is the length of the record, or 0 if the length is
    /// unknown, which is a fatal error.
    Bad(usize, BadRow),
    /// `bytes` was too short. The next call needs at least as many bytes as this field states,
    /// which are at most 256 KiB.
    More(usize),
}

/// Facts about a file that are known when the reader of the file is made.
pub(in crate::traces) struct Opening<'a> {
    pub(in crate::traces) options: &'a TraceOptions,
    /// First bytes of the file after decompression: the whole file, or its first 256 KiB.
    pub(in crate::traces) head: &'a [u8],
}
