//! Writes a compact trace: rows are gathered into blocks, devices listed ahead of the block that
//! names them first.

use std::io::{self, Write};

use super::block::{self, Columns, MAX_ROWS};
use super::section::{self, About, HEADER_BYTES, Kind};
use super::{MAX_DEVICES, MAX_NAME_BYTES};
use crate::traces::rows::format::{Epoch, TraceRow};

/// A list of devices is ended at this length, so that none comes near the longest section.
const LIST_BYTES: usize = 32 << 10;

/// A writer of the compact form. A file without [`CompactWriter::finish`] is a truncated one.
pub(in crate::traces) struct CompactWriter<W: Write> {
    out: W,
    /// What the file's header says, once it is written: with the first rows.
    about: Option<About>,
    absolute_clock: bool,
    rows: Vec<TraceRow>,
    total: u64,
    devices: usize,
    /// Devices that are yet to be listed.
    unlisted: Vec<Vec<u8>>,
    columns: Columns,
    section: Vec<u8>,
}

impl<W: Write> CompactWriter<W> {
    /// Begins a file; `clock` is what its times count from.
    pub(in crate::traces) fn new(out: W, clock: Epoch) -> Self {
        Self {
            out,
            about: None,
            absolute_clock: clock == Epoch::Absolute,
            rows: Vec::with_capacity(MAX_ROWS),
            total: 0,
            devices: 0,
            unlisted: vec![],
            columns: Columns::default(),
            section: vec![],
        }
    }

    /// Adds the next device: the first one is [`TraceRow::device`] 0.
    pub(in crate::traces) fn device(&mut self, name: &str) -> io::Result<()> {
        if self.devices == MAX_DEVICES {
            return Err(io::Error::other(
                "there are more than the 65,536 devices that a compact trace can hold",
            ));
        }
        if name.len() > MAX_NAME_BYTES {
            return Err(io::Error::other("the name of a device is longer than 4,096 bytes"));
        }
        self.devices += 1;
        self.unlisted.push([&(name.len() as u16).to_le_bytes(), name.as_bytes()].concat());
        Ok(())
    }

    /// Adds a row of a device that was added.
    #[inline]
    pub(in crate::traces) fn row(&mut self, row: &TraceRow) -> io::Result<()> {
        debug_assert!((row.device as usize) < self.devices, "the device was added");
        self.rows.push(*row);
        if self.rows.len() == MAX_ROWS { self.flush() } else { Ok(()) }
    }

    /// Ends the file and gives the output back.
    pub(in crate::traces) fn finish(mut self) -> io::Result<W> {
        self.flush()?;
        self.section.resize(HEADER_BYTES, 0);
        self.section.extend_from_slice(&self.total.to_le_bytes());
        self.section.extend_from_slice(&(self.devices as u64).to_le_bytes());
        self.write_section(Kind::End, 0)?;
        self.out.flush()?;
        Ok(self.out)
    }

    /// Writes the rows gathered so far, and ahead of them the devices that are new.
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

    /// Writes the file's header, where that is not done: the first rows tell whether there are
    /// hints.
    fn header(&mut self) -> io::Result<About> {
        let hints = self.rows.iter().any(|row| row.hint.is_some());
        if let Some(about) = self.about {
            let late = io::Error::other(
                "a row has a hint, and the first 4,096 have none: their form, version 1, has no hint column; give one of those a hint, which \
                 may be `smallest`",
            );
            return if hints && !about.hints { Err(late) } else { Ok(about) };
        }
        let about = About { absolute_clock: self.absolute_clock, hints };
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
