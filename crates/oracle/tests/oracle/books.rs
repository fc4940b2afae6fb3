//! Counts by cause, and the drive's map.

use vpass_drive::base::units::{BlockId, Cause, Lpn, Ppn};
use vpass_drive::drive::audit::MapRow;
use vpass_drive::watch::observer::{Event, FROM_BUFFER, NO_LPN, NO_PPN, Observer};
use vpass_oracle::DriveBooks;

use crate::common::{Scene, books};
use crate::script::after;

/// Returns a scene with its counts. Two pages are written, one is moved, and one block is erased.
/// In the measured phase follow a host read, a read of an unmapped page, a move and a write.
fn scene() -> (Scene, DriveBooks) {
    let before = "write 5 6 at 0; copy 5 from 0 to 12; copy 6 from 1 to 13; erase 0; measure";
    let s = after(after(Scene::tiny(), before), "read 5 at 12; read 9 at nowhere");
    let s = after(s, "copy 5 from 12 to 0; write 6 at 1; erase 1; wrote 7");
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
    const GC: usize = Cause::Gc as usize;
    type Change = fn(&mut DriveBooks);
    let wrong: [(Change, &str); 7] = [
        (|drive| drive.reads[GC] += 1, "2 reads by gc; 1"),
        (|drive| drive.programs[GC] -= 1, "0 programs by gc; 1"),
        (|drive| drive.erases[GC] += 1, "2 erases by gc; 1"),
        (|drive| drive.host_read_pages += 1, "3 host page reads"),
        (|drive| drive.host_write_pages += 1, "3 host page writes"),
        (|drive| drive.mapped_pages -= 1, "2 mapped pages"),
        (|drive| drive.soft_errors += 1, "1 page reads whose first decode failed; 0"),
    ];
    for (change, words) in wrong {
        let (mut s, mut drive) = scene();
        change(&mut drive);
        s.oracle.check_books(&drive);
        s.caught(books, &[words]);
    }
}

#[test]
fn an_error_from_before_the_measured_phase_stays_one() {
    let report = after(Scene::tiny(), "write 5 at 0; read 5 at nowhere; measure").oracle.finish();
    assert_eq!((report.reads_checked, report.stamp_errors), (0, 1));
}

const fn entry(lpn: u32, ppn: Ppn) -> MapRow {
    MapRow { lpn: Lpn::new(lpn), ppn, buffered: false }
}

/// Map that is right. Pages 5 and 6 are on flash, and an older page 6 is at ppn 1. Page 7 has newer
/// data in the buffer, and page 8 is only in the buffer.
const MAP: [MapRow; 4] = [
    entry(5, Ppn::new(0)),
    entry(6, Ppn::new(12)),
    MapRow { buffered: true, ..entry(7, Ppn::new(13)) },
    MapRow { buffered: true, ..entry(8, NO_PPN) },
];
const VALID: [u32; 4] = [1, 2, 0, 0];
/// Owners of written pages in the reverse map, even of the older page 6.
const OWNERS: [(usize, u32); 4] = [(0, 5), (1, 6), (12, 6), (13, 7)];

/// Compares both maps of 4 blocks with the truth.
fn checked(map: &[MapRow], changed_owner: Option<(usize, Lpn)>, valid: &[u32]) -> Scene {
    let mut s = after(Scene::tiny(), "write 5 6 at 0; write 6 7 at 12; wrote 7 8");
    let mut owners = [NO_LPN; 48];
    let right = OWNERS.map(|(ppn, lpn)| (ppn, Lpn::new(lpn)));
    right.into_iter().chain(changed_owner).for_each(|(ppn, lpn)| owners[ppn] = lpn);
    s.oracle.check_map(map.iter().copied(), |ppn| owners[ppn.index()], valid);
    s
}

#[test]
fn an_honest_map_is_clean() {
    let from_buffer = MapRow { ppn: FROM_BUFFER, ..MAP[3] };
    for map in [MAP, [MAP[0], MAP[1], MAP[2], from_buffer]] {
        checked(&map, None, &VALID).clean();
    }
    // The owner of an outdated page does not matter.
    checked(&MAP, Some((1, Lpn::new(8))), &VALID).clean();
}

#[test]
fn a_map_that_leads_astray_is_caught() {
    for (index, lpn, ppn, words) in [
        (
            1,
            6,
            Ppn::new(1),
            "from lpn 6, version 2, to ppn 1 (block 0, wordline 0), which carries version 1 of lpn 6",
        ),
        (1, 6, Ppn::new(0), "which carries version 1 of lpn 5"),
        (0, 5, Ppn::new(2), "which carries nothing (erased)"),
        (0, 5, Ppn::new(48), "which is beyond the flash"),
        (0, 5, NO_PPN, "lpn 5 holds version 1 and is mapped nowhere"),
        (0, 4, Ppn::new(0), "which holds no data"),
        (2, 7, Ppn::new(13), "from lpn 7, version 2, to ppn 13"),
    ] {
        let mut map = MAP;
        map[index] = entry(lpn, ppn);
        let mut valid = [0; 4];
        map.iter().filter(|e| e.ppn.index() < 48).for_each(|e| valid[e.ppn.index() / 12] += 1);
        checked(&map, None, &valid).caught(books, &[words]);
    }
}

#[test]
fn wrong_owners_entries_and_counts_are_caught() {
    let leads_to_6 = "from lpn 5 to ppn 0, but the reverse map leads from there to lpn 6";
    for (map, owner, valid, words) in [
        (&MAP[..], Some((0, Lpn::new(6))), &VALID[..], leads_to_6),
        (&MAP, Some((13, NO_LPN)), &VALID, "from lpn 7 to ppn 13"),
        (&MAP[..3], None, &VALID, "the map holds 3 pages; the host has 4 pages with data"),
        (
            &[MAP[0], MAP[0], MAP[2], MAP[3]],
            None,
            &[2, 1, 0, 0],
            "the map lists lpn 5 out of order or twice",
        ),
        (
            &MAP,
            None,
            &[1, 3, 0, 0],
            "the drive counts 3 valid pages in block 1; its map leads to 2",
        ),
        (&MAP, None, &[1, 2, 0], "valid pages of 3 blocks; it has 4"),
    ] {
        checked(map, owner, valid).caught(books, &[words]);
    }
}

#[test]
fn failed_reads_are_reads() {
    let s = after(Scene::tiny(), "write 0..12 at 0; 12 x read 0 at 0");
    let mut s = after(s, "fail 3 at 3 by refresh; lose 3");
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
    let moved_for = |cause: Cause| {
        let mut s = after(Scene::tiny(), "write 0..12 at 0");
        s.oracle.take(Event::JobBegan { block: BlockId::new(0), pages: None, cause });
        after(s, "copy 0 from 0 to 12")
    };
    moved_for(Cause::Gc).clean();
    let words = ["lpn 0 is programmed for gc", "what moves it is for reclaim"];
    moved_for(Cause::Reclaim).caught(books, &words);
}
