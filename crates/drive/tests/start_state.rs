//! State of a drive at its start: reads, wear and ages of its blocks are spread as `[start]` says.

use std::any::Any;
use std::collections::BTreeMap;

use crate::common;

use common::config;
use vpass_drive::base::span::DAY;
use vpass_drive::base::units::{BlockId, Lpn, Moment};
use vpass_drive::drive::{Drive, Techniques};
use vpass_drive::watch::observer::{Event, NO_LPN, NO_PPN, Observer};
use vpass_techniques::{card, usual};

/// Largest distance of the mean of many draws from its expectation, in standard deviations.
const FAR: f64 = 5.0;
/// Blocks of the drives, and pages of a block. Each wordline has one page.
const BLOCKS: u32 = 400;
const PAGES: u32 = 4;

/// Events of the start.
#[derive(Default)]
struct Start {
    /// Number of wordlines of each loaded block.
    loaded: Vec<(BlockId, u32)>,
    /// Cycles of each block, and quarters of a dose unit of each wordline of each block.
    worn: Vec<u32>,
    served: Vec<(BlockId, Vec<u32>)>,
    /// Reads of preparation by block.
    read: BTreeMap<BlockId, u32>,
    since: Vec<Moment>,
    /// Host pages that were written, once for each time.
    written: Vec<Lpn>,
}

impl Observer for Start {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Preloaded { block, lpns } => {
                self.loaded.push((block, lpns.len() as u32));
                self.written.extend(lpns.iter().filter(|lpn| **lpn != NO_LPN));
            }
            Event::Wrote { lpn, .. } => self.written.push(lpn),
            Event::Reads { batch } => {
                for read in batch.iter().filter(|read| read.ppn < NO_PPN) {
                    *self.read.entry(BlockId::new(read.ppn.number() / PAGES)).or_default() += 1;
                }
            }
            Event::Erased { block, .. } => {
                self.read.remove(&block);
            }
            Event::WornBefore { pec, .. } => self.worn.push(pec),
            Event::ServedBefore { block, doses } => {
                self.served.push((block, doses.iter().map(|dose| dose.count()).collect()));
            }
            Event::Aged { since, .. } => self.since.push(since),
            _ => {}
        }
    }
}

/// Starts a drive with these keys of `[start]`. Reads of neighbours weigh `alpha`.
fn started(start: &str, alpha: f64, seed: u64) -> Start {
    started_with("none", 1, start, alpha, seed)
}

/// Starts a drive of several dies with parity.
fn started_with(parity: &str, dies: u32, start: &str, alpha: f64, seed: u64) -> Start {
    let text = format!(
        r#"
        geometry = {{ channels = {dies}, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = {}, wordlines_per_block = {PAGES}, cell = "slc", page_size = "4KiB" }}
        timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }}
        drive = {{ spare = 0.4, write_buffer = "64KiB" }}
        start = {{ {start} }}
        parity = {{ stripe = 3 }}
        disturb = {{ model = "wordline", table = [{{ pec = 0, limit = [90000], alpha = [{alpha}] }}] }}
        error = {{ model = "powerlaw", e = 0.001, b = 1e-6, m = 0.0, n = 1.0 }}
        ecc = {{ cap = [0.0085] }}
        "#,
        BLOCKS / dies
    );
    let techniques = Techniques { reclaim: card("none"), parity: card(parity), ..usual() };
    let mut drive = Drive::new(config(&text), &techniques, false).unwrap();
    drive.observe(Box::new(Start::default()));
    drive.precondition(seed);
    let start: Box<dyn Any> = drive.end_observation().unwrap();
    *start.downcast().unwrap()
}

/// Checks the mean of draws that are even from 0 to `most`.
fn check_even(what: &str, draws: &[f64], most: f64) {
    let mean = draws.iter().sum::<f64>() / draws.len() as f64;
    let off = FAR * (most + 1.0) / (12.0 * draws.len() as f64).sqrt();
    assert!((mean - most / 2.0).abs() <= off, "{what}: {mean} on average, of at most {most}");
    assert!(draws.iter().all(|draw| (0.0..=most).contains(draw)), "{what}");
    let is_above = |share: f64| draws.iter().any(|draw| *draw > share * most);
    assert!(is_above(0.9) && draws.iter().any(|draw| *draw < 0.1 * most), "{what}: both ends");
}

/// The reads of a block are spread evenly over its wordlines. Those left over by the division go to
/// one wordline each.
#[test]
fn reads_before_the_run_are_spread_over_blocks_and_wordlines() {
    for (most, seed) in [(1000, 1), (1000, 2), (12_000, 3)] {
        let start = started(&format!("reads = {most}"), 9.0, seed);
        let mut reads = vec![];
        for (block, doses) in &start.served {
            let (least, largest) = (doses.iter().min().unwrap(), doses.iter().max().unwrap());
            assert!(largest - least <= 4, "block {block}: {least} to {largest} quarters");
            let each = f64::from(doses.iter().sum::<u32>()) / 4.0 / doses.len() as f64;
            reads.push(each * f64::from(PAGES));
        }
        assert_eq!(start.served.len(), start.loaded.len());
        check_even(&format!("start.reads = {most}"), &reads, f64::from(most));
    }
    assert!(started("reads = 0", 9.0, 1).served.is_empty());
}

/// A partly written block has served the part of its drawn reads that falls on its pages.
#[test]
fn partly_written_blocks_served_the_reads_of_their_pages() {
    let mut open = 0;
    for seed in 1..=20 {
        for (block, doses) in started("reads = 1000, fill = 0.9985", 9.0, seed).served {
            open += u32::from(doses.len() < PAGES as usize);
            let each = f64::from(doses.iter().sum::<u32>()) / 4.0 / doses.len() as f64;
            assert!(each * f64::from(PAGES) <= 1000.0, "block {block}: {each} reads a page");
        }
    }
    assert!(open >= 10, "{open} blocks were partly written");
}

/// Reads of preparation are part of the drawn reads. Each counts as often as it may disturb a
/// neighbour.
#[test]
fn reads_of_preparation_are_part_of_the_reads_before_the_run() {
    let (most, alpha) = (1000, 9);
    let start = started_with("raid5", 4, "reads = 1000, overwrite = 2.0", alpha.into(), 1);
    let mut of_preparation = 0;
    for (block, doses) in &start.served {
        let read = start.read.get(block).copied().unwrap_or(0) * alpha;
        let each = doses.iter().sum::<u32>() / 4 / doses.len() as u32;
        assert!(read.min(most) + each * PAGES <= most, "block {block}: {read} and {each} a page");
        of_preparation += read;
    }
    assert!(of_preparation > 0);
}

#[test]
fn blocks_begin_with_the_wear_that_is_configured() {
    for (pec, spread, share, seed) in
        [(10, 10, 0.0, 1), (0, 300, 0.0, 2), (10, 10, 0.1, 3), (5, 0, 0.25, 4)]
    {
        let keys =
            format!("pec = {pec}, pec_spread = {spread}, worn_share = {share:?}, worn_pec = 5000");
        let worn = started(&keys, 9.0, seed).worn;
        assert_eq!(worn.len() as u32, BLOCKS, "{keys}");
        let most = worn.iter().filter(|of| **of == 5000).count();
        assert_eq!(most, (f64::from(BLOCKS) * share) as usize, "{keys}");
        let others: Vec<f64> = worn
            .iter()
            .filter(|of| **of != 5000)
            .map(|of| f64::from(*of) - f64::from(pec))
            .collect();
        if spread > 0 {
            check_even(&keys, &others, f64::from(spread));
        } else {
            assert!(others.iter().all(|more| *more == 0.0), "{keys}");
        }
    }
    assert!(started("pec = 10", 9.0, 1).worn.is_empty(), "all blocks are alike");
}

#[test]
fn ages_before_the_run_are_spread_over_blocks() {
    for (days, seed) in [(1, 1), (30, 2), (30, 3)] {
        let start = started(&format!("age = \"{days}d\""), 9.0, seed);
        assert_eq!(start.since.len(), start.loaded.len());
        let ages: Vec<f64> = start.since.iter().map(|since| -(*since as f64)).collect();
        check_even(&format!("start.age = {days}d"), &ages, (days * DAY) as f64);
    }
}

/// Each filled page is written once, and as many are written again as `start.overwrite` says, spread
/// over all filled pages.
#[test]
fn pages_are_written_as_often_as_configured() {
    for (fill, overwrite, seed) in [(1.0, 0.0, 1), (1.0, 0.6, 2), (0.7, 3.0, 3), (0.3, 0.2, 4)] {
        let keys = format!("fill = {fill:?}, overwrite = {overwrite:?}");
        let start = started(&keys, 9.0, seed);
        let host_pages = f64::from(BLOCKS * PAGES) * 0.6;
        let filled = (host_pages * fill).floor() as usize;
        let mut times = vec![0u32; filled];
        start.written.iter().for_each(|lpn| times[lpn.index()] += 1);
        assert!(times.iter().all(|times| *times > 0), "{keys}");
        let again = start.written.len() - filled;
        assert_eq!(again, (filled as f64 * overwrite) as usize, "{keys}");
        let (half, n) = (filled / 2, again as f64);
        let share = half as f64 / filled as f64;
        let in_half = f64::from(times[..half].iter().sum::<u32>()) - half as f64;
        let off = FAR * (n * share * (1.0 - share)).sqrt() + 1.0;
        assert!((in_half - n * share).abs() <= off, "{keys}: {in_half} of {n} in the first half");
    }
}

/// The steady state of greedy GC under uniform overwrites (Desnoyers, 2014). A block has b pages. On
/// average, a share alpha of the pages of closed blocks is valid, and a share v of the pages of a
/// victim. They satisfy ln(1/v) = (1 - v) / alpha. At a share u of the time from being full to
/// becoming the victim, a block has b v^u valid pages.
fn check_steady_state(mut valid: Vec<u32>, pages: u32, b: f64) {
    valid.sort_unstable_by(|a, b| b.cmp(a));
    let closed = valid.len() as f64;
    let alpha = f64::from(pages) / (closed * b);
    // The equation has 1 as a larger solution. The bisection stays below the point of the smallest
    // difference.
    let above = |v: f64| (1.0 / v).ln() > (1.0 - v) / alpha;
    let (mut low, mut high) = (1e-300, alpha.min(1.0));
    for _ in 0..2000 {
        let middle = f64::midpoint(low, high);
        if above(middle) { low = middle } else { high = middle }
    }
    let v: f64 = if alpha >= 1.0 { 1.0 } else { low };
    for (k, valid) in (0..).zip(valid) {
        let exact = b * v.powf((f64::from(k) + 0.5) / closed);
        assert!(
            (f64::from(valid) - exact).abs() <= 2.0 + b / 50.0,
            "block {k} of {closed}, fullest first, has {valid} valid pages instead of {exact:.1}"
        );
    }
}

/// Each die has a steady state of its own with parity, and the drive has one without.
#[test]
fn a_computed_start_is_the_steady_state_of_greedy_cleaning() {
    for (parity, spare, fill) in
        [("none", 0.2, 1.0), ("none", 0.5, 0.6), ("raid5", 0.4, 1.0), ("ppc", 0.5, 0.8)]
    {
        let text = common::dies(
            4,
            "tlc",
            "sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800",
            &format!(
                "drive = {{ spare = {spare} }}\nparity = {{ stripe = 3 }}\n\
                 start = {{ fill = {fill:?}, overwrite = 2.0 }}"
            ),
        );
        let techniques = Techniques { parity: card(parity), ..usual() };
        let mut drive = Drive::new(config(&text), &techniques, false).unwrap();
        drive.precondition_computed(1);
        let geometry = drive.geometry();
        let mut pages = vec![0u32; geometry.domains() as usize];
        for row in drive.all_map_rows() {
            pages[geometry.stripes.map_or(0, |stripes| stripes.die(row.lpn)) as usize] += 1;
        }
        let mut valid = vec![vec![]; pages.len()];
        for (block, row) in geometry.block_ids().zip(drive.block_states()) {
            if row.written > 0 {
                valid[geometry.domain_of(block)].push(u32::from(row.valid));
            }
        }
        for (valid, pages) in valid.into_iter().zip(pages) {
            check_steady_state(valid, pages, f64::from(geometry.pages_per_block));
        }
    }
}
