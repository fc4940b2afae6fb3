//! Life in the fluid gear with accelerated wear. During the warm-up, an erase counts as one P/E
//! cycle. After the warm-up, an erase counts as K P/E cycles.
//!
//! ```text
//! warm-up of 2 days, then 10 simulated days at K = 30: the life is 2 + 30 x 10 = 302 days long
//! ```

use std::borrow::Cow;
use std::num::NonZeroU32;

use vpass_drive::base::span::{SECOND, YEAR};
use vpass_drive::base::units::Ns;
use vpass_drive::drive::Drive;
use vpass_drive::time::FluidRun;

use super::counts::{Counts, Grown, errors};
use super::series::{Course, Passed};
use super::settled::Settling;
use super::{End, Parts, Used, worn};
use crate::failure::Failure;
use crate::plan::RunPlan;
use crate::results::ByCause;
use crate::session::Measured;

/// Length of the life so far, divided by the length of the next step. The end of the life is
/// interpolated within the last step.
const STEPS: Ns = 200;
/// Simulated time so far, divided by the length of the next step, during acceleration. Steps are
/// shorter than without acceleration, because each step covers K times as much of the life.
const FINER_STEPS: Ns = 1000;
/// Shortest step of the simulation: 1 ms. A millisecond is short even for a life of a few seconds.
const SHORTEST_STEP: Ns = SECOND / 1000;

/// Difference between blocks, in erases, that arises by chance, even if all data is rewritten.
/// Under acceleration, the difference is multiplied by K. Wear levelling would mistake the larger
/// difference for an effect of data that is never rewritten. The P/E cycles in `wear.static_gap`
/// are therefore increased by this constant times K - 1. An erase for wear levelling counts as one
/// cycle.
///
/// An alternative is to keep `wear.static_gap`, and to count each erase for wear levelling as K
/// cycles. At K = 30, a gap of 100 cycles is then about four erases. Blocks differ by four erases
/// by chance alone, and each move costs 30 cycles.
///
/// `life_rungs.rs` compared lives on rung 2 (K = 30) with exact lives. With an unchanged
/// `wear.static_gap`, the error of the years was -4.1 % for `block` and +3.9 % for `straw-wl`. With
/// the increased gap, the error was 0.0 % for `block` and +2.2 % for `straw-wl`.
///
/// The increased gap causes a known error: blocks with data that is never rewritten have fewer P/E
/// cycles than on a real drive. The error depends on K, so a comparison of two rungs shows the
/// error.
const APART_BY_CHANCE: u32 = 30;

/// Returns the plan with a wear-levelling gap that suits the acceleration.
pub(super) fn accelerable(plan: &RunPlan, acceleration: NonZeroU32) -> Cow<'_, RunPlan> {
    let gap = plan.drive.config.wear.static_gap;
    if acceleration.get() == 1 || gap == 0 {
        return Cow::Borrowed(plan);
    }
    let mut plan = plan.clone();
    plan.drive.config.wear.static_gap =
        gap.saturating_add(APART_BY_CHANCE * (acceleration.get() - 1));
    Cow::Owned(plan)
}

/// Clock of a life. During acceleration, an erase counts as K P/E cycles, and one second of
/// simulated time counts as K seconds of the life.
pub(super) struct Clock {
    acceleration: NonZeroU32,
    accelerated: Option<Accelerated>,
}

/// State of a life at the moment when acceleration began.
struct Accelerated {
    at: Ns,
    pec: f64,
    counts: Counts,
}

impl Clock {
    /// Creates a clock for an acceleration that begins when wear has settled. With
    /// `wear.acceleration`, acceleration begins at the start of the life.
    pub(super) fn begin(acceleration: NonZeroU32, drive: &Drive) -> Self {
        let of_drive = NonZeroU32::new(drive.config().wear.acceleration).unwrap_or(NonZeroU32::MIN);
        if of_drive.get() > 1 {
            let accelerated = Accelerated { at: 0, pec: worn(drive), counts: Counts::of(drive) };
            return Self { acceleration: of_drive, accelerated: Some(accelerated) };
        }
        Self { acceleration, accelerated: None }
    }

    /// Returns the number of P/E cycles for which each erase counts.
    pub(super) fn acceleration(&self) -> NonZeroU32 {
        self.acceleration
    }

    /// Returns whether the warm-up has not ended yet.
    fn is_waiting(&self) -> bool {
        self.accelerated.is_none() && self.acceleration.get() > 1
    }

    fn accelerate(&mut self, at: Ns, drive: &mut Drive) {
        self.accelerated = Some(Accelerated { at, pec: worn(drive), counts: Counts::of(drive) });
        drive.accelerate(self.acceleration);
    }

    /// Returns the length of the life, in nanoseconds, up to a simulated time.
    pub(super) fn lived(&self, at: f64) -> f64 {
        let Some(accelerated) = &self.accelerated else { return at };
        let from = accelerated.at as f64;
        from + f64::from(self.acceleration.get()) * (at - from)
    }

    /// Returns the simulated time at which the life has the given length.
    pub(super) fn simulated(&self, lived: Ns) -> Ns {
        let Some(accelerated) = &self.accelerated else { return lived };
        accelerated.at
            + lived.saturating_sub(accelerated.at).div_ceil(self.acceleration.get().into())
    }

    fn step(&self, at: Ns) -> Ns {
        (at / if self.accelerated.is_some() { FINER_STEPS } else { STEPS }).max(SHORTEST_STEP)
    }

    /// Returns the number of P/E cycles of the mean block at the start of acceleration.
    pub(super) fn accelerated_from(&self) -> Option<f64> {
        self.accelerated.as_ref().map(|accelerated| accelerated.pec)
    }

    /// Converts the drive's counts at the end of the life to counts of the life.
    pub(super) fn counts(&self, at_end: Counts) -> Counts {
        let Some(accelerated) = &self.accelerated else { return at_end };
        at_end.since(&accelerated.counts, self.acceleration.get())
    }

    /// Returns the number of pages programmed in the life so far, by cause.
    pub(super) fn programs(&self, drive: &Drive) -> ByCause {
        let now = ByCause::from(drive.flash_counts().programs);
        let Some(accelerated) = &self.accelerated else { return now };
        Grown(self.acceleration.get().into()).by_cause(&accelerated.counts.programs, &now)
    }

    /// Returns the expected number of lost codewords per bit that the host read in the life so far.
    pub(super) fn uber(&self, drive: &Drive) -> Option<f64> {
        let so_far = errors(drive);
        let (errors, bits) = match &self.accelerated {
            None => so_far?,
            Some(accelerated) => {
                Grown(self.acceleration.get().into()).errors(accelerated.counts.errors, so_far)?
            }
        };
        (bits > 0.0).then(|| errors / bits)
    }
}

/// Simulates a life in steps. The length of each step is a small share of the life so far. After
/// each step, `levels` gets the P/E cycles of the mean block and the years so far. After some
/// steps, `course` gets the P/E cycles, the years and the numbers of programmed pages.
pub(super) fn fluid(
    plan: &RunPlan,
    acceleration: NonZeroU32,
    mut measured: Measured,
    parts: &mut Parts,
    (levels, course): (&mut Vec<(f64, f64)>, &mut Course),
) -> Result<(Measured, f64, End, Clock), Failure> {
    let mut source = plan.fluid(parts.tables)?.source;
    let drive = &mut measured.drive;
    let mut run = FluidRun::begin(drive, source.as_mut(), plan.seed);
    let (mut clock, mut settling) = (Clock::begin(acceleration, drive), Settling::begin(drive));
    let (mut at, mut before) = (0, parts.used_up(drive, &clock));
    let years_at = |clock: &Clock, simulated: f64| clock.lived(simulated) / YEAR as f64;
    levels.push((parts.cycles(before), 0.0));
    let (simulated, end) = loop {
        let limit = clock.simulated(parts.limit);
        let until = (at + clock.step(at)).min(limit);
        run.go_on(drive, source.as_mut(), until, &mut |_, _| parts.progress.may_go_on())?;
        let now = parts.used_up(drive, &clock);
        parts.tell(clock.lived(until as f64) as Ns, now);
        if let Some((share, end)) = Used::up_between(before, now) {
            let ends = at as f64 + share * (until - at) as f64;
            let cycles = parts.cycles(before) + share * (parts.cycles(now) - parts.cycles(before));
            levels.push((cycles, years_at(&clock, ends)));
            break (ends, end);
        }
        let (pec, years) = (parts.cycles(now), years_at(&clock, until as f64));
        levels.push((pec, years));
        course.pass(Passed { years, pec, programs: clock.programs(drive) });
        if until == limit {
            break (until as f64, End::LivesOn);
        }
        (at, before) = (until, now);
        if clock.is_waiting() && settling.has_settled(until, drive) {
            // A read after this moment counts K times. All earlier reads must count once, so vpass
            // simulates them before acceleration begins.
            run.draw(drive);
            clock.accelerate(until, drive);
        }
    };
    run.end(drive);
    let years = years_at(&clock, simulated).min(parts.limit as f64 / YEAR as f64);
    Ok((measured, years, end, clock))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Chosen;
    use crate::progress::unwatched;
    use crate::setup::{Base, Gear, Named, Setup};

    #[test]
    fn the_levelling_gap_allows_for_chance_and_stays_0_without_levelling() {
        let gap_at = |gap: u32, acceleration: u32| {
            let set = vec!["workload.rate=1000".into(), format!("wear.static_gap={gap}")];
            let base = Base { gear: Gear::Fluid, set, ..Base::new("tiny") };
            let setup = Setup::new(base, Named::Workload("zipf-read".into()));
            let plan = RunPlan::new(&setup, Chosen::default(), &unwatched).unwrap();
            accelerable(&plan, NonZeroU32::new(acceleration).unwrap()).drive.config.wear.static_gap
        };
        assert_eq!([gap_at(100, 1), gap_at(100, 30), gap_at(50, 100)], [100, 970, 3020]);
        assert_eq!(gap_at(0, 30), 0, "no levelling stays no levelling");
    }

    #[test]
    fn the_clock_of_a_life_goes_faster_after_the_warm_up() {
        let k = NonZeroU32::new(30).unwrap();
        let none = Counts::none();
        let clock = Clock {
            acceleration: k,
            accelerated: Some(Accelerated { at: 2000, pec: 10.0, counts: none }),
        };
        assert!(
            (clock.lived(12_000.0) - 302_000.0).abs() < 1e-6 && clock.simulated(302_000) == 12_000
        );
        assert_eq!((clock.simulated(302_001), clock.simulated(1000)), (12_001, 2000));
        let waiting = Clock { acceleration: k, accelerated: None };
        assert!(
            waiting.is_waiting()
                && (waiting.lived(7.0) - 7.0).abs() < 1e-12
                && waiting.simulated(7) == 7
        );
        assert!(!Clock { acceleration: NonZeroU32::MIN, ..waiting }.is_waiting());
    }
}
