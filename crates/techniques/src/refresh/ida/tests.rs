//! Worked examples and tests of IDA coding.

use super::*;
use crate::testing::row;
use crate::{card, usual};
use vpass_drive::base::request::{Op, Request};
use vpass_drive::base::units::{BlockId, Cause, Lpn, Ppn};
use vpass_drive::drive::{Drive, Techniques};
use vpass_drive::time::serve_untimed;

const SECOND: Ns = 1_000_000_000;
const FIRST: BlockId = BlockId::new(0);

fn try_drive(
    cell: &str,
    more: &str,
    reclaim: &str,
) -> Result<Drive, vpass_drive::config::ConfigError> {
    drive_of(&text_of(cell, more), reclaim)
}

fn drive_of(text: &str, reclaim: &str) -> Result<Drive, vpass_drive::config::ConfigError> {
    let config = crate::resolve(toml::from_str(text).unwrap())?;
    Drive::new(
        config,
        &Techniques { reclaim: card(reclaim), refresh: card("ida"), ..usual() },
        false,
    )
}

fn text_of(cell: &str, more: &str) -> String {
    format!(
        r#"
        geometry = {{ channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 60, wordlines_per_block = 4, cell = "{cell}", page_size = "4KiB" }}
        reclaim.schedule = "foreground"
        timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }}
        drive = {{ spare = 0.5, write_buffer = 0 }}
        start = {{ fill = 0.0 }}
        refresh.period = "1000s"
        {more}
        "#
    )
}

/// Returns a drive with one written block. Some pages of its wordlines are trimmed, so that they
/// are LCM, -CM, L-M, LC-.
fn example(more: &str, reclaim: &str) -> Drive {
    filled(try_drive("tlc", more, reclaim).unwrap())
}

fn filled(mut drive: Drive) -> Drive {
    Lpn::range(0..12).for_each(|lpn| drive.write_page(lpn, u64::MAX));
    drive.drain_buffer();
    for lpn in [3, 7, 11] {
        drive.trim_page(Lpn::new(lpn));
    }
    drive
}

/// Lets time pass until this second. Then the host reads a page that it never wrote.
fn wake_at(drive: &mut Drive, second: Ns) {
    let offset =
        u64::from(drive.geometry().host_pages - 1) * u64::from(drive.geometry().page_bytes);
    let at = second * SECOND;
    let read = Request { at, offset, bytes: 512, op: Op::Read, origin: 0, hint: None };
    serve_untimed(drive, &[read], &mut |_, _| true).unwrap();
}

/// Returns the numbers of reads, programs, merges and erases that refresh has done so far.
fn done(drive: &Drive) -> [u64; 4] {
    let (counts, refresh) = (drive.flash_counts(), Cause::Refresh as usize);
    [
        counts.reads[refresh],
        counts.programs[refresh],
        counts.reprograms[refresh],
        counts.erases[refresh],
    ]
}

#[test]
fn worked_example() {
    let mut drive = example("refresh.ida = { error_rate = 0 }", "none");
    wake_at(&mut drive, 874);
    assert_eq!(done(&drive), [0; 4]);
    wake_at(&mut drive, 876);
    assert_eq!(done(&drive), [14, 4, 3, 0]);
    assert_eq!(drive.view(FIRST).recoded(FIRST), [4, 4, 5, 0]);
    let stayed: Vec<u32> =
        drive.map_rows().map(|row| row.ppn.number()).filter(|ppn| *ppn < 12).collect();
    assert_eq!(stayed, [1, 2, 4, 5, 8]);
    assert_eq!(row(&drive, FIRST).programmed_at, 875 * SECOND.cast_signed(), "as new as its merge");
    assert_eq!(drive.adjusted_blocks(), (1, 1.0 - 5.0 / 12.0));
    // Its next refresh comes one period later, and moves the remaining data. Three of the four
    // pages that moved fill a wordline, which is merged.
    wake_at(&mut drive, 1_749);
    assert_eq!(done(&drive)[3], 0);
    wake_at(&mut drive, 1_751);
    assert!(drive.map_rows().all(|row| row.ppn >= Ppn::new(12)));
    assert_eq!((done(&drive)[3], drive.adjusted_blocks().0), (1, 1));
    assert_eq!(drive.controller_ram(), Bytes((2 * 4 * 60_u64).div_ceil(8) + 60_u64.div_ceil(8)));
}

/// Each of the five merged pages is corrupted, and is written elsewhere without another read. After
/// that, the block holds no data.
#[test]
fn pages_that_are_corrupted_are_written_from_memory() {
    let mut drive = example("refresh.ida = { error_rate = 1 }", "none");
    wake_at(&mut drive, 876);
    assert_eq!(done(&drive), [14, 4 + 5, 3, 1]);
    assert_eq!((drive.refresh_counts().corrupted_pages, drive.lost_pages()), (5, 0));
    let kept = drive.map_rows().count();
    assert_eq!(kept, 9);
}

#[test]
fn wordlines_whose_lsb_is_wanted_move_where_only_others_are_merged() {
    let mut drive = example("refresh.ida = { error_rate = 0, only_invalid = 1 }", "none");
    wake_at(&mut drive, 876);
    assert_eq!(
        (done(&drive), drive.view(FIRST).recoded(FIRST)),
        ([7 + 2 + 2, 7, 1, 0], &[0, 4, 0, 0][..])
    );
}

/// The threshold of `block` is 1,000 - 12 = 988 reads. Merging needs 17 reads before this
/// threshold. At 970 reads, enough are left. At 971 reads, the whole block moves.
#[test]
fn a_block_near_its_limit_moves_whole() {
    let disturb = r#"disturb = { model = "count", table = [{ pec = 0, limit = [1000] }] }"#;
    for (reads, merged) in [(970, 3), (971, 0)] {
        let mut drive = example(&format!("refresh.ida = {{ error_rate = 0 }}\n{disturb}"), "block");
        (0..reads).for_each(|_| drive.read_pages(&[Lpn::new(1)]));
        wake_at(&mut drive, 876);
        assert_eq!(
            (done(&drive)[2], drive.refresh_counts().no_room),
            (merged, u64::from(merged == 0)),
            "{reads}"
        );
        drive.read_pages(&[Lpn::new(1); 2]);
        assert_eq!((drive.lost_pages(), drive.uncorrectable_reads()), (0, 0));
    }
}

/// A read adds 4e-6 to an error rate between 0.0045 and 0.0085, or to 0.0125 with the retry that
/// data of 876 h needs. An hour adds 6e-6, so 680 reads are left at that age. After the merge, the
/// block counts as new and endures 1,000 reads without a retry, whichever level its reads begin
/// with.
#[test]
fn a_merged_block_is_new_where_its_reads_begin_with_the_level_that_worked() {
    let more = r#"
        refresh.ida = { error_rate = 0 }
        disturb = { model = "count", table = [{ pec = 0, limit = [1000.0] }] }
        error = { model = "powerlaw", e = 0.0045, b = 6e-6, m = 0.0, n = 1.0 }
    "#;
    for from_last in [false, true] {
        let ecc = format!(
            "ecc = {{ cap = [0.0085, 0.0125], retry_decode_us = [20], start_from_last = \
             {from_last} }}"
        );
        let text = text_of("tlc", &format!("{more}\n{ecc}")).replace("1000s", "1000h");
        let mut drive = filled(drive_of(&text, "none").unwrap());
        wake_at(&mut drive, 876 * 3600);
        assert_eq!(
            (drive.refresh_counts().merged_wordlines, row(&drive, FIRST).programmed_at > 0),
            (3, true)
        );
        let before = drive.flash_counts().retried[1];
        (0..900).for_each(|_| drive.read_pages(&[Lpn::new(1)]));
        assert_eq!(
            (drive.lost_pages(), drive.flash_counts().retried[1] - before),
            (0, 0),
            "{from_last}"
        );
    }
}

/// The block has 9 valid pages of 12. This is nearer to a full block than to a block with 5 valid
/// pages.
#[test]
fn what_gc_passes_over_is_merged_where_it_is_to_stay() {
    let drive = example("refresh.ida = { at_gc = 1 }", "none");
    let ida = CARD.make(drive.config(), 0);
    let at_gc = |picked| ida.at_gc(&drive.held(FIRST), picked).len();
    assert_eq!([5, 6, 9].map(at_gc), [1, 0, 0]);
}

/// Reads of wordline 1, whose LSB page is invalid, bring the wordlines on both sides of it to their
/// limit. `straw-wl` moves these. When `straw-wl` has no further request for the block, wordline 1
/// is merged.
#[test]
fn a_partial_reclaim_merges_what_it_leaves() {
    for (more, merged) in [("", 0), ("refresh.ida = { at_reclaim = 1, error_rate = 0 }", 1)] {
        let disturb = r#"disturb = { model = "wordline", table = [{ pec = 0, limit = [9000], alpha = [9.0] }] }
            reclaim.check_interval = 40"#;
        let mut drive = example(&format!("{disturb}\n{more}"), "straw-wl");
        for _ in 0..2_000 {
            drive.read_pages(&[Lpn::new(4)]);
        }
        assert!(drive.reclaim_counts().pages_copied > 0);
        assert_eq!(
            (drive.refresh_counts().merged_wordlines, drive.lost_pages()),
            (merged, 0),
            "{more}"
        );
    }
}

/// Lists sets of valid pages of a QLC wordline, LSB first, each with the coding into which it is
/// merged.
#[test]
fn qlc_is_merged_one_level_up() {
    let drive = try_drive("qlc", "", "none").unwrap();
    let technique = CARD.make(drive.config(), 0);
    let coding = |kinds: u64| {
        let held = Held {
            block: BlockId::new(0),
            geometry: drive.geometry(),
            whole_wordlines: 1,
            valid: &[kinds],
            mode: FULL,
            recoded: &[],
        };
        match technique.rewrite(&held).recode {
            Recode::Wordlines(merges) => merges.by_coding().next().map(|(coding, _)| coding),
            _ => None,
        }
    };
    assert_eq!([0b1111, 0b1110, 0b1010, 0b1011].map(coding), [Some(4); 4]);
    assert_eq!([0b1100, 0b1101, 0b1000, 0b1001].map(coding), [Some(5), Some(5), Some(6), Some(6)]);
    assert_eq!([0b0111, 0b0001, 0b0000].map(coding), [None; 3]);
}

#[test]
fn cells_of_one_bit_have_nothing_to_merge() {
    let refused = try_drive("slc", "", "none").err().map(|e| e.to_string());
    let expected = "refresh technique `ida` needs cells of two bits or more, but geometry.cell is \
        \"slc\": use `block`";
    assert_eq!(refused.as_deref(), Some(expected));
}
