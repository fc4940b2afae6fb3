//! What the files of a trace hold, known before a run: formats, devices side by side, rows. `scan` reads the files for it.

use std::collections::HashMap;
use std::path::PathBuf;

use vpass_core::request::SourceError;

use super::blk;
use super::file::Skipped;
use super::fit::Fit;
use super::format::{Clock, Format};
use super::layout::{Device, lay_out, too_large};
use super::options::{MissingClock, ReadOptions};
use super::scan::Scan;
use super::source::TraceOptions;

/// Files of a trace and what is in them.
#[derive(Clone, Debug)]
pub struct Survey {
    files: Vec<FileSurvey>,
    devices: Vec<Device>,
    /// Bytes that the devices take side by side.
    space: u64,
    skipped: Skipped,
    /// Where the first device's highest request stands.
    furthest: String,
}

/// One file.
#[derive(Clone, Debug)]
pub struct FileSurvey {
    /// Where it is.
    pub path: PathBuf,
    /// What it was taken for.
    pub format: &'static Format,
    /// The format was found from the content.
    pub detected: bool,
    /// What its times count from.
    pub(super) clock: Clock,
    /// Its own time at which its part of the trace begins; none where nothing was asked of it.
    pub(super) origin_ns: Option<u64>,
    /// Its device numbers, and which of the devices each is; none where that one was not asked for.
    pub(super) numbers: HashMap<u32, Option<usize>>,
}

impl Survey {
    /// Reads all files once. `watch` is told how many more of their bytes were read, and says whether to go on.
    ///
    /// # Errors
    /// The first thing that is wrong in any file, an option that means nothing for the files, a device that none of them names.
    pub fn of(paths: &[PathBuf], options: &TraceOptions, watch: &mut dyn FnMut(u64) -> bool) -> Result<Self, SourceError> {
        if paths.is_empty() {
            return Err(SourceError("no trace file is given".into()));
        }
        let mut scan = Scan::new(options);
        let (mut files, mut skipped) = (vec![], Skipped::default());
        for path in paths {
            let (file, passed_over) = scan.file(path, watch)?;
            files.push(file);
            skipped.add(&passed_over);
        }
        refuse_idle_options(&files, &options.read)?;
        let (mut devices, furthest) = scan.devices()?;
        if !options.concat {
            share_clocks(&mut files);
        }
        let space = lay_out(&mut devices)?;
        Ok(Self { files, devices, space, skipped, furthest })
    }

    /// The files, in the order given.
    pub fn files(&self) -> &[FileSurvey] {
        &self.files
    }

    /// The devices that were asked for, in the order in which the files name them.
    pub fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// Their requests, in a pass.
    pub fn rows(&self) -> u64 {
        self.devices.iter().map(|d| d.rows).sum()
    }

    /// Bytes that they take side by side.
    pub fn space(&self) -> u64 {
        self.space
    }

    /// Lines and records that were passed over.
    pub fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    /// Whether the devices go on a drive of `capacity` bytes.
    ///
    /// # Errors
    /// A sentence with the sizes and what can be done, where they do not.
    pub fn fits(&self, capacity: u64, fit: Fit) -> Result<(), SourceError> {
        if fit == Fit::Error && self.space > capacity {
            let [first, others @ ..] = &self.files[..] else { return Ok(()) };
            let more = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
            let name = format!("{}{more} ({} format)", first.path.display(), first.format.name);
            return Err(too_large(&name, &self.devices, self.space, capacity, &self.furthest));
        }
        Ok(())
    }
}

/// Files of one format whose times are dates share a clock: theirs begins with the first request of any of them.
fn share_clocks(files: &mut [FileSurvey]) {
    let mut earliest: HashMap<&str, u64> = HashMap::new();
    for file in files.iter().filter(|f| f.clock == Clock::Absolute) {
        if let Some(origin) = file.origin_ns {
            let of_format = earliest.entry(file.format.name).or_insert(origin);
            *of_format = origin.min(*of_format);
        }
    }
    for file in files.iter_mut().filter(|f| f.clock == Clock::Absolute && f.origin_ns.is_some()) {
        file.origin_ns = earliest.get(file.format.name).copied();
    }
}

/// What is said of files that keep it themselves would mean nothing.
fn refuse_idle_options(files: &[FileSurvey], options: &ReadOptions) -> Result<(), SourceError> {
    let format = files[0].format.name;
    let idle = |option: &str, what: &str| {
        Err(SourceError(format!("{option} is for traces that {what}; {} does not need it ({format} format)", files[0].path.display())))
    };
    if options.assume_op.is_some() && files.iter().all(|f| f.format.has_op) {
        return idle("--assume-op", "do not say what is read and what is written");
    }
    if matches!(options.clock, MissingClock::Rate(_)) && files.iter().all(|f| f.format.clock != Clock::None) {
        return idle("--assume-rate", "keep no time for their requests");
    }
    if options.blk_action.is_some() && !files.iter().any(|f| blk::FORMATS.contains(&f.format.name)) {
        return idle("--blk-action", "record several events for a request");
    }
    Ok(())
}
