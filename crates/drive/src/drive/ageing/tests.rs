//! Tests of time's effects on a block while a job moves it, computed by hand.

use crate::api::rewrite::Rewrite;
use crate::base::dose::Quarters;
use crate::base::span::SECOND;
use crate::base::streams::WEAR;
use crate::base::units::{BlockId, Cause, Ns, Reads};
use crate::config::DriveConfig;
use crate::drive::{Drive, Techniques};
use crate::flash::block::BlockState;
use crate::testing::{TIMELY, without_reclaim};

/// Returns a full drive in the timed gear, and a closed block of it. The data has error rates and
/// is refreshed within ten days.
fn drive() -> (Drive, BlockId) {
    let text = r#"
        geometry = { channels = 1, dies_per_channel = 2, planes_per_die = 1, blocks_per_plane = 12, wordlines_per_block = 8, cell = "slc", page_size = "16KiB" }
        timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
        drive = { spare = 0.5, write_buffer = 0 }
        refresh = { period = "10d" }
        disturb = { model = "count", table = [{ pec = 0, limit = [1000.0] }] }
        error = { model = "powerlaw", e = 0.001, b = 1e-5, m = 0.0, n = 1.0 }
        ecc = { cap = [0.0085, 0.0125], retry_decode_us = [20] }
    "#;
    let config = toml::from_str::<DriveConfig>(text).unwrap().resolve().unwrap();
    let techniques = Techniques { refresh: &TIMELY, ..without_reclaim() };
    let mut drive = Drive::new(config, &techniques, true).unwrap();
    drive.precondition(1);
    drive.begin_measurement();
    let block = drive
        .geometry
        .block_ids()
        .find(|block| drive.flash.hot(*block).state == BlockState::Closed)
        .unwrap();
    // No other block is due.
    let all = drive.geometry.block_ids();
    all.for_each(|block| {
        drive.ftl.wheel.clear(block);
        drive.ftl.steps.clear(block);
    });
    (drive, block)
}

/// Begins to move a block for wear levelling.
fn begin_to_move(drive: &mut Drive, block: BlockId, deadline: Reads) {
    let (ftl, mut cx) = drive.parts();
    ftl.rewrite(&mut cx, Rewrite::all_to(block, WEAR), Cause::Wear, deadline);
}

/// Returns the time by which the block's data must be rewritten.
fn end(drive: &Drive, block: BlockId) -> Ns {
    drive.refresh.done_by(drive.flash.cold(block).programmed_at).unwrap().try_into().unwrap()
}

fn state(drive: &Drive, block: BlockId) -> BlockState {
    drive.flash.hot(block).state
}

/// A job may move the block until the block is due. Then the job is finished, and the miss is
/// counted.
#[test]
fn a_block_that_moves_when_it_is_due_is_looked_at_again_at_its_end() {
    let (mut drive, block) = drive();
    let end = end(&drive, block);
    begin_to_move(&mut drive, block, Reads::NEVER);
    drive.flash.now = end - SECOND;
    drive.look_at_aged(block);
    assert_eq!((drive.ftl.wheel.next(), state(&drive, block)), (end, BlockState::Closed));
    drive.flash.now = end;
    drive.wake();
    assert_eq!(
        (state(&drive, block), drive.refresh_counts().deadline_misses),
        (BlockState::Free, 1)
    );
}

/// Data that no job has moved by then is rewritten at once, and not in later idle gaps.
#[test]
fn a_block_that_is_due_at_once_is_rewritten_at_once() {
    let (mut drive, block) = drive();
    drive.flash.now = end(&drive, block);
    drive.look_at_aged(block);
    assert!(drive.ftl.job_of(block).is_none());
    assert_eq!((state(&drive, block), drive.refresh_counts().invocations), (BlockState::Free, 1));
}

/// A job goes before reads when its remaining time equals the time that its block may still wait.
#[test]
fn a_job_is_urgent_when_its_block_grows_too_old() {
    let (mut drive, block) = drive();
    let end = end(&drive, block);
    begin_to_move(&mut drive, block, Reads::NEVER);
    let job = drive.ftl.jobs[drive.ftl.job_of(block).unwrap()].clone().unwrap();
    let left = drive.ftl.time_left(&drive.flash, &job);
    for (at, urgent) in [(0, false), (end - left - 1, false), (end - left, true), (end, true)] {
        drive.flash.now = at;
        assert_eq!((drive.is_aged(&job), drive.is_urgent(&job)), (urgent, urgent), "{at} of {end}");
    }
}

/// A block that became a step older is checked again at the next step, even if a job moves it.
#[test]
fn a_block_that_moves_is_looked_at_at_each_step_of_age() {
    for moves in [false, true] {
        let (mut drive, block) = drive();
        if moves {
            begin_to_move(&mut drive, block, Reads::NEVER);
        }
        drive.look_at_older(block);
        assert!(drive.ftl.steps.next() < Ns::MAX, "{moves}");
    }
}

/// The remaining reads of a job were reserved at the block's former age. The job ends when the
/// block becomes a step older.
#[test]
fn a_job_with_a_deadline_ends_when_its_block_is_a_step_older() {
    for (deadline, after) in [(Reads(60), BlockState::Free), (Reads::NEVER, BlockState::Closed)] {
        let (mut drive, block) = drive();
        drive.flash.pretend_reads(block, Quarters::UNIT);
        begin_to_move(&mut drive, block, deadline);
        drive.ask_about_older(block);
        let misses = drive.reclaim_counts().deadline_misses;
        assert_eq!(
            (state(&drive, block), misses),
            (after, 0),
            "{deadline:?}: the wait does not include the last read of the block"
        );
    }
}

/// When the clock is set back, steps of age keep their distance from the clock.
#[test]
fn steps_of_age_are_set_back_with_the_clock() {
    let (mut drive, block) = drive();
    drive.ftl.steps.set(block, 25);
    drive.flash.now = 10;
    drive.restart_clock();
    assert_eq!((drive.now(), drive.ftl.steps.next()), (0, 15));
}
