//! A job file that has been read, and what it asks of the gear that runs it.

use std::path::Path;

use vpass_core::base::request::SourceError;

use super::grammar;
use super::job::{self, Job};
use super::layout::laid_out;

/// A job file that has been read.
#[derive(Clone, Debug)]
pub struct JobFile {
    pub(super) name: String,
    pub(super) jobs: Vec<Job>,
    left_out: Vec<String>,
    pub(super) notes: Vec<String>,
}

impl JobFile {
    /// Reads a job file.
    ///
    /// # Errors
    /// The file cannot be read, or the first line that is wrong: file, line, what is wrong, what
    /// would be right, the line.
    pub fn read(path: &Path) -> Result<Self, SourceError> {
        Self::of(path, &grammar::read(path)?)
    }

    /// The same for a text; `path` stands for its place in messages, and for the folder of files
    /// that it includes.
    ///
    /// # Errors
    /// As for [`JobFile::read`].
    pub fn parse(path: &Path, text: &str) -> Result<Self, SourceError> {
        Self::of(path, &grammar::sections(path, text)?)
    }

    fn of(path: &Path, sections: &[grammar::Section]) -> Result<Self, SourceError> {
        let name = path.display().to_string();
        let jobs = job::jobs(sections)?;
        if jobs.list.is_empty() {
            return Err(SourceError(format!(
                "{name}: holds no job; a section such as [job], beside [global], is expected"
            )));
        }
        Ok(Self { name, jobs: jobs.list, left_out: jobs.left_out, notes: jobs.notes })
    }

    /// What depends on the other jobs of the stage and on the gear.
    pub(super) fn check(
        &self,
        job: &Job,
        options: FioOptions,
        notes: &mut Vec<String>,
    ) -> Result<(), SourceError> {
        if options.queue_depth.is_none()
            && !options.has_clock
            && let Some(other) = self.jobs.iter().find(|other| {
                other.stage == job.stage && other.rate.is_some() != job.rate.is_some()
            })
        {
            let (with, without) = if job.rate.is_some() { (job, other) } else { (other, job) };
            return Err(job.place.complain(format_args!(
            "job {} has a rate and job {} has none, which the untimed gear cannot serve at the same time, because it does not know how long \
             a request takes; take --gear timed, give both a rate or neither, let one wait with stonewall, or take --queue-depth N",
            with.label, without.label
        )));
        }
        let follows_the_drive = job.rate.is_none() || options.queue_depth.is_some();
        if !options.has_clock && follows_the_drive && job.limits.runtime_ns.is_some() {
            if job.limits.time_based && job.limits.number_ios.is_none() {
                return Err(job.place.complain(format_args!(
                "job {} ends by time (time_based), and the untimed gear has none without a rate; take --gear timed, or give it a rate or \
                 number_ios",
                job.label
            )));
            }
            notes.push(format!("job {}: its runtime does not count, because the untimed gear has no time without a rate", job.label));
        }
        let waits = [
            ("thinktime", job.think.is_some()),
            ("startdelay", job.rate.is_none() && job.start_ns > 0),
        ];
        let why = if options.queue_depth.is_some() {
            "--queue-depth is given"
        } else {
            "the untimed gear has no time without a rate"
        };
        if options.queue_depth.is_some() || !options.has_clock {
            let waits = waits.iter().filter(|(_, given)| *given);
            notes.extend(waits.map(|(option, _)| {
                format!("job {}: its {option} does not count, because {why}", job.label)
            }));
        }
        Ok(())
    }

    /// The files that its jobs work on, on a drive of `capacity` bytes with pages of `page_bytes`:
    /// name, first byte, and size.
    ///
    /// # Errors
    /// A job that does not fit onto the drive.
    pub fn files(
        &self,
        capacity: u64,
        page_bytes: u32,
    ) -> Result<Vec<(String, u64, u64)>, SourceError> {
        laid_out(&self.name, &self.jobs, (capacity, page_bytes), &mut vec![])
            .map(|(_, files)| files)
    }

    /// Options that cannot matter to a simulated drive, each once, in the order of the file.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }
}

/// How a job file is run.
#[derive(Clone, Copy, Debug)]
pub struct FioOptions {
    /// Seed of all chance.
    pub seed: u64,
    /// Keep so many requests outstanding, whatever the jobs' depths and rates.
    pub queue_depth: Option<u32>,
    /// Whether time will be told ([`vpass_core::base::request::RequestSource::tell_time`]).
    pub has_clock: bool,
}
