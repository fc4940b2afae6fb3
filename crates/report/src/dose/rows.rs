//! Doses of one run, in the form in which its result files store them.

mod read;
#[cfg(test)]
mod tests;

use serde::Deserialize;

/// Doses of one run. Each block is stored at its worst moment. The worst block is the first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Doses {
    /// Worst blocks of the drive, with the state of every wordline.
    pub snapshots: Vec<Snapshot>,
    /// Largest ratio of dose to limit in each bin of wordlines. The map covers more blocks than the
    /// field `snapshots`.
    pub map: Map,
    /// Summaries of all blocks of the drive.
    pub blocks: Vec<Block>,
}

/// Block at its worst moment. At this moment, a wordline with data had the largest ratio of dose to
/// limit that ever occurred in the block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Number of the block.
    pub block: u32,
    /// Simulated time of the worst moment in seconds; `None` without a clock.
    pub at_s: Option<f64>,
    /// Number of pages that the host had read before the worst moment.
    pub at_host_read_pages: u64,
    /// Number of P/E cycles that the block had at the worst moment.
    pub pec_cycles: u32,
    /// Wordlines of the block in ascending order. A wordline that is not programmed has default
    /// values.
    pub wordlines: Vec<Wordline>,
}

/// Row of `dose.csv`: a wordline at the worst moment of its block. The first fields are those of
/// the block.
#[expect(clippy::struct_field_names, reason = "the columns of dose.csv have these names")]
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Wordline {
    pub(super) block: u32,
    pub(super) at_s: Option<f64>,
    pub(super) at_host_read_pages: u64,
    pub(super) pec_cycles: u32,
    /// Number of the wordline in its block.
    #[serde(deserialize_with = "read::place")]
    pub(super) wordline: usize,
    /// Name of the wordline's group in the table of limits.
    pub group: String,
    /// Dose that a read of a neighbouring wordline adds. A read elsewhere in the block adds 1.
    #[serde(deserialize_with = "read::finite")]
    pub alpha: f64,
    /// Number of guard levels, which raise the limit of the wordline.
    pub guard_levels: u32,
    /// Number of reads of the wordline since its block was erased.
    #[serde(deserialize_with = "read::finite")]
    pub reads: f64,
    /// Dose since the wordline was programmed, in dose units.
    #[serde(deserialize_with = "read::finite")]
    pub dose: f64,
    /// Largest dose that the wordline endures, in dose units; 0 for a wordline that is not
    /// programmed.
    #[serde(deserialize_with = "read::finite")]
    pub limit: f64,
    /// Number of valid pages in the wordline.
    pub valid_pages: u8,
    /// Number of pages in the wordline whose data was lost.
    pub lost_pages: u8,
}

/// Map of ratios of dose to limit. The map has one column per block, with the worst block first,
/// and one row per bin of wordlines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Map {
    /// Number of the block in each column.
    pub blocks: Vec<u32>,
    /// Number of the first wordline in each bin.
    pub first_wordlines: Vec<u32>,
    /// Largest ratio of dose to limit in each cell, column by column; `None` for a cell without
    /// data.
    pub cells: Vec<Option<f64>>,
}

/// Summary of one block.
#[expect(clippy::struct_field_names, reason = "the columns of dose_blocks.csv have these names")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
pub struct Block {
    /// Number of the block.
    pub block: u32,
    /// Largest ratio of dose to limit among the wordlines with data.
    #[serde(deserialize_with = "read::finite")]
    pub worst_ratio: f64,
    /// Number of wordlines whose dose exceeded the limit at the worst moment of the block.
    /// Wordlines without data do not count.
    pub wordlines_past_limit: u64,
}

impl Wordline {
    /// Returns whether the wordline holds data, or held data that was lost.
    pub fn holds_data(&self) -> bool {
        self.valid_pages + self.lost_pages > 0
    }

    /// Returns the ratio of dose to limit; 0 for a wordline that is not programmed.
    pub fn ratio(&self) -> f64 {
        if self.limit > 0.0 { self.dose / self.limit } else { 0.0 }
    }
}

impl Snapshot {
    /// Returns the index of the wordline with the largest ratio of dose to limit. Only wordlines
    /// with data count. If several wordlines have the largest ratio, the first of them is returned.
    /// Returns `None` if no wordline holds data.
    pub fn worst(&self) -> Option<usize> {
        let ratio = |w: &usize| self.wordlines[*w].ratio();
        self.with_data().rev().max_by(|a, b| ratio(a).total_cmp(&ratio(b)))
    }

    /// Returns the indices of the wordlines with data.
    pub fn with_data(&self) -> impl DoubleEndedIterator<Item = usize> {
        (0..self.wordlines.len()).filter(move |w| self.wordlines[*w].holds_data())
    }

    /// Returns the indices of the wordlines beside a wordline. `stride` is the distance between
    /// neighbours in wordlines.
    pub fn beside(&self, wordline: usize, stride: usize) -> impl Iterator<Item = usize> {
        let both = [wordline.checked_sub(stride), Some(wordline + stride)];
        both.into_iter().flatten().filter(move |w| *w < self.wordlines.len())
    }

    /// Returns the largest ratio of dose to limit among wordlines with data; 0 if no wordline holds
    /// data.
    pub fn worst_ratio(&self) -> f64 {
        self.worst().map_or(0.0, |w| self.wordlines[w].ratio())
    }
}

impl Doses {
    /// Returns the largest ratio of dose to limit in all blocks.
    ///
    /// The ratio is that of the stored wordlines, because the page shows the dose, the limit and
    /// the reads of these wordlines. vpass stores a block again after each hundredth of the limit,
    /// so `dose_blocks.csv` may have a ratio that is up to 1 % of the limit higher. The ratio of
    /// `dose_blocks.csv` is used only if no wordlines are stored.
    pub fn worst_ratio(&self) -> f64 {
        let summarised = || self.blocks.iter().map(|block| block.worst_ratio).fold(0.0, f64::max);
        self.snapshots.first().map_or_else(summarised, Snapshot::worst_ratio)
    }

    /// Returns the number of wordlines whose dose exceeded the limit, summed over all blocks.
    /// Wordlines without data do not count.
    pub fn past_limit(&self) -> u64 {
        self.blocks.iter().map(|block| block.wordlines_past_limit).sum()
    }
}
