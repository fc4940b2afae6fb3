//! The clock of a trace: ns since the first request, never backwards, going on over parts and
//! passes.

use vpass_core::base::units::{END_OF_TIME, Ns};

/// Where the trace's clocks meet the run's. Files that are merged are one part; parts follow each
/// other.
#[derive(Debug)]
pub(in crate::traces) struct TraceClock {
    speed: f64,
    /// The latest run time, at the trace's own speed, that is not after the end of time at either
    /// speed.
    end: Ns,
    /// Run time, at the trace's own speed, at which the current part begins.
    start: Ns,
    /// Run time of the latest row.
    last: Ns,
    rows: u64,
}

impl TraceClock {
    pub(in crate::traces) fn new(speed: f64) -> Self {
        // A number of hundreds of years is exact to minutes at least, and so is the end.
        let end = (END_OF_TIME as f64 * speed.min(1.0)) as Ns;
        Self { speed, end, start: 0, last: 0, rows: 0 }
    }

    /// Another part, or the same once more: it begins one mean gap after the latest row, since
    /// nothing says when it was.
    pub(in crate::traces) fn begin_part(&mut self) -> Result<(), &'static str> {
        if let Some(gaps) = self.rows.checked_sub(1) {
            let mean_gap = self.last.checked_div(gaps).unwrap_or(0);
            self.start = self
                .last
                .checked_add(mean_gap)
                .filter(|start| *start <= self.end)
                .ok_or(self.too_late())?;
        }
        Ok(())
    }

    /// Run time of a row so long after the part's beginning.
    #[inline]
    pub(in crate::traces) fn at(&self, since_beginning: Ns) -> Result<Ns, &'static str> {
        self.start.checked_add(since_beginning).filter(|at| *at <= self.end).ok_or(self.too_late())
    }

    /// Time since the part's beginning of a row with this run time.
    #[inline]
    pub(in crate::traces) fn since(&self, at: Ns) -> Ns {
        at - self.start
    }

    fn too_late(&self) -> &'static str {
        if self.speed < 1.0 { TOO_SLOW } else { TOO_LATE }
    }

    /// Hands out a row of this run time; gives its arrival, at the run's speed.
    #[inline]
    pub(in crate::traces) fn serve(&mut self, at: Ns) -> Ns {
        self.last = self.last.max(at);
        self.rows += 1;
        self.scaled(self.last)
    }

    /// Span of the rows so far, on the run's clock.
    pub(in crate::traces) fn span(&self) -> Ns {
        self.scaled(self.last)
    }

    #[inline]
    #[expect(clippy::float_cmp, reason = "exactly 1 is the default and keeps whole nanoseconds")]
    fn scaled(&self, at: Ns) -> Ns {
        if self.speed == 1.0 { at } else { (at as f64 / self.speed) as Ns }
    }
}

/// The clock of one file within its part.
#[derive(Debug)]
pub(in crate::traces) struct FileClock {
    /// The file's own time at which the part begins.
    origin_ns: u64,
    /// The latest row, since then.
    last: Ns,
}

impl FileClock {
    pub(in crate::traces) fn new(origin_ns: u64) -> Self {
        Self { origin_ns, last: 0 }
    }

    /// Time of a row since the part's beginning, and whether it came before an earlier one and was
    /// moved up to it.
    #[inline]
    pub(in crate::traces) fn arrive(&mut self, at_ns: u64) -> (Ns, bool) {
        let since = at_ns.saturating_sub(self.origin_ns);
        let clamped = since < self.last || at_ns < self.origin_ns;
        self.last = self.last.max(since);
        (self.last, clamped)
    }
}

const TOO_LATE: &str = "the time since the first request passes 2^62 ns, which is 146 years";
const TOO_SLOW: &str =
    "at this --speed the time since the first request passes 2^62 ns, which is 146 years";

#[cfg(test)]
mod tests {
    use super::*;

    fn times(clock: &mut TraceClock, rows: &[u64]) -> Vec<Ns> {
        let mut file = FileClock::new(rows[0]);
        rows.iter().map(|t| clock.serve(clock.at(file.arrive(*t).0).unwrap())).collect()
    }

    #[test]
    fn time_counts_from_the_first_row_and_never_falls() {
        let mut file = FileClock::new(1000);
        let arrived: Vec<_> =
            [1000, 1300, 900, 1200, 1400].into_iter().map(|t| file.arrive(t)).collect();
        assert_eq!(arrived, [(0, false), (300, false), (300, true), (300, true), (400, false)]);
    }

    #[test]
    fn the_next_pass_comes_one_mean_gap_later() {
        let mut clock = TraceClock::new(1.0);
        times(&mut clock, &[1000, 1100, 1600]);
        clock.begin_part().unwrap();
        // 600 ns over 2 gaps: 300.
        assert_eq!(times(&mut clock, &[1000, 1100, 1600]), [900, 1000, 1500]);
        clock.begin_part().unwrap();
        assert_eq!(times(&mut clock, &[5]), [1800]);
        assert_eq!(clock.span(), 1800);
    }

    #[test]
    fn one_row_has_no_gap_to_go_by() {
        let mut clock = TraceClock::new(1.0);
        times(&mut clock, &[7]);
        clock.begin_part().unwrap();
        assert_eq!(times(&mut clock, &[7]), [0]);
    }

    #[test]
    fn speed_divides_all_times() {
        let mut clock = TraceClock::new(2.0);
        assert_eq!(times(&mut clock, &[0, 1000, 3001]), [0, 500, 1500]);
    }

    #[test]
    fn the_end_of_time_is_an_error() {
        let mut clock = TraceClock::new(1.0);
        times(&mut clock, &[0, END_OF_TIME - 5]);
        assert_eq!(clock.begin_part(), Err(TOO_LATE));
        let mut clock = TraceClock::new(1.0);
        times(&mut clock, &[0, 100]);
        clock.begin_part().unwrap();
        assert_eq!(clock.at(u64::MAX), Err(TOO_LATE));
    }

    #[test]
    fn time_ends_at_the_speed_of_the_run() {
        // A quarter of the speed: four times as long. No factor above 1 makes a trace longer.
        let mut clock = TraceClock::new(0.25);
        assert_eq!(clock.at(END_OF_TIME / 4).map(|at| clock.serve(at)), Ok(END_OF_TIME));
        assert_eq!(clock.at(END_OF_TIME / 4 + 1), Err(TOO_SLOW));
        assert_eq!(TraceClock::new(4.0).at(END_OF_TIME), Ok(END_OF_TIME));
        assert_eq!(TraceClock::new(4.0).at(END_OF_TIME + 1), Err(TOO_LATE));
    }
}
