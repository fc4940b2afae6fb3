//! What a trace format is: a name, a column table, a way to recognise it and a way to read a line.

use vpass_core::request::{Op, SourceError};

use super::FORMATS;
use super::detect::Head;

/// One row of a trace as it stands there: absolute time, nothing checked against a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The trace's own clock, in ns.
    pub at_ns: u64,
    /// A number that tells the devices of one file apart; their addresses overlap in the stream.
    pub device: u32,
    /// First byte addressed.
    pub offset: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// Direction.
    pub op: Op,
}

/// A column of a text format.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name in messages and tables.
    pub name: &'static str,
    /// What it holds, with its unit; completes "should be ...".
    pub holds: &'static str,
}

/// Shorthand for the column tables.
pub(super) const fn column(name: &'static str, holds: &'static str) -> Column {
    Column { name, holds }
}

/// What is wrong with a line, by column number from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BadLine {
    /// The column is there and does not hold what it should.
    Column(usize),
    /// The line ends before this column.
    Missing(usize),
    /// The line goes on after its last column.
    Extra,
    /// Something else, in words.
    Sentence(&'static str),
}

/// Accepts a header line or says what is wrong with it.
pub(super) type Header = fn(&[u8]) -> Result<(), BadLine>;

/// A trace format.
#[derive(Debug)]
pub struct Format {
    /// The name that `--format` takes.
    pub name: &'static str,
    /// Where such traces come from, in a line.
    pub description: &'static str,
    /// The columns in their order.
    pub columns: &'static [Column],
    /// Accepts the first line, where the format begins with a header.
    pub(super) header: Option<Header>,
    /// Whether a file that begins like this is one of these.
    pub(super) detect: fn(&Head) -> bool,
    /// Reads a line; `None` where the line is part of the format and moves no data.
    pub(super) parse: fn(&[u8]) -> Result<Option<Row>, BadLine>,
}

impl Format {
    /// The sentence for a line of this format.
    pub(super) fn explain(&self, bad: BadLine) -> String {
        match bad {
            BadLine::Column(i) => format!("column {} ({}) should be {}", i + 1, self.columns[i].name, self.columns[i].holds),
            BadLine::Missing(i) => {
                format!("column {} ({}) is missing; it should be {}", i + 1, self.columns[i].name, self.columns[i].holds)
            }
            BadLine::Extra => format!("there are more than the {} columns {}", self.columns.len(), self.column_names()),
            BadLine::Sentence(sentence) => sentence.to_owned(),
        }
    }

    fn column_names(&self) -> String {
        self.columns.iter().map(|c| c.name).collect::<Vec<_>>().join(", ")
    }
}

/// The format of that name.
///
/// # Errors
/// A sentence with the nearest name and all names, where there is none.
pub fn format_named(name: &str) -> Result<&'static Format, SourceError> {
    let wanted = name.to_ascii_lowercase();
    FORMATS.iter().find(|f| f.name == wanted).ok_or_else(|| {
        let nearest = crate::nearest::nearest(&wanted, FORMATS.iter().map(|f| f.name));
        let hint = nearest.map_or_else(String::new, |n| format!(" (did you mean {n}?)"));
        SourceError(format!("there is no trace format {}{hint}; known formats: {}", super::quote::quote(name.as_bytes()), known()))
    })
}

/// All formats, for messages.
pub(super) fn known() -> String {
    FORMATS.iter().map(|f| format!("{} ({})", f.name, f.description)).collect::<Vec<_>>().join(", ")
}
