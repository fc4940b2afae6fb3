//! Converts a block of rows to bytes and back. A block is stored column by column, and each column
//! is packed (docs/compact-trace.md).
//!
//! Each time and offset is predicted from the previous row, and the difference from the prediction
//! is stored. Sizes and devices are stored as differences from the smallest value in the block.

use vpass_drive::base::latency::AccessLatency;
use vpass_drive::base::request::Op;

use super::pack::{self, LOOK_AHEAD, Packed};
use crate::traces::rows::format::TraceRow;

/// Largest number of rows in a block. A block of this size has 300 KiB of rows and columns, which
/// fit into the second-level cache of a core.
pub(super) const MAX_ROWS: usize = 4096;
/// Length of the header of a column in bytes: 8 for the base, 8 for the unit, 4 for the widths, and
/// 4 for the length of the data.
const COLUMN_HEADER_BYTES: usize = 24;
/// Length of the headers of all columns in bytes. A block begins with these headers.
const HEADER_BYTES: usize = 4 * COLUMN_HEADER_BYTES;
/// Largest length of a block's content in bytes. The content has headers, directions and hints. For
/// each column, the content has codes, and at most 8 bytes per number.
pub(super) const MAX_BYTES: usize =
    HEADER_BYTES + 2 * (MAX_ROWS / 4) + 4 * (MAX_ROWS / 4 + 8 * MAX_ROWS);
/// Limit for offsets and ends of requests, in bytes. All trace formats have the same limit.
const ADDRESS_END: u64 = 1 << 63;

/// Column of a block. The columns are listed in the order in which a file contains them.
#[derive(Clone, Copy)]
enum Column {
    Time,
    Offset,
    Size,
    Device,
}

const COLUMNS: [Column; 4] = [Column::Time, Column::Offset, Column::Size, Column::Device];

/// Unpacked columns of a block. Later blocks use the same memory.
#[derive(Default)]
pub(super) struct Columns {
    numbers: [Vec<u64>; 4],
    packed: [Packed; 4],
}

impl Columns {
    fn of(&mut self, column: Column) -> &mut Vec<u64> {
        &mut self.numbers[column as usize]
    }
}

/// Encodes 1 to [`MAX_ROWS`] rows as a block, and appends the block to `out`. `hints` says whether
/// the block has a column of hints.
pub(super) fn encode(rows: &[TraceRow], hints: bool, columns: &mut Columns, out: &mut Vec<u8>) {
    let (start, begin) = rows.first().map_or((0, 0), |row| (row.at_ns, row.offset));
    columns.numbers.iter_mut().for_each(Vec::clear);
    let (mut time, mut end) = (start, begin);
    for row in rows {
        columns.of(Column::Time).push(row.at_ns.wrapping_sub(time));
        columns.of(Column::Offset).push(row.offset.wrapping_sub(end));
        columns.of(Column::Size).push(row.bytes);
        columns.of(Column::Device).push(u64::from(row.device));
        (time, end) = (row.at_ns, row.offset.wrapping_add(row.bytes));
    }
    for ((numbers, packed), column) in
        columns.numbers.iter_mut().zip(&mut columns.packed).zip(COLUMNS)
    {
        let (base, unit) = match column {
            Column::Time => (start, steps(numbers)),
            Column::Offset => (begin, steps(numbers)),
            Column::Size | Column::Device => distances(numbers),
        };
        pack::pack(numbers, packed);
        out.extend_from_slice(&base.to_le_bytes());
        out.extend_from_slice(&unit.to_le_bytes());
        out.extend_from_slice(&packed.widths);
        out.extend_from_slice(&(packed.data.len() as u32).to_le_bytes());
    }
    out.extend(
        rows.chunks(4).map(|four| four.iter().rev().fold(0, |byte, row| byte << 2 | row.op as u8)),
    );
    if hints {
        out.extend(
            rows.chunks(4)
                .map(|four| four.iter().rev().fold(0, |byte, row| byte << 2 | code_of(row.hint))),
        );
    }
    for packed in &columns.packed {
        out.extend_from_slice(&packed.codes);
        out.extend_from_slice(&packed.data);
    }
}

/// Divides signed differences by the greatest unit that divides all of them, and returns this unit.
/// The sign becomes the lowest bit, so that small differences give small numbers.
fn steps(numbers: &mut [u64]) -> u64 {
    let unit = numbers.iter().fold(0, |unit, n| common(n.cast_signed().unsigned_abs(), unit));
    for n in numbers {
        let multiple = n.cast_signed().unsigned_abs().checked_div(unit).unwrap_or(0);
        *n = if n.cast_signed() < 0 { (multiple << 1).wrapping_sub(1) } else { multiple << 1 };
    }
    unit
}

/// Replaces each number by its distance from the smallest number. The distances are divided by the
/// greatest unit that divides all of them. Returns the smallest number and the unit.
fn distances(numbers: &mut [u64]) -> (u64, u64) {
    let base = numbers.iter().copied().min().unwrap_or(0);
    let unit = numbers.iter().fold(0, |unit, n| common(n - base, unit));
    for n in numbers {
        *n = (*n - base).checked_div(unit).unwrap_or(0);
    }
    (base, unit)
}

/// Returns the greatest common divisor of two numbers. The divisor of 0 and n is n.
fn common(mut a: u64, mut b: u64) -> u64 {
    if b == 1 {
        return 1;
    }
    while a != 0 {
        (a, b) = (b % a, a);
    }
    b
}

/// Decodes a block of `count` rows, and appends the rows to `rows`. `hints` says whether the block
/// has a column of hints. `payload` also has the [`LOOK_AHEAD`] bytes that follow the block.
/// `devices` is the number of known devices.
///
/// # Errors
/// Returns a description of the error if the block is invalid. No row is appended then.
pub(super) fn decode(
    payload: &[u8],
    (count, hints): (usize, bool),
    devices: usize,
    columns: &mut Columns,
    rows: &mut Vec<TraceRow>,
) -> Result<(), &'static str> {
    let mut rest = Rest { payload, at: HEADER_BYTES, end: payload.len() - LOOK_AHEAD };
    let headers = payload[..rest.end].get(..HEADER_BYTES).ok_or(MISFIT)?;
    let ops = rest.take(count.div_ceil(4))?;
    let hints = rest.take(if hints { count.div_ceil(4) } else { 0 })?;
    for (header, column) in headers.chunks_exact(COLUMN_HEADER_BYTES).map(Header::read).zip(COLUMNS)
    {
        let codes = rest.take(pack::code_bytes(header.widths, count))?;
        let data = rest.take_with_look_ahead(header.data_bytes)?;
        let numbers = columns.of(column);
        numbers.resize(count, 0);
        if !pack::unpack(header.widths, codes, data, numbers) {
            return Err(MISFIT);
        }
        header.restore(column, numbers);
    }
    if rest.at != rest.end {
        return Err(MISFIT);
    }
    columns.follow();
    columns.check(ops, devices)?;
    columns.assemble(ops, rows);
    let first = rows.len() - count;
    for (four, byte) in rows[first..].chunks_mut(4).zip(hints) {
        for (i, row) in four.iter_mut().enumerate() {
            row.hint = HINTS[usize::from(byte >> (2 * i) & 3)];
        }
    }
    Ok(())
}

const MISFIT: &str = "the lengths in the block contradict each other";

/// Bytes of a block. `at` is the position of the first byte that was not yet read.
struct Rest<'a> {
    payload: &'a [u8],
    at: usize,
    end: usize,
}

impl<'a> Rest<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], &'static str> {
        self.take_with_look_ahead(length).map(|taken| &taken[..length])
    }

    fn take_with_look_ahead(&mut self, length: usize) -> Result<&'a [u8], &'static str> {
        let from = self.at;
        self.at = from.checked_add(length).filter(|to| *to <= self.end).ok_or(MISFIT)?;
        Ok(&self.payload[from..self.at + LOOK_AHEAD])
    }
}

/// Header of a column in a block.
struct Header {
    base: u64,
    unit: u64,
    widths: [u8; 4],
    data_bytes: usize,
}

impl Header {
    /// Parses the header of a column, which has 24 bytes.
    fn read(bytes: &[u8]) -> Self {
        let word =
            |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let [a, b, c, d, data_bytes @ ..] = word(16).to_le_bytes();
        Self {
            base: word(0),
            unit: word(8),
            widths: [a, b, c, d],
            data_bytes: u32::from_le_bytes(data_bytes) as usize,
        }
    }

    /// Converts unpacked numbers to the values of the column. For offsets, [`Columns::follow`] must
    /// still add the sizes of earlier rows.
    fn restore(&self, column: Column, numbers: &mut [u64]) {
        let &Self { base, unit, .. } = self;
        match column {
            Column::Time | Column::Offset => {
                let mut sum = base;
                for n in numbers {
                    sum = sum.wrapping_add((*n >> 1 ^ (*n & 1).wrapping_neg()).wrapping_mul(unit));
                    *n = sum;
                }
            }
            Column::Size | Column::Device if self.widths[3] == 0 => numbers.fill(base),
            Column::Size | Column::Device => {
                for n in numbers.iter_mut() {
                    *n = n.wrapping_mul(unit).wrapping_add(base);
                }
            }
        }
    }
}

impl Columns {
    /// Adds the sizes of all earlier requests of the block to each offset.
    fn follow(&mut self) {
        let [_, offsets, sizes, _] = &mut self.numbers;
        let mut behind = 0u64;
        for (offset, size) in offsets.iter_mut().zip(sizes) {
            *offset = offset.wrapping_add(behind);
            behind = behind.wrapping_add(*size);
        }
    }

    /// Checks the offsets, devices and directions of all rows of the block. Sizes are checked
    /// later, row by row, as in other formats.
    fn check(&self, ops: &[u8], devices: usize) -> Result<(), &'static str> {
        let [_, offsets, _, indices] = &self.numbers;
        // An offset that is too large has the highest bit set.
        if offsets.iter().fold(0, |all, n| all | n) >= ADDRESS_END {
            return Err("an offset is not below 2^63");
        }
        if indices.iter().any(|index| *index >= devices as u64) {
            return Err("a row names a device that was not listed before this row");
        }
        if ops.iter().fold(0, |all, four| all | four & four << 1 & 0b1010_1010) != 0 {
            return Err("a direction is neither read, write nor trim");
        }
        Ok(())
    }

    /// Appends the rows of the block to `rows`.
    fn assemble(&self, ops: &[u8], rows: &mut Vec<TraceRow>) {
        let [times, offsets, sizes, indices] = &self.numbers;
        let numbers = times.iter().zip(offsets).zip(sizes).zip(indices).enumerate();
        rows.extend(numbers.map(|(i, (((at_ns, offset), bytes), index))| {
            let op = OPS[usize::from(ops[i / 4] >> (i % 4 * 2) & 3)];
            TraceRow {
                at_ns: *at_ns,
                device: *index as u32,
                offset: *offset,
                bytes: *bytes,
                op,
                hint: None,
            }
        }));
    }
}

/// Hint for each code in a file. The codes are those of `NVMe`.
const HINTS: [Option<AccessLatency>; 4] =
    [None, Some(AccessLatency::Idle), Some(AccessLatency::Typical), Some(AccessLatency::Smallest)];

fn code_of(hint: Option<AccessLatency>) -> u8 {
    HINTS.iter().position(|of| *of == hint).expect("every hint has a code") as u8
}

/// Direction for each code in a file. The code 3 is refused before this table is used.
const OPS: [Op; 4] = [Op::Read, Op::Write, Op::Trim, Op::Trim];
