//! Clock of a trace, in ns. The clock begins at the first request and never runs backwards. When a
//! new part or pass of the trace begins, the clock continues.

use vpass_drive::base::phrase::{Opt, Phrase};
use vpass_drive::base::units::{END_OF_TIME, Ns};
use vpass_drive::phrase;

use crate::traces::rows::oddities::Recordings;

/// Converts times in the trace files to times of the run. A trace consists of parts that follow
/// each other. Several files that are merged by time form one part.
#[derive(Debug)]
pub(in crate::traces) struct TraceClock {
    speed: f64,
    /// Latest valid time, at the recorded speed. The time is at most [`END_OF_TIME`], at the
    /// recorded speed as well as at the replay speed.
    end: Ns,
    /// Time at which the current part starts, at the recorded speed.
    start: Ns,
    /// Time of the row that was handed out last, at the recorded speed.
    last: Ns,
    rows: u64,
}

impl TraceClock {
    pub(in crate::traces) fn new(speed: f64) -> Self {
        // The conversion to f64 rounds a time of some hundred years by less than a minute.
        let end = (END_OF_TIME as f64 * speed.min(1.0)) as Ns;
        Self { speed, end, start: 0, last: 0, rows: 0 }
    }

    /// Begins another part or another pass of the trace. The real gap before the new part is
    /// unknown. The clock uses the mean gap between rows instead.
    pub(in crate::traces) fn begin_part(&mut self) -> Result<(), TooLate> {
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

    /// Returns the time of a row since the start of the run, at the recorded speed. `since_start`
    /// is the time of the row, counted from the start of its part of the trace.
    #[inline]
    pub(in crate::traces) fn at(&self, since_start: Ns) -> Result<Ns, TooLate> {
        self.start.checked_add(since_start).filter(|at| *at <= self.end).ok_or(self.too_late())
    }

    fn too_late(&self) -> TooLate {
        if self.speed < 1.0 { TooLate::AtThisSpeed } else { TooLate::AtAnySpeed }
    }

    /// Records a row at time `at`, which is given at the recorded speed. Returns the arrival time
    /// of the row at the replay speed.
    #[inline]
    pub(in crate::traces) fn serve(&mut self, at: Ns) -> Ns {
        self.last = self.last.max(at);
        self.rows += 1;
        self.scaled(self.last)
    }

    /// Returns the time from the first to the last row so far, at the replay speed.
    pub(in crate::traces) fn span(&self) -> Ns {
        self.scaled(self.last)
    }

    /// Returns a time at the replay speed. `at` is the time at the recorded speed.
    #[inline]
    #[expect(clippy::float_cmp, reason = "exactly 1 is the default and keeps whole nanoseconds")]
    pub(in crate::traces) fn scaled(&self, at: Ns) -> Ns {
        if self.speed == 1.0 { at } else { (at as f64 / self.speed) as Ns }
    }
}

/// Converts the times in one trace file. The results are counted from the start of the part of the
/// trace that contains the file.
#[derive(Debug)]
pub(in crate::traces) struct FileClock {
    /// Time on the file's own clock at which the part of the trace begins.
    origin_ns: u64,
    /// Time at which the present recording of the file begins, since the start of the part.
    start: Ns,
    /// Time of the row that was read last, since the start of the part.
    last: Ns,
    rows: u64,
    /// Recordings that follow each other. `None` if a restart of the clock counts as disorder.
    recordings: Option<Recordings>,
}

impl FileClock {
    /// Makes a clock. With `joins`, if the file's clock starts again, time continues one mean gap
    /// later.
    pub(in crate::traces) fn new(origin_ns: u64, joins: bool) -> Self {
        let recordings = joins.then(Recordings::default);
        Self { origin_ns, start: 0, last: 0, rows: 0, recordings }
    }

    /// Returns the time from the start of the part to a row. Also returns whether the row was
    /// earlier than the previous row. Such a row gets the time of the previous row.
    #[inline]
    pub(in crate::traces) fn arrive(&mut self, at_ns: u64) -> (Ns, bool) {
        if self.recordings.as_mut().is_some_and(|recordings| recordings.restarts_at(at_ns)) {
            let mean_gap = self.last.checked_div(self.rows - 1).unwrap_or(0);
            (self.origin_ns, self.start) = (at_ns, self.last.saturating_add(mean_gap));
        }
        self.rows += 1;
        let since = self.start.saturating_add(at_ns.saturating_sub(self.origin_ns));
        let clamped = since < self.last || at_ns < self.origin_ns;
        self.last = self.last.max(since);
        (self.last, clamped)
    }
}

/// Reason why a request would arrive after the latest time that vpass supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::traces) enum TooLate {
    /// The trace is too long at every speed.
    AtAnySpeed,
    /// The trace is too long at the replay speed, which is below the recorded speed.
    AtThisSpeed,
}

impl From<TooLate> for Phrase {
    fn from(late: TooLate) -> Self {
        let sentence = "the time since the first request exceeds 2^62 ns, which is 146 years";
        match late {
            TooLate::AtAnySpeed => sentence.into(),
            TooLate::AtThisSpeed => phrase!["at this ", Opt::Speed, " {sentence}"],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(clock: &mut TraceClock, rows: &[u64]) -> Vec<Ns> {
        let mut file = FileClock::new(rows[0], false);
        rows.iter().map(|t| clock.serve(clock.at(file.arrive(*t).0).unwrap())).collect()
    }

    #[test]
    fn time_counts_from_the_first_row_and_never_falls() {
        let mut file = FileClock::new(1000, false);
        let arrived: Vec<_> =
            [1000, 1300, 900, 1200, 1400].into_iter().map(|t| file.arrive(t)).collect();
        assert_eq!(arrived, [(0, false), (300, false), (300, true), (300, true), (400, false)]);
    }

    #[test]
    fn joined_recordings_follow_one_mean_gap_later() {
        let second = 1_000_000_000;
        let mut file = FileClock::new(5 * second, true);
        let rows = [5, 6, 9, 5, 6, 2].map(|s| file.arrive(s * second));
        // Three rows have two gaps of together 4 s, so the second recording begins at 6 s. Five
        // rows end at 7 s, so the third recording begins 1.75 s later.
        let expected = [0, 1000, 4000, 6000, 7000, 8750].map(|ms| (ms * 1_000_000, false));
        assert_eq!(rows, expected);
    }

    #[test]
    fn one_row_has_no_gap() {
        let mut clock = TraceClock::new(1.0);
        times(&mut clock, &[7]);
        clock.begin_part().unwrap();
        assert_eq!(times(&mut clock, &[7]), [0]);
    }

    #[test]
    fn the_end_of_time_is_an_error() {
        let mut clock = TraceClock::new(1.0);
        times(&mut clock, &[0, END_OF_TIME - 5]);
        assert_eq!(clock.begin_part(), Err(TooLate::AtAnySpeed));
        let mut clock = TraceClock::new(1.0);
        times(&mut clock, &[0, 100]);
        clock.begin_part().unwrap();
        assert_eq!(clock.at(u64::MAX), Err(TooLate::AtAnySpeed));
    }

    #[test]
    fn time_ends_at_the_speed_of_the_run() {
        // A trace that is replayed at a quarter of its speed takes four times as long. A speed
        // above 1 makes a trace shorter.
        let mut clock = TraceClock::new(0.25);
        assert_eq!(clock.at(END_OF_TIME / 4).map(|at| clock.serve(at)), Ok(END_OF_TIME));
        assert_eq!(clock.at(END_OF_TIME / 4 + 1), Err(TooLate::AtThisSpeed));
        assert_eq!(TraceClock::new(4.0).at(END_OF_TIME), Ok(END_OF_TIME));
        assert_eq!(TraceClock::new(4.0).at(END_OF_TIME + 1), Err(TooLate::AtAnySpeed));
    }
}
