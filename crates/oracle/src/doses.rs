//! The truth about reads: what every wordline has endured since it was programmed, from exact counters.
//!
//! With RC the dose read from each wordline and BLK from its whole block, both since the erase, and b = BLK and
//! s = RC\[i-d\] as they stood when the first page of wordline i was programmed:
//!
//! ```text
//! dose(i) = alpha (RC[i-d] - s + RC[i+d]) + rest        rest = (BLK - b) - (RC[i-d] - s) - RC[i] - RC[i+d]
//! ```
//!
//! A wordline does not disturb itself, and one at the edge of a block has one neighbour. What came before the programming,
//! alpha s + (b - s), counts `preprogram_weight`. In the model `count` the dose is BLK - b. Counters are in quarters of a
//! dose unit, alpha in 1/256, doses and limits therefore in 1/1024.

use vpass_core::config::{DisturbModel, DriveConfig};
use vpass_core::disturb::table::{ALPHA_ONE, Endurance, LimitTable, dose_per_kind};
use vpass_core::geometry::Geometry;
use vpass_core::mem::{huge_vec, prefetch};
use vpass_core::units::{BlockId, Ppn};

/// `preprogram_weight` is a multiple of 1/65536.
const WEIGHT_ONE: f64 = 65_536.0;

/// Counters of a wordline, in quarters of a dose unit: RC and s of 40 bits, b of 48, so that no run overflows them.
#[derive(Clone, Copy, Debug, Default)]
struct Wordline {
    read: u32,
    neighbour_before: u32,
    block_before: u32,
    read_high: u8,
    neighbour_before_high: u8,
    block_before_high: u16,
}

const _: () = assert!(size_of::<Wordline>() == 16, "16 bytes a wordline are budgeted");

impl Wordline {
    /// RC: dose read from it since the erase.
    #[inline]
    fn read(&self) -> u64 {
        u64::from(self.read) | u64::from(self.read_high) << 32
    }

    /// s: what its lower neighbour had been read before it was programmed.
    #[inline]
    fn neighbour_before(&self) -> u64 {
        u64::from(self.neighbour_before) | u64::from(self.neighbour_before_high) << 32
    }

    /// b: what the block had been read before it was programmed.
    #[inline]
    fn block_before(&self) -> u64 {
        u64::from(self.block_before) | u64::from(self.block_before_high) << 32
    }

    #[inline]
    fn add(&mut self, dose: u32) {
        let (sum, carry) = self.read.overflowing_add(dose);
        self.read = sum;
        self.read_high += u8::from(carry);
    }

    fn start(&mut self, neighbour: u64, block: u64) {
        self.neighbour_before = neighbour as u32;
        self.neighbour_before_high = (neighbour >> 32) as u8;
        self.block_before = block as u32;
        self.block_before_high = (block >> 32) as u16;
    }
}

/// Counters of a block.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    /// BLK: dose read from it since the erase.
    read: u64,
    /// Where its limits begin in `Doses::limits`; they depend on its P/E count.
    limits: u32,
}

/// A wordline of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct At {
    pub(crate) block: BlockId,
    /// Counted over the whole drive.
    wordline: u32,
    /// Counted within the block.
    pub(crate) index: u32,
}

/// How far a wordline is from losing its data, in 1/1024 dose units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Truth {
    pub(crate) dose: u64,
    pub(crate) limit: u64,
}

impl Truth {
    /// Where nothing disturbs.
    pub(crate) const SAFE: Self = Self { dose: 0, limit: u64::MAX };

    #[inline]
    pub(crate) fn is_past(self) -> bool {
        self.dose > self.limit
    }

    /// The share of its limit that it has taken.
    pub(crate) fn ratio(self) -> f64 {
        self.dose as f64 / self.limit as f64
    }

    /// The share is above `ratio`; without a division.
    #[inline]
    pub(crate) fn exceeds(self, ratio: f64) -> bool {
        self.dose as f64 > ratio * self.limit as f64
    }
}

/// The counters of all wordlines and blocks.
#[derive(Debug)]
pub(crate) struct Doses {
    model: DisturbModel,
    per_kind: [u32; 4],
    preprogram_weight: u64,
    stride: u32,
    wordlines_per_block: u32,
    wordlines: Vec<Wordline>,
    blocks: Vec<Block>,
    table: LimitTable,
    /// Per P/E count since the start, the limits of every group.
    limits: Vec<Endurance>,
    start_pec: u32,
}

impl Doses {
    pub(crate) fn new(geometry: &Geometry, config: &DriveConfig) -> Self {
        let model = config.disturb.model;
        let counted = model != DisturbModel::None;
        let mut doses = Self {
            model,
            per_kind: dose_per_kind(config.disturb.dose, geometry.cell),
            preprogram_weight: (config.disturb.preprogram_weight * WEIGHT_ONE).round() as u64,
            stride: geometry.neighbour_stride,
            wordlines_per_block: geometry.wordlines_per_block,
            wordlines: huge_vec(if counted { geometry.wordlines() as usize } else { 0 }, Wordline::default()),
            blocks: vec![Block::default(); geometry.blocks as usize],
            table: LimitTable::new(&config.disturb, geometry.wordlines_per_block),
            limits: vec![],
            start_pec: config.start.pec,
        };
        if counted {
            doses.know_limits(0);
        }
        doses
    }

    /// Bytes for a drive of this geometry.
    pub(crate) fn bytes(geometry: &Geometry) -> u64 {
        u64::from(geometry.wordlines()) * size_of::<Wordline>() as u64 + u64::from(geometry.blocks) * size_of::<Block>() as u64
    }

    /// The wordline of a page.
    #[inline]
    pub(crate) fn locate(geometry: &Geometry, ppn: Ppn) -> At {
        let (block, wordline) = (geometry.block_of(ppn), geometry.wordline_of(ppn));
        At { block, wordline, index: wordline - geometry.first_wordline(block) }
    }

    /// Fetches what [`Self::truth`] and [`Self::sense`] of a page need.
    #[inline]
    pub(crate) fn prefetch(&self, geometry: &Geometry, ppn: Ppn) {
        if self.model != DisturbModel::None {
            let (wordline, stride) = (geometry.wordline_of(ppn) as usize, self.stride as usize);
            prefetch(&self.wordlines, wordline);
            prefetch(&self.wordlines, wordline.saturating_sub(stride));
            prefetch(&self.wordlines, wordline + stride);
        }
    }

    /// Dose and limit of a programmed wordline now.
    #[inline]
    pub(crate) fn truth(&self, at: At) -> Truth {
        if self.model == DisturbModel::None {
            return Truth::SAFE;
        }
        let block = self.blocks[at.block as usize];
        let endurance = self.limits[block.limits as usize + self.table.group_of(at.index)];
        let own = self.wordlines[at.wordline as usize];
        let since = block.read - own.block_before();
        let dose = if self.model == DisturbModel::Count {
            ALPHA_ONE * since + self.before(ALPHA_ONE * own.block_before())
        } else {
            let (low, high) = self.neighbours(at);
            let s = own.neighbour_before();
            let adjacent = low - s + high;
            // Only a page that was read unprogrammed, an error of its own, could make this negative.
            let rest = since.saturating_sub(adjacent + own.read());
            let earlier = endurance.alpha * s + ALPHA_ONE * (own.block_before() - s);
            endurance.alpha * adjacent + ALPHA_ONE * rest + self.before(earlier)
        };
        Truth { dose, limit: endurance.limit }
    }

    /// RC of the physical neighbours; nothing where there is none.
    #[inline]
    fn neighbours(&self, at: At) -> (u64, u64) {
        let (wordline, stride) = (at.wordline as usize, self.stride as usize);
        let low = if at.index >= self.stride { self.wordlines[wordline - stride].read() } else { 0 };
        let high = if at.index + self.stride < self.wordlines_per_block { self.wordlines[wordline + stride].read() } else { 0 };
        (low, high)
    }

    /// What a dose from before the programming counts.
    #[inline]
    fn before(&self, dose: u64) -> u64 {
        if self.preprogram_weight == 0 { 0 } else { ((u128::from(dose) * u128::from(self.preprogram_weight)) >> 16) as u64 }
    }

    /// A page of this kind was sensed, for whatever reason and with whatever result.
    #[inline]
    pub(crate) fn sense(&mut self, at: At, kind: u32) {
        if self.model != DisturbModel::None {
            let dose = self.per_kind[kind as usize];
            self.blocks[at.block as usize].read += u64::from(dose);
            self.wordlines[at.wordline as usize].add(dose);
        }
    }

    /// The first page of a wordline is programmed.
    pub(crate) fn program(&mut self, at: At) {
        if self.model != DisturbModel::None {
            let (low, _) = self.neighbours(at);
            let block = self.blocks[at.block as usize].read;
            self.wordlines[at.wordline as usize].start(low, block);
        }
    }

    pub(crate) fn erase(&mut self, block: BlockId) {
        if self.model != DisturbModel::None {
            let n = self.wordlines_per_block as usize;
            self.wordlines[block as usize * n..][..n].fill(Wordline::default());
            let limits = self.blocks[block as usize].limits + self.table.groups() as u32;
            self.blocks[block as usize] = Block { read: 0, limits };
            self.know_limits(limits);
        }
    }

    /// Looks limits up until those that begin at `limits` are known.
    fn know_limits(&mut self, limits: u32) {
        let groups = self.table.groups();
        while self.limits.len() <= limits as usize {
            let pec = self.start_pec + (self.limits.len() / groups) as u32;
            self.limits.extend((0..groups).map(|group| self.table.truth(group, pec)));
        }
    }
}
