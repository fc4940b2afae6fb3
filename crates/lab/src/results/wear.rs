//! Wear of the drive after a run, and the drive's projected life.

use serde::{Deserialize, Serialize};
use vpass_drive::drive::Drive;

use super::Summary;
use super::ageing::{Ageing, effective_mean};
use super::life::{CONFIDENT_CYCLES, FEWEST_CYCLES, Life, Worn};
use super::life_unit::{LifeUnit, drive_writes_a_day};
use crate::numbers::{count, plural};

/// Wear of the drive after a run, and the drive's projected life.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Wear {
    /// Number of P/E cycles of the least worn block.
    pub pec_min: u32,
    /// Mean number of P/E cycles of all blocks.
    pub pec_mean: f64,
    /// Number of P/E cycles of the most worn block.
    pub pec_max: u32,
    /// Mean number of effective P/E cycles of all blocks. Wear by reprogramming in place is
    /// included.
    pub effective_pec_mean: f64,
    /// Share of P/E cycles with a reprogramming in place. Blocks that were never reprogrammed are
    /// left out; P/E cycles during the preparation of the drive are included. Null if no block was
    /// reprogrammed.
    pub ipr_rate: Option<f64>,
    /// Number of P/E cycles that the drive is rated for.
    pub rated_pec: u32,
    /// Whether the rate of wear and the state of the drive have settled in this run. Only a settled
    /// run gives a reliable life.
    #[serde(default)]
    pub life_settled: bool,
    /// Number of block cycles of this run. It is the larger of two numbers: the number of erased
    /// blocks, and the number of blocks that the programmed pages fill.
    pub cycles_observed: f64,
    /// Unit in which the life is given. Null if the host neither wrote nor read.
    pub life_unit: Option<LifeUnit>,
    /// Days until the drive is worn out. Null if requests have no times, or if the run has too few
    /// block cycles.
    pub projected_life_days: Option<f64>,
    /// Lower end of the range of days until the drive is worn out. Null if requests have no times.
    pub life_low_days: Option<f64>,
    /// Upper end of the range of days until the drive is worn out. Null if requests have no times,
    /// or if the range has no upper end.
    pub life_high_days: Option<f64>,
    /// Bytes that the host can write until the drive is worn out. If only a sample of the drive is
    /// simulated, the number is still for the whole drive. Null without host writes, or if the run
    /// has too few block cycles.
    pub host_bytes_until_worn: Option<f64>,
    /// Lower end of the range of `host_bytes_until_worn`; null without host writes.
    pub host_bytes_until_worn_low: Option<f64>,
    /// Upper end of the range of `host_bytes_until_worn`. Null if the range has no upper end.
    pub host_bytes_until_worn_high: Option<f64>,
    /// Drive writes per day over five years, computed from `host_bytes_until_worn`. Null if
    /// `host_bytes_until_worn` is null.
    pub drive_writes_per_day: Option<f64>,
    /// Bytes that the host can read until the drive is worn out. If only a sample of the drive is
    /// simulated, the number is still for the whole drive. Null without host reads, or if the run
    /// has too few block cycles.
    pub read_bytes_until_worn: Option<f64>,
    /// Lower end of the range of `read_bytes_until_worn`; null without host reads.
    pub read_bytes_until_worn_low: Option<f64>,
    /// Upper end of the range of `read_bytes_until_worn`. Null if the range has no upper end.
    pub read_bytes_until_worn_high: Option<f64>,
    /// Number of requests after which a run gives the life as a single number. The rate of wear is
    /// assumed to be that of this run. Null if this run already gives a single number, or if
    /// nothing wears the drive.
    pub requests_for_life: Option<u64>,
    /// Method by which the life was projected; null without a life.
    #[serde(deserialize_with = "super::words::any")]
    pub life_method: Option<super::words::Word>,
    /// Wear of each run from which the life was projected, in order of P/E count. Empty if only
    /// this run was used.
    pub ages: Vec<AgeWear>,
}

/// Wear that a run causes on a drive with a given P/E count.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct AgeWear {
    /// Number of P/E cycles of the drive at the start of the run.
    pub start_pec: u32,
    /// Number of block cycles of the run, summed over all blocks.
    pub cycles_observed: f64,
    /// P/E cycles per day, as a mean over all blocks. Null if requests have no times.
    pub pec_per_day: Option<f64>,
    /// P/E cycles per 10^12 bytes that the host wrote, as a mean over all blocks. Null without host
    /// writes.
    pub pec_per_tb_written: Option<f64>,
    /// P/E cycles per 10^12 bytes that the host read, as a mean over all blocks. Null without host
    /// reads.
    pub pec_per_tb_read: Option<f64>,
    /// Number of host data pages that were lost in this run.
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
    /// Projects the life from this run and from runs at other P/E counts. The drives of these runs
    /// are otherwise equal.
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
                    "On the drive that begins with {} P/E cycles, data was lost: {}.",
                    count(u64::from(*pec)),
                    plural(summary.data_lost_pages, "page")
                ));
            }
            let at =
                format!("On the drive that begins with {} P/E cycles: ", count(u64::from(*pec)));
            for warning in &summary.warnings {
                self.warn(warning.after(&at));
            }
        }
    }
}

const METHOD: &str = "the work caused by reads is scaled according to the technique's thresholds \
    at later P/E counts; the host's writes stay as in this run; low and high are the ends of a \
    95 % range; the range assumes that the number of observed block cycles varies like a Poisson \
    count";

const METHOD_OF_AGES: &str = "between the P/E counts of the runs, the work caused by reads is \
    scaled according to the technique's thresholds; low and high are the ends of a 95 % range; the \
    range assumes that the number of block cycles in each run varies like a Poisson count";

/// Form in which a run gives the life: nothing, a range, or one number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Confidence {
    /// The run gives no life, because nothing was programmed or erased.
    NoWear,
    /// The run gives no life, because it has too few block cycles.
    TooFew,
    /// The run gives a range, because one number would need more block cycles.
    Range,
    /// The run gives one number, because it has enough block cycles.
    Number,
}

impl Wear {
    /// Returns the form of the life, according to the number of block cycles in the run.
    pub fn confidence(&self) -> Confidence {
        match self.cycles_observed {
            n if n <= 0.0 => Confidence::NoWear,
            n if n < FEWEST_CYCLES => Confidence::TooFew,
            n if n < CONFIDENT_CYCLES => Confidence::Range,
            _ => Confidence::Number,
        }
    }
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
            cycles_observed: worn.observed(),
            life_unit: unit,
            requests_for_life: ageing.requests_for_life(),
            ..Self::default()
        };
        wear.live(ageing, &[], METHOD);
        wear
    }

    /// Sets the projected life in each unit. The life is projected from this run and from runs at
    /// other P/E counts.
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

    /// Returns the life in the unit of this run's workload. Returns `None` if the host neither
    /// wrote nor read.
    pub fn life(&self) -> Option<Life> {
        self.life_unit.map(|unit| self.life_in(unit))
    }

    /// Returns the life in the given unit. If the run is too short, some numbers of the life are
    /// `None`.
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

#[cfg(test)]
mod tests {
    use super::super::ageing::tests::ageing;
    use super::super::warning::Warning;
    use crate::plan::{Chosen, RunPlan};
    use crate::progress::{Unwatched, unwatched};
    use crate::run::execute;
    use crate::setup::{Base, Named, Setup};

    /// Uses two runs at different P/E counts. One of the two runs has lost data and has not
    /// settled.
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
            own.warnings.iter().map(Warning::sentence).collect::<Vec<_>>(),
            [
                "On the drive that begins with 2,000 P/E cycles, data was lost: 3 pages.",
                "On the drive that begins with 2,000 P/E cycles: It is so."
            ]
        );
    }
}
