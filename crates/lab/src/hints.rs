//! Hints of the host. A hint is the latency that the host accepts for reads of some data. Hints are
//! in the file that `--hints` names, or in the table `[hints]` of a workload file.
//!
//! ```toml
//! [[range]]
//! offset = "0B"
//! bytes = "10GiB"
//! access_latency = "idle"      # none, idle, typical or smallest, as in NVMe
//! rank = 1                     # where ranges overlap, the highest rank applies; default 0
//!
//! [[device]]                   # all data of a device of the trace
//! name = "3"
//! access_latency = "typical"
//!
//! [[file]]                     # all data of a file in a fio job file
//! name = "/dev/sdb"
//! access_latency = "idle"
//! ```
//!
//! In a workload file, the table of a range has the name `[[hints.range]]`.

use std::path::Path;

use serde::Deserialize;
use toml::Spanned;
use vpass_drive::base::latency::AccessLatency;
use vpass_drive::base::phrase::{Opt, Phrase};
use vpass_drive::base::units::Bytes;
use vpass_drive::hints::{HintRange, first_contradiction};
use vpass_drive::phrase;

use crate::failure::Failure;
use crate::lines::Lines;
use crate::load::{complaint, read_file};
use crate::setup::HintSource;
use crate::suggest;

/// Content of a hint file. The addresses of devices and files that the hint file names may still be
/// unknown.
#[derive(Clone, Debug)]
pub struct HintFile {
    name: String,
    rows: Vec<HintRow>,
}

/// Addresses of a named part of the drive. The name comes from the workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedExtent {
    /// Name of the part in the workload.
    pub name: String,
    /// Address of the first byte.
    pub offset: u64,
    /// Length in bytes.
    pub bytes: u64,
}

/// Data to which a row of the hint file applies.
#[derive(Clone, Debug)]
enum Whose {
    Range(Bytes, Bytes),
    Named(Kind, String),
}

/// Kind of a named part of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Device of a trace.
    Device,
    /// File of a fio job file.
    File,
}

#[derive(Clone, Debug)]
struct HintRow {
    line: usize,
    whose: Whose,
    access_latency: Option<AccessLatency>,
    rank: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tables {
    #[serde(default)]
    range: Vec<Spanned<Range>>,
    #[serde(default)]
    device: Vec<Spanned<Named>>,
    #[serde(default)]
    file: Vec<Spanned<Named>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Range {
    offset: Bytes,
    bytes: Bytes,
    access_latency: Word,
    #[serde(default)]
    rank: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    name: String,
    access_latency: Word,
    #[serde(default)]
    rank: u32,
}

/// Hints in a workload file. All other tables of the file are ignored.
#[derive(Deserialize)]
struct OfWorkload {
    hints: Option<Tables>,
}

/// Access latency, parsed from the name that `NVMe` gives to the latency.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Word(Option<AccessLatency>);

impl TryFrom<String> for Word {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        AccessLatency::parse(&word).map(Self)
    }
}

impl HintFile {
    /// Reads the hint file that the user chose. Returns `None` if the user chose no file.
    ///
    /// # Errors
    /// Returns an error if [`Self::read`] fails.
    pub(crate) fn given(source: &HintSource) -> Result<Option<Self>, Failure> {
        let HintSource::File(path) = source else { return Ok(None) };
        Self::read(path).map(Some)
    }

    /// Reads the table `[hints]` of a workload file. Returns `None` if the file has no such table.
    ///
    /// # Errors
    /// Returns an error if the text is not valid TOML, or if the table `[hints]` is invalid.
    pub(crate) fn of_workload(name: &str, text: &str) -> Result<Option<Self>, Failure> {
        let file: OfWorkload = toml::from_str(text).map_err(|e| complaint(name, text, &e))?;
        file.hints.map(|tables| Self::of(name, text, tables)).transpose()
    }

    /// Reads a hint file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or if a key or an access latency is unknown.
    /// Also returns an error if two overlapping ranges have the same rank.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        Self::parse(&path.display().to_string(), &read_file("hint", path)?)
    }

    /// Reads a hint file from its text.
    fn parse(name: &str, text: &str) -> Result<Self, Failure> {
        let tables = toml::from_str(text).map_err(|e| complaint(name, text, &e))?;
        Self::of(name, text, tables)
    }

    fn of(name: &str, text: &str, tables: Tables) -> Result<Self, Failure> {
        let lines = Lines::of(text);
        let line = |at: usize| lines.line(at);
        let ranges = tables.range.into_iter().map(|row| {
            let line = line(row.span().start);
            let Range { offset, bytes, access_latency, rank } = row.into_inner();
            HintRow {
                line,
                whose: Whose::Range(offset, bytes),
                access_latency: access_latency.0,
                rank,
            }
        });
        let named = |kind: Kind| {
            move |row: Spanned<Named>| {
                let line = line(row.span().start);
                let Named { name, access_latency, rank } = row.into_inner();
                HintRow {
                    line,
                    whose: Whose::Named(kind, name),
                    access_latency: access_latency.0,
                    rank,
                }
            }
        };
        let devices = tables.device.into_iter().map(named(Kind::Device));
        let rows: Vec<HintRow> =
            ranges.chain(devices).chain(tables.file.into_iter().map(named(Kind::File))).collect();
        if rows.is_empty() {
            return Err(Failure::usage(format!(
                "{name} has no hint; a [[range]], [[device]] or [[file]] with an access_latency is \
                 expected"
            )));
        }
        let file = Self { name: name.into(), rows };
        let empty = file.rows.iter().find(|row| matches!(row.whose, Whose::Range(_, Bytes(0))));
        if let Some(row) = empty {
            return Err(file.wrong(row, "an empty range; at least 1 byte is expected"));
        }
        let ranges: Vec<_> = file
            .rows
            .iter()
            .filter_map(|row| Some((row, row.range(&[], |_| None).ok()??)))
            .collect();
        file.refuse_contradictions(&ranges)?;
        Ok(file)
    }

    /// Returns the name of the file.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name of the hint file, and the line number of the first hint.
    pub(crate) fn place(&self) -> String {
        let first = self.rows.iter().map(|row| row.line).min();
        first.map_or_else(|| self.name.clone(), |line| format!("{} line {line}", self.name))
    }

    /// Returns the address ranges of the hints. `extents` lists the parts of the drive that have
    /// names in the workload. `capacity` is the capacity of the drive.
    ///
    /// # Errors
    /// Returns an error if a hint uses a name that is not in the workload, or if a range lies
    /// beyond the end of the drive. Also returns an error if two overlapping ranges have the same
    /// rank.
    pub fn ranges(
        &self,
        kind: Option<Kind>,
        extents: &[NamedExtent],
        capacity: Option<Bytes>,
    ) -> Result<Vec<HintRange>, Failure> {
        let mut ranges = vec![];
        for row in &self.rows {
            let found = row.range(extents, |of| (Some(of) != kind).then(|| of.is_missing()));
            let range = found
                .map_err(|what| self.wrong(row, what))?
                .expect("every row is of a range or a place");
            if let Some(Bytes(capacity)) =
                capacity.filter(|capacity| range.end().is_none_or(|end| end > capacity.0))
            {
                let HintRange { offset, bytes, .. } = range;
                let what = format!(
                    "a hint covers {bytes} from offset {offset} on, but the drive ends at \
                     {capacity} bytes; the range must be within the drive"
                );
                return Err(self.wrong(row, what));
            }
            ranges.push((row, range));
        }
        self.refuse_contradictions(&ranges)?;
        Ok(ranges.into_iter().map(|(_, range)| range).collect())
    }

    fn refuse_contradictions(&self, ranges: &[(&HintRow, HintRange)]) -> Result<(), Failure> {
        let Some(second) = first_contradiction(ranges.iter().map(|(_, range)| range)) else {
            return Ok(());
        };
        let (row, range) = &ranges[second];
        let (before, _) = ranges
            .iter()
            .find(|(_, before)| range.contradicts(before))
            .expect("an earlier one contradicts it");
        let what = format!(
            "the range overlaps with the range of line {}, and both have rank {}; of two \
             overlapping ranges, the range with the higher rank applies, so give the two ranges \
             different ranks",
            before.line, row.rank
        );
        Err(self.wrong(row, what))
    }

    fn wrong(&self, row: &HintRow, what: impl Into<Phrase>) -> Failure {
        Failure::usage(what).at(format!("{} line {}", self.name, row.line))
    }
}

impl HintRow {
    /// Returns the address range to which the row applies. Returns `None` if the row names a part
    /// whose addresses are not known yet.
    fn range(
        &self,
        extents: &[NamedExtent],
        is_wrong: impl Fn(Kind) -> Option<Phrase>,
    ) -> Result<Option<HintRange>, Phrase> {
        let of = |offset: Bytes, bytes: Bytes| HintRange {
            offset,
            bytes,
            access_latency: self.access_latency,
            rank: self.rank,
        };
        match &self.whose {
            Whose::Range(offset, bytes) => Ok(Some(of(*offset, *bytes))),
            Whose::Named(kind, name) => {
                if let Some(what) = is_wrong(*kind) {
                    return Err(what);
                }
                if extents.is_empty() {
                    return Ok(None);
                }
                let found = extents.iter().find(|extent| extent.name == *name);
                let found = found.ok_or_else(|| {
                    suggest::unknown(
                        kind.name(),
                        name,
                        extents.iter().map(|extent| extent.name.as_str()),
                    )
                })?;
                Ok(Some(of(Bytes(found.offset), Bytes(found.bytes))))
            }
        }
    }
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::File => "file",
        }
    }

    fn is_missing(self) -> Phrase {
        match self {
            Self::Device => phrase![
                "[[device]] is for traces, replayed with ",
                Opt::Fit.to("error"),
                "; use [[range]] for addresses",
            ],
            Self::File => "[[file]] is for fio job files; use [[range]] for addresses".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: &str =
        "[[range]]\noffset = \"1MiB\"\nbytes = \"1MiB\"\naccess_latency = \"idle\"\n";

    const DRIVE: Option<Bytes> = Some(Bytes(2 << 20));

    #[test]
    fn ranges_read() {
        let file = HintFile::parse("h.toml", &format!("{IDLE}rank = 3\n")).unwrap();
        let range = HintRange {
            offset: Bytes(1 << 20),
            bytes: Bytes(1 << 20),
            access_latency: Some(AccessLatency::Idle),
            rank: 3,
        };
        assert_eq!(file.ranges(None, &[], DRIVE).unwrap(), [range]);
    }

    #[test]
    fn a_workload_file_has_the_same_tables() {
        let of = |hints: &str| {
            HintFile::of_workload("w.toml", &format!("[workload]\nrequests = 9\n{hints}"))
        };
        let own = IDLE.replace("[[range]]", "[[hints.range]]");
        let file = of(&own).unwrap().unwrap();
        let plain = HintFile::parse("h.toml", IDLE).unwrap();
        assert_eq!(file.ranges(None, &[], DRIVE).unwrap(), plain.ranges(None, &[], DRIVE).unwrap());
        assert_eq!(file.place(), "w.toml line 3");
        assert!(of("").unwrap().is_none());
    }

    #[test]
    fn extents_are_found_by_name() {
        let file = HintFile::parse("h.toml", "[[file]]\nname = \"b\"\naccess_latency = \"none\"\n")
            .unwrap();
        let extents = [("a", 0), ("b", 10)].map(|(name, offset)| NamedExtent {
            name: name.into(),
            offset,
            bytes: 10,
        });
        let range =
            HintRange { offset: Bytes(10), bytes: Bytes(10), access_latency: None, rank: 0 };
        assert_eq!(file.ranges(Some(Kind::File), &extents, DRIVE).unwrap(), [range]);
    }
}
