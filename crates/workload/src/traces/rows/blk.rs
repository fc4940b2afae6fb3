//! Lists the kinds of events that blktrace(8) records for a request. vpass takes one kind of event
//! as the request.

use vpass_drive::base::phrase::{Opt, Phrase};
use vpass_drive::phrase;

/// Event that blktrace(8) records for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlkAction {
    /// The request was queued.
    Q,
    /// The request was issued to the device.
    D,
    /// The request was completed.
    C,
}

impl BlkAction {
    /// All kinds of events, in order of preference. `Q` comes first, because a queued request is a
    /// request as the application made it, before merging.
    const ALL: [Self; 3] = [Self::Q, Self::D, Self::C];

    /// Returns the letter that stands for the event in a trace.
    pub fn letter(self) -> &'static str {
        match self {
            Self::Q => "Q",
            Self::D => "D",
            Self::C => "C",
        }
    }

    /// Searches the first lines of a file for the letters Q, D and C, in this order. Returns the
    /// first letter that occurs in the given column. Columns are counted from 0. If no letter
    /// occurs, returns Q.
    pub(in crate::traces) fn of(head: &[u8], column: usize) -> Self {
        let holds = |action: &Self| {
            head.split(|b| *b == b'\n').any(|line| {
                let mut columns = line.split(u8::is_ascii_whitespace).filter(|c| !c.is_empty());
                columns.nth(column) == Some(action.letter().as_bytes())
            })
        };
        Self::ALL.into_iter().find(holds).unwrap_or(Self::Q)
    }
}

/// Trace formats that record events.
pub(in crate::traces) const FORMATS: [&str; 2] = ["blkparse", "wiscsee"];

/// Returns a text to add to the error about a trace without any row.
pub(in crate::traces) fn without_rows() -> Phrase {
    phrase![
        "; none of the trace's events has the action that counts as a request, see ",
        Opt::BlkAction,
    ]
}
