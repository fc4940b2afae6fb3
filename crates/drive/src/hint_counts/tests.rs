//! Hints on small drives: the places of data, the limits of its blocks, and the counts.

use super::*;
use crate::api::rewrite::Rewrite;
use crate::base::request::{Op, Request};
use crate::base::span::{DAY, Span};
use crate::base::units::{BlockId, Bytes, Cause, Lpn, Lpns, Reads};
use crate::drive::Drive;
use crate::hints::HintRange;
use crate::testing::fakes;
use crate::time::serve_untimed;
use AccessLatency::{Idle, Smallest, Typical};

/// Returns a drive of 80 blocks of 24 pages on two dies. A read takes 80 us, and each of three
/// retries 70 us more. Levels end at doses of 1000, 1250, 1500 and 1750.
fn config(more: &str) -> DriveConfig {
    let text = format!(
        r#"
        geometry = {{ channels = 1, dies_per_channel = 2, planes_per_die = 1, blocks_per_plane = 40, wordlines_per_block = 8, cell = "tlc", page_size = "4KiB" }}
        reclaim = {{ schedule = "foreground" }}
        timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 0, ecc_us = 30 }}
        drive = {{ spare = 0.5, write_buffer = 0 }}
        disturb = {{ model = "count", table = [{{ pec = 0, limit = [1000.0] }}] }}
        error = {{ model = "powerlaw", e = 0.001, b = 0.0 }}
        ecc = {{ cap = [0.002, 0.00225, 0.0025, 0.00275], retry_decode_us = [20, 20, 20] }}
        hints = {{ typical_us = 150, idle_us = 220, margin = 0.0 }}
        {more}
        "#
    );
    toml::from_str::<DriveConfig>(&text).unwrap().resolve().unwrap()
}

/// Returns a hint for the pages between two page numbers.
fn pages(from: u32, to: u32, latency: AccessLatency) -> HintRange {
    let of = |pages: u32| Bytes(4096 * u64::from(pages));
    HintRange { offset: of(from), bytes: of(to - from), access_latency: Some(latency), rank: 0 }
}

fn drive(mut config: DriveConfig, said: &[HintRange]) -> Drive {
    config.hints.said = Some(said.to_vec());
    let mut drive = Drive::new(config, &fakes(), false).unwrap();
    drive.precondition(1);
    drive.begin_measurement();
    drive
}

fn block_of(drive: &Drive, lpn: Lpn) -> BlockId {
    drive.geometry().block_of(drive.ftl.place_of(lpn).expect("on flash"))
}

fn budget_of(drive: &Drive, lpn: Lpn) -> AccessLatency {
    drive.flash.cold(block_of(drive, lpn)).budget
}

/// Returns the number of reads of a page until its block is rewritten.
fn reads_until_moved(drive: &mut Drive, lpn: Lpn) -> u32 {
    let before = drive.ftl.map.get(lpn);
    let mut reads = 0;
    while drive.ftl.map.get(lpn) == before {
        drive.read_pages(&[lpn]);
        reads += 1;
    }
    reads
}

#[test]
fn each_block_is_rewritten_at_the_limit_of_its_budget() {
    let mut drive = drive(config(""), &[pages(0, 48, Idle), pages(48, 96, Typical)]);
    let [idle, typical, none] =
        [7, 55, 103].map(|lpn| reads_until_moved(&mut drive, Lpn::new(lpn)));
    // A job reads 24 pages, each at most twice. For these 48 reads, each of k retries reduces the
    // reads of the host by 48. It reduces them by another 2 x 2 x 3 + 1, so by k x 61 in total.
    assert_eq!(none, 1000 - 24);
    assert!(
        typical > none && typical < 1250 && idle > typical && idle < 1500,
        "{none} {typical} {idle}"
    );
    let counts = drive.hint_outcomes().unwrap().map(|of| (of.budget.retries, of.counts.missed));
    assert_eq!(counts, [(0, 0), (1, 0), (2, 0)], "no read took more retries than fit");
    assert!(drive.flash_counts().retried[2] > 0, "and some took as many");
}

#[test]
fn a_block_of_several_budgets_goes_by_the_tightest() {
    let drive = drive(config(""), &[pages(0, 47, Idle), pages(50, 60, Typical)]);
    assert_eq!(
        [0, 23].map(|lpn| budget_of(&drive, Lpn::new(lpn))),
        [Idle; 2],
        "blocks of 24 pages, filled in order"
    );
    assert_eq!(
        [24, 46].map(|lpn| budget_of(&drive, Lpn::new(lpn))),
        [Smallest; 2],
        "page 47 has no hint"
    );
    assert_eq!([48, 50].map(|lpn| budget_of(&drive, Lpn::new(lpn))), [Smallest; 2]);
}

#[test]
fn what_moves_keeps_its_budget_and_finds_its_like() {
    let mut drive = drive(config(""), &[pages(0, 12, Idle), pages(12, 24, Typical)]);
    let mixed = block_of(&drive, Lpn::new(0));
    assert_eq!((block_of(&drive, Lpn::new(23)), drive.flash.cold(mixed).budget), (mixed, Typical));
    let (ftl, mut cx) = drive.parts();
    ftl.rewrite(&mut cx, Rewrite::all(mixed), Cause::Reclaim, Reads::NEVER);
    let all =
        |drive: &Drive, mut lpns: Lpns, budget| lpns.all(|lpn| budget_of(drive, lpn) == budget);
    let apart = |drive: &Drive| {
        all(drive, Lpn::new(0).run(12), Idle) && all(drive, Lpn::new(12).run(12), Typical)
    };
    assert!(apart(&drive));
    Lpn::range(0..24).for_each(|lpn| drive.write_page(lpn, u64::MAX));
    assert!(apart(&drive), "what the host writes goes there, too");
}

/// Worked example of `drive/regroup.rs`, with blocks of 24 pages.
#[test]
fn data_among_tighter_data_is_regrouped_where_enough_of_the_block_is() {
    let after = |regroup: &str| {
        let mut config = config("");
        config.hints.regroup = regroup.parse().ok();
        let mut drive =
            drive(config, &[pages(0, 12, Idle), pages(12, 24, Typical), pages(24, 30, Idle)]);
        let read =
            Request { at: 0, offset: 100 * 4096, bytes: 4096, op: Op::Read, origin: 0, hint: None };
        // The drive has 80 blocks, and 16 of them are checked each time.
        (0..50).for_each(|_| serve_untimed(&mut drive, &[read], &mut |_, _| true).unwrap());
        let kept = drive.hint_outcomes().unwrap().map(|of| of.pages_kept_tighter);
        (
            kept,
            drive.flash_counts().programs[Cause::Hint as usize],
            drive.flash_counts().erases[Cause::Hint as usize],
        )
    };
    assert_eq!(after("none"), ([0, 0, 18], 0, 0));
    assert_eq!(
        after("0.5"),
        ([0, 0, 6], 24, 1),
        "half of the first block is more relaxed than it, a quarter of the second"
    );
    assert_eq!(after("0.25"), ([0, 0, 0], 48, 2));
}

/// Data is overwritten at random until GC has moved everything many times. There are hardly more
/// free blocks than the reserve.
#[test]
fn data_stays_apart_under_garbage_collection() {
    let end = config("").drive.capacity.unwrap().0 as u32 / 4096;
    let mut drive = drive(
        config("wear = { static_gap = 0 }"),
        &[pages(0, end / 2, Idle), pages(end / 2, end * 3 / 4, Typical)],
    );
    let mut random = 1_u32;
    for _ in 0..40_000 {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        drive.write_page(Lpn::new((random >> 8) % end), u64::MAX);
    }
    assert!(drive.flash_counts().erases[Cause::Gc as usize] > 1000);
    let [smallest, typical, idle] = drive.hint_outcomes().unwrap();
    let all = smallest.pages + typical.pages + idle.pages;
    assert_eq!(all, u64::from(end));
    assert!(
        typical.pages_kept_tighter + idle.pages_kept_tighter < all / 50,
        "{typical:?} {idle:?}"
    );
}

#[test]
fn a_read_is_judged_by_its_own_hint_and_changes_no_limit() {
    let mut with = drive(config(""), &[pages(0, 48, Idle)]);
    let read =
        |hint| Request { at: 0, offset: 7 * 4096, bytes: 4096, op: Op::Read, origin: 0, hint };
    serve_untimed(&mut with, &[read(Some(Smallest)), read(None)], &mut |_, _| true).unwrap();
    let reads = |drive: &Drive| drive.hint_outcomes().unwrap().map(|of| of.counts.reads);
    assert_eq!(reads(&with), [1, 0, 1]);
    // The last reads before the block moves take two retries. This is too many for a read that
    // allows none, but its data allows them.
    serve_untimed(&mut with, &vec![read(Some(Smallest)); 1300], &mut |_, _| true).unwrap();
    let counts = with.hint_outcomes().unwrap().map(|of| of.counts.missed);
    assert!(counts[0] > 50 && counts[1..] == [0, 0], "{counts:?}");
    let mut without = drive(config(""), &[pages(0, 48, Idle)]);
    serve_untimed(&mut without, &vec![read(None); 1302], &mut |_, _| true).unwrap();
    assert_eq!(without.reclaim_counts(), with.reclaim_counts());
}

#[test]
fn hints_that_say_nothing_change_nothing() {
    let end = |said: Option<Vec<HintRange>>| {
        let mut config = config("");
        config.hints.said = said;
        let mut drive = Drive::new(config, &fakes(), false).unwrap();
        drive.precondition(1);
        for n in 0..30_000_u32 {
            drive.read_pages(&[Lpn::new(n % 60)]);
            if n % 9 == 0 {
                drive.write_page(Lpn::new(n * 7 % 900), u64::MAX);
            }
        }
        (*drive.flash_counts(), *drive.reclaim_counts())
    };
    assert_eq!(end(None), end(Some(vec![pages(100, 200, Smallest)])));
}

/// Age takes more than a retry gives back: the budget is raised, and no data is rewritten again and
/// again.
#[test]
fn a_budget_that_age_exceeds_is_raised() {
    let text = config("start = { age = \"1d\" }");
    let mut old = text.clone();
    (old.error.b, old.error.n, old.error.m) = (0.00035, 0.2, 0.0);
    old.error.longest_age = Span(30 * DAY);
    let mut drive = drive(old, &[pages(0, 48, Typical)]);
    let outcomes = drive.hint_outcomes().unwrap();
    assert!(outcomes[0].raised == 1 && outcomes[1].raised == 1, "{outcomes:?}");
    (0..20).for_each(|_| drive.read_pages(&[Lpn::new(7)]));
    assert_eq!(drive.reclaim_counts().invocations, 0);
}

#[test]
fn what_cannot_be_gone_by_is_refused() {
    let refused = |config: DriveConfig, range: HintRange| {
        let mut config = config;
        config.hints.said = Some(vec![range]);
        Drive::new(config, &fakes(), false).err().expect("refused").to_string()
    };
    let far = refused(config(""), pages(0, 10_000, Idle));
    assert!(
        far.starts_with("a hint covers 40960000B from offset 0B on")
            || far.contains("the drive ends at"),
        "{far}"
    );
    let mut plain = config("");
    plain.ecc.cap.truncate(1);
    plain.ecc.retry_decode_us.clear();
    assert!(refused(plain, pages(0, 1, Idle)).contains("hints need a drive with read retries"));
    let mut small = config("");
    small.geometry.blocks_per_plane = Some(22);
    small.drive = toml::from_str("spare = 0.3\nwrite_buffer = 0").unwrap();
    let small = refused(small.resolve().unwrap(), pages(0, 1, Idle));
    assert!(
        small.contains("with 2 access latencies, the drive separates 8 kinds of data"),
        "{small}"
    );
}
