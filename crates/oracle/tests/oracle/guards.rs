//! Wordlines that are merged singly. A merged wordline endures more, and no other wordline does.

use vpass_drive::config::{DensityConfig, DriveConfig, PerPec};

use crate::common::{Scene, UNIT, config, wordline_model};
use crate::script::{after, play};

/// Wordline 1 of block 0 is merged singly. Its MSB page is in block 1, and it has been read four
/// times.
const GUARDED: &str = "write 0..6 at 0; copy 5 from 5 to 12; sense and merge 1; recode 1 to 1";

fn guarded() -> Scene {
    after(Scene::tiny(), GUARDED)
}

#[test]
fn its_limit_grows_at_once_until_the_next_erase_and_that_of_its_neighbours_does_not() {
    play(
        guarded,
        "
        111 x read 0 at 0; read 3 at 3; read 5 at 12
        clean
        read 0 at 0; read 3 at 3
        first limit: host read used lpn 3 past its limit at ppn 3 (block 0, wordline 1):
        | dose 1008.000 of a limit of 1000.000

        8 x read 3 at 3; read 0 at 0
        first limit: host read used lpn 0 past its limit at ppn 0 (block 0, wordline 0):
        | dose 108.000 of a limit of 100.000

        write 0..5 at 13; erase 0; write 6..12 at 0; 12 x read 6 at 0; read 9 at 3
        first limit: host read used lpn 9 past its limit at ppn 3 (block 0, wordline 1):
        | dose 108.000 of a limit of 100.000
        ",
    );
}

/// Wordline 1 was read four times and reprogrammed, which counts like 2.5 reads. Its neighbours
/// have 9 x 6.5 = 58.5, and each further read adds 9.
#[test]
fn reprogramming_may_disturb_its_neighbours() {
    let flash = config(4, 4, wordline_model(100.0, 9.0));
    let density = DensityConfig { reprogram_dose: 2.5, ..DensityConfig::default() };
    let disturbing = DriveConfig { density, ..flash };
    play(
        || after(Scene::new(&disturbing), GUARDED),
        "
        4 x read 3 at 3; read 0 at 0
        clean
        read 3 at 3; read 0 at 0
        first limit: host read used lpn 0 past its limit at ppn 0 (block 0, wordline 0):
        | dose 103.500 of a limit of 100.000
        ",
    );
}

/// The limit is 100 minus 10 for each cycle. The first and the third of the cycles are reprogrammed
/// and count like 2.5. So after 1, 3 and 5 cycles the limits are those of 2.5 (rounded up to 3), 6
/// and 8 cycles.
#[test]
fn what_it_wears_counts_for_limits() {
    for (counts, limits) in [(true, [70, 40, 20]), (false, [90, 70, 50])] {
        let mut disturb = wordline_model(100.0, 9.0);
        disturb.table.push(PerPec { pec: 10, limit: vec![0.0], alpha: vec![9.0] });
        let mut c = config(4, 4, disturb);
        (c.density.wear, c.density.wear_counts_for_limits) = (2.5, counts);
        let mut s = Scene::new(&c);
        for (reprogrammed, wanted) in [true, true, false].into_iter().zip(limits) {
            let recode = if reprogrammed { "merge 1 to 1 by reclaim; recode 1 to 1; " } else { "" };
            let steps = "erase 0; write 0..3 at 0";
            s = after(s, &format!("write 0..6 at 0; copy 5 from 5 to 12; {recode}{steps}"));
            assert_eq!(s.truth(0).unwrap().1 / UNIT, wanted, "counts: {counts}");
            s = after(s, "erase 0; erase 1");
        }
    }
}

#[test]
fn it_is_merged_once_whole_and_not_with_its_block() {
    play(
        guarded,
        "
        merge 1 to 1 by reclaim
        protocol: merge of wordline 1 of block 0, but it is already merged

        recode to 1
        protocol: block 0 goes to mode 1, but 1 of its wordlines were merged alone

        // A limit grows only when its wordline was merged and its block is in full density.
        recode 0 to 1
        protocol: wordline 0 of block 0 goes to mode 1; it was merged for mode 0, and 0 wordlines
        | wait for their limits

        recode 1 to 1
        protocol: wordline 1 of block 0 goes to mode 1; it was merged for mode 1, and 0 wordlines
        | wait for their limits
        ",
    );
    play(
        Scene::tiny,
        "
        write 0..4 at 0; merge 1 to 1 by reclaim
        protocol: merge of wordline 1 of block 0, but only 4 pages are programmed

        recode to 1; recode 0 to 1
        protocol: wordline 0 of block 0 goes to mode 1 alone; the block is in mode 1

        // A page that was not backed up.
        write 0..6 at 0; sense and merge 1; recode 1 to 1
        stamp: a merge removed version 1 of lpn 5, the newest data of the page, at ppn 5 (block 0,
        | wordline 1)
        ",
    );
}

/// The wordline is merged for fewer sensings, so it gives up its LSB page (coding 4).
#[test]
fn it_may_keep_its_csb_and_msb_pages_and_endures_no_more() {
    let faster = || {
        let before = "write 0..6 at 0; copy 3 from 3 to 12; read nobody at 3 by reclaim";
        let sensed = after(after(Scene::tiny(), before), "read 4 at 4 by reclaim");
        after(sensed, "read 5 at 5 by reclaim; merge 1 to 4 by reclaim; recode 1 to 4")
    };
    play(
        faster,
        "
        // Reads of wordline 1 do not disturb it. The 11 reads of wordline 0 add 9 x 11 = 99 of 100.
        read 3 at 12; read 4 at 4; read 5 at 5; 11 x read 0 at 0; read 4 at 4
        clean
        read 0 at 0; read 5 at 5
        first limit: host read used lpn 5 past its limit at ppn 5 (block 0, wordline 1):
        | dose 108.000 of a limit of 100.000

        read 3 at 3
        stamp: host read of lpn 3 went to ppn 3
        | data without an owner
        ",
    );
    play(
        Scene::tiny,
        "
        // The LSB page is not backed up.
        write 0..3 at 0; read 0 at 0 by reclaim; read 1 at 1 by reclaim; read 2 at 2 by reclaim
        merge 0 to 4 by reclaim
        stamp: a merge removed version 1 of lpn 0, the newest data of the page, at ppn 0 (block 0,
        | wordline 0)
        ",
    );
}
