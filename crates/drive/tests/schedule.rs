//! Waiting times for a reclaim job, and the requests that wait.

use crate::common;

use common::log::{Log, Logged, run_watched};
use common::{Cycle, PAGE, Script, Uniform, config, dies};
use vpass_drive::base::request::{Arrival, Op, Request};
use vpass_drive::base::units::{Cause, Ns, Ppn};
use vpass_drive::drive::{Drive, Techniques};
use vpass_drive::time::{Replay, warm_up};
use vpass_techniques::{card, usual};

/// Returns the drive of ipr-2018, Table I, reduced to four dies: 192 pages per block, 100/1600/5000
/// us, limit 10,000 reads.
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
fn hammer(schedule: &str, reads: u64) -> (Drive, Replay) {
    let mut drive = Drive::new(config(&ipr(schedule)), &usual(), true).unwrap();
    drive.precondition(1);
    drive.begin_measurement();
    let mut engine = Replay::new(&drive);
    let offsets = (0..4).map(|i| i * 32_768).collect();
    let mut source = Cycle { offsets, bytes: 32_768, left: reads, at: 0, depth: 8 };
    engine.run(&mut drive, &mut source, &mut |_, _| true).unwrap();
    (drive, engine)
}

#[test]
fn in_the_foreground_the_triggering_read_waits_for_the_whole_job() {
    // The job takes 192 x (100 + 1600) us + 5 ms: the hump of ipr-2018's Fig. 10. The read itself
    // comes after it, and a read that was already running before it.
    let (drive, engine) = hammer("foreground", 45_000);
    let job_us = 192.0 * 1700.0 + 5000.0;
    let max_us = engine.metrics().read.max_ns() as f64 / 1e3;
    assert_eq!(drive.reclaim_counts().invocations, 4);
    assert!(
        max_us > job_us && max_us < job_us * 1.002 + 300.0,
        "the longest read took {max_us} us, the job {job_us} us"
    );
    assert!(drive.reclaim_counts().stall_ns as f64 / 1e3 > 4.0 * job_us);
}

#[test]
fn a_batch_holds_reads_up_for_its_pages_only() {
    let (drive, engine) = hammer("batch:24", 80_000);
    assert!(drive.reclaim_counts().invocations >= 4 && drive.reclaim_counts().deadline_misses == 0);
    let batch_us = 24.0 * 1700.0;
    let max_us = engine.metrics().read.max_ns() as f64 / 1e3;
    assert!(
        max_us > batch_us && max_us < batch_us + 5000.0 + 600.0,
        "the longest read took {max_us} us, a batch {batch_us} us"
    );
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

/// Reads from a drive whose blocks act at 10,000 - 192 - 50 = 9,758 reads and may serve 50 more.
/// This is fewer than the reads of a job. The last page of its first block is read every `every`
/// nanoseconds.
fn read_steadily(schedule: &str, every: Ns, reads: u64) -> (Drive, Replay, Log) {
    let text = ipr(schedule).replace("reclaim = {", "reclaim = { late_reads = 50,");
    run_watched(&text, |drive| {
        let last = drive.map_rows().find(|row| row.ppn == Ppn::new(191)).unwrap().lpn;
        let read = |n| Request {
            at: n * every,
            offset: last.offset(32_768),
            bytes: 32_768,
            op: Op::Read,
            origin: 0,
            hint: None,
        };
        Script((1..=reads).map(read).collect())
    })
}

/// Returns the number of host reads of the first block until it is erased.
fn reads_until_erased(log: &Log) -> u64 {
    log.reads_below(
        Ppn::new(192),
        |event| matches!(event, Logged::Erased(block) if block.index() == 0),
    )
}

const JOB_NS: u64 = 192 * 1_700_000 + 5_000_000;

/// A read every 120 us is as much as the die can serve. The page that is read is the block's last
/// one, and the block's job takes as long as 2,760 reads. The job is finished at the last of the 50
/// reads. Waiting reads count as delayed by reclaim, and the missed deadline is counted.
#[test]
fn a_block_at_its_deadline_serves_no_read_until_its_pages_have_moved() {
    for schedule in ["deadline", "batch:1"] {
        let (drive, _, log) = read_steadily(schedule, 120_000, 12_000);
        let first_copy = log.reads_below(
            Ppn::new(192),
            |event| matches!(event, Logged::Copied(ppn, Cause::Reclaim) if ppn.index() < 192),
        );
        assert!(first_copy >= 9758, "{schedule}: moved from {first_copy} reads on");
        assert_eq!(
            reads_until_erased(&log),
            9758 + 50,
            "{schedule}: the job's own 192 reads are none of the 50"
        );
        assert_eq!(
            log.reads_below(Ppn::new(192), |_| false),
            9758 + 50,
            "{schedule}: later reads go elsewhere"
        );
        let counts = drive.reclaim_counts();
        assert_eq!(
            (counts.invocations, counts.deadline_misses, drive.lost_pages()),
            (1, 1, 0),
            "{schedule}"
        );
        // Between one and all of the 50 reads, and one that was already running, wait for the rest
        // of the job.
        assert!(
            (JOB_NS / 2..51 * JOB_NS).contains(&counts.stall_ns),
            "{schedule}: {} ns, the job takes {JOB_NS} ns",
            counts.stall_ns
        );
    }
}

/// A read comes every 20 ms. The job's 192 reads are more than the 50 that the block may serve.
/// Still, no read waits longer than for a piece of the job or the erase. In batches, the block is
/// left when the last of eight begins, after 286 ms or 14 reads. Copies in gaps are programmed on
/// four dies at a time: 192 x 1.6 / 4 = 77 ms, about 4 reads.
#[test]
fn a_job_that_reads_more_pages_than_it_has_reads_left_meets_its_deadline() {
    for (schedule, piece_ns, served) in
        [("deadline", 1_700_000, 4..=5), ("batch:24", 24 * 1_700_000, 14..=15)]
    {
        let (drive, engine, log) = read_steadily(schedule, 20_000_000, 10_000);
        let counts = drive.reclaim_counts();
        assert_eq!(
            (counts.invocations, counts.deadline_misses, drive.lost_pages()),
            (1, 0, 0),
            "{schedule}"
        );
        let during = reads_until_erased(&log) - 9758;
        assert!(served.contains(&during), "{schedule}: {during} reads while the job was at work");
        let longest = engine.metrics().read.max_ns();
        assert!(
            longest <= piece_ns.max(5_000_000) + 200_000,
            "{schedule}: the longest read took {longest} ns"
        );
    }
}

#[test]
fn a_job_of_two_days_holds_up_its_own_die_only() {
    // This is the slowest possible drive: 65,532 pages per block, each copied in 0.1 + 1.048576 +
    // 1.048576 + 0.1 s, and 0.1 s for the erase.
    let text = r#"
        geometry = { channels = 2, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 12, wordlines_per_block = 16383, cell = "qlc", page_size = "1MiB" }
        timing = { sense_us = 1e5, program_us = 1e5, erase_us = 1e5, channel_mb_s = 1 }
        drive = { spare = 0.52, write_buffer = 0 }
        reclaim = { schedule = "foreground" }
        disturb = { model = "count", table = [{ pec = 0, limit = [65700] }] }
        "#;
    let mut drive = Drive::new(config(text), &usual(), true).unwrap();
    drive.precondition(1);
    drive.begin_measurement();
    let job_s = 65_532.0 * 2.297_152 + 0.1;
    // A read every 10 s makes die 0 move its block. A write every 100 s then goes to die 1.
    let request = |at_s: u64, op| Request {
        at: at_s * 1_000_000_000,
        offset: 0,
        bytes: 1 << 20,
        op,
        origin: 0,
        hint: None,
    };
    let reads = (0..200).map(|i| request(10 * i, Op::Read));
    let writes =
        (0..1500).map(|i| Request { offset: 1 << 30, ..request(3000 + 100 * i, Op::Write) });
    let mut engine = Replay::new(&drive);
    engine.run(&mut drive, &mut Script(reads.chain(writes).collect()), &mut |_, _| true).unwrap();
    assert_eq!((drive.reclaim_counts().invocations, drive.lost_pages()), (1, 0));
    let (read, write) = (&engine.metrics().read, &engine.metrics().write);
    let longest_s = read.max_ns() as f64 / 1e9;
    assert!(
        (job_s..1.001 * job_s + 4.0).contains(&longest_s),
        "the longest read took {longest_s} s, the job {job_s} s"
    );
    let slowest_s = write.max_ns() as f64 / 1e9;
    assert!(
        (1.1..1.2).contains(&slowest_s),
        "a write goes to die 1 and takes 1.05 + 0.1 s, not {slowest_s} s"
    );
}

#[test]
fn time_ends_before_it_runs_over() {
    let run = |at: Ns, timed: bool| {
        let mut drive = Drive::new(config(&ipr("foreground")), &usual(), timed).unwrap();
        drive.precondition(1);
        let request =
            |at| Request { at, offset: 0, bytes: 4096, op: Op::Read, origin: 0, hint: None };
        let mut source = Script(vec![request(0), request(at)]);
        let done = if timed {
            Replay::new(&drive).run(&mut drive, &mut source, &mut |_, _| true)
        } else {
            vpass_drive::time::run_untimed(&mut drive, &mut source, &mut |_, _| true)
        };
        done.map_err(|e| format!("{e:?}"))
    };
    for timed in [true, false] {
        assert_eq!(run(1 << 62, timed), Ok(2));
        let late = run((1 << 62) + 1, timed).unwrap_err();
        assert!(late.contains("arrives after 2^62 ns, which is 146 years"), "{late}");
    }
}

/// Returns the number of blocks cleaned while a job waited for space, and of all cleaned blocks.
/// The die only reads, for a quarter of its time. `background` is `gc.background`. `warm_up_reads`
/// reads warm the drive up without time.
fn cleaned_under_reads(background: f64, warm_up_reads: u64) -> (u64, u64) {
    let timing = "sense_us = 40, program_us = 80, erase_us = 1000, channel_mb_s = 0";
    let tables = format!(
        r#"
        drive = {{ spare = 0.3, write_buffer = 0 }}
        gc = {{ background = {background} }}
        reclaim = {{ schedule = "deadline", check_interval = 50 }}
        [disturb]
        model = "wordline"
        groups = ["good", "bad"]
        spread = [1.2, 1.2]
        table = [{{ pec = 0, limit = [9000, 4500], alpha = [8.0, 9.0] }}]
    "#
    );
    let techniques = Techniques { reclaim: card("straw-wl"), ..usual() };
    let mut drive =
        Drive::new(config(&dies(1, "tlc", timing, &tables)), &techniques, true).unwrap();
    drive.precondition(1);
    let bytes = u64::from(drive.geometry().host_pages) * PAGE;
    warm_up(&mut drive, &mut Uniform::reads(warm_up_reads, bytes, PAGE as u32, 1), &mut |_, _| {
        true
    })
    .unwrap();
    drive.begin_measurement();
    let mut engine = Replay::new(&drive);
    let mut source = Uniform {
        arrival: Arrival::Open,
        mean_gap: 160e3,
        ..Uniform::reads(2_000_000, bytes, PAGE as u32, 1)
    };
    engine.run(&mut drive, &mut source, &mut |_, _| true).unwrap();
    assert_eq!(drive.lost_pages(), 0);
    (drive.reclaim_counts().gc_erases, drive.flash_counts().erases[Cause::Gc as usize])
}

#[test]
fn where_only_reclaim_makes_holes_idle_time_collects_them() {
    // The background share of the 24 spare blocks may be so small that it is fewer blocks than a
    // job may take without waiting. Even then, cleaning does not come too late. It is also in time
    // if it begins with only the reserve free, as after a warm-up.
    for (background, warm_up_reads) in [(0.25, 0), (0.01, 0), (0.25, 1_000_000), (0.01, 1_000_000)]
    {
        let (in_need, all) = cleaned_under_reads(background, warm_up_reads);
        assert!(
            in_need == 0 && all > 20,
            "{in_need} of {all} at {background} after {warm_up_reads} reads"
        );
    }
    let (in_need, all) = cleaned_under_reads(0.0, 0);
    assert!(in_need == all && all > 20, "{in_need} of {all} without background cleaning");
}
