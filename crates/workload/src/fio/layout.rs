//! Decides where on the drive the files of fio jobs lie.
//!
//! The files lie one after the other, in the order in which the job file names them. Jobs with the
//! same `filename` share a file. A job without `filename` has separate files for each clone, named
//! `$jobname.$jobnum.$filenum` as in fio.
//!
//! If a job names a device (`/dev/...`) and gives no size, the job works on the whole drive. If a
//! job gives the size of a device as a percentage, the percentage refers to the drive's capacity.
//!
//! vpass does not look at files of the host, so the sizes of these files are unknown. The drive's
//! `[start]` settings decide which data the drive holds. A job without a size takes the size from
//! another job on the same file. If no job gives a size in bytes, a percentage such as `size=50%`
//! refers to the drive, and a note says so.

use std::collections::HashMap;
use std::fmt::Write;

use vpass_drive::base::phrase::{Phrase, set};
use vpass_drive::base::request::SourceError;
use vpass_drive::base::units::Bytes;
use vpass_drive::phrase;

use super::draft::Target;
use super::draft::Ways;
use super::job::Job;
use super::values::Amount;

/// Region of a file in which a clone of a fio job works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Region {
    /// First byte of the region, counted from the start of the drive.
    pub(super) start: u64,
    pub(super) bytes: u64,
}

/// Regions in which a clone works, and numbers of bytes that the clone issues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Regions of the clone, one for each of its files. There is at least one region.
    pub(super) files: Vec<Region>,
    pub(super) amounts: Amounts,
}

/// Numbers of bytes after which the passes of a clone end, and after which the clone ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Amounts {
    /// Number of bytes after which a pass over the files ends.
    pub(super) pass_bytes: u64,
    /// Number of bytes that the option `io_size` asks for.
    pub(super) io_bytes: Option<u64>,
}

impl Amounts {
    /// Returns the number of bytes that a clone of the job issues if no pass ends early.
    pub(super) fn total_bytes(self, job: &Job) -> u64 {
        let (pass, loops) = (self.pass_bytes, u64::from(job.limits.loops));
        let passes = self.io_bytes.map_or(loops, |io| loops.max(io.div_ceil(pass.max(1))));
        let most = self.io_bytes.map_or(u64::MAX, |io| io.saturating_mul(loops));
        pass.saturating_mul(passes).min(most)
    }
}

/// Files of all jobs, in the order in which the job file names them.
#[derive(Default)]
struct Files {
    /// Name of each file, and the number of bytes of the file that the jobs use.
    list: Vec<(String, u64)>,
    by_name: HashMap<String, usize>,
}

impl Files {
    fn number(&mut self, name: String) -> usize {
        *self.by_name.entry(name).or_insert_with_key(|name| {
            self.list.push((name.clone(), 0));
            self.list.len() - 1
        })
    }
}

/// Largest number of files. A job file that needs more files is probably a mistake, and the placing
/// of its files would take long.
const MOST_FILES: u64 = 1 << 16;

/// Returns the regions in which the clones of each job work. Error messages use `jobs_name` as the
/// name of the job file. Notes for the user are added to `notes`.
pub(super) fn layout(
    jobs_name: &str,
    jobs: &[Job],
    capacity: u64,
    page_bytes: u32,
    notes: &mut Vec<Phrase>,
) -> Result<Vec<Vec<Part>>, SourceError> {
    laid_out(jobs_name, jobs, (capacity, page_bytes), notes).map(|(parts, _)| parts)
}

/// File of the jobs: its name, its first byte on the drive, and its size in bytes.
pub(super) type Laid = (String, u64, u64);

/// Returns the regions in which the clones of each job work, and the files of all jobs.
pub(super) fn laid_out(
    jobs_name: &str,
    jobs: &[Job],
    (capacity, page_bytes): (u64, u32),
    notes: &mut Vec<Phrase>,
) -> Result<(Vec<Vec<Part>>, Vec<Laid>), SourceError> {
    check_number(jobs_name, jobs)?;
    let mut files = Files::default();
    let numbers: Vec<Vec<Vec<usize>>> =
        jobs.iter().map(|job| job.target.numbers(job, &mut files)).collect();
    let mut parts = vec![Vec::new(); jobs.len()];
    // Jobs with a size are placed first. A job without a size then takes the size from a job with
    // the same file.
    for needs in [false, true] {
        for (i, job) in jobs.iter().enumerate().filter(|(_, job)| job.target.needs_size() == needs)
        {
            for (clone, numbers) in numbers[i].iter().enumerate() {
                let part = part(job, clone as u32, numbers, &mut files, capacity, notes);
                parts[i].push(part.map_err(|what| {
                    job.place.complain(format_args!("job {}: {what}", job.label))
                })?);
            }
        }
    }
    let starts = starts(jobs_name, &files.list, capacity, u64::from(page_bytes))?;
    for (parts, numbers) in parts.iter_mut().zip(&numbers) {
        for (part, numbers) in parts.iter_mut().zip(numbers) {
            part.files
                .iter_mut()
                .zip(numbers)
                .for_each(|(region, file)| region.start += starts[*file]);
        }
    }
    let laid = files
        .list
        .into_iter()
        .zip(starts)
        .map(|((name, bytes), start)| (name, start, bytes))
        .collect();
    Ok((parts, laid))
}

fn check_number(jobs_name: &str, jobs: &[Job]) -> Result<(), SourceError> {
    let count: u64 = jobs
        .iter()
        .map(|job| u64::from(job.clones) * u64::from(job.target.number_of_files()))
        .sum();
    if count > MOST_FILES {
        return Err(SourceError::new(format!(
            "{jobs_name}: its jobs and their clones have {count} files; at most {MOST_FILES} are \
             supported"
        )));
    }
    Ok(())
}

/// Returns the first byte of each file. Each file begins at the start of a page.
fn starts(
    jobs_name: &str,
    files: &[(String, u64)],
    capacity: u64,
    page_bytes: u64,
) -> Result<Vec<u64>, SourceError> {
    let mut end = 0u64;
    let mut starts = Vec::new();
    for (_, bytes) in files {
        let start = end.checked_next_multiple_of(page_bytes).unwrap_or(u64::MAX);
        starts.push(start);
        end = start.saturating_add(*bytes);
    }
    if end <= capacity {
        return Ok(starts);
    }
    let mut list = String::new();
    for (name, bytes) in files.iter().take(4) {
        let _ = write!(list, "{}{name} {}", if list.is_empty() { "" } else { ", " }, Bytes(*bytes));
    }
    if files.len() > 4 {
        let _ = write!(list, " and {} more", files.len() - 4);
    }
    let needed = Bytes(end.div_ceil(1 << 20).saturating_mul(1 << 20));
    let (taken, there) = (Bytes(end), Bytes(capacity));
    Err(SourceError::new(phrase![
        "{jobs_name}: its files take {taken} ({list}), but the drive has only {there}; give \
         smaller sizes or offsets, give the same filename to jobs that share data, or use a larger \
         drive (",
        set("drive.capacity", needed),
        ")",
    ]))
}

/// Returns the regions of a clone in its files. If a region ends beyond the end of the file, the
/// file is enlarged.
fn part(
    job: &Job,
    clone: u32,
    numbers: &[usize],
    files: &mut Files,
    capacity: u64,
    notes: &mut Vec<Phrase>,
) -> Result<Part, String> {
    let target = &job.target;
    let count = numbers.len() as u64;
    // As in fio, `size` is the total of all files, and `filesize` is the size of each file.
    let fixed =
        if let Some(Amount::Bytes(bytes)) = target.size { Some(bytes / count) } else { None };
    let mut regions = Vec::new();
    for number in numbers {
        let (name, known) = &files.list[*number];
        let known = (target.needs_size() && *known > 0).then_some(*known);
        let mut whole = target.file_size.or(is_device(name).then_some(capacity)).or(known);
        if let (None, Some(Amount::Percent(percent))) = (whole, target.size) {
            let note = Phrase::from(format!(
                "job {}: the size of its file {name} is not known; size={percent}% counts as a \
                 share of the drive",
                job.label
            ));
            whole = Some(capacity);
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        let region = region(job, name, clone, whole, fixed)?;
        let end = (region.start.saturating_add(region.bytes)).max(target.file_size.unwrap_or(0));
        let bytes = &mut files.list[*number].1;
        *bytes = end.max(*bytes);
        regions.push(region);
    }
    let size = fixed.map_or_else(
        || regions.iter().map(|r| r.bytes).fold(0, u64::saturating_add),
        |bytes| bytes * count,
    );
    let io_bytes = job.limits.io_size.map(|io| io.of(size));
    // As measured with fio 3.33, such passes do not end at the job's size.
    let is_long = if job.pattern.random { !job.map } else { job.pattern.ways == Ways::Mixed };
    let pass_bytes = if is_long { size.max(io_bytes.unwrap_or(0)) } else { size };
    Ok(Part { files: regions, amounts: Amounts { pass_bytes, io_bytes } })
}

/// Returns the region of a clone in a file. `whole` is the size of the file. `fixed` is the part of
/// the job's size that belongs to this file, if the job's size is known.
fn region(
    job: &Job,
    name: &str,
    clone: u32,
    whole: Option<u64>,
    fixed: Option<u64>,
) -> Result<Region, String> {
    let target = &job.target;
    let start = start(job, whole.or(fixed), clone)?;
    let rest = |whole: u64| {
        let rest = whole.checked_sub(start).filter(|rest| *rest > 0);
        rest.ok_or_else(|| {
            format!(
                "the offset of {} is beyond the end of the file, whose size is {}",
                Bytes(start),
                Bytes(whole)
            )
        })
    };
    let bytes = match (target.size, target.file_size, whole) {
        (Some(Amount::Percent(percent)), _, Some(whole)) => {
            Amount::Percent(percent).of(rest(whole)?)
        }
        (Some(Amount::Bytes(_)), Some(file), _) => rest(file)?,
        (Some(Amount::Bytes(_)), None, _) => fixed.unwrap_or(0),
        (None, _, Some(whole)) => rest(whole)?,
        (_, _, None) => {
            return Err(format!(
                "the size of the file {name} is not known; give the job a size, such as size=1g"
            ));
        }
    };
    check_space(job, bytes)?;
    Ok(Region { start, bytes })
}

/// Returns the first byte of a clone's region. If the start is given as a percentage, it is rounded
/// up to a multiple of the block size.
fn start(job: &Job, whole: Option<u64>, clone: u32) -> Result<u64, String> {
    let target = &job.target;
    let is_percent = |a: Amount| matches!(a, Amount::Percent(_));
    let by_percent = is_percent(target.offset) || is_percent(target.offset_increment);
    if by_percent && whole.is_none() {
        return Err(
            "the offset is a percentage of a file whose size is not known; give the job a size, \
             such as size=1g"
                .into(),
        );
    }
    let whole = whole.unwrap_or(0);
    let start = target
        .offset_increment
        .of(whole)
        .saturating_mul(u64::from(clone))
        .saturating_add(target.offset.of(whole));
    if !by_percent {
        return Ok(start);
    }
    let smallest =
        (0..3).filter(|op| job.uses()[*op]).map(|op| job.blocks[op].ends().0).min().unwrap_or(1);
    let unit = if target.offset_align > 0 { target.offset_align } else { smallest };
    Ok(start.checked_next_multiple_of(unit).unwrap_or(u64::MAX))
}

/// Checks that a request of each direction fits into the region.
fn check_space(job: &Job, bytes: u64) -> Result<(), String> {
    for op in (0..3).filter(|op| job.uses()[*op]) {
        let needed =
            job.blocks[op].ends().0.max(if job.pattern.random { job.align[op] } else { 0 });
        if bytes < needed {
            return Err(format!(
                "a block of {} does not fit into the region of {}",
                Bytes(needed),
                Bytes(bytes)
            ));
        }
    }
    Ok(())
}

fn is_device(name: &str) -> bool {
    name.starts_with("/dev/") || name.starts_with(r"\\.\")
}

impl Target {
    /// Returns whether the size of the job's files must be taken from another job.
    fn needs_size(&self) -> bool {
        self.file_size.is_none() && !matches!(self.size, Some(Amount::Bytes(_)))
    }

    pub(super) fn number_of_files(&self) -> u32 {
        if self.files.is_empty() { self.files_per_clone } else { self.files.len() as u32 }
    }

    /// Returns, for each clone of the job, the numbers of the files that the clone uses.
    fn numbers(&self, job: &Job, files: &mut Files) -> Vec<Vec<usize>> {
        let of_clone = |clone| {
            (0..self.number_of_files())
                .map(|file| files.number(self.name(&job.section, clone, file)))
                .collect()
        };
        (0..job.clones).map(of_clone).collect()
    }

    /// Returns the name of a file that a clone uses.
    fn name(&self, section: &str, clone: u32, file: u32) -> String {
        let name = self.files.get(file as usize).cloned().unwrap_or_else(|| {
            let format = self
                .name_format
                .replace("$jobnum", &clone.to_string())
                .replace("$filenum", &file.to_string());
            format.replace("$jobname", section)
        });
        if self.directory.is_empty() || name.starts_with('/') {
            name
        } else {
            format!("{}/{name}", self.directory)
        }
    }
}
