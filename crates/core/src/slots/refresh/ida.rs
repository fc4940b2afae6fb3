//! # IDA coding
//! Refreshes a block where it lies, and has reads of it take fewer sensings. The least significant page of each wordline whose most significant page
//! is valid moves; what is left is programmed over itself, so that states which differ in the pages that are gone become one.
//!
//! - **Paper:** ida-coding-2018 III to IV (invalid-data-aware coding).
//! - **Acts at:** the age at which `block` does. A block with wordlines that it merged moves whole the next time.
//! - **Costs:** all valid pages are read. Those that are merged are read once more, and a share of them, `error_rate`, is corrupted and written
//!   elsewhere; so are those that cannot be merged. A wordline costs at most one program, `adjust_us`. A merged block stays in use, with pages that
//!   hold nothing: more blocks, and more garbage collection.
//! - **Departs from the paper:** where the reads of it could bring data to its limit before reclaim is asked, the block moves whole. What is merged
//!   is as new as if it had been programmed (inference), and the block with it where nothing else is left in it.
//! - **Does not help:** drives that are full and written: GC cleans blocks before they come to the age.
//! - **Safety:** as `block`, at the same ages. A page that is corrupted is written from memory, where it is until it has been verified; a
//!   controller needs a battery for that.
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
//!     reads 2 + 1 + 1 + 2 that move or stay and 2 + 2 + 1 verified, in all 3 + 2 + 2 + 2 + 5 = 14; programs 1 + 0 + 1 + 2 = 4; 3 adjustments
//!     `block`: reads 9, programs 9, and an erase
//! ```

use super::block::{AT_ONCE, Block, LEAD};
use super::{Adjusting, Aged, Held, Refresh, RefreshTechnique, Wanted, copies_ns, sense_us};
use crate::base::codings::{FASTER, FULL};
use crate::base::geometry::Geometry;
use crate::base::page_set::PageSet;
use crate::base::streams::GC;
use crate::base::units::{Bytes, Moment, Ns, us};
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
    meaning: "share of merged pages that merging corrupts, each by itself",
    source: "ida-coding-2018 VI as its figures are labelled (E20); that it is the default there is second-hand",
    alias: None,
};

const ADJUST_US: Param = Param {
    key: "adjust_us",
    kind: Kind::Real,
    unit: "us",
    default: 0.0,
    range: (0.0, 1e6),
    draw: &[0.0, 100.0, 2300.0],
    meaning: "time that merging a wordline takes on its die; 0 stands for `timing.program_us`",
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
    meaning: "1: merges only wordlines whose LSB page is invalid already, and moves no other for it",
    source: "ida-coding-2018 IV names it as the alternative that is not taken",
    alias: None,
};

pub(super) const CARD: RefreshTechnique = Card {
    about: About {
        name: "ida",
        summary: "merges states of wordlines in place at the age `refresh.period`, so that reads take fewer sensings, and moves the rest",
        paper: "IDA coding, MICRO 2018",
        params: &[LEAD, AT_ONCE, ERROR_RATE, ADJUST_US, ONLY_INVALID],
        ..About::PLAIN
    },
    new: |args, config, seed| {
        Box::new(Ida {
            by_age: Block::new(args, config),
            adjusting: Adjusting::new(args.real(&ERROR_RATE), seed),
            error_rate: args.real(&ERROR_RATE),
            only_invalid: args.whole(&ONLY_INVALID) == 1,
        })
    },
};

/// Time of merging a wordline on its die.
pub(super) fn adjust_us(config: &DriveConfig) -> f64 {
    match CARD.args(config).real(&ADJUST_US) {
        0.0 => config.timing.program_us,
        us => us,
    }
}

struct Ida {
    by_age: Block,
    adjusting: Adjusting,
    error_rate: f64,
    only_invalid: bool,
}

impl Ida {
    /// The coding that a wordline of which these kinds are valid, a bit each, is merged into; none where they all move.
    fn coding(&self, held: &Held, kinds: u32) -> Option<u8> {
        let top = held.geometry.cell.bits() - 1;
        let is_wanted = kinds >> top & 1 == 1 && !(self.only_invalid && kinds & 1 == 1);
        if is_wanted { held.codings().faster(kinds & !1) } else { None }
    }
}

impl Refresh for Ida {
    fn first_look(&self, since: Moment) -> Option<Moment> {
        self.by_age.first_look(since)
    }

    fn done_by(&self, since: Moment) -> Option<Moment> {
        self.by_age.done_by(since)
    }

    fn on_time(&self, aged: &Aged) -> Wanted {
        self.by_age.on_time(aged)
    }

    fn rewrite(&self, held: &Held) -> Rewrite {
        let (g, bits) = (held.geometry, held.geometry.cell.bits());
        let was_merged = held.recoded.iter().any(|coding| *coding >= FASTER);
        let (mut merges, mut moving) = (Merges::none(), PageSet::none(g.pages_per_block));
        for wordline in 0..held.whole_wordlines {
            match self.coding(held, held.valid_kinds(wordline)) {
                Some(coding) => merges.insert(coding, wordline, g.wordlines_per_block),
                None => moving.insert(wordline * bits, bits),
            }
        }
        if was_merged || held.mode != FULL || merges.is_empty() {
            return Rewrite::all_to(held.block, GC);
        }
        moving.insert(held.whole_wordlines * bits, g.pages_per_block - held.whole_wordlines * bits);
        Rewrite { block: held.block, parts: vec![Part::of(moving, GC)], recode: Recode::Wordlines(merges), otherwise: GC }
    }

    fn adjusting(&self) -> Option<Adjusting> {
        Some(self.adjusting)
    }

    /// All of it is moved, or the most of it merged, whichever takes longer.
    fn block_ns(&self, config: &DriveConfig, geometry: &Geometry) -> Ns {
        let kept = f64::from(geometry.cell.bits() - 1);
        let (sense, program) = (sense_us(config, geometry), config.program_us_per_page());
        let of_wordline = (1.0 + 2.0 * kept) * sense + (1.0 + kept * self.error_rate) * program + adjust_us(config);
        copies_ns(config, geometry).max(us(of_wordline) * u64::from(geometry.wordlines_per_block))
    }

    /// The coding of each wordline, of those that it may have, and whether a block has any.
    fn controller_ram(&self, geometry: &Geometry) -> Bytes {
        let codings = 1 + (FASTER..8).filter(|coding| geometry.codings.has(*coding)).count() as u32;
        let bits = u64::from(codings.next_power_of_two().ilog2());
        Bytes((bits * u64::from(geometry.wordlines())).div_ceil(8) + u64::from(geometry.blocks).div_ceil(8))
    }
}
