//! Counts by cause, and the drive's map.

use vpass_drive::base::units::{BlockId, Cause, Lpn, Ppn};
use vpass_drive::drive::audit::MapRow;
use vpass_drive::watch::observer::{Event, FROM_BUFFER, NO_LPN, NO_PPN, Observer, ReadResult};
use vpass_oracle::DriveBooks;

use crate::common::{Number, Scene, books};

/// Returns a scene with its counts. Two pages are written, one is moved, and one block is erased.
/// In the measured phase follow a host read, a read of an unmapped page, a move and a write.
fn scene() -> (Scene, DriveBooks) {
    let mut s = Scene::tiny();
    s.write(0, [5, 6]);
    s.copy(0, 12, 5);
    s.copy(1, 13, 6);
    s.erase(BlockId::new(0));
    s.oracle.take(Event::MeasuredPhase);
    s.read(5, 12);
    s.read(9, NO_PPN);
    s.copy(12, 0, 5);
    s.write(1, [6]);
    s.erase(BlockId::new(1));
    s.oracle.take(Event::Wrote { request: 0, lpn: Lpn::new(7), whole: true });
    let mut drive = DriveBooks {
        host_read_pages: 2,
        host_write_pages: 2,
        mapped_pages: 3,
        ..DriveBooks::default()
    };
    drive.reads[Cause::Host as usize] = 1;
    drive.reads[Cause::Gc as usize] = 1;
    drive.programs[Cause::Host as usize] = 1;
    drive.programs[Cause::Gc as usize] = 1;
    drive.erases[Cause::Gc as usize] = 1;
    (s, drive)
}

#[test]
fn honest_books_are_clean() {
    let (mut s, drive) = scene();
    s.oracle.check_books(&drive);
    assert_eq!(s.clean().reads_checked, 2, "counts begin with the measured phase");
}

#[test]
fn every_wrong_line_of_the_books_is_caught() {
    let (_, drive) = scene();
    let gc = Cause::Gc as usize;
    let mut wrong = [drive; 7];
    wrong[0].reads[gc] += 1;
    wrong[1].programs[gc] -= 1;
    wrong[2].erases[gc] += 1;
    wrong[3].host_read_pages += 1;
    wrong[4].host_write_pages += 1;
    wrong[5].mapped_pages -= 1;
    wrong[6].soft_errors += 1;
    let words = [
        "2 reads by gc; 1",
        "0 programs by gc; 1",
        "2 erases by gc; 1",
        "3 host page reads",
        "3 host page writes",
        "2 mapped pages",
        "1 page reads whose first decode failed; 0",
    ];
    for (drive, words) in wrong.iter().zip(words) {
        let (mut s, _) = scene();
        s.oracle.check_books(drive);
        s.caught(books, &[words]);
    }
}

#[test]
fn an_error_from_before_the_measured_phase_stays_one() {
    let mut s = Scene::tiny();
    s.write(0, [5]);
    s.read(5, NO_PPN);
    s.oracle.take(Event::MeasuredPhase);
    let report = s.oracle.finish();
    assert_eq!((report.reads_checked, report.stamp_errors), (0, 1));
}

fn entry(lpn: Lpn, ppn: impl Number<Ppn>) -> MapRow {
    MapRow { lpn, ppn: ppn.address(), buffered: false }
}

/// Returns a scene with its map. Pages 5 and 6 are on flash, and an older page 6 is at ppn 1. Page
/// 7 has newer data in the buffer, and page 8 is only in the buffer.
fn mapped() -> (Scene, [MapRow; 4]) {
    let mut s = Scene::tiny();
    s.write(0, [5, 6]);
    s.write(12, [6, 7]);
    s.oracle.take(Event::Wrote { request: 0, lpn: Lpn::new(7), whole: true });
    s.oracle.take(Event::Wrote { request: 0, lpn: Lpn::new(8), whole: true });
    let buffered = |lpn, ppn: Ppn| MapRow { buffered: true, ..entry(lpn, ppn) };
    (
        s,
        [
            entry(Lpn::new(5), 0),
            entry(Lpn::new(6), 12),
            buffered(Lpn::new(7), Ppn::new(13)),
            buffered(Lpn::new(8), NO_PPN),
        ],
    )
}

const VALID: [u32; 4] = [1, 2, 0, 0];

/// Returns the reverse map of these 4 blocks. It names the owner of each written page, even of the
/// older page 6.
fn owners() -> Vec<Lpn> {
    let mut owners = vec![NO_LPN; 48];
    for (ppn, lpn) in [(0, 5), (1, 6), (12, 6), (13, 7)] {
        owners[ppn] = Lpn::new(lpn);
    }
    owners
}

/// Compares both maps with the truth.
fn check(s: &mut Scene, map: &[MapRow], owners: &[Lpn], valid: &[u32]) {
    s.oracle.check_map(map.iter().copied(), |ppn| owners[ppn.index()], valid);
}

#[test]
fn an_honest_map_is_clean() {
    let (mut s, map) = mapped();
    check(&mut s, &map, &owners(), &VALID);
    let in_memory = |e: MapRow| MapRow { ppn: FROM_BUFFER, ..e };
    let map = map.map(|e| if e.ppn == NO_PPN { in_memory(e) } else { e });
    check(&mut s, &map, &owners(), &VALID);
    s.clean();
}

#[test]
fn a_map_that_leads_astray_is_caught() {
    for (index, wrong, words) in [
        (
            1,
            entry(Lpn::new(6), 1),
            "from lpn 6, version 2, to ppn 1 (block 0, wordline 0), which carries version 1 of lpn 6",
        ),
        (1, entry(Lpn::new(6), 0), "which carries version 1 of lpn 5"),
        (0, entry(Lpn::new(5), 2), "which carries nothing (erased)"),
        (0, entry(Lpn::new(5), 48), "which is beyond the flash"),
        (0, entry(Lpn::new(5), NO_PPN), "lpn 5 holds version 1 and is mapped nowhere"),
        (0, entry(Lpn::new(4), 0), "which holds no data"),
        (2, entry(Lpn::new(7), 13), "from lpn 7, version 2, to ppn 13"),
    ] {
        let (mut s, mut map) = mapped();
        map[index] = wrong;
        let mut valid = [0; 4];
        map.iter().filter(|e| e.ppn.index() < 48).for_each(|e| valid[e.ppn.index() / 12] += 1);
        check(&mut s, &map, &owners(), &valid);
        s.caught(books, &[words]);
    }
}

#[test]
fn a_reverse_map_that_leads_elsewhere_is_caught() {
    for (ppn, owner, words) in [
        (0, Lpn::new(6), "from lpn 5 to ppn 0, but the reverse map leads from there to lpn 6"),
        (13, NO_LPN, "from lpn 7 to ppn 13"),
    ] {
        let (mut s, map) = mapped();
        let mut owners = owners();
        owners[ppn] = owner;
        check(&mut s, &map, &owners, &VALID);
        s.caught(books, &[words]);
    }
    let (mut s, map) = mapped();
    let mut owners = owners();
    owners[1] = Lpn::new(8);
    check(&mut s, &map, &owners, &VALID);
    s.clean();
}

#[test]
fn missing_and_repeated_entries_are_caught() {
    let (mut s, map) = mapped();
    check(&mut s, &map[..3], &owners(), &VALID);
    s.caught(books, &["the map holds 3 pages; the host has 4 pages with data"]);
    let (mut s, mut map) = mapped();
    map[1] = map[0];
    check(&mut s, &map, &owners(), &[2, 1, 0, 0]);
    s.caught(books, &["the map lists lpn 5 out of order or twice"]);
}

#[test]
fn wrong_counts_of_valid_pages_are_caught() {
    let (mut s, map) = mapped();
    check(&mut s, &map, &owners(), &[1, 3, 0, 0]);
    s.caught(books, &["the drive counts 3 valid pages in block 1; its map leads to 2"]);
    let (mut s, map) = mapped();
    check(&mut s, &map, &owners(), &[1, 2, 0]);
    s.caught(books, &["valid pages of 3 blocks; it has 4"]);
}

#[test]
fn failed_reads_are_reads() {
    let mut s = Scene::tiny();
    s.write(0, 0..12);
    for _ in 0..12 {
        s.read(0, 0);
    }
    s.read_by(Cause::Refresh, 3, 3, ReadResult::Uncorrectable);
    s.oracle.take(Event::Lost { lpn: Lpn::new(3) });
    let mut drive = DriveBooks {
        soft_errors: 1,
        host_read_pages: 12,
        host_write_pages: 12,
        mapped_pages: 11,
        ..DriveBooks::default()
    };
    drive.programs[Cause::Host as usize] = 12;
    drive.reads[Cause::Host as usize] = 12;
    drive.reads[Cause::Refresh as usize] = 1;
    s.oracle.check_books(&drive);
    assert_eq!(s.oracle.report().books_errors, 0);
}

#[test]
fn a_copy_counts_for_the_job_that_moves_its_block() {
    let moved_for = |job: Cause| {
        let mut s = Scene::tiny();
        s.write(0, 0..12);
        s.oracle.take(Event::JobBegan { block: BlockId::new(0), pages: None, cause: job });
        s.copy(0, 12, 0);
        s
    };
    moved_for(Cause::Gc).clean();
    let words = ["lpn 0 is programmed for gc", "what moves it is for reclaim"];
    moved_for(Cause::Reclaim).caught(books, &words);
}
