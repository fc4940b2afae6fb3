//! A plain array of sectors. Each sector names the write that it comes from, so a read shows exactly
//! which data it got.

use vpass_drive::base::splitmix;
use vpass_live::SECTOR;

/// Number of a write in the order of submission; 0 for zeros.
pub(crate) type Version = u64;

/// Sector of the array.
#[derive(Clone, Default)]
struct Sector {
    version: Version,
    /// Request that set the version.
    set_by: u64,
    /// Writes and trims that are under way, with the versions that they set.
    pending: Vec<(u64, Version)>,
}

/// Plain array of sectors.
pub(crate) struct Plain(Vec<Sector>);

impl Plain {
    /// Creates an array of zeros.
    pub(crate) fn new(capacity: u64) -> Self {
        Self(vec![Sector::default(); (capacity / SECTOR) as usize])
    }

    /// Notes that a write or trim of sectors has begun. It sets them to this version.
    pub(crate) fn begin(&mut self, request: u64, sectors: std::ops::Range<u64>, version: Version) {
        for sector in &mut self.0[sectors.start as usize..sectors.end as usize] {
            sector.pending.push((request, version));
        }
    }

    /// Notes that a write or trim of sectors is complete, and so are all before it.
    pub(crate) fn end(&mut self, request: u64, sectors: std::ops::Range<u64>) {
        for sector in &mut self.0[sectors.start as usize..sectors.end as usize] {
            for (by, version) in sector.pending.extract_if(.., |(by, _)| *by <= request) {
                if by >= sector.set_by {
                    (sector.version, sector.set_by) = (version, by);
                }
            }
        }
    }

    /// Returns whether any of these sectors was written or trimmed.
    pub(crate) fn has_changed(&self, sectors: std::ops::Range<u64>) -> bool {
        self.0[sectors.start as usize..sectors.end as usize].iter().any(|sector| sector.set_by > 0)
    }

    /// Returns the versions that a read of this sector may return if it begins now.
    pub(crate) fn allowed(&self, sector: u64) -> Vec<Version> {
        let sector = &self.0[sector as usize];
        sector.pending.iter().map(|(_, version)| *version).chain([sector.version]).collect()
    }
}

/// Returns the bytes of a sector of this version.
pub(crate) fn bytes_of(sector: u64, version: Version) -> Vec<u8> {
    if version == 0 {
        return vec![0; SECTOR as usize];
    }
    let words = (1..SECTOR / 8).map(|n| splitmix::number(version ^ sector << 32, n));
    [version].into_iter().chain(words).flat_map(u64::to_le_bytes).collect()
}

/// Returns the version of a sector with these bytes; `None` if no write has made them.
pub(crate) fn version_of(sector: u64, bytes: &[u8]) -> Option<Version> {
    let version = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
    (bytes == bytes_of(sector, version)).then_some(version)
}
