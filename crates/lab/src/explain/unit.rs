//! Mapping unit, which is one flash page, and the cost of writes that are smaller than this unit.
//! The cost is computed without garbage collection, because only a run can measure the cost of
//! garbage collection.

use serde::Serialize;

/// Usual sizes of host writes, in bytes: a sector, a block of most file systems, and a page of most
/// databases.
const SIZES: [u64; 3] = [512, 4096, 8192];

/// Mapping unit, and cost of writes that are smaller than the mapping unit.
#[derive(Debug, PartialEq, Serialize)]
pub struct Unit {
    /// Size of the mapping unit in bytes. The drive maps, reads and programs whole flash pages.
    pub bytes: u64,
    /// Costs of host writes, for all usual sizes that are smaller than the mapping unit.
    pub small_writes: Vec<SmallWrite>,
}

/// Cost of a small write to a page that holds data, if no other write to the page is in the write
/// buffer.
#[derive(Debug, PartialEq, Serialize)]
pub struct SmallWrite {
    /// Number of bytes of the write.
    pub bytes: u64,
    /// Number of flash reads that fetch the rest of the page.
    pub fill_reads: u32,
    /// Number of programmed bytes per byte that the host writes, without garbage collection.
    pub programmed_per_byte: f64,
}

impl Unit {
    /// Computes the mapping unit of a drive with this page size.
    pub fn of(page_bytes: u64) -> Self {
        let small = SIZES.into_iter().filter(|bytes| *bytes < page_bytes);
        let cost = |bytes: u64| SmallWrite {
            bytes,
            fill_reads: 1,
            programmed_per_byte: page_bytes as f64 / bytes as f64,
        };
        Self { bytes: page_bytes, small_writes: small.map(cost).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_write_reads_a_page_and_programs_all_of_it() {
        let costs: Vec<_> = Unit::of(16_384)
            .small_writes
            .iter()
            .map(|of| (of.bytes, of.fill_reads, of.programmed_per_byte))
            .collect();
        assert_eq!(costs, [(512, 1, 32.0), (4096, 1, 4.0), (8192, 1, 2.0)]);
        assert_eq!(Unit::of(4096).small_writes.len(), 1);
        assert_eq!(Unit::of(512), Unit { bytes: 512, small_writes: vec![] });
    }
}
