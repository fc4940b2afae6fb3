//! Checks that a reclaim job goes ahead of reads exactly when it must. It must if its block's
//! allowed reads would run out before the job ends, at the rate of reads since it began.
//!
//! ```text
//! 40 reads in 20 ms since the job began, 100 more are allowed    the reads run out in 50 ms
//! 60 pages are left to move, a millisecond each                  the job ends in 60 ms: urgent
//! ```
//!
//! The oracle hears of times a little later than of operations on flash, so it bounds both sides.
//! It demands urgency only by the smallest possible number of reads and pages, and allows it by the
//! largest.

use std::collections::BTreeMap;

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Cause, Ns, Ppn};
use vpass_drive::config::{DriveConfig, ProgramUnit};
use vpass_drive::watch::time_event::OpId;

use super::TimingChecker;
use super::lengths::program_us;

/// Share by which both sides may differ, because they round in different orders.
const MARGIN: f64 = 0.02;

/// A job at its beginning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begun {
    /// Number that identifies the job.
    pub(crate) serial: u64,
    /// Quarters of a dose unit that the host may still read from the block; `None` if unknown.
    pub(crate) left: Option<u64>,
    /// Dose of the block, in quarters.
    pub(crate) dose: u64,
    /// Largest number of pages to move, and of wordlines to merge.
    pub(crate) most: (u32, u32),
}

/// State of a job at the time of the next event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    pub(crate) serial: u64,
    /// Number of pages that the job has still to move.
    pub(crate) pages: u32,
    /// Dose of the block in quarters, with the reads of the job itself.
    pub(crate) dose: u64,
}

/// A deferred job at a die.
#[derive(Clone, Copy, Debug)]
struct Job {
    block: BlockId,
    at: Ns,
    /// The job at its beginning; `None` if unknown.
    begun: Option<Begun>,
    /// Dose of the host's reads from the block, in quarters.
    read: u64,
}

/// Jobs at the dies.
#[derive(Debug, Default)]
pub(super) struct Urgency {
    copy_ns: f64,
    merge_ns: f64,
    dose_of_kind: Vec<u32>,
    dies: Vec<Vec<Job>>,
    /// Jobs that began since the last events; `None` for a block that began two.
    begun: BTreeMap<BlockId, Option<Begun>>,
    now: BTreeMap<BlockId, Now>,
    serials: u64,
}

impl Urgency {
    pub(super) fn new(geometry: &Geometry, config: &DriveConfig, dose_of_kind: Vec<u32>) -> Self {
        let t = &config.timing;
        let bits = f64::from(geometry.cell.bits());
        let transfer = if t.channel_mb_s > 0.0 {
            f64::from(geometry.page_bytes) * 1000.0 / t.channel_mb_s
        } else {
            0.0
        };
        let sense: f64 = t.sense_per_kind_us(geometry.cell).iter().sum::<f64>() / bits;
        let read = (sense + t.ecc_us) * 1000.0 + transfer;
        let together = if t.program_unit == ProgramUnit::Wordline { bits } else { 1.0 };
        let program: Vec<f64> =
            (0..geometry.cell.bits()).map(|kind| program_us(config, kind) * 1000.0).collect();
        let slowest = program.iter().copied().fold(0.0, f64::max);
        Self {
            copy_ns: read + transfer + program.iter().sum::<f64>() / bits / together,
            merge_ns: bits * read + transfer + slowest,
            dose_of_kind,
            dies: vec![vec![]; geometry.dies() as usize],
            ..Self::default()
        }
    }

    /// Adds the time of an adjustment to each merge: reads before and after it, and programs for
    /// corrupted pages.
    pub(super) fn expect_adjusting(&mut self, bits: u32, adjust: Ns) {
        self.merge_ns += f64::from(bits) * self.copy_ns + adjust as f64;
    }

    /// Notes that a reclaim job begins in a timed run. Returns its number.
    pub(super) fn begins(&mut self, block: BlockId, job: Begun) -> u64 {
        self.serials += 1;
        let job = Begun { serial: self.serials, ..job };
        self.begun.entry(block).and_modify(|known| *known = None).or_insert(Some(job));
        self.serials
    }

    /// Returns the blocks of jobs that may soon be urgent. Only these jobs need a closer check.
    pub(super) fn near(&self, at: Ns) -> Vec<BlockId> {
        let is_near = |job: &&Job| {
            job.begun.is_some_and(|begun| {
                let left =
                    begun.left.map_or(f64::INFINITY, |left| left.saturating_sub(job.read) as f64);
                2.0 * job.read as f64 * f64::from(begun.most.0) * self.copy_ns
                    >= left * at.saturating_sub(job.at) as f64
            })
        };
        self.dies.iter().flatten().filter(is_near).map(|job| job.block).collect()
    }

    /// Forgets the jobs that began before these events.
    pub(super) fn end_telling(&mut self) {
        self.begun.clear();
    }

    pub(super) fn job(&mut self, die: u32, block: BlockId, cause: Cause, on: bool, at: Ns) {
        let Some(jobs) = self.dies.get_mut(die as usize) else { return };
        if on {
            let begun = self.begun.remove(&block).flatten().filter(|_| cause == Cause::Reclaim);
            jobs.push(Job { block, at, begun, read: 0 });
        } else if let Some(place) = jobs.iter().position(|job| job.block == block) {
            jobs.remove(place);
        }
    }

    /// Notes that the host reads a page at a die.
    pub(super) fn read(&mut self, die: u32, block: BlockId, ppn: Ppn) {
        let dose = self.dose_of_kind[ppn.index() % self.dose_of_kind.len()];
        let jobs = self.dies.get_mut(die as usize).into_iter().flatten();
        jobs.filter(|job| job.block == block).for_each(|job| job.read += u64::from(dose));
    }

    fn now(&self, begun: &Begun, block: BlockId) -> Option<Now> {
        self.now.get(&block).copied().filter(|now| now.serial == begun.serial)
    }

    /// Checks that no job of a die is urgent as the die begins a read.
    pub(super) fn check_calm(&self, die: u32, at: Ns) -> Result<(), String> {
        for job in &self.dies[die as usize] {
            let Some(begun) = job.begun else { continue };
            let (Some(left), Some(now)) = (begun.left, self.now(&begun, job.block)) else {
                continue;
            };
            // The read that made the job necessary came before the job, but its event comes after
            // it.
            let most = self.dose_of_kind.iter().max().copied().unwrap_or(0);
            let read = job.read.saturating_sub(most.into());
            let takes = f64::from(now.pages) * self.copy_ns * (1.0 - MARGIN);
            if read as f64 * takes > left.saturating_sub(read) as f64 * (at - job.at).max(1) as f64
                && read > 0
            {
                return Err(format!(
                    "die {die} begins a read at {at} ns, but the job of block {} is urgent: since \
                     {} ns, {read} of {left} quarter reads were used, and {} pages are left",
                    job.block, job.at, now.pages
                ));
            }
        }
        Ok(())
    }

    /// Checks that some job of a die may go ahead of reads.
    pub(super) fn check_urgent(&self, die: u32, at: Ns) -> Result<(), String> {
        let may = |job: &Job| {
            let Some(begun) = job.begun else { return true };
            let Some(now) = self.now(&begun, job.block) else { return true };
            let Some(left) = begun.left else { return false };
            let read = now.dose - begun.dose;
            let takes = (f64::from(begun.most.0) * self.copy_ns
                + f64::from(begun.most.1) * self.merge_ns)
                * (1.0 + MARGIN);
            // A remainder below one dose unit counts as 0.
            let left = (left.saturating_sub(read) / 4 * 4).saturating_sub(4);
            read as f64 * takes >= left as f64 * (at - job.at).max(1) as f64
        };
        if self.dies[die as usize].iter().any(may) {
            return Ok(());
        }
        Err(format!(
            "a job of die {die} goes ahead of reads at {at} ns, but none of its {} jobs is urgent",
            self.dies[die as usize].len()
        ))
    }
}

impl TimingChecker {
    /// Notes that a reclaim job begins. Returns its number; `None` if time does not count.
    pub(crate) fn reclaims(&mut self, block: BlockId, job: Begun) -> Option<u64> {
        self.is_on().then(|| self.urgency.begins(block, job))
    }

    /// Returns the blocks whose jobs [`Self::stand`] must describe before the next events.
    pub(crate) fn near(&self) -> Vec<BlockId> {
        self.urgency.near(self.now)
    }

    /// Takes the present states of the jobs.
    pub(crate) fn stand(&mut self, now: BTreeMap<BlockId, Now>) {
        self.urgency.now = now;
    }

    /// Checks a read that begins: no job of its die must go ahead of it.
    pub(super) fn check_calm(&self, op: OpId, unit: u32, at: Ns) -> Result<(), String> {
        let die = unit / self.lengths.units_per_die;
        if self.dies.lets_reads_pass(op, die) { self.urgency.check_calm(die, at) } else { Ok(()) }
    }
}
