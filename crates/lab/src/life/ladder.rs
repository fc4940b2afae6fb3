//! Ladder of lives. Each rung sets the windows of a life that are simulated ([`windows`]), and how
//! many lives are simulated. Higher rungs take more time, and the years are closer to the years of
//! exact lives.
//!
//! A climb ends at the first rung whose intervals are narrow enough, or when the work that a climb
//! may take is used up.
//!
//! ```text
//! rung             1    2    3    4     5      6      7
//! windows          4    6    6    8     8    all    all
//! cycles of each   8   15   15   40   120      -      -
//! warm-up        150  150  150  400  1000      -      -    (largest number of cycles)
//! lives            2    2    4    4     4      2      8
//! ```
//!
//! [`windows`]: super::windows

use vpass_drive::base::phrase::Opt;

use super::windows::Windows;
use crate::failure::Failure;

/// Rung of the ladder: the windows of a life, and how many lives are simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rung {
    /// Number of the rung. The lowest rung is 1.
    pub number: u32,
    /// Windows of the life that are simulated. `None` if every P/E cycle is simulated.
    pub windows: Option<Windows>,
    /// Number of lives of each technique. The lives differ in the sample of the drive or, if whole
    /// drives are simulated, in the seed.
    pub lives: u32,
}

const fn rung(number: u32, count: u32, cycles: u32, most_warm: u32, lives: u32) -> Rung {
    Rung { number, windows: Some(Windows { count, cycles, most_warm }), lives }
}

const fn exact(number: u32, lives: u32) -> Rung {
    Rung { number, windows: None, lives }
}

/// All rungs, from the rung with the fastest lives to the rung with exact lives.
pub const LADDER: [Rung; 7] = [
    rung(1, 4, 8, 150, 2),
    rung(2, 6, 15, 150, 2),
    rung(3, 6, 15, 150, 4),
    rung(4, 8, 40, 400, 4),
    rung(5, 8, 120, 1000, 4),
    exact(6, 2),
    exact(7, 8),
];

/// Work of a minute on two cores, in programmed pages (`work_of`). It was measured on two cores of
/// a cloud machine: a programmed page takes some 300 ns in the fluid gear.
const WORK_OF_MINUTE: f64 = 4e8;

/// Precision that the user wants, and work that the climb may take.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Largest half width of an interval that the user accepts, as a share of the years.
    pub within: f64,
    /// Largest work of the climb. Absent without a limit.
    pub work: Option<u64>,
}

/// Returns the work that a simulation may take in this number of minutes. The work is counted, so
/// the same command gives the same result on a slow or busy machine.
pub fn work_in(minutes: f64) -> u64 {
    (WORK_OF_MINUTE * minutes) as u64
}

/// State of a climb when the lives of a rung are finished.
#[derive(Clone, Copy)]
pub struct Standing<'a> {
    /// Half the width of the widest interval, as a share of the years. `None` if the interval of
    /// any technique is missing.
    pub half: Option<f64>,
    /// Whether wear had settled in all lives when windows began.
    pub has_settled: bool,
    /// Work that is left.
    pub left: Option<u64>,
    /// Function that returns the expected work of a rung.
    pub work_of: &'a dyn Fn(Rung) -> f64,
}

/// Decision after a finished rung: the climb goes on or ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// The climb goes on to this rung.
    Climb(Rung),
    /// The climb ends: the intervals are as narrow as wanted.
    Answered,
    /// The climb ends: the next rung would take more minutes than are left. It would take this
    /// number of minutes.
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

    /// Returns the decision after this rung. If wear has not settled, more lives with the same
    /// windows do not help: exact lives come next if they are affordable, and otherwise a rung
    /// with longer windows.
    pub fn next(self, wanted: Wanted, standing: Standing) -> Next {
        if standing.half.is_some_and(|half| half <= wanted.within) {
            return Next::Answered;
        }
        let above = LADDER.into_iter().filter(|other| other.number > self.number);
        let helps = |other: &Rung| standing.has_settled || other.windows != self.windows;
        let mut above: Vec<Rung> = above.filter(helps).collect();
        if !standing.has_settled {
            above.sort_by_key(|rung| rung.windows.is_some());
        }
        let Some(first) = above.first() else { return Next::AtTop };
        let work = |rung: &Rung| (standing.work_of)(*rung);
        let fits = |rung: &&Rung| standing.left.is_none_or(|left| work(rung) <= left as f64);
        let least = above.iter().map(work).fold(work(first), f64::min);
        above.iter().find(fits).map_or(Next::OutOfTime(least / WORK_OF_MINUTE), |r| Next::Climb(*r))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the cycles that a life of 3,000 cycles simulates on a rung, times its lives.
    fn cost(rung: Rung) -> f64 {
        let cycles = rung.windows.map_or(3000.0, |windows| 18.0 + windows.simulated());
        f64::from(rung.lives) * cycles
    }

    #[test]
    fn each_rung_takes_more_work_than_the_one_below() {
        for (below, above) in LADDER.into_iter().zip(&LADDER[1..]) {
            assert!(below.number + 1 == above.number && cost(below) < cost(*above));
        }
    }

    #[test]
    fn results_choose_the_rung_and_work_ends_the_climb() {
        let [first, second, ..] = LADDER;
        let wanted = Wanted { within: 0.1, work: Some(10_000) };
        let at = |half, has_settled, left| Standing {
            half,
            has_settled,
            left: Some(left),
            work_of: &cost,
        };
        assert_eq!(second.next(wanted, at(Some(0.1), true, 0)), Next::Answered);
        assert_eq!(first.next(wanted, at(Some(0.2), true, 9000)), Next::Climb(second));
        assert_eq!(first.next(wanted, at(None, false, 9000)), Next::Climb(LADDER[5]));
        assert_eq!(first.next(wanted, at(None, false, 2000)), Next::Climb(second));
        assert_eq!(second.next(wanted, at(None, false, 5000)), Next::Climb(LADDER[3]));
        let too_long = |next: Next| matches!(next, Next::OutOfTime(minutes) if minutes > 0.0);
        assert!(too_long(first.next(wanted, at(None, true, 10))));
        assert_eq!(LADDER[6].next(wanted, at(Some(0.2), true, 9000)), Next::AtTop);
        let free = Standing { left: None, ..at(Some(0.2), true, 0) };
        assert_eq!(LADDER[5].next(wanted, free), Next::Climb(LADDER[6]));
    }
}
