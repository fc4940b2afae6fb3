//! Use of a block's own age by a technique (`reclaim.own_age`). Young data may serve more reads.
//! Data that has served these reads is rewritten before age brings it beyond its limit, whether it
//! is read or not.

use crate::common;

use common::told::{Report, Told};
use common::{Script, config, dies, request};
use vpass_drive::base::request::{Op, Request};
use vpass_drive::base::span::{HOUR, SECOND};
use vpass_drive::base::units::{Cause, Ns, Reads};
use vpass_drive::drive::{Drive, Techniques};
use vpass_drive::time::{Replay, run_untimed};
use vpass_techniques::{card, usual};

const TIMING: &str = "sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800";

/// Creates a drive whose blocks endure 10,000 reads. An hour of age takes 10 of them: none is left
/// after 1,000 hours, and 2,800 after the longest age of 720 hours.
fn drive(reclaim: &str, own_age: u32, timed: bool) -> Drive {
    let tables = format!(
        r#"
        drive = {{ spare = 0.5, write_buffer = 0 }}
        start = {{ fill = 0.5, age = "1s" }}
        disturb = {{ model = "count", table = [{{ pec = 0, limit = [10000] }}] }}
        error = {{ model = "powerlaw", e = 0.0015, b = 7e-6, m = 0, longest_age = "30d" }}
        ecc = {{ cap = [0.0085] }}
        reclaim = {{ own_age = {own_age}, check_interval = 8 }}
        "#
    );
    let techniques = Techniques { reclaim: card(reclaim), ..usual() };
    let mut drive =
        Drive::new(config(&dies(1, "slc", TIMING, &tables)), &techniques, timed).unwrap();
    drive.precondition(1);
    drive.begin_measurement();
    drive
}

/// Returns a number of reads of one page, a millisecond apart, then one read of another block at a
/// later time.
fn reads(count: u64, then: Ns) -> Vec<Request> {
    let one = |n: u64| request(Op::Read, n * SECOND / 1000, 0, 1);
    (0..count).map(one).chain([request(Op::Read, then, 500, 1)]).collect()
}

/// Returns the number of pages that reclaim has written after these requests, and the number of
/// lost pages.
fn rewritten(reclaim: &str, own_age: u32, timed: bool, requests: Vec<Request>) -> (u64, u64) {
    let mut drive = drive(reclaim, own_age, timed);
    let mut source = Script(requests);
    if timed {
        Replay::new(&drive).run(&mut drive, &mut source, &mut |_, _| true).unwrap();
    } else {
        run_untimed(&mut drive, &mut source, &mut |_, _| true).unwrap();
    }
    drive.report_unread_losses();
    (drive.flash_counts().programs[Cause::Reclaim as usize], drive.lost_pages())
}

const TECHNIQUES: [&str; 5] = ["block", "straw-wl", "straw-ss", "straw-ss-sound", "tiered"];

#[test]
fn young_data_serves_more_reads() {
    for (reclaim, timed) in
        TECHNIQUES.iter().flat_map(|reclaim| [(reclaim, false), (reclaim, true)])
    {
        let after = |own_age| rewritten(reclaim, own_age, timed, reads(6_000, HOUR));
        assert!(
            after(0).0 > 0,
            "{reclaim}, timed: {timed}: 6,000 are more than data of 720 hours endures"
        );
        assert_eq!(after(1), (0, 0), "{reclaim}, timed: {timed}: and less than that of an hour");
    }
}

/// After 6,000 reads and the reads of a job, a block has less than 394 hours left. The technique
/// acts at most three steps of age before that. In the timed gear, the reserve for reads during a
/// job counts twice, so it acts before 260 hours.
#[test]
fn what_grows_older_is_rewritten_though_nobody_reads_it() {
    for (reclaim, timed) in
        TECHNIQUES.iter().flat_map(|reclaim| [(reclaim, false), (reclaim, true)])
    {
        let at = |hours: u64| rewritten(reclaim, 1, timed, reads(6_000, hours * HOUR));
        assert_eq!(at(200), (0, 0), "{reclaim}, timed: {timed}");
        let (pages, lost) = at(394);
        assert!(
            pages > 0 && lost == 0,
            "{reclaim}, timed: {timed}: {pages} pages rewritten, {lost} lost"
        );
    }
}

/// A block is due for its refresh in place 0.1 ms before its age is an hour, when it enters its
/// first step of age. A program keeps its die busy until after that. From then on, the policy will
/// be asked at the next read, because the block has no dose. The job continues.
#[test]
fn a_job_outlasts_a_step_of_age() {
    let tables = r#"
        drive = { spare = 0.5, write_buffer = 0 }
        start = { fill = 0.0 }
        refresh = { period = "4114285600us", ida = { error_rate = 0 } }
        disturb = { model = "count", table = [{ pec = 0, limit = [10000] }] }
        error = { model = "powerlaw", e = 0.0015, b = 7e-6, m = 0, longest_age = "30d" }
        ecc = { cap = [0.0085] }
        reclaim = { own_age = 1 }
    "#;
    let techniques = Techniques { refresh: card("ida"), ..usual() };
    let mut drive = Drive::new(config(&dies(1, "tlc", TIMING, tables)), &techniques, true).unwrap();
    let told = Told::default();
    drive.observe(Box::new(told.clone()));
    let busy = request(Op::Write, HOUR - 300_000, 300, 1);
    let requests =
        vec![request(Op::Write, 0, 0, 192), busy, request(Op::Read, HOUR + SECOND, 500, 1)];
    Replay::new(&drive).run(&mut drive, &mut Script(requests), &mut |_, _| true).unwrap();
    let events = told.0.lock().unwrap();
    let began = events
        .iter()
        .position(|event| matches!(event, Report::JobBegan(_)))
        .expect("the block is refreshed");
    let Report::JobBegan(block) = events[began] else { unreachable!() };
    let of_job: Vec<&Report> =
        events[began..].iter().take_while(|event| **event != Report::JobEnded(block)).collect();
    assert_eq!(
        of_job.iter().filter(|event| matches!(event, Report::Merged(..))).count(),
        64,
        "the job ends with its last wordline"
    );
    assert!(
        of_job.contains(&&Report::AskedAt(block, Reads(0))),
        "and the block is a step older before that"
    );
}

/// Creates a drive with one block of 64 wordlines of three pages, written at time 0. `own_age` says
/// whether limits follow the block's own age.
fn one_block(own_age: u32, refresh: &str) -> Drive {
    let tables = format!(
        r#"
        drive = {{ spare = 0.5, write_buffer = 0 }}
        start = {{ fill = 0.0 }}
        refresh = {{ {refresh} }}
        disturb = {{ model = "count", table = [{{ pec = 0, limit = [10000] }}] }}
        error = {{ model = "powerlaw", e = 0.0015, b = 7e-6, m = 0, longest_age = "30d" }}
        ecc = {{ cap = [0.0085] }}
        reclaim = {{ own_age = {own_age} }}
        "#
    );
    let techniques = Techniques { refresh: card("ida"), ..usual() };
    Drive::new(config(&dies(1, "tlc", TIMING, &tables)), &techniques, true).unwrap()
}

/// Returns the number of merged wordlines, and of blocks that moved whole because they were too
/// close to their limit, after these requests.
fn merged(mut drive: Drive, requests: Vec<Request>) -> (u64, u64) {
    Replay::new(&drive).run(&mut drive, &mut Script(requests), &mut |_, _| true).unwrap();
    let counts = drive.refresh_counts();
    (counts.merged_wordlines, counts.no_room)
}

/// The first page of a wordline is trimmed, and the block is read first when it is a step of age
/// older. Its policy is asked then, and wants nothing. No job has left data there, so `at_reclaim`
/// merges nothing.
#[test]
fn a_block_that_grew_older_unread_is_not_one_that_a_job_has_left() {
    for own_age in [0, 1] {
        let refresh = "period = \"30d\", ida = { at_reclaim = 1, error_rate = 0 }";
        let drive = one_block(own_age, refresh);
        let requests = vec![
            request(Op::Write, 0, 0, 192),
            request(Op::Trim, SECOND, 3, 1),
            request(Op::Read, HOUR + SECOND, 4, 1),
            request(Op::Read, HOUR + 2 * SECOND, 4, 1),
        ];
        assert_eq!(merged(drive, requests), (0, 0), "own_age = {own_age}");
    }
}

/// A limit that `docs/error-budget.md` states. A block is due for its refresh in place when it is
/// two hours old, and it was never read. With `own_age`, the policy will be asked at the next read,
/// and allows no reads until then. So the block moves as a whole.
#[test]
fn a_block_that_grew_older_unread_has_no_room_for_merges() {
    for (own_age, expected) in [(0, (64, 0)), (1, (0, 1))] {
        let drive = one_block(own_age, "period = \"8228571428us\", ida = { error_rate = 0 }");
        let requests =
            vec![request(Op::Write, 0, 0, 192), request(Op::Read, 2 * HOUR + SECOND, 500, 1)];
        assert_eq!(merged(drive, requests), expected, "own_age = {own_age}");
    }
}
