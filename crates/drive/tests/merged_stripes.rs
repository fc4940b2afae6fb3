//! Wordlines that are merged in place on a drive with parity, with stripes of five on six dies. The
//! tests check reads and programs, an old version that delayed parity includes, and data that
//! cannot be read before the merge. Refresh or reclaim merges.
//!
//! ```text
//! member i of stripe s lies on die (s + i) mod 6; six stripes are written, then page 0 again. Die 0 by wordlines, pages of the host by number:
//!     (0)  P1  14    18  22  26    0'  .  .          (0) is the old version of page 0
//! refresh there:     14 and P1, 22 and 26 are merged, 18 and 0' move        reads 2 + 2 x 4, programs 2, merges 2
//! on other dies two whole wordlines, or the same with an old parity:        reads 2 + 2 x 4, programs 2, merges 2
//! ```

use crate::common;

use common::told::{Report, Told};
use common::{Script, config, request};
use vpass_drive::base::request::{Op, Request};
use vpass_drive::base::span::SECOND;
use vpass_drive::base::units::{BlockId, Cause, Lpn, Ns, WordlineInBlock};
use vpass_drive::drive::{Drive, Techniques};
use vpass_drive::time::run_untimed;
use vpass_drive::watch::observer::XorSource;
use vpass_techniques::{card, usual};

/// Creates a drive with refresh technique `ida`.
fn drive(parity: &str, more: &str) -> Drive {
    drive_under(("none", "ida"), parity, more)
}

/// Creates a drive of six dies of 20 blocks of four wordlines of three pages, under a reclaim and a
/// refresh technique. Written data is due 875 s later.
fn drive_under((reclaim, refresh): (&str, &str), parity: &str, more: &str) -> Drive {
    let text = format!(
        r#"
        geometry = {{ channels = 6, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 20, wordlines_per_block = 4, cell = "tlc", page_size = "16KiB" }}
        timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 0 }}
        drive = {{ spare = 0.6, write_buffer = 0 }}
        start = {{ fill = 0.0 }}
        wear = {{ static_gap = 0 }}
        gc = {{ background = 0 }}
        refresh = {{ period = "1000s", ida = {{ error_rate = 0 }} }}
        parity = {{ stripe = 5, ppc = {{ pages = 1 }} }}
        {more}
        "#
    );
    let techniques = Techniques {
        reclaim: card(reclaim),
        refresh: card(refresh),
        parity: card(parity),
        ..usual()
    };
    let mut drive = Drive::new(config(&text), &techniques, false).unwrap();
    drive.begin_measurement();
    serve(
        &mut drive,
        (0..6)
            .map(|stripe| request(Op::Write, 0, 5 * stripe, 5))
            .chain([request(Op::Write, 0, 0, 1)])
            .collect(),
    );
    drive
}

fn serve(drive: &mut Drive, requests: Vec<Request>) {
    run_untimed(drive, &mut Script(requests), &mut |_, _| true).unwrap();
}

fn wait(drive: &mut Drive, until: Ns) {
    serve(drive, vec![request(Op::Read, until, 1, 1)]);
}

/// Returns the numbers of reads, programs and merges of a cause.
fn done(drive: &Drive, cause: Cause) -> [u64; 3] {
    let counts = drive.flash_counts();
    [counts.reads, counts.programs, counts.reprograms].map(|by_cause| by_cause[cause as usize])
}

const MERGED: [u64; 3] = [6 * (2 + 2 * 4), 6 * 2, 6 * 2];

/// Parity of whole stripes takes no read. Parity of the page that changes again takes reads of the
/// old parity and the old page. Merging leaves pages in their places.
#[test]
fn parity_on_flash_has_nothing_to_do_with_merges() {
    let mut drive = drive("raid5", "");
    assert_eq!(done(&drive, Cause::Parity), [2, 6 + 1, 0]);
    wait(&mut drive, 876 * SECOND);
    assert_eq!(done(&drive, Cause::Refresh), MERGED);
    assert_eq!(done(&drive, Cause::Parity), [2, 6 + 1, 0], "as before");
    let stripes = drive.geometry().stripes.unwrap();
    let g = drive.geometry();
    assert!(drive.all_map_rows().all(|row| g.die_of(g.block_of(row.ppn)) == stripes.die(row.lpn)));
}

/// The merge of die 0's first wordline would destroy the version of page 0 that the parity of
/// stripe 0 includes. So the partial parity is first made to cover everything, from that version
/// and the parity. This takes two reads. With the four other pages, it would take four. The next
/// write of the host programs the parity without further reads.
#[test]
fn a_merge_waits_until_no_parity_counts_what_it_destroys() {
    let mut drive = drive("ppc", "");
    assert_eq!(
        done(&drive, Cause::Parity),
        [0, 6, 0],
        "six stripes are committed as they are, the last in favour of the first"
    );
    let told = Told::default();
    drive.observe(Box::new(told.clone()));
    let first = BlockId::new(0);
    let kept = drive.geometry().first_page(first);
    wait(&mut drive, 876 * SECOND);
    assert_eq!(done(&drive, Cause::Refresh), MERGED);
    assert_eq!((done(&drive, Cause::Parity), drive.parity_counts().made_whole), ([2, 6, 0], 1));
    let events = std::mem::take(&mut *told.0.lock().unwrap());
    let at = |event: &Report| events.iter().position(|other| other == event);
    let whole = events
        .iter()
        .position(|event| matches!(event, Report::Delayed(0, _, 0b11111)))
        .expect("it is made whole");
    let Report::Delayed(_, number, _) = events[whole] else { unreachable!() };
    let read = at(&Report::Added(number, XorSource::Page(kept))).expect("out of the old version");
    let merged =
        at(&Report::Merged(first, WordlineInBlock::FIRST)).expect("its wordline is merged");
    assert!(read < whole && whole < merged, "{read} {whole} {merged}");
    serve(&mut drive, vec![request(Op::Write, 877 * SECOND, 5, 1)]);
    assert_eq!(done(&drive, Cause::Parity), [2, 6 + 1, 0]);
    let parity = drive.geometry().stripes.unwrap().parity(0);
    assert!(told.0.lock().unwrap().contains(&Report::Programmed(parity)));
}

/// Page 18 is read until its neighbours come to their limit. Reclaim merges the first wordline,
/// which holds the old version of page 0. Before that, the parity stops using that version. Page 14
/// moves, because guard levels give up its place. So does 0', whose wordline is partly written. P1
/// stays.
#[test]
fn guard_levels_wait_until_no_parity_counts_what_they_destroy() {
    let limits = r#"
        disturb = { model = "wordline", table = [{ pec = 0, limit = [900], alpha = [9.0] }] }
        reclaim = { check_interval = 10 }
    "#;
    let mut drive = drive_under(("ipr-wl", "none"), "ppc", limits);
    let told = Told::default();
    drive.observe(Box::new(told.clone()));
    let merges = |drive: &Drive| done(drive, Cause::Reclaim)[2];
    let reads = (1..=100).find(|_| {
        drive.read_pages(&[Lpn::new(18)]);
        merges(&drive) > 0
    });
    assert!(reads.is_some_and(|reads| reads > 50), "{reads:?}");
    assert_eq!(
        (merges(&drive), drive.reclaim_counts().pages_copied, drive.parity_counts().made_whole),
        (1, 2, 1)
    );
    let events = std::mem::take(&mut *told.0.lock().unwrap());
    let at = |event: &Report| events.iter().position(|other| other == event);
    let whole = events.iter().position(|event| matches!(event, Report::Delayed(0, _, 0b11111)));
    let first_merge = at(&Report::Merged(BlockId::new(0), WordlineInBlock::FIRST));
    assert!(whole.is_some() && whole < first_merge, "{whole:?} {first_merge:?}");
    serve(&mut drive, vec![request(Op::Read, SECOND, 0, 30)]);
    assert_eq!((drive.uncorrectable_reads(), drive.lost_pages()), (0, 0));
}

/// Page 14 is read until no page of its block can be read. The host gets it rebuilt, and it is
/// written behind 0': twice into the wordline with the dose of 0', then into the next one. Refresh
/// rebuilds P1, 18, 22, 26 and 0', two of them when their wordline will be merged. No data is left
/// to merge.
#[test]
fn what_cannot_be_read_before_a_merge_is_rebuilt() {
    let mut drive =
        drive("raid5", "disturb = { model = \"count\", table = [{ pec = 0, limit = [100] }] }");
    (0..110).for_each(|_| drive.read_pages(&[Lpn::new(14)]));
    assert_eq!(drive.parity_counts().rebuilt, 3);
    wait(&mut drive, 876 * SECOND);
    assert_eq!((drive.parity_counts().rebuilt, drive.lost_pages()), (3 + 5, 0));
    assert_eq!(done(&drive, Cause::Refresh)[2], 5 * 2, "as many as on the other dies");
    serve(&mut drive, vec![request(Op::Read, 877 * SECOND, 0, 30)]);
    assert_eq!((drive.uncorrectable_reads(), drive.parity_counts().rebuilt), (0, 3 + 5));
}
