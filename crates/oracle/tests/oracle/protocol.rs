//! The rules of flash and of time.

use vpass_drive::base::units::{BlockId, Cause, Lpn, Ppn};
use vpass_drive::watch::observer::{Event, NO_LPN, Observer, Origin};

use crate::common::{Scene, protocol};

#[test]
fn blocks_filled_in_order_and_erased_early_are_clean() {
    let mut s = Scene::tiny();
    s.write(0, 0..12);
    s.write(12, 12..15);
    s.erase(BlockId::new(1));
    s.write(12, 12..20);
    s.oracle.take(Event::Preloaded { block: BlockId::new(2), lpns: &[Lpn::new(20), NO_LPN] });
    s.clean();
}

#[test]
fn an_out_of_order_program_is_caught() {
    let mut s = Scene::tiny();
    s.write(0, [5]);
    s.write(2, [6]);
    s.caught(protocol, &["program of page 2 of block 0 out of order; page 1 is next"]);
}

#[test]
fn a_program_without_erase_is_caught() {
    let mut s = Scene::tiny();
    s.write(0, 0..11);
    s.write(0, [0]);
    s.write(11, [11]); // one slip is one finding
    s.caught(protocol, &["program of page 0 of block 0, but it is already programmed"]);
}

#[test]
fn a_double_erase_is_caught() {
    let mut s = Scene::tiny();
    s.write(0, [5]);
    s.erase(BlockId::new(0));
    s.erase(BlockId::new(0));
    s.caught(protocol, &["erase of block 0, but nothing was programmed"]);
}

#[test]
fn programs_must_be_numbered_upwards() {
    for second in [7, 8] {
        let mut s = Scene::tiny();
        for (ppn, seq) in [(0, 8), (1, second)] {
            s.oracle.take(Event::Wrote { request: 0, lpn: Lpn::new(5), whole: true });
            s.oracle.take(Event::Programmed {
                ppn: Ppn::new(ppn),
                lpn: Lpn::new(5),
                seq,
                origin: Origin::Host,
                cause: Cause::Host,
            });
        }
        s.caught(protocol, &[&format!("program number {second} follows number 8")]);
    }
}

#[test]
fn addresses_beyond_the_flash_are_caught() {
    let mut s = Scene::tiny();
    s.write(48, [5]);
    s.caught(protocol, &["program of ppn 48 with lpn 5; it is beyond the flash"]);
    let mut s = Scene::tiny();
    s.erase(BlockId::new(4));
    s.caught(protocol, &["erase of block 4; the drive has 4 blocks"]);
    let mut s = Scene::tiny();
    s.oracle.take(Event::Preloaded { block: BlockId::new(4), lpns: &[] });
    s.caught(protocol, &["preload of block 4; the drive has 4 blocks"]);
}

#[test]
fn a_preload_needs_an_erased_block_and_room() {
    let mut s = Scene::tiny();
    s.write(0, [5]);
    s.oracle.take(Event::Preloaded { block: BlockId::new(0), lpns: &[Lpn::new(6)] });
    s.caught(protocol, &["preload of block 0, which holds 1 pages"]);
    let mut s = Scene::tiny();
    s.oracle.take(Event::Preloaded { block: BlockId::new(0), lpns: &[NO_LPN; 13] });
    s.caught(protocol, &["preload of 13 pages into block 0 of 12"]);
}

/// Reports these busy times of a drive with one die, number 0, and one channel, number 1.
fn occupied(intervals: &[(u32, u64, u64)]) -> Scene {
    let mut s = Scene::tiny();
    s.oracle.take(Event::Occupied { intervals });
    s
}

#[test]
fn operations_one_after_another_are_clean() {
    occupied(&[(0, 0, 60), (1, 60, 74), (1, 74, 88), (0, 60, 60), (0, 74, 134)]).clean();
}

#[test]
fn operations_at_once_are_caught() {
    occupied(&[(0, 0, 60), (0, 59, 119)])
        .caught(protocol, &["die 0 is busy from 0 to 60 ns and again from 59 to 119 ns"]);
    // The longer of the two operations is remembered.
    let report = occupied(&[(1, 10, 20), (1, 12, 14), (1, 19, 30)]).oracle.finish();
    assert_eq!(
        report.findings,
        [
            "channel 0 is busy from 10 to 20 ns and again from 12 to 14 ns",
            "channel 0 is busy from 12 to 20 ns and again from 19 to 30 ns",
        ]
    );
}

#[test]
fn time_running_backwards_and_dies_that_do_not_exist_are_caught() {
    occupied(&[(0, 60, 59)])
        .caught(protocol, &["die 0 is busy from 60 to 59 ns: it ends before it starts"]);
    occupied(&[(2, 0, 1)])
        .caught(protocol, &["channel 1 is busy from 0 to 1 ns, but it does not exist"]);
}
