//! Columns that the user gives (`--columns`), for text of any tool. The list is in the order of the
//! columns in a line.
//!
//! ```text
//! version,time,op,size,lbn                         a line of the file: 1,5633898,2a,4096,42932745
//! _,time:us,op,size:bytes,offset:sectors           its columns
//! ```

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use vpass_drive::base::phrase::{Opt, Phrase};
use vpass_drive::base::request::{Op, SourceError};
use vpass_drive::phrase;

use crate::traces::formats::format_named;
use crate::traces::rows::column_reader::{Header, Layout, Separator};
use crate::traces::rows::format::{Body, Column, Epoch, Format, Kind};
use crate::traces::rows::unit::{TimeUnit, Times};

/// Name of every format whose columns the user gave.
const NAME: &str = "columns";
/// Codes of a direction that are read if the user gives none: words, digits, and SCSI commands.
const CODES: &str = "r+read+0+28/w+write+1+2a/d+trim+discard";
/// Units of addresses and sizes, with their lengths in bytes.
const UNITS: [(&str, u64); 4] = [("bytes", 1), ("sectors", 512), ("KiB", 1024), ("pages", 4096)];
/// Formats so far. A format lasts as long as the program, so each list is kept once.
static KNOWN: Mutex<BTreeMap<String, &'static Format>> = Mutex::new(BTreeMap::new());

impl Format {
    /// Returns the format that the user chose: by its name, by a list of columns, or not at all.
    ///
    /// # Errors
    /// Returns an error if no format has the name, if the list of columns is invalid, or if both
    /// are given.
    pub fn chosen(
        name: Option<&str>,
        columns: Option<&str>,
    ) -> Result<Option<&'static Self>, SourceError> {
        match (name, columns) {
            (Some(_), Some(_)) => Err(SourceError::new(phrase![
                Opt::Columns,
                " describes the lines of a trace, so no ",
                Opt::Format,
                " is expected",
            ])),
            (name, None) => name.map(format_named).transpose(),
            (None, Some(list)) => {
                let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
                if !known.contains_key(list) {
                    known.insert(list.to_owned(), Box::leak(Box::new(of_columns(list)?)));
                }
                Ok(known.get(list).copied())
            }
        }
    }

    /// Returns the list of columns that the user gave.
    pub fn given_columns(&self) -> Option<&'static str> {
        (self.name == NAME).then_some(self.description)
    }
}

/// Makes the format that a list of columns describes.
fn of_columns(list: &str) -> Result<Format, SourceError> {
    let wrong = |what: Phrase| SourceError::new(phrase![Opt::Columns.to(list), ": ", what]);
    let list: &'static str = Box::leak(Box::<str>::from(list));
    let columns: Vec<_> = list.split(',').map(column).collect::<Result<_, _>>().map_err(wrong)?;
    let has = |name: &str| columns.iter().filter(|column| column.name == name).count();
    for name in ["time", "device", "op", "offset", "size"] {
        let is_needed = ["offset", "size"].contains(&name);
        match has(name) {
            0 if is_needed => return Err(wrong(phrase!["a column {name} is expected"])),
            0 | 1 => {}
            _ => return Err(wrong(phrase!["only one column {name} is expected"])),
        }
    }
    let unit = columns.iter().find_map(|column| match column.kind {
        Kind::Stamp(ns) => TimeUnit::of_ns(ns),
        _ => None,
    });
    Ok(Format {
        name: NAME,
        aliases: &[],
        description: list,
        clock: if unit.is_some() { Epoch::Relative } else { Epoch::None },
        times: unit.map_or(Times::None, |unit| Times::Fixed(unit.in_words())),
        has_op: has("op") > 0,
        columns: columns.leak(),
        detect: |_| false,
        body: Body::Columns(Layout {
            separator: Separator::Either,
            optional: 0,
            may_continue: true,
            header: Header::Unknown,
        }),
    })
}

/// Reads one column of a list.
fn column(text: &'static str) -> Result<Column, Phrase> {
    let (name, detail) = text.split_once(':').map_or((text, None), |(a, b)| (a, Some(b)));
    let in_unit = |kind: fn(u64) -> Kind| {
        let unit = UNITS.iter().find(|(unit, _)| *unit == detail.unwrap_or("bytes"));
        unit.map(|(_, bytes)| kind(*bytes))
    };
    let (kind, expected) = match (name, detail) {
        ("_", None) => (Some(Kind::Skip("")), ""),
        ("device", None) => (Some(Kind::Name), ""),
        ("time", _) => {
            let unit = detail.and_then(|unit| unit.parse::<TimeUnit>().ok());
            (unit.map(|unit| Kind::Stamp(unit.ns())), "time:s, time:ms, time:us or time:ns")
        }
        ("offset" | "size", _) => (
            in_unit(if name == "size" { Kind::Size } else { Kind::Offset }),
            "bytes, sectors (of 512 bytes), KiB or pages (of 4 KiB) after the colon",
        ),
        ("op", _) => (codes(detail.unwrap_or(CODES)), "such as op, or op:1+2/3 with reads/writes"),
        _ => match text.strip_prefix('=').filter(|text| !text.is_empty()) {
            Some(text) => (Some(Kind::Only(text)), ""),
            None => (None, "time, op, offset, size, device, =TEXT, or _ for another column"),
        },
    };
    let name = if matches!(kind, Some(Kind::Only(_))) { "=" } else { name };
    match kind {
        Some(kind) => Ok(Column { name, kind }),
        None => Err(phrase!["\"{text}\" is not a column; expected: {expected}"]),
    }
}

/// Reads the codes of a direction: those of reads, of writes and of trims, such as `1+2/3+4`.
fn codes(text: &'static str) -> Option<Kind> {
    let ops = [Op::Read, Op::Write, Op::Trim];
    let groups: Vec<_> = text.split('/').collect();
    let of = |(op, group): (Op, &&'static str)| group.split('+').map(move |code| (code, op));
    let all: Vec<_> = ops.into_iter().zip(&groups).flat_map(of).collect();
    let is_valid = groups.len() <= ops.len() && all.iter().all(|(code, _)| !code.is_empty());
    is_valid.then(|| Kind::Codes(all.leak()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_says_which_facts_the_file_lacks() {
        let of = |list| Format::chosen(None, Some(list)).unwrap().unwrap();
        let all = of("time:ms,op,offset:bytes,size:sectors");
        assert_eq!((all.has_op, all.clock, all.has_sectors()), (true, Epoch::Relative, true));
        let few = of("offset,size:pages");
        assert_eq!((few.has_op, few.clock, few.times), (false, Epoch::None, Times::None));
        assert_eq!(few.given_columns(), Some("offset,size:pages"));
        assert!(std::ptr::eq(few, of("offset,size:pages")), "each list is kept once");
        assert!(Format::chosen(Some("msr"), Some("offset,size")).is_err());
    }
}
