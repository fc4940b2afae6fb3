//! Partly written pages. The drive must read the missing part from the older version before it
//! serves or programs such a page.

use vpass_drive::base::units::{BlockId, Cause, Lpn, Ppn};
use vpass_drive::watch::observer::{Event, FROM_BUFFER, Observer, PhysRead};

use crate::common::Scene;
use crate::script::{after, play};

/// The first half of a page.
const HALF: u64 = u64::MAX >> 32;

/// Returns a scene with version 1 of page 1 at ppn 1 and version 2 at ppn 3. Then the host writes
/// the first half of the page.
fn half_written() -> Scene {
    after(Scene::tiny(), "write 0..3 at 0; write 1 at 3; take 0xFFFFFFFF of 1")
}

#[test]
fn a_page_needs_its_rest() {
    play(
        half_written,
        "
        // A read completes the page, so it may be programmed.
        fill 1 at 3; filled 1; read 1 at buffer; program 1 at 4; read 1 at 4
        clean

        // A program without the rest.
        program 1 at 4
        stamp: host at ppn 4: program of lpn 1, but memory holds only its parts 0x00000000ffffffff

        // The drive claims to have read the rest but has not.
        filled 1
        stamp: lpn 1 was completed with parts that were not read

        // An answer without the rest.
        read 1 at buffer
        stamp: host read of lpn 1 was served from memory, which holds only its parts 0x00000000ff

        // What was read for one answer is gone with it.
        fill 1 at 3; read 1 at buffer
        clean
        program 1 at 4
        stamp: program of lpn 1, but memory holds only its parts

        fill 1 at 3; read 1 at buffer; read 1 at buffer
        stamp: host read of lpn 1 was served from memory

        // The rest comes from the version beneath, wherever it lies now.
        fill 1 at 1
        stamp: lpn 1 is completed from ppn 1
        | which carries version 1 of lpn 1; its other parts belong to version 2

        copy 1 from 3 to 4; fill 1 at 4; filled 1; program 1 at 5
        clean

        // Memory serves and programs what it holds.
        read 2 at buffer
        stamp: host read of lpn 2 was served from memory, which holds nothing of it

        program 2 at 4
        stamp: program of host data of lpn 2, but memory holds nothing of it
        ",
    );
    // The rest could not be read.
    let s = after(half_written(), "fill 1 at 3 in vain; program 1 at 4");
    assert!(
        s.oracle.finish().findings.iter().any(|f| f.contains("the drive could not read its data"))
    );
}

#[test]
fn a_mover_or_a_copy_that_waits_completes_the_page() {
    let mut s = half_written();
    let read = PhysRead { fill: true, ..PhysRead::good(Lpn::new(1), Ppn::new(3), Cause::Gc) };
    s.oracle.take(Event::Reads { batch: &[read] });
    s.oracle.take(Event::Filled { lpn: Lpn::new(1) });
    s.erase(BlockId::new(0));
    s.program_host(12, 1);
    s.clean();
    play(
        Scene::tiny,
        "
        write 0..3 at 0; read 1 at 1 by gc; gather 1 from 1; take 0xFFFFFFFFFFFFFFFF of 1
        read 1 at buffer; program 1 at 3
        clean

        // What nobody ever wrote needs no read.
        take 0xFFFFFFFF of 5; read 5 at buffer; program 5 at 0
        trim 5; take 0xFFFFFFFF00000000 of 5; program 5 at 1
        clean
        // An unneeded read is not an error.
        take 0xFFFFFFFFFFFFFFFF of 5; fill 5 at 1; program 5 at 2
        clean
        ",
    );
}

#[test]
fn lost_data_is_not_made_whole_by_a_part() {
    let mut s = after(half_written(), "fill 1 at 3 in vain; lose 1");
    // The drive gave up this half together with the page. The half no longer counts, and the drive
    // does not claim to hold it.
    s.take_in(1, HALF << 32);
    s.fail(1, FROM_BUFFER);
    assert_eq!(s.oracle.newest(Lpn::new(1)), None);
    s.take_in(1, u64::MAX);
    assert_eq!(s.oracle.newest(Lpn::new(1)), Some(5));
}
