//! Parses a fio job file, and checks whether the simulation gear of the run supports the jobs of
//! the file.

use std::path::Path;

use vpass_drive::base::phrase::{Opt, Phrase};
use vpass_drive::base::request::SourceError;
use vpass_drive::phrase;

use super::grammar;
use super::job::{self, Job};
use super::layout::laid_out;

/// Parsed fio job file.
#[derive(Clone, Debug)]
pub struct JobFile {
    pub(super) name: String,
    pub(super) jobs: Vec<Job>,
    left_out: Vec<String>,
    pub(super) notes: Vec<Phrase>,
}

impl JobFile {
    /// Reads a fio job file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or if a line is invalid. The error message
    /// gives the file, the line number, the error, the expected content, and the text of the line.
    pub fn read(path: &Path) -> Result<Self, SourceError> {
        Self::of(path, &grammar::read(path)?)
    }

    /// Parses the text of a fio job file. Error messages use `path` as the name of the job file.
    /// Included files are searched for in the folder of `path`.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`JobFile::read`].
    pub fn parse(path: &Path, text: &str) -> Result<Self, SourceError> {
        Self::of(path, &grammar::sections(path, text)?)
    }

    fn of(path: &Path, sections: &[grammar::Section]) -> Result<Self, SourceError> {
        let name = path.display().to_string();
        let jobs = job::jobs(sections)?;
        if jobs.list.is_empty() {
            return Err(SourceError::new(format!(
                "{name}: holds no job; besides [global], a section such as [job] is expected"
            )));
        }
        Ok(Self { name, jobs: jobs.list, left_out: jobs.left_out, notes: jobs.notes })
    }

    /// Checks whether a job can run together with the other jobs of its stage. The answer depends
    /// on the simulation gear of the run.
    pub(super) fn check(
        &self,
        job: &Job,
        options: FioOptions,
        notes: &mut Vec<Phrase>,
    ) -> Result<(), SourceError> {
        if options.queue_depth.is_none()
            && !options.has_clock
            && let Some(other) = self.jobs.iter().find(|other| {
                other.stage == job.stage && other.rate.is_some() != job.rate.is_some()
            })
        {
            let (with, without) = if job.rate.is_some() { (job, other) } else { (other, job) };
            let (with, without) = (&with.label, &without.label);
            return Err(job.place.complain(phrase![
                "job {with} has a rate and job {without} has none; the untimed gear cannot run \
                 these two jobs at once, because this gear does not know how long a request takes: \
                 use ",
                Opt::Gear.to("timed"),
                ", give a rate to both jobs or to neither job, make one job wait for the other \
                 (stonewall), or use ",
                Opt::QueueDepth.to("N"),
            ]));
        }
        let label = &job.label;
        let follows_the_drive = job.rate.is_none() || options.queue_depth.is_some();
        if !options.has_clock && follows_the_drive && job.limits.runtime_ns.is_some() {
            if job.limits.time_based && job.limits.number_ios.is_none() {
                return Err(job.place.complain(phrase![
                    "job {label} ends by time (time_based), but the untimed gear has no time \
                     without a rate; use ",
                    Opt::Gear.to("timed"),
                    ", or give the job a rate or number_ios",
                ]));
            }
            notes.push(phrase![
                "job {label}: its runtime is ignored, because the untimed gear has no time \
                 without a rate",
            ]);
        }
        let waits = job.rate.is_none() && job.start_ns > 0;
        if waits && options.queue_depth.is_some() {
            notes.push(phrase![
                "job {label}: its startdelay is ignored, because ",
                Opt::QueueDepth,
                " is given",
            ]);
        } else if waits && !options.has_clock {
            notes.push(phrase![
                "job {label}: its startdelay is ignored, because the untimed gear has no time \
                 without a rate",
            ]);
        }
        Ok(())
    }

    /// Returns the name of the first job without a rate; `None` if each job has a rate.
    pub fn job_without_rate(&self) -> Option<&str> {
        self.jobs.iter().find(|job| job.rate.is_none()).map(|job| job.label.as_str())
    }

    /// Returns the name, first byte and size of each file that the jobs use. The drive has
    /// `capacity` bytes and pages of `page_bytes` bytes.
    ///
    /// # Errors
    /// Returns an error if a job does not fit onto the drive.
    pub fn files(
        &self,
        capacity: u64,
        page_bytes: u32,
    ) -> Result<Vec<(String, u64, u64)>, SourceError> {
        laid_out(&self.name, &self.jobs, (capacity, page_bytes), &mut vec![])
            .map(|(_, files)| files)
    }

    /// Returns the options of the job file that do not affect a simulated drive. Each option is
    /// named once, in the order of the file.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }
}

/// Options for running a fio job file.
#[derive(Clone, Copy, Debug)]
pub struct FioOptions {
    /// Random seed of the run.
    pub seed: u64,
    /// Number of outstanding requests. If this number is given, it replaces the depths and rates of
    /// all jobs.
    pub queue_depth: Option<u32>,
    /// Whether the simulated drive reports the simulated time to the source of requests
    /// ([`vpass_drive::base::request::RequestSource::tell_time`]).
    pub has_clock: bool,
}
