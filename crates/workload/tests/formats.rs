//! Checks that every format reads back its own files, is recognised without a name, and never
//! panics.

use crate::common;

use common::writers::{Holds, holds, written};
use common::{all_said, read_all, row, rows_of};
use proptest::prelude::*;
use std::path::Path;
use vpass_drive::base::request::Op::{Read, Trim, Write};
use vpass_workload::traces::{
    BlkAction, FORMATS, MissingClock, TraceFile, TraceOptions, TraceRow, format_named,
};

#[test]
fn msr_by_hand() {
    let text = b"128166386783630075,hm,0,Write,3164164096,40960,2896\n\
                 128166386783630309,hm,1,read,512,4096\r\n128166386783631602,,";
    let lines: Vec<_> = text.split_inclusive(|b| *b == b'\n').collect();
    let (format, rows) = rows_of(&lines[..2].concat(), None).unwrap();
    assert_eq!(format, "msr");
    assert_eq!(
        rows,
        [
            row(12_816_638_678_363_007_500, 0, 3_164_164_096, 40_960, Write),
            row(12_816_638_678_363_030_900, 1, 512, 4096, Read)
        ]
    );
    assert!(rows_of(text, None).is_err());
}

#[test]
fn disksim_by_hand() {
    let (format, rows) =
        rows_of(b"0.000 5 174224064 16 1\n0.221 5 8 2 0\n1 5 8 2 0x41\n\n  2.5\t5 8 2 a", None)
            .unwrap();
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
    let (format, rows) =
        rows_of(b"11413000 0 657728 16 1\n11565000 1 31244784 64 0\n", None).unwrap();
    assert_eq!(format, "mqsim");
    assert_eq!(
        rows,
        [
            row(11_413_000, 0, 657_728 * 512, 8192, Read),
            row(11_565_000, 1, 31_244_784 * 512, 32_768, Write)
        ]
    );
}

#[test]
fn fio_by_hand() {
    // The text has lines of a log that fio 3.33 wrote, and lines with other actions.
    let text = b"fio version 3 iolog\n27 ./t.bin add\n149 ./t.bin open\n155 ./t.bin read 249856 \
                 4096\n383 ./u.bin write 3104768 4096\n1990345 ./t.bin sync 122880 0\n1990346 \
                 ./t.bin datasync 0 0\n1990347 ./t.bin wait 100 0\n1990348 ./t.bin trim 0 65536\n\
                 2000161 ./t.bin close\n";
    let (format, rows) = rows_of(text, None).unwrap();
    assert_eq!(format, "fio");
    let device = rows[0].device;
    assert_ne!(rows[1].device, device, "two files are two devices");
    assert_eq!(
        [0, 1].map(|n| read_all(text, &all_said(None)).unwrap().0.device_name(n)),
        ["./t.bin", "./u.bin"]
    );
    let expected = [
        row(155_000, device, 249_856, 4096, Read),
        row(383_000, rows[1].device, 3_104_768, 4096, Write),
        row(1_990_348_000, device, 0, 65_536, Trim),
    ];
    assert_eq!(rows, expected);
}

#[test]
fn fio_logs_appended_to_each_other_go_on() {
    let text = b"fio version 3 iolog\n5 /f read 0 512\n30 /f read 512 512\nfio version 3 iolog\n0 \
                 /f add\n7 /f read 0 512\n";
    let (_, rows) = rows_of(text, None).unwrap();
    assert_eq!(rows.iter().map(|r| r.at_ns).collect::<Vec<_>>(), [5000, 30_000, 37_000]);
}

#[test]
fn fio2_by_hand() {
    let text =
        b"fio version 2 iolog\n/t add\n/t open\n/t read 4096 512\n/t wait 99 0\n/t write 0 4096\n\
          /t wait 500 0\n/u trim 8192 65536\n/t sync 0 0\n/t datasync 0 0\n/u read 0 512\n/t \
          close\n";
    let (file, rows) = read_all(text, &all_said(None)).unwrap();
    assert_eq!((file.format().name, file.device_name(1).as_str()), ("fio2", "/u"));
    // There is one request per microsecond. The wait of 99 us is too short to count.
    let expected = [
        row(0, 0, 4096, 512, Read),
        row(1000, 0, 0, 4096, Write),
        row(500_000, 1, 8192, 65_536, Trim),
        row(501_000, 1, 0, 512, Read),
    ];
    assert_eq!(rows, expected);
    let at_once = TraceOptions { clock: MissingClock::Ignore, ..TraceOptions::default() };
    let (_, rows) =
        read_all(b"fio version 2 iolog\n/t read 0 512\n/t read 0 512\n", &at_once).unwrap();
    assert!(rows.iter().all(|r| r.at_ns == 0));
}

/// Gives events of two kinds. Only those that move data count.
#[test]
fn a_note_says_which_events_count() {
    let wiscsee = b"1 Q write 0 4096 0.1 0.0 True\n1 D write 0 4096 0.2 0.1 True\n\
                    1 D read 0 4096 0.3 0.1 True\n";
    for (text, action, said) in [
        (
            BLKPARSE,
            BlkAction::D,
            "counted events: D (1); the file also has Q (4) and C (1), which ",
        ),
        (&wiscsee[..], BlkAction::Q, "counted events: Q (1); the file also has D (2), which "),
    ] {
        let options = TraceOptions { blk_action: Some(action), ..all_said(None) };
        let mut file = TraceFile::from_reader(Path::new("a"), text, &options).unwrap();
        while file.advance().unwrap() {}
        assert_eq!(file.note().unwrap().to_string(), format!("a: {said}`blk_action` chooses"));
    }
}

const BLKPARSE: &[u8] = b"\
  8,0    3        1     0.000000000   697  Q   W 223490 + 8 [kjournald]
  8,0    3        2     0.000001829   697  G   W 223490 + 8 [kjournald]
  8,0    3        3     0.000005000   697  D   W 223490 + 8 ( 3171) [kjournald]
259,12   1        9     0.000006000   700  Q  RA 16 + 256 [fio]
  8,0    3        4     0.000007000     0  m   N cfq workload slice:100
  8,0    3        5     0.000008000   697  Q   R 36 (12 01 00 00 24 00) [smartd]
  8,0    3        5     0.000008500   697  Q   R 36 [g++ + 8]
  8,0    3        6     0.000009000   697  Q FWS [jbd2/sda1-8]
  8,0    3        7     0.000010000   697  Q  DS 2048 + 8388600 [fstrim]
  8,0    3        8     0.000011000   697  A  WS 8 + 8 <- (8,1) 0
  8,0    3        9     0.000012000     0  C   W 223490 + 8 ( 7000) [0]
  8,0    3        9     0.000012500     0  C FWS 0 [0]
  8,0    3       10     0.000013000   697  Q FWFSM 24 + 8 [jbd2/sda1-8]
CPU3 (8,0):
 Reads Queued:           1,      128KiB\t Writes Queued:           2,        8KiB

Total (sda):
 Throughput (R/W): 5KiB/s / 4KiB/s
Events (sda): 11 entries
Skips: 0 forward (0 -   0.0%)
";

#[test]
fn blkparse_by_hand() {
    let (file, rows) = read_all(BLKPARSE, &all_said(None)).unwrap();
    assert_eq!(
        (file.format().name, file.device_name(0), file.device_name(1)),
        ("blkparse", "8,0".into(), "259,12".into())
    );
    let expected = [
        row(0, 0, 223_490 * 512, 4096, Write),
        row(6000, 1, 8192, 131_072, Read),
        row(10_000, 0, 2048 * 512, 8_388_600 * 512, Trim),
        row(13_000, 0, 24 * 512, 4096, Write),
    ];
    assert_eq!(rows, expected);
    for (action, at_ns) in [(BlkAction::D, 5000), (BlkAction::C, 12_000)] {
        let rows = read_all(BLKPARSE, &TraceOptions { blk_action: Some(action), ..all_said(None) })
            .unwrap()
            .1;
        assert_eq!(rows, [row(at_ns, 0, 223_490 * 512, 4096, Write)], "{action:?}");
    }
    // Without queued requests, issued requests count.
    let text = String::from_utf8(BLKPARSE.to_vec()).unwrap().replace("  Q ", "  I ");
    assert_eq!(
        rows_of(text.as_bytes(), None).unwrap().1,
        [row(5000, 0, 223_490 * 512, 4096, Write)]
    );
    // Two files are concatenated, so events continue after a summary.
    assert_eq!(rows_of(&[BLKPARSE, BLKPARSE].concat(), None).unwrap().1.len(), 8);
}

#[test]
fn spc_by_hand() {
    let (format, rows) = rows_of(
        b"0,20941264,8192,W,0.551706\n1, 3 ,512 ,r,0.6, more, of it\n23,0,1536,R,7\n",
        None,
    )
    .unwrap();
    assert_eq!(format, "spc");
    let expected = [
        row(551_706_000, 0, 20_941_264 * 512, 8192, Write),
        row(600_000_000, 1, 1536, 512, Read),
        row(7_000_000_000, 23, 0, 1536, Read),
    ];
    assert_eq!(rows, expected);
}

#[test]
fn alibaba_by_hand() {
    let (format, rows) =
        rows_of(b"419,W,8792731648,16384,1577808144360767\n7,R,0,512,1577808144360768\n", None)
            .unwrap();
    assert_eq!(format, "alibaba");
    let us = 1_577_808_144_360_767;
    assert_eq!(
        rows,
        [row(us * 1000, 419, 8_792_731_648, 16_384, Write), row((us + 1) * 1000, 7, 0, 512, Read)]
    );
}

#[test]
fn tencent_by_hand() {
    let (format, rows) =
        rows_of(b"1538323200,12910952,128,0,1063\n1538323201,8,1,1,5\n", None).unwrap();
    assert_eq!(format, "tencent");
    let ns = 1_538_323_200_000_000_000;
    assert_eq!(
        rows,
        [
            row(ns, 1063, 12_910_952 * 512, 65_536, Read),
            row(ns + 1_000_000_000, 5, 4096, 512, Write)
        ]
    );
}

#[test]
fn systor_by_hand() {
    let header = "Timestamp,Response,IOType,LUN,Offset,Size\r\n";
    let lines = "1456095145.133076,0.000806000,R,0,899056122368,131072\n\
                 1456095145.126285001,,W,4,4096,512\n";
    for text in [format!("{header}{lines}"), lines.to_owned(), format!("{lines}{header}")] {
        let (format, rows) = rows_of(text.as_bytes(), None).unwrap();
        assert_eq!(format, "systor");
        let ns = 1_456_095_145_000_000_000;
        assert_eq!(
            rows,
            [
                row(ns + 133_076_000, 0, 899_056_122_368, 131_072, Read),
                row(ns + 126_285_001, 4, 4096, 512, Write)
            ]
        );
    }
}

#[test]
fn diskmon_by_hand() {
    let (format, rows) = rows_of(
        b"0\t0.016375\t0.00038147\t0\tWrite\t3271215\t8\r\n1\t0.5\t1e-05\t1\tRead\t64\t16\r\n",
        None,
    )
    .unwrap();
    assert_eq!(format, "diskmon");
    assert_eq!(
        rows,
        [row(16_375_000, 0, 3_271_215 * 512, 4096, Write), row(500_000_000, 1, 32_768, 8192, Read)]
    );
}

#[test]
fn wiscsee_by_hand() {
    let text =
        b"909 D read 0 4096 0.000000000 0 False\n35 C read 0 4096 0.000100000 0.0001 False\n35 D \
          write 512 319488 0.025470487 1e-3 True\n0 D discard 4096 33554432 1.5 6.9e-06 True\n";
    let (format, rows) = rows_of(text, None).unwrap();
    assert_eq!(format, "wiscsee");
    let expected = [
        row(0, 0, 0, 4096, Read),
        row(25_470_487, 0, 512, 319_488, Write),
        row(1_500_000_000, 0, 4096, 33_554_432, Trim),
    ];
    assert_eq!(rows, expected);
    let completed = TraceOptions { blk_action: Some(BlkAction::C), ..all_said(None) };
    assert_eq!(read_all(text, &completed).unwrap().1, [row(100_000, 0, 0, 4096, Read)]);
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
fn arc_by_hand() {
    let text = b"230027 8 0 0\n1842745 64 0 1\n216082 8 50 2\n";
    let (format, rows) = rows_of(text, None).unwrap();
    assert_eq!(format, "arc");
    // As the options say, there are a million requests per second, and all are writes.
    assert_eq!(
        rows,
        [
            row(0, 0, 230_027 * 512, 4096, Write),
            row(1000, 0, 1_842_745 * 512, 32_768, Write),
            row(2000, 0, 216_082 * 512, 4096, Write)
        ]
    );
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
