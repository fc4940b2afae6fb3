//! Every host read finds the newest version, whatever the drive has done in between.

use vpass_drive::base::units::{BlockId, Cause, Lpn, Ppn};
use vpass_drive::watch::observer::{
    Event, FROM_BUFFER, NO_LPN, NO_PPN, Observer, Origin, ReadResult,
};

use crate::common::{Scene, stamp};

#[test]
fn writes_overwrites_moves_trims_and_buffered_pages_are_clean() {
    let mut s = Scene::tiny();
    s.read(5, NO_PPN);
    s.oracle.take(Event::Wrote { request: 0, lpn: Lpn::new(5), whole: true });
    s.read(5, FROM_BUFFER);
    s.program(0, 5, Origin::Host, Cause::Host);
    s.read(5, 0);
    s.write(1, [5, 6]);
    s.read(5, 1);
    s.copy(1, 12, 5);
    s.copy(2, 13, 6);
    s.read(5, 12);
    s.erase(BlockId::new(0));
    s.oracle.take(Event::Trimmed { lpn: Lpn::new(6) });
    s.read(6, NO_PPN);
    s.write(0, [6]);
    s.read(6, 0);
    assert_eq!(s.clean().reads_checked, 7);
    assert_eq!([5, 6, 7].map(|lpn| s.oracle.newest(Lpn::new(lpn))), [Some(2), Some(2), None]);
    assert_eq!(
        (
            s.oracle.content(Ppn::new(12)),
            s.oracle.content(Ppn::new(0)),
            s.oracle.content(Ppn::new(1))
        ),
        (Some((Lpn::new(5), 2)), Some((Lpn::new(6), 2)), None)
    );
}

#[test]
fn a_mover_may_move_and_a_fill_may_read_what_is_newer_in_the_buffer() {
    let mut s = Scene::tiny();
    s.write(0, [5]);
    s.oracle.take(Event::Wrote { request: 0, lpn: Lpn::new(5), whole: true });
    s.copy(0, 1, 5);
    s.fill(5, 1, ReadResult::Good);
    s.read(5, FROM_BUFFER);
    s.program(2, 5, Origin::Host, Cause::Host);
    s.read(5, 2);
    s.fill(7, NO_PPN, ReadResult::Good);
    assert_eq!(s.clean().reads_checked, 2);
}

#[test]
fn a_stale_version_is_caught() {
    let mut s = Scene::tiny();
    s.write(0, [5, 5]);
    s.read(5, 0);
    s.caught(
        stamp,
        &[
            "host read of lpn 5",
            "ppn 0 (block 0, wordline 0)",
            "version 1 of lpn 5",
            "it holds version 2",
        ],
    );
}

#[test]
fn flash_read_while_newer_data_is_buffered_is_caught() {
    let mut s = Scene::tiny();
    s.write(0, [5]);
    s.oracle.take(Event::Wrote { request: 0, lpn: Lpn::new(5), whole: true });
    s.read(5, 0);
    s.caught(stamp, &["version 1 of lpn 5", "it holds version 2"]);
}

#[test]
fn a_stale_copy_resurrected_is_caught() {
    let mut s = Scene::tiny();
    s.write(0, [5, 5]);
    s.copy(0, 12, 5); // the mover takes the stale page for a valid one and maps it
    s.read(5, 12);
    s.caught(stamp, &["version 1 of lpn 5", "it holds version 2"]);
}

#[test]
fn data_from_before_a_trim_is_caught() {
    let mut s = Scene::tiny();
    s.write(0, [5]);
    s.oracle.take(Event::Trimmed { lpn: Lpn::new(5) });
    s.read(5, 0);
    s.caught(stamp, &["it holds no data"]);
    s.write(1, [5]);
    s.read(5, 0);
    assert_eq!(
        s.oracle.finish().stamp_errors,
        2,
        "nor does it pass for data written after the trim"
    );
}

#[test]
fn a_page_dropped_by_the_mover_is_caught() {
    let mut s = Scene::tiny();
    s.write(0, [5, 6]);
    s.copy(0, 12, 5);
    s.erase(BlockId::new(0));
    s.read(6, NO_PPN);
    s.caught(stamp, &["host read of lpn 6 was served as unmapped", "it holds version 1"]);
}

#[test]
fn a_write_linked_to_the_neighbour_is_caught() {
    let mut s = Scene::tiny();
    s.write(0, [5, 6]);
    s.read(5, 1);
    s.caught(stamp, &["host read of lpn 5", "carries version 1 of lpn 6"]);
}

#[test]
fn a_copy_is_what_its_source_carries_not_what_the_drive_claims() {
    let mut s = Scene::tiny();
    s.write(0, [5, 6]);
    s.program(12, 5, Origin::Copy(Ppn::new(1)), Cause::Gc);
    s.caught(
        stamp,
        &["gc at ppn 12: copy for lpn 5 of a page that carries version 1 of lpn 6, ppn 1"],
    );
    assert_eq!(s.oracle.content(Ppn::new(12)), Some((Lpn::new(6), 1)));
}

#[test]
fn a_copy_of_an_erased_page_is_caught() {
    let mut s = Scene::tiny();
    s.write(0, [5]);
    s.program(12, 5, Origin::Copy(Ppn::new(1)), Cause::Gc);
    s.caught(stamp, &["carries nothing (erased), ppn 1"]);
}

#[test]
fn reads_of_erased_and_of_unprogrammed_pages_are_caught() {
    for (erase, result) in
        [(true, ReadResult::Good), (false, ReadResult::Good), (false, ReadResult::Uncorrectable)]
    {
        let mut s = Scene::tiny();
        s.write(0, [5]);
        let ppn = u32::from(!erase);
        if erase {
            s.erase(BlockId::new(0));
        }
        s.read_by(Cause::Gc, 5, ppn, result);
        s.caught(stamp, &["gc read of lpn 5", "nothing (erased)"]);
    }
}

#[test]
fn a_mover_that_reads_the_wrong_page_is_caught() {
    let mut s = Scene::tiny();
    s.write(0, [5, 6]);
    s.read_by(Cause::Reclaim, 5, 1, ReadResult::Good);
    s.caught(stamp, &["reclaim read of lpn 5", "version 1 of lpn 6"]);
}

#[test]
fn zeros_for_written_and_buffer_hits_for_unwritten_data_are_caught() {
    let mut s = Scene::tiny();
    s.oracle.take(Event::Wrote { request: 0, lpn: Lpn::new(5), whole: true });
    s.read(5, NO_PPN);
    s.caught(stamp, &["served as unmapped", "it holds version 1"]);
    let mut s = Scene::tiny();
    s.read(5, FROM_BUFFER);
    s.caught(stamp, &["served from the write buffer", "it holds no data"]);
}

#[test]
fn programming_host_data_that_there_is_not_is_caught() {
    let mut s = Scene::tiny();
    s.write(0, [5]);
    s.oracle.take(Event::Trimmed { lpn: Lpn::new(5) });
    s.program(1, 5, Origin::Host, Cause::Host);
    s.caught(stamp, &["host at ppn 1: program of host data of lpn 5, which holds no data"]);
}

#[test]
fn addresses_out_of_range_are_caught() {
    let mut s = Scene::tiny();
    s.read(24, 0);
    s.caught(stamp, &["lpn 24", "beyond the host's capacity"]);
    let mut s = Scene::tiny();
    s.read(5, 48);
    s.caught(stamp, &["ppn 48, which is beyond the flash"]);
    let mut s = Scene::tiny();
    s.oracle.take(Event::Wrote { request: 0, lpn: Lpn::new(24), whole: true });
    s.caught(crate::common::protocol, &["lpn 24 is beyond the host's 24 pages"]);
}

#[test]
fn a_preloaded_block_reads_as_written_once() {
    let mut s = Scene::tiny();
    s.oracle.take(Event::Preloaded {
        block: BlockId::new(1),
        lpns: &[Lpn::new(7), NO_LPN, Lpn::new(3)],
    });
    s.read(7, 12);
    s.read(3, 14);
    s.write(15, [7]);
    s.read(7, 15);
    assert_eq!(s.oracle.newest(Lpn::new(7)), Some(2));
    s.clean();
    s.oracle.take(Event::Preloaded { block: BlockId::new(2), lpns: &[Lpn::new(3)] });
    s.caught(stamp, &["preload of lpn 3, which already holds version 1, at ppn 24"]);
}

#[test]
fn pages_loaded_and_not_touched_since_are_as_well_known() {
    let mut s = Scene::tiny();
    s.oracle.take(Event::Preloaded {
        block: BlockId::new(1),
        lpns: &[Lpn::new(7), NO_LPN, Lpn::new(3)],
    });
    assert_eq!([3, 4, 7].map(|lpn| s.oracle.newest(Lpn::new(lpn))), [Some(1), None, Some(1)]);
    s.clean();
    s.oracle.take(Event::Preloaded { block: BlockId::new(2), lpns: &[Lpn::new(3)] });
    s.caught(stamp, &["preload of lpn 3, which already holds version 1, at ppn 24"]);
    s.oracle.take(Event::Wrote { request: 0, lpn: Lpn::new(3), whole: true });
    assert_eq!([3, 4, 7].map(|lpn| s.oracle.newest(Lpn::new(lpn))), [Some(2), None, Some(1)]);
    let mut s = Scene::tiny();
    s.oracle.take(Event::Preloaded { block: BlockId::new(2), lpns: &[Lpn::new(24)] });
    s.caught(stamp, &["lpn 24 is beyond the host's 24 pages, at ppn 24"]);
}

#[test]
fn a_preloaded_dead_page_belongs_to_nobody() {
    let mut s = Scene::tiny();
    s.oracle.take(Event::Preloaded { block: BlockId::new(1), lpns: &[Lpn::new(7), NO_LPN] });
    s.read_by(Cause::Gc, 3, 13, ReadResult::Good);
    s.caught(stamp, &["data without an owner"]);
}
