//! Writes the rows of any trace as a compact trace or an MSR Cambridge CSV. The writer counts the
//! facts that the output format cannot keep.

mod msr;

use std::io::{self, Write};
use std::path::Path;
use std::str::FromStr;

use crate::traces::formats::compact::CompactWriter;
use crate::traces::rows::format::{Epoch, TraceEvent, TraceRow};
use crate::traces::rows::names::Names;
use msr::MsrWriter;

/// Format in which a trace is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Compact format of vpass, which keeps all facts of a trace.
    Compact,
    /// MSR Cambridge CSV, which rounds times to 100 ns and cannot hold trims.
    Msr,
}

impl Target {
    /// Names of the output formats.
    pub const NAMES: [&'static str; 2] = ["compact", "msr"];

    /// Returns the name of the output format.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// Returns the output format for a file name. The extension of the name decides; a further
    /// extension for compression is ignored. Returns `None` if no output format has the extension.
    pub fn of_path(path: &Path) -> Option<Self> {
        // The extensions are ASCII text. The rest of the file name may contain other characters.
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let name =
            [".zst", ".gz"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name);
        match Path::new(name).extension()?.to_str()? {
            "vpt" => Some(Self::Compact),
            "csv" => Some(Self::Msr),
            _ => None,
        }
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        [Self::Compact, Self::Msr].into_iter().find(|target| target.name() == name).ok_or_else(
            || {
                let hint = crate::nearest::hint(name, Self::NAMES);
                format!("\"{name}\" is not an output format{hint}; compact or msr is expected")
            },
        )
    }
}

/// Reason why a row of a trace was not written.
#[derive(Debug)]
pub enum WriteError {
    /// The output reported an error.
    Io(io::Error),
    /// The output format cannot hold the row. The text gives the reason and continues a sentence
    /// that begins with "the row".
    Unwritable(&'static str),
}

impl From<io::Error> for WriteError {
    fn from(e: io::Error) -> Self {
        Self::Io(e)
    }
}

/// Facts of a trace that the output format could not keep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Time unit of the output format, in ns.
    pub time_unit_ns: u64,
    /// Number of rows whose time was rounded down to a multiple of the time unit.
    pub rounded: u64,
}

enum Form<W: Write> {
    Compact(Box<CompactWriter<W>>),
    Msr(MsrWriter<W>),
}

/// Writer of rows from one or several trace files. Devices with the same name become one device.
pub struct TraceWriter<W: Write> {
    form: Form<W>,
    names: Names,
    listed: u32,
    /// Device number in the output, for each device number of the current input file.
    numbers: Vec<Option<u32>>,
    rows: u64,
}

impl<W: Write> TraceWriter<W> {
    /// Begins an output file. `clock` is the epoch of the times in all rows.
    pub fn new(target: Target, out: W, clock: Epoch) -> Self {
        let form = match target {
            Target::Compact => Form::Compact(Box::new(CompactWriter::new(out, clock))),
            Target::Msr => Form::Msr(MsrWriter::new(out)),
        };
        Self { form, names: Names::default(), listed: 0, numbers: vec![], rows: 0 }
    }

    /// Begins the rows of another input file.
    pub fn begin_file(&mut self) {
        self.numbers.clear();
    }

    /// Writes a row. If the device of the row is new, `name` is called and returns the name of the
    /// device, for example from [`super::TraceFile::device_name`].
    ///
    /// # Errors
    /// Returns an error if writing to the output fails. Also returns an error if the output format
    /// cannot hold the row.
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
        }
    }

    /// Writes an event. Returns false if the output format cannot hold events.
    ///
    /// # Errors
    /// Returns an error if writing to the output fails.
    pub fn event(&mut self, event: &TraceEvent) -> io::Result<bool> {
        match &mut self.form {
            Form::Compact(writer) => writer.event(event).map(|()| true),
            Form::Msr(_) => Ok(false),
        }
    }

    /// Sets the time at which a recorded run ended. The compact format keeps the time if the epoch
    /// is [`Epoch::Run`].
    pub fn end_at(&mut self, at_ns: u64) {
        if let Form::Compact(writer) = &mut self.form {
            writer.end_at(at_ns);
        }
    }

    /// Returns the number of rows written so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Ends the output file. Returns the output, and the facts that were lost.
    ///
    /// # Errors
    /// Returns an error if writing to the output fails.
    pub fn finish(self) -> io::Result<(W, Losses)> {
        match self.form {
            Form::Compact(writer) => Ok((writer.finish()?, Losses { time_unit_ns: 1, rounded: 0 })),
            Form::Msr(writer) => writer.finish(),
        }
    }

    /// Returns the number in the output for a device that occurs for the first time in the current
    /// input file.
    #[cold]
    fn number(&mut self, device: u32, name: &str) -> Result<u32, WriteError> {
        let too_many = || {
            WriteError::Unwritable(
                "belongs to device number 65,537; at most 65,536 devices are supported",
            )
        };
        let number = self.names.number(name.as_bytes()).map_err(|_| too_many())?;
        if number == self.listed {
            self.listed += 1;
            match &mut self.form {
                Form::Compact(writer) => writer.device(name)?,
                Form::Msr(writer) => writer.device(name),
            }
        }
        if let Some(more) =
            (device as usize + 1).checked_sub(self.numbers.len()).filter(|_| device < MANY)
        {
            self.numbers.resize(self.numbers.len() + more, None);
        }
        if let Some(known) = self.numbers.get_mut(device as usize) {
            *known = Some(number);
        }
        Ok(number)
    }
}

/// Smallest device number for which the table `numbers` has no place. For this number and larger
/// ones, the name of the device is looked up for each row. A trace may contain any device number,
/// so a table of all numbers could take too much memory.
const MANY: u32 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_endings() {
        let of = |name: &str| Target::of_path(Path::new(name));
        assert_eq!(
            [of("a.vpt"), of("d/a.CSV.zst"), of("a.log.gz")],
            [Some(Target::Compact), Some(Target::Msr), None]
        );
        assert_eq!([of("a"), of("a.zst"), of("a.txt"), of("vpt"), of("..")], [None; 5]);
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStrExt;
            let name = std::ffi::OsStr::from_bytes(b"caf\xe9.csv.zst");
            assert_eq!(
                Target::of_path(Path::new(name)),
                Some(Target::Msr),
                "a name that is not UTF-8"
            );
        }
        for name in Target::NAMES {
            assert_eq!(name.parse::<Target>().unwrap().name(), name);
        }
        assert_eq!(
            "compat".parse::<Target>().unwrap_err(),
            "\"compat\" is not an output format (did you mean compact?); compact or msr is expected"
        );
    }
}
