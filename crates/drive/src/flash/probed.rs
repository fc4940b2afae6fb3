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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_rounded_down() {
        let of = Dose::of_1024ths;
        let left = |dose, limit| {
            Probed { wordline: WordlineInBlock::FIRST, dose: of(dose), limit: of(limit) }
                .left_of(of(1000))
                .in_1024ths()
        };
        assert_eq!([left(0, 3), left(1, 3), left(3, 3), left(4, 3)], [1000, 666, 0, -334]);
        // The true limit of the wordline is twice the limit that a policy assumes. When half of the
        // true limit is left, a probe reports that half of the assumed limit is left.
        assert_eq!(left(1000, 2000), 500);
    }
}
