//! A sample of a drive: one page in N, on a drive with N times fewer planes.
//!
//! Pages are dealt out to planes in turn, so the pages whose number is one residue modulo N lie in one plane of N or, where the drive has
//! fewer planes, in a part of the blocks of one. What happens to them hardly depends on the others: reads of a block disturb that block alone.

use vpass_core::base::units::Bytes;
use vpass_core::config::{DriveConfig, MIN_SPARE_BLOCKS};
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
        let whole = self.drive.config.drive.capacity;
        let drive = Loaded { config: part_of(&self.drive.config, sample, &self.drive.name)?, ..self.drive.clone() };
        Ok(Self { drive, sample, whole, ..self.clone() })
    }
}

/// The drive on which a sample lies.
fn part_of(config: &DriveConfig, sample: Sample, name: &str) -> Result<DriveConfig, Failure> {
    let of = sample.of;
    let refused = |why: String| Failure::usage(format!("--sample 1/{of}: drive {name} {why}"));
    let mut part = config.clone();
    let planes = config.geometry.planes();
    let blocks = config.geometry.blocks_per_plane.expect("a resolved drive has blocks");
    let page = config.geometry.page_size.0;
    let pages = config.drive.capacity.expect("a resolved drive has a capacity").0 / page;
    if of <= planes {
        if !planes.is_multiple_of(of) {
            return Err(refused(format!(
                "has {planes} planes, which {of} does not divide; a divisor or a multiple of {planes} is expected"
            )));
        }
        // Channels first: pages are dealt out to them first.
        let mut left = of;
        for count in [&mut part.geometry.channels, &mut part.geometry.dies_per_channel, &mut part.geometry.planes_per_die] {
            let fewer = gcd(*count, left);
            (*count, left) = (*count / fewer, left / fewer);
        }
        if left > 1 {
            // Factors that no single count has: one plane after the other.
            part.geometry.channels = 1;
            part.geometry.dies_per_channel = planes / of;
            part.geometry.planes_per_die = 1;
        }
    } else {
        if !of.is_multiple_of(planes) {
            return Err(refused(format!(
                "has {planes} planes, of which {of} is no multiple; a divisor or a multiple of {planes} is expected"
            )));
        }
        let own = u64::from(blocks) * u64::from(planes) / u64::from(of);
        if own < u64::from(FEWEST_BLOCKS) {
            let largest = u64::from(blocks) * u64::from(planes) / u64::from(FEWEST_BLOCKS) / u64::from(planes) * u64::from(planes);
            return Err(refused(format!(
                "has {} blocks, and a sample needs {FEWEST_BLOCKS} of them; 1/{} is the smallest that has",
                u64::from(blocks) * u64::from(planes),
                largest.max(1)
            )));
        }
        // Open blocks and the reserve are as many on a drive of one plane as on one of a few: its share of the whole drive's is not enough.
        let lacks = u64::from(MIN_SPARE_BLOCKS) - u64::from(MIN_SPARE_BLOCKS) / u64::from(of / planes);
        (part.geometry.channels, part.geometry.dies_per_channel, part.geometry.planes_per_die) = (1, 1, 1);
        part.geometry.blocks_per_plane = Some((own + lacks) as u32);
    }
    part.drive.capacity = Some(Bytes((pages - u64::from(sample.residue)).div_ceil(u64::from(of)) * page));
    part.drive.spare = None;
    part.drive.write_buffer = Bytes(config.drive.write_buffer.0 / u64::from(of) / page * page);
    part.resolve().map_err(|e| refused(format!("is too small for it: {e}")))
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}
