//! Writes a compact trace. Rows are collected into blocks. If a block has new devices, their names
//! are written before the block.

use std::io::{self, Write};

use super::block::{self, Columns, MAX_ROWS};
use super::section::{self, About, Clock, HEADER_BYTES, Kind};
use super::{MAX_DEVICES, MAX_NAME_BYTES};
use crate::traces::rows::format::{Epoch, TraceRow};

/// Length in bytes at which a section of device names ends and the next section begins. The format
/// allows much longer sections.
const LIST_BYTES: usize = 32 << 10;

/// Writer of a compact trace. Call [`CompactWriter::finish`] at the end; otherwise, the file is
/// truncated.
pub(in crate::traces) struct CompactWriter<W: Write> {
    out: W,
    /// Properties in the header of the file; `None` before the header is written. The header is
    /// written together with the first rows.
    about: Option<About>,
    clock: Clock,
    /// Time at which a recorded run ended.
    ends_at: u64,
    rows: Vec<TraceRow>,
    total: u64,
    devices: usize,
    /// Device names that were not yet written to the file.
    unlisted: Vec<Vec<u8>>,
    columns: Columns,
    section: Vec<u8>,
}

impl<W: Write> CompactWriter<W> {
    /// Begins a compact trace. `clock` is the epoch of the times in the trace.
    pub(in crate::traces) fn new(out: W, clock: Epoch) -> Self {
        Self {
            out,
            about: None,
            clock: clock.into(),
            ends_at: 0,
            rows: Vec::with_capacity(MAX_ROWS),
            total: 0,
            devices: 0,
            unlisted: vec![],
            columns: Columns::default(),
            section: vec![],
        }
    }

    /// Sets the time at which a recorded run ended.
    pub(in crate::traces) fn end_at(&mut self, at_ns: u64) {
        self.ends_at = at_ns;
    }

    /// Adds the next device. The first device has the number 0 ([`TraceRow::device`]).
    pub(in crate::traces) fn device(&mut self, name: &str) -> io::Result<()> {
        if self.devices == MAX_DEVICES {
            return Err(io::Error::other(
                "there are more than 65,536 devices, the limit of a compact trace",
            ));
        }
        if name.len() > MAX_NAME_BYTES {
            return Err(io::Error::other("the name of a device is longer than 4,096 bytes"));
        }
        self.devices += 1;
        self.unlisted.push([&(name.len() as u16).to_le_bytes(), name.as_bytes()].concat());
        Ok(())
    }

    /// Adds a row. The device of the row must have been added before.
    #[inline]
    pub(in crate::traces) fn row(&mut self, row: &TraceRow) -> io::Result<()> {
        debug_assert!((row.device as usize) < self.devices, "unknown device");
        self.rows.push(*row);
        if self.rows.len() == MAX_ROWS { self.flush() } else { Ok(()) }
    }

    /// Ends the compact trace, and returns the output.
    pub(in crate::traces) fn finish(mut self) -> io::Result<W> {
        self.flush()?;
        self.section.resize(HEADER_BYTES, 0);
        self.section.extend_from_slice(&self.total.to_le_bytes());
        self.section.extend_from_slice(&(self.devices as u64).to_le_bytes());
        if self.clock == Clock::Run {
            self.section.extend_from_slice(&self.ends_at.to_le_bytes());
        }
        self.write_section(Kind::End, 0)?;
        self.out.flush()?;
        Ok(self.out)
    }

    /// Writes the names of new devices, and then the rows that were collected.
    fn flush(&mut self) -> io::Result<()> {
        let about = self.header()?;
        self.list_devices()?;
        if self.rows.is_empty() {
            return Ok(());
        }
        self.section.resize(HEADER_BYTES, 0);
        block::encode(&self.rows, about.hints, &mut self.columns, &mut self.section);
        self.write_section(Kind::Rows, self.rows.len())?;
        self.total += self.rows.len() as u64;
        self.rows.clear();
        Ok(())
    }

    /// Writes the header of the file if this was not yet done. The first rows decide whether the
    /// file has a column of hints.
    fn header(&mut self) -> io::Result<About> {
        let hints = self.rows.iter().any(|row| row.hint.is_some());
        if let Some(about) = self.about {
            let late = io::Error::other(
                "a row has a hint, but the first 4,096 rows have none, so the file has no hint \
                 column (version 1); give one of the first rows a hint, such as `smallest`",
            );
            return if hints && !about.hints { Err(late) } else { Ok(about) };
        }
        let about = About { clock: self.clock, hints };
        self.out.write_all(&section::file_header(about))?;
        self.about = Some(about);
        Ok(about)
    }

    fn list_devices(&mut self) -> io::Result<()> {
        let mut listed = 0;
        self.section.resize(HEADER_BYTES, 0);
        for entry in std::mem::take(&mut self.unlisted) {
            self.section.extend_from_slice(&entry);
            listed += 1;
            if self.section.len() >= LIST_BYTES {
                self.write_section(Kind::Devices, listed)?;
                self.section.resize(HEADER_BYTES, 0);
                listed = 0;
            }
        }
        if listed > 0 {
            self.write_section(Kind::Devices, listed)?;
        }
        self.section.clear();
        Ok(())
    }

    fn write_section(&mut self, kind: Kind, count: usize) -> io::Result<()> {
        section::finish(&mut self.section, kind, count);
        self.out.write_all(&self.section)?;
        self.section.clear();
        Ok(())
    }
}
