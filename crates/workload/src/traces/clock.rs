//! The clock of a trace: ns since the first request, never backwards, going on over files and passes.

use vpass_core::units::Ns;

/// Where the trace's clocks meet the run's.
#[derive(Debug)]
pub(super) struct Clock {
    speed: f64,
    /// Run time, at the trace's own speed, of the current file's first row.
    start: Ns,
    /// The trace's clock at the current file's first row; none before it.
    base: Option<u64>,
    /// Run time of the latest row.
    last: Ns,
    rows: u64,
}

/// An arrival on the run's clock.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Arrived {
    pub(super) at: Ns,
    /// The row came before an earlier one and was moved up to it.
    pub(super) clamped: bool,
}

impl Clock {
    pub(super) fn new(speed: f64) -> Self {
        Self { speed, start: 0, base: None, last: 0, rows: 0 }
    }

    /// Another file, or the same once more: its first row comes one mean gap after the latest row, since nothing says when it was.
    pub(super) fn begin_file(&mut self) -> Result<(), &'static str> {
        if let Some(gaps) = self.rows.checked_sub(1) {
            let mean_gap = self.last.checked_div(gaps).unwrap_or(0);
            self.start = self.last.checked_add(mean_gap).ok_or(TOO_LATE)?;
        }
        self.base = None;
        Ok(())
    }

    /// The arrival of a row with this time on the trace's clock.
    #[inline]
    pub(super) fn arrive(&mut self, at_ns: u64) -> Result<Arrived, &'static str> {
        let base = *self.base.get_or_insert(at_ns);
        let at = self.start.checked_add(at_ns.saturating_sub(base)).ok_or(TOO_LATE)?;
        let clamped = at < self.last || at_ns < base;
        self.last = self.last.max(at);
        self.rows += 1;
        Ok(Arrived { at: self.scaled(self.last), clamped })
    }

    /// Span of the rows so far, on the run's clock.
    pub(super) fn span(&self) -> Ns {
        self.scaled(self.last)
    }

    #[inline]
    #[expect(clippy::float_cmp, reason = "exactly 1 is the default and keeps whole nanoseconds")]
    fn scaled(&self, at: Ns) -> Ns {
        if self.speed == 1.0 { at } else { (at as f64 / self.speed) as Ns }
    }
}

const TOO_LATE: &str = "the time since the first request passes 2^64 ns, which is 584 years";

#[cfg(test)]
mod tests {
    use super::*;

    fn times(clock: &mut Clock, rows: &[u64]) -> Vec<(Ns, bool)> {
        rows.iter().map(|t| clock.arrive(*t).map(|a| (a.at, a.clamped)).unwrap()).collect()
    }

    #[test]
    fn time_counts_from_the_first_row_and_never_falls() {
        let mut clock = Clock::new(1.0);
        assert_eq!(times(&mut clock, &[1000, 1300, 900, 1200, 1400]), [(0, false), (300, false), (300, true), (300, true), (400, false)]);
    }

    #[test]
    fn the_next_pass_comes_one_mean_gap_later() {
        let mut clock = Clock::new(1.0);
        times(&mut clock, &[1000, 1100, 1600]);
        clock.begin_file().unwrap();
        // 600 ns over 2 gaps: 300.
        assert_eq!(times(&mut clock, &[1000, 1100, 1600]), [(900, false), (1000, false), (1500, false)]);
        clock.begin_file().unwrap();
        assert_eq!(times(&mut clock, &[5]), [(1800, false)]);
        assert_eq!(clock.span(), 1800);
    }

    #[test]
    fn one_row_has_no_gap_to_go_by() {
        let mut clock = Clock::new(1.0);
        times(&mut clock, &[7]);
        clock.begin_file().unwrap();
        assert_eq!(times(&mut clock, &[7]), [(0, false)]);
    }

    #[test]
    fn speed_divides_all_times() {
        let mut clock = Clock::new(2.0);
        assert_eq!(times(&mut clock, &[0, 1000, 3001]), [(0, false), (500, false), (1500, false)]);
    }

    #[test]
    fn the_end_of_time_is_an_error() {
        let mut clock = Clock::new(1.0);
        times(&mut clock, &[0, u64::MAX - 5]);
        assert_eq!(clock.begin_file(), Err(TOO_LATE));
        let mut clock = Clock::new(1.0);
        times(&mut clock, &[0, 100]);
        clock.begin_file().unwrap();
        times(&mut clock, &[0]);
        assert_eq!(clock.arrive(u64::MAX), Err(TOO_LATE));
    }
}
