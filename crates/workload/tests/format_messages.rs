//! Checks the exact text of the errors about an invalid line or record of each format, column by
//! column.

use crate::common;

use common::error_of;

#[track_caller]
/// Checks the error of a text's last line. Some tracers write negative numbers, so an error about a
/// negative number says how to skip them.
fn says(format: &str, text: &str, expected: &str) {
    let line = text.lines().last().unwrap_or_default();
    let is_negative = [",-", " -"].iter().any(|before| {
        line.split(before).skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    });
    let advice = if is_negative { "; `skip_bad_lines` passes over such lines" } else { "" };
    let expected = expected.replace(" format); ", &format!(" format){advice}; "));
    assert_eq!(error_of(Some(format), text.as_bytes()), expected);
}

#[test]
fn msr() {
    let says = |line: &str, what: &str| {
        let text = format!("1,h,0,Read,0,512,9\n{line}\n");
        says("msr", &text, &format!("trace, line 2: {what} (msr format); the line is {line:?}"));
    };
    says("x,h,0,Read,0,512,9", "column 1 (timestamp) should be a whole number of 100-ns ticks");
    says(
        "999999999999999999,h,0,Read,0,512,9",
        "column 1 (timestamp) should be a whole number of 100-ns ticks",
    );
    says("1,,0,Read,0,512,9", "column 2 (host) should be a name");
    says("1,h,-1,Read,0,512,9", "column 3 (disk) should be a whole number");
    says("1,h,0,Reed,0,512,9", "column 4 (type) should be Read or Write");
    says(
        "1,h,0,Read,-512,512,9",
        "column 5 (offset) should be a whole number below 2^63, in bytes",
    );
    says(
        "1,h,0,Read,9223372036854775808,512,9",
        "column 5 (offset) should be a whole number below 2^63, in bytes",
    );
    says("1,h,0,Read,0,4k,9", "column 6 (size) should be a whole number of bytes");
    says("1,h,0,Read,0,512,", "column 7 (response) should be a whole number of 100-ns ticks");
    says("1,h,0,Read,0", "column 6 (size) is missing; it should be a whole number of bytes");
    says("1,h,0,Read,0,512,9,9", "column 8 (hint) should be none, idle, typical or smallest");
    says("#comment", "column 1 (timestamp) should be a whole number of 100-ns ticks");
}

#[test]
fn disksim() {
    let says = |line: &str, what: &str| {
        let text = format!("0.5 0 8 8 1\n{line}\n");
        says(
            "disksim",
            &text,
            &format!("trace, line 2: {what} (disksim format); the line is {line:?}"),
        );
    };
    says(
        "1. 0 8 8 1",
        "column 1 (time) should be a decimal number of milliseconds (or of `time_unit`)",
    );
    says("1.5 4294967296 8 8 1", "column 2 (device) should be a whole number");
    says(
        "1.5 0 18014398509481984 8 1",
        "column 3 (block) should be a whole number below 2^54, in blocks of 512 bytes",
    );
    says("1.5 0 8 8.5 1", "column 4 (blocks) should be a whole number of 512-byte blocks");
    says("1.5 0 8 8 R", "column 5 (flags) should be hexadecimal flags with bit 0 set for a read");
    says(
        "1.5 0 8 8",
        "column 5 (flags) is missing; it should be hexadecimal flags with bit 0 set for a read",
    );
    says(
        "1.5 0 8 8 1 7",
        "there are more columns than the 5 expected columns: time, device, block, blocks, flags",
    );
}

#[test]
fn mqsim() {
    let says = |line: &str, what: &str| {
        let text = format!("0 0 8 8 1\n{line}\n");
        says(
            "mqsim",
            &text,
            &format!("trace, line 2: {what} (mqsim format); the line is {line:?}"),
        );
    };
    says(
        "1.5 0 8 8 1",
        "column 1 (time) should be a whole number of nanoseconds (or of `time_unit`)",
    );
    says(
        "18446744073709551616 0 8 8 1",
        "column 1 (time) should be a whole number of nanoseconds (or of `time_unit`)",
    );
    says("1 d 8 8 1", "column 2 (device) should be a whole number");
    says(
        "1 0 -8 8 1",
        "column 3 (sector) should be a whole number below 2^54, in sectors of 512 bytes",
    );
    says(
        "1 0 8 99999999999999999999 1",
        "column 4 (sectors) should be a whole number of 512-byte sectors",
    );
    says("1 0 8 8 2", "column 5 (type) should be 1 for a read or 0 for a write");
    says(
        "1 0 8 8 1 1",
        "there are more columns than the 5 expected columns: time, device, sector, sectors, type",
    );
}

#[test]
fn fio() {
    let says_after_header = |line: &str, what: &str| {
        let text = format!("fio version 3 iolog\n{line}\n");
        says("fio", &text, &format!("trace, line 2: {what} (fio format); the line is {line:?}"));
    };
    says_after_header(
        "1.0 /f read 0 512",
        "column 1 (timestamp) should be a whole number of microseconds (or of `time_unit`)",
    );
    says_after_header("1", "column 2 (filename) is missing; it should be a name without spaces");
    says_after_header(
        "1 /f erase 0 512",
        "column 3 (action) should be one of add, open, close, read, write, trim, sync, datasync, \
         sync_file_range, wait",
    );
    says_after_header(
        "1 /f read x 512",
        "column 4 (offset) should be a whole number below 2^63, in bytes",
    );
    says_after_header(
        "1 /f read 0",
        "column 5 (length) is missing; it should be a whole number of bytes",
    );
    says_after_header(
        "1 /f add 0",
        "there are more columns than the 5 expected columns: timestamp, filename, action, offset, \
         length",
    );
    assert_eq!(
        error_of(Some("fio"), b"fio version 2 iolog\n/f add\n"),
        "trace, line 1: the file is a version 2 iolog; the name of this format is fio2 (fio \
         format); the line is \"fio version 2 iolog\""
    );
    let header = "trace, line 1: the first line should be the header \"fio version 3 iolog\" (fio \
                  format); the line is";
    assert_eq!(
        error_of(None, b"fio version 4 iolog\n"),
        format!("{header} \"fio version 4 iolog\"")
    );
    says("fio", "1 /f read 0 512\n", &format!("{header} \"1 /f read 0 512\""));
}

#[test]
fn fio2() {
    let says = |line: &str, what: &str| {
        let text = format!("fio version 2 iolog\n{line}\n");
        says("fio2", &text, &format!("trace, line 2: {what} (fio2 format); the line is {line:?}"));
    };
    says(
        "/f",
        "column 2 (action) is missing; it should be one of add, open, close, read, write, trim, \
         sync, datasync, sync_file_range, wait",
    );
    says("/f read -1 512", "column 3 (offset) should be a whole number below 2^63, in bytes");
    says(
        "/f read 0 512 1",
        "there are more columns than the 4 expected columns: filename, action, offset, length",
    );
    assert_eq!(
        error_of(Some("fio2"), b"/f read 0 512\n"),
        "trace, line 1: the first line should be the header \"fio version 2 iolog\" (fio2 format); \
         the line is \"/f read 0 512\""
    );
}

#[test]
fn blkparse() {
    let says = |line: &str, what: &str| {
        let text = format!("8,0 3 1 0.0 697 Q W 8 + 8 [x]\n{line}\n");
        says(
            "blkparse",
            &text,
            &format!("trace, line 2: {what} (blkparse format); the line is {line:?}"),
        );
    };
    says("8:0 3 1 0.0 697 Q W 8 + 8 [x]", "column 1 (device) should be major,minor such as 8,0");
    says("8,0 3 1 0,0 697 Q W 8 + 8 [x]", "column 4 (time) should be a decimal number of seconds");
    says("8,0 3 1 0.0 697 Q 9 8 + 8 [x]", "column 7 (RWBS) should be letters such as R, WS or D");
    says(
        "8,0 3 1 0.0 697 Q W 18014398509481984 + 8 [x]",
        "column 8 (sector) should be a whole number below 2^54, in sectors of 512 bytes",
    );
    says("8,0 3 1 0.0 697 Q W 8 +8 [x]", "column 9 (+) should be the sign +");
    says(
        "8,0 3 1 0.0 697 Q W 8 + x [x]",
        "column 10 (sectors) should be a whole number of 512-byte sectors",
    );
    assert_eq!(
        error_of(None, b"8,0 3 1 0.0 697 G W 8 + 8 [x]\n"),
        "trace: holds no requests; none of the trace's events has the action that counts as a \
         request, see `blk_action`"
    );
}

#[test]
fn comma_separated_formats() {
    let says = |format: &str, good: &str, line: &str, what: &str| {
        says(
            format,
            &format!("{good}\n{line}\n"),
            &format!("trace, line 2: {what} ({format} format); the line is {line:?}"),
        );
    };
    let spc = |line: &str, what: &str| says("spc", "0,8,512,R,0.5", line, what);
    spc("x,8,512,R,0.5", "column 1 (ASU) should be a whole number");
    spc(
        "0,-8,512,R,0.5",
        "column 2 (LBA) should be a whole number below 2^54, in blocks of 512 bytes",
    );
    spc("0,8,512,X,0.5", "column 4 (opcode) should be R or W");
    spc("0,8,512,R,.5", "column 5 (timestamp) should be a decimal number of seconds");
    spc("0,8,512,R", "column 5 (timestamp) is missing; it should be a decimal number of seconds");
    let alibaba = |line: &str, what: &str| says("alibaba", "0,R,0,512,1", line, what);
    alibaba("0,r,0,512,1", "column 2 (opcode) should be R or W");
    alibaba(
        "0,R,9223372036854775808,512,1",
        "column 3 (offset) should be a whole number below 2^63, in bytes",
    );
    alibaba("0,R,0,512,1.5", "column 5 (timestamp) should be a whole number of microseconds");
    alibaba(
        "0,R,0,512,1,1",
        "there are more columns than the 5 expected columns: device, opcode, offset, length, \
         timestamp",
    );
    let tencent = |line: &str, what: &str| says("tencent", "1,8,8,0,5", line, what);
    tencent(
        "18446744074,8,8,0,5",
        "column 1 (timestamp) should be a whole number of seconds, less than 2^64 ns in total",
    );
    tencent("1,8,8,2,5", "column 4 (type) should be 0 for a read or 1 for a write");
    let systor = |line: &str, what: &str| says("systor", "1.5,,R,0,0,512", line, what);
    systor("1.5,,,0,0,512", "column 3 (IOType) should be R or W");
    systor("1.5,,R,0,-512,512", "column 5 (Offset) should be a whole number below 2^63, in bytes");
    systor("1.5,,R,0,0", "column 6 (Size) is missing; it should be a whole number of bytes");
}

#[test]
fn diskmon_and_wiscsee() {
    let says = |format: &str, good: &str, line: &str, what: &str| {
        says(
            format,
            &format!("{good}\n{line}\n"),
            &format!("trace, line 2: {what} ({format} format); the line is {line:?}"),
        );
    };
    let diskmon = |line: &str, what: &str| says("diskmon", "0 0.5 0.1 0 Read 8 8", line, what);
    diskmon("0 9:49:42 0.1 0 Read 8 8", "column 2 (time) should be a decimal number of seconds");
    diskmon("0 0.5 0.1 0 Flush 8 8", "column 5 (request) should be Read or Write");
    diskmon(
        "0 0.5 0.1 0 Read 8",
        "column 7 (length) is missing; it should be a whole number of 512-byte sectors",
    );
    let wiscsee = |line: &str, what: &str| says("wiscsee", "9 D read 0 512 0.5 0 True", line, what);
    wiscsee("9 D erase 0 512 0.5 0 True", "column 3 (operation) should be read, write or discard");
    wiscsee(
        "9 D read -8388608 512 0.5 0 True",
        "column 4 (offset) should be a whole number below 2^63, in bytes",
    );
    wiscsee(
        "9 D read 0 512",
        "column 6 (time) is missing; it should be a decimal number of seconds",
    );
}

#[test]
fn srt() {
    let header = b"$$TR_IOREC-1.3\ndisks = { 0 -> { sectorsize = 512 } };\n\x0c";
    let record = |size: u32, kind: u32, us: u32, device: u32| {
        [size, kind, 1, us, 0, 9, 512, 8, device, 4, 1, 1, 0, 1]
            .into_iter()
            .flat_map(u32::to_be_bytes)
            .collect::<Vec<u8>>()
    };
    let says = |record: &[u8], what: &str| {
        let bytes: Vec<_> = record.iter().take(16).map(|b| format!("{b:02x}")).collect();
        let expected = format!(
            "trace, record 2 at byte 55: {what} (srt format); the record begins with the bytes {}",
            bytes.join(" ")
        );
        assert_eq!(error_of(Some("srt"), &[header, record].concat()), expected);
    };
    says(
        &record(56, 0x0005_0001, 0, 0),
        "the field kind should be a version from 1 to 4 in the high bits, and a type in the low \
         bits",
    );
    says(
        &record(56, 0x0004_0001, 1_000_000, 0),
        "the field microseconds should be a whole number below a million",
    );
    says(
        &record(56, 0x0004_0001, 0, 0x0800_0308),
        "the field device should be a disk whose sectorsize the header gives",
    );
    says(
        &record(48, 0x0004_0001, 0, 0)[..48],
        "the field size should be the record's length, 52 to 64 bytes in steps of 4",
    );
    says(&record(56, 0x0004_0001, 0, 0)[..40], "the file ends within a record; it is truncated");
    let no_end = "the record's length is invalid, so the next record cannot be found";
    assert_eq!(
        error_of(Some("srt"), &[&header[..], &record(57, 0x0004_0001, 0, 0)].concat()),
        format!(
            "trace, record 2 at byte 55: {no_end} (srt format); the record begins with the bytes \
             00 00 00 39 00 04 00 01 00 00 00 01 00 00 00 00"
        )
    );
    assert_eq!(
        error_of(Some("srt"), b"text\n"),
        "trace, record 1 at byte 0: the file should begin with $$TR_IOREC-1.3 (srt format); the \
         record begins with the bytes 74 65 78 74 0a"
    );
}

#[test]
fn arc() {
    let says = |line: &str, what: &str| {
        let text = format!("1 8 0 0\n{line}\n");
        says("arc", &text, &format!("trace, line 2: {what} (arc format); the line is {line:?}"));
    };
    says(
        "-1 8 0 1",
        "column 1 (block) should be a whole number below 2^54, in blocks of 512 bytes",
    );
    says("1 x 0 1", "column 2 (blocks) should be a whole number of 512-byte blocks");
    says("1 8 0", "column 4 (request) is missing; it should be a whole number");
}

#[test]
fn vscsi() {
    let record = |command: u16, version: u16, block: u64| {
        let codes = [command, version].map(u16::to_le_bytes).concat();
        [&[0; 4][..], &[0, 2, 0, 0], &[0; 4], &codes, &block.to_le_bytes(), &[0; 8]].concat()
    };
    let good = record(0x28, 0x0100, 8);
    let says = |second: &[u8], what: &str| {
        assert_eq!(
            error_of(Some("vscsi"), &[&good, second].concat()),
            format!("trace, record 2 at byte 32: {what}")
        );
    };
    says(
        &record(0x28, 0, 8),
        "the field version should be 1 or 2 in the high byte, equal in every record (vscsi \
         format); the record begins with the bytes 00 00 00 00 00 02 00 00 00 00 00 00 28 00 00 00",
    );
    says(
        &record(0x2800, 0x0100, 8),
        "the field command should be a SCSI operation code below 256 (vscsi format); the record \
         begins with the bytes 00 00 00 00 00 02 00 00 00 00 00 00 00 28 00 01",
    );
    says(
        &record(0x28, 0x0100, 1 << 54),
        "the field block should be a whole number below 2^54, in blocks of 512 bytes (vscsi \
         format); the record begins with the bytes 00 00 00 00 00 02 00 00 00 00 00 00 28 00 00 01",
    );
    says(
        &good[..5],
        "the file ends within a record; it is truncated (vscsi format); the record begins with the \
         bytes 00 00 00 00 00",
    );
}
