//! Blocks that give up page kinds: data that may be lost, their limits, and the order of their
//! programs.

use vpass_drive::base::units::{BlockId, Cause, WordlineInBlock};
use vpass_drive::watch::observer::{Event, NO_OWNER, Observer, ReadResult};

use crate::common::{Scene, protocol, stamp};

/// Returns a scene with pages 0 to 11 in block 0. Their MSB pages are copied to the first pages of
/// block 1, except for the `forgotten` ones.
fn backed_up_but(forgotten: &[u32]) -> Scene {
    let mut s = Scene::tiny();
    s.write(0, 0..12);
    for (to, msb) in (12..).zip([2, 5, 8, 11].into_iter().filter(|msb| !forgotten.contains(msb))) {
        s.copy(msb, to, msb);
    }
    s
}

/// Senses the pages of a wordline of block 0 and merges the wordline.
fn merge(s: &mut Scene, wordline: u32) {
    for ppn in wordline * 3..wordline * 3 + 2 {
        s.read_by(Cause::Reclaim, ppn, ppn, ReadResult::Good);
    }
    s.read_by(Cause::Reclaim, NO_OWNER, wordline * 3 + 2, ReadResult::Good);
    s.oracle.take(Event::Merged {
        block: BlockId::new(0),
        wordline: WordlineInBlock::new(wordline),
        mode: 1,
        cause: Cause::Reclaim,
    });
}

fn reprogram(s: &mut Scene) {
    (0..4).for_each(|wordline| merge(s, wordline));
    s.oracle.take(Event::Recoded { block: BlockId::new(0), wordline: None, mode: 1 });
}

/// Checks that the first finding is a read past the limit. The end of the run finds the same page
/// again.
#[track_caller]
fn past(s: &Scene, sentence: &str) {
    assert_eq!(s.oracle.finish().findings[0], sentence);
}

#[test]
fn a_block_whose_msb_pages_are_elsewhere_may_be_reprogrammed() {
    let mut s = backed_up_but(&[]);
    reprogram(&mut s);
    s.read(4, 4);
    s.read(5, 13);
    s.clean();
}

#[test]
fn an_msb_page_that_was_not_backed_up_is_caught() {
    let mut s = backed_up_but(&[5]);
    reprogram(&mut s);
    s.caught(
        stamp,
        &["a merge removed version 1 of lpn 5, the newest data of the page, at ppn 5 (block 0, \
            wordline 1)"],
    );
}

#[test]
fn an_msb_page_that_was_overwritten_needs_no_backup() {
    let mut s = backed_up_but(&[11]);
    s.write(15, [11]);
    reprogram(&mut s);
    s.clean();
}

#[test]
fn what_a_merge_took_away_is_not_to_be_read() {
    let mut s = backed_up_but(&[]);
    reprogram(&mut s);
    s.read(5, 5);
    s.caught(stamp, &["host read of lpn 5 went to ppn 5", "data without an owner"]);
}

#[test]
fn limits_grow_when_all_wordlines_are_merged_and_not_before() {
    // Backup and merge read 4 pages of each wordline, so wordline 1 has a dose of 9 x 8 + 4. Ten
    // reads of wordline 0 add 90, and 100 reads add 900.
    let mut s = backed_up_but(&[]);
    (0..4).for_each(|wordline| merge(&mut s, wordline));
    (0..10).for_each(|_| s.read(0, 0));
    s.read(3, 3);
    past(
        &s,
        "host read used lpn 3 past its limit at ppn 3 (block 0, wordline 1): dose 166.000 of a limit of 100.000",
    );
    let mut s = backed_up_but(&[]);
    reprogram(&mut s);
    (0..100).for_each(|_| s.read(0, 0));
    s.read(3, 3);
    s.clean();
    (0..10).for_each(|_| s.read(0, 0));
    s.read(3, 3);
    past(
        &s,
        "host read used lpn 3 past its limit at ppn 3 (block 0, wordline 1): dose 1066.000 of a limit of 1000.000",
    );
}

#[test]
fn a_block_goes_to_a_mode_only_with_all_its_wordlines() {
    let mut s = backed_up_but(&[]);
    merge(&mut s, 0);
    s.oracle.take(Event::Recoded { block: BlockId::new(0), wordline: None, mode: 1 });
    s.caught(protocol, &["block 0 goes to mode 1 with only 1 of 4 wordlines merged"]);
    let mut s = backed_up_but(&[]);
    merge(&mut s, 1);
    merge(&mut s, 1);
    s.caught(protocol, &["merge of wordline 1 of block 0, but it is already merged"]);
}

#[test]
fn data_in_a_wordline_written_in_part_has_no_guard_levels() {
    let mut s = Scene::tiny();
    s.write(0, 0..4);
    s.copy(2, 12, 2);
    merge(&mut s, 0);
    s.oracle.take(Event::Recoded { block: BlockId::new(0), wordline: None, mode: 1 });
    s.caught(stamp, &["reprogramming lost version 1 of lpn 3"]);
}

#[test]
fn a_block_opened_in_a_mode_is_written_without_its_msb_pages() {
    let write = |s: &mut Scene| {
        s.oracle.take(Event::Recoded { block: BlockId::new(0), wordline: None, mode: 1 });
        for (wordline, lpn) in [(0, 0), (1, 2)] {
            s.write(wordline * 3, [lpn, lpn + 1]);
            s.oracle.take(Event::Merged {
                block: BlockId::new(0),
                wordline: WordlineInBlock::new(wordline),
                mode: 1,
                cause: Cause::Host,
            });
        }
    };
    let mut s = Scene::tiny();
    write(&mut s);
    (0..100).for_each(|_| s.read(0, 0));
    s.read(2, 3);
    s.clean();
    // After an erase, the block is like any other.
    s.write(12, 0..4);
    s.erase(BlockId::new(0));
    s.write(0, 4..10);
    s.clean();
    (0..12).for_each(|_| s.read(4, 0));
    s.read(7, 3);
    past(
        &s,
        "host read used lpn 7 past its limit at ppn 3 (block 0, wordline 1): dose 108.000 of a limit of 100.000",
    );
}

#[test]
fn a_program_of_a_page_that_was_taken_away_is_caught() {
    let mut s = Scene::tiny();
    s.oracle.take(Event::Recoded { block: BlockId::new(0), wordline: None, mode: 1 });
    s.write(0, 0..3);
    s.caught(protocol, &["program of page 2 of block 0, which does not exist in coding mode 1"]);
    let mut s = Scene::tiny();
    s.write(0, 0..3);
    s.copy(2, 12, 2);
    merge(&mut s, 0);
    s.write(3, [3]);
    s.caught(protocol, &["program of page 3 of block 0, but the block was reprogrammed in place"]);
}

#[test]
fn guard_levels_left_out_are_caught() {
    let mut s = Scene::tiny();
    s.oracle.take(Event::Recoded { block: BlockId::new(0), wordline: None, mode: 1 });
    s.write(0, 0..2);
    s.write(3, [2]);
    s.caught(protocol, &["program of page 3 of block 0 out of order; page 2 is next"]);
}

#[test]
fn only_an_erase_gives_pages_back() {
    let mut s = Scene::tiny();
    s.oracle.take(Event::Recoded { block: BlockId::new(0), wordline: None, mode: 1 });
    s.oracle.take(Event::Recoded { block: BlockId::new(0), wordline: None, mode: 2 });
    s.caught(protocol, &["block 0 goes from mode 1 to 2; it must be erased first"]);
    let mut s = Scene::tiny();
    s.oracle.take(Event::Recoded { block: BlockId::new(0), wordline: None, mode: 3 });
    s.caught(protocol, &["coding mode 3 does not exist for cells of 3 bits"]);
    let mut s = Scene::tiny();
    s.write(0, [0]);
    s.oracle.take(Event::Recoded { block: BlockId::new(0), wordline: None, mode: 1 });
    s.caught(stamp, &["reprogramming lost version 1 of lpn 0"]);
}

#[test]
fn nobodys_data_may_be_sensed_in_programmed_cells_only() {
    let mut s = Scene::tiny();
    s.read_by(Cause::Reclaim, NO_OWNER, 7, ReadResult::Good);
    s.caught(protocol, &["reclaim sensed ppn 7 (block 0, wordline 2), which is erased"]);
    let mut s = Scene::tiny();
    s.write(0, [0]);
    s.read(NO_OWNER, 0);
    s.caught(stamp, &["it is beyond the host's capacity"]);
}

#[test]
fn a_block_opened_without_its_lsb_pages_is_written_so() {
    let mut s = Scene::tiny();
    s.oracle.take(Event::Recoded { block: BlockId::new(0), wordline: None, mode: 4 });
    for (wordline, lpn) in [(0, 0), (1, 2)] {
        s.write(wordline * 3 + 1, [lpn, lpn + 1]);
        s.oracle.take(Event::Merged {
            block: BlockId::new(0),
            wordline: WordlineInBlock::new(wordline),
            mode: 4,
            cause: Cause::Host,
        });
    }
    (0..4).zip([1, 2, 4, 5]).for_each(|(lpn, ppn)| s.read(lpn, ppn));
    s.clean();
    s.write(6, [4]);
    s.caught(protocol, &["program of page 6 of block 0, which does not exist in coding mode 4"]);
    let mut s = Scene::tiny();
    s.oracle.take(Event::Recoded { block: BlockId::new(0), wordline: None, mode: 4 });
    s.write(1, [0]);
    s.oracle.take(Event::Merged {
        block: BlockId::new(0),
        wordline: WordlineInBlock::FIRST,
        mode: 4,
        cause: Cause::Host,
    });
    s.caught(
        protocol,
        &["merge of wordline 0 of block 0 in mode 4; the block is in mode 4, with 2 pages \
            programmed"],
    );
}
