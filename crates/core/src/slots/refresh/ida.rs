//! # IDA coding
//! Refreshes a block in place, so that reads of it take fewer sensings. The LSB page of each
//! wordline whose top page is valid moves. Then states that differ only in invalid pages are
//! merged.
//!
//! - **Paper:** ida-coding-2018 III to IV.
//! - **Acts at:** the ages of `block`. A block that holds merged wordlines moves as a whole the
//!   next time.
//! - **Beyond the paper:** with `at_reclaim` and `at_gc`, wordlines whose LSB page is invalid are
//!   also merged between refreshes. These are the wordlines that remain after a partial reclaim,
//!   and those of a block that GC did not choose. Data that is about to move is not merged.
//! - **Costs:** merged pages are read twice, a share of them (`error_rate`) is written elsewhere,
//!   and a wordline takes up to the time of a program (`adjust_us`). Merged blocks stay in use half
//!   empty, which causes more garbage collection.
//! - **Departs from the paper:** a block moves as a whole if its reclaim technique has no reserve
//!   for these reads. With `reclaim.own_age`, a block that grew a step of age older without a read
//!   has no reserve either. A merge makes data new (inference).
//! - **Does not help:** full drives with many writes, where GC cleans blocks before they reach the
//!   age.
//! - **Safety:** as `block`, and pages are verified while memory holds them. A wordline that `ipr`
//!   or `ipr-wl` merged moves, and the reverse.
//!
//! ```text
//! valid          moves    stays    sensings of L C M before, after      coding
//! L C M          L        C M      1 2 4    - 1 2                       4
//! - C M                   C M      - 2 4    - 1 2                       4
//! L - M          L        M        1 - 4    - - 1                       5
//! - - M                   M        - - 4    - - 1                       5
//! L C -  - C -   all
//!
//! four wordlines, LCM, -CM, L-M and LC-, none corrupted:
//!     reads 2 + 1 + 1 + 2 of pages that move or stay and 2 + 2 + 1 for verification, in all 3 + 2 + 2 + 2 + 5 = 14; programs 1 + 0 + 1 + 2 = 4; 3 adjustments
//!     `block`: reads 9, programs 9, and an erase
//! ```

use super::block::{AT_ONCE, Block, LEAD, PATROL};
use super::{Adjusting, Aged, Held, Refresh, RefreshTechnique, Wanted, copies_ns};
use crate::base::codings::{FASTER, FULL};
use crate::base::geometry::Geometry;
use crate::base::page_set::PageSet;
use crate::base::streams::GC;
use crate::base::units::{Bytes, Moment, Ns, PageInBlock, WordlineInBlock, us};
use crate::config::DriveConfig;
use crate::slots::card::{About, Card, Kind, Param};
use crate::slots::rewrite::{Merges, Part, Recode, Rewrite};

const ERROR_RATE: Param = Param {
    key: "error_rate",
    kind: Kind::Real,
    unit: "",
    default: 0.2,
    range: (0.0, 1.0),
    draw: &[0.0, 0.2, 0.8],
    meaning: "probability that a merge corrupts a page, independently for each page",
    source: "ida-coding-2018 VI, label E20 of its figures; that E20 is the paper's default is \
        second-hand",
    alias: None,
};

const ADJUST_US: Param = Param {
    key: "adjust_us",
    kind: Kind::Real,
    unit: "us",
    default: 0.0,
    range: (0.0, 1e6),
    draw: &[0.0, 100.0, 2300.0],
    meaning: "time of merging a wordline on its die; 0: the longest `timing.program_us`",
    source: "ida-coding-2018 IV: at most the program of an MSB page",
    alias: None,
};

const ONLY_INVALID: Param = Param {
    key: "only_invalid",
    kind: Kind::Whole,
    unit: "",
    default: 0.0,
    range: (0.0, 1.0),
    draw: &[0.0, 0.0, 1.0],
    meaning: "1: merges only wordlines whose LSB page is already invalid, and moves no LSB page",
    source: "ida-coding-2018 IV names it as the rejected alternative",
    alias: None,
};

const AT_RECLAIM: Param = Param {
    key: "at_reclaim",
    kind: Kind::Whole,
    unit: "",
    default: 0.0,
    range: (0.0, 1.0),
    draw: &[0.0, 0.0, 1.0],
    meaning: "1: after reclaim moves part of a block, merges the remaining wordlines whose LSB \
        page is invalid",
    source: "not in ida-coding-2018",
    alias: None,
};

const AT_GC: Param = Param {
    key: "at_gc",
    kind: Kind::Whole,
    unit: "",
    default: 0.0,
    range: (0.0, 1.0),
    draw: &[0.0, 0.0, 1.0],
    meaning: "1: whenever GC picks a block, checks the next of the other blocks and merges its \
        wordlines whose LSB page is invalid",
    source: "not in ida-coding-2018",
    alias: None,
};

pub(super) const CARD: RefreshTechnique = Card {
    about: About {
        name: "ida",
        summary: "at the age `refresh.period`, merges wordlines in place so that reads take fewer \
            sensings, and moves the other pages",
        paper: "IDA coding, MICRO 2018",
        params: &[LEAD, AT_ONCE, PATROL, ERROR_RATE, ADJUST_US, ONLY_INVALID, AT_RECLAIM, AT_GC],
        ..About::PLAIN
    },
    new: |args, config, seed| {
        Box::new(Ida {
            by_age: Block::new(args, config),
            adjusting: Adjusting::new(args.real(&ERROR_RATE), seed.of_run()),
            error_rate: args.real(&ERROR_RATE),
            only_invalid: args.whole(&ONLY_INVALID) == 1,
            at_reclaim: args.whole(&AT_RECLAIM) == 1,
            at_gc: args.whole(&AT_GC) == 1,
        })
    },
};

/// Time of merging a wordline on its die.
pub(super) fn adjust_us(config: &DriveConfig) -> f64 {
    match CARD.args(config).real(&ADJUST_US) {
        0.0 => config.timing.program_us.longest(),
        us => us,
    }
}

struct Ida {
    by_age: Block,
    adjusting: Adjusting,
    error_rate: f64,
    only_invalid: bool,
    at_reclaim: bool,
    at_gc: bool,
}

impl Ida {
    /// The coding that a wordline of which these kinds are valid, a bit each, is merged into; none
    /// where they all move.
    fn coding(&self, held: &Held, kinds: u32) -> Option<u8> {
        let top = held.geometry.cell.bits() - 1;
        let is_wanted = kinds >> top & 1 == 1 && !(self.only_invalid && kinds & 1 == 1);
        if is_wanted { held.codings().faster(kinds & !1) } else { None }
    }
}

/// Wordlines of a block that lose nothing by a merge: their LSB page is gone, and none was merged
/// before.
fn merges_for_nothing(held: &Held) -> Merges {
    let top = held.geometry.cell.bits() - 1;
    let mut merges = Merges::none();
    let is_new = |wordline: &WordlineInBlock| {
        held.recoded.get(wordline.index()).is_none_or(|coding| *coding == FULL)
    };
    for wordline in WordlineInBlock::range(0..held.whole_wordlines)
        .filter(|wordline| held.mode == FULL && is_new(wordline))
    {
        let kinds = held.valid_kinds(wordline);
        let coding = if kinds & 1 == 0 && kinds >> top & 1 == 1 {
            held.codings().faster(kinds)
        } else {
            None
        };
        if let Some(coding) = coding {
            merges.insert(coding, wordline, held.geometry.wordlines_per_block);
        }
    }
    merges
}

impl Refresh for Ida {
    fn first_look(&self, since: Moment) -> Option<Moment> {
        self.by_age.first_look(since)
    }

    fn done_by(&self, since: Moment) -> Option<Moment> {
        self.by_age.done_by(since)
    }

    fn on_time(&mut self, aged: &Aged) -> Wanted {
        self.by_age.on_time(aged)
    }

    fn set_back(&mut self, by: Ns) {
        self.by_age.set_back(by);
    }

    fn rewrite(&self, held: &Held) -> Rewrite {
        let (g, bits) = (held.geometry, held.geometry.cell.bits());
        let was_merged = held.recoded.iter().any(|coding| *coding >= FASTER);
        let (mut merges, mut moving) = (Merges::none(), PageSet::none(g.pages_per_block));
        for wordline in WordlineInBlock::range(0..held.whole_wordlines) {
            match self.coding(held, held.valid_kinds(wordline)) {
                Some(coding) => merges.insert(coding, wordline, g.wordlines_per_block),
                None => moving.insert(wordline.first_page(bits), bits),
            }
        }
        if was_merged || held.mode != FULL || merges.is_empty() {
            return Rewrite::all_to(held.block, GC);
        }
        moving.insert(
            PageInBlock::new(held.whole_wordlines * bits),
            g.pages_per_block - held.whole_wordlines * bits,
        );
        Rewrite {
            block: held.block,
            parts: vec![Part::of(moving, GC)],
            recode: Recode::Wordlines(merges),
            otherwise: GC,
        }
    }

    fn at_reclaim(&self, held: &Held) -> Merges {
        if self.at_reclaim { merges_for_nothing(held) } else { Merges::none() }
    }

    fn looks_at_gc(&self) -> bool {
        self.at_gc
    }

    /// A block stays that is nearer to a full one than to the one that GC has picked.
    fn at_gc(&self, held: &Held, picked: u32) -> Merges {
        let valid: u32 = held.valid.iter().map(|word| word.count_ones()).sum();
        if 2 * valid > picked + held.geometry.pages_per_block {
            merges_for_nothing(held)
        } else {
            Merges::none()
        }
    }

    fn adjusting(&self) -> Option<Adjusting> {
        Some(self.adjusting)
    }

    /// All of it is moved, or the most of it merged, whichever takes longer.
    fn block_ns(&self, config: &DriveConfig, geometry: &Geometry) -> Ns {
        let kept = f64::from(geometry.cell.bits() - 1);
        let (sense, program) = (config.sense_us_per_page(), config.program_us_per_page());
        let of_wordline = (1.0 + 2.0 * kept) * sense
            + (1.0 + kept * self.error_rate) * program
            + adjust_us(config);
        copies_ns(config, geometry).max(us(of_wordline) * u64::from(geometry.wordlines_per_block))
    }

    /// The coding of each wordline, of those that it may have, and whether a block has any.
    fn controller_ram(&self, geometry: &Geometry) -> Bytes {
        let codings = 1 + (FASTER..8).filter(|coding| geometry.codings.has(*coding)).count() as u32;
        let bits = u64::from(codings.next_power_of_two().ilog2());
        Bytes(
            (bits * u64::from(geometry.wordlines())).div_ceil(8)
                + u64::from(geometry.blocks).div_ceil(8),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::units::{BlockId, Cause, Lpn, Ppn};
    use crate::drive::{Drive, Techniques};

    const SECOND: Ns = 1_000_000_000;

    fn try_drive(
        cell: &str,
        more: &str,
        reclaim: &str,
    ) -> Result<Drive, crate::config::ConfigError> {
        drive_of(&text_of(cell, more), reclaim)
    }

    fn drive_of(text: &str, reclaim: &str) -> Result<Drive, crate::config::ConfigError> {
        let config = toml::from_str::<DriveConfig>(text).unwrap().resolve()?;
        Drive::new(
            config,
            &Techniques { reclaim: reclaim.into(), refresh: "ida".into(), ..Techniques::default() },
            false,
        )
    }

    fn text_of(cell: &str, more: &str) -> String {
        format!(
            r#"
            geometry = {{ channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 60, wordlines_per_block = 4, cell = "{cell}", page_size = "4KiB" }}
            timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }}
            drive = {{ spare = 0.5, write_buffer = 0 }}
            start = {{ fill = 0.0 }}
            refresh.period = "1000s"
            {more}
            "#
        )
    }

    /// One block is written; of each of its wordlines that is not LCM some pages are trimmed: LCM,
    /// -CM, L-M, LC-.
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

    fn wake_at(drive: &mut Drive, second: Ns) {
        drive.flash.now = second * SECOND;
        drive.wake();
    }

    /// Refresh's reads, programs, adjustments and erases since the beginning.
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
        assert_eq!(drive.flash.recoded().of(BlockId::new(0)), [4, 4, 5, 0]);
        let stayed: Vec<u32> =
            drive.map_rows().map(|row| row.ppn.number()).filter(|ppn| *ppn < 12).collect();
        assert_eq!(stayed, [1, 2, 4, 5, 8]);
        assert_eq!(
            drive.flash.cold(BlockId::new(0)).programmed_at,
            876 * SECOND.cast_signed(),
            "as new as its merge"
        );
        assert_eq!(drive.adjusted_blocks(), (1, 1.0 - 5.0 / 12.0));
        // Its next refresh is one period on, and moves what is left. Three of the four pages that
        // moved are a wordline, which is merged.
        wake_at(&mut drive, 1_750);
        assert_eq!(done(&drive)[3], 0);
        wake_at(&mut drive, 1_752);
        assert!(drive.map_rows().all(|row| row.ppn >= Ppn::new(12)));
        assert_eq!((done(&drive)[3], drive.adjusted_blocks().0), (1, 1));
        assert_eq!(
            drive.controller_ram(),
            Bytes((2 * 4 * 60_u64).div_ceil(8) + 60_u64.div_ceil(8))
        );
    }

    /// Each of the five pages that are merged is written elsewhere without another read, and
    /// nothing is left to merge for.
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
            (done(&drive), drive.flash.recoded().of(BlockId::new(0))),
            ([7 + 2 + 2, 7, 1, 0], &[0, 4, 0, 0][..])
        );
    }

    /// `block` asks at 1,000 - 12 reads. Merging takes room for 16 of them, and one more: with 970
    /// there is as much, with 971 the block moves whole.
    #[test]
    fn a_block_near_its_limit_moves_whole() {
        let disturb = r#"disturb = { model = "count", table = [{ pec = 0, limit = [1000] }] }"#;
        for (reads, merged) in [(970, 3), (971, 0)] {
            let mut drive =
                example(&format!("refresh.ida = {{ error_rate = 0 }}\n{disturb}"), "block");
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

    /// A page that merging corrupted is decoded by no level: the one that its read came to is none
    /// with which reads of the block begin.
    #[test]
    fn a_corrupted_page_teaches_no_level() {
        let more = r#"
            disturb = { model = "count", table = [{ pec = 0, limit = [100.0] }] }
            error = { model = "powerlaw", e = 0.0045 }
            ecc = { cap = [0.0085, 0.0125], retry_decode_us = [20], start_from_last = true }
        "#;
        let mut drive = example(more, "none");
        (0..110).for_each(|_| drive.flash.sense_for_nobody(Ppn::new(1), Cause::Host));
        let mut level = |is_corrupted| {
            drive.flash.verify(Lpn::new(1), Ppn::new(1), Cause::Refresh, false, is_corrupted);
            drive.flash.began_at()
        };
        assert_eq!([true, false, false].map(&mut level), [0, 0, 1]);
    }

    /// A read adds 4e-6 of 0.0045 to 0.0085 and, with the retry that data of 876 h needs, to
    /// 0.0125; an hour takes 6e-6, so that 680 reads are left at that age. Merged, the block is new
    /// and bears 1,000 without a retry, whichever level its reads begin with.
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
                (
                    drive.refresh_counts().merged_wordlines,
                    drive.flash.cold(BlockId::new(0)).programmed_at > 0
                ),
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

    #[test]
    fn the_share_of_corrupted_pages_is_the_error_rate() {
        for rate in [0.0, 0.2, 0.8, 1.0] {
            let adjusting = Adjusting::new(rate, 5);
            let corrupted =
                Ppn::range(0..100_000).filter(|ppn| adjusting.corrupts(*ppn, 3)).count();
            assert!(corrupted.abs_diff((rate * 1e5) as usize) < 500, "{rate}: {corrupted}");
        }
        let of = |seed, pec| {
            (0..64)
                .map(|n| u64::from(Adjusting::new(0.5, seed).corrupts(Ppn::new(n), pec)) << n)
                .sum::<u64>()
        };
        assert!(of(1, 0) != of(2, 0) && of(1, 0) != of(1, 1) && of(1, 1) == of(1, 1));
    }

    /// The block has 9 valid pages of 12, nearer to a full block than to one of 5.
    #[test]
    fn what_gc_passes_over_is_merged_where_it_is_to_stay() {
        let drive = example("refresh.ida = { at_gc = 1 }", "none");
        let at_gc =
            |picked| drive.refresh.at_gc(&Held::of(&drive.flash, BlockId::new(0)), picked).len();
        assert_eq!([5, 6, 9].map(at_gc), [1, 0, 0]);
    }

    /// Reads of wordline 1, whose LSB page is gone, bring those on both sides of it to their limit:
    /// `straw-wl` moves these, and it is merged when that wants nothing more.
    #[test]
    fn a_partial_reclaim_merges_what_it_leaves() {
        for (more, merged) in [("", 0), ("refresh.ida = { at_reclaim = 1, error_rate = 0 }", 1)] {
            let disturb = r#"disturb = { model = "wordline", table = [{ pec = 0, limit = [9000], alpha = [9.0] }] }
                reclaim = { check_interval = 40 }"#;
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

    /// Valid kinds of a QLC wordline, LSB first, and the coding.
    #[test]
    fn qlc_is_merged_one_level_up() {
        let drive = try_drive("qlc", "", "none").unwrap();
        let technique = CARD.make(&drive.config, 0);
        let coding = |kinds: u64| {
            let held = Held {
                block: BlockId::new(0),
                geometry: &drive.geometry,
                whole_wordlines: 1,
                valid: &[kinds],
                mode: FULL,
                recoded: &[],
            };
            match technique.rewrite(&held).recode {
                Recode::Wordlines(mut merges) => merges.take_first().map(|(coding, _)| coding),
                _ => None,
            }
        };
        assert_eq!([0b1111, 0b1110, 0b1010, 0b1011].map(coding), [Some(4); 4]);
        assert_eq!(
            [0b1100, 0b1101, 0b1000, 0b1001].map(coding),
            [Some(5), Some(5), Some(6), Some(6)]
        );
        assert_eq!([0b0111, 0b0001, 0b0000].map(coding), [None; 3]);
    }

    #[test]
    fn cells_of_one_bit_have_nothing_to_merge() {
        let refused = try_drive("slc", "", "none").err().map(|e| e.to_string());
        let expected = "refresh technique `ida` needs cells of two bits or more, and geometry.cell \
            is \"slc\": use `block`";
        assert_eq!(refused.as_deref(), Some(expected));
    }
}
