//! Writes a compact trace. Records are collected into blocks.

use std::io::{self, Write};

use vpass_drive::base::failure::{Failure, Unit, When};

use super::{
    BLOCK_BYTES, CLOCKS, DEVICE, END, FAILURE, FLUSH, HEAD_BYTES, HINTS, MAX_DEVICES,
    MAX_NAME_BYTES, RECORD_BYTES, UNITS, header,
};
use crate::traces::rows::format::{Epoch, TraceEvent, TraceRow};

/// Writer of a compact trace. Call [`CompactWriter::finish`] at the end; otherwise, the file is
/// truncated.
pub(in crate::traces) struct CompactWriter<W: Write> {
    out: W,
    /// Header of the file; empty after it was written.
    header: Vec<u8>,
    /// Block that is not yet full. Its first bytes are reserved for its head.
    block: Vec<u8>,
    /// Time at which a recorded run ended.
    ends_at: u64,
    rows: u64,
    devices: usize,
}

impl<W: Write> CompactWriter<W> {
    /// Begins a compact trace. `clock` is the epoch of the times in the trace.
    pub(in crate::traces) fn new(out: W, clock: Epoch) -> Self {
        let clock = CLOCKS.iter().position(|of| *of == clock).unwrap_or(0);
        let mut block = Vec::with_capacity(HEAD_BYTES + BLOCK_BYTES + RECORD_BYTES);
        block.resize(HEAD_BYTES, 0);
        let header = header(clock as u8).to_vec();
        Self { out, header, block, ends_at: 0, rows: 0, devices: 0 }
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
        self.record(0, 0, name.len() as u32, 0, [DEVICE, 0]);
        self.block.extend_from_slice(name.as_bytes());
        self.write_full()
    }

    /// Adds a row. The device of the row must have been added before.
    #[inline]
    pub(in crate::traces) fn row(&mut self, row: &TraceRow) -> io::Result<()> {
        debug_assert!((row.device as usize) < self.devices, "unknown device");
        let bytes = u32::try_from(row.bytes)
            .map_err(|_| io::Error::other("a row is longer than 4 GiB - 1, the limit of a row"))?;
        let hint = HINTS.iter().position(|of| *of == row.hint).expect("every hint has a number");
        self.record(row.at_ns, row.offset, bytes, row.device as u16, [row.op as u8, hint as u8]);
        self.rows += 1;
        self.write_full()
    }

    /// Adds an event.
    pub(in crate::traces) fn event(&mut self, event: &TraceEvent) -> io::Result<()> {
        match *event {
            TraceEvent::Flush(at) => self.record(at, 0, 0, 0, [FLUSH, 0]),
            TraceEvent::Failure(Failure { unit, when }) => {
                let (Unit::Die(n) | Unit::Plane(n) | Unit::Block(n) | Unit::Page(n)) = unit;
                let kind = UNITS.iter().position(|of| of(n) == unit).expect("one of all units");
                let (of_when, when) = match when {
                    When::At(at) => (0, at),
                    When::Request(number) => (1, number),
                };
                self.record(when, n.into(), of_when, kind as u16, [FAILURE, 0]);
            }
        }
        self.rows += 1;
        self.write_full()
    }

    /// Ends the compact trace, and returns the output.
    pub(in crate::traces) fn finish(mut self) -> io::Result<W> {
        self.record(self.ends_at, self.rows, 0, 0, [END, 0]);
        self.write_block()?;
        self.out.flush()?;
        Ok(self.out)
    }

    #[inline]
    fn record(&mut self, time: u64, offset: u64, bytes: u32, device: u16, kind_and_hint: [u8; 2]) {
        let last = u64::from(bytes)
            | u64::from(device) << 32
            | u64::from(u16::from_le_bytes(kind_and_hint)) << 48;
        let words = [time, offset, last].map(u64::to_le_bytes);
        self.block.extend_from_slice(words.as_flattened());
    }

    #[inline]
    fn write_full(&mut self) -> io::Result<()> {
        if self.block.len() < HEAD_BYTES + BLOCK_BYTES { Ok(()) } else { self.write_block() }
    }

    fn write_block(&mut self) -> io::Result<()> {
        self.out.write_all(&self.header)?;
        self.header.clear();
        let (head, records) = self.block.split_at_mut(HEAD_BYTES);
        head[..4].copy_from_slice(&(records.len() as u32).to_le_bytes());
        head[4..].copy_from_slice(&crc32fast::hash(records).to_le_bytes());
        self.out.write_all(&self.block)?;
        self.block.truncate(HEAD_BYTES);
        Ok(())
    }
}
