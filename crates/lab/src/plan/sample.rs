//! Sample of a drive: a smaller drive with one of N pages of the whole drive, and with N times
//! fewer planes. The section "What does a sample of a drive tell?" in
//! `docs/design/start-and-samples.md` explains why a sample represents the whole drive.
//!
//! For a workload with known rates, a sample has the pages whose numbers have the same residue
//! modulo N. For a trace or fio jobs, a page of the sample stands for N pages with similar rates
//! (`workload/src/windows/strata.rs`).
//!
//! Consecutive pages are assigned to consecutive planes, so a sample has every N-th plane. On a
//! drive with fewer than N planes, the sample has some blocks of one plane. Pages outside the
//! sample hardly affect pages in the sample, because reads of a block disturb only that block.

use vpass_drive::base::latency::AccessLatency;
use vpass_drive::base::phrase::Opt;
use vpass_drive::base::streams::{RESERVE, WIDTH_OF_SAMPLE};
use vpass_drive::base::units::{Bytes, Lpn};
use vpass_drive::config::{DriveConfig, PartOf};
use vpass_drive::hints::{self, HintRange, Hinted};
use vpass_drive::phrase;
use vpass_techniques::resolve;
use vpass_workload::synthetic::Sample;

use super::{RunPlan, Tables};
use crate::failure::Failure;
use crate::load::Loaded;

/// Smallest number of touched pages in a sample. Each of them stands for N pages of similar rates.
/// With fewer pages, the differences within the N most read pages would be lost, and a sample would
/// not represent the drive well enough for a confidence interval.
pub const FEWEST_PAGES: u64 = 50;

/// Smallest number of blocks in a sample. With fewer blocks, the choices of GC would depend too
/// much on individual blocks.
const FEWEST_BLOCKS: u32 = 180;

/// Largest number of blocks in a sample, if the user did not choose the sample. Larger samples take
/// more than a few minutes.
const MOST_BLOCKS: u32 = 1000;

/// Smallest size of a write buffer, in pages. The buffer receives a page while another page is
/// programmed.
const SMALLEST_BUFFER: u64 = 2;

/// Facts about the whole drive from which a sample was taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Whole {
    capacity: Bytes,
    /// Hints that the host gave. The hints have addresses of the whole drive.
    said: Option<Vec<HintRange>>,
}

impl RunPlan {
    /// Returns the capacity of the whole drive.
    pub fn whole_capacity(&self) -> Bytes {
        self.whole.as_ref().map_or_else(|| self.own_capacity(), |whole| whole.capacity)
    }

    fn own_capacity(&self) -> Bytes {
        self.drive.config.drive.capacity.expect("a resolved drive has a capacity")
    }

    /// Returns this plan for a sample of the drive. The plan must not already be for a sample.
    ///
    /// # Errors
    /// Returns an error if the drive has too few planes or blocks for the sample.
    pub fn sampled(&self, sample: Sample) -> Result<Self, Failure> {
        if sample.is_whole() {
            return Ok(self.clone());
        }
        if !self.is_fluid() {
            return Err(Failure::usage(phrase![
                Opt::Sample,
                " is for ",
                Opt::Gear.to("fluid"),
                ": with a sample, the order and the times of the requests would change",
            ]));
        }
        let config = &self.drive.config;
        hints::check(config).map_err(|e| self.refused_drive(e))?;
        let whole = Some(Whole { capacity: self.own_capacity(), said: config.hints.said.clone() });
        let drive =
            Loaded { config: part_of(config, sample, &self.drive.name)?, ..self.drive.clone() };
        Ok(Self { drive, sample, whole, ..self.clone() }.of_residue(sample.residue))
    }

    /// Returns the sample that `vpass life` uses without `--sample`. It is the smallest sample in
    /// which the workload reads or writes enough pages.
    ///
    /// # Errors
    /// Returns an error if the workload is invalid or cannot be read.
    pub fn automatic_sample(&self, tables: &Tables) -> Result<Sample, Failure> {
        if !self.is_fluid() {
            return Ok(Sample::WHOLE);
        }
        let touched = self.touched_pages(tables)?;
        let (blocks, planes) = blocks_and_planes(&self.drive.config);
        let fits = |of: &u32| self.sampled(Sample { of: *of, residue: 0 }).is_ok();
        let of = enough(blocks, planes, touched).into_iter().find(fits);
        Ok(Sample { of: of.unwrap_or(1), residue: 0 })
    }

    /// Returns the number of pages on the whole drive that the workload reads or writes. If the
    /// workload gives its read rates, returns the number of all pages.
    ///
    /// # Errors
    /// Returns an error if the workload is invalid or cannot be read.
    pub fn touched_pages(&self, tables: &Tables) -> Result<u64, Failure> {
        let pages = self.whole_capacity().0 / self.drive.config.geometry.page_size.0;
        Ok(self.touched_by_windows(tables)?.unwrap_or(pages))
    }

    /// Returns this plan for another sample of the same size. `residue` selects the pages of the
    /// sample.
    #[must_use]
    pub fn of_residue(mut self, residue: u32) -> Self {
        self.sample.residue = residue;
        if let Some(Whole { capacity, said: Some(said) }) = &self.whole {
            let page = self.drive.config.geometry.page_size.0;
            let whole = (capacity.0 / page) as u32;
            let hinted = Hinted::new(said, page, whole);
            self.drive.config.hints.said =
                Some(said_of(&hinted, self.sample, whole, page, self.own_capacity().0 / page));
        }
        self
    }

    /// Returns the number of bytes of all flash blocks of the whole drive.
    pub(super) fn whole_flash_bytes(&self) -> u64 {
        let config = &self.drive.config;
        let whole = config.part_of.as_ref();
        let blocks = whole.map_or(blocks_and_planes(config).0, |whole| whole.blocks);
        let pages = u64::from(blocks) * u64::from(config.geometry.pages_per_block());
        pages * config.geometry.page_size.0
    }
}

/// Returns how many blocks and how many planes a drive has.
fn blocks_and_planes(config: &DriveConfig) -> (u32, u32) {
    let planes = config.geometry.planes();
    let per_plane = config.geometry.blocks_per_plane.expect("a resolved drive has blocks");
    (per_plane * planes, planes)
}

fn divides(of: u32, planes: u32) -> bool {
    planes.is_multiple_of(of) || of.is_multiple_of(planes)
}

/// Returns numbers N, the largest first, for which a sample with every N-th page is suitable. A
/// suitable sample has enough blocks, but not too many. In a suitable sample, the workload also
/// reads or writes enough pages.
///
/// ```text
/// a drive has 80,640 blocks in 64 planes, so a sample of 1/448 has 180 blocks
/// the workload touches 20,000 pages: a sample of 1/448 would hold 44 of them, 1/384 holds 52
/// a sample of 1/384 has 210 blocks
/// ```
fn enough(blocks: u32, planes: u32, touched: u64) -> Vec<u32> {
    if blocks <= MOST_BLOCKS {
        return vec![];
    }
    let all = (1..=blocks / FEWEST_BLOCKS).rev().filter(|of| divides(*of, planes));
    let affordable: Vec<u32> = all.filter(|of| blocks / of <= MOST_BLOCKS).collect();
    let holds = |of: &u32| touched / u64::from(*of) >= FEWEST_PAGES;
    let first = affordable.iter().position(holds).unwrap_or(affordable.len().saturating_sub(1));
    affordable[first.min(affordable.len())..].to_vec()
}

/// Returns the configuration of a smaller drive that has only the sampled pages.
fn part_of(config: &DriveConfig, sample: Sample, name: &str) -> Result<DriveConfig, Failure> {
    let of = sample.of;
    let refused =
        |why: String| Failure::usage(format!("drive {name} {why}")).at(Opt::Sample.to(sample));
    let (blocks, planes) = blocks_and_planes(config);
    let divides = |of: u32| divides(of, planes);
    let share = f64::from(blocks) / f64::from(of);
    if !divides(of) || share < f64::from(FEWEST_BLOCKS) {
        let largest = (1..=blocks / FEWEST_BLOCKS).rev().find(|of| divides(*of)).unwrap_or(1);
        let works = if largest > 1 {
            format!("1/{largest} is the smallest sample that works")
        } else {
            "only a simulation of the whole drive is large enough".into()
        };
        return Err(refused(if divides(of) {
            format!(
                "has {blocks} blocks, so a sample has {share:.0} blocks; a sample needs at least \
                 {FEWEST_BLOCKS}; {works}"
            )
        } else {
            format!("has {planes} planes; N must be a divisor or a multiple of {planes}; {works}")
        }));
    }
    let mut part = config.clone();
    divide(&mut part, of);
    let page = config.geometry.page_size.0;
    let pages = config.drive.capacity.expect("a resolved drive has a capacity").0 / page;
    let sampled = (pages - u64::from(sample.residue)).div_ceil(u64::from(of));
    let whole = PartOf {
        of,
        blocks,
        host_pages: pages as u32,
        dies: config.geometry.channels * config.geometry.dies_per_channel,
    };
    let beyond = taken(&whole, config.geometry.pages_per_block(), words(config));
    let rows = ((share + f64::from(beyond)) / f64::from(part.geometry.planes())).ceil();
    part.geometry.blocks_per_plane = Some(rows as u32);
    // The IPR pool of the whole drive is divided among all samples.
    part.density.pool *= share / (rows * f64::from(part.geometry.planes()));
    part.drive.capacity = Some(Bytes(sampled * page));
    part.drive.spare = None;
    part.drive.write_buffer = buffer_of(config.drive.write_buffer, of, page);
    part.part_of = Some(whole);
    resolve(part).map_err(|e| refused(format!("is too small for this drive: {e}")))
}

/// Returns the size of the sample's write buffer: a share of the drive's write buffer, in whole
/// pages. If the drive has a buffer, the sample has a buffer, too. Without a buffer, each page
/// would take a whole wordline.
fn buffer_of(whole: Bytes, of: u32, page: u64) -> Bytes {
    let least = if whole.0 < SMALLEST_BUFFER * page { 0 } else { SMALLEST_BUFFER };
    Bytes((whole.0 / u64::from(of) / page).max(least) * page)
}

/// Returns the host's hints for the pages of a sample. In the sample, pages have other numbers than
/// on the whole drive.
fn said_of(hinted: &Hinted, sample: Sample, whole: u32, page: u64, pages: u64) -> Vec<HintRange> {
    // Number of sampled pages before the page `lpn` of the whole drive.
    let before = |lpn: Lpn| {
        u64::from(lpn.number().saturating_sub(sample.residue).div_ceil(sample.of)).min(pages)
    };
    let range = |(first, end, latency): (Lpn, Lpn, AccessLatency)| {
        // All samples have the same number of pages. Some samples therefore have pages after the
        // last page of the whole drive. These pages get the hint of the last page.
        let (from, to) = (before(first), if end == Lpn::new(whole) { pages } else { before(end) });
        let said = HintRange {
            offset: Bytes(from * page),
            bytes: Bytes((to - from) * page),
            access_latency: Some(latency),
            rank: 0,
        };
        (from < to).then_some(said)
    };
    hinted.stretches(whole).filter_map(range).collect()
}

/// Returns the number of different hints that occur on the drive.
fn words(config: &DriveConfig) -> u32 {
    let page = config.geometry.page_size.0;
    let pages = config.drive.capacity.map_or(0, |capacity| capacity.0 / page) as u32;
    config
        .hints
        .said
        .as_ref()
        .map_or(1, |said| Hinted::new(said, page, pages).in_use().len() as u32)
}

/// Returns the number of blocks that a sample gets in addition to its share of the drive's blocks.
/// The additional blocks are the open blocks of all write streams, and the blocks that are reserved
/// for moves. Each hint has three streams. A stream has as many open blocks as on the whole drive,
/// up to a limit. Wear levelling has a stream, too.
fn taken(whole: &PartOf, pages_per_block: u32, words: u32) -> u32 {
    let width = whole.width(pages_per_block, 3, words).min(WIDTH_OF_SAMPLE);
    words * (3 * width + 1) + RESERVE + words - 1
}

/// Divides a drive's number of planes by the number `of`, but keeps at least one plane. The number
/// of channels is divided first, because consecutive pages are assigned to different channels.
fn divide(part: &mut DriveConfig, of: u32) {
    let planes = part.geometry.planes();
    let mut left = of.min(planes);
    for count in [
        &mut part.geometry.channels,
        &mut part.geometry.dies_per_channel,
        &mut part.geometry.planes_per_die,
    ] {
        let fewer = gcd(*count, left);
        (*count, left) = (*count / fewer, left / fewer);
    }
    if left > 1 {
        // The numbers of channels, dies per channel and planes per die do not have all factors of
        // `of`. The sample therefore has one channel, and one plane per die.
        (part.geometry.channels, part.geometry.dies_per_channel, part.geometry.planes_per_die) =
            (1, planes / of, 1);
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use AccessLatency::{Idle, Smallest, Typical};

    #[test]
    fn a_small_footprint_has_a_larger_sample() {
        let first = |blocks, planes, touched| enough(blocks, planes, touched).first().copied();
        // A drive with 80,640 blocks in 64 planes has 180 blocks per sample at 1/448. No larger
        // multiple of 64 leaves as many blocks.
        assert_eq!(first(80_640, 64, 1 << 27), Some(448));
        assert_eq!(first(80_640, 64, 40_789), Some(448), "91 pages");
        assert_eq!(first(80_640, 64, 20_000), Some(384), "52 pages; 448 would leave 44");
        assert_eq!(first(80_640, 64, 2069), Some(128), "630 blocks, and 64 would have 1,260");
        assert_eq!(
            (first(1000, 4, 1 << 20), first(1004, 4, 1 << 20)),
            (None, Some(4)),
            "a small drive is simulated whole"
        );
    }

    /// Returns the preset `tiny` with another capacity.
    fn tiny(capacity: &str) -> DriveConfig {
        let text = include_str!("../../../../presets/drives/tiny.toml");
        let text = text.replace("\"1GiB\"", &format!("\"{capacity}\""));
        resolve(toml::from_str::<DriveConfig>(&text).unwrap()).unwrap()
    }

    /// Uses a drive with 232 spare blocks and 4 dies. Each stream keeps four blocks open.
    #[test]
    fn a_sample_has_its_share_of_blocks_and_open_blocks_for_streams() {
        let config = tiny("3840MiB");
        let part = part_of(&config, Sample { of: 8, residue: 0 }, "tiny").unwrap();
        // The additional blocks are for three streams, wear levelling and the reserve: 3 x 4 + 1 +
        // 2.
        assert_eq!(blocks_and_planes(&part), (189 + 15, 1));
        let whole = part.part_of.unwrap();
        assert_eq!(taken(&whole, 192, 1), 15);
        // With two hints, each hint has three streams. The reserve has one additional block.
        assert_eq!(taken(&whole, 192, 2), 2 * 13 + 2 + 1);
    }

    #[test]
    fn samples_share_the_pages_and_the_buffer() {
        // The drive has 245,761 pages.
        let config = tiny("4026548224");
        let pages = |residue: u32| {
            let part = part_of(&config, Sample { of: 8, residue }, "tiny").unwrap();
            part.drive.capacity.unwrap().0 / 16_384
        };
        assert_eq!([0, 1, 7].map(pages), [30_721, 30_720, 30_720]);
        let buffer = |mib: u64, of: u32| buffer_of(Bytes(mib << 20), of, 16_384).0 / 16_384;
        assert_eq!([buffer(64, 256), buffer(1, 256), buffer(0, 256)], [16, SMALLEST_BUFFER, 0]);
        let part = part_of(&config, Sample { of: 8, residue: 0 }, "tiny").unwrap();
        assert_eq!(part.drive.write_buffer, buffer_of(config.drive.write_buffer, 8, 16_384));
        assert_ne!(part.drive.write_buffer, config.drive.write_buffer);
    }

    #[test]
    fn pages_of_a_sample_keep_their_hints() {
        let range = |offset, bytes, word| HintRange {
            offset: Bytes(offset),
            bytes: Bytes(bytes),
            access_latency: Some(word),
            rank: 0,
        };
        let hinted = Hinted::new(
            &[range(0, 500, Idle), range(700, 100, Typical), range(1300, 700, Idle)],
            100,
            20,
        );
        for residue in 0..4 {
            let sample = Sample { of: 4, residue };
            let said = said_of(&hinted, sample, 20, 100, 5);
            let of_sample = Hinted::new(&said, 100, 5);
            let (words, right): (Vec<_>, Vec<_>) = (0..5)
                .map(|n| (of_sample.of(Lpn::new(n)), hinted.of(Lpn::new(4 * n + residue))))
                .unzip();
            assert_eq!(words, right, "{residue}");
        }
        assert_eq!(hinted.stretches(20).count(), 5);
        assert_eq!(
            (hinted.of(Lpn::new(3)), hinted.of(Lpn::new(5)), hinted.of(Lpn::new(7))),
            (Idle, Smallest, Typical)
        );
    }
}
