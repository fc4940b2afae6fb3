//! True dose and limit of a page, which show how far it is from a loss of data.

/// Dose and limit of a page, in 1/1024 dose units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stress {
    pub(crate) dose: u64,
    /// Limit; below 0 if age alone has lost the data.
    pub(crate) limit: i64,
}

impl Stress {
    /// Dose and limit where nothing disturbs.
    pub(crate) const SAFE: Self = Self { dose: 0, limit: i64::MAX };

    #[inline]
    pub(crate) fn is_past(self) -> bool {
        self.dose.cast_signed() > self.limit
    }

    /// Returns the dose as a share of the limit.
    pub(crate) fn ratio(self) -> f64 {
        if self.limit > 0 { self.dose as f64 / self.limit as f64 } else { f64::INFINITY }
    }

    /// Returns whether the dose is above this share of the limit, without a division. Signed
    /// numbers convert faster, and no value comes near 2^63.
    #[inline]
    pub(crate) fn exceeds(self, ratio: f64) -> bool {
        self.dose.cast_signed() as f64 > ratio * self.limit as f64
    }
}
