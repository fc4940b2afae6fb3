//! Techniques that detect read-hot pages, on a drive on which a few pages take nearly all reads.

use vpass_drive::base::units::{Cause, Lpn};
use vpass_drive::config::DriveConfig;
use vpass_drive::drive::{Drive, Techniques};
use vpass_techniques::{card, resolve, usual};

/// Drive of 60 blocks of 24 TLC pages with a limit of 1,000 reads.
const DRIVE: &str = r#"
    geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 60, wordlines_per_block = 8, cell = "tlc", page_size = "4KiB" }
    timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
    drive = { spare = 0.4 }
    disturb = { model = "count", table = [{ pec = 0, limit = [1000] }] }
    wear = { static_gap = 0 }
"#;

/// Reads from a drive: nine of ten reads go to 12 pages in 12 blocks, the others to all pages in
/// turn.
fn read_hot_and_cold(reclaim: &str, reads: u32, set: impl Fn(&mut DriveConfig)) -> Drive {
    let mut config: DriveConfig = toml::from_str(DRIVE).unwrap();
    set(&mut config);
    let techniques = Techniques { reclaim: card(reclaim), ..usual() };
    let mut drive = Drive::new(resolve(config).unwrap(), &techniques, false).unwrap();
    drive.precondition(1);
    drive.begin_measurement();
    let host_pages = drive.geometry().host_pages;
    for n in 0..reads {
        let lpn = if n % 10 == 0 { n / 10 % host_pages } else { n % 12 * (host_pages / 12) };
        drive.read_page(Lpn::new(lpn));
    }
    drive.report_unread_losses();
    drive
}

fn count(drive: &Drive, name: &str) -> u64 {
    drive.technique_counts().into_iter().find(|(n, _)| *n == name).map_or(0, |(_, count)| count)
}

fn erases(drive: &Drive) -> u64 {
    drive.flash_counts().erases[Cause::Reclaim as usize]
        + drive.flash_counts().erases[Cause::Gc as usize]
}

#[test]
fn guard_levels_save_erases_and_lose_nothing() {
    let block = read_hot_and_cold("block", 2_000_000, |_| ());
    for technique in ["hotld", "ipr"] {
        let drive = read_hot_and_cold(technique, 2_000_000, |_| ());
        assert_eq!((drive.lost_pages(), drive.uncorrectable_reads()), (0, 0), "{technique}");
        let (fewer, all) = (erases(&drive), erases(&block));
        assert!(fewer * 2 < all, "{technique} erased {fewer} blocks, block {all}");
    }
}

#[test]
fn ipr_reprograms_in_the_pool_only() {
    let drive = read_hot_and_cold("ipr", 500_000, |_| ());
    assert!(drive.reclaim_counts().reprograms > 0);
    let nowhere = read_hot_and_cold("ipr", 500_000, |c| c.density.pool = 0.0);
    assert_eq!(nowhere.reclaim_counts().reprograms, 0);
    assert!(count(&nowhere, "outside_pool") > 0);
}

#[test]
fn ipr_does_not_reprogram_for_nothing() {
    let drive = read_hot_and_cold("ipr", 500_000, |c| c.density.limit_factor = 1.0);
    assert_eq!((drive.reclaim_counts().reprograms, drive.lost_pages()), (0, 0));
}

#[test]
fn the_least_read_block_gives_its_guard_levels_back() {
    for technique in ["hotld", "ipr"] {
        let drive = read_hot_and_cold(technique, 2_000_000, |c| {
            (c.density.low_density, c.density.pool) = (1.0 / 60.0, 1.0)
        });
        assert!(count(&drive, "reversals") > 0, "{technique}");
        assert_eq!(drive.lost_pages(), 0, "{technique}");
    }
}

#[test]
fn every_ratio_may_be_none_or_all() {
    let ratios: [fn(&mut DriveConfig) -> &mut f64; 4] = [
        |c| &mut c.density.pool,
        |c| &mut c.density.low_density,
        |c| &mut c.density.monitor,
        |c| &mut c.density.shadow,
    ];
    for technique in ["hotld", "ipr"] {
        for ratio in ratios {
            for value in [0.0, 1.0] {
                let drive = read_hot_and_cold(technique, 100_000, |c| *ratio(c) = value);
                assert_eq!(drive.lost_pages(), 0, "{technique}");
            }
        }
        let drive = read_hot_and_cold(technique, 100_000, |c| c.density.spare_share = 0.0);
        assert_eq!((drive.lost_pages(), drive.reclaim_counts().reprograms), (0, 0), "{technique}");
    }
}

#[test]
fn the_paper_s_controller_takes_1_37_mb_for_128_gb() {
    // Pages have 32 KiB, and a block has 192: 27,307 blocks.
    let config = DRIVE
        .replace(
            "blocks_per_plane = 60, wordlines_per_block = 8",
            "blocks_per_plane = 27307, wordlines_per_block = 64",
        )
        .replace("4KiB", "32KiB");
    let config: DriveConfig = toml::from_str(&config).unwrap();
    let techniques = Techniques { reclaim: card("ipr"), ..usual() };
    let drive = Drive::new(resolve(config).unwrap(), &techniques, false).unwrap();
    // The controller needs 12 bytes per block, and 2 for each page of 2,730 monitor blocks
    // (ipr-2018 III-E gives 1.37 MB).
    assert_eq!(drive.controller_ram().0, 27_307 * 12 + 2_730 * 192 * 2);
}
