//! Operations of the flash, by cause.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use vpass_core::base::units::Cause;
use vpass_core::drive::Drive;

/// Operations of the flash.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Flash {
    /// Pages sensed.
    pub reads: ByCause,
    /// Pages programmed.
    pub programs: ByCause,
    /// Those of them that hold nothing, in wordlines that were programmed before they were
    /// complete.
    pub padded_pages: u64,
    /// Blocks erased.
    pub erases: ByCause,
    /// Wordlines programmed over themselves.
    pub reprograms: ByCause,
}

/// A count for each cause. Regrouping by hints is an option, and said only where there was any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByCause(pub(crate) [u64; Cause::COUNT]);

impl Flash {
    pub(crate) fn of(drive: &Drive) -> Self {
        let f = drive.flash_counts();
        Self {
            reads: ByCause(f.reads),
            programs: ByCause(f.programs),
            padded_pages: f.padded_pages,
            erases: ByCause(f.erases),
            reprograms: ByCause(f.reprograms),
        }
    }
}

impl ByCause {
    /// Of one cause.
    pub fn of(&self, cause: Cause) -> u64 {
        self.0[cause as usize]
    }

    /// Of all causes.
    pub fn sum(&self) -> u64 {
        self.0.iter().sum()
    }
}

impl From<[u64; Cause::COUNT]> for ByCause {
    fn from(counts: [u64; Cause::COUNT]) -> Self {
        Self(counts)
    }
}

impl<'de> Deserialize<'de> for ByCause {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let said = BTreeMap::<String, u64>::deserialize(from)?;
        Ok(Self(Cause::ALL.map(|cause| said.get(cause.name()).copied().unwrap_or(0))))
    }
}

impl Serialize for ByCause {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let said = |cause: &&Cause| **cause != Cause::Hint || self.of(Cause::Hint) > 0;
        s.collect_map(Cause::ALL.iter().filter(said).map(|c| (c.name(), self.of(*c))))
    }
}
