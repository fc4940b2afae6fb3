//! Every format reads back what was written in it, is recognised without being named, and never panics on anything.

mod common;

use common::{Holds, all_said, holds, read_all, row, rows_of, written};
use proptest::prelude::*;
use vpass_core::request::Op::{Read, Trim, Write};
use vpass_workload::traces::{FORMATS, Row, format_named};

#[test]
fn msr_by_hand() {
    let text = b"128166386783630075,hm,0,Write,3164164096,40960,2896\n128166386783630309,hm,1,read,512,4096\r\n128166386783631602,,";
    let lines: Vec<_> = text.split_inclusive(|b| *b == b'\n').collect();
    let (format, rows) = rows_of(&lines[..2].concat(), None).unwrap();
    assert_eq!(format, "msr");
    assert_eq!(
        rows,
        [row(12_816_638_678_363_007_500, 0, 3_164_164_096, 40_960, Write), row(12_816_638_678_363_030_900, 1, 512, 4096, Read)]
    );
    assert!(rows_of(text, None).is_err());
}

#[test]
fn disksim_by_hand() {
    let (format, rows) = rows_of(b"0.000 5 174224064 16 1\n0.221 5 8 2 0\n1 5 8 2 0x41\n\n  2.5\t5 8 2 a", None).unwrap();
    assert_eq!(format, "disksim");
    assert_eq!(
        rows,
        [
            row(0, 5, 174_224_064 * 512, 8192, Read),
            row(221_000, 5, 4096, 1024, Write),
            row(1_000_000, 5, 4096, 1024, Read),
            row(2_500_000, 5, 4096, 1024, Write),
        ]
    );
}

#[test]
fn mqsim_by_hand() {
    let (format, rows) = rows_of(b"11413000 0 657728 16 1\n11565000 1 31244784 64 0\n", None).unwrap();
    assert_eq!(format, "mqsim");
    assert_eq!(rows, [row(11_413_000, 0, 657_728 * 512, 8192, Read), row(11_565_000, 1, 31_244_784 * 512, 32_768, Write)]);
}

#[test]
fn fio_by_hand() {
    // Lines of a log that fio 3.33 wrote, and the actions that it did not.
    let text = b"fio version 3 iolog\n27 ./t.bin add\n149 ./t.bin open\n155 ./t.bin read 249856 4096\n383 ./u.bin write 3104768 4096\n\
        1990345 ./t.bin sync 122880 0\n1990346 ./t.bin datasync 0 0\n1990347 ./t.bin wait 100 0\n1990348 ./t.bin trim 0 65536\n2000161 ./t.bin close\n";
    let (format, rows) = rows_of(text, None).unwrap();
    assert_eq!(format, "fio");
    let device = rows[0].device;
    assert_ne!(rows[1].device, device, "two files are two devices");
    assert_eq!([0, 1].map(|n| read_all(text, &all_said(None)).unwrap().0.device_name(n)), ["./t.bin", "./u.bin"]);
    let expected = [
        row(155_000, device, 249_856, 4096, Read),
        row(383_000, rows[1].device, 3_104_768, 4096, Write),
        row(1_990_348_000, device, 0, 65_536, Trim),
    ];
    assert_eq!(rows, expected);
}

#[test]
fn arc_by_hand() {
    let text = b"230027 8 0 0\n1842745 64 0 1\n216082 8 50 2\n";
    let (format, rows) = rows_of(text, None).unwrap();
    assert_eq!(format, "arc");
    // A million requests a second, all writes, because that was said.
    assert_eq!(
        rows,
        [row(0, 0, 230_027 * 512, 4096, Write), row(1000, 0, 1_842_745 * 512, 32_768, Write), row(2000, 0, 216_082 * 512, 4096, Write)]
    );
}

#[test]
fn vscsi_by_hand() {
    let v1 = |command: u16, block: u64, us: u64| {
        let words: Vec<u8> = [7u32, 8192, 1].into_iter().flat_map(u32::to_le_bytes).collect();
        let codes: Vec<u8> = [command, 0x0100].into_iter().flat_map(u16::to_le_bytes).collect();
        [words, codes, block.to_le_bytes().into(), us.to_le_bytes().into()].concat()
    };
    // A write, a flush (SYNCHRONIZE CACHE), a read.
    let (format, rows) = rows_of(&[v1(0x2a, 3, 10), v1(0x35, 0, 11), v1(0x88, 1 << 40, 12)].concat(), None).unwrap();
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
fn a_format_can_be_named_where_the_content_is_ambiguous() {
    // Whole milliseconds look like MQSim's nanoseconds.
    let text = b"3 0 8 8 1\n4 0 16 8 1\n";
    assert_eq!(rows_of(text, None).unwrap().0, "mqsim");
    let (format, rows) = rows_of(text, Some(format_named("disksim").unwrap())).unwrap();
    assert_eq!((format, rows[0].at_ns), ("disksim", 3_000_000));
}

#[test]
fn every_format_has_a_table_and_a_name_of_its_own() {
    for (i, format) in FORMATS.iter().enumerate() {
        assert!(!format.description.is_empty() && format.columns.len() > 3, "{}", format.name);
        assert!(FORMATS[..i].iter().all(|other| other.name != format.name));
        assert!(std::ptr::eq(format_named(&format.name.to_uppercase()).unwrap(), format));
    }
}

/// Rows that a format can hold exactly; at least one, since a file without is refused.
fn rows_for(format: &'static str) -> impl Strategy<Value = Vec<Row>> {
    let Holds { time, address, ops, .. } = holds(format);
    let times = 0..u64::MAX.checked_div(time).unwrap_or(1);
    let row = (times, any::<u32>(), 0..(1u64 << 63) / address, 1..=(16u64 << 20) / address, proptest::sample::select(ops)).prop_map(
        move |(at, device, offset, bytes, op)| Row { at_ns: at * time, device, offset: offset * address, bytes: bytes * address, op },
    );
    proptest::collection::vec(row, 1..20)
}

proptest! {
    #[test]
    fn rows_round_trip(
        (name, rows) in proptest::sample::select(FORMATS.iter().map(|f| f.name).collect::<Vec<_>>()).prop_flat_map(|f| (Just(f), rows_for(f))),
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
            prop_assert_eq!(read, Row { device: read.device, at_ns, ..written });
        }
    }

    #[test]
    fn no_reader_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        for format in std::iter::once(None).chain(FORMATS.iter().map(Some)) {
            let _ = rows_of(&bytes, format);
        }
    }

    #[test]
    fn no_reader_panics_on_what_looks_right(text in "[0-9.,x \t\r\n-]{0,80}(Read|write|trim|add)?[0-9., \n]{0,40}") {
        for format in std::iter::once(None).chain(FORMATS.iter().map(Some)) {
            let _ = rows_of(format!("fio version 3 iolog\n{text}").as_bytes(), format);
            let _ = rows_of(text.as_bytes(), format);
        }
    }
}
