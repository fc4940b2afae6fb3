//! Lives: a drive simulated from its start until it is worn out, and what consumed it.
//!
//! A drive is worn out when its mean block has endured the P/E cycles that it is rated for (`drive.rated_pec`), with what reprogramming wears.
//! Its life ends before where the user says so, and after a hundred years in any case.

pub mod find;
pub mod summary;
pub mod verdict;

use std::cell::Cell;
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use vpass_core::base::request::{Arrival, Request, RequestSource, SourceError};
use vpass_core::base::span::{SECOND, YEAR};
use vpass_core::base::units::Ns;
use vpass_core::drive::Drive;
use vpass_core::time::FluidRun;
use vpass_oracle::OracleReport;
use vpass_workload::pass::Passes;

use crate::failure::Failure;
use crate::memory;
use crate::plan::Plan;
use crate::pool;
use crate::progress::{Begin, Progress};
use crate::results::ByCause;
use crate::run::begun;
use crate::session::{Judged, Measured};
use crate::setup::Gear;

/// Years after which a drive that is not worn out is simulated no further.
pub const MOST_YEARS: f64 = 100.0;
/// Parts of a life in which progress is told.
const PARTS: u64 = 1000;
/// A step is so small a part of the life before it; where within the last step the life ended is worked out in proportion.
const STEPS: Ns = 200;

const SHORTEST_STEP: Ns = 60 * SECOND;

/// How a life ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// Its mean block has endured what it is rated for.
    WornOut,
    /// The simulation was to end here; the drive lives on.
    LivesOn,
}

/// A life of a drive, or of a sample of one: counts are then the sample's.
#[derive(Clone, Debug)]
pub struct Lived {
    /// How long it was.
    pub years: f64,
    /// How it ended.
    pub end: End,
    /// P/E cycles of the mean block at the end, with what reprogramming wears.
    pub pec_mean: f64,
    /// Pages programmed, by cause.
    pub programs: ByCause,
    /// Blocks erased, by cause.
    pub erases: ByCause,
    /// Bytes that the host wrote.
    pub host_bytes: u64,
    /// Pages that the host read.
    pub read_pages: u64,
    /// Pages of host data that the drive reported lost.
    pub data_lost_pages: u64,
    /// What the oracle found, where it watched.
    pub oracle: Option<OracleReport>,
}

/// Refuses a plan that has no life: one without time, or cut into parts.
///
/// # Errors
/// A sentence with what to set.
pub fn check(plan: &Plan) -> Result<(), Failure> {
    if plan.gear == Gear::Timed {
        return Err(Failure::usage(
            "vpass life takes --gear fluid or, to check it, --gear untimed: no machine lives through years request by request in time",
        ));
    }
    if plan.repeat.get() != 1 || plan.until_stable || plan.warm_up > 0 || !plan.ages.is_empty() {
        return Err(Failure::usage(
            "--repeat, --until, --warm-up and --ages are for run and compare: a life repeats its workload until it ends, counts from its first \
             request on and goes through every age",
        ));
    }
    if plan.gear == Gear::Untimed && plan.source()?.arrival() != Arrival::Open {
        return Err(Failure::usage(
            "the workload has neither a rate nor time stamps, and a life is counted in years: set workload.rate and take workload.queue_depth \
             away (--set workload.rate=1000 --set workload.queue_depth=), or replay a trace by its own clock, without --queue-depth",
        ));
    }
    Ok(())
}

/// Lives of these plans, in their order, until they are worn out or so many years have passed. `threads`: as many as there are cores where
/// absent.
///
/// # Errors
/// What ended the first that failed, or an interruption.
pub fn live_all(plans: &[Plan], years: Option<f64>, threads: Option<NonZeroUsize>, begin: Begin) -> Result<Vec<Lived>, Failure> {
    let needed = plans.iter().map(memory::require).collect::<Result<Vec<_>, _>>()?;
    let at_once = memory::budget() / needed.iter().copied().max().unwrap_or(1).max(1);
    let threads = threads.map_or_else(pool::cores, NonZeroUsize::get).min(plans.len()).min(at_once.max(1) as usize);
    let progress = begin(Some(PARTS * plans.len() as u64), "thousandths of lives");
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let lived: Mutex<Vec<(usize, Result<Lived, Failure>)>> = Mutex::new(vec![]);
    let one_after_the_other = || {
        while !failed.load(Ordering::Relaxed) {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(plan) = plans.get(i) else { return };
            let result = live(plan, years, progress.as_ref());
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            lived.lock().unwrap_or_else(PoisonError::into_inner).push((i, result));
        }
    };
    pool::threads(threads.max(1), progress.as_ref())?.broadcast(|_| one_after_the_other());
    let mut lived = lived.into_inner().unwrap_or_else(PoisonError::into_inner);
    lived.sort_by_key(|(i, result)| (result.as_ref().is_err_and(Failure::is_interruption), *i));
    let mut lived = lived.into_iter().map(|(i, result)| result.map(|lived| (i, lived))).collect::<Result<Vec<_>, _>>()?;
    lived.sort_by_key(|(i, _)| *i);
    Ok(lived.into_iter().map(|(_, lived)| lived).collect())
}

/// One life.
fn live(plan: &Plan, years: Option<f64>, progress: &dyn Progress) -> Result<Lived, Failure> {
    let limit = (years.unwrap_or(MOST_YEARS) * YEAR as f64) as Ns;
    let measured = begun(plan, progress)?.measure();
    let mut parts = Parts { progress, told: 0, rated: f64::from(plan.drive.config.drive.rated_pec), limit };
    let (measured, years, end) = if plan.is_fluid() { fluid(plan, measured, &mut parts)? } else { untimed(plan, measured, &mut parts)? };
    parts.end();
    if !progress.may_go_on() {
        return Err(Failure::interrupted());
    }
    let Judged { drive, oracle, .. } = measured.judge();
    let flash = drive.flash_counts();
    Ok(Lived {
        years,
        end,
        pec_mean: worn(&drive),
        programs: ByCause::from(flash.programs),
        erases: ByCause::from(flash.erases),
        host_bytes: drive.host_counts().write_bytes,
        read_pages: drive.host_counts().read_pages,
        data_lost_pages: drive.lost_pages(),
        oracle,
    })
}

/// P/E cycles of the mean block, with what reprogramming wears.
fn worn(drive: &Drive) -> f64 {
    let milli: u64 = drive.block_states().map(|block| block.effective_milli).sum();
    milli as f64 / 1e3 / f64::from(drive.geometry().blocks)
}

/// In steps of time, each a small part of the life so far.
fn fluid(plan: &Plan, mut measured: Measured, parts: &mut Parts) -> Result<(Measured, f64, End), Failure> {
    let mut source = plan.fluid()?;
    let drive = &mut measured.drive;
    let mut run = FluidRun::begin(drive, source.as_mut(), plan.seed);
    let (mut at, mut pec) = (0, worn(drive));
    let (years, end) = loop {
        let until = (at + (at / STEPS).max(SHORTEST_STEP)).min(parts.limit);
        run.go_on(drive, source.as_mut(), until, &mut |_, _| parts.progress.may_go_on())?;
        let now = worn(drive);
        parts.tell(until, now);
        if now >= parts.rated {
            let share = if now > pec { (parts.rated - pec) / (now - pec) } else { 1.0 };
            break ((at as f64 + share * (until - at) as f64) / YEAR as f64, End::WornOut);
        }
        if until == parts.limit {
            break (until as f64 / YEAR as f64, End::LivesOn);
        }
        (at, pec) = (until, now);
    };
    run.end(drive);
    Ok((measured, years, end))
}

/// Pass after pass, request by request.
fn untimed(plan: &Plan, mut measured: Measured, parts: &mut Parts) -> Result<(Measured, f64, End), Failure> {
    let ends = Cell::new(false);
    let passes = Passes::new(plan.source()?, NonZeroU32::MAX).until(&ends);
    let last = Cell::new(0);
    let mut source = UntilTime { source: passes, limit: parts.limit, last: &last };
    let mut looks = 0u32;
    measured.serve(&mut source, &mut |_, drive| {
        looks += 1;
        // A look goes through all blocks.
        if looks.is_multiple_of(64) {
            let pec = worn(drive);
            ends.set(pec >= parts.rated);
            parts.tell(last.get(), pec);
        }
        parts.progress.may_go_on()
    })?;
    let is_worn_out = worn(&measured.drive) >= parts.rated;
    let years = if is_worn_out { last.get() } else { parts.limit } as f64 / YEAR as f64;
    Ok((measured, years, if is_worn_out { End::WornOut } else { End::LivesOn }))
}

/// Requests up to a time.
struct UntilTime<'a, S> {
    source: S,
    limit: Ns,
    last: &'a Cell<Ns>,
}

impl<S: RequestSource> RequestSource for UntilTime<'_, S> {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        let before = out.len();
        self.source.fill(out, max)?;
        let until = before + out[before..].partition_point(|request| request.at < self.limit);
        out.truncate(until);
        if let Some(request) = out.last() {
            self.last.set(request.at);
        }
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        self.source.arrival()
    }
}

/// How far a life is: by its wear or by its time, whichever is further.
struct Parts<'a> {
    progress: &'a dyn Progress,
    told: u64,
    rated: f64,
    limit: Ns,
}

impl Parts<'_> {
    fn tell(&mut self, at: Ns, pec: f64) {
        let share = (pec / self.rated).max(at as f64 / self.limit as f64).clamp(0.0, 1.0);
        self.tell_parts((share * PARTS as f64) as u64);
    }

    fn end(&mut self) {
        self.tell_parts(PARTS);
    }

    fn tell_parts(&mut self, parts: u64) {
        let new = parts.saturating_sub(self.told);
        self.told += new;
        self.progress.advance(new);
    }
}
