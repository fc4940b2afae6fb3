//! Drive that begins in mid-life (`start.reads`): its blocks are at different points, and none is
//! lost already.

use crate::common;

use common::{Uniform, config};
use vpass_drive::drive::Drive;
use vpass_drive::time::run_untimed;
use vpass_techniques::usual;

/// Returns a drive of 400 blocks of 24 pages, 240 blocks of them for the host. Every read counts
/// for the whole block, which endures 1,024 reads. `block` acts at 1,000.
fn text(reads: u32) -> String {
    format!(
        r#"
        geometry = {{ channels = 2, dies_per_channel = 2, planes_per_die = 1, blocks_per_plane = 100, wordlines_per_block = 8, cell = "tlc", page_size = "16KiB" }}
        timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }}
        drive = {{ spare = 0.4 }}
        start = {{ reads = {reads} }}
        reclaim = {{ schedule = "foreground" }}
        disturb = {{ model = "count", table = [{{ pec = 0, limit = [1024] }}] }}
        "#
    )
}

fn drive(reads: u32, seed: u64) -> Drive {
    let mut drive = Drive::new(config(&text(reads)), &usual(), false).unwrap();
    drive.precondition(seed);
    drive.begin_measurement();
    drive
}

fn reads_of_blocks(drive: &Drive) -> Vec<f64> {
    drive.block_states().filter(|b| b.written > 0).map(|b| b.reads).collect()
}

/// The reads of a whole block are at most 982. From 1,024, the job takes 24 and probes take 8, and
/// 10 are left until the policy is asked.
#[test]
fn blocks_begin_anywhere_between_none_and_all() {
    let reads = reads_of_blocks(&drive(982, 1));
    assert_eq!(reads.len(), 240);
    for fifth in 0..5 {
        let within = reads.iter().filter(|r| (**r / 196.5) as usize == fifth).count();
        assert!((28..=70).contains(&within), "{within} of 240 blocks in fifth {fifth}");
    }
    assert_eq!(reads, reads_of_blocks(&drive(982, 1)));
    assert_ne!(reads, reads_of_blocks(&drive(982, 2)));
}

/// Blocks are evenly spread over 982 reads. Those above 900 reach their threshold in the first 100
/// reads: 8 % of 240.
#[test]
fn blocks_come_to_their_threshold_from_the_first_read_on() {
    let reclaimed = |reads| {
        let mut drive = drive(reads, 1);
        let capacity =
            u64::from(drive.geometry().host_pages) * u64::from(drive.geometry().page_bytes);
        let mut source = Uniform::reads(24_000, capacity, 16 << 10, 1);
        run_untimed(&mut drive, &mut source, &mut |_, _| true).unwrap();
        assert_eq!(drive.lost_pages(), 0);
        drive.reclaim_counts().invocations
    };
    assert_eq!(reclaimed(0), 0);
    let blocks = reclaimed(982);
    assert!((10..=36).contains(&blocks), "{blocks} blocks rewritten, 20 expected");
}

#[test]
fn a_drive_that_would_begin_with_losses_is_refused() {
    let refused =
        |reads| Drive::new(config(&text(reads)), &usual(), false).err().map(|e| e.to_string());
    assert_eq!(refused(982), None);
    let words = refused(983).unwrap();
    assert!(
        words.contains("start.reads = 983")
            && words.contains(
                "for wordline group all at 0 P/E cycles, start.reads must be at most 982"
            ),
        "{words}"
    );
}
