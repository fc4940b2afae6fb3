//! Who waits for a reclaim job, and for how long?

mod common;

use common::{Cycle, config};
use vpass_core::drive::{Drive, Techniques};
use vpass_core::engine::TimedEngine;

/// The drive of ipr-2018, Table I, cut to four dies: 192 pages a block, 100/1600/5000 us, limit 10,000 reads.
fn ipr(schedule: &str) -> String {
    format!(
        r#"
        geometry = {{ channels = 4, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 40, wordlines_per_block = 64, cell = "tlc", page_size = "32KiB" }}
        timing = {{ sense_us = 100, program_us = 1600, erase_us = 5000, channel_mb_s = 0 }}
        drive = {{ spare = 0.2 }}
        reclaim = {{ schedule = "{schedule}" }}
        disturb = {{ model = "count", table = [{{ pec = 0, limit = [10000] }}] }}
        "#
    )
}

/// Reads the first page of each die's first block in turn, eight at a time.
fn hammer(schedule: &str, reads: u64) -> (Drive, TimedEngine) {
    let mut drive = Drive::new(config(&ipr(schedule)), &Techniques::default(), true).unwrap();
    drive.precondition(1);
    drive.begin_measurement();
    let mut engine = TimedEngine::new(&drive);
    let offsets = (0..4).map(|i| i * 32_768).collect();
    let mut source = Cycle { offsets, bytes: 32_768, left: reads, at: 0, depth: 8 };
    engine.run(&mut drive, &mut source, &mut |_| true).unwrap();
    (drive, engine)
}

#[test]
fn in_the_foreground_the_triggering_read_waits_for_the_whole_job() {
    // 192 x (100 + 1600) us + 5 ms: the hump of ipr-2018's Fig. 10. Then the read itself; before it, one that was under way.
    let (drive, engine) = hammer("foreground", 45_000);
    let job_us = 192.0 * 1700.0 + 5000.0;
    let max_us = engine.metrics().read.max_ns() as f64 / 1e3;
    assert_eq!(drive.reclaim_counts().invocations, 4);
    assert!(max_us > job_us && max_us < job_us * 1.002 + 300.0, "the longest read took {max_us} us, the job {job_us} us");
    assert!(drive.reclaim_counts().stall_ns as f64 / 1e3 > 4.0 * job_us);
}

#[test]
fn a_batch_holds_reads_up_for_its_pages_only() {
    let (drive, engine) = hammer("batch:24", 80_000);
    assert!(drive.reclaim_counts().invocations >= 4 && drive.reclaim_counts().deadline_misses == 0);
    let batch_us = 24.0 * 1700.0;
    let max_us = engine.metrics().read.max_ns() as f64 / 1e3;
    assert!(max_us > batch_us && max_us < batch_us + 5000.0 + 600.0, "the longest read took {max_us} us, a batch {batch_us} us");
}

#[test]
fn a_deadline_job_waits_for_gaps_and_ends_before_its_reads_run_out() {
    let (drive, engine) = hammer("deadline", 80_000);
    assert!(drive.reclaim_counts().invocations >= 4, "{:?}", drive.reclaim_counts());
    assert_eq!(drive.lost_pages(), 0);
    let longest = engine.metrics().read.max_ns() as f64 / 1e3;
    assert!(longest < 192.0 * 1700.0, "the longest read took {longest} us: that is the whole job");
}

#[test]
fn every_schedule_loses_nothing_and_reports_the_reads_that_met_a_job() {
    for schedule in ["foreground", "batch:1", "batch:24", "batch:500", "deadline"] {
        let (drive, engine) = hammer(schedule, 60_000);
        assert_eq!(drive.lost_pages(), 0, "{schedule}");
        assert!(engine.metrics().read_during_reclaim.count() > 0, "{schedule}");
        assert_eq!(engine.metrics().read.count(), 60_000, "{schedule}");
    }
}
