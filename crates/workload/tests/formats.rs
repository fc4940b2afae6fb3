//! Checks that every format reads back its own files, is recognised without a name, and never
//! panics.

use crate::common;

use common::writers::{Holds, holds, written};
use common::{all_said, read_all, row, rows_of};
use proptest::prelude::*;
use std::path::Path;
use vpass_drive::base::request::Op::{Read, Write};
use vpass_workload::traces::{BlkAction, FORMATS, TraceFile, TraceOptions, TraceRow, format_named};

/// Gives events of two kinds. Only those that move data count.
#[test]
fn a_note_says_which_events_count() {
    let blkparse = b"8,0 3 1 0.1 697 Q W 223490 + 8 [x]\n8,0 3 2 0.2 697 G W 223490 + 8 [x]\n\
                     8,0 3 3 0.3 697 D W 223490 + 8 ( 3171) [x]\n8,0 3 4 0.4 697 Q R 36 [x]\n\
                     8,0 3 5 0.5 697 Q DS 2048 + 80 [x]\n8,0 3 6 0.6 0 C FWS 0 [0]\n\
                     8,0 3 7 0.7 0 C W 223490 + 8 ( 7000) [0]\n";
    let wiscsee = b"1 Q write 0 4096 0.1 0.0 True\n1 D write 0 4096 0.2 0.1 True\n\
                    1 D read 0 4096 0.3 0.1 True\n";
    for (text, action, said) in [
        (
            &blkparse[..],
            BlkAction::D,
            "counted events: D (1); the file also has Q (2) and C (1), which ",
        ),
        (&wiscsee[..], BlkAction::Q, "counted events: Q (1); the file also has D (2), which "),
    ] {
        let options = TraceOptions { blk_action: Some(action), ..all_said(None) };
        let mut file = TraceFile::from_reader(Path::new("a"), text, &options).unwrap();
        while file.advance().unwrap() {}
        assert_eq!(file.note().unwrap().to_string(), format!("a: {said}`blk_action` chooses"));
    }
}

#[test]
fn a_byte_order_mark_before_the_first_line_is_passed_over() {
    let line = b"128166386783630075,hm,0,Write,3164164096,40960,2896\n";
    let plain = rows_of(line, None).unwrap();
    let marked = [b"\xef\xbb\xbf", &line[..]].concat();
    assert_eq!(rows_of(&marked, None).unwrap(), plain);
    assert_eq!(rows_of(&marked, Some(format_named("msr").unwrap())).unwrap(), plain);
}

#[test]
fn srt_by_hand() {
    let header = b"$$TR_IOREC-1.3 (by hand)\0\nversion = 1.3;\ndisks = {\n 0 -> { ncyl = 9, \
                   adaptor = 1 -> { x }, sectorsize = 256 },\n2 -> { sectorsize = 512, sections = \
                   { 8 -> { \"/\" } } }\n};\n\x0c";
    let record = |fields: &[u32]| fields.iter().flat_map(|f| f.to_be_bytes()).collect::<Vec<u8>>();
    // The records are a read of disk 0, a text, a write of disk 2 in the short old format, and a
    // suspect read.
    let read =
        record(&[56, 0x0004_0001, 1, 500_000, 0, 9, 8192, 12_256, 0x0800_000f, 4, 13, 0x1b, 0, 1]);
    let text = record(&[16, 0x0004_0003, 0x6162_6364, 0]);
    let write = record(&[52, 0x0001_0001, 2, 7, 0, 9, 1024, 10, 0x0800_0208, 4, 0, 0x1a, 0]);
    let suspect = record(&[60, 0x0004_0004, 3, 0, 0, 9, 512, 1, 0x0800_0208, 4, 0, 1, 0, 1, 2]);
    let (format, rows) =
        rows_of(&[header, &read[..], &text, &write, &suspect].concat(), None).unwrap();
    assert_eq!(format, "srt");
    let expected = [
        row(1_500_000_000, 0, 12_256 * 256, 8192, Read),
        row(2_000_007_000, 2, 5120, 1024, Write),
        row(3_000_000_000, 2, 512, 512, Read),
    ];
    assert_eq!(rows, expected);
}

#[test]
fn vscsi_by_hand() {
    let v1 = |command: u16, block: u64, us: u64| {
        let words: Vec<u8> = [7u32, 8192, 1].into_iter().flat_map(u32::to_le_bytes).collect();
        let codes: Vec<u8> = [command, 0x0100].into_iter().flat_map(u16::to_le_bytes).collect();
        [words, codes, block.to_le_bytes().into(), us.to_le_bytes().into()].concat()
    };
    // The records are a write, a flush (SYNCHRONIZE CACHE) and a read.
    let (format, rows) =
        rows_of(&[v1(0x2a, 3, 10), v1(0x35, 0, 11), v1(0x88, 1 << 40, 12)].concat(), None).unwrap();
    assert_eq!(format, "vscsi");
    assert_eq!(rows, [row(10_000, 0, 1536, 8192, Write), row(12_000, 0, 1 << 49, 8192, Read)]);
    let v2 = |command: u16, block: u64, us: u64| {
        let codes: Vec<u8> = [command, 0x0200].into_iter().flat_map(u16::to_le_bytes).collect();
        let words: Vec<u8> = [7u32, 512, 1].into_iter().flat_map(u32::to_le_bytes).collect();
        let longs: Vec<u8> = [block, us, 250].into_iter().flat_map(u64::to_le_bytes).collect();
        [codes, words, longs].concat()
    };
    let (format, rows) = rows_of(&[v2(0x28, 5, 10), v2(0x0a, 6, 20)].concat(), None).unwrap();
    assert_eq!(format, "vscsi");
    assert_eq!(rows, [row(10_000, 0, 2560, 512, Read), row(20_000, 0, 3072, 512, Write)]);
}

#[test]
fn every_format_has_a_table_and_a_name_of_its_own() {
    for (i, format) in FORMATS.iter().enumerate() {
        assert!(!format.description.is_empty() && format.columns.len() > 3, "{}", format.name);
        assert!(FORMATS[..i].iter().all(|other| other.name != format.name));
        assert!(std::ptr::eq(format_named(&format.name.to_uppercase()).unwrap(), format));
    }
}

/// Makes rows that a format can hold exactly. There is at least one row, since a file without rows
/// is refused.
fn rows_for(format: &'static str) -> impl Strategy<Value = Vec<TraceRow>> {
    let Holds { time, end, address, capacity, devices, ops, .. } = holds(format);
    let times = 0..end.checked_div(time).unwrap_or(1);
    let row = (
        times,
        0..devices,
        0..capacity / address,
        1..=(16u64 << 20) / address,
        proptest::sample::select(ops),
    )
        .prop_map(move |(at, device, offset, bytes, op)| TraceRow {
            at_ns: at * time,
            device,
            offset: offset * address,
            bytes: bytes * address,
            op,
            hint: None,
        });
    proptest::collection::vec(row, 1..20)
}

proptest! {
    #[test]
    fn rows_round_trip(
        (name, rows) in proptest::sample::select(FORMATS.iter().map(|f| f.name).collect::<Vec<_>>())
            .prop_flat_map(|f| (Just(f), rows_for(f))),
        crlf in any::<bool>(),
        last_newline in any::<bool>(),
    ) {
        let mut bytes = written(name, &rows);
        if format_named(name).unwrap().is_text() {
            if !last_newline {
                bytes.pop();
            }
            if crlf {
                bytes = String::from_utf8(bytes).unwrap().replace('\n', "\r\n").into_bytes();
            }
        }
        let (file, read) = read_all(&bytes, &all_said(None)).unwrap();
        prop_assert_eq!(file.format().name, name);
        prop_assert_eq!(read.len(), rows.len());
        for (i, (read, written)) in read.into_iter().zip(rows).enumerate() {
            prop_assert_eq!(file.device_name(read.device), (holds(name).device)(written.device));
            let at_ns = if holds(name).time == 0 { i as u64 * 1000 } else { written.at_ns };
            prop_assert_eq!(read, TraceRow { device: read.device, at_ns, ..written });
        }
    }

    #[test]
    fn no_reader_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        for format in std::iter::once(None).chain(FORMATS.iter().map(Some)) {
            let _ = rows_of(&bytes, format);
        }
    }

    #[test]
    fn no_reader_panics_on_what_looks_right(text in "[0-9.,x \t\r\n\
        -]{0,80}(Read|write|trim|add)?[0-9., \n]{0,40}") {
        for format in std::iter::once(None).chain(FORMATS.iter().map(Some)) {
            let _ = rows_of(format!("fio version 3 iolog\n{text}").as_bytes(), format);
            let _ = rows_of(text.as_bytes(), format);
        }
    }
}
