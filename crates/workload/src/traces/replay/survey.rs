//! What the files of a trace hold, known before a run: formats, devices side by side, rows. `scan`
//! reads the files for it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use vpass_core::base::request::SourceError;
use vpass_core::base::units::Ns;

use crate::traces::file::Skipped;
use crate::traces::replay::capacity_fit::Fit;
use crate::traces::replay::layout::{Device, lay_out, too_large, too_many_pages};
use crate::traces::replay::packing::Packing;
use crate::traces::replay::scan::Scan;
use crate::traces::replay::trace_options::TraceOptions;
use crate::traces::rows::blk;
use crate::traces::rows::format::{Epoch, Format};
use crate::traces::rows::options::{MissingClock, ReadOptions};
use crate::traces::rows::rate;
use crate::traces::rows::unit::TimeUnit;

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
    /// The touched pages side by side, where the options ask for [`Fit::Pack`].
    packing: Option<Arc<Packing>>,
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
    /// Bytes that are no gzip data stand behind its gzip data.
    pub(in crate::traces) has_garbage: bool,
    /// What its times count from.
    pub(in crate::traces) clock: Epoch,
    /// Its own time at which its part of the trace begins; none where nothing was asked of it.
    pub(in crate::traces) origin_ns: Option<u64>,
    /// Requests of it that were asked for.
    pub rows: u64,
    /// From the earliest of them to the latest.
    pub span_ns: Ns,
    /// Its device numbers, and which of the devices each is; none where that one was not asked for.
    pub(in crate::traces) numbers: HashMap<u32, Option<usize>>,
}

/// A sentence about bytes that stand behind the gzip data of a file.
pub fn garbage_note(path: &Path) -> String {
    format!(
        "{}: bytes behind the gzip data are no gzip data; they were passed over, as gzip does",
        path.display()
    )
}

impl FileSurvey {
    /// A sentence where bytes behind its gzip data were passed over.
    pub fn garbage(&self) -> Option<String> {
        self.has_garbage.then(|| garbage_note(&self.path))
    }

    /// A sentence where the rate of its requests says that the unit of its times is probably wrong;
    /// `said` is the unit it was read in.
    pub fn doubts(&self, said: Option<TimeUnit>) -> Option<String> {
        rate::doubts(&self.path.display().to_string(), self.format, said, self.rows, self.span_ns)
    }
}

impl Survey {
    /// Reads all files once. `watch` is told how many more of their bytes were read, and says
    /// whether to go on.
    ///
    /// # Errors
    /// The first thing that is wrong in any file, an option that means nothing for the files, a
    /// device that none of them names.
    pub fn of(
        paths: &[PathBuf],
        options: &TraceOptions,
        watch: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Self, SourceError> {
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
        let touched = scan.touched();
        let (mut devices, furthest) = scan.devices()?;
        if !options.concat {
            share_clocks(&mut files);
        }
        let space = lay_out(&mut devices)?;
        let packing = touched.map(|touched| Arc::new(touched.packed(&devices)));
        Ok(Self { files, devices, space, skipped, furthest, packing })
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

    /// Bytes that the touched pages take side by side; known where the options asked for
    /// [`Fit::Pack`].
    pub fn packed_bytes(&self) -> Option<u64> {
        self.packing.as_ref().map(|packing| packing.bytes())
    }

    /// Whether the devices go on a drive of `capacity` bytes.
    ///
    /// # Errors
    /// A sentence with the sizes and what can be done, where they do not.
    pub fn fits(&self, capacity: u64, fit: Fit) -> Result<(), SourceError> {
        let packed = self.packed_bytes();
        match (fit, packed) {
            (Fit::Error, _) if self.space > capacity => Err(too_large(
                &self.name(),
                &self.devices,
                self.space,
                capacity,
                &self.furthest,
                packed,
            )),
            (Fit::Pack, Some(packed)) if packed > capacity => {
                Err(too_many_pages(&self.name(), &self.devices, packed, capacity))
            }
            _ => Ok(()),
        }
    }

    /// What a fit needs to know of the touched pages.
    pub(in crate::traces) fn packing(&self, fit: Fit) -> Result<Option<Arc<Packing>>, SourceError> {
        match (fit, &self.packing) {
            (Fit::Pack, Some(packing)) => Ok(Some(packing.clone())),
            (Fit::Pack, None) => Err(SourceError(format!(
                "{}: --fit pack needs a survey of the touched pages",
                self.name()
            ))),
            _ => Ok(None),
        }
    }

    /// The files, for messages.
    fn name(&self) -> String {
        let (first, others) = (&self.files[0], self.files.len() - 1);
        let more = if others == 0 { String::new() } else { format!(" and {others} more") };
        format!("{}{more} ({} format)", first.path.display(), first.format.name)
    }
}

/// Files of one format whose times are dates share a clock: theirs begins with the first request of
/// any of them.
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

/// What is said of files that keep it themselves would mean nothing.
fn refuse_idle_options(files: &[FileSurvey], options: &ReadOptions) -> Result<(), SourceError> {
    let format = files[0].format.name;
    let idle = |option: &str, what: &str| {
        Err(SourceError(format!(
            "{option} is for traces that {what}; {} does not need it ({format} format)",
            files[0].path.display()
        )))
    };
    if options.assume_op.is_some() && files.iter().all(|f| f.format.has_op) {
        return idle("--assume-op", "do not say what is read and what is written");
    }
    if matches!(options.clock, MissingClock::Rate(_))
        && files.iter().all(|f| f.format.clock != Epoch::None)
    {
        return idle("--assume-rate", "keep no time for their requests");
    }
    if options.blk_action.is_some() && !files.iter().any(|f| blk::FORMATS.contains(&f.format.name))
    {
        return idle("--blk-action", "record several events for a request");
    }
    Ok(())
}
