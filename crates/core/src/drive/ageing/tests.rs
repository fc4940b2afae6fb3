//! What time sets off in a block while a job moves it, by hand.

use crate::base::dose::Quarters;
use crate::base::span::SECOND;
use crate::base::streams::WEAR;
use crate::base::units::{BlockId, Cause, Ns, Reads};
use crate::config::DriveConfig;
use crate::drive::{Drive, Techniques};
use crate::flash::block::BlockState;
use crate::slots::rewrite::Rewrite;

/// A full drive in the timed gear, whose data is refreshed within ten days and has error rates; and
/// a closed block of it.
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
    let techniques =
        Techniques { reclaim: "none".into(), refresh: "block".into(), ..Techniques::default() };
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

/// Wear levelling begins to move a block.
fn begin_to_move(drive: &mut Drive, block: BlockId, deadline: Reads) {
    let (flash, ftl, mut slots) = drive.parts();
    ftl.rewrite(flash, &mut slots, Rewrite::all_to(block, WEAR), Cause::Wear, deadline);
}

/// When the block's data must have been rewritten.
fn end(drive: &Drive, block: BlockId) -> Ns {
    drive.refresh.done_by(drive.flash.cold(block).programmed_at).unwrap().try_into().unwrap()
}

fn state(drive: &Drive, block: BlockId) -> BlockState {
    drive.flash.hot(block).state
}

/// A job has the block until its end. It is finished then, and the miss is counted.
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

/// What nobody has moved by then is rewritten at once, and not in idle gaps to come.
#[test]
fn a_block_that_is_due_at_once_is_rewritten_at_once() {
    let (mut drive, block) = drive();
    drive.flash.now = end(&drive, block);
    drive.look_at_aged(block);
    assert!(drive.ftl.job_of(block).is_none());
    assert_eq!((state(&drive, block), drive.refresh_counts().invocations), (BlockState::Free, 1));
}

/// A job goes ahead of reads when what is left of it takes as long as its block may still wait.
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

/// The block that is a step older is looked at when it is the next step older, whoever moves it.
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

/// The reads that a job has left were reserved at the age that the block had. A step later the job
/// ends.
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

/// Steps of age lie as far behind the clock as before when it is set back.
#[test]
fn steps_of_age_are_set_back_with_the_clock() {
    let (mut drive, block) = drive();
    drive.ftl.steps.set(block, 25);
    drive.flash.now = 10;
    drive.restart_clock();
    assert_eq!((drive.now(), drive.ftl.steps.next()), (0, 15));
}
