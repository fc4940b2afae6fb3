//! Parity that is programmed late, with the smallest stripes. The tests check reads and programs of
//! each write and each commit, old versions that parity still includes, and the window without
//! protection.

use crate::common;

use common::striped::{Asked, config, drive, drive_of, operations};
use common::told::{Report, Told};
use vpass_drive::base::request::Op;
use vpass_drive::base::units::{Cause, Lpn, Ns};
use vpass_drive::config::{DriveConfig, Number};
use vpass_drive::drive::{Drive, Techniques};
use vpass_drive::time::{Replay, run_untimed};
use vpass_drive::watch::observer::XorSource;
use vpass_techniques::{card, resolve, usual};

const TWO_PAGES: &str = "parity.ppc.pages = 2";

#[test]
fn parity_waits_until_its_place_is_needed() {
    let mut drive = drive("ppc", TWO_PAGES, false);
    assert_eq!(operations(&mut drive, vec![(Op::Write, 3, 1)]), (0, 1, 0), "PP = D3");
    assert_eq!(operations(&mut drive, vec![(Op::Write, 3, 1)]), (1, 1, 0), "PP = PP ^ D3 ^ D3'");
    assert_eq!(operations(&mut drive, vec![(Op::Write, 4, 1)]), (0, 1, 0), "it covers D4, too");
    assert_eq!(
        operations(&mut drive, vec![(Op::Write, 3, 3)]),
        (2, 3, 0),
        "the two that it covered are read"
    );
    assert_eq!(operations(&mut drive, vec![(Op::Write, 6, 1)]), (0, 1, 0), "another stripe");
    assert_eq!(
        operations(&mut drive, vec![(Op::Write, 9, 1)]),
        (0, 1, 1),
        "the first is committed: it covers all"
    );
    assert_eq!(
        operations(&mut drive, vec![(Op::Write, 12, 1)]),
        (2, 1, 1),
        "the second: the two that it does not cover"
    );
    assert_eq!(
        (
            drive.parity_counts().whole,
            drive.parity_counts().modified,
            drive.parity_counts().delayed
        ),
        (2, 0, 7)
    );
}

/// On six dies with stripes of five, one page changes. Reading the old parity takes fewer reads
/// than reading the four other pages.
#[test]
fn a_commit_takes_the_way_with_fewer_reads() {
    let mut drive = drive_of(5, "ppc", "parity.ppc.pages = 1", false);
    assert_eq!(operations(&mut drive, vec![(Op::Write, 5, 1)]), (0, 1, 0));
    assert_eq!(
        operations(&mut drive, vec![(Op::Write, 10, 2)]),
        (2, 2, 1),
        "|C| + 1 = 2 reads, N - |C| = 4"
    );
    assert_eq!(operations(&mut drive, vec![(Op::Write, 15, 3)]), (3, 3, 1), "3 and 3");
    assert_eq!(operations(&mut drive, vec![(Op::Write, 20, 5)]), (2, 5, 1), "4 and 2");
    assert_eq!((drive.parity_counts().modified, drive.parity_counts().whole), (1, 2));
}

/// The old version of page 5 is beside page 1, which is read 150 times. Each read adds 9 of the 900
/// that the version endures. Its wordline is not checked, because its data is no longer wanted. A
/// commit finds it unreadable and reads the four other pages.
#[test]
fn a_version_past_its_limit_counts_for_nothing() {
    const HARDY: &str =
        "disturb = { model = \"wordline\", table = [{ pec = 0, limit = [900], alpha = [9.0] }] }";
    let reads_of_commit = |reads: usize| {
        let mut drive = drive_of(5, "ppc", &format!("parity.ppc.pages = 1\n{HARDY}"), false);
        assert_eq!(operations(&mut drive, vec![(Op::Write, 5, 1)]), (0, 1, 0));
        operations(&mut drive, vec![(Op::Read, 1, 1); reads]);
        let done = operations(&mut drive, vec![(Op::Write, 10, 1)]);
        assert_eq!((drive.uncorrectable_reads(), drive.lost_pages()), (0, 0));
        (done, drive.parity_counts().modified, drive.parity_counts().whole)
    };
    assert_eq!(
        reads_of_commit(99),
        ((2, 1, 1), 1, 0),
        "the parity from before and the old version"
    );
    assert_eq!(reads_of_commit(150), ((5, 1, 1), 0, 1), "the old version in vain, and four pages");
}

#[test]
fn a_trim_goes_to_the_cache() {
    let mut drive = drive("ppc", TWO_PAGES, false);
    assert_eq!(
        operations(&mut drive, vec![(Op::Trim, 3, 1)]),
        (0, 0, 0),
        "it covers a page that holds nothing"
    );
    assert_eq!(
        operations(&mut drive, vec![(Op::Write, 4, 1), (Op::Trim, 4, 1)]),
        (1, 1, 0),
        "what it holds of the page is read"
    );
    assert_eq!(drive.parity_window().unwrap().stripes, 1);
    assert_eq!(operations(&mut drive, vec![(Op::Trim, 5, 1)]), (0, 0, 0));
    assert_eq!(drive.parity_window().unwrap().stripes, 0, "nothing is left to protect");
}

/// Page 3 changes, and no other page of its stripe does. The rest of the drive is overwritten until
/// the block of page 3's old version is cleaned.
#[test]
fn what_parity_still_counts_is_not_erased_before() {
    let mut drive = drive("ppc", "parity.ppc.pages = 4096", false);
    let told = Told::default();
    drive.observe(Box::new(told.clone()));
    let pages = u64::from(drive.geometry().host_pages);
    operations(&mut drive, vec![(Op::Write, 3, 1)]);
    let others = |n: u64| Some(n * 7919 % pages).filter(|page| !(3..6).contains(page));
    operations(&mut drive, (0..3000).filter_map(others).map(|page| (Op::Write, page, 1)).collect());
    let events = told.0.lock().unwrap();
    let stripe = 1;
    let made_whole = events
        .iter()
        .position(|event| matches!(event, Report::Delayed(1, _, 0b111)))
        .expect("its old version's block was cleaned");
    let next = &events[made_whole + 1..];
    let erased = next.iter().position(|event| *event == Report::Erased).expect("and erased then");
    let parity = drive.geometry().stripes.unwrap().parity(stripe);
    let programmed = next
        .iter()
        .position(|event| *event == Report::Programmed(parity))
        .expect("and the parity is programmed");
    assert!(erased < programmed, "parity is not programmed while a block is cleaned");
    assert!(drive.parity_counts().made_whole > 0);
}

/// One stripe waits from the first write on, and a second one from the next. The last state of the
/// drive is that of the third stripe, which begins after two programs of 500 us.
#[test]
fn the_window_without_protection_is_measured() {
    let mut drive = drive("ppc", TWO_PAGES, true);
    let mut replay = Replay::new(&drive);
    replay
        .run(
            &mut drive,
            &mut Asked(vec![(Op::Write, 3, 1), (Op::Write, 6, 1), (Op::Write, 7, 1)]),
            &mut |_, _| true,
        )
        .unwrap();
    let window = drive.parity_window().unwrap();
    assert_eq!(
        (window.stripes, window.pages, window.most_stripes, window.most_pages),
        (2, 6, 2, 6)
    );
    assert_eq!(
        (window.stripe_writes, window.page_writes),
        (1 + 2, 3 + 6),
        "none before the first write, one, two"
    );
    assert_eq!((window.stripe_ns, window.watched_ns), (500_000 + 2 * 500_000, 1_000_000));
}

fn latency(asked: Vec<(Op, u64, u64)>) -> Ns {
    let mut drive = drive("ppc", TWO_PAGES, true);
    let mut replay = Replay::new(&drive);
    replay.run(&mut drive, &mut Asked(asked), &mut |_, _| true).unwrap();
    replay.last_completion()
}

#[test]
fn a_write_waits_for_its_data_and_its_partial_parity() {
    assert_eq!(latency(vec![(Op::Write, 3, 1)]), 500_000, "nothing is read");
    assert_eq!(
        latency(vec![(Op::Write, 3, 1); 2]),
        500_000 + 550_000,
        "the version until now is read first"
    );
}

#[test]
fn both_gears_do_the_same() {
    let asked = || {
        (0..600u64)
            .map(|n| (if n % 11 == 10 { Op::Trim } else { Op::Write }, n * 7919 % 700, 1 + n % 4))
            .collect()
    };
    let [mut untimed, mut timed]: [Drive; 2] = [false, true].map(|timed| {
        drive("ppc", "reclaim = { schedule = \"foreground\" }\nparity.ppc.pages = 5", timed)
    });
    run_untimed(&mut untimed, &mut Asked(asked()), &mut |_, _| true).unwrap();
    Replay::new(&timed).run(&mut timed, &mut Asked(asked()), &mut |_, _| true).unwrap();
    assert_eq!(untimed.flash_counts(), timed.flash_counts());
    assert_eq!(
        untimed.all_map_rows().collect::<Vec<_>>(),
        timed.all_map_rows().collect::<Vec<_>>()
    );
}

/// This is Fig. 4 of da-raid5-2013, which does not give the whole sequence. Stripes have four
/// pages, the write cache has eight pages, and `N_update` is 2. A stripe leaves when a ninth page
/// comes.
#[test]
fn whole_stripes_leave_and_their_partial_parity_takes_no_flash_operation() {
    const WRITES: [u64; 18] = [4, 1, 3, 2, 22, 8, 9, 4, 13, 23, 1, 2, 3, 4, 13, 22, 15, 5];
    for rule in ["", "parity.hc = { published = 1, n_update = 2 }"] {
        let mut drive =
            drive_of(4, "hc", &format!("drive.write_buffer = \"64KiB\"\n{rule}"), false);
        let told = Told::default();
        drive.observe(Box::new(told.clone()));
        operations(&mut drive, WRITES.map(|page| (Op::Write, page, 1)).to_vec());
        let events = told.0.lock().unwrap();
        let parts = |number: u32| {
            let parts = events.iter().filter_map(|event| match event {
                Report::Added(of, XorSource::Memory(lpn)) if *of == number => Some(lpn.number()),
                Report::Added(of, other) if *of == number => {
                    panic!("{other:?} is read for a partial parity")
                }
                _ => None,
            });
            parts.collect::<Vec<_>>()
        };
        let delayed = events.iter().filter_map(|event| match event {
            Report::Delayed(stripe, number, covered) => Some((*stripe, *covered, parts(*number))),
            _ => None,
        });
        let first: Vec<_> = delayed.take(3).collect();
        assert_eq!(
            first,
            [(0, 0b1110, vec![1, 2, 3]), (2, 0b0011, vec![8, 9]), (0, 0b1110, vec![1, 2, 3])],
            "PP0, PP2, PP0'"
        );
        assert_eq!(
            drive.flash_counts().reads[Cause::Parity as usize]
                + drive.flash_counts().programs[Cause::Parity as usize],
            0
        );
    }
}

#[test]
fn long_requests_go_through() {
    let mut drive = drive("hc", "drive.write_buffer = \"64KiB\"\nparity.hc.cut_off = 2", false);
    assert_eq!(
        operations(&mut drive, vec![(Op::Write, 3, 3)]),
        (0, 3, 1),
        "a whole stripe with its parity"
    );
    assert_eq!(drive.parity_window().unwrap().stripes, 0);
    assert_eq!(
        operations(&mut drive, vec![(Op::Write, 5, 1), (Op::Write, 4, 3)]),
        (3, 3, 2),
        "page 5 leaves the cache; pages 3, 7 and 8 are read"
    );
    assert_eq!(drive.parity_window().unwrap().stripes, 0);
}

/// D1 to D3 of a stripe are written, and D1 and D2 again. By the published Algorithm 2, the new
/// partial parity holds only these two. Then the block of D3 is read until none of its pages can be
/// read.
#[test]
fn the_published_rule_leaves_what_it_forgets_without_protection() {
    let lost = |rule: &str| {
        let disturb = "disturb = { model = \"count\", table = [{ pec = 0, limit = [60] }] }";
        let more = format!("drive.write_buffer = \"32KiB\"\n{disturb}\n{rule}");
        let mut drive = drive_of(4, "hc", &more, false);
        // The cache holds four pages. The first stripe leaves with page 10, and again with page 12.
        operations(
            &mut drive,
            [1, 2, 3, 9, 10, 1, 2, 9, 12].map(|page| (Op::Write, page, 1)).to_vec(),
        );
        let exposed = drive.parity_counts().exposed;
        (0..100).for_each(|_| drive.read_pages(&[Lpn::new(3)]));
        (exposed, drive.lost_pages())
    };
    assert_eq!(lost(""), (0, 0));
    assert_eq!(lost("parity.hc = { published = 1, n_update = 1 }"), (1, 1));
    assert_eq!(lost("parity.hc = { published = 1, n_update = 4 }"), (0, 0), "never forgotten");
}

#[test]
fn a_cache_below_a_stripe_is_refused() {
    let refused = |more: &str| {
        let techniques = Techniques { reclaim: card("none"), parity: card("hc"), ..usual() };
        Drive::new(resolve(config(more)).unwrap(), &techniques, false).err().map(|e| e.to_string())
    };
    let small = refused("drive.write_buffer = \"20KiB\"").unwrap();
    assert!(
        small.ends_with(
            "one half of drive.write_buffer; drive.write_buffer is 20KiB but must be at least 24KiB"
        ),
        "{small}"
    );
    assert_eq!(refused("drive.write_buffer = \"24KiB\""), None);
    for published in [0, 1] {
        let resolved = |more: &str| {
            let config = config(&format!("parity.hc = {{ published = {published}{more} }}"));
            resolve(config).map_err(|e| e.to_string())
        };
        let beyond = resolved(", n_update = 4").expect_err("it is refused");
        assert!(
            beyond.starts_with("parity.hc.n_update = 4 is above the 3 pages of a stripe"),
            "{beyond}"
        );
        let turn = |config: DriveConfig| {
            config.parity.params.get(Some("hc"), "n_update").map(Number::value)
        };
        for right in [", n_update = 3", ""] {
            let once = resolved(right).unwrap();
            assert_eq!(
                (turn(once.clone()), turn(resolve(once).unwrap())),
                (Some(3.0), Some(3.0)),
                "the default, 6, is no mistake"
            );
        }
    }
}
