//! Where jobs work on the drive. Each file has a place of its own, one beside the other in the order in which they are named; jobs with
//! the same `filename` share it, and a job without has a file of its own for each clone (`$jobname.$jobnum.$filenum`), as in fio.
//!
//! A device (`/dev/...`) without a size is the whole drive, and percentages of it are of the drive's capacity. Whether a plain file is
//! there already, and how large, is not looked at: what a drive holds at the start is in the drive's own `[start]`.

use std::fmt::Write;

use vpass_core::request::SourceError;
use vpass_core::units::Bytes;

use super::job::{Job, Target};
use super::values::Amount;

/// Where a clone works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Region {
    /// First byte, on the drive.
    pub(super) start: u64,
    pub(super) bytes: u64,
    /// Bytes after which a loop of the job ends.
    pub(super) io_bytes: u64,
}

/// A file on the drive.
struct File {
    name: String,
    bytes: u64,
}

/// The regions of each job's clones on a drive; `jobs_name` is the job file's, for messages.
pub(super) fn layout(jobs_name: &str, jobs: &[Job], capacity: u64, page_bytes: u32) -> Result<Vec<Vec<Region>>, SourceError> {
    let mut files: Vec<File> = Vec::new();
    let mut placed = Vec::new();
    for job in jobs {
        let mut clones = Vec::new();
        for clone in 0..job.clones {
            let name = job.target.name(&job.section, clone);
            let region =
                region(job, &name, clone, capacity).map_err(|what| job.place.complain(format_args!("job {}: {what}", job.label)))?;
            let end = (region.start.saturating_add(region.bytes)).max(job.target.file_size.unwrap_or(0));
            let file = files.iter().position(|f| f.name == name).unwrap_or_else(|| {
                files.push(File { name, bytes: 0 });
                files.len() - 1
            });
            files[file].bytes = files[file].bytes.max(end);
            clones.push((file, region));
        }
        placed.push(clones);
    }
    let starts = starts(jobs_name, &files, capacity, u64::from(page_bytes))?;
    let moved = |(file, region): (usize, Region)| Region { start: region.start + starts[file], ..region };
    Ok(placed.into_iter().map(|clones| clones.into_iter().map(moved).collect()).collect())
}

/// The first byte of each file. Each begins at a page, as on a file system whose blocks are no larger.
fn starts(jobs_name: &str, files: &[File], capacity: u64, page_bytes: u64) -> Result<Vec<u64>, SourceError> {
    let mut end = 0u64;
    let mut starts = Vec::new();
    for file in files {
        let start = end.next_multiple_of(page_bytes);
        starts.push(start);
        end = start.saturating_add(file.bytes);
    }
    if end <= capacity {
        return Ok(starts);
    }
    let mut list = String::new();
    for file in files.iter().take(4) {
        let _ = write!(list, "{}{} {}", if list.is_empty() { "" } else { ", " }, file.name, Bytes(file.bytes));
    }
    if files.len() > 4 {
        let _ = write!(list, " and {} more", files.len() - 4);
    }
    let room = Bytes(end.div_ceil(1 << 20).saturating_mul(1 << 20));
    Err(SourceError(format!(
        "{jobs_name}: its files take {} on the drive ({list}), which has a capacity of {}; give smaller sizes or offsets, one filename to jobs \
         that share their data, or take a larger drive (--set drive.capacity={room})",
        Bytes(end),
        Bytes(capacity)
    )))
}

/// Where in its file a clone works.
fn region(job: &Job, name: &str, clone: u32, capacity: u64) -> Result<Region, String> {
    let target = &job.target;
    let whole = target.file_size.or(is_device(name).then_some(capacity));
    let fixed = if let Some(Amount::Bytes(bytes)) = target.size { Some(bytes) } else { None };
    let start = start(job, whole.or(fixed), clone)?;
    let rest = |whole: u64| {
        let rest = whole.checked_sub(start).filter(|rest| *rest > 0);
        rest.ok_or_else(|| format!("its offset of {} is beyond the end of its file of {}", Bytes(start), Bytes(whole)))
    };
    let of_unknown = || format!("the size of its file {name} is not known; give the job a size, such as size=1g");
    let bytes = match (target.size, target.file_size, whole) {
        (Some(Amount::Percent(percent)), _, Some(whole)) => Amount::Percent(percent).of(rest(whole)?),
        (Some(Amount::Bytes(_)), Some(file), _) => rest(file)?,
        (Some(Amount::Bytes(bytes)), None, _) => bytes,
        (None, _, Some(whole)) => rest(whole)?,
        (_, _, None) => return Err(of_unknown()),
    };
    let size = fixed.unwrap_or(bytes);
    check_room(job, bytes)?;
    Ok(Region { start, bytes, io_bytes: job.limits.io_size.map_or(size, |io| io.of(size)) })
}

/// The first byte of a clone's region. One that a percentage gives is rounded up to a block.
fn start(job: &Job, whole: Option<u64>, clone: u32) -> Result<u64, String> {
    let target = &job.target;
    let is_percent = |a: Amount| matches!(a, Amount::Percent(_));
    let by_percent = is_percent(target.offset) || is_percent(target.offset_increment);
    if by_percent && whole.is_none() {
        return Err("its offset is a percentage of a file whose size is not known; give the job a size, such as size=1g".into());
    }
    let whole = whole.unwrap_or(0);
    let start = target.offset_increment.of(whole).saturating_mul(u64::from(clone)).saturating_add(target.offset.of(whole));
    if !by_percent {
        return Ok(start);
    }
    let smallest = (0..3).filter(|op| job.uses()[*op]).map(|op| job.blocks[op].ends().0).min().unwrap_or(1);
    let unit = if target.offset_align > 0 { target.offset_align } else { smallest };
    Ok(start.checked_next_multiple_of(unit).unwrap_or(u64::MAX))
}

/// Whether a request of each direction fits.
fn check_room(job: &Job, bytes: u64) -> Result<(), String> {
    for op in (0..3).filter(|op| job.uses()[*op]) {
        let needed = job.blocks[op].ends().0.max(if job.pattern.random { job.align[op] } else { 0 });
        if bytes < needed {
            return Err(format!("a block of {} does not fit into the {} where it works", Bytes(needed), Bytes(bytes)));
        }
    }
    Ok(())
}

fn is_device(name: &str) -> bool {
    name.starts_with("/dev/") || name.starts_with(r"\\.\")
}

impl Target {
    /// The name of a clone's file.
    pub(super) fn name(&self, section: &str, clone: u32) -> String {
        let name = self.file.clone().unwrap_or_else(|| {
            let format = self.name_format.replace("$jobnum", &clone.to_string()).replace("$filenum", "0");
            format.replace("$jobname", section)
        });
        if self.directory.is_empty() || name.starts_with('/') { name } else { format!("{}/{name}", self.directory) }
    }
}
