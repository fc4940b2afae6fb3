//! Simulation of a life. In the fluid gear, a warm-up is followed by either every P/E cycle, or
//! windows of the life ([`windows`]). In the untimed gear, every request is simulated.
//!
//! [`windows`]: super::windows

use std::cell::Cell;
use std::num::NonZeroU32;

use vpass_drive::base::request::{Arrival, Request, RequestSource, SourceError};
use vpass_drive::base::span::{SECOND, YEAR};
use vpass_drive::base::units::Ns;
use vpass_drive::drive::Drive;
use vpass_drive::time::{FluidRun, FluidSource};
use vpass_workload::pass::Passes;

use super::clock::Clock;
use super::series::{Course, Passed};
use super::settled::Settling;
use super::windows::{Halves, Strata};
use super::{End, OneLife, Parts, Used, work_of};
use crate::failure::Failure;
use crate::session::Measured;

/// Length of the life so far, divided by the length of the next step. The end of the life is
/// interpolated within the last step.
const STEPS: Ns = 200;
/// Number of steps in a P/E cycle of the mean block, once windows have begun.
const STEPS_OF_CYCLE: f64 = 40.0;
/// Shortest step of the simulation: 1 ms. A millisecond is short even for a life of a few seconds.
const SHORTEST_STEP: Ns = SECOND / 1000;
/// Largest share of the work of a life that its warm-up may take.
const MOST_WARM_UP: f64 = 0.5;

/// Part of a life that is simulated now.
enum Phase {
    /// Warm-up, or every cycle up to the end of the life.
    Whole,
    /// Cycles after a skip, up to `until` P/E cycles. They do not count.
    Between { until: f64 },
    /// Window from `begins` P/E cycles on. `half` has the years of the life at the start, and the
    /// years and cycles at half of the window.
    Window { begins: f64, from: f64, half: Option<(f64, f64)> },
}

/// Course of a simulated life.
pub(super) struct Simulation<'a, 'b> {
    one: &'a OneLife<'a>,
    parts: &'a mut Parts<'b>,
    pub(super) clock: Clock,
    settling: Option<Settling>,
    strata: Option<Strata>,
    stratum: u32,
    phase: Phase,
    /// P/E cycles of the mean block at the start, and number of skipped cycles since.
    began: f64,
    pub(super) skipped: f64,
    /// Simulated time of a P/E cycle of the mean block, at the end of the warm-up.
    cycle_ns: f64,
    /// Pairs of P/E cycles and years.
    pub(super) levels: Vec<(f64, f64)>,
    pub(super) course: Course,
    pub(super) halves: Vec<Halves>,
    /// P/E cycles at which windows began. `None` if every cycle was simulated.
    pub(super) windows_from: Option<f64>,
    /// Whether wear had settled at the last check.
    pub(super) has_settled: bool,
}

impl<'a, 'b> Simulation<'a, 'b> {
    pub(super) fn begin(one: &'a OneLife<'a>, parts: &'a mut Parts<'b>, drive: &Drive) -> Self {
        let clock = Clock::begin(drive, one.plan.hours());
        let began = clock.pec(drive);
        Self {
            one,
            parts,
            clock,
            settling: one.windows.map(|_| Settling::begin(one.plan, drive)),
            strata: None,
            stratum: 0,
            phase: Phase::Whole,
            began,
            skipped: 0.0,
            cycle_ns: 0.0,
            levels: vec![(began, 0.0)],
            course: Course::default(),
            halves: vec![],
            windows_from: None,
            has_settled: true,
        }
    }

    /// Simulates the life in steps. Returns the simulated time and the reason of the life's end.
    ///
    /// # Errors
    /// Returns an error if the workload cannot be read, or if the user interrupts the simulation.
    pub(super) fn live(&mut self, measured: &mut Measured) -> Result<(f64, End), Failure> {
        let mut source = self.one.plan.fluid(self.parts.tables)?.source;
        let source: &mut dyn FluidSource = source.as_mut();
        let drive = &mut measured.drive;
        let mut run = FluidRun::begin(drive, source, self.one.plan.seed);
        let (mut at, mut before) = (0, self.parts.used_up(drive, &self.clock));
        let (ends_at, end) = loop {
            let limit = self.clock.simulated(self.parts.limit);
            let until = (at + self.step(at)).min(limit);
            run.go_on(drive, source, until, &mut |_, _| self.parts.progress.may_go_on())?;
            let now = self.parts.used_up(drive, &self.clock);
            let lived = self.clock.lived(until as f64);
            self.parts.tell(lived as Ns, now);
            if let Some((share, end)) = Used::up_between(before, now) {
                // The last window ends when the drive is worn out.
                if matches!(self.phase, Phase::Window { .. }) && self.turns(drive, until) {
                    self.turn(drive, until);
                    break (until as f64, end);
                }
                let ends = at as f64 + share * (until - at) as f64;
                let pec =
                    self.parts.cycles(before) + share * self.parts.cycles_between(before, now);
                self.levels.push((pec, self.years(ends)));
                break (ends, end);
            }
            self.note(drive, until, now);
            if until == limit {
                break (until as f64, End::LivesOn);
            }
            let is_costly = |most: u64| work_of(self.one.plan, drive) > most;
            // Windows are no longer than what is affordable.
            if self.strata.is_none() && self.one.most_work.is_some_and(is_costly) {
                break (until as f64, End::OutOfWork);
            }
            at = until;
            if self.turns(drive, at) {
                // Reads before this moment have another weight than later reads, so they are drawn
                // now.
                run.draw(drive);
                if let Some(end) = self.turn(drive, at) {
                    break (at as f64, end);
                }
            }
            before = self.parts.used_up(drive, &self.clock);
        };
        run.end(drive);
        Ok((ends_at, end))
    }

    /// Simulates the life request by request. The workload is repeated until the life ends. Returns
    /// the simulated time and the reason of the life's end.
    ///
    /// # Errors
    /// Returns an error if the workload cannot be read, or if the user interrupts the simulation.
    pub(super) fn live_untimed(&mut self, measured: &mut Measured) -> Result<(f64, End), Failure> {
        let limit = self.clock.simulated(self.parts.limit);
        let ends = Cell::new(false);
        let passes = Passes::new(self.one.plan.source()?, NonZeroU32::MAX).until(&ends);
        let last = Cell::new(0);
        let mut source = UntilTime { source: passes, limit, last: &last };
        let (mut looks, mut is_costly) = (0u32, false);
        measured.serve(&mut source, &mut |_, drive| {
            looks += 1;
            // A check whether the life has ended scans all blocks, so checks are rare.
            if looks.is_multiple_of(64) {
                let used = self.parts.used_up(drive, &self.clock);
                let work = work_of(self.one.plan, drive);
                is_costly = self.one.most_work.is_some_and(|most| work > most);
                ends.set(used.most() >= 1.0 || is_costly);
                self.note(drive, last.get(), used);
                self.parts.tell(self.clock.lived(last.get() as f64) as Ns, used);
            }
            self.parts.progress.may_go_on()
        })?;
        let used = self.parts.used_up(&measured.drive, &self.clock);
        let end = Used::up_between(Used::default(), used).map(|(_, end)| end);
        let end = end.unwrap_or(if is_costly { End::OutOfWork } else { End::LivesOn });
        let at = if end == End::LivesOn { limit } else { last.get() };
        Ok((at as f64, end))
    }

    /// Returns the years of the life up to a simulated time.
    fn years(&self, at: f64) -> f64 {
        self.clock.lived(at) / YEAR as f64
    }

    fn note(&mut self, drive: &Drive, at: Ns, now: Used) {
        let (pec, years) = (self.parts.cycles(now), self.years(at as f64));
        self.levels.push((pec, years));
        let (used_years, programs) =
            (self.clock.used(at as f64) / YEAR as f64, self.clock.programs(drive));
        self.course.pass(Passed { years, used_years, pec, programs });
    }

    fn step(&self, at: Ns) -> Ns {
        let step =
            if self.strata.is_some() { (self.cycle_ns / STEPS_OF_CYCLE) as Ns } else { at / STEPS };
        step.max(SHORTEST_STEP)
    }

    /// Returns whether a phase of the life ends now. Notes the half of a window.
    fn turns(&mut self, drive: &Drive, at: Ns) -> bool {
        let years = self.years(at as f64);
        match &mut self.phase {
            Phase::Whole => self.ends_warm_up(drive, at),
            Phase::Between { until } => drive.mean_cycles() >= *until,
            Phase::Window { begins, half, .. } => {
                let strata = self.strata.as_ref().expect("a window lies in a stratum");
                let cycles = drive.mean_cycles() - *begins;
                if half.is_none() && cycles >= strata.cycles_of_window() / 2.0 {
                    *half = Some((years, cycles));
                }
                cycles >= strata.cycles_of_window()
            }
        }
    }

    /// Returns whether the warm-up ends: wear has settled, or the warm-up took long enough.
    fn ends_warm_up(&mut self, drive: &Drive, at: Ns) -> bool {
        let (Some(settling), Some(windows)) = (&mut self.settling, self.one.windows) else {
            return false;
        };
        self.has_settled = settling.has_settled(at, drive);
        let work = work_of(self.one.plan, drive) as f64;
        let is_costly = |most: u64| work > MOST_WARM_UP * most as f64;
        self.has_settled
            || drive.mean_cycles() - self.began >= f64::from(windows.most_warm)
            || self.one.most_work.is_some_and(is_costly)
    }

    /// Begins the next phase. Returns a reason if the life ends here.
    fn turn(&mut self, drive: &mut Drive, at: Ns) -> Option<End> {
        match self.phase {
            Phase::Whole => {
                self.settling = None;
                let cycles = drive.mean_cycles() - self.began;
                self.cycle_ns = at as f64 / cycles;
                let windows = self.one.windows.expect("a life with windows has a warm-up");
                let affordable = self.affordable(drive, cycles);
                let left = (self.clock.pec(drive), self.parts.wear.rated);
                self.strata = Strata::new(windows, left, affordable);
                self.windows_from = self.strata.map(|strata| strata.begins(0));
                self.skip(drive, at);
            }
            Phase::Between { .. } => {
                let strata = self.strata.expect("cycles between windows");
                let weight = strata.weight(strata.cycles_of_window());
                self.clock.turn(at, drive, weight, Some(strata.begins(self.stratum)));
                let from = self.years(at as f64);
                self.phase = Phase::Window { begins: drive.mean_cycles(), from, half: None };
            }
            Phase::Window { begins, from, half } => {
                self.end_window(drive, at, (begins, from, half));
                self.stratum += 1;
                if self.strata.is_some_and(|strata| strata.is_over(self.stratum)) {
                    return Some(End::WornOut);
                }
                self.skip(drive, at);
            }
        }
        None
    }

    /// Returns how many P/E cycles may still be simulated.
    fn affordable(&self, drive: &Drive, cycles: f64) -> f64 {
        let of_cycle = work_of(self.one.plan, drive) as f64 / cycles;
        self.one.most_work.map_or(f64::INFINITY, |most| {
            most.saturating_sub(work_of(self.one.plan, drive)) as f64 / of_cycle
        })
    }

    /// Skips to the window of the present stratum.
    fn skip(&mut self, drive: &mut Drive, at: Ns) {
        let Some(strata) = &self.strata else { return };
        let cycles = (strata.skips_to(self.stratum) - drive.mean_cycles()).max(0.0).round();
        drive.skip_cycles(cycles as u32);
        self.skipped += cycles;
        self.clock.turn(at, drive, 0.0, Some(strata.begins(self.stratum)));
        self.phase = Phase::Between { until: Strata::window_begins(drive.mean_cycles()) };
    }

    /// Ends a window. It stands for its whole stratum, whatever its exact length is.
    fn end_window(
        &mut self,
        drive: &Drive,
        at: Ns,
        (begins, from, half): (f64, f64, Option<(f64, f64)>),
    ) {
        let strata = self.strata.expect("a window lies in a stratum");
        let cycles = drive.mean_cycles() - begins;
        let (planned, weight) = (strata.weight(strata.cycles_of_window()), strata.weight(cycles));
        self.clock.reweigh(weight);
        self.cycle_ns = (self.years(at as f64) - from) * YEAR as f64 / weight / cycles;
        let of_half = |years: f64, share: f64| years / share / 2.0;
        let all = self.years(at as f64) - from;
        let (middle, at_middle) = half.unwrap_or((from + all / 2.0, cycles / 2.0));
        let first = (middle - from) * weight / planned;
        let share = (at_middle / cycles).clamp(0.01, 0.99);
        self.halves.push(Halves {
            first: of_half(first, share),
            second: of_half(all - first, 1.0 - share),
            part: 1.0 / weight,
        });
        self.levels.push((strata.begins(self.stratum + 1), self.years(at as f64)));
    }
}

/// Request source that ends at a given time.
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

    fn take_flushes(&mut self) -> Vec<(usize, Ns)> {
        self.source.take_flushes()
    }
}
