//! Writes traces: rows of any format as the compact form, an MSR Cambridge CSV or a fio iolog, and
//! what that loses.

mod fio;
mod label;
mod msr;

use std::io::{self, Write};
use std::path::Path;
use std::str::FromStr;

use crate::traces::formats::compact::CompactWriter;
use crate::traces::rows::format::{Epoch, TraceRow};
use crate::traces::rows::names::Names;
use fio::FioWriter;
use msr::MsrWriter;

/// A form that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// vpass's own; loses nothing.
    Compact,
    /// MSR Cambridge CSV; keeps times to 100 ns and no trims.
    Msr,
    /// fio iolog version 3; keeps times to 1 us, counted from the first row.
    Fio,
}

impl Target {
    /// Their names.
    pub const NAMES: [&'static str; 3] = ["compact", "msr", "fio"];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// What the ending of a file name asks for, a compression's ending aside; none where it says
    /// nothing.
    pub fn of_path(path: &Path) -> Option<Self> {
        // An ending is ASCII, whatever is before it.
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let name =
            [".zst", ".gz"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name);
        match Path::new(name).extension()?.to_str()? {
            "vpt" => Some(Self::Compact),
            "csv" => Some(Self::Msr),
            "iolog" | "fio" | "log" => Some(Self::Fio),
            _ => None,
        }
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        [Self::Compact, Self::Msr, Self::Fio]
            .into_iter()
            .find(|target| target.name() == name)
            .ok_or_else(|| {
                let hint = crate::nearest::nearest(name, Self::NAMES);
                let hint = hint.map_or_else(String::new, |n| format!(" (did you mean {n}?)"));
                format!(
                    "\"{name}\" is no form that can be written{hint}; expected compact, msr or fio"
                )
            })
    }
}

/// Why a row was not written.
#[derive(Debug)]
pub enum WriteError {
    /// The output's error.
    Io(io::Error),
    /// The form cannot hold it: a sentence that begins with what it is.
    Unwritable(&'static str),
}

impl From<io::Error> for WriteError {
    fn from(e: io::Error) -> Self {
        Self::Io(e)
    }
}

/// What the form could not keep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Unit of time of the form, in ns.
    pub time_unit_ns: u64,
    /// Rows whose time was no multiple of that and was rounded down.
    pub rounded: u64,
    /// Rows that were earlier than the first and were moved up to it.
    pub moved_up: u64,
}

enum Form<W: Write> {
    Compact(Box<CompactWriter<W>>),
    Msr(MsrWriter<W>),
    Fio(FioWriter<W>),
}

/// A writer of rows from one trace file or several. Devices of the same name are one device.
pub struct TraceWriter<W: Write> {
    form: Form<W>,
    names: Names,
    listed: u32,
    /// The output's number of each device of the current file, by the file's number.
    numbers: Vec<Option<u32>>,
    rows: u64,
}

impl<W: Write> TraceWriter<W> {
    /// Begins a file; `clock` is what the times of the rows count from.
    ///
    /// # Errors
    /// The output's.
    pub fn new(target: Target, out: W, clock: Epoch) -> io::Result<Self> {
        let form = match target {
            Target::Compact => Form::Compact(Box::new(CompactWriter::new(out, clock))),
            Target::Msr => Form::Msr(MsrWriter::new(out)),
            Target::Fio => Form::Fio(FioWriter::new(out)?),
        };
        Ok(Self { form, names: Names::default(), listed: 0, numbers: vec![], rows: 0 })
    }

    /// The rows that come from now on are another file's.
    pub fn begin_file(&mut self) {
        self.numbers.clear();
    }

    /// Writes a row; `name` gives its device's, as [`super::TraceFile::device_name`] does, where it
    /// is not known yet.
    ///
    /// # Errors
    /// The output's, or the form cannot hold the row.
    #[inline]
    pub fn row(
        &mut self,
        row: &TraceRow,
        name: impl FnOnce(u32) -> String,
    ) -> Result<(), WriteError> {
        let device = match self.numbers.get(row.device as usize) {
            Some(Some(number)) => *number,
            _ => self.number(row.device, &name(row.device))?,
        };
        self.rows += 1;
        let row = TraceRow { device, ..*row };
        match &mut self.form {
            Form::Compact(writer) => Ok(writer.row(&row)?),
            Form::Msr(writer) => writer.row(&row),
            Form::Fio(writer) => Ok(writer.row(&row)?),
        }
    }

    /// Rows written.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Ends the file; gives the output back and what was lost.
    ///
    /// # Errors
    /// The output's.
    pub fn finish(self) -> io::Result<(W, Losses)> {
        match self.form {
            Form::Compact(writer) => {
                Ok((writer.finish()?, Losses { time_unit_ns: 1, ..Losses::default() }))
            }
            Form::Msr(writer) => writer.finish(),
            Form::Fio(writer) => writer.finish(),
        }
    }

    /// The output's number of a device that the current file names for the first time.
    #[cold]
    fn number(&mut self, device: u32, name: &str) -> Result<u32, WriteError> {
        let too_many = || {
            WriteError::Unwritable(
                "is the first of device number 65,537; more cannot be kept apart",
            )
        };
        let number = self.names.number(name.as_bytes()).map_err(|_| too_many())?;
        if number == self.listed {
            self.listed += 1;
            match &mut self.form {
                Form::Compact(writer) => writer.device(name)?,
                Form::Msr(writer) => writer.device(name),
                Form::Fio(writer) => writer.device(name)?,
            }
        }
        if let Some(room) =
            (device as usize + 1).checked_sub(self.numbers.len()).filter(|_| device < MANY)
        {
            self.numbers.resize(self.numbers.len() + room, None);
        }
        if let Some(known) = self.numbers.get_mut(device as usize) {
            *known = Some(number);
        }
        Ok(number)
    }
}

/// Formats whose devices are numbers by themselves may name any; those from here on are looked up
/// by name each time.
const MANY: u32 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_endings() {
        let of = |name: &str| Target::of_path(Path::new(name));
        assert_eq!(
            [of("a.vpt"), of("d/a.CSV.zst"), of("a.log.gz")],
            [Some(Target::Compact), Some(Target::Msr), Some(Target::Fio)]
        );
        assert_eq!([of("a"), of("a.zst"), of("a.txt"), of("vpt"), of("..")], [None; 5]);
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStrExt;
            let name = std::ffi::OsStr::from_bytes(b"caf\xe9.csv.zst");
            assert_eq!(
                Target::of_path(Path::new(name)),
                Some(Target::Msr),
                "a name that is no UTF-8"
            );
        }
        for name in Target::NAMES {
            assert_eq!(name.parse::<Target>().unwrap().name(), name);
        }
        assert_eq!(
            "compat".parse::<Target>().unwrap_err(),
            "\"compat\" is no form that can be written (did you mean compact?); expected compact, msr or fio"
        );
    }
}
