//! Partly written pages. The drive must read the missing part from the older version before it
//! serves or programs such a page.

use vpass_drive::base::units::{BlockId, Cause, Lpn, Ppn};
use vpass_drive::watch::observer::{Event, FROM_BUFFER, Observer, Origin, ReadResult};

use crate::common::{Scene, stamp};

/// The first half of a page.
const HALF: u64 = u64::MAX >> 32;

/// Returns a scene with version 1 of page 1 at ppn 1 and version 2 at ppn 3. Then the host writes
/// the first half of the page.
fn half_written() -> Scene {
    let mut s = Scene::tiny();
    s.write(0, 0..3);
    s.write(3, [1]);
    s.take_in(1, HALF);
    s
}

#[test]
fn a_page_completed_by_a_read_may_be_programmed() {
    let mut s = half_written();
    s.fill(1, 3, ReadResult::Good);
    s.oracle.take(Event::Filled { lpn: Lpn::new(1) });
    s.read(1, FROM_BUFFER);
    s.program_host(4, 1);
    s.read(1, 4);
    s.clean();
}

#[test]
fn a_page_programmed_without_its_rest_is_caught() {
    let mut s = half_written();
    s.program_host(4, 1);
    s.caught(
        stamp,
        &["host at ppn 4: program of lpn 1, but memory holds only its parts 0x00000000ffffffff"],
    );
    // The drive claims to have read the rest but has not.
    let mut s = half_written();
    s.oracle.take(Event::Filled { lpn: Lpn::new(1) });
    s.caught(stamp, &["lpn 1 was completed with parts that were not read"]);
    // The rest could not be read.
    let mut s = half_written();
    s.fill(1, 3, ReadResult::Uncorrectable);
    s.program_host(4, 1);
    assert!(
        s.oracle.finish().findings.iter().any(|f| f.contains("the drive could not read its data"))
    );
}

#[test]
fn a_page_served_without_its_rest_is_caught() {
    let mut s = half_written();
    s.read(1, FROM_BUFFER);
    s.caught(
        stamp,
        &["host read of lpn 1 was served from memory, which holds only its parts \
            0x00000000ffffffff"],
    );
}

#[test]
fn what_was_read_for_one_answer_is_gone_with_it() {
    let mut s = half_written();
    s.fill(1, 3, ReadResult::Good);
    s.read(1, FROM_BUFFER);
    s.clean();
    let mut again = half_written();
    again.fill(1, 3, ReadResult::Good);
    again.read(1, FROM_BUFFER);
    again.read(1, FROM_BUFFER);
    again.caught(stamp, &["host read of lpn 1 was served from memory"]);
    s.program_host(4, 1);
    s.caught(stamp, &["program of lpn 1, but memory holds only its parts"]);
}

#[test]
fn the_rest_comes_from_the_version_beneath_wherever_it_lies_now() {
    let mut s = half_written();
    s.fill(1, 1, ReadResult::Good);
    s.caught(
        stamp,
        &[
            "lpn 1 is completed from ppn 1",
            "which carries version 1 of lpn 1; its other parts belong to version 2",
        ],
    );
    let mut s = half_written();
    s.copy(3, 4, 1);
    s.fill(1, 4, ReadResult::Good);
    s.oracle.take(Event::Filled { lpn: Lpn::new(1) });
    s.program_host(5, 1);
    s.clean();
}

#[test]
fn a_mover_that_reads_the_rest_completes_the_page() {
    let mut s = half_written();
    s.oracle.take(Event::Reads {
        batch: &[vpass_drive::watch::observer::PhysRead {
            fill: true,
            ..vpass_drive::watch::observer::PhysRead::good(Lpn::new(1), Ppn::new(3), Cause::Gc)
        }],
    });
    s.oracle.take(Event::Filled { lpn: Lpn::new(1) });
    s.erase(BlockId::new(0));
    s.program_host(12, 1);
    s.clean();
}

#[test]
fn a_copy_that_waits_completes_the_page() {
    let mut s = Scene::tiny();
    s.write(0, 0..3);
    s.read_by(Cause::Gc, 1, 1, ReadResult::Good);
    s.oracle.take(Event::Gathered { lpn: Lpn::new(1), from: Ppn::new(1) });
    s.take_in(1, u64::MAX);
    s.read(1, FROM_BUFFER);
    s.program(3, 1, Origin::Host, Cause::Host);
    s.clean();
}

#[test]
fn what_nobody_ever_wrote_needs_no_read() {
    let mut s = Scene::tiny();
    s.take_in(5, HALF);
    s.read(5, FROM_BUFFER);
    s.program_host(0, 5);
    s.oracle.take(Event::Trimmed { lpn: Lpn::new(5) });
    s.take_in(5, HALF << 32);
    s.program_host(1, 5);
    s.clean();
    // An unneeded read is not an error.
    s.take_in(5, u64::MAX);
    s.fill(5, 1, ReadResult::Good);
    s.program_host(2, 5);
    s.clean();
}

#[test]
fn memory_serves_and_programs_what_it_holds() {
    let mut s = half_written();
    s.read(2, FROM_BUFFER);
    s.caught(stamp, &["host read of lpn 2 was served from memory, which holds nothing of it"]);
    let mut s = half_written();
    s.program_host(4, 2);
    s.caught(stamp, &["program of host data of lpn 2, but memory holds nothing of it"]);
}

#[test]
fn lost_data_is_not_made_whole_by_a_part() {
    let mut s = half_written();
    s.fill(1, 3, ReadResult::Uncorrectable);
    s.oracle.take(Event::Lost { lpn: Lpn::new(1) });
    // The drive gave up this half together with the page. The half no longer counts, and the drive
    // does not claim to hold it.
    s.take_in(1, HALF << 32);
    s.fail(1, FROM_BUFFER);
    assert_eq!(s.oracle.newest(Lpn::new(1)), None);
    s.take_in(1, u64::MAX);
    assert_eq!(s.oracle.newest(Lpn::new(1)), Some(5));
}
