//! Lists the kinds of events that blktrace(8) records for a request. vpass takes one kind of event
//! as the request.

use vpass_drive::base::phrase::{Opt, Phrase};
use vpass_drive::phrase;

use crate::traces::rows::format::BadRow;
use crate::traces::rows::reader::Opening;

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
    pub const ALL: [Self; 3] = [Self::Q, Self::D, Self::C];

    /// Returns the letter that stands for the event in a trace.
    pub fn letter(self) -> &'static str {
        match self {
            Self::Q => "Q",
            Self::D => "D",
            Self::C => "C",
        }
    }

    /// Returns the kind of event that the letters stand for.
    fn of_letter(letters: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.letter().as_bytes() == letters)
    }

    /// Searches the first lines of a file for the letters Q, D and C, in this order. Returns the
    /// first letter that occurs in the given column. Columns are counted from 0. If no letter
    /// occurs, returns Q.
    fn of(head: &[u8], column: usize) -> Self {
        let holds = |action: &Self| {
            head.split(|b| *b == b'\n').any(|line| {
                let mut columns = line.split(u8::is_ascii_whitespace).filter(|c| !c.is_empty());
                columns.nth(column) == Some(action.letter().as_bytes())
            })
        };
        Self::ALL.into_iter().find(holds).unwrap_or(Self::Q)
    }
}

/// Kind of event that counts, and number of events of each kind that would give a row.
pub(in crate::traces) struct Counted {
    action: BlkAction,
    events: [u64; 3],
}

impl Counted {
    /// Counts the events of a file with the action that the user chose, or that occurs in the
    /// given column.
    pub(in crate::traces) fn new(opening: &Opening, column: usize) -> Self {
        let found = || BlkAction::of(opening.head, column);
        Self { action: opening.options.blk_action.unwrap_or_else(found), events: [0; 3] }
    }

    /// Counts an event, and returns its row if this kind of event counts. Errors in other events
    /// are passed over.
    #[inline]
    pub(in crate::traces) fn take<T>(
        &mut self,
        letters: &[u8],
        row: impl FnOnce() -> Result<Option<T>, BadRow>,
    ) -> Result<Option<T>, BadRow> {
        let Some(event) = BlkAction::of_letter(letters) else { return Ok(None) };
        let row = row();
        self.events[event as usize] += u64::from(matches!(row, Ok(Some(_))));
        if event == self.action { row } else { Ok(None) }
    }

    /// Returns the numbers as a text. `None` if the file has only events that count.
    pub(in crate::traces) fn text(&self) -> Option<Phrase> {
        let count = |action: BlkAction| self.events[action as usize];
        let said = |action: BlkAction| format!("{} ({})", action.letter(), count(action));
        let others =
            BlkAction::ALL.into_iter().filter(|other| *other != self.action && count(*other) > 0);
        let (counted, others) = (said(self.action), others.map(said).collect::<Vec<_>>());
        let others = others.join(" and ");
        (!others.is_empty()).then(|| {
            phrase![
                "counted events: {counted}; the file also has {others}, which ",
                Opt::BlkAction,
                " chooses",
            ]
        })
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
