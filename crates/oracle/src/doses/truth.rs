//! How far a page is from losing its data.

/// How far a page is from losing its data, in 1/1024 dose units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Truth {
    pub(crate) dose: u64,
    /// Below 0 where its age alone has lost the data.
    pub(crate) limit: i64,
}

impl Truth {
    /// Where nothing disturbs.
    pub(crate) const SAFE: Self = Self { dose: 0, limit: i64::MAX };

    #[inline]
    pub(crate) fn is_past(self) -> bool {
        self.dose.cast_signed() > self.limit
    }

    /// The share of its limit that it has taken.
    pub(crate) fn ratio(self) -> f64 {
        if self.limit > 0 { self.dose as f64 / self.limit as f64 } else { f64::INFINITY }
    }

    /// The share is above `ratio`; without a division. (Signed numbers convert faster, and none
    /// comes near 2^63.)
    #[inline]
    pub(crate) fn exceeds(self, ratio: f64) -> bool {
        self.dose.cast_signed() as f64 > ratio * self.limit as f64
    }
}
