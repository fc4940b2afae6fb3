//! Blocks that give up page kinds: data that may be lost, their limits, and the order of their
//! programs.

use crate::common::Scene;
use crate::script::{after, play};

/// Returns a scene with pages 0 to 11 in block 0. Their MSB pages are copied to the first pages of
/// block 1.
fn backed_up() -> Scene {
    let copies =
        "copy 2 from 2 to 12; copy 5 from 5 to 13; copy 8 from 8 to 14; copy 11 from 11 to 15";
    after(after(Scene::tiny(), "write 0..12 at 0"), copies)
}

#[test]
fn a_block_whose_msb_pages_are_elsewhere_may_be_reprogrammed() {
    play(
        backed_up,
        "
        reprogram; read 4 at 4; read 5 at 13
        clean

        // The merge took this data away.
        reprogram; read 5 at 5
        stamp: host read of lpn 5 went to ppn 5
        | data without an owner

        // Limits do not grow before all wordlines are merged and the block goes to its mode. Backup
        // and merge read 4 pages of each wordline, so wordline 1 has a dose of 9 x 8 + 4. Ten reads
        // of wordline 0 add 90, and 100 reads add 900.
        sense and merge 0; sense and merge 1; sense and merge 2; sense and merge 3
        10 x read 0 at 0; read 3 at 3
        first limit: host read used lpn 3 past its limit at ppn 3 (block 0, wordline 1):
        | dose 166.000 of a limit of 100.000

        reprogram; 100 x read 0 at 0; read 3 at 3
        clean
        10 x read 0 at 0; read 3 at 3
        first limit: host read used lpn 3 past its limit at ppn 3 (block 0, wordline 1):
        | dose 1066.000 of a limit of 1000.000

        // A block goes to a mode only with all its wordlines.
        sense and merge 0; recode to 1
        protocol: block 0 goes to mode 1 with only 1 of 4 wordlines merged

        sense and merge 1; sense and merge 1
        protocol: merge of wordline 1 of block 0, but it is already merged
        ",
    );
    play(
        || after(Scene::tiny(), "write 0..12 at 0; copy 2 from 2 to 12; copy 8 from 8 to 13"),
        "
        // An MSB page that was not backed up.
        copy 11 from 11 to 14; reprogram
        stamp: a merge removed version 1 of lpn 5, the newest data of the page, at ppn 5 (block 0,
        | wordline 1)

        // An MSB page that was overwritten needs no backup.
        copy 5 from 5 to 14; write 11 at 15; reprogram
        clean
        ",
    );
}

#[test]
fn blocks_are_recoded_only_when_erased_or_full() {
    play(
        Scene::tiny,
        "
        // Data in a wordline that is written in part has no guard levels.
        write 0..4 at 0; copy 2 from 2 to 12; sense and merge 0; recode to 1
        stamp: reprogramming lost version 1 of lpn 3

        write 0 at 0; recode to 1
        stamp: reprogramming lost version 1 of lpn 0

        write 0..3 at 0; copy 2 from 2 to 12; sense and merge 0; write 3 at 3
        protocol: program of page 3 of block 0, but the block was reprogrammed in place

        // Only an erase gives pages back.
        recode to 1; recode to 2
        protocol: block 0 goes from mode 1 to 2; it must be erased first

        recode to 3
        protocol: coding mode 3 does not exist for cells of 3 bits

        // Nobody's data may be sensed in programmed cells only.
        read nobody at 7 by reclaim
        protocol: reclaim sensed ppn 7 (block 0, wordline 2), which is erased

        write 0 at 0; read nobody at 0
        stamp: it is beyond the host's capacity
        ",
    );
}

#[test]
fn a_block_opened_in_a_mode_is_written_without_the_pages_that_it_gives_up() {
    play(
        Scene::tiny,
        "
        // Without MSB pages, limits are higher. After an erase, the block is like any other.
        recode to 1; write 0 1 at 0; merge 0 to 1 by host; write 2 3 at 3; merge 1 to 1 by host
        100 x read 0 at 0; read 2 at 3
        clean
        write 0..4 at 12; erase 0; write 4..10 at 0
        clean
        12 x read 4 at 0; read 7 at 3
        first limit: host read used lpn 7 past its limit at ppn 3 (block 0, wordline 1):
        | dose 108.000 of a limit of 100.000

        recode to 1; write 0..3 at 0
        protocol: program of page 2 of block 0, which does not exist in coding mode 1

        // Guard levels are left out.
        recode to 1; write 0 1 at 0; write 2 at 3
        protocol: program of page 3 of block 0 out of order; page 2 is next

        // Without LSB pages.
        recode to 4; write 0 1 at 1; merge 0 to 4 by host; write 2 3 at 4; merge 1 to 4 by host
        read 0 at 1; read 1 at 2; read 2 at 4; read 3 at 5
        clean
        write 4 at 6
        protocol: program of page 6 of block 0, which does not exist in coding mode 4

        recode to 4; write 0 at 1; merge 0 to 4 by host
        protocol: merge of wordline 0 of block 0 in mode 4; the block is in mode 4, with 2 pages
        | programmed
        ",
    );
}
