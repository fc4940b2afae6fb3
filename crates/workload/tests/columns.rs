//! Reads the text of other tools by a list of columns (`--columns`). The lines have the shape of
//! published tools and collections.

use crate::common;

use std::path::Path;

use common::{all_said, row};
use vpass_drive::base::request::Op::{self, Read, Trim, Write};
use vpass_workload::traces::{Format, TraceFile, TraceRow};

const S: u64 = 1_000_000_000;

/// Reads a text. Returns the rows, and the name of each row's device.
fn read(columns: &str, text: &str) -> (Vec<TraceRow>, Vec<String>) {
    let format = Format::chosen(None, Some(columns)).unwrap();
    let (file, rows) = common::read_all(text.as_bytes(), &all_said(format)).unwrap();
    let names = rows.iter().map(|row| file.device_name(row.device)).collect();
    (rows, names)
}

#[test]
fn biosnoop_has_a_header_and_a_column_more() {
    let text = "TIME(s)     COMM           PID     DISK      T SECTOR     BYTES  LAT(ms)\n\
                11.269319   kworker/u16:4  2784813 vda       W 113638304  8192      5.49\n\
                11.272153   kworker/u16:4  2784813 vdb       R 114101768  212992    8.51\n";
    let (rows, names) = read("time:s,_,_,device,op,offset:sectors,size:bytes", text);
    assert_eq!(
        rows,
        [
            row(11_269_319_000, 0, 113_638_304 * 512, 8192, Write),
            row(11_272_153_000, 1, 114_101_768 * 512, 212_992, Read),
        ]
    );
    assert_eq!(names, ["vda", "vdb"]);
}

#[test]
fn ftrace_and_perf_have_several_events_and_letters_of_blktrace() {
    let ftrace = "# tracer: nop\n#\n#  TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n \
        fio-3241 [000] d..1. 5123.456000: block_rq_issue: 259,0 WS 4096 () 1000 + 8 [fio]\n \
        fio-3241 [001] d..1. 5123.456010: block_rq_complete: 259,0 WS () 1000 + 8 [0]\n \
        fio-3241 [001] d..1. 5123.456017: block_rq_issue: 259,0 RAM 4096 () 1008 + 8 [fio]\n \
        fio-3241 [001] d..1. 5123.456020: block_rq_issue: 259,0 FN 0 () 0 + 0 [fio]\n \
        fio-3241 [001] d..1. 5123.456030: block_rq_issue: 259,0 DS 0 () 2048 + 80 [fio]\n";
    let columns = "_,_,_,time:s,=block_rq_issue:,device,op,_,_,offset:sectors,_,size:sectors";
    let expected = [
        row(5123 * S + 456_000_000, 0, 512_000, 4096, Write),
        row(5123 * S + 456_017_000, 0, 516_096, 4096, Read),
        row(5123 * S + 456_030_000, 0, 1 << 20, 40_960, Trim),
    ];
    let (rows, names) = read(columns, ftrace);
    assert_eq!((rows, names[0].as_str()), (expected.to_vec(), "259,0"));
    let perf = ftrace.replace("fio-3241", "fio 3241").replace("d..1. ", "");
    let perf = perf.replace(": block_rq", ": block:block_rq");
    let columns = columns.replace("=block", "=block:block");
    assert_eq!(read(&columns, &perf).0, expected);
}

#[test]
fn csv_may_have_scsi_codes() {
    let text = "version,time,op,size,lbn\n1,5633898,2a,4096,42932745\n1, 5633899, 28, 512, 8\n";
    let (rows, names) = read("_,time:us,op,size:bytes,offset:sectors", text);
    assert_eq!(
        rows,
        [
            row(5_633_898_000, 0, 42_932_745 * 512, 4096, Write),
            row(5_633_899_000, 0, 4096, 512, Read),
        ]
    );
    assert_eq!(names, ["0", "0"], "a trace without devices has one device");
}

#[test]
fn codes_of_a_direction_can_be_given() {
    let text = "# block_id io_offset io_size op_time op_name user_namespace\n\
                4901402002 2097152 131072 1630000000.000 5 0\n\
                2557170089 6553600 131072 1630000000.200 3 1\n";
    let (rows, _) = read("_,offset:bytes,size:bytes,time:s,op:1+2+5/3+4+6", text);
    assert_eq!(
        rows,
        [
            row(1_630_000_000 * S, 0, 2 << 20, 131_072, Read),
            row(1_630_000_000 * S + 200_000_000, 0, 6_553_600, 131_072, Write),
        ]
    );
    let fiu = "89966899371486 4892 syslogd 904265560 8 W 6 0 531e779\n\
               89966899379999 4892 kjournald 904265568 16 R 6 1 a1\n";
    let (rows, names) = read("time:ns,_,_,offset:sectors,size:sectors,op,_,device", fiu);
    assert_eq!(rows[1], row(89_966_899_379_999, 1, 904_265_568 * 512, 8192, Read));
    assert_eq!((rows[0].op, names), (Write, vec!["0".into(), "1".into()]));
}

#[test]
fn words_digits_and_units() {
    for (word, op) in [("read", Read), ("WRITE", Write), ("Trim", Trim), ("d", Trim), ("1", Write)]
    {
        assert_eq!(
            read("op,offset:KiB,size:pages", &format!("{word}\t3\t2")).0,
            [row(0, 0, 3072, 8192, op)]
        );
    }
    // Facts that the columns lack come from options, as for other formats.
    let rows = read("offset,size", "0 512\n512 512\n").0;
    assert_eq!(
        rows.iter().map(|row| (row.at_ns, row.op)).collect::<Vec<_>>(),
        [(0, Op::Write), (1000, Op::Write)]
    );
    let options = all_said(Format::chosen(None, Some("time:ms,offset,size")).unwrap());
    let file = TraceFile::from_reader(Path::new("a"), &b"1 0 512\n"[..], &options).unwrap();
    assert_eq!(
        (file.format().name, file.format().given_columns()),
        ("columns", Some("time:ms,offset,size"))
    );
}
