//! Doses in fixed point, in each scale that the drive uses. Each scale has only the arithmetic that
//! is valid for it.
//!
//! ```text
//! Quarters   1/4 dose unit     what counters count: a sensing deposits one or more
//! Reads      1 dose unit       what policies are asked at: one is one ordinary page read
//! Alpha      1/256             weight of a read beside a wordline; of one far away it is 1
//! Dose       1/1024 dose unit  what is compared with limits: Quarters x Alpha
//! ```

use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

use super::units::Reads;

const QUARTERS: u32 = 4;
const ALPHA_ONE: u32 = 256;
const DOSE_ONE: i64 = QUARTERS as i64 * ALPHA_ONE as i64;

/// Dose in quarters of a dose unit, as counters count it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Quarters(u32);

impl Quarters {
    /// Dose of 0.
    pub const ZERO: Self = Self(0);
    /// One dose unit.
    pub const UNIT: Self = Self(QUARTERS);
    /// Dose above the maximum of any counter.
    pub const MAX: Self = Self(u32::MAX);

    /// Creates a dose from a number of quarters.
    pub const fn from_count(count: u32) -> Self {
        Self(count)
    }

    /// Returns the number of quarters.
    pub const fn count(self) -> u32 {
        self.0
    }

    /// Creates a dose from dose units, rounded up.
    pub fn ceil(units: f64) -> Self {
        Self((units * f64::from(QUARTERS)).ceil() as u32)
    }

    /// Returns the dose in dose units.
    pub fn units(self) -> f64 {
        f64::from(self.0) / f64::from(QUARTERS)
    }

    /// Returns whole dose units, rounded up.
    #[inline]
    pub const fn whole_up(self) -> Reads {
        Reads(self.0.div_ceil(QUARTERS))
    }

    /// Returns whole dose units, rounded down.
    #[inline]
    pub const fn whole_down(self) -> Reads {
        Reads(self.0 / QUARTERS)
    }

    /// Returns the effect on a wordline that is not a neighbour.
    #[inline]
    pub fn far(self) -> Dose {
        self * Alpha::ONE
    }

    /// Returns the dose masked by `bits`: unchanged if all bits are set, and 0 if none is. Needs no
    /// branch.
    #[inline]
    #[must_use]
    pub const fn where_set(self, bits: u32) -> Self {
        Self(self.0 & bits)
    }

    /// Returns how many times this dose fits into another dose.
    pub const fn times_in(self, other: Self) -> u32 {
        other.0 / self.0
    }

    /// Returns the sum, at most [`Self::MAX`].
    #[inline]
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Returns the difference, at least 0.
    #[inline]
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Reads {
    /// Converts to quarters of a dose unit, at most [`Quarters::MAX`].
    #[inline]
    pub const fn quarters(self) -> Quarters {
        Quarters(self.0.saturating_mul(QUARTERS))
    }

    /// Returns the effect on a wordline that is not a neighbour.
    pub fn far(self) -> Dose {
        self * Alpha::ONE
    }
}

/// Weight of a read of a neighbouring wordline, in 1/256.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Alpha(u32);

impl Alpha {
    /// Weight of a read without effect.
    pub const ZERO: Self = Self(0);
    /// Weight of a read that is not on a neighbouring wordline.
    pub const ONE: Self = Self(ALPHA_ONE);

    /// Creates a weight from a number of 256ths.
    pub const fn of_256ths(count: u32) -> Self {
        Self(count)
    }

    /// Returns the number of 256ths.
    pub const fn in_256ths(self) -> u32 {
        self.0
    }

    /// Converts a weight to fixed point, rounded up.
    pub fn ceil(weight: f64) -> Self {
        Self((weight * f64::from(ALPHA_ONE)).ceil() as u32)
    }

    /// Rounds the weight down to a whole number.
    #[must_use]
    pub const fn floor(self) -> Self {
        Self(self.0 / ALPHA_ONE * ALPHA_ONE)
    }

    /// Returns the weight as a floating-point number.
    pub fn weight(self) -> f64 {
        f64::from(self.0) / f64::from(ALPHA_ONE)
    }
}

/// Limit, or dose that is compared with limits, in 1/1024 of a dose unit. A value below 0 is a
/// deficit: age alone exceeds a limit, or a budget is overdrawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Dose(i64);

impl Dose {
    /// Dose of 0.
    pub const ZERO: Self = Self(0);
    /// One dose unit.
    pub const UNIT: Self = Self(DOSE_ONE);
    /// Dose above any dose that reads can add.
    pub const MAX: Self = Self(i64::MAX);

    /// Creates a dose from a number of 1024ths of a dose unit.
    pub const fn of_1024ths(count: i64) -> Self {
        Self(count)
    }

    /// Returns the number of 1024ths of a dose unit.
    pub const fn in_1024ths(self) -> i64 {
        self.0
    }

    /// Creates a dose from dose units, rounded down.
    pub fn floor(units: f64) -> Self {
        Self((units * DOSE_ONE as f64).floor() as i64)
    }

    /// Creates a dose from dose units, rounded up.
    pub fn ceil(units: f64) -> Self {
        Self((units * DOSE_ONE as f64).ceil() as i64)
    }

    /// Returns the dose in dose units.
    pub fn units(self) -> f64 {
        self.0 as f64 / DOSE_ONE as f64
    }

    /// Returns a share of the dose, rounded down.
    #[must_use]
    pub fn share(self, share: f64) -> Self {
        Self((self.0 as f64 * share) as i64)
    }

    /// Multiplies the dose by a factor in 1/1024, rounded down. The dose must not be below 0. The
    /// product of a limit and the largest factor needs all 64 bits, so it is unsigned.
    #[inline]
    #[must_use]
    pub fn by_1024ths(self, factor: u64) -> Self {
        debug_assert!(self.0 >= 0, "{self:?} has no size");
        Self(((self.0.cast_unsigned() * factor) >> 10).cast_signed())
    }

    /// Returns how many times another dose fits into this dose.
    pub fn holds(self, other: Self) -> i64 {
        self.0 / other.0
    }

    /// Returns the largest number of whole reads of this weight that stay within the dose, at most
    /// `u32::MAX`. Returns 0 if the dose is below 0.
    #[inline]
    pub fn reads_beside(self, alpha: Alpha) -> Reads {
        let each = i64::from(alpha.0) * i64::from(QUARTERS);
        Reads((self.0.max(0) / each).min(u32::MAX.into()) as u32)
    }
}

macro_rules! sums {
    ($($scale:ident $number:ty),*) => {$(
        impl Add for $scale {
            type Output = Self;
            #[inline]
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }
        impl Sub for $scale {
            type Output = Self;
            #[inline]
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }
        impl AddAssign for $scale {
            #[inline]
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }
        impl SubAssign for $scale {
            #[inline]
            fn sub_assign(&mut self, other: Self) {
                self.0 -= other.0;
            }
        }
        impl Sum for $scale {
            fn sum<I: Iterator<Item = Self>>(of: I) -> Self {
                Self(of.map(|one| one.0).sum())
            }
        }
        impl Mul<u32> for $scale {
            type Output = Self;
            #[inline]
            #[allow(clippy::useless_conversion, reason = "one of the scales is wider")]
            fn mul(self, times: u32) -> Self {
                Self(self.0 * <$number>::from(times))
            }
        }
    )*};
}

sums!(Quarters u32, Alpha u32, Dose i64);

impl Mul<Alpha> for Quarters {
    type Output = Dose;
    /// Returns the effect on a neighbouring wordline.
    #[inline]
    fn mul(self, alpha: Alpha) -> Dose {
        Dose((u64::from(self.0) * u64::from(alpha.0)).cast_signed())
    }
}

impl Mul<Alpha> for Reads {
    type Output = Dose;
    /// Returns the effect of these reads on a neighbouring wordline.
    #[inline]
    fn mul(self, alpha: Alpha) -> Dose {
        Dose((u64::from(self.0) * u64::from(QUARTERS) * u64::from(alpha.0)).cast_signed())
    }
}

impl Div<Alpha> for Dose {
    type Output = Quarters;
    /// Returns the largest number of quarters on a neighbouring wordline that stays within this
    /// dose. It is at most [`Quarters::MAX`], and 0 if the dose is below 0.
    #[inline]
    fn div(self, alpha: Alpha) -> Quarters {
        Quarters((self.0.max(0) / i64::from(alpha.0)).min(u32::MAX.into()) as u32)
    }
}

impl Div<u32> for Dose {
    type Output = Self;
    /// Divides the dose into equal parts, and returns one part, rounded towards 0.
    #[inline]
    fn div(self, parts: u32) -> Self {
        Self(self.0 / i64::from(parts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_follow_from_each_other() {
        let alpha = Alpha::ceil(9.15);
        assert_eq!((alpha.in_256ths(), Alpha::floor(alpha)), (2343, Alpha::ONE * 9));
        assert_eq!(
            (Quarters::UNIT * alpha, Reads(1) * Alpha::ONE),
            (Dose::of_1024ths(4 * 2343), Dose::UNIT)
        );
        assert_eq!(
            (Dose::floor(2.5).in_1024ths(), Dose::UNIT.units(), Quarters::ceil(0.3).count()),
            (2560, 1.0, 2)
        );
        assert_eq!(
            (
                Quarters::from_count(5).whole_up(),
                Quarters::from_count(5).whole_down(),
                Reads(5).quarters()
            ),
            (Reads(2), Reads(1), Quarters::from_count(20))
        );
    }

    #[test]
    fn what_is_left_of_a_dose_is_rounded_down_and_never_below_nothing() {
        let alpha = Alpha::ONE * 9;
        let left = Reads(10) * alpha;
        assert_eq!((left / alpha, left.reads_beside(alpha)), (Quarters::from_count(40), Reads(10)));
        let less = left - Dose::of_1024ths(1);
        assert_eq!((less / alpha, less.reads_beside(alpha)), (Quarters::from_count(39), Reads(9)));
        assert_eq!(
            (Dose::of_1024ths(-1) / alpha, Dose::of_1024ths(-1).reads_beside(alpha)),
            (Quarters::ZERO, Reads(0))
        );
        assert_eq!(
            (Dose::MAX / alpha, Dose::MAX.reads_beside(alpha)),
            (Quarters::MAX, Reads(u32::MAX))
        );
        assert_eq!(
            (Reads::NEVER.quarters(), Reads::NEVER.far().units()),
            (Quarters::MAX, f64::from(u32::MAX))
        );
    }
}
