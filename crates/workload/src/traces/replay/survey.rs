//! Surveys the files of a trace before a run. The survey has the format of each file, the number of
//! rows of each file, and the places of the devices on the drive. The source file `scan` reads the
//! trace files.

use crate::traces::shown::shown;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use vpass_drive::base::phrase::{Opt, Phrase};
use vpass_drive::base::request::SourceError;
use vpass_drive::base::units::Ns;
use vpass_drive::phrase;

use crate::traces::file::Skipped;
use crate::traces::replay::capacity_fit::Fit;
use crate::traces::replay::layout::{Device, lay_out, too_large, too_many_pages};
use crate::traces::replay::packing::Packing;
use crate::traces::replay::scan::Scan;
use crate::traces::replay::trace_options::TraceOptions;
use crate::traces::rows::blk;
use crate::traces::rows::format::{Epoch, Format};
use crate::traces::rows::oddities::Oddities;
use crate::traces::rows::options::{MissingClock, ReadOptions};
use crate::traces::rows::rate;
use crate::traces::rows::unit::TimeUnit;

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
    /// Notes about the parts of the file that give no rows.
    pub notes: Vec<Phrase>,
    /// Signs that the rows are not what they seem.
    pub(in crate::traces) oddities: Oddities,
    /// Epoch of the times in the file.
    pub(in crate::traces) clock: Epoch,
    /// Time, on the file's own clock, at which the part of the trace with this file begins; `None`
    /// if the file has no selected requests.
    pub(in crate::traces) origin_ns: Option<u64>,
    /// Time at which a recorded run ended; `None` for other files.
    pub(in crate::traces) ends_at: Option<u64>,
    /// Number of requests to selected devices in this file.
    pub rows: u64,
    /// Time from the earliest to the latest request to a selected device in this file.
    pub span_ns: Ns,
    /// Device index for each device number in the file; `None` for a device that `--only` leaves
    /// out.
    pub(in crate::traces) numbers: HashMap<u32, Option<usize>>,
}

impl FileSurvey {
    /// Returns warnings if the times or the sizes of the file were probably read wrongly. `said` is
    /// the unit of times that the user gave. Without `timed`, the times are not used. If `joined`,
    /// recordings follow each other.
    pub fn doubts(&self, said: Option<TimeUnit>, timed: bool, joined: bool) -> Vec<Phrase> {
        let path = shown(&self.path);
        let rate = rate::doubts(&path, self.format, said, self.rows, self.span_ns);
        let of_clock = self.oddities.of_clock(&path).filter(|_| timed && !joined);
        [rate.filter(|_| timed), of_clock, self.of_sizes()].into_iter().flatten().collect()
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
        let (mut files, mut skipped) = (vec![], Skipped::default());
        for path in paths {
            let (file, passed_over) = scan.file(path, watch)?;
            files.push(file);
            skipped.add(&passed_over);
        }
        refuse_idle_options(&files, &options.read)?;
        let touched = scan.touched();
        let (mut devices, furthest) = scan.devices()?;
        if !options.concat {
            share_clocks(&mut files);
        }
        let space = lay_out(&mut devices)?;
        let packing = touched.map(|touched| Arc::new(touched.packed(&devices)));
        Ok(Self { files, devices, space, skipped, furthest, packing })
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
fn refuse_idle_options(files: &[FileSurvey], options: &ReadOptions) -> Result<(), SourceError> {
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
