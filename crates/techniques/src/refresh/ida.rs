//! # IDA coding
//! Refreshes a block in place, so that its pages can be read with fewer sensings. In each wordline
//! with a valid top page, the LSB page moves first. Then threshold states that differ only in
//! invalid pages are merged.
//!
//! - **Paper:** ida-coding-2018 III to IV.
//! - **Acts at:** the ages of refresh `block`. If a block already has merged wordlines, all its
//!   data moves at the next refresh.
//! - **Beyond the paper:** two options also merge wordlines with an invalid LSB page between
//!   refreshes. With `at_reclaim`, these are wordlines that remain after a partial reclaim. With
//!   `at_gc`, they lie in blocks that GC did not choose. Data that is about to move is not merged.
//! - **Costs:** pages that are merged are read twice, and a share of them (`error_rate`) must be
//!   written elsewhere. A merge takes up to the time of a program (`adjust_us`). Merged blocks stay
//!   in use although they are half empty, which causes more garbage collection.
//! - **Departs from the paper:** if the reclaim technique has reserved no dose for the reads of a
//!   merge, all data of the block moves. With `reclaim.own_age`, this also happens to a block whose
//!   age reached the next step without a read. A merge resets the age of data (inference).
//! - **Does not help:** full drives with many writes, where GC cleans most blocks before they are
//!   old enough for a refresh.
//! - **Safety:** as refresh `block`. Merged pages are verified while memory still holds a copy of
//!   them. No wordline is merged by two techniques. `ida` moves wordlines that `ipr` or `ipr-wl`
//!   merged, and `ipr` and `ipr-wl` move wordlines that `ida` merged.
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
use vpass_drive::api::card::{About, Card, Kind, New, Param};
use vpass_drive::api::rewrite::{Merges, Part, Recode, Rewrite};
use vpass_drive::base::codings::{FASTER, FULL};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::page_set::PageSet;
use vpass_drive::base::streams::GC;
use vpass_drive::base::units::{Bytes, Moment, Ns, PageInBlock, WordlineInBlock, us};
use vpass_drive::config::DriveConfig;

const ERROR_RATE: Param = Param {
    key: "error_rate",
    kind: Kind::Real,
    unit: "",
    default: 0.2,
    range: (0.0, 1.0),
    draw: &[0.0, 0.2, 0.8],
    meaning: "probability that a merge corrupts a page, independently for each page",
    source: "ida-coding-2018 VI, label E20 in the figures; a second-hand source says that E20 is \
        the paper's default",
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
    source: "ida-coding-2018 IV: at most the time of programming an MSB page",
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
    source: "ida-coding-2018 IV discusses and rejects this variant",
    alias: None,
};

const AT_RECLAIM: Param = Param {
    key: "at_reclaim",
    kind: Kind::Whole,
    unit: "",
    default: 0.0,
    range: (0.0, 1.0),
    draw: &[0.0, 0.0, 1.0],
    meaning: "1: when reclaim has moved part of a block, merges the remaining wordlines whose LSB \
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
    meaning: "1: whenever GC picks a block, also checks one further block (each block in turn); in \
        the checked block, merges the wordlines whose LSB page is invalid",
    source: "not in ida-coding-2018",
    alias: None,
};

pub(super) const CARD: RefreshTechnique = Card {
    about: About {
        name: "ida",
        summary: "at the age `refresh.period`, merges wordlines in place so that reads take fewer \
            sensings, and moves the pages that cannot stay",
        paper: "IDA coding, MICRO 2018",
        draws: true,
        params: &[LEAD, AT_ONCE, PATROL, ERROR_RATE, ADJUST_US, ONLY_INVALID, AT_RECLAIM, AT_GC],
        ..About::PLAIN
    },
    new: New::Listed(|args, config, seed| {
        Box::new(Ida {
            by_age: Block::new(args, config),
            adjusting: Adjusting::new(args.real(&ERROR_RATE), seed.of_run(), us(adjust_us(config))),
            error_rate: args.real(&ERROR_RATE),
            only_invalid: args.whole(&ONLY_INVALID) == 1,
            at_reclaim: args.whole(&AT_RECLAIM) == 1,
            at_gc: args.whole(&AT_GC) == 1,
        })
    }),
};

/// Returns the time for which merging a wordline occupies its die, in microseconds.
fn adjust_us(config: &DriveConfig) -> f64 {
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
    /// Returns the new coding of a wordline when it is merged; `None` if all its pages move
    /// instead. `kinds` has one bit for each page kind that is valid in the wordline.
    fn coding(&self, held: &Held, kinds: u32) -> Option<u8> {
        let top = held.geometry.cell.bits() - 1;
        let is_wanted = kinds >> top & 1 == 1 && !(self.only_invalid && kinds & 1 == 1);
        if is_wanted { held.codings().faster(kinds & !1) } else { None }
    }
}

/// Returns the wordlines of a block that can be merged without moving a page. Their LSB page is
/// invalid, and they were not merged before.
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

    /// Merges wordlines of a block that GC will probably not clean soon. Such a block has a number
    /// of valid pages that is nearer to a full block than to `picked`.
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

    /// Returns the longer of two times: the time to move all pages of a block, and the time to
    /// merge all its wordlines.
    fn block_ns(&self, config: &DriveConfig, geometry: &Geometry) -> Ns {
        let kept = f64::from(geometry.cell.bits() - 1);
        let (sense, program) = (config.sense_us_per_page(), config.program_us_per_page());
        let of_wordline = (1.0 + 2.0 * kept) * sense
            + (1.0 + kept * self.error_rate) * program
            + adjust_us(config);
        copies_ns(config, geometry).max(us(of_wordline) * u64::from(geometry.wordlines_per_block))
    }

    /// Returns the RAM for the coding of each wordline, and for one bit per block that says whether
    /// any of its wordlines is merged.
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
mod tests;
