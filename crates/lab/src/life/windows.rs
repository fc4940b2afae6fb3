//! Windows of a life. After the warm-up, vpass simulates only some windows of the life. Each window
//! stands for an equal part of the P/E cycles that are left (a stratum), and lies in its middle.
//!
//! Between two windows, the drive skips P/E cycles ([`Drive::skip_cycles`]). Limits fall as if the
//! cycles had passed. The contents of the drive and the erase counts of its blocks stay. So wear
//! levelling and GC go on as in a life without gaps. The first cycles after a skip are simulated
//! but do not count, because blocks take skipped cycles over at their next erase.
//!
//! ```text
//! 40 cycles of warm-up, then four windows of 20 cycles, up to 3,000 rated cycles
//! a stratum has 740 cycles: from 40 to 780, to 1,520, to 2,260 and to 3,000
//! the first window reaches from 400 to 420 cycles, and each of its cycles stands for 37
//! ```
//!
//! [`Drive::skip_cycles`]: vpass_drive::drive::Drive::skip_cycles

use serde::{Deserialize, Serialize};

/// Number of P/E cycles after a skip that do not count. In this time, nearly all blocks that are
/// in use have taken the skipped cycles over.
const BETWEEN: f64 = 2.0;
/// Fewest P/E cycles of a window. Shorter windows would mostly show the gaps between single erases.
const FEWEST: f64 = 2.0;

/// Number and length of the windows of a life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    /// Number of windows.
    pub count: u32,
    /// P/E cycles of a window.
    pub cycles: u32,
    /// Largest number of P/E cycles of the warm-up.
    pub most_warm: u32,
}

impl Windows {
    /// Returns the number of P/E cycles that a life with these windows simulates after its warm-up.
    pub(super) fn simulated(self) -> f64 {
        f64::from(self.count) * (f64::from(self.cycles) + BETWEEN)
    }
}

/// Years that the two halves of a window stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Halves {
    /// Years of the first half.
    pub first: f64,
    /// Years of the second half.
    pub second: f64,
    /// Part of the stratum's P/E cycles that the window simulates.
    pub part: f64,
}

impl Halves {
    /// Returns the years that the window stands for.
    pub fn years(&self) -> f64 {
        self.first + self.second
    }
}

/// Strata of a life, and the P/E cycles at which their windows lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strata {
    begin: f64,
    cycles_of_each: f64,
    cycles_of_window: f64,
    count: u32,
}

impl Strata {
    /// Divides the cycles from `begin` to `rated` into strata. `affordable` is the number of
    /// cycles that may be simulated. Windows become shorter if they would simulate more cycles.
    /// Returns `None` if windows would save no cycles, or if they would become too short.
    pub(super) fn new(
        windows: Windows,
        (begin, rated): (f64, f64),
        affordable: f64,
    ) -> Option<Self> {
        let count = f64::from(windows.count);
        let cycles_of_each = (rated - begin) / count;
        let cycles_of_window = f64::from(windows.cycles).min(affordable / count - BETWEEN);
        let saves = cycles_of_window + 2.0 * BETWEEN < cycles_of_each;
        (saves && cycles_of_window >= FEWEST).then_some(Self {
            begin,
            cycles_of_each,
            cycles_of_window,
            count: windows.count,
        })
    }

    /// Returns the P/E cycles at the start of stratum `n`, or at the end of the last stratum.
    pub(super) fn begins(&self, n: u32) -> f64 {
        self.begin + f64::from(n) * self.cycles_of_each
    }

    /// Returns the P/E cycles to which the drive skips before the window of a stratum.
    pub(super) fn skips_to(&self, n: u32) -> f64 {
        self.begins(n) + (self.cycles_of_each - self.cycles_of_window) / 2.0 - BETWEEN
    }

    /// Returns the P/E cycles at the start of the window of a stratum, after a skip to `from`.
    pub(super) fn window_begins(from: f64) -> f64 {
        from + BETWEEN
    }

    /// Returns the number of P/E cycles of a window.
    pub(super) fn cycles_of_window(&self) -> f64 {
        self.cycles_of_window
    }

    /// Returns how many cycles a simulated cycle of a window stands for. `simulated` is the number
    /// of cycles of the window.
    pub(super) fn weight(&self, simulated: f64) -> f64 {
        self.cycles_of_each / simulated
    }

    /// Returns whether stratum `n` is beyond the last one.
    pub(super) fn is_over(&self, n: u32) -> bool {
        n >= self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOWS: Windows = Windows { count: 4, cycles: 20, most_warm: 40 };

    #[test]
    fn worked_example() {
        let strata = Strata::new(WINDOWS, (40.0, 3000.0), f64::INFINITY).unwrap();
        let off = |(n, begins): (u32, f64)| (strata.begins(n) - begins).abs();
        assert!([(0, 40.0), (1, 780.0), (4, 3000.0)].map(off).iter().all(|off| *off < 1e-9));
        assert!((Strata::window_begins(strata.skips_to(0)) - 400.0).abs() < 1e-9);
        assert!((strata.weight(20.0) - 37.0).abs() < 1e-9);
        assert!(!strata.is_over(3) && strata.is_over(4));
    }

    #[test]
    fn windows_shrink_to_what_is_affordable_and_vanish_if_they_save_nothing() {
        let of = |rated, affordable| Strata::new(WINDOWS, (40.0, rated), affordable);
        assert!((of(3000.0, 48.0).unwrap().cycles_of_window() - 10.0).abs() < 1e-9);
        assert!(of(3000.0, 15.0).is_none(), "windows of less than two cycles");
        assert!(of(130.0, f64::INFINITY).is_none(), "four windows of 20 of 90 cycles");
    }
}
