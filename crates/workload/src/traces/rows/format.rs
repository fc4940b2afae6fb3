//! Definition of a trace format: name, columns, detection and reader. Also the row that every
//! reader returns, and the errors of an invalid row.

use vpass_drive::base::failure::Failure;
use vpass_drive::base::latency::AccessLatency;
use vpass_drive::base::phrase::{Opt, Phrase};
use vpass_drive::base::request::Op;
use vpass_drive::phrase;

use crate::traces::rows::column_reader::Layout;
use crate::traces::rows::head::Head;
use crate::traces::rows::reader::{LineReader, Opening, RecordReader};
use crate::traces::rows::unit::{TimeUnit, Times};

/// Row of a trace as the file states it. The time is counted on the clock of the trace. The row may
/// lie beyond the end of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceRow {
    /// Time of the row on the trace's own clock, in ns.
    pub at_ns: u64,
    /// Number of the row's device within one file. [`crate::traces::TraceFile::device_name`]
    /// returns the name of the device.
    pub device: u32,
    /// First byte that the row reads, writes or trims.
    pub offset: u64,
    /// Number of bytes that the row reads, writes or trims.
    pub bytes: u64,
    /// Direction of the row: read, write or trim.
    pub op: Op,
    /// Hint of the request, if the trace has a column of hints and the row contains a hint.
    pub hint: Option<AccessLatency>,
}

/// Event of a recorded run other than a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceEvent {
    /// Flush of the host, with its time on the trace's own clock, in ns.
    Flush(u64),
    /// Failure of flash.
    Failure(Failure),
}

/// Error of a line or a record. Column numbers are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::traces) enum BadRow {
    /// The content of the column is invalid.
    Column(usize),
    /// The line ends before the column.
    Missing(usize),
    /// The line continues after the last column of the format.
    Extra,
    /// The error concerns the row as a whole and not one column. The text describes the error.
    Sentence(&'static str),
    /// Nothing after the error can be read, so `--skip-bad-lines` does not help.
    Fatal(&'static str),
}

/// Epoch from which the times of a trace are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Epoch {
    /// The times are dates. All files of a format whose times are dates share a clock.
    Absolute,
    /// The times are counted from the start of the recording.
    Relative,
    /// The times are those of a drive in a recorded run. A replay keeps them.
    Run,
    /// The format has no times.
    None,
}

/// Column of a text format, or field of a binary format.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Name of the column in messages and tables.
    pub name: &'static str,
    pub(in crate::traces) kind: Kind,
}

impl Column {
    /// Returns what the column should be: its content and its unit.
    pub fn holds(&self) -> String {
        self.kind.expected()
    }
}

/// Makes a column.
pub(in crate::traces) const fn column(name: &'static str, kind: Kind) -> Column {
    Column { name, kind }
}

/// Content of a column.
#[derive(Clone, Copy, Debug)]
pub(in crate::traces) enum Kind {
    /// Time as a whole number of units. The field is the length of the unit in ns.
    Time(u64),
    /// Time as a decimal number of units. The field is the length of the unit in ns, a power of
    /// ten.
    Decimal(u64),
    /// Time as [`Kind::Decimal`]. A colon may follow the number, as in the text of ftrace.
    Stamp(u64),
    /// Number of a device.
    Device,
    /// Name of a device.
    Name,
    /// First part of the name of a device, which [`Kind::Disk`] continues.
    Host,
    /// Number that ends the name of a device.
    Disk,
    /// Direction, as one of these texts.
    Op(&'static [(&'static str, Op)]),
    /// Direction, as bit 0 of hexadecimal flags.
    Flags,
    /// Event of a request, of which only some count.
    Action,
    /// Direction, as one of these texts in any case.
    Codes(&'static [(&'static str, Op)]),
    /// Address in units of this many bytes.
    Offset(u64),
    /// Size in units of this many bytes.
    Size(u64),
    /// Accepted latency of the request.
    Hint,
    /// Whole number that is not used.
    Whole,
    /// Column that is neither checked nor used. The text describes its content.
    Skip(&'static str),
    /// Text that rows of requests have. Lines with another text move no data.
    Only(&'static str),
    /// Column that the format's own reader reads. The text describes the content.
    Own(&'static str),
}

impl Kind {
    /// Returns what the column should be, to complete the sentence "the column should be ...".
    fn expected(self) -> String {
        let unit = |ns: u64| match TimeUnit::of_ns(ns) {
            Some(unit) => unit.in_words().into(),
            None => format!("{ns}-ns ticks"),
        };
        match self {
            Self::Time(ns) => format!("a whole number of {}", unit(ns)),
            Self::Decimal(ns) | Self::Stamp(ns) => format!("a decimal number of {}", unit(ns)),
            Self::Device | Self::Disk | Self::Whole => "a whole number".into(),
            Self::Name | Self::Host => "a name".into(),
            Self::Op(codes) | Self::Codes(codes) => {
                let of = |(op, name): (Op, &str)| {
                    let of_op = codes.iter().filter(|code| code.1 == op).map(|code| code.0);
                    let all = of_op.collect::<Vec<_>>().join("+");
                    (!all.is_empty()).then(|| format!("{all} for a {name}"))
                };
                let ops = [(Op::Read, "read"), (Op::Write, "write"), (Op::Trim, "trim")];
                ops.into_iter().filter_map(of).collect::<Vec<_>>().join(" or ")
            }
            Self::Flags => "hexadecimal flags with bit 0 set for a read".into(),
            Self::Offset(1) => "a whole number below 2^63, in bytes".into(),
            Self::Offset(512) => "a whole number below 2^54, in sectors of 512 bytes".into(),
            Self::Size(1) => "a whole number of bytes".into(),
            Self::Size(512) => "a whole number of 512-byte sectors".into(),
            Self::Offset(unit) | Self::Size(unit) => {
                format!("a whole number, in units of {unit} bytes")
            }
            Self::Action => "a letter such as Q, D or C".into(),
            Self::Hint => "none, idle, typical or smallest".into(),
            Self::Skip(text) | Self::Only(text) | Self::Own(text) => text.into(),
        }
    }

    fn is_time(self) -> bool {
        matches!(self, Self::Time(_) | Self::Decimal(_) | Self::Stamp(_))
    }
}

/// Function that makes the reader of a file, for each kind of format.
#[derive(Debug)]
pub(in crate::traces) enum Body {
    /// Arrangement of the columns in a line. The columns say how to read them.
    Columns(Layout),
    /// Function that makes the reader of another text format.
    Lines(fn(&Opening) -> Box<dyn LineReader>),
    /// Function that makes the reader of a binary format.
    Records(fn(&Opening) -> Box<dyn RecordReader>),
}

/// Trace format, with everything that is needed to detect and read files of this format.
#[derive(Debug)]
pub struct Format {
    /// Name of the format for the option `--format`.
    pub name: &'static str,
    /// Other names of the format.
    pub aliases: &'static [&'static str],
    /// One line that describes the format and says where such traces come from.
    pub description: &'static str,
    /// Columns or fields of a row, in the order in which a file contains them.
    pub columns: &'static [Column],
    /// Epoch of the times in a trace.
    pub clock: Epoch,
    /// Unit of the times in a trace.
    pub times: Times,
    /// Whether each row states a direction: read, write or trim.
    pub has_op: bool,
    /// Function that returns whether the start of a file looks like this format.
    pub(in crate::traces) detect: fn(&Head) -> bool,
    pub(in crate::traces) body: Body,
}

impl Format {
    /// Returns whether the format is text. Messages about a text format give line numbers.
    pub fn is_text(&self) -> bool {
        !matches!(self.body, Body::Records(_))
    }

    /// Returns whether the sizes of the format are in sectors of 512 bytes.
    pub(in crate::traces) fn has_sectors(&self) -> bool {
        self.columns.iter().any(|column| matches!(column.kind, Kind::Size(512)))
    }

    /// Returns the error text for an invalid line or record.
    pub(in crate::traces) fn explain(&self, bad: BadRow) -> Phrase {
        let named = |i: usize| {
            let name = self.columns[i].name;
            if self.is_text() {
                format!("column {} ({name})", i + 1)
            } else {
                format!("the field {name}")
            }
        };
        match bad {
            BadRow::Column(i) => phrase![named(i), " should be ", self.expected(i)],
            BadRow::Missing(i) => {
                phrase![named(i), " is missing; it should be ", self.expected(i)]
            }
            BadRow::Extra => {
                let all: Vec<_> = self.columns.iter().map(|c| c.name).collect();
                let (count, all) = (all.len(), all.join(", "));
                format!("there are more columns than the {count} expected columns: {all}").into()
            }
            BadRow::Sentence(sentence) | BadRow::Fatal(sentence) => sentence.into(),
        }
    }

    /// Returns what a column should be. The user may give another unit for times whose unit the
    /// format does not fix.
    fn expected(&self, column: usize) -> Phrase {
        let kind = self.columns[column].kind;
        match self.times {
            Times::Usual(_) if kind.is_time() => {
                phrase![kind.expected(), " (or of ", Opt::TimeUnit, ")"]
            }
            _ => kind.expected().into(),
        }
    }
}
