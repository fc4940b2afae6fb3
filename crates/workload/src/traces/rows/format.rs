//! What a trace format is: a name, a column table, a way to recognise it and a way to read it.

use vpass_core::base::latency::AccessLatency;
use vpass_core::base::request::Op;

use crate::traces::rows::head::Head;
use crate::traces::rows::reader::Body;
use crate::traces::rows::unit::Times;

/// One row of a trace as it stands there: absolute time, nothing checked against a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceRow {
    /// The trace's own clock, in ns.
    pub at_ns: u64,
    /// A number that tells the devices of one file apart; [`crate::traces::TraceFile::device_name`] has their names.
    pub device: u32,
    /// First byte addressed.
    pub offset: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// Direction.
    pub op: Op,
    /// How slow it may be, where the trace has a column for that and says it.
    pub hint: Option<AccessLatency>,
}

/// A column of a text format, or a field of a binary one.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name in messages and tables.
    pub name: &'static str,
    /// What it holds, with its unit; completes "should be ...".
    pub holds: &'static str,
}

/// Shorthand for the column tables.
pub(in crate::traces) const fn column(name: &'static str, holds: &'static str) -> Column {
    Column { name, holds }
}

/// What is wrong with a line or a record, by column number from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::traces) enum BadRow {
    /// The column is there and does not hold what it should.
    Column(usize),
    /// The line ends before this column.
    Missing(usize),
    /// The line goes on after its last column.
    Extra,
    /// Something else, in words.
    Sentence(&'static str),
    /// The same, and what follows cannot be read either: `--skip-bad-lines` does not help.
    Fatal(&'static str),
}

/// What the times of a format count from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Epoch {
    /// A date: files of this format that were recorded at the same time have the same clock.
    Absolute,
    /// The beginning of the recording.
    Relative,
    /// There are no times.
    None,
}

/// A trace format.
#[derive(Debug)]
pub struct Format {
    /// The name that `--format` takes.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// Where such traces come from, in a line.
    pub description: &'static str,
    /// The columns or fields in their order.
    pub columns: &'static [Column],
    /// What its times count from.
    pub clock: Epoch,
    /// What they are in.
    pub times: Times,
    /// Whether it says what is read and what is written.
    pub has_op: bool,
    /// Whether a file that begins like this is one of these.
    pub(in crate::traces) detect: fn(&Head) -> bool,
    /// Makes the reader of one file.
    pub(in crate::traces) body: Body,
}

impl Format {
    /// Whether it is text, so that messages name lines.
    pub fn is_text(&self) -> bool {
        matches!(self.body, Body::Lines(_))
    }

    /// The sentence for a line or record of this format.
    pub(in crate::traces) fn explain(&self, bad: BadRow) -> String {
        let named = |i: usize| match self.body {
            Body::Lines(_) => format!("column {} ({})", i + 1, self.columns[i].name),
            Body::Records(_) | Body::Batches(_) => format!("the field {}", self.columns[i].name),
        };
        match bad {
            BadRow::Column(i) => format!("{} should be {}", named(i), self.columns[i].holds),
            BadRow::Missing(i) => format!("{} is missing; it should be {}", named(i), self.columns[i].holds),
            BadRow::Extra => format!("there are more than the {} columns {}", self.columns.len(), self.column_names()),
            BadRow::Sentence(sentence) | BadRow::Fatal(sentence) => sentence.to_owned(),
        }
    }

    fn column_names(&self) -> String {
        self.columns.iter().map(|c| c.name).collect::<Vec<_>>().join(", ")
    }
}
