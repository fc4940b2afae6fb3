//! Estimates of a drive's life by equations. An estimate needs no simulation, so the answer comes
//! at once. A simulation can check the estimate.
//!
//! `docs/estimate.md` has the equations and their measured errors. If no known equation fits the
//! drive, [`of`] returns the reason instead of an estimate.

mod counted;
mod even;
mod field;
mod law;
mod limits;
mod pages;
mod rate;
mod refused;
mod rounds;
mod said;
mod shape;

use serde::Serialize;
use vpass_drive::api::refresh::NO_REFRESH;
use vpass_drive::base::span::YEAR;
use vpass_drive::config::Number;
use vpass_drive::drive::start::written_at_start;

use self::even::{Even, by_reads, cycles_of_overwriting};
use self::field::{FIRST_STEPS, Field, LATER_STEPS, WINDOW};
use self::limits::{Kind, Limits};
use self::pages::Pages;
use self::rate::{Rate, between, span};
use self::shape::Shape;
use crate::failure::Failure;
use crate::plan::RunPlan;

pub use rounds::{Paces, pages_of_drive, years_at_rounds};
pub use said::{Record, early, final_words};

/// Number of P/E counts at which the mean-field model is computed.
const POINTS: u32 = 4;
/// Uncertainty, in P/E cycles, of the length of a life. The length is uncertain because all blocks
/// may be rewritten at nearly the same time.
const HALF_A_ROUND: f64 = 0.5;
/// Default of `refresh.block.lead`. Refresh rewrites a block when this share of the refresh period
/// is left.
const LEAD: f64 = 0.125;

/// Kind of the equations for an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Case {
    /// Page reads cause rewrites of whole blocks. The host writes nothing.
    BlocksByReads,
    /// The host writes all pages at the same rate. The host reads all pages at the same rate, or
    /// reads nothing.
    EvenWrites,
    /// A mean-field model describes the skewed workload.
    MeanField,
}

impl Case {
    /// Returns the largest measured error of the equations, as a share of the simulated life.
    /// Larger errors are possible for lives of fewer than 50 P/E cycles.
    pub const fn within(self) -> f64 {
        match self {
            Self::BlocksByReads => 0.01,
            Self::EvenWrites => 0.06,
            Self::MeanField => 0.30,
        }
    }
}

/// Life of a drive according to the equations.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Estimate {
    /// Number of years until the mean block reaches its rated number of P/E cycles. Null without
    /// wear, or if the rate of the requests is unknown.
    pub life_years: Option<f64>,
    /// Number of bytes that the host writes during the life. Null without host writes.
    pub host_bytes: Option<f64>,
    /// Number of bytes that the host reads during the life. Null without host reads.
    pub read_bytes: Option<f64>,
    /// Number of P/E cycles that host writes and GC cause in the mean block.
    pub cycles_by_host: f64,
    /// Number of P/E cycles that reads cause in the mean block, because the drive rewrites data
    /// that is read often.
    pub cycles_by_reads: f64,
    /// Number of P/E cycles that the age of data causes in the mean block, because refresh rewrites
    /// old data.
    pub cycles_by_age: f64,
    /// Kind of the equations from which the estimate was computed.
    pub case: Case,
    /// Uncertainty as a share of the life. The uncertainty is the largest measured error of the
    /// equations, or half a P/E cycle, whichever is more.
    pub within: f64,
}

/// Estimate of the life of a plan's drive, or the reason why there is no estimate.
pub type Answer = Result<Estimate, String>;

/// Estimates the life of the plan's drive. If the plan is for a sample of a drive, the estimate is
/// for the whole drive.
///
/// # Errors
/// Returns an error if the workload cannot be read.
pub fn of(plan: &RunPlan) -> Result<Answer, Failure> {
    with_thresholds(plan, 1.0)
}

/// Estimates the life that the plan's drive would have with other read thresholds. Each threshold
/// of the technique is multiplied by `factor`.
///
/// # Errors
/// Returns an error if the workload cannot be read.
pub fn with_thresholds(plan: &RunPlan, factor: f64) -> Result<Answer, Failure> {
    if let Some(why) = refused::why(plan) {
        return Ok(Err(why));
    }
    let Some(limits) = Limits::of(plan, factor)? else {
        return Ok(Err(format!("no equation is known for `{}`", plan.reclaim)));
    };
    let mut shape = Shape::of(plan);
    let pages = Pages::of(plan, shape.pages, shape.buffered)?;
    shape.pages = pages.pages();
    if pages.writes() == 0.0 && limits.kind() == Kind::Nothing && is_disturbed(plan) {
        return Ok(Err(format!(
            "neither `{}` nor the host writes any data, so reads destroy data before any block \
             wears out",
            plan.reclaim
        )));
    }
    if pages.writes() > 0.0 && plan.gc != "greedy" {
        return Ok(Err(format!("the equations hold for greedy GC, not for `{}`", plan.gc)));
    }
    let lived = Lived { plan, shape, pages, limits };
    Ok(Ok(lived.estimate()))
}

/// Returns whether reads disturb the flash and no refresh technique rewrites data.
fn is_disturbed(plan: &RunPlan) -> bool {
    plan.drive.config.disturb.model.disturbs() && *plan.refresh == *NO_REFRESH
}

/// Inputs of an estimate, taken from the plan.
struct Lived<'a> {
    plan: &'a RunPlan,
    shape: Shape,
    pages: Pages,
    limits: Limits,
}

impl Lived<'_> {
    fn estimate(&self) -> Estimate {
        let config = &self.plan.drive.config;
        let (from, to) = (config.start.pec, config.drive.rated_pec);
        let case = self.case();
        let life = match case {
            Case::BlocksByReads => self.by_reads(from, to),
            Case::EvenWrites => span(self.shape.blocks, (from, to), &|pec| self.even(pec)),
            Case::MeanField => self.by_field(from, to),
        };
        let life = self.begun_worn(life);
        let has_rate = self.plan.has_rate();
        let is_worn = life.seconds.is_finite() && life.seconds > 0.0;
        let bytes = |rate: f64| Some(life.seconds * rate).filter(|bytes| is_worn && *bytes > 0.0);
        let cycles = |erases: f64| erases / self.shape.blocks;
        Estimate {
            life_years: (is_worn && has_rate).then(|| life.seconds / (YEAR as f64 / 1e9)),
            host_bytes: bytes(self.pages.write_bytes),
            read_bytes: bytes(self.pages.read_bytes),
            cycles_by_host: cycles(life.erases.host),
            cycles_by_reads: cycles(life.erases.reclaim),
            cycles_by_age: cycles(life.erases.refresh),
            case,
            within: case.within().max(HALF_A_ROUND / f64::from(to - from)),
        }
    }

    fn case(&self) -> Case {
        let (writes, kind) = (self.pages.writes(), self.limits.kind());
        let refreshes = self.period().is_some();
        match kind {
            Kind::Blocks | Kind::Nothing if self.pages.is_even && (writes > 0.0 || refreshes) => {
                Case::EvenWrites
            }
            Kind::Blocks | Kind::Nothing if writes == 0.0 && !refreshes => Case::BlocksByReads,
            _ => Case::MeanField,
        }
    }

    /// Returns the age, in seconds, at which refresh rewrites blocks. Returns `None` without
    /// refresh.
    fn period(&self) -> Option<f64> {
        let config = &self.plan.drive.config;
        let lead = config.refresh.params.get(Some("block"), "lead").map_or(LEAD, Number::value);
        (*self.plan.refresh != *NO_REFRESH)
            .then(|| config.refresh.period.0 as f64 / 1e9 * (1.0 - lead))
    }

    /// Shortens the life. Writing the start-up state uses some P/E cycles. The time that the host
    /// would need for these cycles is subtracted from the life.
    fn begun_worn(&self, life: rate::Span) -> rate::Span {
        let cycles =
            cycles_of_overwriting(&self.shape, written_at_start(&self.plan.drive.config) as f64);
        rate::Span { seconds: (life.seconds - cycles * life.first).max(0.0), ..life }
    }

    fn by_reads(&self, from: u32, to: u32) -> rate::Span {
        let reads = self.pages.reads();
        let at = |pec: u32| {
            self.limits.at(pec).first().map_or(Rate::default(), |part| by_reads(reads, part.reads))
        };
        let mut life = span(self.shape.blocks, (from, to), &at);
        // If all blocks start without page reads, their first rewrite comes later than with random
        // read counts at the start. The mean delay is half a P/E cycle.
        if self.plan.drive.config.start.reads == 0 {
            let with_data = (self.shape.pages / self.shape.per_block / self.shape.blocks).min(1.0);
            life.seconds += with_data / 2.0 * self.shape.blocks / at(from).all();
        }
        life
    }

    fn even(&self, pec: u32) -> Rate {
        let class = self
            .pages
            .classes
            .iter()
            .find(|class| class.writes > 0.0 || class.reads > 0.0)
            .copied()
            .unwrap_or_default();
        let threshold = self.limits.at(pec).first().map(|part| part.reads);
        Even { reads: class.reads, writes: class.writes, threshold, period: self.period() }
            .rate(&self.shape)
    }

    fn by_field(&self, from: u32, to: u32) -> rate::Span {
        let first = self.limits.at(from);
        let mut field = Field::new(
            &self.shape,
            &self.pages.classes,
            self.limits.kind(),
            first.len(),
            self.period(),
        );
        let changes = !first.is_empty() && to - from > 1;
        let points = if changes { POINTS } else { 1 };
        let at = |n: u32| {
            from + (u64::from(to - 1 - from) * u64::from(n) / u64::from((points - 1).max(1))) as u32
        };
        let (mut known, mut begun): (Vec<(u32, Rate)>, Vec<Rate>) = (vec![], vec![]);
        for pec in (0..points).map(at) {
            if known.last().is_none_or(|(before, _)| *before < pec) {
                let mut rates = field.settle(
                    &self.limits.at(pec),
                    if pec == from { FIRST_STEPS } else { LATER_STEPS },
                );
                known.push((pec, *rates.last().expect("a window at least")));
                if pec == from {
                    begun.append(&mut rates);
                }
            }
        }
        // The rates settle slowly. For the first P/E cycles, the model therefore uses rates that
        // have not settled.
        let at_first = |pec: u32| begun.get((f64::from(pec - from) / WINDOW) as usize).copied();
        span(self.shape.blocks, (from, to), &|pec| {
            at_first(pec).unwrap_or_else(|| between(&known, pec))
        })
    }
}
