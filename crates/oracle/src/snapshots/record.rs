//! Doses of a run, as its results contain them.

use std::ops::Range;

use vpass_drive::base::thinned::Thinned;
use vpass_drive::base::units::{BlockId, Ns};

use crate::doses::Stress;
use crate::limits::{COUNTED_UNIT, FAR, UNIT};

/// Doses of a run, since the measured phase began.
#[derive(Clone, Debug, PartialEq)]
pub struct DoseRecord {
    /// Every block, by number.
    pub blocks: Vec<BlockDoses>,
    /// The most disturbed blocks, by bins; the highest ratio of dose to limit first.
    pub maps: Vec<BlockMap>,
    /// The most disturbed blocks, wordline by wordline; the highest ratio of dose to limit first.
    pub snapshots: Vec<Snapshot>,
    /// Highest ratio of dose to limit between two erases, for each logged erase.
    pub shares: Thinned<f64>,
}

/// Doses of a block over the run. Only wordlines with valid or lost pages count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockDoses {
    /// Highest ratio of dose to limit.
    pub worst: f64,
    /// Wordline with this ratio, counted within the block; `None` if reads disturbed nothing.
    pub wordline: Option<u32>,
    /// Time of this ratio, in nanoseconds.
    pub at: Ns,
    /// Number of wordlines past their limit at the block's worst moment that was checked.
    pub past_limit: u32,
    /// Number of erases.
    pub erases: u32,
    /// Highest ratio of dose to limit between two erases, over all erases; `None` without an erase.
    pub share_at_erase: Option<f64>,
}

/// State of a block, in bins of neighbouring wordlines, at its worst moment. This is when its
/// highest ratio of dose to limit is largest. The ratio here is at most 0.01 below the true
/// maximum.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockMap {
    /// Block.
    pub block: BlockId,
    /// Number of wordlines.
    pub wordlines: u32,
    /// Bins, in the order of wordlines.
    pub bins: Vec<Bin>,
    /// Highest ratio of dose to limit of each bin at the end of the run; `None` without valid or
    /// lost pages.
    pub at_end: Vec<Option<f64>>,
}

impl BlockMap {
    /// Returns the wordlines of a bin.
    pub fn wordlines_of(&self, bin: u32) -> Range<u32> {
        wordlines_of(bin, self.bins.len() as u32, self.wordlines)
    }
}

/// Returns the wordlines of a bin, of `count` bins.
pub(crate) fn wordlines_of(bin: u32, count: u32, wordlines: u32) -> Range<u32> {
    let first = |bin: u32| (u64::from(bin) * u64::from(wordlines) / u64::from(count)) as u32;
    first(bin)..first(bin + 1)
}

/// Bin of neighbouring wordlines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// Highest ratio of dose to limit of a wordline with valid or lost pages; `None` without such
    /// pages.
    pub worst: Option<f64>,
    /// Content of the bin.
    pub state: State,
}

/// Content of wordlines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No valid and no lost pages.
    None,
    /// Valid pages.
    Data,
    /// Pages whose data is lost, perhaps beside valid pages.
    Lost,
}

impl Bin {
    /// Without valid and lost pages.
    pub(crate) const EMPTY: Self = Self { worst: None, state: State::None };
}

/// State of a block, wordline by wordline, at its worst moment. The highest ratio of dose to limit
/// is at most 0.01 below the true maximum.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Block.
    pub block: BlockId,
    /// Time, in nanoseconds.
    pub at: Ns,
    /// Pages that the host had read since the measured phase began.
    pub host_reads: u64,
    /// P/E cycles of the block.
    pub cycles: u32,
    /// Wordlines, in order.
    pub wordlines: Vec<WordlineDose>,
}

/// Dose of a wordline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WordlineDose {
    /// Group, as an index into `disturb.groups`.
    pub group: u8,
    /// Weight of a read of a neighbouring wordline.
    pub alpha: f64,
    /// Number of page kinds given up for guard levels; 0 in full density.
    pub guard_levels: u8,
    /// Dose read from the wordline since its block's erase, in dose units.
    pub reads: f64,
    /// Dose that the wordline has taken since its first page was programmed, in dose units.
    pub dose: f64,
    /// Lowest limit of the wordline's valid and lost pages, in dose units. Without such pages, the
    /// limit of its weakest page kind.
    pub limit: f64,
    /// Number of valid pages.
    pub valid: u8,
    /// Number of pages whose data is lost.
    pub lost: u8,
}

impl WordlineDose {
    pub(super) fn of(row: &Row) -> Self {
        Self {
            group: row.group,
            alpha: f64::from(row.alpha) / FAR as f64,
            guard_levels: row.guard_levels,
            reads: row.reads as f64 / COUNTED_UNIT as f64,
            dose: row.dose as f64 / UNIT as f64,
            limit: row.limit as f64 / UNIT as f64,
            valid: row.valid,
            lost: row.lost,
        }
    }
}

/// Wordline as the oracle counts it: reads in quarters of a dose unit, alpha in 1/256, dose and
/// limit in 1/1024 dose units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) reads: u64,
    pub(crate) dose: u64,
    pub(crate) limit: i64,
    pub(crate) alpha: u32,
    pub(crate) group: u8,
    pub(crate) guard_levels: u8,
    pub(crate) valid: u8,
    pub(crate) lost: u8,
}

impl Row {
    /// Returns whether data of the wordline is past its limit.
    pub(crate) fn is_past(&self) -> bool {
        self.valid + self.lost > 0 && Stress { dose: self.dose, limit: self.limit }.is_past()
    }
}
