//! Every format reads back what was written in it, is recognised without being named, and never panics on anything.

mod common;

use common::{row, rows_of, units, written};
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
    let expected = [
        row(155_000, device, 249_856, 4096, Read),
        row(383_000, rows[1].device, 3_104_768, 4096, Write),
        row(1_990_348_000, device, 0, 65_536, Trim),
    ];
    assert_eq!(rows, expected);
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
        assert!(!format.description.is_empty() && format.columns.len() > 4, "{}", format.name);
        assert!(FORMATS[..i].iter().all(|other| other.name != format.name));
        assert!(std::ptr::eq(format_named(&format.name.to_uppercase()).unwrap(), format));
    }
}

/// Rows that a format can hold exactly; at least one, since a file without is refused.
fn rows_for(format: &'static str) -> impl Strategy<Value = Vec<Row>> {
    let (time, address) = units(format);
    let ops = if format == "fio" { vec![Read, Write, Trim] } else { vec![Read, Write] };
    let row =
        (0..u64::MAX / time, any::<u32>(), 0..(1u64 << 63) / address, 1..=(16u64 << 20) / address, proptest::sample::select(ops)).prop_map(
            move |(at, device, offset, bytes, op)| Row { at_ns: at * time, device, offset: offset * address, bytes: bytes * address, op },
        );
    proptest::collection::vec(row, 1..20)
}

proptest! {
    #[test]
    fn rows_round_trip(
        (name, rows) in proptest::sample::select(vec!["msr", "disksim", "mqsim", "fio"]).prop_flat_map(|f| (Just(f), rows_for(f))),
        crlf in any::<bool>(),
        last_newline in any::<bool>(),
    ) {
        let mut text = written(name, &rows);
        if !last_newline {
            text.pop();
        }
        if crlf {
            text = text.replace('\n', "\r\n");
        }
        let (format, mut read) = rows_of(text.as_bytes(), None).unwrap();
        prop_assert_eq!(format, name);
        if name == "fio" {
            // Its devices are file names, all the same here.
            read.iter_mut().zip(&rows).for_each(|(r, w)| r.device = w.device);
        }
        prop_assert_eq!(read, rows);
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
