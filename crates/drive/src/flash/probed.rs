//! Result of a probe of a wordline.

use crate::base::dose::Dose;
use crate::base::units::WordlineInBlock;

/// Result of a probe: the ratio of the errors of a wordline to those that can be corrected. In this
/// model, it is exactly the ratio of its dose to its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probed {
    /// The wordline, numbered within its block.
    pub wordline: WordlineInBlock,
    /// Dose of the wordline, in the unit of `limit`. Only the ratio of dose and limit is known.
    pub(crate) dose: Dose,
    pub(crate) limit: Dose,
}

impl Probed {
    /// Returns the remaining part of a limit if the measured share of the limit is used up, rounded
    /// down. The result is negative if data is lost.
    pub fn left_of(&self, limit: Dose) -> Dose {
        let wide = |dose: Dose| u128::from(dose.in_1024ths().cast_unsigned());
        let used = (wide(self.dose) * wide(limit)).div_ceil(wide(self.limit).max(1));
        limit - Dose::of_1024ths(used as i64)
    }
}
