//! Reads a compact trace, one record at a time. A block is checked before its first record.

use vpass_drive::base::failure::{Failure, When};

use super::{
    CLOCKS, DEVICE, END, FAILURE, FLUSH, HEAD_BYTES, HEADER_BYTES, HINTS, MAGIC, MAX_BLOCK_BYTES,
    MAX_DEVICES, MAX_NAME_BYTES, OPS, RECORD_BYTES, UNITS, VERSION, header,
};
use crate::traces::rows::format::{BadRow, Epoch, TraceEvent, TraceRow};
use crate::traces::rows::reader::{RecordReader, Taken};

/// State of the reader of a file.
#[derive(Default)]
pub(super) struct Decoder {
    /// Clock of the file; `None` before the header is read.
    clock: Option<Epoch>,
    has_ended: bool,
    ends_at: u64,
    /// Names of the devices so far.
    devices: Vec<String>,
    rows: u64,
    /// Number of bytes that are left in the current block, whose checksum is right.
    block_bytes: usize,
}

impl RecordReader for Decoder {
    #[inline]
    fn record(&mut self, bytes: &[u8]) -> Taken {
        match self.next(bytes) {
            Ok(taken) => taken,
            Err(wrong) => Taken::Bad(0, BadRow::Fatal(wrong)),
        }
    }

    fn end(&self) -> Result<(), BadRow> {
        let cut = BadRow::Fatal("the file ends before its last block; it is truncated");
        if self.has_ended { Ok(()) } else { Err(cut) }
    }

    fn device_name(&self, device: u32) -> String {
        self.devices.get(device as usize).cloned().unwrap_or_default()
    }

    fn clock(&self) -> Option<Epoch> {
        self.clock
    }

    fn ends_at(&self) -> Option<u64> {
        (self.has_ended && self.clock == Some(Epoch::Run)).then_some(self.ends_at)
    }
}

/// Checks the header of a file, and returns the clock in it.
fn clock_of(bytes: &[u8; HEADER_BYTES]) -> Result<Epoch, &'static str> {
    if !bytes.starts_with(MAGIC) {
        return Err("the file does not begin like a compact trace");
    }
    match bytes[8] {
        VERSION => {}
        1 | 2 => {
            return Err(
                "the compact trace has the packed form of an earlier vpass; convert or record the \
                 trace again",
            );
        }
        _ => {
            return Err(
                "the compact trace has a version that this vpass does not know; version 3 is \
                 expected",
            );
        }
    }
    let clock = CLOCKS.get(usize::from(bytes[10])).filter(|_| *bytes == header(bytes[10]));
    clock.copied().ok_or("the header of the compact trace is damaged")
}

impl Decoder {
    /// Reads the record at the start of `bytes`, or the header of the file or of a block.
    #[inline]
    fn next(&mut self, bytes: &[u8]) -> Result<Taken, &'static str> {
        if self.block_bytes == 0 {
            return self.header(bytes);
        }
        let Some((record, after)) = bytes.split_first_chunk::<RECORD_BYTES>() else {
            return Err("the block ends within a record");
        };
        let word =
            |at: usize| u64::from_le_bytes(record[at..at + 8].try_into().expect("eight bytes"));
        let (at_ns, offset, last) = (word(0), word(8), word(16));
        let (bytes, device) = (u64::from(last as u32), (last >> 32) as u16);
        let [.., kind, hint] = record;
        self.block_bytes =
            self.block_bytes.checked_sub(RECORD_BYTES).ok_or("the block ends within a record")?;
        match (OPS.get(usize::from(*kind)), HINTS.get(usize::from(*hint))) {
            (Some(op), Some(hint)) => {
                if offset >> 63 != 0 {
                    return Err("an offset is not below 2^63");
                }
                if usize::from(device) >= self.devices.len() {
                    return Err("a row names a device that was not named before this row");
                }
                self.rows += 1;
                let device = device.into();
                let row = TraceRow { at_ns, device, offset, bytes, op: *op, hint: *hint };
                Ok(Taken::TraceRow(RECORD_BYTES, row))
            }
            (None, _) if *kind == DEVICE => {
                self.name(after, bytes as usize).map(|name| Taken::Other(RECORD_BYTES + name))
            }
            (None, _) if *kind == END && self.block_bytes == 0 => {
                (self.has_ended, self.ends_at) = (true, at_ns);
                if offset != self.rows {
                    return Err("the number of rows is wrong; the file is damaged");
                }
                Ok(Taken::Other(RECORD_BYTES))
            }
            (None, _) if *kind == FLUSH => {
                self.rows += 1;
                Ok(Taken::Event(RECORD_BYTES, TraceEvent::Flush(at_ns)))
            }
            (None, _) if *kind == FAILURE => {
                self.rows += 1;
                let unit = UNITS.get(usize::from(device)).zip(u32::try_from(offset).ok());
                let when = [When::At(at_ns), When::Request(at_ns)].get(bytes as usize).copied();
                let (unit, when) = unit.zip(when).ok_or("a failure of flash is invalid")?;
                let failure = Failure { unit: unit.0(unit.1), when };
                Ok(Taken::Event(RECORD_BYTES, TraceEvent::Failure(failure)))
            }
            _ => Err("a record has an unknown kind"),
        }
    }

    /// Reads the header of the file or of a block, and checks the block.
    #[cold]
    fn header(&mut self, bytes: &[u8]) -> Result<Taken, &'static str> {
        if self.clock.is_none() {
            let Some(header) = bytes.first_chunk() else { return Ok(Taken::More(HEADER_BYTES)) };
            self.clock = Some(clock_of(header)?);
            return Ok(Taken::Other(HEADER_BYTES));
        }
        if self.has_ended && !bytes.is_empty() {
            return Err("the file continues after its end");
        }
        let Some((head, rest)) = bytes.split_first_chunk::<HEAD_BYTES>() else {
            return Ok(Taken::More(HEAD_BYTES));
        };
        let head = u64::from_le_bytes(*head);
        let (length, crc) = (head as u32 as usize, (head >> 32) as u32);
        if length > MAX_BLOCK_BYTES {
            return Err("the block is too long; the file is damaged");
        }
        let Some(records) = rest.get(..length) else { return Ok(Taken::More(HEAD_BYTES + length)) };
        if crc32fast::hash(records) != crc {
            return Err("the block's checksum does not match; the file is damaged");
        }
        self.block_bytes = length;
        Ok(Taken::Other(HEAD_BYTES))
    }

    /// Adds the device whose name begins at `bytes`. Returns the length of the name in bytes.
    fn name(&mut self, bytes: &[u8], length: usize) -> Result<usize, &'static str> {
        const WRONG: &str = "the name of a device is invalid";
        if self.devices.len() == MAX_DEVICES {
            return Err("there are more than 65,536 devices");
        }
        let name = bytes.get(..length).filter(|_| length <= MAX_NAME_BYTES.min(self.block_bytes));
        let name = std::str::from_utf8(name.ok_or(WRONG)?).map_err(|_| WRONG)?;
        let number = self.devices.len().to_string();
        self.devices.push(if name.is_empty() { number } else { name.to_owned() });
        self.block_bytes -= length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use vpass_drive::base::latency::AccessLatency;
    use vpass_drive::base::request::Op;

    use super::super::CompactWriter;
    use super::*;

    fn written(rows: &[TraceRow]) -> Vec<u8> {
        let mut writer = CompactWriter::new(vec![], Epoch::Absolute);
        for number in 0..=rows.iter().map(|r| r.device).max().unwrap() {
            writer.device(&format!("disk {number}")).unwrap();
        }
        for row in rows {
            writer.row(row).unwrap();
        }
        writer.finish().unwrap()
    }

    fn read(bytes: &[u8]) -> Result<(Vec<TraceRow>, Decoder), &'static str> {
        read_with_events(bytes).map(|(rows, _, decoder)| (rows, decoder))
    }

    fn read_with_events(
        mut bytes: &[u8],
    ) -> Result<(Vec<TraceRow>, Vec<TraceEvent>, Decoder), &'static str> {
        let (mut rows, mut events, mut decoder) = (vec![], vec![], Decoder::default());
        loop {
            let length = match decoder.next(bytes)? {
                Taken::Event(length, event) => {
                    events.push(event);
                    length
                }
                Taken::TraceRow(length, row) => {
                    rows.push(row);
                    length
                }
                Taken::Other(length) => length,
                Taken::More(_) if bytes.is_empty() && decoder.end().is_ok() => {
                    return Ok((rows, events, decoder));
                }
                Taken::More(_) | Taken::Bad(..) => return Err("cut"),
            };
            bytes = &bytes[length..];
        }
    }

    fn row(at_ns: u64, device: u32, offset: u64, bytes: u64, op: Op) -> TraceRow {
        TraceRow { at_ns, device, offset, bytes, op, hint: None }
    }

    #[test]
    fn extremes_come_back() {
        let end = (1 << 63) - 1;
        let rows = [
            row(u64::MAX, 7, end, u32::MAX.into(), Op::Trim),
            row(0, 65_535, 0, 1, Op::Read),
            row(1 << 63, 0, end, 1, Op::Write),
            row(0, 7, 0, 1 << 24, Op::Read),
            TraceRow { hint: Some(AccessLatency::Smallest), ..row(0, 7, 0, 0, Op::Read) },
        ];
        for count in 1..=rows.len() {
            let (back, decoder) = read(&written(&rows[..count])).unwrap();
            assert_eq!(back, rows[..count]);
            assert_eq!(
                (decoder.device_name(7), decoder.clock()),
                ("disk 7".into(), Some(Epoch::Absolute))
            );
        }
    }

    #[test]
    fn events_come_back() {
        let failure = |text: &str| TraceEvent::Failure(text.parse().unwrap());
        let events = [
            failure("die:3@r5000"),
            failure("plane:0@10s"),
            failure("block:17@r0"),
            failure("page:4294967295@0s"),
            TraceEvent::Flush(u64::MAX),
        ];
        let mut writer = CompactWriter::new(vec![], Epoch::Run);
        for event in &events {
            writer.event(event).unwrap();
        }
        assert_eq!(read_with_events(&writer.finish().unwrap()).unwrap().1, events);
    }

    #[test]
    fn a_row_has_24_bytes() {
        let rows: Vec<_> = (0..5000u64).map(|i| row(i, 0, 4096 * i, 4096, Op::Write)).collect();
        // The file has a header, a device with a name of 6 bytes, the end, and two blocks.
        let bytes = written(&rows);
        assert_eq!(bytes.len(), 16 + (24 + 6) + 5000 * 24 + 24 + 2 * 8);
        assert_eq!(read(&bytes).unwrap().0, rows);
    }

    #[test]
    fn every_damaged_byte_is_found() {
        let rows: Vec<_> =
            (0..40u64).map(|i| row(i * 100, (i % 2) as u32, i * 4096, 4096, Op::Read)).collect();
        let good = written(&rows);
        for at in 0..good.len() {
            for flip in [1, 0x80] {
                let mut bad = good.clone();
                bad[at] ^= flip;
                assert!(read(&bad).is_err(), "byte {at}");
            }
            assert!(read(&good[..at]).is_err(), "cut at {at}");
        }
        let beyond = [&good[..], b"x"].concat();
        assert_eq!(read(&beyond).err(), Some("the file continues after its end"));
    }

    #[test]
    fn damage_under_a_right_checksum_never_panics() {
        let rows: Vec<_> = (0..23u64)
            .map(|i| row(i * i, (i % 3) as u32, (i * 9 % 7) << (i % 40), 1 << (i % 24), Op::Read))
            .collect();
        let good = written(&rows);
        let records = HEADER_BYTES + HEAD_BYTES;
        let mut whole = 0;
        for at in records..good.len() {
            for byte in 0..=255 {
                let mut bad = good.clone();
                bad[at] = byte;
                let crc = crc32fast::hash(&bad[records..]);
                bad[records - 4..records].copy_from_slice(&crc.to_le_bytes());
                if let Ok((rows, events, _)) = read_with_events(&bad) {
                    assert!(
                        rows.len() + events.len() == 23
                            && rows.iter().all(|r| r.offset < 1 << 63 && r.device < 3)
                    );
                    whole += 1;
                }
            }
        }
        assert!(whole > 1000, "most bytes of rows may have any value");
    }
}
