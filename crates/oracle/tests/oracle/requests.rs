//! Host requests, split by the oracle itself. Each page is served once, in order, with the
//! requested parts. Pages have 16 KiB and parts 256 bytes. All pages are first written completely.

use vpass_drive::base::request::Op;

use crate::common::Scene;
use crate::script::{after, play};

/// Returns a scene with pages 0 to 11 in block 0, in order, and without any request.
fn written() -> Scene {
    after(Scene::tiny(), "write 0..12 at 0")
}

#[test]
fn a_write_covers_the_parts_that_it_covers_wholly() {
    play(
        written,
        "
        // Bytes 12 to 36 KiB are the last quarter of page 0, all of page 1 and the first quarter of
        // page 2.
        ask write 12K 24K; take 0xFFFF000000000000 of 0; take 0xFFFFFFFFFFFFFFFF of 1
        take 0xFFFF of 2; measure
        clean

        // Bytes 100 to 1099 cover parts 1 to 3. Bytes 16484 to 16533 cover no part of page 1.
        ask write 100 1000; ask write 16484 50; take 0xE of 0; take 0 of 1
        clean

        // One part too many.
        ask write 0 4K; take 0x1FFFF of 0
        request: after a write of lpn 0, the drive holds its parts 0x000000000001ffff; the host
        | wrote 0x000000000000ffff

        // The request covers all parts but the last. If the drive held one part too many, it would
        // never read the rest.
        ask write 0 16128; take 0xFFFFFFFFFFFFFFFF of 0
        request: reports the page as complete
        | the host wrote 0x7fffffffffffffff

        // Parts that are written one after another make a page whole.
        ask write 0 12K; ask write 8K 8K; take 0xFFFFFFFFFFFF of 0; take 0xFFFFFFFFFFFFFFFF of 0
        program 0 at 12
        clean
        ",
    );
}

#[test]
fn each_page_is_served_once_and_in_order() {
    play(
        || after(written(), "ask read 0 48K; ask read 80K 16K"),
        "
        read 0 at 0; read 1 at 1; read 2 at 2; read 5 at 5
        clean
        read 5 at 5
        request: lpn 5 was read without a request

        read 0 at 0; read 1 at 1; read 5 at 5
        request: lpn 5 was read instead
        | request 0, a read of 49152 bytes from byte 0 on, is at lpn 2

        read 0 at 0; read 2 at 2; read 5 at 5
        request: lpn 2 was read instead
        | is at lpn 1

        read 0 at 0; read 1 at 1; read 1 at 1; read 2 at 2; read 5 at 5
        request: lpn 1 was read instead
        | is at lpn 2
        ",
    );
    play(
        || {
            let (mut s, page) = (written(), 16 << 10);
            s.ask(&[(Op::Write, 0, page), (Op::Read, page, page), (Op::Trim, 2 * page, page)]);
            s
        },
        "
        // Reads pass writes, and each kind keeps its order.
        read 1 at 1; take 0xFFFFFFFFFFFFFFFF of 0; trim 2; measure
        clean

        trim 2
        request: lpn 2 was trimmed instead; request 0, a write
        ",
    );
    play(
        written,
        "
        // What is never served is an error when all should be served.
        ask read 0 32K; ask write 0 16K; ask write 16K 16K; ask trim 100 200
        read 0 at 0; read 1 at 1; take 0xFFFFFFFFFFFFFFFF of 0
        clean
        measure
        request: request 2, a write of 16384 bytes from byte 16384 on, was not served for lpn 1, and
        | neither were 1 later requests

        // A trim of bytes 8 KiB to 56 KiB covers pages 1 and 2 completely, and half of pages 0 and 3.
        ask trim 8K 48K; trim 1; trim 2; read 3 at 3 by gc; measure
        clean

        ask trim 8K 48K; trim 0
        request: lpn 0 was trimmed instead
        | is at lpn 1

        // An error is an answer, and wrong data is still caught.
        ask read 0 16K; ask read 16K 16K; read 0 at 0; read 1 at nowhere
        stamp: host read of lpn 1 was served as unmapped
        ",
    );
}
