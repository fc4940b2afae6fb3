//! Records the times of a trace's requests: the span of the trace, backward steps of its clock, and
//! the load over time.
//!
//! The load is counted in time steps of equal length. The length of the trace is known only at its
//! end, so a step lasts 1 ns at first. When more steps are needed than can be kept, neighbouring
//! steps are merged in pairs.

use vpass_drive::base::request::Op;

/// Number of time steps that are kept. Reports show far fewer steps, so merging hardly changes a
/// report.
const STEPS: usize = 1024;

/// Numbers of page accesses in one step of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Number of page reads in the step.
    pub reads: u64,
    /// Number of page writes in the step.
    pub writes: u64,
}

/// Clock of a trace, and the load of the trace over time.
#[derive(Debug, Default)]
pub struct Timeline {
    /// Time of the first row of the trace, from which time steps are counted.
    first: Option<u64>,
    earliest: u64,
    latest: u64,
    late_rows: u64,
    longest_step_back: u64,
    /// Binary logarithm of the length of a time step in ns.
    shift: u32,
    steps: Vec<Step>,
}

impl Timeline {
    pub(super) fn add(&mut self, at_ns: u64, op: Op, pages: u64) {
        let first = *self.first.get_or_insert_with(|| {
            (self.earliest, self.latest) = (at_ns, at_ns);
            at_ns
        });
        self.earliest = self.earliest.min(at_ns);
        self.latest = self.latest.max(at_ns);
        self.late_rows += u64::from(at_ns < self.latest);
        self.longest_step_back = self.longest_step_back.max(self.latest - at_ns);
        // A row that is earlier than the first row is counted in the first step.
        let since = at_ns.saturating_sub(first);
        while since >> self.shift >= STEPS as u64 {
            self.pair_up();
        }
        let step = (since >> self.shift) as usize;
        if self.steps.len() <= step {
            self.steps.resize(step + 1, Step::default());
        }
        match op {
            Op::Read => self.steps[step].reads += pages,
            Op::Write => self.steps[step].writes += pages,
            Op::Trim => {}
        }
    }

    fn pair_up(&mut self) {
        self.steps = grouped(&self.steps, 2);
        self.shift += 1;
    }

    /// Returns the time of the first row of the trace in ns, according to the trace's clock.
    pub fn first_ns(&self) -> u64 {
        self.first.unwrap_or(0)
    }

    /// Returns the time of the earliest row of the trace in ns, according to the trace's clock.
    pub fn earliest_ns(&self) -> u64 {
        self.earliest
    }

    /// Returns the time of the latest row of the trace in ns, according to the trace's clock.
    pub fn latest_ns(&self) -> u64 {
        self.latest
    }

    /// Returns the time from the earliest to the latest row of the trace, in ns.
    pub fn span_ns(&self) -> u64 {
        self.latest - self.earliest
    }

    /// Returns the number of rows that are earlier than a row before them. A replay moves these
    /// rows.
    pub fn late_rows(&self) -> u64 {
        self.late_rows
    }

    /// Returns the longest time from a row back to a later row of the file, in ns.
    pub fn longest_step_back_ns(&self) -> u64 {
        self.longest_step_back
    }

    /// Returns the load in at most `most` time steps of equal length. Also returns the length of a
    /// step in ns. The last step may end later than the trace.
    pub fn steps(&self, most: usize) -> (u64, Vec<Step>) {
        let together = self.steps.len().div_ceil(most).max(1);
        ((together as u64) << self.shift, grouped(&self.steps, together))
    }
}

/// Merges every `together` neighbouring time steps into one step.
fn grouped(steps: &[Step], together: usize) -> Vec<Step> {
    let sum = |some: &[Step]| {
        some.iter().fold(Step::default(), |sum, s| Step {
            reads: sum.reads + s.reads,
            writes: sum.writes + s.writes,
        })
    };
    steps.chunks(together).map(sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_paired_up_as_time_goes_on() {
        let mut timeline = Timeline::default();
        timeline.add(5_000_000, Op::Read, 3);
        timeline.add(5_000_001, Op::Write, 2);
        timeline.add(5_001_023, Op::Trim, 9);
        assert_eq!(timeline.steps(STEPS).0, 1);
        timeline.add(5_004_000, Op::Read, 1);
        // A span of 4,000 ns needs steps of 4 ns.
        let (length, steps) = timeline.steps(STEPS);
        assert_eq!((length, steps.len()), (4, 1001));
        assert_eq!(
            (steps[0], steps[1000]),
            (Step { reads: 3, writes: 2 }, Step { reads: 1, writes: 0 })
        );
        let (length, steps) = timeline.steps(64);
        assert_eq!((length, steps.len()), (64, 63));
        assert_eq!(steps[62], Step { reads: 1, writes: 0 });
        assert_eq!(
            (timeline.first_ns(), timeline.span_ns(), timeline.late_rows()),
            (5_000_000, 4_000, 0)
        );
    }

    #[test]
    fn a_clock_that_steps_back_is_noticed() {
        let mut timeline = Timeline::default();
        for at in [100, 400, 250, 300, 40] {
            timeline.add(at, Op::Read, 1);
        }
        assert_eq!(
            (timeline.span_ns(), timeline.late_rows(), timeline.longest_step_back_ns()),
            (360, 3, 360)
        );
        assert_eq!((timeline.earliest_ns(), timeline.latest_ns()), (40, 400));
        assert_eq!(timeline.steps(STEPS).1[0].reads, 2);
    }

    #[test]
    fn the_longest_time_fits() {
        let mut timeline = Timeline::default();
        timeline.add(0, Op::Read, 1);
        timeline.add(u64::MAX, Op::Read, 1);
        assert_eq!(timeline.steps(STEPS).1.len(), STEPS);
        assert_eq!(timeline.span_ns(), u64::MAX);
    }
}
