//! RAID-5 inside the drive, with the smallest stripes: reads and programs of each write, and the
//! places of pages. Without parity, none of this happens.

use crate::common;

use common::striped::{Asked, PAGE, config, drive, operations};
use vpass_drive::base::request::Op;
use vpass_drive::base::units::Cause;
use vpass_drive::config::DriveConfig;
use vpass_drive::drive::{Drive, Techniques};
use vpass_drive::time::{Replay, run_untimed};
use vpass_techniques::{card, resolve, usual};

#[test]
fn each_write_takes_the_equation_with_fewer_reads() {
    let mut drive = drive("raid5", "", false);
    assert_eq!(
        operations(&mut drive, vec![(Op::Write, 3, 1)]),
        (2, 1, 1),
        "the old parity and the old page"
    );
    assert_eq!(operations(&mut drive, vec![(Op::Write, 3, 2)]), (1, 2, 1), "the page that stays");
    assert_eq!(operations(&mut drive, vec![(Op::Write, 3, 3)]), (0, 3, 1), "a whole stripe");
    assert_eq!(
        operations(&mut drive, vec![(Op::Write, 4, 4)]),
        (1 + 1, 4, 2),
        "parts of two stripes"
    );
    assert_eq!(
        operations(&mut drive, vec![(Op::Write, 3, 1), (Op::Write, 4, 1)]),
        (4, 2, 2),
        "apart they came, and apart they leave"
    );
}

#[test]
fn pages_that_are_not_there_count_as_zero() {
    let mut drive = drive("raid5", "start = { fill = 0.0 }", false);
    assert_eq!(operations(&mut drive, vec![(Op::Write, 3, 1)]), (0, 1, 1), "parity of one page");
    assert_eq!(
        operations(&mut drive, vec![(Op::Write, 4, 1)]),
        (1, 1, 1),
        "the old parity, or the other page"
    );
    assert_eq!(operations(&mut drive, vec![(Op::Trim, 4, 1)]), (1, 0, 1), "the page that stays");
    assert_eq!(
        operations(&mut drive, vec![(Op::Trim, 3, 1)]),
        (0, 0, 0),
        "nothing is left to protect"
    );
    assert_eq!(operations(&mut drive, vec![(Op::Trim, 3, 3)]), (0, 0, 0));
}

#[test]
fn members_lie_on_dies_of_their_own() {
    let mut drive = drive("raid5", "", false);
    let pages = u64::from(drive.geometry().host_pages);
    operations(&mut drive, (0..4000).map(|n| (Op::Write, n * 7919 % pages, 1)).collect());
    let g = drive.geometry();
    let stripes = g.stripes.unwrap();
    assert!(drive.flash_counts().erases[Cause::Gc as usize] > 100, "pages were moved");
    for row in drive.all_map_rows() {
        assert_eq!(g.die_of(g.block_of(row.ppn)), stripes.die(row.lpn), "lpn {}", row.lpn);
    }
    assert_eq!(drive.all_map_rows().count() as u32, g.logical_pages());
}

/// Without a buffer, a write is complete when its data and parity are programmed. First come the
/// reads of old data and old parity on their dies, in parallel. Then comes the program of the
/// parity. The data is programmed at the same time.
#[test]
fn a_small_write_takes_a_read_and_a_program() {
    let latency = |parity: &str, asked: (Op, u64, u64)| {
        let mut drive = drive(parity, "", true);
        let mut replay = Replay::new(&drive);
        replay.run(&mut drive, &mut Asked(vec![asked]), &mut |_, _| true).unwrap();
        replay.last_completion()
    };
    assert_eq!(latency("none", (Op::Write, 3, 1)), 500_000);
    assert_eq!(
        latency("raid5", (Op::Write, 3, 1)),
        550_000,
        "the old data is read where the new is programmed, too"
    );
    assert_eq!(latency("raid5", (Op::Write, 3, 3)), 500_000, "a whole stripe reads nothing");
}

#[test]
fn both_gears_do_the_same() {
    let asked = || {
        (0..600u64)
            .map(|n| (if n % 11 == 10 { Op::Trim } else { Op::Write }, n * 7919 % 700, 1 + n % 4))
            .collect()
    };
    let [mut untimed, mut timed] =
        [false, true].map(|timed| drive("raid5", "reclaim = { schedule = \"foreground\" }", timed));
    run_untimed(&mut untimed, &mut Asked(asked()), &mut |_, _| true).unwrap();
    Replay::new(&timed).run(&mut timed, &mut Asked(asked()), &mut |_, _| true).unwrap();
    assert_eq!(untimed.flash_counts(), timed.flash_counts());
    assert_eq!(
        untimed.all_map_rows().collect::<Vec<_>>(),
        timed.all_map_rows().collect::<Vec<_>>()
    );
}

#[test]
fn what_does_not_fit_is_refused_with_what_does() {
    let refused = |change: &dyn Fn(&mut DriveConfig), reclaim: &str| {
        let mut config = config("");
        change(&mut config);
        let techniques = Techniques { reclaim: card(reclaim), parity: card("raid5"), ..usual() };
        Drive::new(resolve(config).unwrap(), &techniques, false).err().map(|e| e.to_string())
    };
    let too_wide = refused(&|config| config.geometry.channels = 3, "none").unwrap();
    assert!(
        too_wide.contains(
            "needs 4 dies, including one die for the parity page, but the drive has 3: set \
             parity.stripe=2 or less"
        ),
        "{too_wide}"
    );
    let too_full = refused(&|config| config.drive.spare = Some(0.3), "none").unwrap();
    let words: Vec<&str> = too_full.split(['=', ' ']).collect();
    let named = words.iter().position(|word| *word == "drive.capacity").unwrap();
    let bytes: u64 = words[named + 1].parse().unwrap();
    let fits = |bytes: u64| {
        refused(
            &|config| {
                config.drive.spare = None;
                config.drive.capacity = Some(vpass_drive::base::units::Bytes(bytes));
            },
            "none",
        )
    };
    assert_eq!(fits(bytes), None, "{too_full}");
    assert!(fits(bytes + PAGE).is_some(), "it is the largest");
    // The drive needs six blocks with the reserve, and two more for data that is kept separate.
    let apart = refused(
        &|config| {
            config.drive.spare = None;
            config.drive.capacity = Some(vpass_drive::base::units::Bytes(bytes));
        },
        "redftl",
    );
    let apart = apart.expect("its streams need more");
    assert!(
        apart.contains(
            "6 spare blocks on each die, but a die needs 8 for its open blocks (also for the 2 \
             kinds of data that `redftl` separates) and its GC reserve"
        ),
        "{apart}"
    );
}
