//! Tests of `chance-probe`: random draws, the move of a whole block, and the worked example.

use super::super::promise::Prospect;
use super::super::shared::straw::tests::one_page_wordlines;
use super::{CARD, ChanceProbe, Draw};
use crate::testing::row;
use crate::{card, usual};
use vpass_drive::base::units::{BlockId, Cause, Lpn};
use vpass_drive::config::DriveConfig;
use vpass_drive::drive::{Drive, Techniques};

const FIRST: BlockId = BlockId::new(0);

fn config(preprogram_weight: f64) -> DriveConfig {
    let mut config: DriveConfig =
        toml::from_str(&one_page_wordlines(64, 20_000, "probe_probability = 0.1")).unwrap();
    config.disturb.preprogram_weight = preprogram_weight;
    crate::resolve(config).unwrap()
}

#[test]
fn worked_example() {
    let window = (64.0 * 2.0f64.ln() / -(1.0 - 0.1f64).ln()).ceil() as u32;
    let (beside, after_end) = (window + 64 + 1 + 2 + 2, 1 + 1 + 64 + 64);
    assert_eq!((window, beside, after_end), (422, 491, 130));
    let end = (20_000 - 8 * beside) * 3 / 4 - after_end;
    let near = 20_000 - 8 * beside - (end + after_end);
    assert_eq!((end, near, near / 8 + 1), (11_924, 4_018, 503));
    let prospect = Prospect::new(&config(0.0), card("chance-probe")).unwrap();
    let thresholds: Vec<u32> =
        prospect.thresholds(0).iter().map(|threshold| threshold.reads).collect();
    assert_eq!(
        thresholds,
        [end, near / 8],
        "the block's, and the last count near a wordline at which it stays"
    );
}

/// A read with two retries adds three times the dose of a read without retries. The limit does not
/// yet take account of this for 64 reads, which the block serves during jobs.
#[test]
fn retries_of_the_reads_that_jobs_serve_are_kept_for() {
    let tired = |retries: u32| {
        let mut config = config(0.0);
        let error = r#"model = "powerlaw"
            e = 0.0045"#;
        config.error = toml::from_str(error).unwrap();
        config.ecc =
            toml::from_str("cap = [0.0085, 0.0125, 0.0165]\nretry_decode_us = [20, 20]").unwrap();
        config.reclaim.retries = retries;
        Prospect::new(&config, card("chance-probe")).unwrap().thresholds(0)[0].reads
    };
    assert_eq!(tired(0), 11_924, "the worked example");
    // The limit is then 60,000 dose units. From this, 2 (2 x 64 + 9 x 5) dose units are already
    // subtracted.
    let end = (60_000 - 2 * (128 + 45) - 8 * (491 + 2 * 64)) * 3 / 4 - 130;
    assert_eq!(tired(2), end);
}

fn begun(mut drive: Drive) -> Drive {
    drive.precondition(1);
    drive.begin_measurement();
    drive
}

fn seeded(preprogram_weight: f64, seed: u64) -> Drive {
    let techniques = Techniques { reclaim: card("chance-probe"), seed, ..usual() };
    begun(Drive::new(config(preprogram_weight), &techniques, false).unwrap())
}

fn drive(preprogram_weight: f64) -> Drive {
    seeded(preprogram_weight, 1)
}

/// Reads the two neighbours of a page alternately. Whenever the next read is a drawn one, reads a
/// distant page instead. Returns the list of pages read, and the number of pages that the drive
/// loses.
fn dodging(mut drive: Drive, draw: &Draw) -> (Vec<Lpn>, u64) {
    let page = |drive: &Drive, n: u32| {
        let next = drive.view(FIRST).dose(FIRST).whole_down().0 + 1;
        if draw.number(FIRST, row(drive, FIRST).pec, next) < 0.1 { 50 } else { 4 + n % 2 * 2 }
    };
    let reads = (0..4000).map(|n| {
        let page = Lpn::new(page(&drive, n));
        drive.read_pages(&[page]);
        page
    });
    let reads = reads.collect();
    drive.report_unread_losses();
    (reads, drive.lost_pages())
}

#[test]
fn reads_that_dodge_the_draws_take_a_host_that_can_compute_them() {
    let public = ChanceProbe {
        draw: Draw::Public,
        ..ChanceProbe::new(&CARD.args(&config(0.0)), &config(0.0), 1)
    };
    let before = begun(Drive::with_policy(config(0.0), Box::new(public), &usual(), false).unwrap());
    let (reads, lost) = dodging(before, &Draw::Public);
    // Page 5 endures 20,000 / 9 = 2,222 reads of its neighbours. Pages 3 and 7 endure twice as
    // many, because only one of their neighbours is read.
    assert_eq!(lost, 1, "draws that everybody can compute");
    let of_seed = |seed| ChanceProbe::new(&CARD.args(&config(0.0)), &config(0.0), seed).draw;
    let (of_seed_1, lost) = dodging(seeded(0.0, 1), &of_seed(1));
    assert_eq!(lost, 1, "who knows the seed computes them too");
    for seed in 2..30 {
        for dodging in [&reads, &of_seed_1] {
            let mut drive = seeded(0.0, seed);
            drive.read_pages(dodging);
            drive.report_unread_losses();
            assert_eq!(drive.lost_pages(), 0, "seed {seed}");
            assert!(drive.reclaim_counts().pages_copied > 0, "seed {seed}: what was found moved");
        }
    }
}

/// Reads pages until a page moves. Returns the number of reads, and the number of pages that
/// moved.
fn first_move(drive: &mut Drive, page: impl Fn(u32) -> u32) -> (u32, u64) {
    let reads = (1..20_000).find(|n| {
        drive.read_pages(&[Lpn::new(page(*n))]);
        drive.reclaim_counts().pages_copied > 0
    });
    (reads.unwrap(), drive.reclaim_counts().pages_copied)
}

#[test]
fn what_lies_beside_a_hot_wordline_moves_at_the_next_draw() {
    let mut drive = drive(0.0);
    let (reads, copies) = first_move(&mut drive, |_| 5);
    assert!((480..560).contains(&reads), "{reads} reads: some of the 503 are probes drawn in turn");
    assert!(copies <= 2, "one or both neighbours");
    assert_eq!(drive.flash_counts().erases[Cause::Reclaim as usize], 0);
}

#[test]
fn a_block_that_is_read_evenly_moves_as_a_whole_at_its_end() {
    let mut drive = drive(0.0);
    let (reads, copies) = first_move(&mut drive, |n| n % 64);
    let probes = drive.technique_counts()[1].1;
    assert_eq!(copies, 64);
    assert!(
        (11_924..11_930).contains(&(u64::from(reads) + probes)),
        "{reads} reads and {probes} probes; a draw may pass the end"
    );
    assert!(
        (2_100..3_000).contains(&probes),
        "two for one read in ten, and for one probe in ten: {probes}"
    );
}

#[test]
fn where_reads_cannot_be_drawn_it_is_block() {
    let mut drive = drive(0.5);
    // This is the threshold of `block`: floor((20,000 - 64 - 16) / 9).
    assert_eq!(first_move(&mut drive, |_| 5), (2_213, 64));
    assert_eq!(drive.technique_counts(), [("draws", 0), ("probes", 0)]);
}
