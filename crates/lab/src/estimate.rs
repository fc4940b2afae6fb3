//! Estimates of a drive's life by equations. An estimate needs no simulation, so the answer comes
//! at once. A simulation can check the estimate.
//!
//! `docs/estimate.md` has the equations and their measured errors. If no known equation fits the
//! drive, [`of`] returns the reason instead of an estimate.

mod alone;
pub mod bound;
mod even;
mod host;
mod law;
mod limits;
mod protect;
mod rate;
mod refused;
mod rounds;
mod said;
mod shape;

use serde::Serialize;
use vpass_drive::base::span::YEAR;
use vpass_drive::drive::start::written_at_start;

use self::even::{Even, by_reads, cycles_of_overwriting};
use self::host::{Host, Order};
use self::limits::Limits;
use self::rate::{Rate, Span, span};
use self::shape::Shape;
use crate::failure::Failure;
use crate::plan::RunPlan;

pub use alone::{Alone, by_tbw};
pub use rounds::{Paces, pages_of_drive, years_at_rounds};
pub use said::{Record, early, final_words};

/// Uncertainty, in P/E cycles, of the length of a life. The length is uncertain because all blocks
/// may be rewritten at nearly the same time.
const HALF_A_ROUND: f64 = 0.5;
/// Largest share of the read threshold that a block may serve between two sequential overwrites.
/// Above this share, random numbers of reads could rewrite blocks before the host does.
const NOT_REACHED: f64 = 0.9;

/// Kind of the equations for an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Case {
    /// Page reads cause rewrites of whole blocks. The host writes nothing.
    BlocksByReads,
    /// The host writes all pages at the same rate. The host reads all pages at the same rate, or
    /// reads nothing.
    EvenWrites,
    /// The host overwrites a window of pages from start to end, again and again. GC copies nothing.
    SequentialWrites,
}

impl Case {
    /// Returns the largest measured error of the equations, as a share of the simulated life.
    /// Larger errors are possible for lives of fewer than 50 P/E cycles.
    pub const fn within(self) -> f64 {
        match self {
            Self::BlocksByReads => 0.01,
            Self::EvenWrites | Self::SequentialWrites => 0.06,
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
    /// Number of P/E cycles that the age of data causes in the mean block. The number is 0, because
    /// the equations hold without refresh.
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
    let shape = Shape::of(plan);
    let host = Host::of(plan, &shape)?;
    let Some(limits) = Limits::of(plan, factor)? else {
        return Ok(Err(protect::why_not(plan, host.as_ref(), None, None)
            .unwrap_or_else(|| format!("no equation is known for `{}`", plan.reclaim))));
    };
    let threshold = limits.at(plan.drive.config.drive.rated_pec);
    let served = host.as_ref().and_then(|host| host.served(&shape));
    if let Some(why) = protect::why_not(plan, host.as_ref(), threshold, served) {
        return Ok(Err(why));
    }
    let known = host.and_then(|host| Some((host.case(&shape, threshold)?, host)));
    let Some((case, host)) = known else {
        return Ok(Err(
            "no equation is known for this workload; equations hold for generated reads \
                       alone, even writes and sequential overwriting"
                .into(),
        ));
    };
    if case != Case::BlocksByReads && plan.gc != "greedy" {
        return Ok(Err(format!("the equations hold for greedy GC, not for `{}`", plan.gc)));
    }
    Ok(Ok(Lived { plan, shape: Shape { pages: host.pages, ..shape }, host, limits }.estimate(case)))
}

/// Inputs of an estimate, taken from the plan.
struct Lived<'a> {
    plan: &'a RunPlan,
    shape: Shape,
    host: Host,
    limits: Limits,
}

impl Lived<'_> {
    fn estimate(&self, case: Case) -> Estimate {
        let config = &self.plan.drive.config;
        let (from, to) = (config.start.pec, config.drive.rated_pec);
        let life = span(self.shape.blocks, (from, to), &|pec| self.rate(case, pec));
        let life = match case {
            Case::BlocksByReads => self.begun_unread(life),
            Case::EvenWrites | Case::SequentialWrites => self.begun_worn(life),
        };
        let is_worn = life.seconds.is_finite() && life.seconds > 0.0;
        let bytes = |rate: f64| Some(life.seconds * rate).filter(|bytes| is_worn && *bytes > 0.0);
        let cycles = |erases: f64| erases / self.shape.blocks;
        Estimate {
            life_years: (is_worn && self.plan.has_rate())
                .then(|| life.seconds / (YEAR as f64 / 1e9)),
            host_bytes: bytes(self.host.write_bytes),
            read_bytes: bytes(self.host.read_bytes),
            cycles_by_host: cycles(life.erases.host),
            cycles_by_reads: cycles(life.erases.reclaim),
            cycles_by_age: 0.0,
            case,
            within: case.within().max(HALF_A_ROUND / f64::from(to - from)),
        }
    }

    /// Returns the number of erases per second at this P/E count.
    fn rate(&self, case: Case, pec: u32) -> Rate {
        let (host, threshold) = (&self.host, self.limits.at(pec));
        let of_reads = |reads: f64| threshold.map_or(Rate::default(), |t| by_reads(reads, t));
        match (case, host.order) {
            (Case::EvenWrites, _) => host.even(threshold).rate(&self.shape),
            (_, Order::Sequential { window_reads }) => Rate {
                host: host.writes / self.shape.per_block,
                ..of_reads((host.reads - window_reads).max(0.0))
            },
            _ => of_reads(host.reads),
        }
    }

    /// Shortens the life. Writing the start-up state uses some P/E cycles. The time that the host
    /// would need for these cycles is subtracted from the life.
    fn begun_worn(&self, life: Span) -> Span {
        let cycles =
            cycles_of_overwriting(&self.shape, written_at_start(&self.plan.drive.config) as f64);
        Span { seconds: (life.seconds - cycles * life.first).max(0.0), ..life }
    }

    /// Lengthens the life if all blocks start without page reads. Their first rewrite then comes
    /// later than with random read counts at the start. The mean delay is half a P/E cycle.
    fn begun_unread(&self, life: Span) -> Span {
        let life = self.begun_worn(life);
        if self.plan.drive.config.start.reads > 0 {
            return life;
        }
        let with_data = (self.shape.pages / self.shape.per_block / self.shape.blocks).min(1.0);
        Span { seconds: life.seconds + with_data / 2.0 * life.first, ..life }
    }
}

impl Host {
    /// Returns the kind of equations that holds; `None` if no equation is known. `threshold` is the
    /// number of page reads at which a block of the rated P/E count moves.
    fn case(&self, shape: &Shape, threshold: Option<f64>) -> Option<Case> {
        match self.order {
            Order::Nothing => Some(Case::BlocksByReads),
            Order::Even => Some(Case::EvenWrites),
            Order::Sequential { window_reads } => {
                let served = shape.per_block * window_reads / self.writes;
                threshold
                    .is_none_or(|threshold| served < NOT_REACHED * threshold)
                    .then_some(Case::SequentialWrites)
            }
            Order::Other => None,
        }
    }

    /// Returns the mean number of page reads of a block before the host's writes cause its erase.
    /// Returns `None` if the host does not write all blocks.
    fn served(&self, shape: &Shape) -> Option<f64> {
        match self.order {
            Order::Even => Some(self.even(None).served(&Shape { pages: self.pages, ..*shape })),
            Order::Sequential { window_reads } if window_reads >= 0.999 * self.reads => {
                Some(shape.per_block * window_reads / self.writes)
            }
            _ => None,
        }
    }

    /// Returns the rates of each page. All pages have the same rates.
    fn even(&self, threshold: Option<f64>) -> Even {
        Even { reads: self.reads / self.pages, writes: self.writes / self.pages, threshold }
    }
}
