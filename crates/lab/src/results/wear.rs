//! Wear of the drive after a run, wear that the run caused, and projected life.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use vpass_core::base::units::Cause;
use vpass_core::disturb::table::LimitTable;
use vpass_core::drive::Drive;

use super::Summary;
use super::life::{CONFIDENT_CYCLES, FEWEST_CYCLES, Life, Shares, Worn, life};
use super::life_unit::{LifeUnit, drive_writes_a_day};
use super::settled::Turned;
use crate::numbers::{count, plural};

/// Wear of the drive after a run, and the projected life.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Wear {
    /// Number of P/E cycles of the least worn block.
    pub pec_min: u32,
    /// Mean number of P/E cycles over the blocks.
    pub pec_mean: f64,
    /// Number of P/E cycles of the most worn block.
    pub pec_max: u32,
    /// Mean number of P/E cycles over the blocks, including wear by reprogramming.
    pub effective_pec_mean: f64,
    /// Share of P/E cycles with a reprogramming in place, over the blocks that ever had one.
    /// P/E cycles of preparation count. Null if no block was ever reprogrammed.
    pub ipr_rate: Option<f64>,
    /// Number of P/E cycles that the drive is rated for.
    pub rated_pec: u32,
    /// Whether rates and state of the run have settled, so that vpass can project a life.
    #[serde(default)]
    pub life_settled: bool,
    /// Number of block cycles of this run.
    /// This is the number of erased blocks, or of blocks that the programmed pages fill, whichever
    /// is larger.
    pub cycles_observed: f64,
    /// Unit of the life; null if the host neither wrote nor read.
    pub life_unit: Option<LifeUnit>,
    /// Days until the drive is worn.
    /// Null if requests have no times, or if the run has too few block cycles.
    pub projected_life_days: Option<f64>,
    /// Lower end of the days until the drive is worn; null if requests have no times.
    pub life_low_days: Option<f64>,
    /// Upper end of the days until the drive is worn.
    /// Null if requests have no times, or if the days have no upper end.
    pub life_high_days: Option<f64>,
    /// Bytes that the host can write until the drive is worn.
    /// For a sample, bytes for the whole drive. Null without host writes, or if the run has too few
    /// block cycles.
    pub host_bytes_until_worn: Option<f64>,
    /// Lower end of `host_bytes_until_worn`; null without host writes.
    pub host_bytes_until_worn_low: Option<f64>,
    /// Upper end of `host_bytes_until_worn`; null without an upper end.
    pub host_bytes_until_worn_high: Option<f64>,
    /// Full drive writes per day over five years, computed from `host_bytes_until_worn`.
    /// Null if `host_bytes_until_worn` is null.
    pub drive_writes_per_day: Option<f64>,
    /// Bytes that the host can read until the drive is worn.
    /// For a sample, bytes for the whole drive. Null without host reads, or if the run has too few
    /// block cycles.
    pub read_bytes_until_worn: Option<f64>,
    /// Lower end of `read_bytes_until_worn`; null without host reads.
    pub read_bytes_until_worn_low: Option<f64>,
    /// Upper end of `read_bytes_until_worn`; null without an upper end.
    pub read_bytes_until_worn_high: Option<f64>,
    /// Number of requests that a similar run needs to give its life as one number.
    /// The number follows from the observed rate. Null if this run has one number, or if nothing
    /// wears the drive.
    pub requests_for_life: Option<u64>,
    /// Method that found the life; null without a life.
    #[serde(deserialize_with = "super::words::any")]
    pub life_method: Option<super::words::Word>,
    /// Wear of the runs that gave the life, by age; empty if only this run gave the life.
    pub ages: Vec<AgeWear>,
}

/// Wear of a run at one age.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct AgeWear {
    /// Number of P/E cycles at the start of the run.
    pub start_pec: u32,
    /// Number of block cycles of the run, over all blocks.
    pub cycles_observed: f64,
    /// Mean number of P/E cycles per block and day; null if requests have no times.
    pub pec_per_day: Option<f64>,
    /// Mean number of P/E cycles per block and 10^12 bytes that the host wrote.
    /// Null without host writes.
    pub pec_per_tb_written: Option<f64>,
    /// Mean number of P/E cycles per block and 10^12 bytes that the host read.
    /// Null without host reads.
    pub pec_per_tb_read: Option<f64>,
    /// Number of pages of host data that the drive of this run lost.
    pub data_lost_pages: u64,
}

impl AgeWear {
    fn of(start_pec: u32, summary: &Summary, ageing: &Ageing) -> Self {
        Self {
            start_pec,
            cycles_observed: ageing.worn.observed(),
            pec_per_day: ageing.worn.per(LifeUnit::Days).filter(|_| ageing.terms.has_times),
            pec_per_tb_written: ageing.worn.per(LifeUnit::HostBytes).map(|rate| rate * 1e12),
            pec_per_tb_read: ageing.worn.per(LifeUnit::ReadBytes).map(|rate| rate * 1e12),
            data_lost_pages: summary.data_lost_pages,
        }
    }
}

impl Summary {
    /// Projects the life from this run and from runs on equal drives at other ages.
    pub(crate) fn join_ages(
        &mut self,
        start_pec: u32,
        ageing: &Ageing,
        others: &[(u32, (&Self, &Ageing))],
    ) {
        let worn: Vec<Worn> = others.iter().map(|(_, (_, other))| other.worn.clone()).collect();
        let own = AgeWear::of(start_pec, self, ageing);
        let ages = others.iter().map(|(pec, (summary, ageing))| AgeWear::of(*pec, summary, ageing));
        self.wear.ages = std::iter::once(own).chain(ages).collect();
        self.wear.live(ageing, &worn, METHOD_OF_AGES);
        self.wear.life_settled &= others.iter().all(|(_, (summary, _))| summary.wear.life_settled);
        for (pec, (summary, _)) in others {
            if summary.lost_data() {
                self.warn(format!(
                    "On the drive of {} P/E cycles data was lost: {}.",
                    count(u64::from(*pec)),
                    plural(summary.data_lost_pages, "page")
                ));
            }
            for sentence in &summary.warnings {
                self.warn(format!(
                    "On the drive of {} P/E cycles: {sentence}",
                    count(u64::from(*pec))
                ));
            }
        }
    }
}

const METHOD: &str = "work for reads, scaled by the technique's thresholds at later P/E counts, \
     and the host's writes as in this run; low to high: 95 % range of a Poisson count of the block \
     cycles observed";

const METHOD_OF_AGES: &str = "runs at several P/E counts, with work for reads between them scaled \
     by the technique's thresholds; low to high: 95 % range of a Poisson count of each run's block \
     cycles";

/// Form in which a run can give the life.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Confidence {
    /// No life: nothing was programmed or erased.
    NoWear,
    /// No life: the run has too few block cycles.
    TooFew,
    /// Range only: the run has enough block cycles for a range, but not for one number.
    Range,
    /// One number: the run has enough block cycles.
    Number,
}

impl Wear {
    /// Returns the form that the observed number of block cycles allows.
    pub fn confidence(&self) -> Confidence {
        match self.cycles_observed {
            n if n <= 0.0 => Confidence::NoWear,
            n if n < FEWEST_CYCLES => Confidence::TooFew,
            n if n < CONFIDENT_CYCLES => Confidence::Range,
            _ => Confidence::Number,
        }
    }
}

/// State of a drive's blocks when the count of wear begins.
pub(crate) struct Before {
    effective_mean: f64,
    pec: Vec<u32>,
    underway: f64,
}

impl Before {
    pub(crate) fn of(drive: &mut Drive) -> Self {
        let pec = drive.block_states().map(|block| block.pec).collect();
        Self {
            effective_mean: effective_mean(drive),
            pec,
            underway: ReadsPerRewrite::new(drive).underway(drive),
        }
    }
}

impl Before {
    /// Counts the blocks that hold data at the end of the run. It also counts how many of these
    /// blocks were not erased in the run.
    pub(crate) fn turned(&self, drive: &Drive) -> Turned {
        let with_data = drive.block_states().zip(&self.pec).filter(|(block, _)| block.valid > 0);
        with_data.fold(Turned::default(), |turned, (block, before)| Turned {
            with_data: turned.with_data + 1,
            untouched: turned.untouched + u32::from(block.pec == *before),
        })
    }
}

/// Returns the mean number of P/E cycles over the blocks, including wear by reprogramming.
fn effective_mean(drive: &Drive) -> f64 {
    let milli: u64 = drive.block_states().map(|block| block.effective_milli).sum();
    milli as f64 / 1e3 / f64::from(drive.geometry().blocks)
}

/// Number of reads between two rewrites of a block, for each P/E count.
pub(crate) struct ReadsPerRewrite {
    /// Limits of the error model; absent if the model has no table.
    limits: Option<LimitTable>,
    by_class: HashMap<u64, Option<f64>>,
}

impl ReadsPerRewrite {
    pub(crate) fn new(drive: &Drive) -> Self {
        Self { limits: LimitTable::of(drive.config()), by_class: HashMap::new() }
    }

    /// Returns the number of reads per rewrite at a P/E count; `None` if reads cause no rewrite.
    pub(crate) fn at(&mut self, drive: &mut Drive, pec: u32) -> Option<f64> {
        // Thresholds follow from limits, so P/E counts with the same limits share one number of
        // reads per rewrite.
        let class = self.limits.as_ref()?.lookup_class(pec);
        *self.by_class.entry(class).or_insert_with(|| drive.reads_per_rewrite(pec))
    }

    /// Returns the sum over valid pages of the reads taken towards their next rewrite.
    fn underway(&mut self, drive: &mut Drive) -> f64 {
        self.read_blocks(drive)
            .map(|(valid, reads, per_rewrite)| valid * reads.min(per_rewrite))
            .sum()
    }

    /// Returns the blocks with data that reads will cause to be rewritten. Each item has the number
    /// of valid pages, of reads, and of reads per rewrite.
    fn read_blocks(&mut self, drive: &mut Drive) -> impl Iterator<Item = (f64, f64, f64)> {
        let read =
            drive.block_states().filter(|b| b.reads > 0.0 && b.valid > 0 && !b.left_to_parity);
        let blocks: Vec<_> = read.map(|b| (b.pec, b.reads, f64::from(b.valid))).collect();
        let with_interval = blocks
            .into_iter()
            .filter_map(|(pec, reads, valid)| Some((valid, reads, self.at(drive, pec)?)));
        with_interval.collect::<Vec<_>>().into_iter()
    }

    /// Returns the mean number of reads per rewrite over the block cycles since `before`. Without a
    /// block cycle, the value of the next cycle is used.
    fn mean_since(&mut self, drive: &mut Drive, before: &[u32]) -> f64 {
        let blocks: Vec<_> =
            before.iter().copied().zip(drive.block_states().map(|b| b.pec)).collect();
        let (mut cycles, mut sum) = (0.0, 0.0);
        for pec in blocks.iter().flat_map(|(from, to)| *from..*to) {
            cycles += 1.0;
            sum += self.at(drive, pec).unwrap_or(1.0);
        }
        if cycles > 0.0 { sum / cycles } else { self.at(drive, blocks[0].1).unwrap_or(1.0) }
    }
}

/// Wear of the blocks in a run, from which the life follows, and the technique's reads per rewrite.
pub(crate) struct Ageing {
    pub(crate) worn: Worn,
    terms: Terms,
    requests: u64,
    /// Number of reads of the most read recycled block with data, divided by the number at its next
    /// rewrite.
    pub(super) progress: f64,
    /// Age of the oldest page in recycled blocks, in seconds; `None` if no recycled block has data.
    pub(super) oldest_recycled_s: Option<f64>,
    reads_per_rewrite: Vec<f64>,
}

impl Ageing {
    /// Collects the wear at the end of a run of `seconds`. Without a clock, the time of the run is
    /// 0.
    pub(crate) fn of(
        drive: &mut Drive,
        seconds: Option<f64>,
        before: &Before,
        terms: Terms,
    ) -> Self {
        let host = *drive.host_counts();
        let mut intervals = ReadsPerRewrite::new(drive);
        let flash = *drive.flash_counts();
        let shares = |counts: [u64; Cause::COUNT]| {
            let of = |cause: Cause| counts[cause as usize] as f64;
            let named = of(Cause::Host) + of(Cause::Reclaim) + of(Cause::Gc);
            let all: u64 = counts.iter().sum();
            Shares {
                host: of(Cause::Host),
                reclaim: of(Cause::Reclaim),
                gc: of(Cause::Gc),
                rest: all as f64 - named,
            }
        };
        let (erases, effective) = (shares(flash.erases), effective_mean(drive));
        let blocks = f64::from(drive.geometry().blocks);
        let worn = Worn {
            age: before.effective_mean.midpoint(effective),
            seconds: seconds.unwrap_or(0.0),
            write_bytes: host.write_bytes as f64 * terms.drives,
            read_bytes: host.read_bytes as f64 * terms.drives,
            write_pages: host.write_pages as f64,
            blocks,
            pages_per_block: f64::from(drive.geometry().pages_per_block),
            programs: shares(flash.programs),
            erases,
            extra: ((effective - before.effective_mean) * blocks - erases.sum()).max(0.0),
            reads_per_rewrite: intervals.mean_since(drive, &before.pec),
            underway: (intervals.underway(drive) - before.underway).max(0.0),
        };
        let progress = intervals
            .read_blocks(drive)
            .map(|(_, reads, per_rewrite)| reads / per_rewrite)
            .fold(0.0, f64::max);
        let rated = drive.config().drive.rated_pec;
        let oldest_recycled_s = drive.oldest_recycled_age().map(|age| age as f64 / 1e9);
        Self {
            worn,
            terms,
            requests: host.read_requests + host.write_requests + host.trim_requests,
            progress,
            oldest_recycled_s,
            reads_per_rewrite: (0..rated)
                .map(|pec| intervals.at(drive, pec).unwrap_or(1.0))
                .collect(),
        }
    }

    /// Returns the number of requests after which a similar run has [`CONFIDENT_CYCLES`] block
    /// cycles. The number follows from the observed rate. Returns `None` if this run has enough
    /// block cycles, or if nothing wears the drive.
    fn requests_for_life(&self) -> Option<u64> {
        let observed = self.worn.observed();
        let so_far = if observed > 0.0 { observed } else { self.worn.pending() };
        (observed < CONFIDENT_CYCLES && so_far > 0.0)
            .then(|| two_digits_up(self.requests as f64 * CONFIDENT_CYCLES / so_far))
    }

    /// Projects the life from this effective age of the mean block. The projection uses this run
    /// and runs at other ages.
    pub(crate) fn life(&self, others: &[Worn], age: f64, unit: LifeUnit) -> Life {
        let mut runs: Vec<Worn> = std::iter::once(&self.worn).chain(others).cloned().collect();
        runs.sort_by(|a, b| a.age.total_cmp(&b.age));
        life(
            &runs,
            age,
            self.reads_per_rewrite.len() as u32,
            &|pec| self.reads_per_rewrite[pec as usize],
            unit,
        )
    }
}

/// Rounds a number of requests up to two significant digits.
fn two_digits_up(n: f64) -> u64 {
    let unit = 10f64.powi((n.max(1.0).log10().floor() as i32 - 1).max(0));
    ((n / unit).ceil() * unit) as u64
}

impl Wear {
    /// Computes the wear at the end of a run.
    pub(crate) fn of(drive: &Drive, ageing: &Ageing) -> Self {
        let (mut min, mut max, mut sum) = (u32::MAX, 0, 0u64);
        let (mut cycles, mut reprogrammed) = (0u64, 0u64);
        for block in drive.block_states() {
            (min, max) = (min.min(block.pec), max.max(block.pec));
            sum += u64::from(block.pec);
            if block.reprogrammed_cycles > 0 {
                cycles += u64::from(block.cycles);
                reprogrammed += u64::from(block.reprogrammed_cycles);
            }
        }
        let worn = &ageing.worn;
        let unit =
            LifeUnit::of(ageing.terms.has_times, worn.write_bytes as u64, worn.read_bytes as u64);
        let mut wear = Self {
            pec_min: min,
            pec_mean: sum as f64 / f64::from(drive.geometry().blocks),
            pec_max: max,
            effective_pec_mean: effective_mean(drive),
            ipr_rate: (cycles > 0).then(|| reprogrammed as f64 / cycles as f64),
            rated_pec: drive.config().drive.rated_pec,
            life_settled: false,
            cycles_observed: worn.observed(),
            life_unit: unit,
            projected_life_days: None,
            life_low_days: None,
            life_high_days: None,
            host_bytes_until_worn: None,
            host_bytes_until_worn_low: None,
            host_bytes_until_worn_high: None,
            drive_writes_per_day: None,
            read_bytes_until_worn: None,
            read_bytes_until_worn_low: None,
            read_bytes_until_worn_high: None,
            requests_for_life: ageing.requests_for_life(),
            life_method: None,
            ages: vec![],
        };
        wear.live(ageing, &[], METHOD);
        wear
    }

    /// Sets the projected lives in each unit, from this run and from runs at other ages.
    fn live(&mut self, ageing: &Ageing, others: &[Worn], method: &'static str) {
        let of = |unit| ageing.life(others, self.effective_pec_mean, unit);
        let (days, written, read) =
            (of(LifeUnit::Days), of(LifeUnit::HostBytes), of(LifeUnit::ReadBytes));
        let days = if ageing.terms.has_times { days } else { Life::default() };
        (self.projected_life_days, self.life_low_days, self.life_high_days) =
            (days.middle, days.low, days.high);
        (
            self.host_bytes_until_worn,
            self.host_bytes_until_worn_low,
            self.host_bytes_until_worn_high,
        ) = (written.middle, written.low, written.high);
        (
            self.read_bytes_until_worn,
            self.read_bytes_until_worn_low,
            self.read_bytes_until_worn_high,
        ) = (read.middle, read.low, read.high);
        self.drive_writes_per_day =
            written.middle.map(|bytes| drive_writes_a_day(bytes, ageing.terms.capacity_bytes));
        self.life_method = self.life().and_then(|life| life.low).map(|_| method);
    }

    /// Returns the life in the run's own unit; `None` if the host neither wrote nor read.
    pub fn life(&self) -> Option<Life> {
        self.life_unit.map(|unit| self.life_in(unit))
    }

    /// Returns the life in this unit. Numbers that the run does not allow are absent.
    pub fn life_in(&self, unit: LifeUnit) -> Life {
        let (middle, low, high) = match unit {
            LifeUnit::Days => (self.projected_life_days, self.life_low_days, self.life_high_days),
            LifeUnit::HostBytes => (
                self.host_bytes_until_worn,
                self.host_bytes_until_worn_low,
                self.host_bytes_until_worn_high,
            ),
            LifeUnit::ReadBytes => (
                self.read_bytes_until_worn,
                self.read_bytes_until_worn_low,
                self.read_bytes_until_worn_high,
            ),
        };
        Life { middle, low, high }
    }
}

/// Facts about the workload and the whole drive that a life needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// Whether the requests have times of their own.
    pub(crate) has_times: bool,
    /// Number of simulated drives that fit into the whole drive.
    pub(crate) drives: f64,
    /// Capacity of the whole drive, in bytes.
    pub(crate) capacity_bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Chosen, RunPlan};
    use crate::progress::{Unwatched, unwatched};
    use crate::run::execute;
    use crate::setup::{Base, Named, Setup};

    fn ageing() -> Ageing {
        let erases = Shares { reclaim: 100.0, ..Shares::default() };
        let worn = Worn {
            age: 0.0,
            seconds: 86_400.0,
            write_bytes: 0.0,
            read_bytes: 6e9,
            write_pages: 0.0,
            blocks: 10.0,
            pages_per_block: 10.0,
            programs: Shares { reclaim: 400.0, ..Shares::default() },
            erases,
            extra: 0.0,
            reads_per_rewrite: 100.0,
            underway: 0.0,
        };
        Ageing {
            worn,
            terms: Terms { has_times: true, drives: 1.0, capacity_bytes: 1 << 30 },
            requests: 1000,
            progress: 0.0,
            oldest_recycled_s: None,
            reads_per_rewrite: vec![100.0; 3000],
        }
    }

    /// A run at one of two ages has lost data, and its rates have not settled.
    #[test]
    fn faults_of_one_age_are_reported_for_all() {
        let base = Base { set: vec!["workload.requests=1000".into()], ..Base::new("tiny") };
        let setup = Setup::new(base, Named::Workload("uniform-read".into()));
        let plan = RunPlan::new(&setup, Chosen::default(), &unwatched).unwrap();
        let run = || {
            let mut run = execute(&plan, &Unwatched).unwrap().summary;
            run.warnings.clear();
            run.wear.life_settled = true;
            run
        };
        let (ageing, mut own, mut old) = (ageing(), run(), run());
        own.join_ages(0, &ageing, &[(2000, (&old, &ageing))]);
        assert_eq!((own.wear.life_settled, &own.warnings[..]), (true, &[][..]));
        assert_eq!(own.wear.ages.iter().map(|age| age.start_pec).collect::<Vec<_>>(), [0, 2000]);
        (old.wear.life_settled, old.data_lost_pages) = (false, 3);
        old.warnings = vec!["It is so.".into()];
        own.join_ages(0, &ageing, &[(2000, (&old, &ageing))]);
        assert!(!own.wear.life_settled);
        assert_eq!(
            own.warnings,
            [
                "On the drive of 2,000 P/E cycles data was lost: 3 pages.",
                "On the drive of 2,000 P/E cycles: It is so."
            ]
        );
    }

    #[test]
    fn requested_numbers_are_rounded_up() {
        assert_eq!(
            [0.0, 1.0, 98.2, 100.0, 101.0, 123_456.0, 130_000.0].map(two_digits_up),
            [0, 1, 99, 100, 110, 130_000, 130_000]
        );
    }
}
