//! Compares an adversary that observes the drive with random reads. The drive has 24 blocks of 8
//! wordlines with one page each, 96 pages of data, and no policy. A wordline endures 900 / 9 = 100
//! reads beside it. With 2,000 random reads each page has 21, so a wordline has a dose of 9 (21 +
//! 21) + 5 x 21 = 483 of its 900.

use vpass_drive::base::units::Lpn;
use vpass_drive::config::DriveConfig;
use vpass_drive::drive::{Drive, Techniques};
use vpass_oracle::{Adversary, Oracle, OracleReport};
use vpass_techniques::{card, resolve, usual};

const DRIVE: &str = r#"
    geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 24, wordlines_per_block = 8, cell = "slc", page_size = "4KiB" }
    reclaim = { schedule = "foreground" }
    timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
    drive = { spare = 0.5 }
    disturb = { model = "wordline", table = [{ pec = 0, limit = [900], alpha = [9.0] }] }
    start = { fill = 1.0 }
"#;

fn drive(reclaim: &str) -> Drive {
    let config = resolve(toml::from_str::<DriveConfig>(DRIVE).unwrap()).unwrap();
    let mut drive =
        Drive::new(config, &Techniques { reclaim: card(reclaim), ..usual() }, false).unwrap();
    drive.observe(Box::new(Oracle::new(drive.geometry(), drive.config())));
    drive.precondition(1);
    drive.begin_measurement();
    drive
}

fn end(mut drive: Drive) -> OracleReport {
    drive.report_unread_losses();
    let oracle: Box<dyn std::any::Any> = drive.end_observation().unwrap();
    let report = oracle.downcast::<Oracle>().unwrap().conclude(&drive);
    assert!(!report.is_bug(), "{:?}", report.findings);
    report
}

fn attacked(reclaim: &str, requests: u64) -> OracleReport {
    let mut drive = drive(reclaim);
    let served = Adversary::new(1, 1).attack(&mut drive, None, requests, &mut |_, _| true).unwrap();
    assert_eq!(served, requests);
    end(drive)
}

#[test]
fn an_adversary_hurts_with_few_requests_what_random_reads_leave_whole() {
    let (found, again) = (attacked("none", 2000), attacked("none", 2000));
    assert!(found.lost_pages > 0, "{}", found.worst_dose_ratio);
    assert_eq!(found, again, "the same seed, the same requests");
    let mut drive = drive("none");
    let pages = u64::from(drive.geometry().host_pages);
    let mut random = 0u64;
    for _ in 0..2000 {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        drive.read_page(Lpn::new(((random >> 33) % pages) as u32));
    }
    let random = end(drive);
    assert!(random.lost_pages == 0 && random.worst_dose_ratio < 0.9, "{}", random.worst_dose_ratio);
}

/// The adversary comes near the limit that a policy allows, but never beyond.
#[test]
fn a_policy_that_protects_stands() {
    let report = attacked("block", 20_000);
    assert!(report.lost_pages == 0 && report.worst_dose_ratio > 0.9, "{}", report.worst_dose_ratio);
}
