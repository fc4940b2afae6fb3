//! Text formats whose lines are independent of each other. Each format is a table of columns, which
//! [`ColumnReader`](crate::traces::rows::column_reader::ColumnReader) reads.

use vpass_drive::base::request::Op;

use crate::traces::rows::column_reader::{Header, Layout, Separator};
use crate::traces::rows::format::{Body, Epoch, Format, Kind, column};
use crate::traces::rows::head::{Head, has_decimal_time, is_decimal, is_whole};
use crate::traces::rows::unit::{TimeUnit, Times};
use Kind::{Action, Decimal, Device, Disk, Flags, Hint, Host, Offset, Size, Skip, Time, Whole};

const S: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;
const US: u64 = 1_000;
const TICK: u64 = 100;
const SECTOR: u64 = 512;

/// Texts of a direction.
type Codes = &'static [(&'static str, Op)];
const LETTERS: Codes = &[("R", Op::Read), ("W", Op::Write)];
const WORDS: Codes = &[("Read", Op::Read), ("Write", Op::Write)];
const SMALL_WORDS: Codes = &[("read", Op::Read), ("write", Op::Write), ("discard", Op::Trim)];
const ZERO_READS: Codes = &[("0", Op::Read), ("1", Op::Write)];
const ONE_READS: Codes = &[("1", Op::Read), ("0", Op::Write)];

/// Text whose lines have exactly the columns of the format, separated by commas.
const COMMAS: Layout =
    Layout { separator: Separator::Commas, optional: 0, may_continue: false, header: Header::None };
const BLANKS: Layout = Layout { separator: Separator::Blanks, ..COMMAS };
/// Header line of two collections, which may stand anywhere because files may be concatenated.
const TIMESTAMP: Header = Header::Named(b"timestamp,");

/// Parts of a format that differ rarely.
const USUAL: Format = Format {
    name: "",
    aliases: &[],
    description: "",
    columns: &[],
    clock: Epoch::Absolute,
    times: Times::Fixed("seconds"),
    has_op: true,
    detect: |_| false,
    body: Body::Columns(COMMAS),
};

/// MSR Cambridge traces (Narayanan, Donnelly and Rowstron, "Write Off-Loading", FAST '08; SNIA
/// IOTTA). Times count from 1601-01-01 (a Windows file time). The response and the hint (accepted
/// latency) may be absent. A line that begins with `Timestamp,` is a header.
pub(in crate::traces) const MSR: Format = Format {
    name: "msr",
    description: "MSR Cambridge CSV",
    columns: &[
        column("timestamp", Time(TICK)),
        column("host", Host),
        column("disk", Disk),
        column("type", Kind::Codes(WORDS)),
        column("offset", Offset(1)),
        column("size", Size(1)),
        column("response", Whole),
        column("hint", Hint),
    ],
    times: Times::Fixed("ticks of 100 ns"),
    detect: |head| {
        let is_row = |line: &&[u8]| !TIMESTAMP.is(line);
        let first = head.lines().find(is_row).unwrap_or_default();
        let mut columns = first.split(|b| *b == b',');
        columns.nth(3).is_some_and(|text| is_one(text, WORDS)) && columns.next().is_some()
    },
    body: Body::Columns(Layout { optional: 2, header: TIMESTAMP, ..COMMAS }),
    ..USUAL
};

/// Block traces of Alibaba's cloud disks (Li et al., "An In-Depth Analysis of Cloud Block Storage
/// Workloads in Large-Scale Production", IISWC '20). The repository alibaba/block-traces defines
/// the columns and their units. Times count from 1970-01-01.
pub(in crate::traces) const ALIBABA: Format = Format {
    name: "alibaba",
    description: "Alibaba cloud disks, CSV",
    columns: &[
        column("device", Device),
        column("opcode", Kind::Op(LETTERS)),
        column("offset", Offset(1)),
        column("length", Size(1)),
        column("timestamp", Time(US)),
    ],
    times: Times::Fixed("microseconds"),
    detect: |head| {
        let columns = head.first_fields();
        columns.len() >= 5 && is_whole(columns[0]) && is_one(columns[1], LETTERS)
    },
    ..USUAL
};

/// Traces of Tencent's cloud block storage, CBS (Zhang et al., "OSCA: An Online-Model Based Cache
/// Allocation Scheme in Cloud Block Storage Systems", USENIX ATC '20). The README of the traces at
/// SNIA IOTTA defines the columns and their units. Times count from 1970-01-01. The clock ticks
/// once per second; all requests of a second keep the order of the file.
pub(in crate::traces) const TENCENT: Format = Format {
    name: "tencent",
    aliases: &["cbs"],
    description: "Tencent cloud block storage, CSV",
    columns: &[
        column("timestamp", Time(S)),
        column("offset", Offset(SECTOR)),
        column("size", Size(SECTOR)),
        column("type", Kind::Op(ZERO_READS)),
        column("volume", Device),
    ],
    detect: |head| {
        let columns = head.first_fields();
        columns.len() == 5 && columns.iter().all(|c| is_whole(c))
    },
    ..USUAL
};

/// Traces of an enterprise virtual desktop storage (Lee et al., "Understanding Storage Traffic
/// Characteristics on Enterprise Virtual Desktop Infrastructure", SYSTOR '17; SNIA IOTTA). Times
/// count from 1970-01-01 and tell when a request was issued. The response may be empty. Rows are
/// roughly in the order of completion, so a time is often before the time of the previous row.
pub(in crate::traces) const SYSTOR: Format = Format {
    name: "systor",
    description: "SYSTOR '17 desktop storage, CSV",
    columns: &[
        column("Timestamp", Decimal(S)),
        column("Response", Skip("a decimal number of seconds, or empty")),
        column("IOType", Kind::Op(LETTERS)),
        column("LUN", Device),
        column("Offset", Offset(1)),
        column("Size", Size(1)),
    ],
    detect: |head| {
        let columns = head.first_fields();
        head.first() == b"Timestamp,Response,IOType,LUN,Offset,Size"
            || columns.len() == 6 && is_decimal(columns[0]) && is_one(columns[2], LETTERS)
    },
    body: Body::Columns(Layout { header: TIMESTAMP, ..COMMAS }),
    ..USUAL
};

/// Trace file format of the Storage Performance Council ("SPC Trace File Format Specification",
/// revision 1.0.1, 2002). The traces Financial and `WebSearch` of the `UMass` collection have this
/// format. ASU is the number of the application storage unit. According to the specification, the
/// description of a trace gives the size of a block, which is 512 bytes in all known collections.
/// White space around a value is allowed since revision 1.0.1. Optional columns may follow.
pub(in crate::traces) const SPC: Format = Format {
    name: "spc",
    description: "SPC-1 ASCII, UMass",
    columns: &[
        column("ASU", Device),
        column("LBA", Offset(SECTOR)),
        column("size", Size(1)),
        column("opcode", Kind::Codes(LETTERS)),
        column("timestamp", Decimal(S)),
    ],
    clock: Epoch::Relative,
    detect: |head| {
        let columns: Vec<_> = head.first_fields().into_iter().map(<[u8]>::trim_ascii).collect();
        columns.len() >= 5 && is_whole(columns[0]) && is_one(columns[3], LETTERS)
    },
    body: Body::Columns(Layout {
        separator: Separator::SpacedCommas,
        may_continue: true,
        ..COMMAS
    }),
    ..USUAL
};

/// ASCII trace of `MQSim`. The source file `src/host/ASCII_Trace_Definition.h` of `MQSim` defines
/// the columns and the type codes. `SSDsim` writes the same format. Other writers use other units
/// of time.
pub(in crate::traces) const MQSIM: Format = Format {
    name: "mqsim",
    aliases: &["ssdsim"],
    description: "MQSim and SSDsim ASCII",
    columns: &[
        column("time", Time(1)),
        column("device", Device),
        column("sector", Offset(SECTOR)),
        column("sectors", Size(SECTOR)),
        column("type", Kind::Op(ONE_READS)),
    ],
    clock: Epoch::Relative,
    times: Times::Usual(TimeUnit::Nanoseconds),
    detect: |head| are_whole(head, 5) && !has_decimal_time(head),
    body: Body::Columns(BLANKS),
    ..USUAL
};

/// Default ASCII trace of `DiskSim` 4, whose lines have the form `%lf %d %d %d %x` (Bucy et al.,
/// reference manual CMU-PDL-08-101). Other writers use other units of time. A file without decimal
/// points looks like the format `mqsim`.
pub(in crate::traces) const DISKSIM: Format = Format {
    name: "disksim",
    description: "DiskSim ASCII",
    columns: &[
        column("time", Decimal(MS)),
        column("device", Device),
        column("block", Offset(SECTOR)),
        column("blocks", Size(SECTOR)),
        column("flags", Flags),
    ],
    clock: Epoch::Relative,
    times: Times::Usual(TimeUnit::Milliseconds),
    detect: |head| {
        let columns = head.first_columns();
        columns.len() == 5
            && is_decimal(columns[0])
            && columns[1..4].iter().all(|c| is_whole(c))
            && has_decimal_time(head)
    },
    body: Body::Columns(BLANKS),
    ..USUAL
};

/// Logs of Windows disks by `DiskMon` of Sysinternals. Its web page says that offsets are in
/// sectors of 512 bytes, but does not define the columns of a saved log. vpass infers the units
/// from a public log of 87,160 requests. Time and duration are in seconds: with this unit, the log
/// takes 3.3 hours, and the durations are plausible latencies of a disk. Lengths are in sectors:
/// with this unit, many requests begin where another request ends. If `DiskMon` runs with the
/// option Show Clock Time, the second column is a time of day, which vpass cannot read.
pub(in crate::traces) const DISKMON: Format = Format {
    name: "diskmon",
    description: "Sysinternals DiskMon log",
    columns: &[
        column("number", Whole),
        column("time", Decimal(S)),
        column("duration", Skip("a decimal number of seconds")),
        column("disk", Device),
        column("request", Kind::Op(WORDS)),
        column("sector", Offset(SECTOR)),
        column("length", Size(SECTOR)),
    ],
    clock: Epoch::Relative,
    detect: |head| {
        let columns = head.first_columns();
        columns.len() >= 7
            && is_whole(columns[0])
            && is_decimal(columns[1])
            && is_one(columns[4], WORDS)
    },
    body: Body::Columns(BLANKS),
    ..USUAL
};

/// Address streams of the ARC paper (Megiddo and Modha, "ARC: A Self-Tuning, Low Overhead
/// Replacement Cache", FAST '03), `.lis` files. Each line describes a run of blocks. Cache
/// simulators read the columns as first block, number of blocks, an ignored column, and number of
/// the request; vpass does the same.
///
/// No file states the size of a block. The size of 512 bytes is inferred from the trace P3 of a
/// Windows workstation. Four fifths of the requests in P3 have 8, 16, 32, 64 or 128 blocks, which
/// are then 4 to 64 KiB. The trace OLTP counts pages of a database; vpass reads these pages as
/// blocks of 512 bytes too.
pub(in crate::traces) const ARC: Format = Format {
    name: "arc",
    description: "ARC address streams (.lis)",
    columns: &[
        column("block", Offset(SECTOR)),
        column("blocks", Size(SECTOR)),
        column("ignored", Whole),
        column("request", Whole),
    ],
    clock: Epoch::None,
    times: Times::None,
    has_op: false,
    detect: |head| are_whole(head, 4),
    body: Body::Columns(BLANKS),
    ..USUAL
};

/// Events of blktrace(8) in the form that the pyreuse scripts for `WiscSee` write. `WiscSee` is a
/// simulator (He et al., "The Unwritten Contract of Solid State Drives", `EuroSys` '17). Published
/// traces of `SQLite` have this format.
///
/// The scripts subtract a fixed padding from every offset. Requests to addresses before the padding
/// get negative offsets, which are invalid. vpass takes one kind of event (action) as the request
/// ([`Counted`](crate::traces::rows::blk::Counted)).
pub(in crate::traces) const WISCSEE: Format = Format {
    name: "wiscsee",
    description: "WiscSee's text of blktrace",
    columns: &[
        column("pid", Whole),
        column("action", Action),
        column("operation", Kind::Op(SMALL_WORDS)),
        column("offset", Offset(1)),
        column("size", Size(1)),
        column("time", Decimal(S)),
        column("gap", Skip("a decimal number of seconds")),
        column("sync", Skip("True or False")),
    ],
    clock: Epoch::Relative,
    detect: |head| {
        let columns = head.first_columns();
        columns.len() >= 6
            && is_whole(columns[0])
            && is_one(columns[2], SMALL_WORDS)
            && is_decimal(columns[5])
    },
    body: Body::Columns(Layout { optional: 2, may_continue: true, ..BLANKS }),
    ..USUAL
};

/// Returns whether the first line has `count` columns, all of them whole numbers.
fn are_whole(head: &Head, count: usize) -> bool {
    let columns = head.first_columns();
    columns.len() == count && columns.iter().all(|c| is_whole(c))
}

/// Returns whether a text is one of the codes, in any case.
fn is_one(text: &[u8], codes: Codes) -> bool {
    codes.iter().any(|(code, _)| text.eq_ignore_ascii_case(code.as_bytes()))
}
