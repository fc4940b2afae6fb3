//! Ladder of lives. Each rung sets the acceleration of wear, and how many lives are simulated.
//! Higher rungs take more time, and the years are closer to the years of exact lives.
//!
//! On a rung, an erase counts as K P/E cycles after a warm-up. A climb ends at the first rung whose
//! intervals are narrow enough, or when the time is up.
//!
//! ```text
//! rung          1    2    3    4    5    6    7
//! K             100  30   30   10   10   3    1
//! lives         2    2    4    4    8    8    8
//! compared with -    1    1    3    3    5    6    (a lower rung)
//! ```

use std::num::NonZeroU32;

use vpass_drive::base::phrase::Opt;

use crate::failure::Failure;

/// Rung of the ladder: the acceleration of wear, and how many lives are simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rung {
    /// Number of the rung. The lowest rung is 1.
    pub number: u32,
    /// Number of P/E cycles for which an erase counts after the warm-up.
    pub acceleration: NonZeroU32,
    /// Number of lives of each technique. The lives differ in the sample of the drive or, if whole
    /// drives are simulated, in the seed.
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

/// All rungs, from the rung with the fastest lives to the rung with exact lives.
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
    /// Largest half width of an interval that the user accepts, as a share of the years.
    pub within: f64,
    /// Longest time of the climb, in seconds. Absent without a limit.
    pub seconds: Option<f64>,
}

/// State of a climb when the lives of a rung are finished.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    /// Half the width of the widest interval, as a share of the years. `None` if the interval of
    /// any technique is missing.
    pub half: Option<f64>,
    /// Number of seconds since the climb began.
    pub elapsed: f64,
    /// Expected number of seconds for the next rung.
    pub next_takes: f64,
}

/// Decision after a finished rung: the climb goes on or ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// The climb goes on to the next rung.
    Climb(Rung),
    /// The climb ends: the intervals are as narrow as wanted.
    Answered,
    /// The climb ends: not enough time is left for the next rung, which would take this many
    /// seconds.
    OutOfTime(f64),
    /// The climb ends: there is no higher rung.
    AtTop,
}

impl Rung {
    /// Returns the rung with this number.
    ///
    /// # Errors
    /// Returns an error if no rung has this number.
    pub fn of_number(number: u32) -> Result<Self, Failure> {
        let found = LADDER.into_iter().find(|rung| rung.number == number);
        found.ok_or_else(|| {
            Failure::usage(format!("a rung from 1 to {} is expected", LADDER.len()))
                .at(Opt::Rung.to(number))
        })
    }

    /// Returns the nearest lower rung with a larger acceleration. A comparison of the two rungs
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

    /// Returns the decision after this rung.
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
        assert!(
            Rung::of_number(8).unwrap_err().to_string().contains("a rung from 1 to 7 is expected")
        );
    }
}
