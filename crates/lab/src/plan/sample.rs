//! A sample of a drive: one page in N, on a drive with N times fewer planes.
//!
//! Pages are dealt out to planes in turn, so the pages whose number is one residue modulo N lie in one plane of N or, where the drive has
//! fewer planes, in a part of the blocks of one. What happens to them hardly depends on the others: reads of a block disturb that block alone.

use vpass_core::base::streams::RESERVE;
use vpass_core::base::units::Bytes;
use vpass_core::config::DriveConfig;
use vpass_core::hints::{self, HintRange};
use vpass_workload::synthetic::Sample;

use super::Plan;
use crate::failure::Failure;
use crate::load::Loaded;

/// Blocks below which a drive no longer stands for a larger one: with fewer, single blocks decide what GC finds.
const FEWEST_BLOCKS: u32 = 100;

impl Plan {
    /// Capacity of the drive that the sample is of.
    pub fn whole_capacity(&self) -> Bytes {
        self.whole.unwrap_or_else(|| self.drive.config.drive.capacity.expect("a resolved drive has a capacity"))
    }

    /// The same for a sample of its drive, which is whole.
    ///
    /// # Errors
    /// A drive that cannot be divided so.
    pub fn sampled(&self, sample: Sample) -> Result<Self, Failure> {
        if sample.is_whole() {
            return Ok(self.clone());
        }
        // Here the host's addresses are still those of the hints.
        hints::check(&self.drive.config).map_err(|e| Failure::usage(format!("drive {}: {e}", self.drive.name)))?;
        let whole = self.drive.config.drive.capacity;
        let drive = Loaded { config: part_of(&self.drive.config, sample, &self.drive.name)?, ..self.drive.clone() };
        Ok(Self { drive, sample, whole, ..self.clone() })
    }
}

/// The drive on which a sample lies.
fn part_of(config: &DriveConfig, sample: Sample, name: &str) -> Result<DriveConfig, Failure> {
    let of = sample.of;
    let refused = |why: String| Failure::usage(format!("--sample 1/{of}: drive {name} {why}"));
    let planes = config.geometry.planes();
    if !planes.is_multiple_of(of) && !of.is_multiple_of(planes) {
        return Err(refused(format!("has {planes} planes; a divisor or a multiple of {planes} is expected")));
    }
    let mut part = config.clone();
    divide(&mut part, of);
    if let Some(said) = &mut part.hints.said {
        *said = said.iter().filter_map(|range| of_sample(range, sample, config.geometry.page_size.0)).collect();
    }
    let per_plane = config.geometry.blocks_per_plane.expect("a resolved drive has blocks");
    let blocks = u64::from(per_plane) * u64::from(planes);
    let own = blocks as f64 / f64::from(of);
    if of > planes && own < f64::from(FEWEST_BLOCKS) {
        let largest = (blocks / u64::from(FEWEST_BLOCKS) / u64::from(planes)).max(1) * u64::from(planes);
        return Err(refused(format!("has {blocks} blocks, and a sample needs {FEWEST_BLOCKS}; 1/{largest} is the smallest that has them")));
    }
    let page = config.geometry.page_size.0;
    let pages = config.drive.capacity.expect("a resolved drive has a capacity").0 / page;
    let sampled = (pages - u64::from(sample.residue)).div_ceil(u64::from(of));
    let spare_of = |pages: u64, blocks: f64| blocks - (pages as f64 / f64::from(config.geometry.pages_per_block()));
    // The share of the spare blocks that are free to hold what is no longer wanted is that of the whole drive.
    let whole = spare_of(pages, blocks as f64);
    let wanted = (whole - taken(whole, dies(config))) / f64::from(of);
    let lacks = wanted + taken(spare_of(sampled, own), dies(&part)) - spare_of(sampled, own);
    let rows = ((own + lacks) / f64::from(part.geometry.planes())).round();
    part.geometry.blocks_per_plane = Some(rows as u32);
    part.drive.capacity = Some(Bytes(sampled * page));
    part.drive.spare = None;
    part.drive.write_buffer = Bytes(config.drive.write_buffer.0 / u64::from(of) / page * page);
    part.resolve().map_err(|e| refused(format!("is too small for it: {e}")))
}

/// What a hint says of the pages of a sample, which are numbered anew; none where it speaks of none of them.
fn of_sample(range: &HintRange, sample: Sample, page: u64) -> Option<HintRange> {
    let place = |byte: u64| {
        let (number, of, residue) = (byte / page, u64::from(sample.of), u64::from(sample.residue));
        let before = (number + of - 1 - residue) / of;
        // Within a page of the sample, or between two of them.
        before * page + if number % of == residue { byte % page } else { 0 }
    };
    let (begin, end) = (place(range.offset.0), place(range.end()?));
    (end > begin).then_some(HintRange { offset: Bytes(begin), bytes: Bytes(end - begin), ..*range })
}

fn dies(config: &DriveConfig) -> f64 {
    f64::from(config.geometry.channels * config.geometry.dies_per_channel)
}

/// Spare blocks that streams keep open, and the reserve of moves: three streams as wide as half of the spare blocks lets them be, up to a
/// block a die, and that of wear levelling.
fn taken(spare: f64, dies: f64) -> f64 {
    let room = spare / 2.0 - f64::from(RESERVE + 1);
    3.0 * (room / 3.0).floor().clamp(1.0, dies) + 1.0 + f64::from(RESERVE)
}

/// Gives a drive so many times fewer planes, and one at least. Channels go first: pages are dealt out to them first.
fn divide(part: &mut DriveConfig, of: u32) {
    let planes = part.geometry.planes();
    let mut left = of.min(planes);
    for count in [&mut part.geometry.channels, &mut part.geometry.dies_per_channel, &mut part.geometry.planes_per_die] {
        let fewer = gcd(*count, left);
        (*count, left) = (*count / fewer, left / fewer);
    }
    if left > 1 {
        // A factor that no single count has.
        (part.geometry.channels, part.geometry.dies_per_channel, part.geometry.planes_per_die) = (1, planes / of, 1);
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use vpass_core::base::latency::AccessLatency;

    use super::*;

    #[test]
    fn a_hint_of_some_bytes_is_one_of_the_samples_pages_among_them() {
        // Pages of 100 bytes; the sample has pages 1, 4, 7 and 10, numbered 0 to 3.
        let of = |offset: u64, bytes: u64| {
            let range = HintRange { offset: Bytes(offset), bytes: Bytes(bytes), access_latency: Some(AccessLatency::Idle), rank: 0 };
            of_sample(&range, Sample { of: 3, residue: 1 }, 100).map(|range| (range.offset.0, range.bytes.0))
        };
        assert_eq!(of(0, 1100), Some((0, 400)), "all of it");
        assert_eq!(of(200, 300), Some((100, 100)), "pages 2 to 4");
        assert_eq!(of(130, 20), Some((30, 20)), "a part of page 1");
        assert_eq!(of(450, 500), Some((150, 150)), "half of page 4, and page 7");
        assert_eq!((of(0, 100), of(200, 200)), (None, None), "page 0; pages 2 and 3");
    }
}
