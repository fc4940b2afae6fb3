//! Tests of alarms, and of the jobs that follow.

use crate::api::rewrite::Rewrite;
use crate::base::dose::Quarters;
use crate::base::streams::WEAR;
use crate::base::units::{Cause, Lpn, Reads};
use crate::config::{DisturbModel, PerPec, Schedule};
use crate::drive::Drive;
use crate::drive::tests::tiny_config;
use crate::flash::block::{BlockState, CARRY};
use crate::testing::fakes;

#[test]
fn reads_that_nobody_looks_at_are_carried_before_the_counter_is_full() {
    let mut drive = Drive::new(tiny_config().resolve().unwrap(), &fakes(), false).unwrap();
    drive.write_page(Lpn::new(0), u64::MAX);
    drive.drain_buffer();
    let ppn = drive.read_page(Lpn::new(0));
    let block = drive.geometry.block_of(ppn);
    // Three times, the test adds 2^29 - 1 reads. The second of two more reads then passes 2^29.
    for _ in 0..3 {
        drive.flash.pretend_reads(block, CARRY - Quarters::UNIT);
        drive.read_pages(&[Lpn::new(0); 2]);
    }
    assert_eq!(
        (drive.flash.hot(block).reads, drive.flash.cold(block).carries),
        (Quarters::UNIT, 3)
    );
    assert_eq!(
        drive.block_states().nth(block.index()).map(|row| row.reads),
        Some(3.0 * f64::from(1 << 29) + 1.0)
    );
    assert_eq!(drive.reclaim_counts().invocations, 0, "what cannot be disturbed is not rewritten");
}

/// A policy asks for two rewrites. The work for the first rewrite makes wear levelling begin with
/// the second block. That block must serve only the reads that the policy allowed.
#[test]
fn a_block_that_levelling_took_before_reclaim_could_keeps_its_deadline() {
    let mut config = tiny_config();
    config.start.fill = 1.0;
    config.disturb.model = DisturbModel::Count;
    config.disturb.table = vec![PerPec { pec: 0, limit: vec![1000.0], alpha: vec![] }];
    let mut drive = Drive::new(config.resolve().unwrap(), &fakes(), true).unwrap();
    drive.precondition(1);
    let lpn = Lpn::new(0);
    let block = drive.geometry.block_of(drive.ftl.place_of(lpn).expect("on flash"));
    let (ftl, mut cx) = drive.parts();
    ftl.rewrite(&mut cx, Rewrite::all_to(block, WEAR), Cause::Wear, Reads::NEVER);
    cx.flash.set_policy_alarm(block, Reads(60));
    cx.flash.set_alarm(block);
    drive.reclaim(Rewrite::all(block), Reads(60));
    (0..59).for_each(|_| drive.read_pages(&[lpn]));
    assert_eq!(drive.geometry.block_of(drive.ftl.place_of(lpn).expect("on cx.flash")), block);
    drive.read_pages(&[lpn]);
    assert_eq!(drive.flash.hot(block).state, BlockState::Free);
    assert_eq!(drive.reclaim_counts().deadline_misses, 1);
}

/// The policy's second rewrite allows more reads. The number of the first rewrite still holds.
#[test]
fn a_job_keeps_the_deadline_that_it_has() {
    let mut config = tiny_config();
    config.start.fill = 1.0;
    config.reclaim.schedule = Schedule::Deadline;
    config.disturb.model = DisturbModel::Count;
    config.disturb.table = vec![PerPec { pec: 0, limit: vec![1000.0], alpha: vec![] }];
    let mut drive = Drive::new(config.resolve().unwrap(), &fakes(), true).unwrap();
    drive.precondition(1);
    let block = drive.geometry.block_of(drive.ftl.place_of(Lpn::new(0)).expect("on flash"));
    for deadline in [60, 70] {
        drive.reclaim(Rewrite::all(block), Reads(deadline));
        let slot = drive.ftl.job_of(block).expect("deferred");
        assert_eq!(drive.ftl.jobs[slot].as_ref().map(|job| job.deadline), Some(Reads(60)));
    }
}

/// Returns a full drive, and a page that is partly in the buffer. The rest of the page is the last
/// page of its block. The block has five reads left before a page reaches its limit, and its policy
/// is asked at the next read.
fn at_the_limit() -> (Drive, Lpn) {
    const LIMIT: u32 = 1000;
    let mut config = tiny_config();
    config.start.fill = 1.0;
    config.disturb.model = DisturbModel::Count;
    config.disturb.table = vec![PerPec { pec: 0, limit: vec![f64::from(LIMIT)], alpha: vec![] }];
    let mut drive = Drive::new(config.resolve().unwrap(), &fakes(), false).unwrap();
    drive.precondition(1);
    let closed = |block: &_| drive.flash.hot(*block).state == BlockState::Closed;
    let block = drive.geometry.block_ids().find(closed).unwrap();
    let last = drive.geometry.first_page(block) + (drive.geometry.pages_per_block - 1);
    let lpn = drive.flash.contents.owner(last);
    drive.write_page(lpn, 1);
    drive.flash.pretend_reads(block, Quarters::UNIT * (LIMIT - 5));
    drive.flash.set_policy_alarm(block, Reads(LIMIT - 4));
    drive.flash.set_alarm(block);
    (drive, lpn)
}

/// The fill read is good, and starts a move. The first reads of the move bring the page past its
/// limit. The page is lost, and no write brings it back.
#[test]
fn a_page_that_its_own_fill_has_lost_is_not_written() {
    let (mut drive, lpn) = at_the_limit();
    drive.drain_buffer();
    assert!(drive.ftl.is_lost(lpn));
    // Four reads are left after the fill read. The fifth read of the move exceeds the limit.
    let lost = u64::from(drive.geometry.pages_per_block) - 5;
    assert_eq!((drive.ftl.place_of(lpn), drive.ftl.lost_pages), (None, lost));
}

/// A part of the page is served from the buffer. The rest is on flash, and is lost by the move as
/// in the test above. So the host read fails.
#[test]
fn a_read_that_has_lost_the_rest_of_its_page_fails() {
    let (mut drive, lpn) = at_the_limit();
    drive.read_pages(&[lpn]);
    assert!(drive.ftl.is_lost(lpn));
    assert_eq!(drive.uncorrectable_reads, 1);
}
