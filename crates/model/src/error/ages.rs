//! Ages of data in steps of a sixteenth of an octave, from an hour to eleven years. The steps are
//! coarse enough for a table, and fine enough that they overstate the effect of age only slightly.
//!
//! ```text
//! step   0                 1                     2          ...   265
//! age    below 1 h         1 h to 1.044 h        to 1.09 h        to 96,792 h and older
//! ```
//!
//! Data of step 0 has no age by definition. All data of a later step counts as old as the end of
//! that step. An effect that grows with t^0.54 is thus overstated by at most 2.4 %.

use libm::exp2;

use crate::base::span::HOUR;
use crate::base::units::Ns;

/// Number of steps.
pub const STEPS: usize = 266;
const STEPS_PER_OCTAVE: f64 = 16.0;

/// Steps, given by their ends.
#[derive(Clone, Debug)]
pub struct Ages {
    /// End of each step, which is the beginning of the next.
    ends: Vec<Ns>,
}

impl Default for Ages {
    fn default() -> Self {
        let end = |step: usize| (HOUR as f64 * exp2(step as f64 / STEPS_PER_OCTAVE)).round() as Ns;
        Self { ends: (0..STEPS).map(end).collect() }
    }
}

impl Ages {
    /// Returns the step of data of this age.
    pub fn step(&self, age: Ns) -> usize {
        self.ends.partition_point(|end| *end <= age).min(STEPS - 1)
    }

    /// Returns the age at which data enters a step.
    pub fn begin(&self, step: usize) -> Ns {
        if step == 0 { 0 } else { self.ends[step - 1] }
    }

    /// Returns the age that all data of a step counts as; `None` for step 0, which has no age.
    pub fn counts_as(&self, step: usize) -> Option<Ns> {
        if step == 0 { None } else { Some(self.ends[step]) }
    }
}
