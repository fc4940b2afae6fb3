//! Definition of a trace format: name, columns, detection and reader.

use crate::traces::rows::head::Head;
use crate::traces::rows::reader::Body;
pub(in crate::traces) use crate::traces::rows::trace_row::BadRow;
pub use crate::traces::rows::trace_row::{Epoch, TraceRow};
use crate::traces::rows::unit::Times;
use vpass_drive::base::phrase::{Opt, Phrase};
use vpass_drive::phrase;

/// Column of a text format, or field of a binary format.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Name of the column in messages and tables.
    pub name: &'static str,
    /// Content and unit of the column. The text completes the message "the column should be ...".
    pub holds: &'static str,
    /// Whether the user may give another unit for the column.
    takes_unit: bool,
}

/// Makes a column whose unit the user cannot change.
pub(in crate::traces) const fn column(name: &'static str, holds: &'static str) -> Column {
    Column { name, holds, takes_unit: false }
}

/// Makes a column of times whose unit the user can change.
pub(in crate::traces) const fn time_column(name: &'static str, holds: &'static str) -> Column {
    Column { name, holds, takes_unit: true }
}

impl Column {
    fn expected(&self) -> Phrase {
        if self.takes_unit {
            phrase![self.holds, " (or of ", Opt::TimeUnit, ")"]
        } else {
            self.holds.into()
        }
    }
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
    /// Function that makes the reader of a file.
    pub(in crate::traces) body: Body,
}

impl Format {
    /// Returns whether the format is text. Messages about a text format give line numbers.
    pub fn is_text(&self) -> bool {
        matches!(self.body, Body::Lines(_))
    }

    /// Returns whether the sizes of the format are in sectors of 512 bytes.
    pub(in crate::traces) fn has_sectors(&self) -> bool {
        self.columns.iter().any(|column| column.holds.contains("512-byte"))
    }

    /// Returns the error text for an invalid line or record.
    pub(in crate::traces) fn explain(&self, bad: BadRow) -> Phrase {
        let named = |i: usize| match self.body {
            Body::Lines(_) => format!("column {} ({})", i + 1, self.columns[i].name),
            Body::Records(_) | Body::Batches(_) => format!("the field {}", self.columns[i].name),
        };
        match bad {
            BadRow::Column(i) => phrase![named(i), " should be ", self.columns[i].expected()],
            BadRow::Missing(i) => {
                phrase![named(i), " is missing; it should be ", self.columns[i].expected()]
            }
            BadRow::Extra => format!(
                "there are more columns than the {} expected columns: {}",
                self.columns.len(),
                self.column_names()
            )
            .into(),
            BadRow::Sentence(sentence) | BadRow::Fatal(sentence) => sentence.into(),
        }
    }

    fn column_names(&self) -> String {
        self.columns.iter().map(|c| c.name).collect::<Vec<_>>().join(", ")
    }
}
