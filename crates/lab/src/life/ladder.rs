//! Ladder of lives. A rung is one acceleration of wear and one number of lives. Each rung is slower
//! than the rung before, and closer to the exact life.
//!
//! On a rung, an erase counts as K P/E cycles after a warm-up. A climb ends at the first rung whose
//! intervals are narrow enough, or when its time runs out.
//!
//! ```text
//! rung          1    2    3    4    5    6    7
//! K             100  30   30   10   10   3    1
//! lives         2    2    4    4    8    8    8
//! compared with -    1    1    3    3    5    6
//! ```

use std::num::NonZeroU32;

use vpass_core::base::phrase::Opt;

use crate::failure::Failure;

/// Rung of the ladder: one acceleration of wear, and one number of lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rung {
    /// Place on the ladder. The lowest rung is 1.
    pub number: u32,
    /// Number of P/E cycles per erase after the warm-up.
    pub acceleration: NonZeroU32,
    /// Number of lives of each technique. The lives are samples of the drive, or seeds of a whole
    /// drive.
    pub lives: u32,
}

const fn rung(number: u32, acceleration: u32, lives: u32) -> Rung {
    Rung {
        number,
        acceleration: NonZeroU32::new(acceleration)
            .expect("each rung has at least one acceleration"),
        lives,
    }
}

/// All rungs.
pub const LADDER: [Rung; 7] = [
    rung(1, 100, 2),
    rung(2, 30, 2),
    rung(3, 30, 4),
    rung(4, 10, 4),
    rung(5, 10, 8),
    rung(6, 3, 8),
    rung(7, 1, 8),
];

/// Precision that the user wants, and time that the climb may take.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Largest half width of the intervals, as a share of the years.
    pub within: f64,
    /// Longest time of the climb, in seconds; absent for no limit.
    pub seconds: Option<f64>,
}

/// State of a climb after the lives of a rung.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    /// Half width of the widest interval, as a share of its years. `None` if some answer has no
    /// interval.
    pub half: Option<f64>,
    /// Seconds since the climb began.
    pub elapsed: f64,
    /// Seconds that the next rung is expected to take.
    pub next_takes: f64,
}

/// Step that follows a rung.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// Climb to the next rung.
    Climb(Rung),
    /// Stop: the intervals are as narrow as wanted.
    Answered,
    /// Stop: the next rung would take this many seconds, and fewer seconds are left.
    OutOfTime(f64),
    /// Stop: no rung is left.
    AtTop,
}

impl Rung {
    /// Returns the rung of this number.
    ///
    /// # Errors
    /// Reports a number that no rung has.
    pub fn of_number(number: u32) -> Result<Self, Failure> {
        let found = LADDER.into_iter().find(|rung| rung.number == number);
        found.ok_or_else(|| {
            Failure::usage(format!("the ladder has rungs 1 to {}", LADDER.len()))
                .at(Opt::Rung.to(number))
        })
    }

    /// Returns the nearest lower rung with more acceleration. The difference between the two rungs
    /// shows the effect of acceleration.
    pub fn coarser(self) -> Option<Self> {
        LADDER
            .into_iter()
            .rev()
            .find(|other| other.number < self.number && other.acceleration > self.acceleration)
    }

    /// Returns the next higher rung.
    pub fn above(self) -> Option<Self> {
        LADDER.into_iter().find(|other| other.number == self.number + 1)
    }

    /// Returns the step that follows this rung.
    pub fn next(self, wanted: Wanted, standing: Standing) -> Next {
        if standing.half.is_some_and(|half| half <= wanted.within) {
            return Next::Answered;
        }
        let Some(above) = self.above() else { return Next::AtTop };
        let ends_at = standing.elapsed + standing.next_takes;
        if wanted.seconds.is_some_and(|seconds| ends_at > seconds) {
            return Next::OutOfTime(standing.next_takes);
        }
        Next::Climb(above)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rung_is_slower_than_the_one_below() {
        let cost = |rung: Rung| f64::from(rung.lives) / f64::from(rung.acceleration.get());
        for (below, above) in LADDER.into_iter().zip(&LADDER[1..]) {
            assert!(below.number + 1 == above.number && cost(below) < cost(*above));
            assert!(below.lives <= above.lives && below.acceleration >= above.acceleration);
        }
        let compared: Vec<_> =
            LADDER.iter().map(|rung| rung.coarser().map_or(0, |rung| rung.number)).collect();
        assert_eq!(compared, [0, 1, 1, 3, 3, 5, 6]);
    }

    #[test]
    fn results_choose_the_rung_and_time_only_stops_between_rungs() {
        let [first, second, ..] = LADDER;
        let wanted = Wanted { within: 0.1, seconds: Some(60.0) };
        let at = |half, elapsed, next_takes| Standing { half, elapsed, next_takes };
        assert_eq!(
            second.next(wanted, at(Some(0.1), 900.0, 900.0)),
            Next::Answered,
            "an answer, in time or not"
        );
        assert_eq!(second.next(wanted, at(Some(0.11), 20.0, 40.0)), Next::Climb(LADDER[2]));
        assert_eq!(second.next(wanted, at(Some(0.11), 20.0, 41.0)), Next::OutOfTime(41.0));
        assert_eq!(
            first.next(wanted, at(None, 20.0, 1.0)),
            Next::Climb(second),
            "no answer without an interval"
        );
        let patient = Wanted { seconds: None, ..wanted };
        assert_eq!(first.next(patient, at(Some(f64::INFINITY), 1e9, 1e9)), Next::Climb(second));
        assert_eq!(LADDER[6].next(patient, at(Some(0.2), 1.0, 0.0)), Next::AtTop);
    }

    #[test]
    fn an_unknown_rung_is_refused() {
        assert_eq!(Rung::of_number(7).map(|rung| rung.acceleration.get()), Ok(1));
        assert!(Rung::of_number(8).unwrap_err().to_string().contains("rungs 1 to 7"));
    }
}
