//! Course of a life: the wear, and the number of programmed pages by cause, at many moments of the
//! life.
//!
//! During a life, a state is kept each time the life has become 0.5 % longer. The rows in
//! `life.json` are means over lives. For a row, the state of each life is taken at the same
//! fraction of the life.
//!
//! ```text
//! two lives have lengths of 4 and 6 years
//! the row at half of the years is the mean of their states at 2 and 3 years, shown at 2.5 years
//! ```

use serde::{Deserialize, Serialize};
use vpass_drive::base::units::Cause;

use crate::results::ByCause;

/// Smallest ratio of the times of two successive kept states. Between one millisecond and a
/// century, about 6,000 states are kept.
const LONGER: f64 = 1.005;
/// Number of equal parts of a life. There is a row at the end of each part.
const PARTS: u32 = 64;

/// State of a life at one point in time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Passed {
    /// Length of the life so far, in years.
    pub years: f64,
    /// Length of the hours of use so far, in years.
    #[serde(default)]
    pub used_years: f64,
    /// Number of P/E cycles of the mean block.
    pub pec: f64,
    /// Number of pages programmed since the start of the life, by cause.
    pub programs: ByCause,
}

/// Kept states of a life, ordered by years.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Course(Vec<Passed>);

/// State of the mean life at one fraction of the life.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Length of the life so far, in years.
    pub years: f64,
    /// Share of the life's hours of use that have passed.
    #[serde(skip)]
    pub used: f64,
    /// Number of P/E cycles of the mean block.
    pub pec_mean: f64,
    /// Share of the programmed pages that the host wrote. The shares of all causes add up to 1. All
    /// shares are null before the first page is programmed.
    pub consumed_host: Option<f64>,
    /// Share of the programmed pages that garbage collection wrote.
    pub consumed_gc: Option<f64>,
    /// Share of the programmed pages that were rewritten because of reads.
    pub consumed_reclaim: Option<f64>,
    /// Share of the programmed pages that were rewritten because of age.
    pub consumed_refresh: Option<f64>,
    /// Share of the programmed pages that wear levelling wrote.
    pub consumed_levelling: Option<f64>,
    /// Share of the programmed pages that hold the parity of stripes.
    pub consumed_parity: Option<f64>,
    /// Share of the programmed pages that regrouping by hints wrote. Absent if the share is 0.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub consumed_hints: Option<f64>,
}

impl Row {
    /// Returns the shares of all causes except hints, in the order of `Consumed::CAUSES`.
    pub fn consumed(&self) -> [Option<f64>; 6] {
        [
            self.consumed_host,
            self.consumed_gc,
            self.consumed_reclaim,
            self.consumed_refresh,
            self.consumed_levelling,
            self.consumed_parity,
        ]
    }
}

#[expect(clippy::ref_option, reason = "serde requires it")]
fn is_nothing(share: &Option<f64>) -> bool {
    share.is_none_or(|share| share == 0.0)
}

impl Course {
    /// Keeps a state if the life has become 0.5 % longer since the last kept state.
    pub(super) fn pass(&mut self, now: Passed) {
        if self.0.last().is_none_or(|last| now.years >= LONGER * last.years) {
            self.0.push(now);
        }
    }

    /// Adds the state at the end of the life. The life ends within the last step, so a state after
    /// the end may have been kept. States after the end are removed.
    pub(super) fn end(&mut self, end: Passed) {
        self.0.retain(|passed| passed.years < end.years);
        self.0.push(end);
    }

    /// Returns the state at a fraction of the life: years, share of the hours of use, P/E cycles,
    /// and programmed pages by cause. The fraction is from 0 to 1. Numbers between two kept states
    /// are interpolated.
    fn at(&self, part: f64) -> Option<([f64; 3], [f64; Cause::COUNT])> {
        let last = self.0.last()?;
        let years = part * last.years;
        let after = self.0.partition_point(|passed| passed.years < years).min(self.0.len() - 1);
        let to = self.0[after];
        let programs = ByCause::default();
        let start = Passed { years: 0.0, used_years: 0.0, pec: self.0[0].pec, programs };
        let from = if after > 0 { self.0[after - 1] } else { start };
        let share = if to.years > from.years {
            ((years - from.years) / (to.years - from.years)).clamp(0.0, 1.0)
        } else {
            1.0
        };
        let between = |from: f64, to: f64| from + share * (to - from);
        let programs = Cause::ALL
            .map(|cause| between(from.programs.of(cause) as f64, to.programs.of(cause) as f64));
        let used = between(from.used_years, to.used_years) / last.used_years;
        Some(([years, used, between(from.pec, to.pec)], programs))
    }
}

/// Returns the rows of the mean life. `lives` has the course of each life, and a factor for the
/// years. The list is empty if there are no lives, or if a life has no states.
pub(super) fn mean(lives: &[(&Course, f64)]) -> Vec<Row> {
    let row = |part: u32| {
        let part = f64::from(part) / f64::from(PARTS);
        let (mut count, mut years, mut used, mut pec) = (0.0, 0.0, 0.0, 0.0);
        let mut shares = [0.0; Cause::COUNT];
        let mut has_programs = true;
        for (course, factor) in lives {
            let ([of_life, share, cycles], programs) = course.at(part)?;
            let all: f64 = programs.iter().sum();
            has_programs &= all > 0.0;
            (count, years, used) = (count + 1.0, years + factor * of_life, used + share);
            pec += cycles;
            shares.iter_mut().zip(programs).for_each(|(share, pages)| *share += pages / all);
        }
        let share = |cause: Cause| has_programs.then(|| shares[cause as usize] / count);
        (count > 0.0).then(|| Row {
            years: years / count,
            used: used / count,
            pec_mean: pec / count,
            consumed_host: share(Cause::Host),
            consumed_gc: share(Cause::Gc),
            consumed_reclaim: share(Cause::Reclaim),
            consumed_refresh: share(Cause::Refresh),
            consumed_levelling: share(Cause::Wear),
            consumed_parity: share(Cause::Parity),
            consumed_hints: share(Cause::Hint),
        })
    };
    (0..=PARTS).map(row).collect::<Option<Vec<_>>>().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn programs(host: u64, reclaim: u64, wear: u64) -> ByCause {
        let mut by_cause = [0; Cause::COUNT];
        by_cause[Cause::Host as usize] = host;
        by_cause[Cause::Reclaim as usize] = reclaim;
        by_cause[Cause::Wear as usize] = wear;
        ByCause::from(by_cause)
    }

    /// Returns the course of a life of this many years. The number of pages programmed by reclaim
    /// grows with the square of the years.
    fn course(years: f64) -> Course {
        let mut course = Course::default();
        let state = |at: f64| Passed {
            years: at,
            used_years: at / 3.0,
            pec: 100.0 + 200.0 * at,
            programs: programs((1e9 * at) as u64, (1e9 * at * at) as u64, 0),
        };
        let mut at = 1e-9;
        while at < years {
            course.pass(state(at));
            at *= 1.001;
        }
        course.end(state(years));
        course
    }

    #[test]
    fn rows_are_evenly_spaced_and_hold_the_state_at_their_time() {
        let rows = mean(&[(&course(4.0), 1.0)]);
        assert_eq!(rows.len(), 65);
        assert_eq!((rows[0].years, rows[64].years, rows[64].pec_mean), (0.0, 4.0, 900.0));
        assert_eq!(rows[0].consumed_host, None, "nothing was programmed yet");
        for (n, row) in rows.iter().enumerate().skip(1) {
            let years = n as f64 / 16.0;
            assert!((row.years - years).abs() < 1e-12);
            assert!((row.used - n as f64 / 64.0).abs() < 1e-12);
            assert!((row.pec_mean - (100.0 + 200.0 * years)).abs() < 0.1, "{row:?}");
            // At the time `at`, the life has programmed at + at^2 pages. Reclaim programmed at^2 of
            // these pages.
            let share = years / (1.0 + years);
            assert!((row.consumed_reclaim.unwrap() - share).abs() < 1e-4, "{row:?}");
            let sum = row.consumed_host.unwrap() + row.consumed_reclaim.unwrap();
            assert!((sum - 1.0).abs() < 1e-12 && row.consumed_hints == Some(0.0));
        }
    }

    #[test]
    fn lives_are_averaged_at_the_same_part_of_their_years() {
        let (short, long) = (course(4.0), course(6.0));
        let rows = mean(&[(&short, 1.0), (&long, 1.0)]);
        assert!((rows[32].years - 2.5).abs() < 1e-12);
        assert!((rows[32].pec_mean - 600.0).abs() < 0.1, "the mean of 500 and 700");
        let reclaim = f64::midpoint(2.0 / 3.0, 3.0 / 4.0);
        assert!((rows[32].consumed_reclaim.unwrap() - reclaim).abs() < 1e-4);
        // The factor of a sample changes the years, and no other value.
        let corrected = mean(&[(&short, 2.0), (&long, 1.0)]);
        assert!((corrected[64].years - 7.0).abs() < 1e-12);
        assert!((corrected[64].pec_mean - rows[64].pec_mean).abs() < 1e-9);
        assert!(mean(&[(&short, 1.0), (&Course::default(), 1.0)]).is_empty());
    }

    #[test]
    fn a_long_life_keeps_few_states_and_its_end_is_the_last() {
        let mut course = course(100.0);
        assert!(course.0.len() < 6000, "{}", course.0.len());
        assert!(course.0.windows(2).all(|pair| pair[0].years < pair[1].years));
        // The life ended during its last step.
        let end = Passed { years: 90.0, used_years: 30.0, pec: 7.0, programs: programs(1, 1, 0) };
        course.end(end);
        assert!(course.0.last() == Some(&end) && course.0[course.0.len() - 2].years < 90.0);
    }
}
