//! Lives side by side: years and what consumed them, each a mean over seeds and samples with its
//! interval.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use vpass_core::base::units::Cause;
use vpass_core::slots::parity::NO_PARITY;

use super::climb::Answer;
use super::interval::Interval;
use super::ladder::Rung;
use super::{End, Lived, MOST_YEARS, Until, held, rounds, verdict};
use crate::as_json;
use crate::compare::mean_ci95::{MeanCi95, mean_ci95};
use crate::compare::refused::Refused;
use crate::failure::Failure;
use crate::life::record;
use crate::numbers::years;
use crate::plan::RunPlan;
use crate::results::mapping_unit::{self, MappingUnit};

/// What the lives of a technique came to. Counts are those of whole drives.
#[derive(Clone, Debug, Serialize)]
pub struct Life {
    /// Its name in the table.
    pub label: String,
    /// Read-reclaim technique.
    pub reclaim: &'static str,
    /// Garbage collection policy.
    pub gc: &'static str,
    /// Refresh technique.
    pub refresh: &'static str,
    /// Parity technique; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parity: Option<&'static str>,
    /// Whether it does what no drive could: it shows what could be had.
    pub counterfactual: bool,
    /// Years until the end; on a rung, those of samples are corrected for the reads that they hold.
    pub years: MeanCi95,
    /// The interval of a rung of the ladder; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// Whether the drive was worn out in every life; else it lives longer than `years`.
    pub worn_out: bool,
    /// Whether every life came to an end of the drive's own, by wear or by errors.
    pub ended: bool,
    /// P/E cycles of the mean block at the start.
    pub pec_first: f64,
    /// P/E cycles of the mean block at the end.
    pub pec_mean: MeanCi95,
    /// Bytes that the host wrote in a life.
    pub host_bytes_written: MeanCi95,
    /// Bytes that the flash was programmed with in a life.
    pub flash_bytes_written: MeanCi95,
    /// The second by the first; null where the host wrote nothing.
    pub write_amplification: Option<MeanCi95>,
    /// The mapping unit, and how well the host's writes of all lives filled it.
    pub mapping_unit: MappingUnit,
    /// What to know before these years are believed, in sentences.
    pub warnings: Vec<String>,
    /// Shares of the pages programmed, by what they were programmed for; null where none was.
    pub consumed: Option<Consumed>,
    /// Pages of host data reported lost, in the mean.
    pub data_lost_pages: f64,
    /// Largest share of its limit that a page in use had taken; of the worst life, so there is no
    /// interval. Null where no oracle watched.
    pub worst_dose_ratio: Option<f64>,
    /// Errors by each bit that the host read, of all reads of a life; null where data has no error
    /// rate.
    pub uber: Option<MeanCi95>,
    /// Shares of the host's page reads by the retries that they took, from none on; null where the
    /// drive makes none.
    pub reads_by_retries: Option<Vec<MeanCi95>>,
    /// What the host's hints came to, word by word; null where it says nothing.
    pub hints: Option<BTreeMap<&'static str, LifeOfWord>>,
    /// Rounds of rewriting that a life takes, where all blocks are rewritten in step and years are
    /// uncertain by a round; null elsewhere.
    pub rounds_in_step: Option<f64>,
    /// Reads that samples served, as a share of what as many pages of the drive serve in the mean;
    /// null where that is not known.
    pub reads_held: Option<f64>,
    /// Each life by itself.
    pub lives: Vec<One>,
}

/// What lives came to for data of one word.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LifeOfWord {
    /// Retries that fit in its budget.
    pub retries: u8,
    /// What a read with so many takes on an idle drive, in microseconds.
    pub latency_us: f64,
    /// Share of the host's page reads that were of such data.
    pub reads: MeanCi95,
    /// Share of these that took more retries than fit; null where nothing was read.
    pub missed_budgets: Option<MeanCi95>,
}

/// What programmed the pages of a life: shares of all.
#[derive(Clone, Debug, Serialize)]
pub struct Consumed {
    /// The host's own writes.
    pub host: MeanCi95,
    /// Garbage collection, which makes room for all others.
    pub gc: MeanCi95,
    /// Rewriting because of reads.
    pub reads: MeanCi95,
    /// Rewriting because of age.
    pub age: MeanCi95,
    /// Wear levelling.
    pub wear_levelling: MeanCi95,
    /// Parity of stripes.
    pub parity: MeanCi95,
    /// Regrouping by hints, which is an option.
    #[serde(skip_serializing_if = "is_nothing")]
    pub hints: MeanCi95,
}

fn is_nothing(share: &MeanCi95) -> bool {
    share.mean == 0.0
}

/// One life.
#[derive(Clone, Debug, Serialize)]
pub struct One {
    /// Of its chance.
    pub seed: u64,
    /// Which pages of the drive it is of: those of this residue.
    pub residue: u32,
    /// How long it was.
    pub years: f64,
    /// How it ended.
    pub end: End,
    /// P/E cycles of the mean block from which on an erase counted as several; absent where it
    /// never did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accelerated_from_pec: Option<f64>,
    /// Whether the oracle found nothing wrong; null where it did not watch.
    pub oracle_clean: Option<bool>,
}

impl Life {
    /// Of one technique's plans and lives, at least one.
    pub fn of(label: String, plans: &[RunPlan], lives: &[Lived]) -> Self {
        let plan = &plans[0];
        let page = plan.drive.config.geometry.page_size.0 as f64;
        let whole = f64::from(plan.sample.of);
        let mean = |of: &dyn Fn(&Lived) -> f64| {
            mean_ci95(&lives.iter().map(of).collect::<Vec<_>>())
                .expect("a technique has a life at least")
        };
        let has_writes = lives.iter().all(|lived| lived.host_bytes > 0);
        let amplified =
            |lived: &Lived| lived.programs.sum() as f64 * page / lived.host_bytes as f64;
        let write_amplification = has_writes.then(|| mean(&amplified));
        let mapping_unit = MappingUnit::of(page as u64, lives.iter().map(|lived| &lived.host));
        Self {
            label,
            reclaim: plan.reclaim,
            gc: plan.gc,
            refresh: plan.refresh,
            parity: Some(plan.parity).filter(|parity| *parity != NO_PARITY),
            counterfactual: plan.is_counterfactual(),
            years: mean(&|lived| lived.years),
            interval: None,
            worn_out: lives.iter().all(|lived| lived.end == End::WornOut),
            ended: lives.iter().all(|lived| lived.end != End::LivesOn),
            pec_first: mean(&|lived| lived.pec_first).mean,
            pec_mean: mean(&|lived| lived.pec_mean),
            host_bytes_written: mean(&|lived| lived.host_bytes as f64 * whole),
            flash_bytes_written: mean(&|lived| lived.programs.sum() as f64 * page * whole),
            write_amplification,
            mapping_unit,
            warnings: mapping_unit::warning([(mapping_unit, write_amplification.map(|e| e.mean))])
                .into_iter()
                .collect(),
            reads_held: held::of_reads(plans, lives),
            rounds_in_step: rounds::in_step(
                Consumed::of(lives).map_or(0.0, |consumed| consumed.reads.mean),
                mean(&|lived| lived.pec_mean).mean - f64::from(plan.drive.config.start.pec),
                plan.drive.config.start.reads,
            ),
            consumed: Consumed::of(lives),
            data_lost_pages: mean(&|lived| lived.data_lost_pages as f64 * whole).mean,
            worst_dose_ratio: lives
                .iter()
                .filter_map(|lived| lived.oracle.as_ref())
                .map(|o| o.worst_dose_ratio)
                .reduce(f64::max),
            uber: mean_ci95_of_all(lives, |lived| lived.uber),
            reads_by_retries: by_retries(lives),
            hints: by_word(lives),
            lives: plans.iter().zip(lives).map(|(plan, lived)| One::of(plan, lived)).collect(),
        }
    }

    /// Of a technique that has lives on a rung of the ladder; none where its drive was refused or
    /// stopped.
    pub fn answered(answer: &Answer) -> Option<Self> {
        let lives = answer.lived.as_ref().ok().filter(|lives| !lives.is_empty())?;
        let life = Self::of(answer.label.clone(), &answer.plans, lives);
        // Lives without a ladder have an interval over the lives.
        if answer.interval.is_none() && !answer.is_on_rung {
            return Some(life);
        }
        let sure = answer.interval.filter(|interval| !interval.is_range);
        let corrected =
            lives.iter().zip(&answer.factors).map(|(lived, factor)| factor * lived.years);
        let mean = corrected.sum::<f64>() / lives.len() as f64;
        let years = MeanCi95 { mean, ci95: sure.map(|interval| interval.half()) };
        Some(Self { years, interval: answer.interval, ..life })
    }

    /// Whether the oracle found a bug in any of them.
    pub fn has_bug(&self) -> bool {
        self.lives.iter().any(|one| one.oracle_clean == Some(false))
    }

    /// Whether it lost data of the host's in any life: then its years are no answer.
    pub fn lost_data(&self) -> bool {
        self.data_lost_pages > 0.0
    }

    /// Whether its years stand for comparison: it kept all data, and a drive could do the same.
    pub fn competes(&self) -> bool {
        !self.lost_data() && !self.counterfactual
    }

    /// "5.31 years", "> 100 years", "44.2 ± 0.5 min": how long it is, with its interval where there
    /// is one.
    pub fn length_text(&self) -> String {
        let text = years(self.years.mean, self.years.ci95.filter(|_| self.ended));
        if self.ended { text } else { format!("> {text}") }
    }
}

impl One {
    fn of(plan: &RunPlan, lived: &Lived) -> Self {
        let oracle_clean = lived.oracle.as_ref().map(|report| !report.is_bug());
        Self {
            seed: plan.seed,
            residue: plan.sample.residue,
            years: lived.years,
            end: lived.end,
            accelerated_from_pec: lived.accelerated_from,
            oracle_clean,
        }
    }
}

/// The mean of a value that every life has.
fn mean_ci95_of_all(lives: &[Lived], of: impl Fn(&Lived) -> Option<f64>) -> Option<MeanCi95> {
    mean_ci95(&lives.iter().map(of).collect::<Option<Vec<_>>>()?)
}

fn by_retries(lives: &[Lived]) -> Option<Vec<MeanCi95>> {
    let levels = lives.first()?.retries.as_ref()?.histogram.len();
    let share = |lived: &Lived, level: usize| {
        let histogram = &lived.retries.as_ref()?.histogram;
        let all: u64 = histogram.iter().sum();
        (all > 0).then(|| histogram[level] as f64 / all as f64)
    };
    (0..levels).map(|level| mean_ci95_of_all(lives, |lived| share(lived, level))).collect()
}

fn by_word(lives: &[Lived]) -> Option<BTreeMap<&'static str, LifeOfWord>> {
    let first = lives.first()?.hints?;
    let of = |lived: &Lived, at: usize| lived.hints.map(|hints| hints.words()[at].1);
    let all = |lived: &Lived| {
        lived.hints.map_or(0, |hints| hints.words().iter().map(|(_, word)| word.reads).sum::<u64>())
    };
    let words = first.words().into_iter().enumerate().filter_map(|(at, (name, word))| {
        let reads = mean_ci95_of_all(lives, |lived| {
            Some(of(lived, at)?.reads as f64 / all(lived).max(1) as f64)
        })?;
        let missed = |lived: &Lived| {
            of(lived, at)
                .filter(|word| word.reads > 0)
                .map(|word| word.missed_budgets as f64 / word.reads as f64)
        };
        let missed_budgets = mean_ci95_of_all(lives, missed);
        Some((
            name,
            LifeOfWord {
                retries: word.retries,
                latency_us: word.latency_us,
                reads,
                missed_budgets,
            },
        ))
    });
    Some(words.collect())
}

impl Consumed {
    /// What may consume a life, in the order of [`Self::rows`]; the last is an option.
    pub const CAUSES: [&'static str; 7] =
        ["host", "GC", "reads", "age", "levelling", "parity", "hints"];

    fn of(lives: &[Lived]) -> Option<Self> {
        if lives.iter().any(|lived| lived.programs.sum() == 0) {
            return None;
        }
        let share = |cause: Cause| {
            let of = |lived: &Lived| lived.programs.of(cause) as f64 / lived.programs.sum() as f64;
            mean_ci95(&lives.iter().map(of).collect::<Vec<_>>()).expect("there is a life")
        };
        Some(Self {
            host: share(Cause::Host),
            gc: share(Cause::Gc),
            reads: share(Cause::Reclaim),
            age: share(Cause::Refresh),
            wear_levelling: share(Cause::Wear),
            parity: share(Cause::Parity),
            hints: share(Cause::Hint),
        })
    }

    /// Each with its name.
    pub fn rows(&self) -> [(&'static str, MeanCi95); 7] {
        let shares = [
            self.host,
            self.gc,
            self.reads,
            self.age,
            self.wear_levelling,
            self.parity,
            self.hints,
        ];
        std::array::from_fn(|at| (Self::CAUSES[at], shares[at]))
    }
}

/// What to know before these lives are believed, in sentences: what small writes cost has the range
/// of all of them.
pub fn warnings<'a>(lives: impl IntoIterator<Item = &'a Life>) -> Vec<String> {
    mapping_unit::warning(
        lives.into_iter().map(|life| (life.mapping_unit, life.write_amplification.map(|e| e.mean))),
    )
    .into_iter()
    .collect()
}

/// What `vpass life` lived: how, on which part of the drive, and what it could not.
#[derive(Clone, Debug)]
pub struct Setting<'a> {
    /// The plan of the whole drive.
    pub whole: &'a RunPlan,
    /// The plan of the lives.
    pub plan: &'a RunPlan,
    /// Disjoint samples of each technique.
    pub samples: u32,
    /// Seeds of each technique.
    pub seeds: u32,
    /// Where lives end at the latest.
    pub until: Until,
    /// The rung; none of exact lives.
    pub rung: Option<Rung>,
    /// What the samples hold; none of whole drives.
    pub sampled: Option<Sampled>,
    /// Techniques that the drive or the workload does not go with, or whose drive stopped.
    pub refused: &'a [Refused],
    /// What `--set` said.
    pub set: &'a [String],
}

/// What all samples of a technique hold of a drive.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Sampled {
    /// Pages that the workload touches.
    pub pages: u64,
    /// Blocks.
    pub blocks: u64,
}

/// All of it, as `vpass life --json` prints it.
///
/// # Errors
/// A value that has no JSON, or a trace that can no longer be read.
pub fn json_of(lives: &[Life], setting: &Setting) -> Result<Value, Failure> {
    let Setting { plan, until, rung, .. } = *setting;
    let mut own = vec![
        ("sample", plan.sample.to_string().into()),
        ("samples", setting.samples.into()),
        ("rated_pec", plan.drive.config.drive.rated_pec.into()),
        ("years_at_most", until.years.unwrap_or(MOST_YEARS).into()),
        ("uber_at_most", as_json::value(&until.uber)?),
        ("longest", as_json::value(&verdict::longest(lives).map(|life| &life.label))?),
        ("techniques", as_json::value(&lives)?),
    ];
    if let Some(rung) = rung {
        own.extend([
            ("rung", rung.number.into()),
            ("acceleration", rung.acceleration.get().into()),
        ]);
    }
    if let Some(sampled) = &setting.sampled {
        own.push(("sampled", as_json::value(sampled)?));
    }
    if !setting.refused.is_empty() {
        own.push(("refused", as_json::value(&setting.refused)?));
    }
    let mut json = as_json::of_techniques(plan, setting.seeds, own);
    record::add_to(&mut json, setting.whole, setting.set)?;
    Ok(json)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    #[test]
    fn an_interval_does_not_read_as_nothing() {
        let text = |mean, half| life(MeanCi95 { mean, ci95: Some(half) }).length_text();
        assert_eq!(text(0.001_04, 1.9e-6), "9.11 ± 0.017 h");
        assert_eq!(
            [text(0.0135, 0.0011), text(4.0, 0.1)],
            ["4.93 ± 0.40 days", "4.00 ± 0.10 years"]
        );
        assert_eq!(text(0.001_04, 0.0), "9.11 ± 0.00 h");
    }

    /// A life of so many years.
    pub(crate) fn life(years: MeanCi95) -> Life {
        let none = MeanCi95 { mean: 0.0, ci95: None };
        Life {
            label: String::new(),
            reclaim: "block",
            gc: "greedy",
            refresh: "none",
            parity: None,
            counterfactual: false,
            years,
            interval: None,
            worn_out: true,
            ended: true,
            pec_first: 0.0,
            pec_mean: none,
            host_bytes_written: none,
            flash_bytes_written: none,
            write_amplification: None,
            mapping_unit: MappingUnit::of(16_384, []),
            warnings: vec![],
            consumed: None,
            data_lost_pages: 0.0,
            worst_dose_ratio: None,
            uber: None,
            reads_by_retries: None,
            hints: None,
            rounds_in_step: None,
            reads_held: None,
            lives: vec![],
        }
    }
}
