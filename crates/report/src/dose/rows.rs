//! Doses of one run, as its files have them.

mod read;
#[cfg(test)]
mod tests;

/// Doses of one run: blocks as they were at their worst moments, the worst block first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Doses {
    /// Blocks with the state of every wordline; only the worst blocks have one.
    pub snapshots: Vec<Snapshot>,
    /// Worst cell of each bin of wordlines; more blocks than `snapshots` has.
    pub map: Map,
    /// Summary of every block.
    pub blocks: Vec<Block>,
}

/// Block at the moment at which a wordline with data was nearest to its limit, or past it most.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Number of the block.
    pub block: u32,
    /// Simulated time in seconds; `None` without a clock.
    pub at_s: Option<f64>,
    /// Number of pages that the host had read.
    pub at_host_read_pages: u64,
    /// P/E cycles of the block.
    pub pec_cycles: u32,
    /// Wordlines from 0 upwards; those that are not programmed have the default.
    pub wordlines: Vec<Wordline>,
}

/// Wordline at the worst moment of its block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wordline {
    /// Name of its group of the limit table.
    pub group: String,
    /// Dose of a read of a neighbour; a read elsewhere in the block is 1.
    pub alpha: f64,
    /// Whether guard levels raise its limit.
    pub has_guard_levels: bool,
    /// Number of its own reads since the block was erased.
    pub reads: f64,
    /// Dose since it was programmed, in dose units.
    pub dose: f64,
    /// Dose that it endures, in dose units; 0 for a wordline that is not programmed.
    pub limit: f64,
    /// Number of its valid pages.
    pub valid_pages: u8,
    /// Number of its pages whose data was lost.
    pub lost_pages: u8,
}

/// Largest dose over limit of bins of wordlines: a column for each block, the worst block first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Map {
    /// Number of the block of each column.
    pub blocks: Vec<u32>,
    /// First wordline of each bin.
    pub first_wordlines: Vec<u32>,
    /// Cells, column by column: the largest dose over limit, or `None` without data.
    pub cells: Vec<Option<f64>>,
}

/// Summary of a block.
#[expect(clippy::struct_field_names, reason = "the columns of dose_blocks.csv have these names")]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Block {
    /// Number of the block.
    pub block: u32,
    /// Largest dose over limit of a wordline with data.
    pub worst_ratio: f64,
    /// Number of wordlines with data that were past their limit at the worst moment.
    pub wordlines_past_limit: u64,
}

impl Wordline {
    /// Returns whether the wordline holds data, or held data that was lost.
    pub fn holds_data(&self) -> bool {
        self.valid_pages + self.lost_pages > 0
    }

    /// Returns dose over limit; 0 for a wordline that is not programmed.
    pub fn ratio(&self) -> f64 {
        if self.limit > 0.0 { self.dose / self.limit } else { 0.0 }
    }
}

impl Snapshot {
    /// Returns the wordline with data that is nearest to its limit or furthest past it. Of equal
    /// wordlines it is the first. Returns `None` if no wordline holds data.
    pub fn worst(&self) -> Option<usize> {
        let with_data = (0..self.wordlines.len()).filter(|w| self.wordlines[*w].holds_data());
        with_data
            .rev()
            .max_by(|a, b| self.wordlines[*a].ratio().total_cmp(&self.wordlines[*b].ratio()))
    }

    /// Returns the largest dose over limit; 0 if no wordline holds data.
    pub fn worst_ratio(&self) -> f64 {
        self.worst().map_or(0.0, |w| self.wordlines[w].ratio())
    }
}

impl Doses {
    /// Returns the largest dose over limit of all blocks.
    pub fn worst_ratio(&self) -> f64 {
        self.blocks.iter().map(|block| block.worst_ratio).fold(0.0, f64::max)
    }

    /// Returns the number of wordlines with data that were past their limit.
    pub fn past_limit(&self) -> u64 {
        self.blocks.iter().map(|block| block.wordlines_past_limit).sum()
    }
}
