//! Numbers of straw-2024 that arithmetic can reproduce: its Fig. 2 and Fig. 4, on drives without
//! reclaim.

use crate::common;

use common::config;
use vpass_drive::base::units::Lpn;
use vpass_drive::drive::{Drive, Techniques};
use vpass_techniques::{card, usual};

/// Creates a drive of one die with one-page wordlines, filled once in order. The first `wordlines`
/// pages are block 0.
fn block(wordlines: u32, limit: f64, alpha: f64) -> Drive {
    let text = format!(
        r#"
        geometry = {{ channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 30, wordlines_per_block = {wordlines}, cell = "slc", page_size = "4KiB" }}
        timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }}
        drive = {{ spare = 0.5 }}
        disturb = {{ model = "wordline", table = [{{ pec = 0, limit = [{limit}], alpha = [{alpha}] }}] }}
        "#
    );
    let none = Techniques { reclaim: card("none"), ..usual() };
    let mut drive = Drive::new(config(&text), &none, false).unwrap();
    drive.precondition(1);
    drive
}

/// Returns the number of reads of block 0 until one of its pages is past its limit. `pattern` gives
/// the page of each read.
fn reads_until_loss(drive: &mut Drive, pattern: impl Fn(u64) -> Lpn) -> u64 {
    let mut reads = 0;
    loop {
        // A loss that was not read counts at the next check, after at most 32 of about ten thousand
        // reads.
        for _ in 0..32 {
            drive.read_pages(&[pattern(reads)]);
            reads += 1;
        }
        drive.report_unread_losses();
        if drive.lost_pages() > 0 {
            return reads;
        }
    }
}

fn close(got: u64, expected: f64) {
    assert!((got as f64 / expected - 1.0).abs() < 0.005, "{got} reads, {expected} expected");
}

/// In straw-2024 Fig. 2, PA reads only the page beside the worst wordline, and PB reads all pages
/// in order.
#[test]
fn the_sample_block_loses_data_when_the_paper_says() {
    let (limit, alpha) = (521_674.0, 9.5615);
    close(reads_until_loss(&mut block(2568, limit, alpha), |_| Lpn::new(35)), 54_560.0);
    close(
        reads_until_loss(&mut block(2568, limit, alpha), |n| Lpn::new((n % 2568) as u32)),
        518_420.0,
    );
}

/// By straw-2024 Fig. 4, a wordline that is not read itself lasts `ERC_MAX / (1 + (alpha - 1) x)`
/// reads, where x is the share of reads on its neighbours. This is checked for every group and P/E
/// count of `straw-2t-tlc`, from x = 0 to x = 1.
#[test]
fn a_share_of_reads_on_the_neighbours_shortens_life_as_the_formula_says() {
    let preset: vpass_drive::config::DriveConfig =
        toml::from_str(include_str!("../../../presets/drives/straw-2t-tlc.toml")).unwrap();
    for row in &preset.disturb.table {
        for (limit, alpha) in row.limit.iter().zip(&row.alpha) {
            for tenths in [0, 3, 10] {
                let mut drive = block(64, *limit, *alpha);
                // Wordlines 30 and 32 are beside 31. The other reads go to many wordlines in turn,
                // none beside another or beside these. A wordline that is read lacks its own reads,
                // so 31 is the first to be lost. The neighbours of read wordlines are empty.
                let elsewhere = |n: u64| Lpn::new(36 + 3 * (n / 10 % 9) as u32);
                let kept = |page: &Lpn| {
                    (30..=32).contains(&page.number()) || (0..90).any(|n| elsewhere(n) == *page)
                };
                Lpn::range(0..64).filter(|page| !kept(page)).for_each(|page| drive.trim_page(page));
                let pattern = |n: u64| {
                    if n % 10 < tenths { Lpn::new(30 + (n % 2 * 2) as u32) } else { elsewhere(n) }
                };
                let x = tenths as f64 / 10.0;
                close(reads_until_loss(&mut drive, pattern), limit / (1.0 + (alpha - 1.0) * x));
            }
        }
    }
}
