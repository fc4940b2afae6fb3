//! Copies that wait in the controller's memory for the rest of their wordline, and padded
//! wordlines.

use vpass_drive::base::units::{BlockId, Cause, Lpn, Ppn};
use vpass_drive::watch::observer::{Event, FROM_BUFFER, Observer, Origin, ReadResult};

use crate::common::{Scene, protocol, stamp};

/// Returns a scene with pages 0 to 2 in block 0 and a waiting copy of page 1.
fn one_waits() -> Scene {
    let mut s = Scene::tiny();
    s.write(0, 0..3);
    s.read_by(Cause::Gc, 1, 1, ReadResult::Good);
    s.oracle.take(Event::Gathered { lpn: Lpn::new(1), from: Ppn::new(1) });
    s
}

#[test]
fn a_copy_waits_is_read_from_memory_and_programmed_when_its_block_is_gone() {
    let mut s = one_waits();
    s.copy(0, 12, 0);
    s.copy(2, 13, 2);
    s.erase(BlockId::new(0));
    s.read(1, FROM_BUFFER);
    s.program(14, 1, Origin::Gathered, Cause::Gc);
    s.read(1, 14);
    assert_eq!(s.clean().reads_checked, 2);
}

#[test]
fn what_was_gathered_is_not_read_where_it_was() {
    let mut s = one_waits();
    s.read(1, 1);
    s.caught(stamp, &["host read of lpn 1 went to ppn 1", "data without an owner"]);
}

#[test]
fn a_copy_is_programmed_once_and_not_after_newer_data_or_a_trim() {
    let programmed = |mut s: Scene| {
        s.program(12, 1, Origin::Gathered, Cause::Gc);
        s.caught(stamp, &["program of a copy for lpn 1, but no copy waits"]);
    };
    let mut s = one_waits();
    s.program(3, 1, Origin::Gathered, Cause::Gc);
    programmed(s);
    let mut s = one_waits();
    s.oracle.take(Event::Wrote { request: 0, lpn: Lpn::new(1), whole: true });
    programmed(s);
    let mut s = one_waits();
    s.oracle.take(Event::Trimmed { lpn: Lpn::new(1) });
    programmed(s);
}

#[test]
fn a_copy_of_another_page_or_of_one_that_waits_already_is_caught() {
    let mut s = one_waits();
    s.oracle.take(Event::Gathered { lpn: Lpn::new(2), from: Ppn::new(0) });
    s.caught(stamp, &["copy for lpn 2 of a page that carries version 1 of lpn 0, ppn 0"]);
    let mut s = one_waits();
    s.write(3, [1]);
    s.oracle.take(Event::Wrote { request: 0, lpn: Lpn::new(1), whole: false });
    s.oracle.take(Event::Gathered { lpn: Lpn::new(1), from: Ppn::new(3) });
    s.oracle.take(Event::Gathered { lpn: Lpn::new(1), from: Ppn::new(3) });
    s.caught(stamp, &["copy for lpn 1"]);
}

#[test]
fn a_padded_page_is_a_program_in_order_and_holds_nothing() {
    let mut s = Scene::tiny();
    s.write(0, [5]);
    s.oracle.take(Event::Padded { ppn: Ppn::new(1), seq: 2, cause: Cause::Host });
    s.oracle.take(Event::Padded { ppn: Ppn::new(2), seq: 3, cause: Cause::Host });
    s.clean();
    s.oracle.take(Event::Padded { ppn: Ppn::new(2), seq: 4, cause: Cause::Host });
    s.caught(protocol, &["program of page 2 of block 0, but it is already programmed"]);
    let mut s = Scene::tiny();
    s.oracle.take(Event::Padded { ppn: Ppn::new(0), seq: 1, cause: Cause::Host });
    s.read(5, 0);
    s.caught(stamp, &["host read of lpn 5 went to ppn 0"]);
}
