//! Compares an adversary that observes the drive with random reads. The drive has 24 blocks of 8
//! wordlines with one page each, 96 pages of data, and no policy. A wordline endures 900 / 9 = 100
//! reads beside it. With 2,000 random reads each page has 21, so a wordline has a dose of 9 (21 +
//! 21) + 5 x 21 = 483 of its 900.

use vpass_drive::base::units::Lpn;
use vpass_oracle::{Adversary, OracleReport};

use crate::watched::{Random, drive, end};

const DRIVE: &str = r#"
    geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 24, wordlines_per_block = 8, cell = "slc", page_size = "4KiB" }
    reclaim = { schedule = "foreground" }
    timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
    drive = { spare = 0.5 }
    disturb = { model = "wordline", table = [{ pec = 0, limit = [900], alpha = [9.0] }] }
    start = { fill = 1.0 }
"#;

fn attacked(reclaim: &str, requests: u64) -> OracleReport {
    let mut drive = drive(DRIVE, reclaim, false);
    let served = Adversary::new(1, 1).attack(&mut drive, None, requests, &mut |_, _| true).unwrap();
    assert_eq!(served, requests);
    end(&mut drive, reclaim)
}

#[test]
fn an_adversary_hurts_with_few_requests_what_random_reads_leave_whole() {
    let (found, again) = (attacked("none", 2000), attacked("none", 2000));
    assert!(found.lost_pages > 0, "{}", found.worst_dose_ratio);
    assert_eq!(found, again, "the same seed, the same requests");
    let mut drive = drive(DRIVE, "none", false);
    let (mut random, pages) = (Random(0), drive.geometry().host_pages.into());
    for _ in 0..2000 {
        drive.read_page(Lpn::new(random.below(pages) as u32));
    }
    let random = end(&mut drive, "random reads");
    assert!(random.lost_pages == 0 && random.worst_dose_ratio < 0.9, "{}", random.worst_dose_ratio);
}

/// The adversary comes near the limit that a policy allows, but never beyond.
#[test]
fn a_policy_that_protects_stands() {
    let report = attacked("block", 20_000);
    assert!(report.lost_pages == 0 && report.worst_dose_ratio > 0.9, "{}", report.worst_dose_ratio);
}
