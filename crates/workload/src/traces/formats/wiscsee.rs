//! `wiscsee`: the events of blktrace(8) in the form that the pyreuse scripts for `WiscSee` write.
//!
//! `WiscSee` is a simulator (He et al., "The Unwritten Contract of Solid State Drives", `EuroSys`
//! '17). Published traces of `SQLite` have this format.
//!
//! | column | unit |
//! |---|---|
//! | pid | number |
//! | action | Q, D or C of blktrace |
//! | operation | read, write or discard |
//! | offset | bytes |
//! | size | bytes |
//! | time | s since the start, decimal |
//! | gap | s since the event before |
//! | sync | True or False |
//!
//! The scripts subtract a fixed padding from every offset. Requests to addresses before the padding
//! get negative offsets, which are invalid.
//!
//! vpass takes one kind of event (action) as the request. The option `--blk-action` names this
//! action. Without the option, vpass takes the first of Q, D and C that occurs at the start of the
//! file.

use vpass_drive::base::phrase::Phrase;
use vpass_drive::base::request::Op;

use crate::traces::rows::blk::{ACTIONS, BlkAction, Counted, without_rows};
use crate::traces::rows::fields::Blanks;
use crate::traces::rows::format::{BadRow, Body, Epoch, Format, Kind, TraceRow, column};
use crate::traces::rows::head::{Head, is_decimal, is_whole};
use crate::traces::rows::reader::{LineReader, Opening};
use crate::traces::rows::unit::Times;

pub(in crate::traces) const FORMAT: Format = Format {
    name: "wiscsee",
    aliases: &[],
    description: "WiscSee's text of blktrace",
    columns: &[
        column("pid", Kind::Whole),
        column("action", ACTIONS),
        column("operation", Kind::Op(direction, "read, write or discard")),
        column("offset", Kind::Offset(1)),
        column("size", Kind::Size(1)),
        column("time", Kind::Decimal(1_000_000_000)),
        column("gap", Kind::Skip("a decimal number of seconds")),
        column("sync", Kind::Skip("True or False")),
    ],
    clock: Epoch::Relative,
    times: Times::Fixed("seconds"),
    has_op: true,
    detect,
    body: Body::Lines(open),
};

const ACTION: usize = 1;
const OPERATION: usize = 2;

fn detect(head: &Head) -> bool {
    let columns = head.first_columns();
    columns.len() >= 6
        && is_whole(columns[0])
        && direction(columns[OPERATION]).is_some()
        && is_decimal(columns[5])
}

struct Events(Counted);

fn open(opening: &Opening) -> Box<dyn LineReader> {
    let action = opening.options.blk_action.unwrap_or_else(|| BlkAction::of(opening.head, ACTION));
    Box::new(Events(Counted::new(action)))
}

impl LineReader for Events {
    #[inline]
    fn line(&mut self, line: &[u8]) -> Result<Option<TraceRow>, BadRow> {
        let mut fields = Blanks::new(line);
        fields.unused_number()?;
        let action = fields.text()?;
        let op = direction(fields.text()?).ok_or(BadRow::Column(OPERATION))?;
        let offset = fields.offset(1)?;
        let bytes = fields.number()?;
        let at_ns = fields.seconds()?;
        let row = TraceRow { at_ns, device: 0, offset, bytes, op, hint: None };
        self.0.take(action, || Ok(Some(row)))
    }

    fn counted(&self) -> Option<Phrase> {
        self.0.text()
    }

    fn without_rows(&self) -> Phrase {
        without_rows()
    }
}

#[inline]
fn direction(text: &[u8]) -> Option<Op> {
    match text {
        b"read" => Some(Op::Read),
        b"write" => Some(Op::Write),
        b"discard" => Some(Op::Trim),
        _ => None,
    }
}
