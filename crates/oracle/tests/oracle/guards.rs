//! Wordlines that are merged singly. A merged wordline endures more, and no other wordline does.

use vpass_drive::base::units::{BlockId, Cause, WordlineInBlock};
use vpass_drive::config::{DensityConfig, DriveConfig, PerPec};
use vpass_drive::watch::observer::{Event, NO_OWNER, Observer, ReadResult};

use crate::common::{Scene, UNIT, config, protocol, stamp, wordline_model};

/// Merges a single wordline of block 0.
fn guard(s: &mut Scene, index: u32) {
    s.oracle.take(Event::Merged {
        block: BlockId::new(0),
        wordline: WordlineInBlock::new(index),
        mode: 1,
        cause: Cause::Reclaim,
    });
    s.oracle.take(Event::Recoded {
        block: BlockId::new(0),
        wordline: Some(WordlineInBlock::new(index)),
        mode: 1,
    });
}

/// Returns a scene with pages 0 to 5 in block 0 and wordline 1 merged singly. With `backed_up`, the
/// wordline's MSB page is in block 1. The wordline has been read four times.
fn guarded(backed_up: bool) -> Scene {
    guarded_on(Scene::tiny(), backed_up)
}

fn guarded_on(mut s: Scene, backed_up: bool) -> Scene {
    s.write(0, 0..6);
    if backed_up {
        s.copy(5, 12, 5);
    }
    s.read_by(Cause::Reclaim, 3, 3, ReadResult::Good);
    s.read_by(Cause::Reclaim, 4, 4, ReadResult::Good);
    s.read_by(Cause::Reclaim, NO_OWNER, 5, ReadResult::Good);
    guard(&mut s, 1);
    s
}

#[track_caller]
fn past(s: &Scene, sentence: &str) {
    assert_eq!(s.oracle.finish().findings[0], sentence);
}

#[test]
fn its_limit_grows_at_once() {
    let mut s = guarded(true);
    (0..111).for_each(|_| s.read(0, 0));
    s.read(3, 3);
    s.read(5, 12);
    s.clean();
    s.read(0, 0);
    s.read(3, 3);
    past(
        &s,
        "host read used lpn 3 past its limit at ppn 3 (block 0, wordline 1): dose 1008.000 of a limit of 1000.000",
    );
}

#[test]
fn its_neighbours_limits_do_not() {
    let mut s = guarded(true);
    (0..8).for_each(|_| s.read(3, 3));
    s.read(0, 0);
    past(
        &s,
        "host read used lpn 0 past its limit at ppn 0 (block 0, wordline 0): dose 108.000 of a limit of 100.000",
    );
}

/// Wordline 1 was read four times and reprogrammed, which counts like 2.5 reads. Its neighbours
/// have 9 x 6.5 = 58.5, and each further read adds 9.
#[test]
fn reprogramming_may_disturb_its_neighbours() {
    let flash = config(4, 4, wordline_model(100.0, 9.0));
    let density = DensityConfig { reprogram_dose: 2.5, ..DensityConfig::default() };
    let mut s = guarded_on(Scene::new(&DriveConfig { density, ..flash }), true);
    (0..4).for_each(|_| s.read(3, 3));
    s.read(0, 0);
    s.clean();
    s.read(3, 3);
    s.read(0, 0);
    past(
        &s,
        "host read used lpn 0 past its limit at ppn 0 (block 0, wordline 0): dose 103.500 of a limit of 100.000",
    );
}

#[test]
fn after_an_erase_it_is_one_like_any_other() {
    let mut s = guarded(true);
    s.write(13, 0..5);
    s.erase(BlockId::new(0));
    s.write(0, 6..12);
    (0..12).for_each(|_| s.read(6, 0));
    s.read(9, 3);
    past(
        &s,
        "host read used lpn 9 past its limit at ppn 3 (block 0, wordline 1): dose 108.000 of a limit of 100.000",
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
        let found = [true, true, false].map(|reprogrammed| {
            s.write(0, 0..6);
            s.copy(5, 12, 5);
            if reprogrammed {
                guard(&mut s, 1);
            }
            s.erase(BlockId::new(0));
            s.write(0, 0..3);
            let limit = s.truth(0).unwrap().1 / UNIT;
            s.erase(BlockId::new(0));
            s.erase(BlockId::new(1));
            limit
        });
        assert_eq!(found, limits, "counts: {counts}");
    }
}

#[test]
fn a_page_that_was_not_backed_up_is_caught() {
    guarded(false).caught(
        stamp,
        &["a merge removed version 1 of lpn 5, the newest data of the page, at ppn 5 (block 0, \
            wordline 1)"],
    );
}

#[test]
fn it_is_merged_once_whole_and_not_with_its_block() {
    let mut s = guarded(true);
    s.oracle.take(Event::Merged {
        block: BlockId::new(0),
        wordline: WordlineInBlock::new(1),
        mode: 1,
        cause: Cause::Reclaim,
    });
    s.caught(protocol, &["merge of wordline 1 of block 0, but it is already merged"]);
    let mut s = Scene::tiny();
    s.write(0, 0..4);
    s.oracle.take(Event::Merged {
        block: BlockId::new(0),
        wordline: WordlineInBlock::new(1),
        mode: 1,
        cause: Cause::Reclaim,
    });
    s.caught(protocol, &["merge of wordline 1 of block 0, but only 4 pages are programmed"]);
    let mut s = guarded(true);
    s.oracle.take(Event::Recoded { block: BlockId::new(0), wordline: None, mode: 1 });
    s.caught(protocol, &["block 0 goes to mode 1, but 1 of its wordlines were merged alone"]);
}

#[test]
fn its_limit_grows_only_when_it_was_merged_and_its_block_is_in_full_density() {
    let mut s = guarded(true);
    s.oracle.take(Event::Recoded {
        block: BlockId::new(0),
        wordline: Some(WordlineInBlock::FIRST),
        mode: 1,
    });
    s.caught(
        protocol,
        &["wordline 0 of block 0 goes to mode 1; it was merged for mode 0, and 0 \
        wordlines wait for their limits"],
    );
    let mut s = guarded(true);
    s.oracle.take(Event::Recoded {
        block: BlockId::new(0),
        wordline: Some(WordlineInBlock::new(1)),
        mode: 1,
    });
    s.caught(
        protocol,
        &["wordline 1 of block 0 goes to mode 1; it was merged for mode 1, and 0 \
        wordlines wait for their limits"],
    );
    let mut s = Scene::tiny();
    s.oracle.take(Event::Recoded { block: BlockId::new(0), wordline: None, mode: 1 });
    s.oracle.take(Event::Recoded {
        block: BlockId::new(0),
        wordline: Some(WordlineInBlock::FIRST),
        mode: 1,
    });
    s.caught(protocol, &["wordline 0 of block 0 goes to mode 1 alone; the block is in mode 1"]);
}

/// Merges a wordline for fewer sensings, so that it gives up its LSB page (coding 4). Block 0 holds
/// pages 0 to 5, and page 3 is backed up in block 1.
fn faster(s: &mut Scene) {
    s.write(0, 0..6);
    s.copy(3, 12, 3);
    s.read_by(Cause::Reclaim, NO_OWNER, 3, ReadResult::Good);
    s.read_by(Cause::Reclaim, 4, 4, ReadResult::Good);
    s.read_by(Cause::Reclaim, 5, 5, ReadResult::Good);
    s.oracle.take(Event::Merged {
        block: BlockId::new(0),
        wordline: WordlineInBlock::new(1),
        mode: 4,
        cause: Cause::Reclaim,
    });
    s.oracle.take(Event::Recoded {
        block: BlockId::new(0),
        wordline: Some(WordlineInBlock::new(1)),
        mode: 4,
    });
}

#[test]
fn a_wordline_may_keep_its_csb_and_msb_pages_and_endures_no_more() {
    let mut s = Scene::tiny();
    faster(&mut s);
    for (lpn, ppn) in [(3, 12), (4, 4), (5, 5)] {
        s.read(lpn, ppn);
    }
    // Reads of wordline 1 do not disturb it. The 11 reads of wordline 0 add 9 x 11 = 99 of 100.
    (0..11).for_each(|_| s.read(0, 0));
    s.read(4, 4);
    s.clean();
    s.read(0, 0);
    s.read(5, 5);
    past(
        &s,
        "host read used lpn 5 past its limit at ppn 5 (block 0, wordline 1): dose 108.000 of a limit of 100.000",
    );
}

#[test]
fn what_it_gives_up_is_its_lsb_page() {
    let mut s = Scene::tiny();
    faster(&mut s);
    s.read(3, 3);
    s.caught(stamp, &["host read of lpn 3 went to ppn 3", "data without an owner"]);
    let mut s = Scene::tiny();
    s.write(0, 0..3);
    (0..3).for_each(|page| s.read_by(Cause::Reclaim, page, page, ReadResult::Good));
    s.oracle.take(Event::Merged {
        block: BlockId::new(0),
        wordline: WordlineInBlock::FIRST,
        mode: 4,
        cause: Cause::Reclaim,
    });
    s.caught(
        stamp,
        &["a merge removed version 1 of lpn 0, the newest data of the page, at ppn 0 (block 0, \
            wordline 0)"],
    );
}
