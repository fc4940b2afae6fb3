//! Hours of a day in which the host works, and a clock that runs only in these hours.
//!
//! ```text
//! 8 hours a day: after 26 hours, the host has worked 8 + 2 = 10 hours
//! ```

use super::span::{DAY, HOUR};
use super::units::Ns;

/// Part of each day in which the host works. It begins at the start of the day. The first day
/// begins at time 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DailyHours {
    /// Length of the part in nanoseconds, from 1 to [`DAY`].
    open: Ns,
}

impl Default for DailyHours {
    fn default() -> Self {
        Self::ALWAYS
    }
}

impl DailyHours {
    /// The host works round the clock.
    pub const ALWAYS: Self = Self { open: DAY };

    /// Makes the part of the day from its number of hours, above 0 and at most 24.
    pub fn new(hours: f64) -> Self {
        Self { open: ((hours * HOUR as f64) as Ns).clamp(1, DAY) }
    }

    /// Returns whether the host works round the clock.
    #[inline]
    pub fn is_always(self) -> bool {
        self.open == DAY
    }

    /// Share of the time in which the host works.
    pub fn share(self) -> f64 {
        self.open as f64 / DAY as f64
    }

    /// Returns how long the host has worked at this time, in nanoseconds.
    #[inline]
    pub fn worked(self, at: Ns) -> Ns {
        if self.is_always() {
            return at;
        }
        at / DAY * self.open + (at % DAY).min(self.open)
    }

    /// Returns the first time at which the host has worked this long.
    #[inline]
    pub fn reaches(self, worked: Ns) -> Ns {
        if self.is_always() || worked == 0 {
            return worked;
        }
        let days = (worked - 1) / self.open;
        days.saturating_mul(DAY).saturating_add(worked - days * self.open)
    }

    /// Returns the last time at which the host has worked this long. For a whole number of days,
    /// this is the start of the next day.
    #[inline]
    pub fn resumes(self, worked: Ns) -> Ns {
        if self.is_always() {
            return worked;
        }
        (worked / self.open).saturating_mul(DAY).saturating_add(worked % self.open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_example() {
        let eight = DailyHours::new(8.0);
        assert_eq!(eight.worked(26 * HOUR), 10 * HOUR);
        assert_eq!(eight.worked(20 * HOUR), 8 * HOUR, "the rest of a day adds nothing");
        assert_eq!(eight.reaches(10 * HOUR), 26 * HOUR);
        assert_eq!((eight.reaches(8 * HOUR), eight.resumes(8 * HOUR)), (8 * HOUR, DAY));
        assert!((eight.share() - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn every_moment_of_work_has_one_time() {
        let odd = DailyHours::new(7.3);
        for worked in (0..2000).map(|n| n * 1_234_567_891_011) {
            let (first, last) = (odd.reaches(worked), odd.resumes(worked));
            assert_eq!((odd.worked(first), odd.worked(last)), (worked, worked));
            assert!(worked == 0 || odd.worked(first - 1) == worked - 1, "{worked}");
            assert_eq!(odd.worked(last + 1), worked + 1);
        }
    }

    #[test]
    fn round_the_clock_is_the_plain_clock() {
        let always = DailyHours::new(24.0);
        assert!(always.is_always() && always == DailyHours::ALWAYS);
        for at in [0, 1, DAY, Ns::MAX] {
            assert_eq!([always.worked(at), always.reaches(at), always.resumes(at)], [at; 3]);
        }
        assert_eq!(DailyHours::new(1.0).reaches(Ns::MAX), Ns::MAX, "never stays never");
    }
}
