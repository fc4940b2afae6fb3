//! # Count
//! Moves a block after a fixed number of reads, as consumer drives do. The number does not depend
//! on P/E count, age or temperature.
//!
//! - **Paper:** read-latency-relaxation-2021, from its published measurements.
//! - **Acts at:** `reads` reads of the block. With `drive_wide`, all blocks move when the drive has
//!   served `reads` host reads per block. Such a pass moves at most one block per die at a time. A
//!   host read that took `retries` retries moves its block at once.
//! - **Costs:** 3 bytes per block; with `drive_wide`, 16 bytes in all.
//! - **Departs from the paper:** the paper states no algorithm, so `count` is inferred. For each of
//!   the paper's SSD-A and SSD-D, one count fits all rewrites at any wear and temperature. The
//!   paper's reads were uniform, so counts per block and per drive both fit. The pages per block
//!   are assumed.
//! - **Does not help:** drives whose limits fall below the count. On a drive without an error model
//!   there are no alarms, so no block moves.
//! - **Safety:** none.
//!
//! ```text
//! reads 100:              each block moves after 100 reads
//! reads 100, spread 1:    blocks 0, 1, 2, 3 begin with 0, 61, 23, 85 reads counted, and move first after 100, 39, 77, 15
//! ```

mod passes;

use super::Technique;
use super::{Action, Policy, Promise, Rewrite, Threshold, View};
use passes::Passes;
use vpass_drive::api::card::{About, Args, Card, InBulk, Kind, New, Param, Protection};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Bytes, PageInBlock, Reads};
use vpass_drive::config::{ConfigError, DriveConfig, require};

const READS: Param = Param {
    key: "reads",
    kind: Kind::Whole,
    unit: "reads",
    default: 70_000.0,
    // Upper end of the range: a number that fits into 3 bytes.
    range: (1.0, 16_000_000.0),
    draw: &[3.0, 20.0, 100.0, 1000.0],
    meaning: "Number of reads of a block at which the block moves",
    source: "Inferred from read-latency-relaxation-2021: SSD-D of this paper rewrites after 90.84 \
        reads of each 16-KiB page. A block with 768 pages (assumption) thus gets 69,770 reads",
    alias: None,
};

/// Whether the technique counts the reads of the whole drive instead of those of each block.
pub const DRIVE_WIDE: Param = Param {
    key: "drive_wide",
    kind: Kind::Whole,
    unit: "",
    default: 0.0,
    range: (0.0, 1.0),
    draw: &[0.0, 1.0],
    meaning: "1: counts the reads of the whole drive and moves all blocks in a pass; 0: counts the \
        reads of each block",
    source: "Assumption: the uniform reads of read-latency-relaxation-2021 fit both settings",
    alias: None,
};

const SPREAD: Param = Param {
    key: "spread",
    kind: Kind::Real,
    unit: "",
    default: 0.0,
    range: (0.0, 1.0),
    draw: &[0.0, 0.67, 1.0],
    meaning: "Of the blocks that were written before the run, this share begins with read counts \
        between 0 and `reads`, evenly spread; all other blocks begin with a read count of 0. Not \
        used with drive_wide = 1",
    source: "read-latency-relaxation-2021. 0: all blocks move together, as in SSD-D; 0.67: a \
        third of the blocks move together, as in SSD-A; 1: no blocks move together, as in SSD-B",
    alias: None,
};

/// Number of retries of one host read that makes its block move at once. With 0, retries never move
/// a block.
pub const RETRIES: Param = Param {
    key: "retries",
    kind: Kind::Whole,
    unit: "",
    default: 0.0,
    range: (0.0, 31.0),
    draw: &[0.0, 1.0, 2.0],
    meaning: "A host read with at least this number of retries moves its block early, before \
        `reads` is reached; 0: no read moves its block early",
    source: "read-latency-relaxation-2021: SSD-D rewrites by read count alone; SSD-B also rewrites \
        early after ECC events",
    alias: None,
};

pub(super) const CARD: Technique = Card {
    about: About {
        name: "count",
        summary: "moves a block after a fixed number of reads, as consumer drives do; data with a \
            smaller read limit is lost",
        paper: "ASPLOS 2021, from its measurements",
        protects: Protection::None,
        in_bulk: InBulk::MeanClock,
        params: &[READS, DRIVE_WIDE, SPREAD, RETRIES],
        refuses: Some(lacks_retries),
        ..About::PLAIN
    },
    new: New::Listed(|args, config, _| Box::new(Count::new(args, config))),
};

struct Count {
    reads: u32,
    spread: f64,
    /// Number of retries of one host read that makes its block move at once. With 0, retries never
    /// move a block.
    retries: u32,
    /// Number of reads with which the count of each block began.
    begun_with: Vec<u32>,
    /// Passes over the whole drive; `None` if each block moves at its own count.
    passes: Option<Passes>,
    moved_early: u64,
}

impl Count {
    fn new(args: &Args, config: &DriveConfig) -> Self {
        let geometry = Geometry::new(config);
        let reads = args.whole(&READS);
        let is_drive_wide = args.whole(&DRIVE_WIDE) == 1;
        Self {
            reads,
            spread: args.real(&SPREAD),
            retries: args.whole(&RETRIES),
            begun_with: if is_drive_wide { vec![] } else { vec![0; geometry.blocks as usize] },
            passes: is_drive_wide.then(|| Passes::new(&geometry, reads)),
            moved_early: 0,
        }
    }

    /// Returns the number of reads with which the count of a block begins if the block was written
    /// before the run.
    fn at_start(&self, block: BlockId) -> u32 {
        // The block number is multiplied by the golden ratio. The fractional parts of such products
        // are spread evenly over 0 to 1.
        let place = f64::from(block.number().wrapping_mul(0x9E37_79B9)) / f64::from(u32::MAX);
        let together = 1.0 - self.spread;
        if place < together || self.spread == 0.0 {
            return 0;
        }
        let part = (place - together) / self.spread;
        ((part * f64::from(self.reads)) as u32).min(self.reads - 1)
    }

    /// Returns the number of reads after an erase at which a block moves.
    fn threshold(&self, block: BlockId) -> Reads {
        Reads(self.reads - self.begun_with[block.index()])
    }
}

/// Returns the read count by which a move of a block must be done if the move begins now.
fn deadline(view: &View, block: BlockId) -> Reads {
    Reads(view.reads(block).0.saturating_add(view.late_in_a_job()))
}

impl Policy for Count {
    fn arm(&mut self, view: &View, block: BlockId) -> Reads {
        if let Some(passes) = &mut self.passes {
            return passes.arm(view, block);
        }
        self.begun_with[block.index()] =
            if view.is_before_run() { self.at_start(block) } else { 0 };
        self.threshold(block)
    }

    fn on_alarm(&mut self, view: &View, block: BlockId, out: &mut Vec<Action>) -> Reads {
        if let Some(passes) = &mut self.passes {
            return passes.on_alarm(view, block, out);
        }
        let threshold = self.threshold(block);
        // A block with reads from before the run has an early alarm at its first read.
        if view.reads(block) < threshold {
            return threshold;
        }
        out.push(Rewrite::all(block).into());
        deadline(view, block)
    }

    fn follows_retries(&self) -> bool {
        self.retries > 0
    }

    fn moves_without_alarm(&self) -> bool {
        self.retries > 0 || self.passes.is_some()
    }

    fn retried(
        &mut self,
        _view: &View,
        block: BlockId,
        _page: PageInBlock,
        retries: u8,
    ) -> Option<Rewrite> {
        let enough = self.retries;
        (u32::from(retries) >= enough).then(|| {
            self.moved_early += 1;
            Rewrite::all(block)
        })
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        let passes = self.passes.as_ref().map(|passes| ("passes", passes.begun()));
        [("early_moves", self.moved_early)].into_iter().chain(passes).collect()
    }

    fn controller_ram(&self, geometry: &Geometry) -> Bytes {
        if self.passes.is_some() { Bytes(16) } else { Bytes(3 * u64::from(geometry.blocks)) }
    }

    fn promise(&self, _view: &View, _pec: u32) -> Promise {
        Promise::Nothing("the read count is fixed, and limits may fall below this count")
    }

    fn explain(&self, _view: &View, _pec: u32) -> Vec<Threshold> {
        let (name, because) = if self.passes.is_some() {
            ("all blocks moved", "reads, as a mean over all blocks of the drive")
        } else {
            ("block moved", "reads, at any wear and age of the block")
        };
        vec![Threshold {
            name: name.into(),
            reads: self.reads,
            because: format!("reclaim.count.{because}"),
        }]
    }
}

/// Refuses [`RETRIES`] on a drive without read retries.
fn lacks_retries(config: &DriveConfig) -> Result<(), ConfigError> {
    let retries = CARD.args(config).whole(&RETRIES);
    require(retries == 0 || config.has_retries(), || {
        let key = CARD.path(config, &RETRIES);
        format!(
            "{key} = {retries} needs a drive with read retries: set [error] and an [ecc] with more \
             than one level, or set {key} = 0"
        )
    })
}

#[cfg(test)]
mod tests;
