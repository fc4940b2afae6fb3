//! Simulated lives. A life is the simulation of a drive from the start until the drive is worn out.
//! The results include the causes of the wear.
//!
//! A drive is worn out when the mean block reaches the drive's rated P/E cycles
//! (`drive.rated_pec`). Wear by reprogramming is included in the cycles. A user can end the life
//! earlier: after some years, or when the error rate (UBER) over all reads of the life exceeds a
//! target. JESD218 defines endurance by a target for the UBER.
//!
//! Without a target for the UBER, a life also ends when the drive has reported more than 1 in 1,000
//! pages as lost. The years of a life with data loss do not count. After a hundred years, the
//! simulation ends in any case.

pub mod answer;
mod batches;
pub mod climb;
mod clock;
mod counts;
pub mod held;
pub mod interval;
pub mod ladder;
mod many;
pub mod record;
mod refused;
pub mod request;
pub mod rounds;
pub mod series;
mod settled;
mod simulation;
pub mod summary;
pub mod verdict;
pub mod windows;

use std::num::NonZeroUsize;

use vpass_drive::base::metrics::HostCounts;
use vpass_drive::base::span::YEAR;
use vpass_drive::base::units::Ns;
use vpass_drive::drive::Drive;
use vpass_oracle::OracleReport;

use self::clock::Clock;
use self::counts::Counts;
use self::simulation::Simulation;
use self::windows::Halves;
use crate::failure::Failure;
use crate::fault::caught;
use crate::plan::{RunPlan, Tables};
use crate::progress::{Begin, Progress};
use crate::results::{ByCause, Hints, Retries};
use crate::run::begun;
use crate::session::Judged;
use many::PARTS;
pub use many::{OneLife, live_each};
pub use refused::check;
use series::{Course, Passed};

/// Largest number of years of a simulated life.
pub const MOST_YEARS: f64 = 100.0;
/// Largest share of the host's pages that a drive may report as lost. If the drive reports more
/// lost pages, the life ends. Lost pages that no read has found yet do not count.
pub const MOST_LOST: f64 = 1e-3;

/// Reason why a life ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The mean block reached its rated number of P/E cycles.
    WornOut,
    /// The UBER over all reads of the life exceeded the target.
    Uber,
    /// The drive reported the loss of more than [`MOST_LOST`] of its pages.
    LostData,
    /// The simulation ended before the drive was worn out.
    LivesOn,
    /// The simulation used up the work that it may take.
    OutOfWork,
}

/// Conditions under which a life ends before the drive is worn out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Until {
    /// Largest number of years of the life. Absent if the limit is a hundred years.
    pub years: Option<f64>,
    /// Largest UBER over all reads of the life; absent without a limit.
    pub uber: Option<f64>,
}

/// Results of a life. If only a sample of the drive was simulated, all counts are for the sample.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Lived {
    /// Length of the life in years.
    pub years: f64,
    /// Reason why the life ended.
    pub end: End,
    /// Number of P/E cycles of the mean block at the end, including wear by reprogramming.
    pub pec_mean: f64,
    /// Number of pages programmed, by cause.
    pub programs: ByCause,
    /// Number of blocks erased, by cause.
    pub erases: ByCause,
    /// Counts of the host's requests.
    pub host: HostCounts,
    /// Number of host data pages that the drive reported as lost.
    pub data_lost_pages: u64,
    /// Expected number of lost codewords per bit that the host read, computed as in `summary.json`.
    /// `None` if the drive has no error rates.
    pub uber: Option<f64>,
    /// Retries of the host's reads; `None` if the drive makes no retries.
    pub retries: Option<Retries>,
    /// Effects of the host's hints; `None` without hints.
    pub hints: Option<Hints>,
    /// Report of the oracle; `None` if the oracle did not check the life.
    pub oracle: Option<OracleReport>,
    /// Number of P/E cycles of the mean block when the warm-up ended and windows began. `None` if
    /// every cycle was simulated.
    pub windows_from: Option<f64>,
    /// Whether wear had settled when windows began. True if every cycle was simulated.
    pub has_settled: bool,
    /// Number of P/E cycles of the mean block that were simulated.
    pub simulated: f64,
    /// Simulated work, in programmed pages: a page read counts as a part of one.
    pub work: u64,
    /// Years that the halves of each window stand for. Empty if every cycle was simulated.
    #[serde(default)]
    pub halves: Vec<Halves>,
    /// Number of P/E cycles of the mean block at the start.
    pub pec_first: f64,
    /// Lengths of successive parts of the life, in years. All parts have the same number of P/E
    /// cycles. These are the strata of the windows, or ten parts without windows. Empty without
    /// wear.
    #[serde(default)]
    pub batches: Vec<f64>,
    /// Wear and number of programmed pages at many moments of the life.
    #[serde(default)]
    pub course: Course,
}

/// Simulates an exact life for each plan, in order. A life ends when the drive is worn out, or when
/// a condition in `until` is met. Without `threads`, the simulation uses all cores.
///
/// # Errors
/// Returns the first error of a life. Also returns an error if the user interrupts the simulation.
pub fn live_all(
    plans: &[RunPlan],
    until: Until,
    threads: Option<NonZeroUsize>,
    begin: Begin,
) -> Result<Vec<Lived>, Failure> {
    let asked: Vec<_> =
        plans.iter().map(|plan| OneLife { plan, windows: None, most_work: None }).collect();
    live_each(&asked, until, threads, &Tables::default(), begin, &|_, _| ())?.into_iter().collect()
}

/// Simulates one life. If a technique that was added at run time causes a fault, returns an error.
fn live(
    one: &OneLife,
    until: Until,
    tables: &Tables,
    progress: &dyn Progress,
) -> Result<Lived, Failure> {
    caught(|| live_to_end(one, until, tables, progress))
}

fn live_to_end(
    one: &OneLife,
    until: Until,
    tables: &Tables,
    progress: &dyn Progress,
) -> Result<Lived, Failure> {
    let plan = one.plan;
    let limit = (until.years.unwrap_or(MOST_YEARS) * YEAR as f64) as Ns;
    let mut measured = begun(plan, progress)?.measure();
    let wear = Wear::of(plan, &measured.drive);
    refused::require_life(plan, wear.start)?;
    let mut parts = Parts { progress, told: 0, wear, limit, uber: until.uber, tables };
    let mut simulation = Simulation::begin(one, &mut parts, &measured.drive);
    let (at, end) = if plan.is_fluid() {
        simulation.live(&mut measured)?
    } else {
        simulation.live_untimed(&mut measured)?
    };
    let Simulation {
        clock, mut course, levels, halves, windows_from, has_settled, skipped, ..
    } = simulation;
    parts.end();
    if !progress.may_go_on() {
        return Err(Failure::interrupted());
    }
    let (before, pec) = (Counts::of(&measured.drive), clock.pec(&measured.drive));
    let simulated = measured.drive.mean_cycles() - wear.start - skipped;
    let work = work_of(plan, &measured.drive);
    let Judged { drive, oracle, .. } = measured.judge();
    // Lost data that the host never read is found only after the end of the life. The counts in
    // `before` do not include this data.
    let found = drive.lost_pages() - before.lost_pages;
    let counts = clock.counts(before);
    let years = clock.lived(at).min(limit as f64) / YEAR as f64;
    let used_years = clock.used(at) / YEAR as f64;
    course.end(Passed { years, used_years, pec, programs: counts.programs });
    let of_windows: Vec<f64> = halves.iter().map(Halves::years).collect();
    Ok(Lived {
        years,
        end,
        pec_mean: pec,
        data_lost_pages: counts.lost_pages + found,
        uber: counts.uber(),
        programs: counts.programs,
        erases: counts.erases,
        host: counts.host,
        retries: counts.retries,
        hints: counts.hints,
        oracle,
        windows_from,
        has_settled: has_settled || windows_from.is_none(),
        simulated,
        work,
        pec_first: wear.start,
        batches: if of_windows.is_empty() { batches::cut(&levels) } else { of_windows },
        halves,
        course,
    })
}

/// Returns the work of simulating a drive so far, as a number of page programs that would take as
/// long. A page read that is simulated by itself takes about a quarter of the time of a program.
fn work_of(plan: &RunPlan, drive: &Drive) -> u64 {
    let programs: u64 = drive.flash_counts().programs.iter().sum();
    let single_reads = if plan.is_fluid() { 0 } else { drive.host_counts().read_pages };
    programs + single_reads / 4
}

/// P/E cycles of the mean block at the start of a life, and rated P/E cycles.
#[derive(Clone, Copy)]
struct Wear {
    start: f64,
    rated: f64,
}

impl Wear {
    /// Returns the wear of a drive at time 0.
    fn of(plan: &RunPlan, drive: &Drive) -> Self {
        Self { start: drive.mean_cycles(), rated: f64::from(plan.drive.config.drive.rated_pec) }
    }

    /// Returns the wear so far as a share of the wear of the whole life.
    fn share(self, used: Used) -> f64 {
        let first = self.start / self.rated;
        if first < 1.0 { (used.wear - first) / (1.0 - first) } else { 1.0 }
    }
}

/// Used shares of three limits: wear, UBER and lost pages. The life ends when one of the shares
/// reaches 1.
#[derive(Clone, Copy, Debug, Default)]
struct Used {
    wear: f64,
    uber: f64,
    lost: f64,
}

impl Used {
    fn most(self) -> f64 {
        self.wear.max(self.uber).max(self.lost)
    }

    /// Returns the time and the reason of the end, if the life ended between two checks. The time
    /// is a share of the time between the checks.
    fn up_between(before: Self, now: Self) -> Option<(f64, End)> {
        let share = |before: f64, now: f64| {
            if now > before { ((1.0 - before) / (now - before)).clamp(0.0, 1.0) } else { 1.0 }
        };
        let wear = (now.wear >= 1.0).then(|| (share(before.wear, now.wear), End::WornOut));
        let uber = (now.uber > 1.0).then(|| (share(before.uber, now.uber), End::Uber));
        let lost = (now.lost > 1.0).then(|| (share(before.lost, now.lost), End::LostData));
        let ends = wear.into_iter().chain(uber).chain(lost);
        ends.min_by(|(one, _), (other, _)| one.total_cmp(other))
    }
}

/// Reporter of the progress of a life. The progress is the larger of two shares: the used wear and
/// the used time.
struct Parts<'a> {
    progress: &'a dyn Progress,
    told: u64,
    wear: Wear,
    limit: Ns,
    uber: Option<f64>,
    /// Prepared request streams that all lives of a workload share.
    tables: &'a Tables,
}

impl Parts<'_> {
    fn used_up(&self, drive: &Drive, clock: &Clock) -> Used {
        let of_target = |target: f64| clock.uber(drive).unwrap_or(0.0) / target;
        // If the user sets a target for the error rate, lost pages alone do not end the life.
        let most_lost = match self.uber {
            Some(_) => f64::INFINITY,
            None => f64::from(drive.geometry().host_pages) * MOST_LOST,
        };
        Used {
            wear: clock.pec(drive) / self.wear.rated,
            uber: self.uber.map_or(0.0, of_target),
            lost: drive.lost_pages() as f64 / most_lost,
        }
    }

    /// Returns the number of P/E cycles of the mean block.
    fn cycles(&self, used: Used) -> f64 {
        used.wear * self.wear.rated
    }

    fn cycles_between(&self, before: Used, now: Used) -> f64 {
        self.cycles(now) - self.cycles(before)
    }

    fn tell(&mut self, at: Ns, used: Used) {
        // The number of errors does not show the progress of the life, because errors appear late
        // and suddenly.
        let share = self.wear.share(used).max(at as f64 / self.limit as f64).clamp(0.0, 1.0);
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use vpass_drive::base::units::Cause;

    /// Returns a life of this many years that ends at 3,000 P/E cycles and starts at 0.
    pub(crate) fn lived(years: f64) -> Lived {
        let none = ByCause::from([0; Cause::COUNT]);
        Lived {
            years,
            end: End::WornOut,
            pec_mean: 3000.0,
            programs: none,
            erases: none,
            host: HostCounts::default(),
            data_lost_pages: 0,
            uber: None,
            retries: None,
            hints: None,
            oracle: None,
            windows_from: None,
            has_settled: true,
            simulated: 3000.0,
            work: 3_000_000,
            pec_first: 0.0,
            batches: vec![],
            halves: vec![],
            course: Course::default(),
        }
    }

    #[test]
    fn progress_of_a_worn_drive_begins_at_0() {
        let wear = Wear { start: 2990.0, rated: 3000.0 };
        let share = |cycles: f64| wear.share(Used { wear: cycles / 3000.0, ..Used::default() });
        assert!(
            share(2990.0).abs() < 1e-9
                && (share(2992.5) - 0.25).abs() < 1e-9
                && (share(3000.0) - 1.0).abs() < 1e-9
        );
        assert!((Wear { start: 3000.0, ..wear }.share(Used::default()) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_end_between_two_checks_is_interpolated() {
        let used = |(wear, uber)| Used { wear, uber, lost: 0.0 };
        let up = |before, now| Used::up_between(used(before), used(now));
        assert_eq!(up((0.75, 0.0), (1.25, 0.5)), Some((0.5, End::WornOut)));
        assert_eq!(up((0.75, 0.5), (1.25, 2.5)), Some((0.25, End::Uber)), "errors came first");
        assert_eq!(up((0.0, 0.5), (0.5, 1.5)), Some((0.5, End::Uber)));
        assert_eq!(up((0.75, 0.0), (0.99, 1.0)), None, "the target was missed, so a reason exists");
        assert_eq!(up((1.0, 0.0), (1.0, 0.0)), Some((1.0, End::WornOut)));
        let lossy = |wear, lost| Used { wear, uber: 0.0, lost };
        assert_eq!(
            Used::up_between(lossy(0.5, 0.0), lossy(1.5, 4.0)),
            Some((0.25, End::LostData)),
            "losses came first"
        );
        assert_eq!(Used::up_between(lossy(0.5, 0.0), lossy(0.6, 1.0)), None, "1 in 1,000 exactly");
    }
}
