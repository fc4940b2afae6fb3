//! Doses in the scales that they are kept in, all in fixed point, with the arithmetic that is
//! allowed.
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

/// A dose as counters have it, in quarters of a dose unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Quarters(u32);

impl Quarters {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// One dose unit.
    pub const UNIT: Self = Self(QUARTERS);
    /// More than any counter reaches.
    pub const MAX: Self = Self(u32::MAX);

    /// So many quarters.
    pub const fn from_count(count: u32) -> Self {
        Self(count)
    }

    /// How many quarters.
    pub const fn count(self) -> u32 {
        self.0
    }

    /// Quarters in so many dose units, rounded up.
    pub fn ceil(units: f64) -> Self {
        Self((units * f64::from(QUARTERS)).ceil() as u32)
    }

    /// In dose units.
    pub fn units(self) -> f64 {
        f64::from(self.0) / f64::from(QUARTERS)
    }

    /// Whole dose units, rounded up.
    #[inline]
    pub const fn whole_up(self) -> Reads {
        Reads(self.0.div_ceil(QUARTERS))
    }

    /// Whole dose units, rounded down.
    #[inline]
    pub const fn whole_down(self) -> Reads {
        Reads(self.0 / QUARTERS)
    }

    /// What it does to a wordline far away.
    #[inline]
    pub fn far(self) -> Dose {
        self * Alpha::ONE
    }

    /// It, where all bits of this are set, and nothing where none is; without a branch.
    #[inline]
    #[must_use]
    pub const fn where_set(self, bits: u32) -> Self {
        Self(self.0 & bits)
    }

    /// How many times it goes into another.
    pub const fn times_in(self, other: Self) -> u32 {
        other.0 / self.0
    }

    /// The sum, or [`Self::MAX`] where that is less.
    #[inline]
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference, or nothing where that would be less.
    #[inline]
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Reads {
    /// In quarters of a dose unit; [`Quarters::MAX`] where that is less.
    #[inline]
    pub const fn quarters(self) -> Quarters {
        Quarters(self.0.saturating_mul(QUARTERS))
    }

    /// What they do to a wordline far away.
    pub fn far(self) -> Dose {
        self * Alpha::ONE
    }
}

/// Weight of a read beside a wordline, in 1/256.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Alpha(u32);

impl Alpha {
    /// That of a read which does nothing.
    pub const ZERO: Self = Self(0);
    /// That of a read far away.
    pub const ONE: Self = Self(ALPHA_ONE);

    /// So many 256ths.
    pub const fn of_256ths(count: u32) -> Self {
        Self(count)
    }

    /// How many 256ths.
    pub const fn in_256ths(self) -> u32 {
        self.0
    }

    /// In fixed point, rounded up.
    pub fn ceil(weight: f64) -> Self {
        Self((weight * f64::from(ALPHA_ONE)).ceil() as u32)
    }

    /// Rounded down to a whole number.
    #[must_use]
    pub const fn floor(self) -> Self {
        Self(self.0 / ALPHA_ONE * ALPHA_ONE)
    }

    /// As a number.
    pub fn weight(self) -> f64 {
        f64::from(self.0) / f64::from(ALPHA_ONE)
    }
}

/// A dose as it is compared with limits, and limits themselves, in 1/1024 of a dose unit. Below 0
/// it is what is missing: where age alone takes more than a limit, or a budget is used up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Dose(i64);

impl Dose {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// One dose unit.
    pub const UNIT: Self = Self(DOSE_ONE);
    /// More than anything deposits.
    pub const MAX: Self = Self(i64::MAX);

    /// So many 1024ths of a dose unit.
    pub const fn of_1024ths(count: i64) -> Self {
        Self(count)
    }

    /// How many 1024ths of a dose unit.
    pub const fn in_1024ths(self) -> i64 {
        self.0
    }

    /// So many dose units, rounded down.
    pub fn floor(units: f64) -> Self {
        Self((units * DOSE_ONE as f64).floor() as i64)
    }

    /// So many dose units, rounded up.
    pub fn ceil(units: f64) -> Self {
        Self((units * DOSE_ONE as f64).ceil() as i64)
    }

    /// In dose units.
    pub fn units(self) -> f64 {
        self.0 as f64 / DOSE_ONE as f64
    }

    /// A share of it, rounded down.
    #[must_use]
    pub fn share(self, share: f64) -> Self {
        Self((self.0 as f64 * share) as i64)
    }

    /// Times a factor in 1/1024, rounded down; of what is not below 0. Unsigned, for a limit times
    /// the largest factor needs all of 64 bits.
    #[inline]
    #[must_use]
    pub fn by_1024ths(self, factor: u64) -> Self {
        debug_assert!(self.0 >= 0, "{self:?} has no size");
        Self(((self.0.cast_unsigned() * factor) >> 10).cast_signed())
    }

    /// How many times it holds another.
    pub fn holds(self, other: Self) -> i64 {
        self.0 / other.0
    }

    /// Whole reads with this weight that come to no more than it; at most `u32::MAX`. Nothing where
    /// it is below 0.
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
    /// What so much does to a wordline beside.
    #[inline]
    fn mul(self, alpha: Alpha) -> Dose {
        Dose((u64::from(self.0) * u64::from(alpha.0)).cast_signed())
    }
}

impl Mul<Alpha> for Reads {
    type Output = Dose;
    /// What so many reads do to a wordline beside.
    #[inline]
    fn mul(self, alpha: Alpha) -> Dose {
        Dose((u64::from(self.0) * u64::from(QUARTERS) * u64::from(alpha.0)).cast_signed())
    }
}

impl Div<Alpha> for Dose {
    type Output = Quarters;
    /// Quarters of dose beside a wordline that come to no more than this: at most
    /// [`Quarters::MAX`], and nothing where it is below 0.
    #[inline]
    fn div(self, alpha: Alpha) -> Quarters {
        Quarters((self.0.max(0) / i64::from(alpha.0)).min(u32::MAX.into()) as u32)
    }
}

impl Div<u32> for Dose {
    type Output = Self;
    /// A part of it, rounded to the side of nothing.
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
