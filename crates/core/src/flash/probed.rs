//! What a probe says of a wordline.

/// What a probe found: the errors of a wordline over those that can be corrected. In this model that is its dose over its limit, exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probed {
    /// The wordline, numbered within its block.
    pub wordline: u32,
    /// In the same unit; only their ratio is known.
    pub(crate) dose: u64,
    pub(crate) limit: u64,
}

impl Probed {
    /// What is left of this limit when the share that was found is used up, rounded down; below nothing where data is lost.
    pub fn left_of(&self, limit: u64) -> i64 {
        let used = (u128::from(self.dose) * u128::from(limit)).div_ceil(u128::from(self.limit.max(1)));
        limit.cast_signed() - used as i64
    }
}
