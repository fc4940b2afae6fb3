//! Reads all files of a trace before a run. The scan checks every line and counts the rows. The
//! scan also finds the devices of the trace, and the highest address in each device.
//!
//! The scan needs little memory: mainly the table of devices, and with `--fit pack` the list of
//! touched pages.

use crate::traces::shown::shown;
use std::collections::HashMap;
use std::fs;
use std::path::Path;

use vpass_drive::base::phrase::Opt;
use vpass_drive::base::request::SourceError;
use vpass_drive::phrase;

use crate::traces::file::{Skipped, TraceFile};
use crate::traces::replay::capacity_fit::Fit;
use crate::traces::replay::layout::Device;
use crate::traces::replay::packing::Touched;
use crate::traces::replay::survey::FileSurvey;
use crate::traces::replay::trace_options::TraceOptions;
use crate::traces::rows::format::Epoch;
use crate::traces::rows::names::MAX_DEVICES;
use crate::traces::rows::oddities::Oddities;

/// Results of the scan for the files read so far.
pub(in crate::traces) struct Scan<'a> {
    options: &'a TraceOptions,
    files: Vec<String>,
    devices: Vec<Device>,
    /// Place of the request with the highest address, for each device: index of the file, and
    /// number of the line or record.
    furthest: Vec<(usize, u64)>,
    /// Device index for each device name; used only if the files are parts of one trace.
    by_name: HashMap<String, usize>,
    /// For each device in the option `--only`: whether a file contains the device.
    found: Vec<bool>,
    /// Names of the devices that `--only` leaves out, for a message.
    others: Vec<String>,
    /// Word for the rows in the file of the first device: line, record or row.
    rows_are: &'static str,
    /// Touched pages of each device; `None` unless the options contain [`Fit::Pack`].
    touched: Option<Touched>,
}

/// Number of rows between two reports of progress.
const STEP_ROWS: u64 = 8192;
const TOO_MANY: &str = "the trace names more than 65,536 devices, more than any known trace; a \
    column was probably misread";
/// Largest number of names that a message shows.
const SHOWN: usize = 10;

impl<'a> Scan<'a> {
    pub(in crate::traces) fn new(options: &'a TraceOptions) -> Self {
        Self {
            options,
            files: vec![],
            devices: vec![],
            furthest: vec![],
            by_name: HashMap::new(),
            found: vec![false; options.only.len()],
            others: vec![],
            rows_are: "line",
            touched: (options.fit == Fit::Pack).then(|| Touched::new(options.page_bytes)),
        }
    }

    /// Reads one file of the trace.
    pub(in crate::traces) fn file(
        &mut self,
        path: &Path,
        watch: &mut dyn FnMut(u64) -> bool,
    ) -> Result<(FileSurvey, Skipped), SourceError> {
        if fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
            let what = "is a pipe or a device; a trace is read more than once, so a file on a disk \
                        is expected";
            return Err(SourceError::new(format!("{}: {what}", shown(path))));
        }
        let mut file = TraceFile::open(path, &self.options.read)?;
        let index = self.files.len();
        self.files.push(shown(path).into_owned());
        let mut numbers = Numbers::default();
        let (mut origin_ns, mut rows, mut reported) = (None, 0u64, 0);
        let (mut asked, mut earliest, mut latest) = (0, u64::MAX, 0);
        let mut oddities = Oddities::default();
        while file.advance()? {
            let row = *file.row();
            rows += 1;
            if rows.is_multiple_of(STEP_ROWS) {
                report_progress(watch, &file, &mut reported)?;
            }
            let Some(device) =
                numbers.device(row.device, || self.device(&file, index, row.device))?
            else {
                continue;
            };
            origin_ns.get_or_insert(row.at_ns);
            oddities.add(&row);
            (asked, earliest, latest) = (asked + 1, earliest.min(row.at_ns), latest.max(row.at_ns));
            if let Some(touched) = &mut self.touched {
                touched.add(device, &row);
            }
            self.devices[device].rows += 1;
            let end = row.offset + row.bytes;
            if end > self.devices[device].extent {
                self.devices[device].extent = end;
                self.furthest[device] = (index, file.number());
            }
        }
        report_progress(watch, &file, &mut reported)?;
        let (format, detected) = (file.format(), self.options.read.format.is_none());
        let survey = FileSurvey {
            path: path.to_owned(),
            format,
            detected,
            clock: file.clock(),
            notes: file.notes(),
            oddities,
            origin_ns: if file.clock() == Epoch::Run { Some(0) } else { origin_ns },
            ends_at: file.ends_at(),
            rows: asked,
            span_ns: latest.saturating_sub(earliest),
            numbers: numbers.known,
        };
        Ok((survey, file.skipped().clone()))
    }

    /// Returns the touched pages if the options contain [`Fit::Pack`].
    pub(in crate::traces) fn touched(&mut self) -> Option<Touched> {
        self.touched.take()
    }

    /// Returns the devices. Also returns the place in the trace at which the request with the
    /// highest address in the first device stands.
    ///
    /// # Errors
    /// Returns an error if `--only` names a device that no file contains.
    pub(in crate::traces) fn devices(self) -> Result<(Vec<Device>, String), SourceError> {
        if let Some(missing) = self.found.iter().position(|found| !found) {
            return Err(self.missing(&self.options.only[missing]));
        }
        let furthest = self.furthest.first().map_or_else(String::new, |(file, number)| {
            format!("{} {number} of {}", self.rows_are, self.files[*file])
        });
        Ok((self.devices, furthest))
    }

    /// Returns the index of a device whose number occurs for the first time in a file. Returns
    /// `None` if `--only` leaves the device out.
    #[cold]
    fn device(
        &mut self,
        file: &TraceFile,
        index: usize,
        number: u32,
    ) -> Result<Option<usize>, SourceError> {
        let name = file.device_name(number);
        let mut wanted = self.options.only.is_empty();
        for (asked, found) in self.options.only.iter().zip(&mut self.found) {
            if file.is_device(number, asked) {
                (wanted, *found) = (true, true);
            }
        }
        if !wanted {
            if self.others.len() <= SHOWN {
                self.others.push(name);
            }
            return Ok(None);
        }
        if self.options.concat
            && let Some(known) = self.by_name.get(&name)
        {
            return Ok(Some(*known));
        }
        if self.devices.len() == MAX_DEVICES {
            return Err(SourceError::new(TOO_MANY));
        }
        if self.devices.is_empty() {
            self.rows_are = file.rows_are();
        }
        let device = self.devices.len();
        self.by_name.insert(name.clone(), device);
        self.devices.push(Device { name, file: index, base: 0, extent: 0, rows: 0 });
        self.furthest.push((index, 0));
        Ok(Some(device))
    }

    fn missing(&self, wanted: &str) -> SourceError {
        let mut there: Vec<_> = self
            .devices
            .iter()
            .map(|d| d.name.as_str())
            .chain(self.others.iter().map(String::as_str))
            .collect();
        let more = if there.len() > SHOWN { ", ..." } else { "" };
        there.truncate(SHOWN);
        let there = there.join(", ");
        SourceError::new(phrase![
            Opt::Only.to(wanted),
            ": no device of the trace has that number or name; the devices are {there}{more}",
        ])
    }
}

/// Device index for each device number in one file; `None` for a device that `--only` leaves out.
#[derive(Default)]
struct Numbers {
    known: HashMap<u32, Option<usize>>,
    /// Device of the previous row. Most rows have the same device as the previous row, so this
    /// field saves look-ups.
    latest: Option<(u32, Option<usize>)>,
}

impl Numbers {
    #[inline]
    fn device(
        &mut self,
        number: u32,
        new: impl FnOnce() -> Result<Option<usize>, SourceError>,
    ) -> Result<Option<usize>, SourceError> {
        if let Some((latest, device)) = self.latest
            && latest == number
        {
            return Ok(device);
        }
        let device = match self.known.get(&number) {
            Some(device) => *device,
            None if self.known.len() == MAX_DEVICES => return Err(SourceError::new(TOO_MANY)),
            None => {
                let device = new()?;
                self.known.insert(number, device);
                device
            }
        };
        self.latest = Some((number, device));
        Ok(device)
    }
}

fn report_progress(
    watch: &mut dyn FnMut(u64) -> bool,
    file: &TraceFile,
    reported: &mut u64,
) -> Result<(), SourceError> {
    let read = file.bytes_read();
    let more = read - *reported;
    *reported = read;
    if watch(more) {
        Ok(())
    } else {
        Err(SourceError::new("the reading of the trace was interrupted"))
    }
}
