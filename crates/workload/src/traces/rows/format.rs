//! What a trace format is: a name, a column table, a way to recognise it and a way to read it.

use crate::traces::rows::head::Head;
use crate::traces::rows::reader::Body;
pub(in crate::traces) use crate::traces::rows::trace_row::BadRow;
pub use crate::traces::rows::trace_row::{Epoch, TraceRow};
use crate::traces::rows::unit::Times;

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
            BadRow::Missing(i) => {
                format!("{} is missing; it should be {}", named(i), self.columns[i].holds)
            }
            BadRow::Extra => format!(
                "there are more than the {} columns {}",
                self.columns.len(),
                self.column_names()
            ),
            BadRow::Sentence(sentence) | BadRow::Fatal(sentence) => sentence.to_owned(),
        }
    }

    fn column_names(&self) -> String {
        self.columns.iter().map(|c| c.name).collect::<Vec<_>>().join(", ")
    }
}
