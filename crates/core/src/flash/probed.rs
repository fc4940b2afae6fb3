//! What a probe says of a wordline.

use crate::base::dose::Dose;
use crate::base::units::WordlineInBlock;

/// What a probe found: the errors of a wordline over those that can be corrected. In this model
/// that is its dose over its limit, exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probed {
    /// The wordline, numbered within its block.
    pub wordline: WordlineInBlock,
    /// In the same unit; only their ratio is known.
    pub(crate) dose: Dose,
    pub(crate) limit: Dose,
}

impl Probed {
    /// What is left of this limit when the share that was found is used up, rounded down; below
    /// nothing where data is lost.
    pub fn left_of(&self, limit: Dose) -> Dose {
        let wide = |dose: Dose| u128::from(dose.in_1024ths().cast_unsigned());
        let used = (wide(self.dose) * wide(limit)).div_ceil(wide(self.limit).max(1));
        limit - Dose::of_1024ths(used as i64)
    }
}
