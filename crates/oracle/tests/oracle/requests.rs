//! Host requests, split by the oracle itself. Each page is served once, in order, with the
//! requested parts. Pages have 16 KiB and parts 256 bytes. All pages are first written completely.

use vpass_drive::base::request::Op;
use vpass_drive::base::units::{Cause, Lpn};
use vpass_drive::watch::observer::{Event, NO_PPN, Observer, ReadResult};

use crate::common::{Scene, request, stamp};

const KIB: u64 = 1 << 10;

/// Returns a scene with pages 0 to 11 in block 0, in order, and without any request.
fn written() -> Scene {
    let mut s = Scene::tiny();
    s.write(0, 0..12);
    s
}

#[test]
fn a_write_across_pages_covers_each_in_part() {
    let mut s = written();
    // Bytes 12 to 36 KiB are the last quarter of page 0, all of page 1 and the first quarter of
    // page 2.
    s.ask(&[(Op::Write, 12 * KIB, 24 * KIB)]);
    for (lpn, parts) in [(0, 0xFFFF << 48), (1, u64::MAX), (2, 0xFFFF)] {
        s.take_in(lpn, parts);
    }
    s.oracle.take(Event::MeasuredPhase);
    s.clean();
}

#[test]
fn parts_that_are_not_wholly_covered_do_not_count() {
    let mut s = written();
    // Bytes 100 to 1099 cover parts 1 to 3. Bytes 16484 to 16533 cover no part of page 1.
    s.ask(&[(Op::Write, 100, 1000), (Op::Write, 16_484, 50)]);
    s.take_in(0, 0b1110);
    s.take_in(1, 0);
    s.clean();
}

#[test]
fn a_write_of_one_part_too_many_is_caught() {
    let mut s = written();
    s.ask(&[(Op::Write, 0, 4 * KIB)]);
    s.take_in(0, 0x1_FFFF);
    s.caught(
        request,
        &["after a write of lpn 0, the drive holds its parts 0x000000000001ffff; the host wrote \
            0x000000000000ffff"],
    );
    // The request covers all parts but the last. If the drive held one part too many, it would
    // never read the rest.
    let mut s = written();
    s.ask(&[(Op::Write, 0, 16 * KIB - 256)]);
    s.take_in(0, u64::MAX);
    s.caught(request, &["reports the page as complete", "the host wrote 0x7fffffffffffffff"]);
}

#[test]
fn parts_written_one_after_another_make_a_page_whole() {
    let mut s = written();
    s.ask(&[(Op::Write, 0, 12 * KIB), (Op::Write, 8 * KIB, 8 * KIB)]);
    s.take_in(0, u64::MAX >> 16);
    s.take_in(0, u64::MAX);
    s.program_host(12, 0);
    s.clean();
}

#[test]
fn a_page_left_out_and_a_page_read_twice_are_caught() {
    let reads = |pages: &[u32]| {
        let mut s = written();
        s.ask(&[(Op::Read, 0, 48 * KIB), (Op::Read, 80 * KIB, 16 * KIB)]);
        for page in pages {
            s.read(*page, *page);
        }
        s
    };
    reads(&[0, 1, 2, 5]).clean();
    reads(&[0, 1, 5]).caught(
        request,
        &["lpn 5 was read instead", "request 0, a read of 49152 bytes from byte 0 on, is at lpn 2"],
    );
    reads(&[0, 2, 5]).caught(request, &["lpn 2 was read instead", "is at lpn 1"]);
    reads(&[0, 1, 1, 2, 5]).caught(request, &["lpn 1 was read instead", "is at lpn 2"]);
    reads(&[0, 1, 2, 5, 5]).caught(request, &["lpn 5 was read without a request"]);
}

#[test]
fn what_is_never_served_is_caught_when_all_should_be() {
    let mut s = written();
    s.ask(&[
        (Op::Read, 0, 32 * KIB),
        (Op::Write, 0, 16 * KIB),
        (Op::Write, 16 * KIB, 16 * KIB),
        (Op::Trim, 100, 200),
    ]);
    s.read(0, 0);
    s.read(1, 1);
    s.take_in(0, u64::MAX);
    s.clean();
    s.oracle.take(Event::MeasuredPhase);
    s.caught(
        request,
        &["request 2, a write of 16384 bytes from byte 16384 on, was not served for lpn 1, and \
            neither were 1 later requests"],
    );
}

#[test]
fn reads_pass_writes_and_each_kind_keeps_its_order() {
    let asked = || {
        let mut s = written();
        s.ask(&[
            (Op::Write, 0, 16 * KIB),
            (Op::Read, 16 * KIB, 16 * KIB),
            (Op::Trim, 32 * KIB, 16 * KIB),
        ]);
        s
    };
    let mut s = asked();
    s.read(1, 1);
    s.take_in(0, u64::MAX);
    s.oracle.take(Event::Trimmed { lpn: Lpn::new(2) });
    s.oracle.take(Event::MeasuredPhase);
    s.clean();
    let mut s = asked();
    s.oracle.take(Event::Trimmed { lpn: Lpn::new(2) });
    s.caught(request, &["lpn 2 was trimmed instead; request 0, a write"]);
}

#[test]
fn a_trim_discards_whole_pages_only() {
    let asked = || {
        let mut s = written();
        // Bytes 8 KiB to 56 KiB cover pages 1 and 2 completely, and half of pages 0 and 3.
        s.ask(&[(Op::Trim, 8 * KIB, 48 * KIB)]);
        s
    };
    let mut s = asked();
    s.oracle.take(Event::Trimmed { lpn: Lpn::new(1) });
    s.oracle.take(Event::Trimmed { lpn: Lpn::new(2) });
    s.read_by(Cause::Gc, 3, 3, ReadResult::Good);
    s.oracle.take(Event::MeasuredPhase);
    s.clean();
    let mut s = asked();
    s.oracle.take(Event::Trimmed { lpn: Lpn::new(0) });
    s.caught(request, &["lpn 0 was trimmed instead", "is at lpn 1"]);
}

#[test]
fn an_error_is_an_answer_and_wrong_data_is_still_caught() {
    let mut s = written();
    s.ask(&[(Op::Read, 0, 16 * KIB), (Op::Read, 16 * KIB, 16 * KIB)]);
    s.read(0, 0);
    s.read(1, NO_PPN);
    s.caught(stamp, &["host read of lpn 1 was served as unmapped"]);
}
