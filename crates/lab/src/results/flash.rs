//! Numbers of flash operations by cause.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use vpass_drive::base::units::Cause;
use vpass_drive::drive::Drive;

/// Number of flash operations by cause.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Flash {
    /// Number of pages sensed, by cause.
    pub reads: ByCause,
    /// Number of pages programmed, by cause.
    pub programs: ByCause,
    /// Number of pages programmed as padding. Such pages have no data, and only complete a
    /// wordline.
    pub padded_pages: u64,
    /// Number of blocks erased, by cause.
    pub erases: ByCause,
    /// Number of wordlines reprogrammed in place, by cause.
    pub reprograms: ByCause,
}

/// Counts of flash operations by cause. In JSON, the count for regrouping data by hints appears
/// only if it is not 0.
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
    /// Returns the count of one cause.
    pub fn of(&self, cause: Cause) -> u64 {
        self.0[cause as usize]
    }

    /// Returns the read wear, in percent. Read wear is the number of bytes that reclaim and retries
    /// programmed, divided by the number of bytes that the host read. Returns `None` if the host
    /// read nothing.
    pub fn read_wear(&self, page_bytes: f64, read_bytes: u64) -> Option<f64> {
        let pages = self.of(Cause::Reclaim) + self.of(Cause::Retry);
        (read_bytes > 0).then(|| 100.0 * pages as f64 * page_bytes / read_bytes as f64)
    }

    /// Returns the sum of the counts over all causes.
    pub fn sum(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// Returns the net read wear, in percent of the bytes that the host read. Net read wear is the
/// number of bytes programmed in a run, minus the number programmed in a twin run. The twin run is
/// the same, but on flash that reads do not disturb. The net read wear may be negative. Returns
/// `None` if the host read nothing.
pub(crate) fn net_of(
    (programs, of_twin): (u64, u64),
    page_bytes: f64,
    read_bytes: u64,
) -> Option<f64> {
    let pages = programs as f64 - of_twin as f64;
    (read_bytes > 0).then(|| 100.0 * pages * page_bytes / read_bytes as f64)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_wear_counts_reclaim_and_retries_alone() {
        // The causes host, GC, reclaim, refresh, wear, parity, retry and hint each have a different
        // power of two.
        let programs = ByCause::from([1, 2, 4, 8, 16, 32, 64, 128]);
        assert_eq!(programs.read_wear(4096.0, 68 * 4096 * 10), Some(10.0));
        assert_eq!(programs.read_wear(4096.0, 0), None, "nothing was read");
    }
}
