//! Tests of counts per block and of passes over the whole drive. The drive has 30 blocks.

use crate::{card, usual};
use vpass_drive::base::units::{Cause, Lpn};
use vpass_drive::config::DriveConfig;
use vpass_drive::drive::{Drive, Techniques};

const LIMIT: &str = "[{ pec = 0, limit = [1000.0] }]";

/// Returns a drive with one die of 30 blocks, and 20 pages per block. The host's data fills 15
/// blocks.
fn config_of(start: &str, given: &str, limits: &str, more: &str) -> DriveConfig {
    let text = format!(
        r#"
        geometry = {{ channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 30, wordlines_per_block = 20, cell = "slc", page_size = "4KiB" }}
        timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }}
        drive = {{ spare = 0.5 }}
        start = {{ {start} }}
        disturb = {{ model = "count", table = {limits} }}
        {more}
        [reclaim.count]
        {given}
        "#
    );
    crate::testing::config(&text)
}

fn drive(config: DriveConfig, timed: bool) -> Drive {
    let technique = Techniques { reclaim: card("count"), ..usual() };
    let mut drive = Drive::new(config, &technique, timed).unwrap();
    drive.precondition(1);
    drive.begin_measurement();
    drive
}

fn drive_with(start: &str, given: &str, limits: &str, more: &str) -> Drive {
    drive(config_of(start, given, limits, more), false)
}

fn drive_of(start: &str, given: &str) -> Drive {
    drive_with(start, given, LIMIT, "")
}

fn erases(drive: &Drive) -> u64 {
    drive.flash_counts().erases[Cause::Reclaim as usize]
}

fn count(drive: &Drive, name: &str) -> u64 {
    drive.technique_counts().iter().find(|(of, _)| *of == name).expect("it counts this").1
}

/// Reads a page until its block has moved, and returns the number of reads.
fn reads_until_a_move(drive: &mut Drive, page: u32) -> u32 {
    let before = erases(drive);
    (1..=1000)
        .find(|_| {
            drive.read_pages(&[Lpn::new(page)]);
            erases(drive) > before
        })
        .expect("it moves")
}

/// Returns the first host page in each of the first `blocks` blocks that hold data, in the order of
/// the blocks.
fn first_pages(drive: &Drive, blocks: u32) -> Vec<u32> {
    let pages = drive.geometry().pages_per_block;
    let mut rows: Vec<(u32, u32)> =
        drive.map_rows().map(|row| (row.ppn.number() / pages, row.lpn.number())).collect();
    rows.sort_unstable();
    rows.dedup_by_key(|(block, _)| *block);
    rows.iter().take(blocks as usize).map(|(_, page)| *page).collect()
}

#[test]
fn worked_example() {
    let moves = |given: &str| {
        let mut drive = drive_of("fill = 1.0", given);
        let pages = first_pages(&drive, 4);
        pages.iter().map(|page| reads_until_a_move(&mut drive, *page)).collect::<Vec<_>>()
    };
    assert_eq!(moves("reads = 100"), [100, 100, 100, 100]);
    // The initial counts are 100 times the fractional parts of multiples of (sqrt(5) - 1) / 2.
    let begun: Vec<u32> = (0..4)
        .map(|block| (f64::from(block) * (5f64.sqrt() - 1.0) / 2.0).fract() * 100.0)
        .map(|begun| begun as u32)
        .collect();
    assert_eq!(begun, [0, 61, 23, 85]);
    assert_eq!(moves("reads = 100\nspread = 1.0"), [100, 39, 77, 15]);
}

#[test]
fn at_its_new_place_data_begins_with_no_read_counted() {
    let mut drive = drive_of("fill = 1.0", "reads = 100\nspread = 1.0");
    let page = first_pages(&drive, 2)[1];
    let waits = [(); 3].map(|()| reads_until_a_move(&mut drive, page));
    assert_eq!(waits, [39, 100, 100]);
    assert_eq!(drive.reclaim_counts().pages_copied, 3 * 20);
}

/// A third of the blocks move at the same count, as in SSD-A.
#[test]
fn the_blocks_that_are_not_spread_move_together() {
    let mut drive = drive_of("fill = 1.0", "reads = 100\nspread = 0.67");
    let pages = first_pages(&drive, 15);
    let waits: Vec<u32> = pages.iter().map(|page| reads_until_a_move(&mut drive, *page)).collect();
    let place = |block: u32| (f64::from(block) * (5f64.sqrt() - 1.0) / 2.0).fract();
    for (block, wait) in (0..).zip(&waits) {
        let begun = ((place(block) - 0.33) / 0.67).max(0.0) * 100.0;
        assert_eq!(*wait, 100 - begun as u32, "block {block}");
    }
    let together: Vec<usize> = (0..15).filter(|block| waits[*block] == 100).collect();
    assert_eq!(together, [0, 2, 5, 7, 10, 13]);
}

#[test]
fn reads_before_the_run_count() {
    let mut drive = drive_of("fill = 1.0, reads = 90", "reads = 100");
    let page = first_pages(&drive, 1)[0];
    let block = drive.map_row(Lpn::new(page)).unwrap().ppn.number() / 20;
    let served = drive.block_states().nth(block as usize).unwrap().reads as u32;
    assert!((1..=90).contains(&served), "{served}");
    assert_eq!(reads_until_a_move(&mut drive, page), 100 - served);
}

/// A page in a worn block is lost above a dose of 50. A page in a new block endures a dose of
/// 1,000.
#[test]
fn the_count_does_not_fall_with_limits_and_what_is_lost_is_reported() {
    let lost_at = |pec: u32| {
        let rows = "[{ pec = 0, limit = [1000.0] }, { pec = 1000, limit = [50.0] }]";
        let mut drive = drive_with(&format!("fill = 1.0, pec = {pec}"), "reads = 100", rows, "");
        drive.read_pages(&[Lpn::new(7); 99]);
        assert_eq!(erases(&drive), 0, "{pec}");
        drive.read_pages(&[Lpn::new(7)]);
        assert_eq!(erases(&drive), 1, "{pec}");
        drive.lost_pages()
    };
    assert_eq!(lost_at(0), 0);
    assert!(lost_at(1000) > 0);
}

const RETRIES: &str = r#"
    error = { model = "powerlaw", e = 0.001, b = 0.0 }
    ecc = { cap = [0.002, 0.0025, 0.003, 0.0035], retry_decode_us = [20, 20, 20] }
"#;

/// A read takes one retry above a dose of 100, two above 150, and three above 200.
#[test]
fn a_read_that_took_retries_moves_its_block() {
    let limits = "[{ pec = 0, limit = [100.0] }]";
    let moves_at = |retries: u32| {
        let given = format!("reads = 170\nretries = {retries}");
        let mut drive = drive_with("fill = 1.0", &given, limits, RETRIES);
        let reads = reads_until_a_move(&mut drive, 7);
        assert_eq!(drive.reclaim_counts().pages_copied, 20, "the whole block");
        (reads, count(&drive, "early_moves"))
    };
    assert_eq!(moves_at(1), (102, 1), "101 have left more than 100");
    // From the 102nd read on, each read has a retry and counts twice.
    assert_eq!(moves_at(2), (127, 1), "126 have left 101 + 2 x 25");
    assert_eq!(moves_at(0), (133, 0), "101 + 2 x 25 + 3 x 7 > 170");
}

/// A drive with hints counts the retries of reads with each hint. With `retries = 0`, no block
/// moves because of such retries.
#[test]
fn without_such_retries_hints_move_no_block() {
    let limits = "[{ pec = 0, limit = [100.0] }]";
    let hints = "hints = { typical_us = 500, idle_us = 600, margin = 0.0 }";
    let mut config =
        config_of("fill = 1.0", "reads = 170\nretries = 0", limits, &format!("{RETRIES}{hints}"));
    config.hints.said = Some(vec![]);
    let mut drive = drive(config, false);
    assert!(drive.hint_outcomes().is_some());
    drive.read_pages(&[Lpn::new(7); 120]);
    assert_eq!((count(&drive, "early_moves"), erases(&drive)), (0, 0));
    assert!(drive.flash_counts().retried[1..].iter().sum::<u64>() > 0);
}

#[test]
fn retries_on_a_drive_without_any_are_refused() {
    let config = config_of("fill = 1.0", "retries = 2", LIMIT, "");
    let technique = Techniques { reclaim: card("count"), ..usual() };
    assert_eq!(
        Drive::new(config, &technique, false).err().map(|e| e.to_string()),
        Some(
            "reclaim.count.retries = 2 needs a drive with read retries: set [error] and an [ecc] \
             with more than one level, or set reclaim.count.retries = 0"
                .into()
        )
    );
}

/// A pass is due after every 20 x 30 reads of the host, and the host's data fills 15 blocks.
mod drive_wide {
    use super::*;

    const GIVEN: &str = "reads = 20\ndrive_wide = 1";

    fn read(drive: &mut Drive, page: u32, times: u32) -> u64 {
        (0..times).for_each(|_| drive.read_pages(&[Lpn::new(page)]));
        erases(drive)
    }

    #[test]
    fn all_blocks_move_once_a_pass_whichever_is_read() {
        let mut drive = drive_of("fill = 1.0", GIVEN);
        assert_eq!(read(&mut drive, 7, 599), 0);
        // From here on, each read moves one block.
        assert_eq!(read(&mut drive, 7, 1), 1);
        assert_eq!(read(&mut drive, 7, 14), 15);
        assert_eq!(read(&mut drive, 7, 585), 15);
        assert_eq!(read(&mut drive, 7, 1), 16, "1,200 reads");
        assert_eq!(read(&mut drive, 7, 599), 30);
        assert_eq!((drive.reclaim_counts().pages_copied, count(&drive, "passes")), (600, 2));
        assert_eq!(drive.lost_pages(), 0);
    }

    #[test]
    fn reads_before_the_measured_phase_count() {
        let mut drive = drive_of("fill = 1.0", GIVEN);
        read(&mut drive, 7, 300);
        drive.begin_measurement();
        assert_eq!((read(&mut drive, 7, 299), read(&mut drive, 7, 1)), (0, 1));
    }

    #[test]
    fn worked_example() {
        let mut drive = drive_of("fill = 1.0", GIVEN);
        assert_eq!(read(&mut drive, 7, 599), 0);
        assert_eq!(drive.reclaim_counts().alarms, 542 / 2 + (599 - 542));
        assert_eq!((read(&mut drive, 7, 599), read(&mut drive, 7, 2)), (15, 16));
    }

    #[test]
    fn few_alarms_ring_before_a_pass() {
        let mut drive = drive_of("fill = 1.0", "reads = 800\ndrive_wide = 1");
        assert_eq!(read(&mut drive, 7, 23_999), 0);
        // Alarms come every 100 reads until 3,000 reads are left. From then on, each alarm leaves
        // 29/30 of the reads that were left.
        let last: f64 = (3000f64 / 60.0).ln() / (30f64 / 29.0).ln() + 60.0;
        let alarms = drive.reclaim_counts().alarms as f64;
        assert!((alarms / (210.0 + last) - 1.0).abs() < 0.1, "{alarms}, {last}");
    }

    #[test]
    fn evenly_read_blocks_move_when_the_pass_is_due() {
        let mut drive = drive_of("fill = 1.0", GIVEN);
        (0..599).for_each(|n| drive.read_pages(&[Lpn::new(n * 7 % 300)]));
        assert_eq!(erases(&drive), 0);
        (0..25).for_each(|n| drive.read_pages(&[Lpn::new(n * 12 % 300)]));
        assert_eq!(erases(&drive), 15);
    }

    #[test]
    fn what_was_written_during_a_pass_stays() {
        let mut drive = drive_of("fill = 1.0", GIVEN);
        assert_eq!(read(&mut drive, 7, 600), 1);
        (0..300).for_each(|page| drive.write_page(Lpn::new(page), u64::MAX));
        drive.drain_buffer();
        assert_eq!(read(&mut drive, 7, 599), 1);
        assert_eq!(read(&mut drive, 7, 1), 2);
    }

    /// One block of the only die moves at a time. The next begins when it is done.
    #[test]
    fn no_more_blocks_move_at_a_time_than_there_are_dies() {
        let more = "[reclaim]\nschedule = \"deadline\"\nlate_reads = 500";
        let mut drive = super::drive(config_of("fill = 1.0", GIVEN, LIMIT, more), true);
        let moves = |drive: &Drive, block| !drive.view(block).is_idle(block);
        let jobs = |drive: &Drive| {
            drive.geometry().block_ids().filter(|block| moves(drive, *block)).count()
        };
        read(&mut drive, 7, 599);
        assert_eq!(jobs(&drive), 0);
        read(&mut drive, 7, 1);
        assert_eq!(jobs(&drive), 1);
        read(&mut drive, 47, 50);
        assert_eq!((jobs(&drive), erases(&drive)), (1, 0));
    }
}
