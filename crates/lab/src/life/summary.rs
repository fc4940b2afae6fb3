//! Comparison of lives: the years of each life, and the causes of wear. Each number is a mean over
//! seeds and samples, with an interval.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use vpass_drive::api::parity::NO_PARITY;
use vpass_drive::base::units::Cause;

use super::climb::Answer;
use super::interval::Interval;
use super::series::{self, Row};
use super::{End, Lived, held, rounds};
use crate::mean_ci95::{MeanCi95, mean_ci95};
use crate::numbers::years;
use crate::plan::RunPlan;
use crate::results::ByCause;
use crate::results::flash::net_of;
use crate::results::mapping_unit::MappingUnit;
use crate::results::warning::Warning;

/// Results of the lives of one technique. If only samples of the drive are simulated, all counts
/// are scaled to the whole drive.
#[expect(clippy::struct_excessive_bools, reason = "each fact is independent of the others")]
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Life {
    /// Label in the table.
    pub label: String,
    /// Read-reclaim technique.
    pub reclaim: String,
    /// Garbage collection policy.
    pub gc: String,
    /// Refresh technique.
    pub refresh: String,
    /// Parity technique; absent without parity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parity: Option<String>,
    /// Whether the technique is counterfactual. No real drive can use a counterfactual technique,
    /// but its results show the possible gain.
    pub counterfactual: bool,
    /// Length of the life in years. On a rung, the years are corrected for samples that serve too
    /// many or too few reads.
    pub years: MeanCi95,
    /// Interval of the years on a rung of the ladder. Absent if wear had not settled, or if a life
    /// did not end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// Whether every life ended with a worn-out drive. If not, the drive may live longer than
    /// `years`.
    pub worn_out: bool,
    /// Whether wear or errors ended every life.
    pub ended: bool,
    /// Number of P/E cycles of the mean block at the start.
    pub pec_first: f64,
    /// Number of P/E cycles of the mean block at the end.
    pub pec_mean: MeanCi95,
    /// Number of P/E cycles of the mean block that were simulated. Smaller than the difference of
    /// `pec_mean` and `pec_first` if only windows of the lives were simulated.
    pub simulated_cycles: f64,
    /// Whether wear had settled in all lives when windows began. True if every P/E cycle was
    /// simulated. If not, the years may be wrong by more than chance explains.
    pub has_settled: bool,
    /// Whether a simulation used up the work that it may take (`--minutes`). The life is then
    /// longer than `years`.
    pub out_of_work: bool,
    /// Upper bound of the years, if `out_of_work` is true: all P/E cycles of the flash, divided by
    /// the rate at which the host's data was programmed. Null for other lives, and if the host
    /// wrote nothing.
    pub years_at_most: Option<f64>,
    /// Number of bytes that the host wrote in a life.
    pub host_bytes_written: MeanCi95,
    /// Number of bytes that the host read in a life.
    pub host_bytes_read: MeanCi95,
    /// Number of bytes programmed into flash in a life.
    pub flash_bytes_written: MeanCi95,
    /// Number of flash bytes programmed per host byte written; null without host writes.
    pub write_amplification: Option<MeanCi95>,
    /// Number of bytes of host data programmed per host byte written.
    #[serde(skip)]
    pub host_amplification: Option<MeanCi95>,
    /// Bytes programmed by reclaim or because of retries, in percent of the bytes that the host
    /// reads. Null without host reads.
    pub read_wear: Option<MeanCi95>,
    /// Net read wear, in percent of the bytes that the host read. Net read wear counts only bytes
    /// that are programmed because of read disturb. The value is known if the host writes nothing
    /// and no data is refreshed or regrouped: read disturb is then the only cause. Null for all
    /// other lives, and without host reads.
    pub read_wear_net: Option<MeanCi95>,
    /// Mapping unit of the drive, and share of host writes that fill a mapping unit only partly,
    /// over all lives.
    pub mapping_unit: MappingUnit,
    /// Warnings about the years, as sentences.
    pub warnings: Vec<String>,
    /// Shares of the programmed pages by cause; null if no page was programmed.
    pub consumed: Option<Consumed>,
    /// Mean number of host data pages that were reported lost in a life.
    pub data_lost_pages: f64,
    /// Largest ratio of the dose of a page to the read limit of the page, over all lives. A maximum
    /// has no interval. Null without an oracle.
    pub worst_dose_ratio: Option<f64>,
    /// Expected number of lost codewords per data bit, over all host reads of a life. Null if the
    /// drive has no error rates.
    pub uber: Option<MeanCi95>,
    /// Shares of the host's page reads by number of retries: 0, 1, 2 and so on. Null if the drive
    /// makes no retries.
    pub reads_by_retries: Option<Vec<MeanCi95>>,
    /// Effects of each hint of the host; null without hints.
    pub hints: Option<BTreeMap<String, LifeOfWord>>,
    /// Number of rounds in a life. In a round, all blocks are rewritten at about the same time. The
    /// years are uncertain by one round. Null if the uncertainty is negligible.
    pub rounds_in_step: Option<f64>,
    /// Served reads of the samples, divided by the expected reads. A sample of one page in N should
    /// serve one read in N. Null if the expected reads are unknown.
    pub reads_held: Option<f64>,
    /// Course of the mean life, as states: at the start, and after each of 64 equal parts of the
    /// life.
    pub series: Vec<Row>,
    /// Results of each single life.
    pub lives: Vec<One>,
}

/// Results of the lives for all data that has a given hint.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct LifeOfWord {
    /// Number of retries that fit into the latency budget of the hint.
    pub retries: u8,
    /// Latency, in microseconds, of a read with `retries` retries on an idle drive.
    pub latency_us: f64,
    /// Share of the host's page reads that read data with the hint.
    pub reads: MeanCi95,
    /// Share of the page reads with the hint that took more than `retries` retries. Null if data
    /// with the hint was not read.
    pub missed_budgets: Option<MeanCi95>,
}

/// Shares of the programmed pages of a life, by cause.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Consumed {
    /// Share of the programmed pages that the host wrote.
    pub host: MeanCi95,
    /// Share of the programmed pages that garbage collection wrote. Garbage collection frees space
    /// for all other causes.
    pub gc: MeanCi95,
    /// Share of the programmed pages that were rewritten because of reads.
    pub reads: MeanCi95,
    /// Share of the programmed pages that were rewritten because of age.
    pub age: MeanCi95,
    /// Share of the programmed pages that wear levelling wrote.
    pub wear_levelling: MeanCi95,
    /// Share of the programmed pages that hold the parity of stripes.
    pub parity: MeanCi95,
    /// Share of the programmed pages that regrouping by hints wrote. The drive can work without
    /// regrouping.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub hints: MeanCi95,
}

fn is_nothing(share: &MeanCi95) -> bool {
    share.mean == 0.0
}

/// Results of a single life.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct One {
    /// Random seed.
    pub seed: u64,
    /// Residue of the page numbers in the sample. A sample of one page in N has the pages with this
    /// residue modulo N.
    pub residue: u32,
    /// Length of the life in years.
    pub years: f64,
    /// Reason why the life ended.
    pub end: End,
    /// Number of P/E cycles of the mean block when windows began; absent if every P/E cycle was
    /// simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accelerated_from_pec: Option<f64>,
    /// Whether the oracle checked the life and found no error. Null if the oracle did not check the
    /// life.
    pub oracle_clean: Option<bool>,
}

impl Life {
    /// Summarises the lives of one technique. The lists of plans and of lives must not be empty.
    pub fn of(label: String, plans: &[RunPlan], lives: &[Lived]) -> Self {
        let plan = &plans[0];
        let page = plan.drive.config.geometry.page_size.0 as f64;
        let whole = f64::from(plan.sample.of);
        let mean = |of: &dyn Fn(&Lived) -> f64| {
            mean_ci95(&lives.iter().map(of).collect::<Vec<_>>())
                .expect("each technique has at least one life")
        };
        let has_writes = lives.iter().all(|lived| lived.host.write_bytes > 0);
        let amplified = |pages: fn(&ByCause) -> u64| {
            let of = |lived: &Lived| {
                pages(&lived.programs) as f64 * page / lived.host.write_bytes as f64
            };
            has_writes.then(|| mean(&of))
        };
        let read_wear = lives.iter().all(|lived| lived.host.read_bytes > 0).then(|| {
            mean(&|lived| {
                lived.programs.read_wear(page, lived.host.read_bytes).expect("the host read")
            })
        });
        let mapping_unit = MappingUnit::of(page as u64, lives.iter().map(|lived| &lived.host));
        let life = Self {
            label,
            reclaim: plan.reclaim.name.into(),
            gc: plan.gc.name.into(),
            refresh: plan.refresh.name.into(),
            parity: Some(plan.parity.name).filter(|parity| *parity != NO_PARITY).map(str::to_owned),
            counterfactual: plan.is_counterfactual(),
            years: mean(&|lived| lived.years),
            interval: None,
            worn_out: lives.iter().all(|lived| lived.end == End::WornOut),
            ended: lives.iter().all(|lived| !matches!(lived.end, End::LivesOn | End::OutOfWork)),
            pec_first: mean(&|lived| lived.pec_first).mean,
            pec_mean: mean(&|lived| lived.pec_mean),
            simulated_cycles: mean(&|lived| lived.simulated).mean,
            has_settled: lives.iter().all(|lived| lived.has_settled),
            out_of_work: lives.iter().any(|lived| lived.end == End::OutOfWork),
            years_at_most: lives
                .iter()
                .filter(|lived| lived.end == End::OutOfWork)
                .filter_map(|lived| years_at_most(plan, lived))
                .reduce(f64::max),
            host_bytes_written: mean(&|lived| lived.host.write_bytes as f64 * whole),
            host_bytes_read: mean(&|lived| lived.host.read_bytes as f64 * whole),
            flash_bytes_written: mean(&|lived| lived.programs.sum() as f64 * page * whole),
            write_amplification: amplified(ByCause::sum),
            host_amplification: amplified(|programs| programs.of(Cause::Host)),
            read_wear,
            read_wear_net: mean_ci95_of_all(lives, |lived| net_read_wear(lived, page)),
            mapping_unit,
            warnings: vec![],
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
            series: series::mean(
                &lives.iter().map(|lived| (&lived.course, 1.0)).collect::<Vec<_>>(),
            ),
            lives: plans.iter().zip(lives).map(|(plan, lived)| One::of(plan, lived)).collect(),
        };
        Self { warnings: warnings([&life]), ..life }
    }

    /// Summarises the lives that a climb simulated for a technique. Returns `None` if the drive was
    /// refused or stopped.
    pub fn answered(answer: &Answer) -> Option<Self> {
        let lives = answer.lived.as_ref().ok().filter(|lives| !lives.is_empty())?;
        let life = Self::of(answer.label.clone(), &answer.plans, lives);
        // Lives outside the ladder have no interval of a rung, only an interval over the lives.
        if answer.interval.is_none() && !answer.is_on_rung {
            return Some(life);
        }
        let courses = lives.iter().map(|lived| &lived.course).zip(answer.factors.iter().copied());
        let series = series::mean(&courses.collect::<Vec<_>>());
        let sure = answer.interval.filter(|interval| !interval.is_range);
        let corrected =
            lives.iter().zip(&answer.factors).map(|(lived, factor)| factor * lived.years);
        let mean = corrected.sum::<f64>() / lives.len() as f64;
        let years = MeanCi95 { mean, ci95: sure.map(|interval| interval.half()) };
        Some(Self { years, interval: answer.interval, series, ..life })
    }

    /// Returns whether the oracle found a bug in any life.
    pub fn has_bug(&self) -> bool {
        self.lives.iter().any(|one| one.oracle_clean == Some(false))
    }

    /// Returns whether any life lost host data. The years then do not count.
    pub fn lost_data(&self) -> bool {
        self.data_lost_pages > 0.0
    }

    /// Returns whether the technique may be compared with other techniques by years. All lives must
    /// have kept all data, no simulation may have run out of work, and the technique must not be
    /// counterfactual.
    pub fn competes(&self) -> bool {
        !self.lost_data() && !self.counterfactual && !self.out_of_work
    }

    /// Returns the ends of the interval of the years: on a rung, or over the lives. Returns `None`
    /// without an interval.
    pub fn ends(&self) -> Option<(f64, f64)> {
        let MeanCi95 { mean, ci95 } = self.years;
        let on_rung = self.interval.map(|interval| (interval.low, interval.high));
        on_rung.or_else(|| ci95.map(|half| ((mean - half).max(0.0), mean + half)))
    }

    /// Formats the length of the life, with the interval if there is any. Examples are "5.31
    /// years", "> 100 years" and "44.2 ± 0.5 min".
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
            accelerated_from_pec: lived.windows_from,
            oracle_clean,
        }
    }
}

/// Returns the years in which the programs of host data alone would wear the drive out.
fn years_at_most(plan: &RunPlan, lived: &Lived) -> Option<f64> {
    let config = &plan.drive.config;
    let geometry = &config.geometry;
    let blocks = geometry.blocks_per_plane? * geometry.planes();
    let raw_pages = f64::from(blocks) * f64::from(geometry.pages_per_block());
    let cycles = f64::from(config.drive.rated_pec) - lived.pec_first;
    let programs = lived.programs.of(Cause::Host);
    (programs > 0).then(|| lived.years * cycles * raw_pages / programs as f64)
}

/// Returns the net read wear of a life in which pages are programmed only because of read disturb.
/// Returns `None` for all other lives.
fn net_read_wear(lived: &Lived, page_bytes: f64) -> Option<f64> {
    let programs = &lived.programs;
    let twin_rests = lived.host.write_bytes == 0
        && [Cause::Refresh, Cause::Hint].iter().all(|cause| programs.of(*cause) == 0);
    twin_rests.then(|| net_of((programs.sum(), 0), page_bytes, lived.host.read_bytes))?
}

/// Returns the mean of a number over all lives. Returns `None` if the number is missing in any
/// life.
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

fn by_word(lives: &[Lived]) -> Option<BTreeMap<String, LifeOfWord>> {
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
            name.to_owned(),
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
    /// Names of the causes, in the order of [`Self::rows`]. The last cause, `hints`, is shown only
    /// if the share is not 0.
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

    /// Returns the name and the share of each cause.
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

/// Returns the warnings about these lives, each once.
pub fn warnings<'a>(lives: impl IntoIterator<Item = &'a Life>) -> Vec<String> {
    let mut all: Vec<Warning> = vec![];
    for life in lives {
        let programmed = life.host_amplification.map(|programmed| programmed.mean);
        let Some(warning) = life.mapping_unit.warning(programmed) else { continue };
        if !all.iter_mut().any(|known| known.join(&warning)) {
            all.push(warning);
        }
    }
    all.iter().map(Warning::sentence).collect()
}

#[cfg(test)]
pub(crate) mod tests;
