//! Doses of one run, as its result files store them.

mod read;
#[cfg(test)]
mod tests;

/// Doses of one run. Each block is stored at its worst moment, and the worst block comes first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Doses {
    /// Worst blocks, with the state of every wordline.
    pub snapshots: Vec<Snapshot>,
    /// Largest dose over limit in each bin of wordlines. The map has more blocks than `snapshots`.
    pub map: Map,
    /// Summary of every block of the drive.
    pub blocks: Vec<Block>,
}

/// Block at its worst moment. At this moment, the largest dose over limit of a wordline with data
/// was at its peak.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Number of the block.
    pub block: u32,
    /// Simulated time of this moment in seconds; `None` without a clock.
    pub at_s: Option<f64>,
    /// Number of pages that the host had read until this moment.
    pub at_host_read_pages: u64,
    /// Number of P/E cycles of the block.
    pub pec_cycles: u32,
    /// Wordlines in ascending order. A wordline that is not programmed has the default values.
    pub wordlines: Vec<Wordline>,
}

/// Wordline at the worst moment of its block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wordline {
    /// Name of the wordline's group in the limit table.
    pub group: String,
    /// Dose that a read of a neighbouring wordline adds. A read elsewhere in the block adds 1.
    pub alpha: f64,
    /// Whether guard levels raise the limit of the wordline.
    pub has_guard_levels: bool,
    /// Number of reads of this wordline since its block was erased.
    pub reads: f64,
    /// Dose since the wordline was programmed, in dose units.
    pub dose: f64,
    /// Dose that the wordline endures, in dose units; 0 for a wordline that is not programmed.
    pub limit: f64,
    /// Number of valid pages of the wordline.
    pub valid_pages: u8,
    /// Number of pages of the wordline whose data was lost.
    pub lost_pages: u8,
}

/// Map of the largest dose over limit. The map has one column per block, the worst block first, and
/// one row per bin of wordlines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Map {
    /// Number of the block in each column.
    pub blocks: Vec<u32>,
    /// Number of the first wordline in each bin.
    pub first_wordlines: Vec<u32>,
    /// Largest dose over limit in each cell, column by column; `None` for a cell without data.
    pub cells: Vec<Option<f64>>,
}

/// Summary of a block.
#[expect(clippy::struct_field_names, reason = "the columns of dose_blocks.csv have these names")]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Block {
    /// Number of the block.
    pub block: u32,
    /// Largest dose over limit among the wordlines with data.
    pub worst_ratio: f64,
    /// Number of wordlines with data that were past their limit at the worst moment.
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
    /// Returns the wordline with data that has the largest dose over limit. Of equal wordlines,
    /// returns the first. Returns `None` if no wordline holds data.
    pub fn worst(&self) -> Option<usize> {
        let with_data = (0..self.wordlines.len()).filter(|w| self.wordlines[*w].holds_data());
        with_data
            .rev()
            .max_by(|a, b| self.wordlines[*a].ratio().total_cmp(&self.wordlines[*b].ratio()))
    }

    /// Returns the largest dose over limit of a wordline with data; 0 if no wordline holds data.
    pub fn worst_ratio(&self) -> f64 {
        self.worst().map_or(0.0, |w| self.wordlines[w].ratio())
    }
}

impl Doses {
    /// Returns the largest dose over limit in all blocks.
    pub fn worst_ratio(&self) -> f64 {
        self.blocks.iter().map(|block| block.worst_ratio).fold(0.0, f64::max)
    }

    /// Returns the number of wordlines with data that were past their limit, over all blocks.
    pub fn past_limit(&self) -> u64 {
        self.blocks.iter().map(|block| block.wordlines_past_limit).sum()
    }
}
