//! Jobs of a fio job file with their stages. A job is a section of the file. Its values have been
//! checked for contradictions.

use std::collections::BTreeSet;

use vpass_drive::base::phrase::Phrase;
use vpass_drive::base::request::SourceError;

use super::draft::{BLOCK, Draft, MOST_JOBS, Pattern, Target, Ways};
use super::grammar::{Section, SourceLine};
use super::options;
use super::sizes::Blocks;
use super::skew::Distribution;
use super::values::{Amount, PerOp};
use crate::synthetic::Arrivals;

/// Limits after which a job ends, such as a number of bytes, a number of requests or a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) io_size: Option<Amount>,
    pub(super) number_ios: Option<u64>,
    pub(super) loops: u32,
    /// Time after which the job ends, in ns.
    pub(super) runtime_ns: Option<u64>,
    /// Whether the job is repeated until its time is up.
    pub(super) time_based: bool,
}

/// Rate at which the requests of a job arrive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    /// Rate for each direction in bytes per second; `None` for directions without requests.
    pub(super) bytes_per_s: PerOp<Option<f64>>,
    pub(super) arrivals: Arrivals,
}

/// Job of a fio job file, with the number of its clones.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) section: String,
    pub(super) label: String,
    pub(super) place: SourceLine,
    /// Stage to which the job belongs. The jobs of a stage run at the same time. A stage begins
    /// when the previous stage has ended.
    pub(super) stage: usize,
    pub(super) clones: u32,
    pub(super) pattern: Pattern,
    pub(super) read_percent: u32,
    pub(super) blocks: PerOp<Blocks>,
    /// Alignment of random addresses in bytes, for each direction.
    pub(super) align: PerOp<u64>,
    pub(super) distribution: Option<Distribution>,
    pub(super) map: bool,
    pub(super) depth: u32,
    pub(super) rate: Option<Rate>,
    /// Time before the first request of the job, in ns.
    pub(super) start_ns: u64,
    pub(super) limits: Limits,
    pub(super) target: Target,
}

/// Jobs of a fio job file, with notes for the user.
pub(super) struct Jobs {
    pub(super) list: Vec<Job>,
    pub(super) left_out: Vec<String>,
    pub(super) notes: Vec<Phrase>,
}

/// Makes the jobs from all sections. A section whose name begins with "global" sets defaults for
/// the sections after it.
pub(super) fn jobs(sections: &[Section]) -> Result<Jobs, SourceError> {
    let mut all = Jobs { list: vec![], left_out: vec![], notes: vec![] };
    let mut safe = Vec::new();
    let mut global = Draft::of_fio();
    let mut stage = 0;
    // True if at least one job uses an engine that keeps fewer requests outstanding than `iodepth`.
    let mut engine_matters = false;
    for section in sections {
        if section.name.starts_with("global") {
            global.take(&section.lines, &mut all.left_out, &mut safe)?;
            continue;
        }
        let mut draft = global.clone();
        draft.take(&section.lines, &mut all.left_out, &mut safe)?;
        if draft.stonewall && !all.list.is_empty() {
            stage += 1;
        }
        let job = Job::new(&draft, section, stage, &mut all.notes)?;
        engine_matters |= job.depth < draft.depth;
        all.list.push(job);
        let clones: u64 = all.list.iter().map(|j| u64::from(j.clones)).sum();
        if clones > u64::from(MOST_JOBS) {
            return Err(section.place.complain(format_args!(
                "with this job, the file has {clones} jobs, clones included; fio runs at most \
                 {MOST_JOBS}"
            )));
        }
    }
    let mut seen = BTreeSet::new();
    safe.retain(|name| seen.insert(name.clone()));
    if !safe.is_empty() {
        let options = safe.join(", ");
        all.notes.push(
        format!(
            "{options}: these options have no effect, because a write that the simulated drive has \
             acknowledged is safe"
        ).into());
    }
    all.left_out
        .retain(|name| seen.insert(name.clone()) && !(engine_matters && name == "ioengine"));
    Ok(all)
}

impl Job {
    fn new(
        draft: &Draft,
        section: &Section,
        stage: usize,
        notes: &mut Vec<Phrase>,
    ) -> Result<Self, SourceError> {
        let blocks = [0, 1, 2].map(|i| {
            let given = draft.mixed_blocks[i].as_ref().or(draft.blocks[i].as_ref());
            given.cloned().unwrap_or(Blocks::One(BLOCK))
        });
        let label = draft.label.clone().unwrap_or_else(|| section.name.clone());
        let aligned = draft.align.iter().any(Option::is_some);
        let mut job = Self {
            section: section.name.clone(),
            place: section.place.clone(),
            stage,
            clones: draft.clones,
            read_percent: draft.read_percent,
            align: [0, 1, 2].map(|i| draft.align[i].unwrap_or(blocks[i].ends().0)),
            // As in fio, a job with an alignment or a skewed distribution has no random map.
            map: draft.map && !aligned && draft.distribution.is_none(),
            distribution: draft.distribution,
            depth: depth(draft, &label, notes),
            rate: None,
            start_ns: draft.start_ns,
            limits: limits(draft, &label, section, notes)?,
            target: draft.target.clone(),
            pattern: draft.pattern.clone(),
            label,
            blocks,
        };
        let writes = matches!(job.pattern.ways, Ways::Write | Ways::Mixed);
        if draft.verify && writes {
            let what = "reading written data back (verify) is not supported; leave this option \
                        out, or add a job that has stonewall and reads the data";
            return Err(draft.place("verify").unwrap_or(&section.place).complain(what));
        }
        let files = job.target.number_of_files();
        if let Some(open) = draft.open_files.filter(|open| *open < files) {
            let what = format!(
                "openfiles={open} is not supported, because each clone keeps its {files} files \
                 open; leave this option out"
            );
            return Err(draft.place("openfiles").unwrap_or(&section.place).complain(what));
        }
        job.rate = job.rate(draft)?;
        Ok(job)
    }

    /// Returns the size of the largest request, as fio's `td_max_bs`: over all directions, even
    /// unused ones.
    pub(super) fn largest_block(&self) -> u64 {
        self.blocks.iter().map(|blocks| blocks.ends().1).max().unwrap_or(0)
    }

    /// Returns three flags: whether the job reads, whether it writes, and whether it trims.
    pub(super) fn uses(&self) -> PerOp<bool> {
        match self.pattern.ways {
            Ways::Read => [true, false, false],
            Ways::Write => [false, true, false],
            Ways::Trim => [false, false, true],
            Ways::Mixed => [self.read_percent > 0, self.read_percent < 100, false],
        }
    }

    fn rate(&self, draft: &Draft) -> Result<Option<Rate>, SourceError> {
        let by_bytes = draft.rate.iter().any(Option::is_some);
        let by_requests = draft.rate_iops.iter().any(Option::is_some);
        let option = if by_bytes { "rate" } else { "rate_iops" };
        let complain =
            |what: String| Err(draft.place(option).unwrap_or(&self.place).complain(what));
        if by_bytes && by_requests {
            return complain(
                "rate and rate_iops exclude each other; give only one of the two options".into(),
            );
        }
        if !by_bytes && !by_requests {
            return Ok(None);
        }
        let uses = self.uses();
        let mut bytes_per_s = [None; 3];
        for op in (0..3).filter(|op| uses[*op]) {
            // As in fio, `rate_iops` is the number of requests per second if all requests have the
            // smallest size.
            let iops = |n: u64| n as f64 * self.blocks[op].ends().0 as f64;
            bytes_per_s[op] = draft.rate[op].map(|n| n as f64).or(draft.rate_iops[op].map(iops));
            if bytes_per_s[op].is_none() {
                let what = ["reads", "writes", "trims"][op];
                return complain(format!(
                    "{option} gives no rate for the {what} of this job; give a rate for each \
                     direction"
                ));
            }
        }
        let arrivals = if draft.poisson { Arrivals::Poisson } else { Arrivals::Constant };
        Ok(Some(Rate { bytes_per_s, arrivals }))
    }
}

fn limits(
    draft: &Draft,
    label: &str,
    section: &Section,
    notes: &mut Vec<Phrase>,
) -> Result<Limits, SourceError> {
    if draft.time_based && draft.runtime_ns == 0 {
        return Err(draft
            .place("time_based")
            .unwrap_or(&section.place)
            .complain("time_based needs a runtime, such as runtime=60"));
    }
    let ramps = draft.ramp_ns > 0 && draft.runtime_ns > 0;
    if ramps {
        notes.push(
            format!(
                "job {label}: vpass measures during the ramp_time, and then during the runtime"
            )
            .into(),
        );
    }
    let runtime_ns = (draft.runtime_ns > 0)
        .then(|| draft.runtime_ns.saturating_add(if ramps { draft.ramp_ns } else { 0 }));
    Ok(Limits {
        io_size: draft.io_size,
        number_ios: draft.number_ios,
        loops: draft.loops,
        runtime_ns,
        time_based: draft.time_based,
    })
}

/// Returns the number of requests that a clone keeps outstanding.
fn depth(draft: &Draft, label: &str, notes: &mut Vec<Phrase>) -> u32 {
    let engine = &draft.engine;
    if draft.depth > 1 && options::SYNCHRONOUS.contains(&engine.as_str()) {
        let given =
            if draft.place("ioengine").is_some() { "" } else { ", which is fio's default," };
        notes.push(
            format!(
                "job {label}: iodepth={} counts as 1, as in fio, because ioengine={engine}{given} \
             waits for each request; ioengine=libaio keeps {} outstanding",
                draft.depth, draft.depth
            )
            .into(),
        );
        return 1;
    }
    draft.depth
}
