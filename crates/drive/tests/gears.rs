//! Both gears have equal effects on flash. With one request at a time, reclaim in the foreground
//! and no background cleaning, time changes no result.

use crate::common;

use common::{Uniform, drive};
use vpass_drive::base::request::Arrival;
use vpass_drive::drive::Drive;
use vpass_drive::time::{Replay, run_untimed};

/// Drive for reads and writes until blocks were reclaimed and cleaned many times.
const DRIVE: &str = r#"
    geometry = { channels = 2, dies_per_channel = 2, planes_per_die = 1, blocks_per_plane = 30, wordlines_per_block = 16, cell = "tlc", page_size = "16KiB" }
    timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
    drive = { spare = 0.25, write_buffer = "256KiB" }
    disturb = { model = "wordline", table = [{ pec = 0, limit = [2000], alpha = [4.0] }] }
    gc = { background = 0 }
    wear = { static_gap = 0 }
    reclaim = { schedule = "foreground", late_reads = 64 }
    start = { fill = 1.0, overwrite = 1.0 }
"#;

fn source(drive: &Drive) -> Uniform {
    let capacity = u64::from(drive.geometry().host_pages) * 16_384;
    Uniform {
        read_share: 0.98,
        arrival: Arrival::Closed { depth: 1 },
        ..Uniform::reads(400_000, capacity, 16_384, 1)
    }
}

#[test]
fn both_gears_move_the_same_pages() {
    let mut untimed = drive(DRIVE, false);
    let mut requests = source(&untimed);
    run_untimed(&mut untimed, &mut requests, &mut |_, _| true).unwrap();

    let mut timed = drive(DRIVE, true);
    let mut requests = source(&timed);
    Replay::new(&timed).run(&mut timed, &mut requests, &mut |_, _| true).unwrap();

    assert!(untimed.reclaim_counts().invocations > 20, "{:?}", untimed.reclaim_counts());
    assert_eq!(untimed.reclaim_counts().pages_copied, timed.reclaim_counts().pages_copied);
    assert_eq!(format!("{:?}", untimed.flash_counts()), format!("{:?}", timed.flash_counts()));
    assert_eq!(untimed.map_rows().collect::<Vec<_>>(), timed.map_rows().collect::<Vec<_>>());
    let owned =
        |drive: &Drive| drive.valid_pages().map(|ppn| (ppn, drive.owner(ppn))).collect::<Vec<_>>();
    assert_eq!(owned(&untimed), owned(&timed));
}

/// Without a given `R_late`, techniques keep the same reserve in both gears, so they rewrite blocks
/// equally often. A job copies 48 pages, each in the time of 11 reads. An eighth of 2,000 / 4 reads
/// is less: 62.
#[test]
fn both_gears_rewrite_as_often() {
    let text =
        DRIVE.replace("schedule = \"foreground\", late_reads = 64", "schedule = \"deadline\"");
    let [untimed, timed] = [false, true].map(|timed| {
        let mut drive = drive(&text, timed);
        assert_eq!(drive.late_reads(), 62);
        let mut reads = Uniform { read_share: 1.0, ..source(&drive) };
        if timed {
            Replay::new(&drive).run(&mut drive, &mut reads, &mut |_, _| true).unwrap();
        } else {
            run_untimed(&mut drive, &mut reads, &mut |_, _| true).unwrap();
        }
        drive.reclaim_counts().invocations as f64
    });
    assert!(untimed > 500.0 && (untimed / timed - 1.0).abs() < 0.03, "{untimed} and {timed} jobs");
}
