//! Copies that wait in the controller's memory for the rest of their wordline, and padded
//! wordlines.

use crate::common::Scene;
use crate::script::{after, play};

#[test]
fn a_copy_waits_in_memory_until_it_is_programmed_once() {
    let one_waits = || after(Scene::tiny(), "write 0..3 at 0; read 1 at 1 by gc; gather 1 from 1");
    play(
        one_waits,
        "
        // The block of the copy goes while the copy waits.
        copy 0 from 0 to 12; copy 2 from 2 to 13; erase 0
        read 1 at buffer; program 1 at 14 by gc from memory; read 1 at 14
        clean 2 reads

        // The page may not be read any more.
        read 1 at 1
        stamp: host read of lpn 1 went to ppn 1
        | data without an owner

        // The copy is programmed twice, after newer data, and after a trim.
        program 1 at 3 by gc from memory
        clean
        program 1 at 12 by gc from memory
        stamp: program of a copy for lpn 1, but no copy waits

        wrote 1; program 1 at 12 by gc from memory
        stamp: program of a copy for lpn 1, but no copy waits

        trim 1; program 1 at 12 by gc from memory
        stamp: program of a copy for lpn 1, but no copy waits

        // A copy of another page, and of one that waits already.
        gather 2 from 0
        stamp: copy for lpn 2 of a page that carries version 1 of lpn 0, ppn 0

        write 1 at 3; part 1; gather 1 from 3; gather 1 from 3
        stamp: copy for lpn 1
        ",
    );
}

#[test]
fn a_padded_page_is_a_program_in_order_and_holds_nothing() {
    play(
        Scene::tiny,
        "
        write 5 at 0; pad 1; pad 2
        clean
        pad 2
        protocol: program of page 2 of block 0, but it is already programmed

        pad 0; read 5 at 0
        stamp: host read of lpn 5 went to ppn 0
        ",
    );
}
