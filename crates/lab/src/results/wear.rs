//! How worn the drive is after a run, how much of that came in it, and the life that follows.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use vpass_core::base::units::Cause;
use vpass_core::disturb::table::LimitTable;
use vpass_core::drive::Drive;

use super::Summary;
use super::life::{CONFIDENT_CYCLES, FEWEST_CYCLES, Life, Shares, Worn, life};
use crate::numbers::{count, plural};

/// How worn the drive is after a run, and the life that follows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Wear {
    /// P/E cycles of the least worn block.
    pub pec_min: u32,
    /// P/E cycles of the mean block.
    pub pec_mean: f64,
    /// P/E cycles of the most worn block.
    pub pec_max: u32,
    /// Of the mean block, with what reprogramming wears.
    pub effective_pec_mean: f64,
    /// Share of the P/E cycles with a reprogramming in place, over the blocks that ever had one; of cycles that ended since the drive was
    /// made, preparation included. Null where no block had one.
    pub ipr_rate: Option<f64>,
    /// P/E cycles that the drive is rated for.
    pub rated_pec: u32,
    /// Block cycles of this run over all blocks: as many as blocks were erased, or as the pages programmed fill, whichever is more.
    pub cycles_observed: f64,
    /// Null without a clock, and where too few cycles were seen for one number.
    pub projected_life_days: Option<f64>,
    /// Null where there is no life.
    pub life_low_days: Option<f64>,
    /// Null where there is no life, and where no upper end can be given.
    pub life_high_days: Option<f64>,
    /// How the life was found; null where there is none.
    #[serde(deserialize_with = "super::words::any")]
    pub life_method: Option<super::words::Word>,
    /// The runs that the life comes from, by age; empty where it is this one alone.
    pub ages: Vec<AgeWear>,
}

/// The wear of a run at one age.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct AgeWear {
    /// P/E cycles at its start.
    pub start_pec: u32,
    /// Block cycles of the run, over all blocks.
    pub cycles_observed: f64,
    /// P/E cycles of the mean block in a day; null without a clock.
    pub pec_per_day: Option<f64>,
    /// Pages of host data that its drive lost.
    pub data_lost_pages: u64,
}

impl AgeWear {
    fn of(start_pec: u32, summary: &Summary, ageing: &Ageing) -> Self {
        let pec_per_day = Some(ageing.worn.per_day()).filter(|_| ageing.worn.seconds > 0.0);
        Self { start_pec, cycles_observed: ageing.worn.observed(), pec_per_day, data_lost_pages: summary.data_lost_pages }
    }
}

impl Summary {
    /// Projects the life from this run and others, on drives of other ages.
    pub(crate) fn join_ages(&mut self, start_pec: u32, ageing: &Ageing, others: &[(u32, (&Self, &Ageing))]) {
        let worn: Vec<Worn> = others.iter().map(|(_, (_, other))| other.worn.clone()).collect();
        let Life { days, low_days, high_days } = ageing.life(&worn, self.wear.effective_pec_mean);
        let own = AgeWear::of(start_pec, self, ageing);
        let ages = others.iter().map(|(pec, (summary, ageing))| AgeWear::of(*pec, summary, ageing));
        self.wear = Wear {
            projected_life_days: days,
            life_low_days: low_days,
            life_high_days: high_days,
            life_method: low_days.is_some().then_some(METHOD_OF_AGES),
            ages: std::iter::once(own).chain(ages).collect(),
            ..self.wear.clone()
        };
        for (pec, (summary, _)) in others {
            if summary.lost_data() {
                self.warn(format!(
                    "On the drive of {} P/E cycles data was lost: {}.",
                    count(u64::from(*pec)),
                    plural(summary.data_lost_pages, "page")
                ));
            }
            for sentence in &summary.warnings {
                self.warn(format!("On the drive of {} P/E cycles: {sentence}", count(u64::from(*pec))));
            }
        }
    }
}

const METHOD: &str = "what reads caused, carried along the technique's thresholds through the P/E counts to come, and what the host caused \
                      as in this run; from low to high: 95 % range of a Poisson count of the block cycles observed";

const METHOD_OF_AGES: &str = "runs at several P/E counts, and between them what reads caused carried along the technique's thresholds; from \
                              low to high: 95 % range of a Poisson count of each run's block cycles";

/// What can be said about the life.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Confidence {
    /// Nothing was programmed or erased.
    NoWear,
    /// Too few block cycles for anything.
    TooFew,
    /// Enough for a range.
    Range,
    /// Enough for a number.
    Number,
}

impl Wear {
    /// What so many block cycles allow to say.
    pub fn confidence(&self) -> Confidence {
        match self.cycles_observed {
            n if n <= 0.0 => Confidence::NoWear,
            n if n < FEWEST_CYCLES => Confidence::TooFew,
            n if n < CONFIDENT_CYCLES => Confidence::Range,
            _ => Confidence::Number,
        }
    }
}

/// The blocks of a drive when counting begins.
pub(crate) struct Before {
    effective_mean: f64,
    pec: Vec<u32>,
    underway: f64,
}

impl Before {
    pub(crate) fn of(drive: &mut Drive) -> Self {
        let pec = drive.block_states().map(|block| block.pec).collect();
        Self { effective_mean: effective_mean(drive), pec, underway: ReadsPerRewrite::new(drive).underway(drive) }
    }
}

/// P/E cycles of the mean block, with what reprogramming wears.
fn effective_mean(drive: &Drive) -> f64 {
    let milli: u64 = drive.block_states().map(|block| block.effective_milli).sum();
    milli as f64 / 1e3 / f64::from(drive.geometry().blocks)
}

/// Reads between two rewrites, by P/E count.
pub(crate) struct ReadsPerRewrite {
    /// None where the error model has no table.
    limits: Option<LimitTable>,
    by_class: HashMap<u64, Option<f64>>,
}

impl ReadsPerRewrite {
    pub(crate) fn new(drive: &Drive) -> Self {
        Self { limits: LimitTable::of(drive.config()), by_class: HashMap::new() }
    }

    /// None where reads cause no rewrite.
    pub(crate) fn at(&mut self, drive: &mut Drive, pec: u32) -> Option<f64> {
        // Thresholds follow from limits, so P/E counts that look up the same limits have the same reads per rewrite.
        let class = self.limits.as_ref()?.lookup_class(pec);
        *self.by_class.entry(class).or_insert_with(|| drive.reads_per_rewrite(pec))
    }

    /// Reads that valid pages have taken towards their next rewrite, summed over pages.
    fn underway(&mut self, drive: &mut Drive) -> f64 {
        self.read_blocks(drive).map(|(valid, reads, per_rewrite)| valid * reads.min(per_rewrite)).sum()
    }

    /// Blocks with data that was read and that reads will have rewritten: valid pages, reads, and the reads of a rewrite.
    fn read_blocks(&mut self, drive: &mut Drive) -> impl Iterator<Item = (f64, f64, f64)> {
        let read = drive.block_states().filter(|b| b.reads > 0.0 && b.valid > 0 && !b.left_to_parity);
        let blocks: Vec<_> = read.map(|b| (b.pec, b.reads, f64::from(b.valid))).collect();
        let with_interval = blocks.into_iter().filter_map(|(pec, reads, valid)| Some((valid, reads, self.at(drive, pec)?)));
        with_interval.collect::<Vec<_>>().into_iter()
    }

    /// In the mean over the cycles that blocks went through since then; of the cycle to come where they went through none.
    fn mean_since(&mut self, drive: &mut Drive, before: &[u32]) -> f64 {
        let blocks: Vec<_> = before.iter().copied().zip(drive.block_states().map(|b| b.pec)).collect();
        let (mut cycles, mut sum) = (0.0, 0.0);
        for pec in blocks.iter().flat_map(|(from, to)| *from..*to) {
            cycles += 1.0;
            sum += self.at(drive, pec).unwrap_or(1.0);
        }
        if cycles > 0.0 { sum / cycles } else { self.at(drive, blocks[0].1).unwrap_or(1.0) }
    }
}

/// What a run did to its blocks, for the life; and the reads per rewrite of its technique.
pub(crate) struct Ageing {
    pub(crate) worn: Worn,
    /// Reads of the most read block that holds data and is recycled, over those of its next rewrite.
    pub(super) progress: f64,
    /// The age of the oldest page in blocks that are recycled, in seconds; none where no block with data is.
    pub(super) oldest_recycled_s: Option<f64>,
    reads_per_rewrite: Vec<f64>,
}

impl Ageing {
    /// At the end of a run of so many simulated seconds; without a clock the time is 0.
    pub(crate) fn of(drive: &mut Drive, seconds: Option<f64>, before: &Before) -> Self {
        let mut intervals = ReadsPerRewrite::new(drive);
        let flash = *drive.flash_counts();
        let shares = |counts: [u64; Cause::COUNT]| {
            let of = |cause: Cause| counts[cause as usize] as f64;
            let named = of(Cause::Host) + of(Cause::Reclaim) + of(Cause::Gc);
            let all: u64 = counts.iter().sum();
            Shares { host: of(Cause::Host), reclaim: of(Cause::Reclaim), gc: of(Cause::Gc), rest: all as f64 - named }
        };
        let (erases, effective) = (shares(flash.erases), effective_mean(drive));
        let blocks = f64::from(drive.geometry().blocks);
        let worn = Worn {
            age: before.effective_mean.midpoint(effective),
            seconds: seconds.unwrap_or(0.0),
            blocks,
            pages_per_block: f64::from(drive.geometry().pages_per_block),
            programs: shares(flash.programs),
            erases,
            extra: ((effective - before.effective_mean) * blocks - erases.sum()).max(0.0),
            reads_per_rewrite: intervals.mean_since(drive, &before.pec),
            underway: (intervals.underway(drive) - before.underway).max(0.0),
        };
        let progress = intervals.read_blocks(drive).map(|(_, reads, per_rewrite)| reads / per_rewrite).fold(0.0, f64::max);
        let rated = drive.config().drive.rated_pec;
        let oldest_recycled_s = drive.oldest_recycled_age().map(|age| age as f64 / 1e9);
        Self {
            worn,
            progress,
            oldest_recycled_s,
            reads_per_rewrite: (0..rated).map(|pec| intervals.at(drive, pec).unwrap_or(1.0)).collect(),
        }
    }

    /// From this effective age of the mean block on, by its own run and others at other ages.
    pub(crate) fn life(&self, others: &[Worn], age: f64) -> Life {
        let mut runs: Vec<Worn> = std::iter::once(&self.worn).chain(others).cloned().collect();
        runs.sort_by(|a, b| a.age.total_cmp(&b.age));
        life(&runs, age, self.reads_per_rewrite.len() as u32, &|pec| self.reads_per_rewrite[pec as usize])
    }
}

impl Wear {
    /// At the end of a run.
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
        let effective = effective_mean(drive);
        let Life { days, low_days, high_days } = ageing.life(&[], effective);
        Self {
            pec_min: min,
            pec_mean: sum as f64 / f64::from(drive.geometry().blocks),
            pec_max: max,
            effective_pec_mean: effective,
            ipr_rate: (cycles > 0).then(|| reprogrammed as f64 / cycles as f64),
            rated_pec: drive.config().drive.rated_pec,
            cycles_observed: ageing.worn.observed(),
            projected_life_days: days,
            life_low_days: low_days,
            life_high_days: high_days,
            life_method: low_days.is_some().then_some(METHOD),
            ages: vec![],
        }
    }
}
