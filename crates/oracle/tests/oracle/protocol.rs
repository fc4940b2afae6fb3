//! The rules of flash and of time.

use vpass_drive::base::units::{Cause, Lpn, Ppn};
use vpass_drive::watch::observer::{Event, Observer, Origin};

use crate::common::{Scene, protocol};
use crate::script::play;

#[test]
fn programs_and_erases_keep_the_rules_of_flash() {
    play(
        Scene::tiny,
        "
        // Blocks that are filled in order and erased early.
        write 0..12 at 0; write 12..15 at 12; erase 1; write 12..20 at 12; preload 2 20 -
        clean

        // A program out of order.
        write 5 at 0; write 6 at 2
        protocol: program of page 2 of block 0 out of order; page 1 is next

        // A program without an erase. One slip is one finding.
        write 0..11 at 0; write 0 at 0; write 11 at 11
        protocol: program of page 0 of block 0, but it is already programmed

        // A double erase.
        write 5 at 0; erase 0; erase 0
        protocol: erase of block 0, but nothing was programmed

        // Addresses beyond the flash.
        write 5 at 48
        protocol: program of ppn 48 with lpn 5; it is beyond the flash

        erase 4
        protocol: erase of block 4; the drive has 4 blocks

        preload 4
        protocol: preload of block 4; the drive has 4 blocks

        // A preload needs an erased block, and room.
        write 5 at 0; preload 0 6
        protocol: preload of block 0, which holds 1 pages

        preload 0 - - - - - - - - - - - - -
        protocol: preload of 13 pages into block 0 of 12
        ",
    );
}

#[test]
fn programs_must_be_numbered_upwards() {
    for second in [7, 8] {
        let mut s = Scene::tiny();
        for (ppn, seq) in [(0, 8), (1, second)] {
            s.wrote(5);
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

/// Reports these busy times of a drive with one die, number 0, and one channel, number 1.
fn occupied(intervals: &[(u32, u64, u64)]) -> Scene {
    let mut s = Scene::tiny();
    s.oracle.take(Event::Occupied { intervals });
    s
}

#[test]
fn operations_come_one_after_another_on_what_exists() {
    occupied(&[(0, 0, 60), (1, 60, 74), (1, 74, 88), (0, 60, 60), (0, 74, 134)]).clean();
    let overlap = "die 0 is busy from 0 to 60 ns and again from 59 to 119 ns";
    occupied(&[(0, 0, 60), (0, 59, 119)]).caught(protocol, &[overlap]);
    let backwards = "die 0 is busy from 60 to 59 ns: it ends before it starts";
    occupied(&[(0, 60, 59)]).caught(protocol, &[backwards]);
    let unknown = "channel 1 is busy from 0 to 1 ns, but it does not exist";
    occupied(&[(2, 0, 1)]).caught(protocol, &[unknown]);
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
