//! Reads a compact trace, one section of the file at a time.

use super::block::{self, Columns, MAX_ROWS};
use super::pack::LOOK_AHEAD;
use super::section::{self, About, Clock, HEADER_BYTES, Header, Kind};
use super::{MAX_DEVICES, MAX_NAME_BYTES};
use crate::traces::rows::format::{Epoch, TraceRow};
use crate::traces::rows::reader::{Batch, BatchReader};

/// State of the reader of a file.
#[derive(Default)]
pub(super) struct Decoder {
    begun: bool,
    ended: bool,
    about: About,
    ends_at: Option<u64>,
    /// Names of the devices listed so far.
    devices: Vec<String>,
    rows: u64,
    columns: Columns,
}

impl BatchReader for Decoder {
    fn batch(&mut self, bytes: &[u8], rows: &mut Vec<TraceRow>) -> Result<Batch, &'static str> {
        if bytes.is_empty() && self.begun && !self.ended {
            return Err("the file ends before its last section; it is truncated");
        }
        let Some(header) = bytes.first_chunk() else { return Ok(Batch::More(HEADER_BYTES)) };
        if !self.begun {
            self.about = section::read_file_header(header)?;
            self.begun = true;
            return Ok(Batch::Whole(HEADER_BYTES));
        }
        if self.ended {
            return Err("the file continues after its end");
        }
        let header = Header::read(header)?;
        let length = HEADER_BYTES + header.length;
        // A block is never the last section of a file, so other bytes always follow a block.
        let needed = if header.kind == Kind::Rows { length + LOOK_AHEAD } else { length };
        let Some(section) = bytes.get(..needed) else { return Ok(Batch::More(needed)) };
        if !header.is_sound(&section[..length]) {
            return Err("the section's checksum does not match; the file is damaged");
        }
        let payload = &section[HEADER_BYTES..];
        match header.kind {
            Kind::Devices => self.list(payload, header.count)?,
            Kind::Rows => self.block(payload, header.count, rows)?,
            Kind::End => self.end(payload)?,
        }
        Ok(Batch::Whole(length))
    }

    fn device_name(&self, device: u32) -> String {
        self.devices.get(device as usize).cloned().unwrap_or_default()
    }

    fn clock(&self) -> Epoch {
        match self.about.clock {
            Clock::Start => Epoch::Relative,
            Clock::Date => Epoch::Absolute,
            Clock::Run => Epoch::Run,
        }
    }

    fn ends_at(&self) -> Option<u64> {
        self.ends_at
    }
}

impl Decoder {
    fn list(&mut self, mut payload: &[u8], count: usize) -> Result<(), &'static str> {
        const WRONG: &str = "the list of devices is invalid";
        for _ in 0..count {
            let (length, rest) = payload.split_first_chunk().ok_or(WRONG)?;
            let length = usize::from(u16::from_le_bytes(*length));
            let (name, rest) =
                rest.split_at_checked(length).filter(|_| length <= MAX_NAME_BYTES).ok_or(WRONG)?;
            if self.devices.len() == MAX_DEVICES {
                return Err("there are more than 65,536 devices");
            }
            let name = std::str::from_utf8(name).map_err(|_| WRONG)?;
            self.devices.push(if name.is_empty() {
                self.devices.len().to_string()
            } else {
                name.to_owned()
            });
            payload = rest;
        }
        if payload.is_empty() { Ok(()) } else { Err(WRONG) }
    }

    fn block(
        &mut self,
        payload: &[u8],
        count: usize,
        rows: &mut Vec<TraceRow>,
    ) -> Result<(), &'static str> {
        if !(1..=MAX_ROWS).contains(&count) {
            return Err("a block should hold 1 to 4,096 rows");
        }
        self.rows += count as u64;
        block::decode(
            payload,
            (count, self.about.hints),
            self.devices.len(),
            &mut self.columns,
            rows,
        )
    }

    fn end(&mut self, mut payload: &[u8]) -> Result<(), &'static str> {
        self.ended = true;
        if self.about.clock == Clock::Run {
            let (counts, end) =
                payload.split_last_chunk().ok_or("the end of the run is missing")?;
            (payload, self.ends_at) = (counts, Some(u64::from_le_bytes(*end)));
        }
        let counts = [self.rows, self.devices.len() as u64].map(u64::to_le_bytes);
        if payload == counts.as_flattened() {
            Ok(())
        } else {
            Err("rows are missing; the file is damaged")
        }
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

    fn read(mut bytes: &[u8]) -> Result<(Vec<TraceRow>, Decoder), &'static str> {
        let (mut rows, mut decoder) = (vec![], Decoder::default());
        loop {
            match decoder.batch(bytes, &mut rows)? {
                Batch::Whole(length) => bytes = &bytes[length..],
                Batch::More(_) if bytes.is_empty() => return Ok((rows, decoder)),
                Batch::More(_) => return Err("cut"),
            }
        }
    }

    fn row(at_ns: u64, device: u32, offset: u64, bytes: u64, op: Op) -> TraceRow {
        TraceRow { at_ns, device, offset, bytes, op, hint: None }
    }

    #[test]
    fn extremes_come_back() {
        let end = (1 << 63) - 1;
        let rows = [
            row(u64::MAX, 7, end, 1 << 24, Op::Trim),
            row(0, 65_535, 0, 1, Op::Read),
            row(1 << 63, 0, end, 1, Op::Write),
            row(0, 7, 0, 1 << 24, Op::Read),
            row(0, 7, 0, 1 << 24, Op::Read),
        ];
        for count in 1..=rows.len() {
            let (back, decoder) = read(&written(&rows[..count])).unwrap();
            assert_eq!(back, rows[..count]);
            assert_eq!(
                (decoder.device_name(7), decoder.clock()),
                ("disk 7".into(), Epoch::Absolute)
            );
        }
    }

    #[test]
    fn hints_come_back_in_version_2_and_version_1_has_none() {
        let hints = [
            None,
            Some(AccessLatency::Idle),
            Some(AccessLatency::Typical),
            Some(AccessLatency::Smallest),
        ];
        let rows: Vec<_> = (0..9000u64)
            .map(|i| TraceRow {
                hint: hints[i as usize * 7 % 4],
                ..row(i, 0, 4096 * i, 4096, Op::Read)
            })
            .collect();
        let bytes = written(&rows);
        assert_eq!((bytes[8], read(&bytes).unwrap().0), (2, rows));
        let without = written(&[row(0, 0, 0, 1, Op::Read)]);
        assert_eq!((without[8], without[11]), (1, 0));
        let mut old = section::file_header(About { hints: true, ..About::default() });
        old[8] = 1;
        assert_eq!(
            read(&section::sealed(old)).err(),
            Some("the compact trace of version 1 has a hint column, which only version 2 has")
        );
    }

    #[test]
    fn equal_values_cost_nothing() {
        let rows: Vec<_> =
            (0..4096u64).map(|i| row(1000 * i, 3, 4096 * i, 4096, Op::Write)).collect();
        let bytes = written(&rows);
        // The file has a header, four devices of 2 + 6 bytes, one block, and an end. The block has
        // 96 bytes of column headers and 1,024 bytes of directions. The first time step of the
        // block is 0, and 4,095 equal steps follow. The steps take 1,024 bytes of codes, and a byte
        // for each of the equal steps.
        assert_eq!(bytes.len(), 16 + (16 + 32) + (16 + 96 + 1024 + 1024 + 4095) + (16 + 16));
        assert_eq!(read(&bytes).unwrap().0, rows);
    }

    #[test]
    fn many_blocks_and_devices_come_back() {
        let rows: Vec<_> = (0..20_000u64)
            .map(|i| {
                row(
                    i * i,
                    (i % 700) as u32,
                    i * 7919 % 100_000 * 512,
                    512 * (1 + i % 9),
                    [Op::Read, Op::Write, Op::Trim][i as usize % 3],
                )
            })
            .collect();
        assert_eq!(read(&written(&rows)).unwrap().0, rows);
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
            assert!(read(&good[..at]).is_err() || at == 0, "cut at {at}");
        }
        assert_eq!(read(&[&good[..], b"x"].concat()).err(), Some("cut"));
        assert_eq!(
            read(&[&good[..], &[0; 16]].concat()).err(),
            Some("the file continues after its end")
        );
    }

    #[test]
    fn damage_under_a_right_checksum_never_panics() {
        let rows: Vec<_> = (0..23u64)
            .map(|i| row(i * i, (i % 3) as u32, (i * 9 % 7) << (i % 40), 1 << (i % 24), Op::Read))
            .collect();
        let good = written(&rows);
        let block = good.windows(4).position(|w| w == b"ROWS").unwrap();
        let header = Header::read(good[block..].first_chunk().unwrap()).unwrap();
        let end = block + HEADER_BYTES + header.length;
        let mut whole = 0;
        // The test changes the bytes of the row count, and all bytes after the header of the
        // section.
        for at in (block + 4..block + 8).chain(block + HEADER_BYTES..end) {
            for byte in 0..=255 {
                let mut bad = good.clone();
                bad[at] = byte;
                let count = u32::from_le_bytes(*bad[block + 4..].first_chunk().unwrap());
                section::finish(&mut bad[block..end], Kind::Rows, count as usize);
                if let Ok((rows, _)) = read(&bad) {
                    assert!(
                        rows.len() == 23 && rows.iter().all(|r| r.offset < 1 << 63 && r.device < 3)
                    );
                    whole += 1;
                }
            }
        }
        assert!(whole > 1000, "most bytes of data may have any value");
    }
}
