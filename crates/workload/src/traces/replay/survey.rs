//! Surveys the files of a trace before a run. All files are read once, and every line is checked.
//! The survey has the format of each file, the number of rows of each file, and the places of the
//! devices on the drive.
//!
//! The survey needs little memory: mainly the table of devices, and with `--fit pack` the list of
//! touched pages.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use vpass_drive::base::failure::{Failure, When};
use vpass_drive::base::phrase::{Opt, Phrase};
use vpass_drive::base::request::SourceError;
use vpass_drive::base::units::Ns;
use vpass_drive::phrase;

use crate::traces::file::{Skipped, TraceFile};
use crate::traces::options::{MissingClock, TraceOptions};
use crate::traces::replay::capacity_fit::Fit;
use crate::traces::replay::layout::{Device, lay_out, too_large, too_many_pages};
use crate::traces::replay::packing::{Packing, Touched};
use crate::traces::replay::trace_clock::TraceClock;
use crate::traces::rows::blk;
use crate::traces::rows::by_device::{ByDevice, too_many};
use crate::traces::rows::format::{Epoch, Format};
use crate::traces::rows::names::MAX_DEVICES;
use crate::traces::rows::oddities::Oddities;
use crate::traces::rows::rate;
use crate::traces::rows::unit::TimeUnit;
use crate::traces::shown::shown;

/// Survey of a trace: facts about each file and each device.
#[derive(Clone, Debug)]
pub struct Survey {
    files: Vec<FileSurvey>,
    devices: Vec<Device>,
    /// Number of bytes of all devices side by side.
    space: u64,
    skipped: Skipped,
    /// Place in the trace at which the request with the highest address in the first device stands.
    furthest: String,
    /// Positions of the touched pages, if the options contain [`Fit::Pack`].
    packing: Option<Arc<Packing>>,
}

/// Survey of one file of a trace.
#[derive(Clone, Debug)]
pub struct FileSurvey {
    /// Path of the file.
    pub path: PathBuf,
    /// Format of the file.
    pub format: &'static Format,
    /// Whether the format was detected from the content of the file.
    pub detected: bool,
    /// Note about events that do not count as requests.
    pub(in crate::traces) note: Option<Phrase>,
    /// Signs that the rows are not what they seem.
    pub(in crate::traces) oddities: Oddities,
    /// Epoch of the times in the file.
    pub(in crate::traces) clock: Epoch,
    /// Time, on the file's own clock, at which the part of the trace with this file begins; `None`
    /// if the file has no selected requests.
    pub(in crate::traces) origin_ns: Option<u64>,
    /// Time at which a recorded run ended; `None` for other files.
    pub(in crate::traces) ends_at: Option<u64>,
    /// Failures of flash in a recorded run.
    failures: Vec<Failure>,
    /// Whether a recorded run has flushes.
    has_flushes: bool,
    /// Number of requests to selected devices in this file.
    pub rows: u64,
    /// Time from the earliest to the latest request to a selected device in this file.
    pub span_ns: Ns,
    /// Device index for each device number in the file; `None` for a device that `--only` leaves
    /// out.
    pub(in crate::traces) numbers: HashMap<u32, Option<usize>>,
}

impl FileSurvey {
    /// Returns warnings if the times or the sizes of the file were probably read wrongly, or if
    /// some events were not counted. `said` is the unit of times that the user gave. Without
    /// `timed`, the times are not used. If `joined`, recordings follow each other.
    pub fn doubts(&self, said: Option<TimeUnit>, timed: bool, joined: bool) -> Vec<Phrase> {
        let path = shown(&self.path);
        let rate = rate::doubts(&path, self.format, said, self.rows, self.span_ns);
        let of_clock = self.oddities.of_clock(&path).filter(|_| timed && !joined);
        let note = self.note.clone();
        [rate.filter(|_| timed), of_clock, self.of_sizes(), note].into_iter().flatten().collect()
    }

    /// Returns whether the file is a recorded run with flushes or failures.
    pub fn has_events(&self) -> bool {
        self.has_flushes || !self.failures.is_empty()
    }

    /// Returns the failures of flash in a recorded run, with their times at this speed of replay.
    pub fn failures_at(&self, speed: f64) -> impl Iterator<Item = Failure> {
        let clock = TraceClock::new(speed);
        self.failures.iter().map(move |failure| match failure.when {
            When::At(at) => Failure { when: When::At(clock.scaled(at)), ..*failure },
            When::Request(_) => *failure,
        })
    }

    fn of_sizes(&self) -> Option<Phrase> {
        self.oddities.of_sizes(&shown(&self.path), self.format)
    }
}

impl Survey {
    /// Reads all files of a trace once. At each call, `watch` gets the number of bytes read since
    /// the previous call, and returns whether to continue.
    ///
    /// # Errors
    /// Returns the first error in a file. Returns an error if an option has no effect on any file,
    /// or if the options name a device that no file contains.
    pub fn of(
        paths: &[PathBuf],
        options: &TraceOptions,
        watch: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Self, SourceError> {
        if paths.is_empty() {
            return Err(SourceError::new("no trace file is given"));
        }
        let mut scan = Scan::new(options);
        for path in paths {
            scan.file(path, watch)?;
        }
        scan.survey()
    }

    /// Returns the surveys of all files, in the order in which the user gave the files.
    pub fn files(&self) -> &[FileSurvey] {
        &self.files
    }

    /// Returns the selected devices, in the order in which the files name them.
    pub fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// Returns the number of requests to the selected devices in a pass.
    pub fn rows(&self) -> u64 {
        self.devices.iter().map(|d| d.rows).sum()
    }

    /// Returns the number of bytes of all devices side by side.
    pub fn space(&self) -> u64 {
        self.space
    }

    /// Returns the lines and records that were skipped.
    pub fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    /// Returns the size of all touched pages in bytes, if the options contain [`Fit::Pack`].
    pub fn packed_bytes(&self) -> Option<u64> {
        self.packing.as_ref().map(|packing| packing.bytes())
    }

    /// Checks that the devices fit onto a drive of `capacity` bytes.
    ///
    /// # Errors
    /// Returns an error if the devices do not fit. The error has the sizes of the devices and
    /// possible remedies.
    pub fn fits(&self, capacity: u64, fit: Fit) -> Result<(), SourceError> {
        let packed = self.packed_bytes();
        match (fit, packed) {
            (Fit::Error, _) if self.space > capacity => {
                let (name, place) = (self.name(), &self.furthest);
                let error = too_large(&name, &self.devices, self.space, capacity, place, packed);
                let doubts = self.files.iter().filter_map(FileSurvey::of_sizes);
                Err(SourceError::new(
                    doubts.fold(error.into(), |all, doubt: Phrase| phrase![all, "; ", doubt]),
                ))
            }
            (Fit::Pack, Some(packed)) if packed > capacity => {
                Err(too_many_pages(&self.name(), &self.devices, packed, capacity))
            }
            _ => Ok(()),
        }
    }

    /// Returns the positions of the touched pages if the method `fit` needs these positions.
    pub(in crate::traces) fn packing(&self, fit: Fit) -> Result<Option<Arc<Packing>>, SourceError> {
        match (fit, &self.packing) {
            (Fit::Pack, Some(packing)) => Ok(Some(packing.clone())),
            (Fit::Pack, None) => Err(SourceError::new(phrase![
                self.name(),
                ": ",
                Opt::Fit.to("pack"),
                " needs a survey of the touched pages",
            ])),
            _ => Ok(None),
        }
    }

    /// Returns a name for all files together, for messages.
    fn name(&self) -> String {
        let (first, others) = (&self.files[0], self.files.len() - 1);
        let more = if others == 0 { String::new() } else { format!(" and {others} more") };
        format!("{}{more} ({} format)", shown(&first.path), first.format.name)
    }
}

/// Gives a common clock to all files with the same format, if their times are dates. The clock
/// begins at the earliest request in these files.
fn share_clocks(files: &mut [FileSurvey]) {
    let mut earliest: HashMap<&str, u64> = HashMap::new();
    for file in files.iter().filter(|f| f.clock == Epoch::Absolute) {
        if let Some(origin) = file.origin_ns {
            let of_format = earliest.entry(file.format.name).or_insert(origin);
            *of_format = origin.min(*of_format);
        }
    }
    for file in files.iter_mut().filter(|f| f.clock == Epoch::Absolute && f.origin_ns.is_some()) {
        file.origin_ns = earliest.get(file.format.name).copied();
    }
}

/// Returns an error if an option has no effect on any of the files.
fn refuse_idle_options(files: &[FileSurvey], options: &TraceOptions) -> Result<(), SourceError> {
    let format = files[0].format.name;
    let idle = |option: Opt, what: &str| {
        let path = shown(&files[0].path);
        Err(SourceError::new(phrase![
            option,
            " is for traces that {what}; {path} does not need this option ({format} format)",
        ]))
    };
    if options.assume_op.is_some() && files.iter().all(|f| f.format.has_op) {
        return idle(Opt::AssumeOp, "do not say which requests are reads and which are writes");
    }
    if matches!(options.clock, MissingClock::Rate(_))
        && files.iter().all(|f| f.format.clock != Epoch::None)
    {
        return idle(Opt::AssumeRate, "have no times for their requests");
    }
    if options.blk_action.is_some() && !files.iter().any(|f| blk::FORMATS.contains(&f.format.name))
    {
        return idle(Opt::BlkAction, "record several events per request");
    }
    Ok(())
}

/// Refuses a recording with flushes or failures beside other files, because these concern the
/// whole drive.
fn refuse_several_recordings(files: &[FileSurvey]) -> Result<(), SourceError> {
    match files.iter().find(|file| file.has_events()) {
        Some(file) if files.len() > 1 => Err(SourceError::new(format!(
            "{}: a recording with flushes or failures must be the only file of its trace",
            shown(&file.path)
        ))),
        _ => Ok(()),
    }
}

/// Number of rows between two reports of progress.
const STEP_ROWS: u64 = 8192;
/// Largest number of device names that a message shows.
const SHOWN: usize = 10;

/// Results for the files that were read so far.
struct Scan<'a> {
    options: &'a TraceOptions,
    files: Vec<FileSurvey>,
    skipped: Skipped,
    devices: Vec<Device>,
    /// Place of the request with the highest address in the first device: index of the file, and
    /// number of the line or record.
    furthest: (usize, u64),
    /// Device index for each device name; used only if the files are parts of one trace.
    by_name: HashMap<String, usize>,
    /// For each device in the option `--only`: whether a file contains the device.
    found: Vec<bool>,
    /// Names of the devices that `--only` leaves out, for a message.
    others: Vec<String>,
    /// Touched pages of each device; `None` unless the options contain [`Fit::Pack`].
    touched: Option<Touched>,
}

impl<'a> Scan<'a> {
    fn new(options: &'a TraceOptions) -> Self {
        Self {
            options,
            files: vec![],
            skipped: Skipped::default(),
            devices: vec![],
            furthest: (0, 0),
            by_name: HashMap::new(),
            found: vec![false; options.only.len()],
            others: vec![],
            touched: (options.fit == Fit::Pack).then(|| Touched::new(options.page_bytes)),
        }
    }

    /// Reads one file of the trace.
    fn file(&mut self, path: &Path, watch: &mut dyn FnMut(u64) -> bool) -> Result<(), SourceError> {
        if fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
            let what = "is a pipe or a device; a trace is read more than once, so a file on a disk \
                        is expected";
            return Err(SourceError::new(format!("{}: {what}", shown(path))));
        }
        let mut file = TraceFile::open(path, self.options)?;
        let index = self.files.len();
        let mut numbers = ByDevice::new(HashMap::new());
        let (mut origin_ns, mut rows, mut reported) = (None, 0u64, 0);
        let (mut asked, mut earliest, mut latest) = (0, u64::MAX, 0);
        let mut oddities = Oddities::default();
        while file.advance()? {
            let row = *file.row();
            rows += 1;
            if rows.is_multiple_of(STEP_ROWS) {
                report_progress(watch, &file, &mut reported)?;
            }
            let device = numbers.value(row.device, || self.device(&file, index, row.device))?;
            let Some(device) = device else { continue };
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
                if device == 0 {
                    self.furthest = (index, file.number());
                }
            }
        }
        report_progress(watch, &file, &mut reported)?;
        self.files.push(FileSurvey {
            path: path.to_owned(),
            format: file.format(),
            detected: self.options.format.is_none(),
            clock: file.clock(),
            note: file.note(),
            oddities,
            origin_ns: if file.clock() == Epoch::Run { Some(0) } else { origin_ns },
            ends_at: file.ends_at(),
            failures: file.failures().to_vec(),
            has_flushes: file.flushes() > 0,
            rows: asked,
            span_ns: latest.saturating_sub(earliest),
            numbers: numbers.into_known(),
        });
        self.skipped.add(file.skipped());
        Ok(())
    }

    /// Places the devices of all files side by side.
    fn survey(mut self) -> Result<Survey, SourceError> {
        refuse_idle_options(&self.files, self.options)?;
        refuse_several_recordings(&self.files)?;
        if let Some(missing) = self.found.iter().position(|found| !found) {
            return Err(self.missing(&self.options.only[missing]));
        }
        if !self.options.concat {
            share_clocks(&mut self.files);
        }
        let (file, number) = self.furthest;
        let FileSurvey { path, format, .. } = &self.files[file];
        let rows = if format.is_text() { "line" } else { "record" };
        let furthest = format!("{rows} {number} of {}", shown(path));
        let space = lay_out(&mut self.devices)?;
        let touched = self.touched.take();
        let packing = touched.map(|touched| Arc::new(touched.packed(&self.devices)));
        let Self { files, devices, skipped, .. } = self;
        Ok(Survey { files, devices, space, skipped, furthest, packing })
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
            return Err(too_many());
        }
        let device = self.devices.len();
        self.by_name.insert(name.clone(), device);
        self.devices.push(Device { name, file: index, base: 0, extent: 0, rows: 0 });
        Ok(Some(device))
    }

    fn missing(&self, wanted: &str) -> SourceError {
        let names = self.devices.iter().map(|d| &d.name).chain(&self.others);
        let there: Vec<_> = names.take(SHOWN + 1).map(String::as_str).collect();
        let more = if there.len() > SHOWN { ", ..." } else { "" };
        let there = there[..there.len().min(SHOWN)].join(", ");
        SourceError::new(phrase![
            Opt::Only.to(wanted),
            ": no device of the trace has that number or name; the devices are {there}{more}",
        ])
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
