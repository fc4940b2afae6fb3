//! Names the events that blktrace(8) records during a request. One kind of event counts as the
//! request.

use vpass_core::base::phrase::{Opt, Phrase};
use vpass_core::phrase;

/// Event that blktrace(8) records during a request.
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
    /// All events, in order of preference. `Q` is preferred, because a queued request is the
    /// application's request, before merging.
    const ALL: [Self; 3] = [Self::Q, Self::D, Self::C];

    /// Returns the letter of the event in text.
    pub fn letter(self) -> &'static str {
        match self {
            Self::Q => "Q",
            Self::D => "D",
            Self::C => "C",
        }
    }

    /// Returns the first of Q, D and C that occurs in a column at the start of the file. Columns
    /// count from 0. Returns Q if none of them occurs.
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

/// Formats that record events.
pub(in crate::traces) const FORMATS: [&str; 2] = ["blkparse", "wiscsee"];

/// Returns the text added to the error for a trace without any row.
pub(in crate::traces) fn without_rows() -> Phrase {
    phrase!["; none of its events has the action that counts as a request, see ", Opt::BlkAction,]
}
