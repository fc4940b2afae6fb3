//! Drives whose erases count as several P/E cycles, or that skip cycles.

use vpass_drive::base::units::{Cause, Lpn};
use vpass_drive::drive::Drive;
use vpass_oracle::Oracle;
use vpass_techniques::usual;

use crate::watched::{config, end};

const DRIVE: &str = r#"
    geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 30, wordlines_per_block = 8, cell = "slc", page_size = "4KiB" }
    timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
    drive = { spare = 0.5, write_buffer = "0B" }
    wear = { static_gap = 0, acceleration = 10 }
    disturb = { model = "count", table = [{ pec = 0, limit = [9000] }, { pec = 1000, limit = [8000] }] }
"#;

/// Makes a drive with the oracle, in its start-up state.
fn drive(text: &str) -> Drive {
    let mut drive = Drive::new(config(text), &usual(), false).unwrap();
    drive.observe(Box::new(Oracle::new(drive.geometry(), drive.config())));
    drive.precondition(1);
    drive
}

fn write(drive: &mut Drive, pages: u32) {
    Lpn::range(0..pages).for_each(|lpn| drive.write_page(lpn, u64::MAX));
}

fn write_twice(drive: &mut Drive) {
    let pages = drive.geometry().host_pages;
    (0..2).for_each(|_| write(drive, pages));
}

/// An erase counts one cycle during preparation, and ten in the measured phase.
#[test]
fn erases_count_as_configured_from_the_measured_phase_on() {
    let mut drive = drive(DRIVE);
    let cycles =
        |drive: &Drive| drive.block_states().map(|block| u64::from(block.cycles)).sum::<u64>();
    write_twice(&mut drive);
    let before = cycles(&drive);
    assert_eq!(before, drive.flash_counts().erases.iter().sum::<u64>());
    drive.begin_measurement();
    write_twice(&mut drive);
    let erases = drive.flash_counts().erases.iter().sum::<u64>();
    assert!(before > 0 && erases > 0);
    assert_eq!(cycles(&drive), before + 10 * erases);
    end(&mut drive, "ten cycles");
}

/// A block takes skipped cycles over at its next erase. Wear levelling does not see them: blocks
/// with data that is never rewritten are 500 cycles behind, and the gap is 50.
#[test]
fn skipped_cycles_count_from_the_next_erase_on_and_not_for_levelling() {
    let mut drive = drive(&DRIVE.replace("static_gap = 0, acceleration = 10", "static_gap = 50"));
    drive.begin_measurement();
    let mean = drive.mean_cycles();
    drive.skip_cycles(500);
    assert!((drive.mean_cycles() - mean - 500.0).abs() < 1e-9);
    // Only the first quarter of the pages is rewritten.
    let quarter = drive.geometry().host_pages / 4;
    (0..4).for_each(|_| write(&mut drive, quarter));
    let erases = drive.flash_counts().erases;
    assert_eq!(erases[Cause::Wear as usize], 0, "no block lags by 50 erases");
    let taken: Vec<_> = drive.block_states().map(|block| block.pec - block.cycles).collect();
    assert!(taken.contains(&500) && taken.contains(&0), "{taken:?}");
    let of_erased = taken.iter().filter(|taken| **taken == 500).count();
    assert!(of_erased as u64 <= erases.iter().sum::<u64>());
    end(&mut drive, "skipped cycles");
}
