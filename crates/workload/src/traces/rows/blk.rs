//! The events that blktrace(8) records in the life of a request, of which one has to count as the
//! request.

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlkAction {
    /// The request was queued.
    Q,
    /// It was issued to the device.
    D,
    /// It was completed.
    C,
}

impl BlkAction {
    /// In the order in which they are looked for: a queued request is what an application asked
    /// for, before anything was merged.
    const ALL: [Self; 3] = [Self::Q, Self::D, Self::C];

    /// The letter of the event in text.
    pub fn letter(self) -> &'static str {
        match self {
            Self::Q => "Q",
            Self::D => "D",
            Self::C => "C",
        }
    }

    /// The first of Q, D and C that the beginning of a file holds in this column, counted from 0; Q
    /// where it holds none.
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

/// The formats that record events.
pub(in crate::traces) const FORMATS: [&str; 2] = ["blkparse", "wiscsee"];

/// Said of a trace without any row.
pub(in crate::traces) const NO_ROWS: &str =
    "; none of its events has the action that counts as a request, see --blk-action";
