//! Correctness of wear and loss. Greedy's write amplification is compared with its closed form. The
//! computed steady state is compared with a drive that was really written. Limits are reached
//! exactly when arithmetic predicts it.

use crate::common;

use common::{Uniform, config, drive};
use vpass_drive::base::units::{Cause, Lpn};
use vpass_drive::drive::{Drive, Techniques};
use vpass_drive::flash::block::BlockState;
use vpass_drive::time::run_untimed;
use vpass_techniques::{card, usual};

/// Returns a drive of 2,000 blocks of 128 pages on 4 dies, written in whole pages.
fn many_blocks(spare: f64) -> String {
    format!(
        r#"
        geometry = {{ channels = 2, dies_per_channel = 2, planes_per_die = 1, blocks_per_plane = 500, wordlines_per_block = 64, cell = "mlc", page_size = "16KiB" }}
        timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }}
        drive = {{ spare = {spare}, write_buffer = 0 }}
        "#
    )
}

fn write_uniformly(drive: &mut Drive, pages: u64) {
    let capacity = u64::from(drive.geometry().host_pages) * u64::from(drive.geometry().page_bytes);
    let bytes = drive.geometry().page_bytes;
    let mut source = Uniform { read_share: 0.0, ..Uniform::reads(pages, capacity, bytes, 1) };
    run_untimed(drive, &mut source, &mut |_, _| true).unwrap();
}

fn write_amplification(drive: &Drive) -> f64 {
    let programs: u64 = drive.flash_counts().programs.iter().sum();
    programs as f64 / drive.host_counts().write_pages as f64
}

/// Returns the write amplification of greedy GC under uniform writes (mean field). Blocks have b
/// pages, and a share alpha of the cleanable pages is valid. Blocks enter full and leave with m
/// valid pages, where `H(b) - H(m) = (b - m) / (alpha b)`, and `WA = b / (b - m)`.
fn closed_form(alpha: f64, pages: u32) -> f64 {
    let b = f64::from(pages);
    let (mut harmonic, mut m) = (0.0, b);
    loop {
        // Between two whole numbers, the sum grows linearly.
        let next = harmonic + 1.0 / m;
        if next >= (b - (m - 1.0)) / (alpha * b) {
            let excess = |x: f64| harmonic + (m - x) / m - (b - x) / (alpha * b);
            let (mut low, mut high) = (m - 1.0, m);
            for _ in 0..60 {
                let x = f64::midpoint(low, high);
                if excess(x) > 0.0 { low = x } else { high = x }
            }
            return b / (b - low);
        }
        harmonic = next;
        m -= 1.0;
    }
}

#[test]
fn greedy_write_amplification_is_that_of_the_closed_form() {
    for spare in [0.1, 0.15, 0.2, 0.3, 0.4] {
        let mut drive = drive(&many_blocks(spare), false);
        let pages = u64::from(drive.geometry().host_pages);
        write_uniformly(&mut drive, 4 * pages);
        drive.begin_measurement();
        write_uniformly(&mut drive, 2 * pages);
        let closed = drive.block_states().filter(|b| b.state == BlockState::Closed).count() as f64;
        let open_pages: u32 = drive
            .block_states()
            .filter(|b| b.state == BlockState::Open)
            .map(|b| u32::from(b.written))
            .sum();
        let cleanable = closed * 128.0 + f64::from(open_pages);
        let expected = closed_form(pages as f64 / cleanable, 128);
        let got = write_amplification(&drive);
        assert!(
            (got / expected - 1.0).abs() < 0.03,
            "spare {spare}: {got:.3}, closed form {expected:.3}"
        );
    }
}

#[test]
fn the_computed_steady_state_is_that_of_a_drive_really_written() {
    let text = r#"
        geometry = { channels = 4, dies_per_channel = 2, planes_per_die = 1, wordlines_per_block = 64, cell = "tlc", page_size = "4KiB" }
        timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
        drive = { capacity = "18GiB", spare = 0.15, write_buffer = 0 }
        start = { overwrite = 1.0 }
    "#;
    let mut computed = drive(text, false);
    let mut written = drive(&text.replace("overwrite = 1.0", "overwrite = 0.0"), false);
    let pages = u64::from(written.geometry().host_pages);
    write_uniformly(&mut written, 3 * pages);
    let histogram = |drive: &Drive| {
        let mut valid: Vec<u16> = drive
            .block_states()
            .filter(|b| b.state == BlockState::Closed)
            .map(|b| b.valid)
            .collect();
        valid.sort_unstable();
        valid
    };
    let (a, b) = (histogram(&computed), histogram(&written));
    for q in [0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98] {
        let at = |v: &Vec<u16>| f64::from(v[(v.len() as f64 * q) as usize]);
        assert!(
            (at(&a) - at(&b)).abs() < 0.02 * 192.0,
            "quantile {q}: {} computed, {} written",
            at(&a),
            at(&b)
        );
    }
    for drive in [&mut computed, &mut written] {
        drive.begin_measurement();
        write_uniformly(drive, pages / 4);
    }
    let (a, b) = (write_amplification(&computed), write_amplification(&written));
    assert!((a / b - 1.0).abs() < 0.02, "write amplification {a:.3} computed, {b:.3} written");
}

/// Drive of one die with three wordlines of one page per block: alpha 9, limit 900.
const HAND: &str = r#"
    geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 30, wordlines_per_block = 3, cell = "slc", page_size = "4KiB" }
    timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
    drive = { spare = 0.5 }
    disturb = { model = "wordline", table = [{ pec = 0, limit = [900], alpha = [9.0] }] }
    reclaim = { schedule = "foreground" }
"#;

fn read(drive: &mut Drive, lpn: u32, times: u32) {
    for _ in 0..times {
        drive.read_pages(&[Lpn::new(lpn)]);
    }
}

#[test]
fn a_neighbour_is_lost_with_the_first_read_past_its_limit() {
    // Pages 0, 1 and 2 fill block 0. 100 reads of page 1 add a dose of 900 to both neighbours: at
    // the limit, but not above it.
    let none = Techniques { reclaim: card("none"), ..usual() };
    let mut drive = Drive::new(config(HAND), &none, false).unwrap();
    drive.precondition(1);
    read(&mut drive, 1, 100);
    read(&mut drive, 0, 1);
    assert_eq!(drive.uncorrectable_reads(), 0);
    // After one more read, page 0 has 909, and page 2 has 900 + 9 + 1 (from the read of page 0).
    read(&mut drive, 1, 1);
    read(&mut drive, 0, 1);
    read(&mut drive, 2, 1);
    assert_eq!((drive.uncorrectable_reads(), drive.lost_pages()), (2, 2));
    // Page 1 itself has only the dose of its neighbours' reads: 2 x 9 + 9.
    read(&mut drive, 1, 1);
    assert_eq!(drive.lost_pages(), 2);
    drive.report_unread_losses();
    assert_eq!(drive.lost_pages(), 2);
}

#[test]
fn pages_past_their_limit_that_nobody_reads_are_reported_at_the_end() {
    let none = Techniques { reclaim: card("none"), ..usual() };
    let mut drive = Drive::new(config(HAND), &none, false).unwrap();
    drive.precondition(1);
    read(&mut drive, 1, 101);
    assert_eq!(drive.lost_pages(), 0);
    drive.report_unread_losses();
    assert_eq!((drive.lost_pages(), drive.uncorrectable_reads()), (2, 0));
}

#[test]
fn the_weak_page_kind_is_lost_first() {
    let none = Techniques { reclaim: card("none"), ..usual() };
    let text = HAND
        .replace("\"slc\"", "\"mlc\"")
        .replace("model = ", "kind_factor = [1.5, 1.0], model = ");
    let mut drive = Drive::new(config(&text), &none, false).unwrap();
    drive.precondition(1);
    // Pages 2 and 3 are the middle wordline. Both neighbours get a dose of 909, with limits of
    // 1,350 (LSB, pages 0 and 4) and 900 (MSB, 1 and 5).
    read(&mut drive, 2, 101);
    read(&mut drive, 0, 1);
    read(&mut drive, 4, 1);
    assert_eq!(drive.uncorrectable_reads(), 0);
    read(&mut drive, 1, 1);
    assert_eq!((drive.uncorrectable_reads(), drive.lost_pages()), (1, 1));
    drive.report_unread_losses();
    assert_eq!(drive.lost_pages(), 2);
}

#[test]
fn block_reclaim_comes_before_the_first_loss() {
    // In this drive, D_move = 3 + 2 x 8 x 1 = 19 and T = floor((900 - 19) / 9) = 97.
    let mut drive = drive(HAND, false);
    read(&mut drive, 1, 96);
    assert_eq!(drive.reclaim_counts().invocations, 0);
    read(&mut drive, 1, 1);
    assert_eq!((drive.reclaim_counts().invocations, drive.reclaim_counts().pages_copied), (1, 3));
    assert_eq!(drive.flash_counts().erases[Cause::Reclaim as usize], 1);
    read(&mut drive, 1, 10_000);
    assert_eq!(drive.lost_pages(), 0);
}

/// Writes nine tenths of the pages never again, so that only levelling wears their blocks. Each
/// block of them must then move once per gap. The wear of all blocks differs by hardly more than the
/// gap, and levelling copies hardly more than these blocks.
#[test]
fn static_levelling_keeps_the_gap() {
    for gap in [10, 20, 50] {
        let text = format!("{HOT_COLD}\nwear = {{ static_gap = {gap} }}");
        let mut drive = drive(&text, false);
        let (pages, mut random) = (drive.geometry().host_pages, 1_u64);
        let mut widest = 0;
        for _ in 0..40 {
            for _ in 0..50_000 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                drive.write_page(Lpn::new((random >> 33) as u32 % (pages / 10)), u64::MAX);
            }
            let wear = || drive.block_states().map(|block| block.pec);
            widest = widest.max(wear().max().unwrap() - wear().min().unwrap());
        }
        assert!((gap..=gap + 3).contains(&widest), "gap {gap}: wear differs by {widest}");
        let flash = drive.flash_counts();
        let cold_blocks = 0.9 * f64::from(pages) / 24.0;
        let turns = flash.erases.iter().sum::<u64>() as f64 / f64::from(drive.geometry().blocks);
        let most = cold_blocks * turns / f64::from(gap) * 24.0;
        let share = flash.programs[Cause::Wear as usize] as f64 / most;
        assert!(turns > 3.0 * f64::from(gap), "gap {gap}: only {turns} turns");
        assert!((0.6..=1.0).contains(&share), "gap {gap}: {share} of the largest number of copies");
    }
}

/// One plane of 400 blocks of 24 pages, a sixth of them spare.
const HOT_COLD: &str = r#"
    geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 400, wordlines_per_block = 8, cell = "tlc", page_size = "4KiB" }
    timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
    drive = { spare = 0.16, write_buffer = 0 }
"#;

#[test]
fn reading_what_was_never_written_costs_no_flash() {
    let mut drive = drive(&format!("{HAND}\nstart = {{ fill = 0.0 }}"), false);
    for lpn in 0..45 {
        read(&mut drive, lpn, 10);
    }
    assert_eq!(drive.host_counts().unmapped_read_pages, 450);
    let flash = drive.flash_counts();
    assert_eq!((flash.reads, flash.programs, flash.erases), ([0; 8], [0; 8], [0; 8]));
}

#[test]
fn an_impossible_drive_is_refused_with_the_smallest_capacity_that_works() {
    for (channels, wordlines, spare) in [(1, 8, 0.1), (2, 64, 0.07), (2, 3, 0.3), (2, 500, 0.04)] {
        let text = |capacity: &str| {
            format!(
                r#"
                geometry = {{ channels = {channels}, dies_per_channel = 2, planes_per_die = 2, wordlines_per_block = {wordlines}, cell = "tlc", page_size = "16KiB" }}
                timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }}
                drive = {{ capacity = {capacity}, spare = {spare}, write_buffer = "64KiB" }}
                "#
            )
        };
        let parse = |capacity: &str| {
            toml::from_str::<vpass_drive::config::DriveConfig>(&text(capacity)).unwrap().resolve()
        };
        let refused = parse("\"64KiB\"").expect_err("too small").to_string();
        let smallest: u64 = refused
            .split(" is ")
            .last()
            .unwrap()
            .split(' ')
            .next()
            .unwrap()
            .parse()
            .unwrap_or_else(|_| panic!("{refused}"));
        assert!(parse(&smallest.to_string()).is_ok(), "{refused}: it does not work");
        let mut drive = Drive::new(parse(&smallest.to_string()).unwrap(), &usual(), false).unwrap();
        drive.precondition(1);
        let pages = u64::from(drive.geometry().host_pages);
        write_uniformly(&mut drive, 5 * pages);
        assert!(drive.map_rows().count() as u64 == pages);
    }
}
