//! True doses of all wordlines since they were programmed, from exact counters.
//!
//! RC is the dose read from each wordline, and BLK the dose read from its whole block, both since
//! the erase. b and s are the values of BLK and RC\[i-d\] at the program of the first page of
//! wordline i:
//!
//! ```text
//! dose(i) = alpha (RC[i-d] - s + RC[i+d]) + rest
//! rest    = (BLK - b) - (RC[i-d] - s) - RC[i] - RC[i+d]
//! ```
//!
//! A wordline does not disturb itself, and a wordline at the edge of a block has one neighbour. The
//! dose from before the program, alpha s + (b - s), has the weight `preprogram_weight`. In the
//! model `count` the dose is BLK - b. The pages of a wordline share its dose. Each kind has a limit
//! of its own. Counters are in quarters of a dose unit and alpha in 1/256, so doses and limits are
//! in 1/1024.
//!
//! Limits fall with each cycle and with the additional wear of reprogramming
//! (`density.wear_counts_for_limits`). If a block has n cycles, m of them reprogrammed, the m-th
//! adds `(wear - 1) sqrt(max(1, n / 5m))` cycles. This is rounded to the thousandth, and the sum is
//! rounded up.

mod aged;
mod operations;
mod stress;
mod worn;

use std::ops::Range;

use vpass_drive::base::codings::Codings;
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::mem::prefetch;
use vpass_drive::base::units::BlockId;
use vpass_drive::config::{CellType, DisturbModel, DoseUnit, DriveConfig};

use crate::limits::{self, Endurance, FAR, Limits, UNIT, counts_alike};
use crate::medium::{At, Counters, Medium};
use crate::noise::Noise;
use aged::ROUNDED;
pub(crate) use stress::Stress;
use worn::{BlockWear, Worn};

/// Unit of `preprogram_weight`: 1/65536.
const WEIGHT_ONE: f64 = 65_536.0;

/// Counters of a block.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    /// BLK: dose read from the block since its erase.
    read: u64,
    /// RC of the most-read wordline.
    most_read: u64,
    /// Place of the block's limits in `Doses::limits`. It depends on the P/E count.
    limits: u32,
    /// Ratio of the block's limits to those of the worst block, in the unit of the limit table.
    factor: u16,
    /// Coding of the block, which changes its limits too.
    mode: u8,
    /// Whether some wordlines of the block have a coding mode of their own.
    has_own: bool,
}

/// The counters of all blocks, and the limits of their pages.
#[derive(Debug)]
pub(crate) struct Doses {
    model: DisturbModel,
    per_kind: [u32; 4],
    unit: DoseUnit,
    cell: CellType,
    preprogram_weight: u64,
    stride: u32,
    wordlines_per_block: u32,
    kinds: u32,
    codings: Codings,
    blocks: Vec<Block>,
    /// Modes of wordlines in blocks where some have a mode of their own; 0 means no own mode.
    own_modes: Vec<Vec<u8>>,
    table: Limits,
    /// Age step of each block.
    steps: Vec<u32>,
    /// Random retries, if the drive draws them.
    noise: Option<Noise>,
    /// Last working level of each block, if reads begin with it.
    first_levels: Vec<u8>,
    /// Lowest level that a block keeps.
    kept_from: u8,
    /// Whether time counts on this drive. Otherwise its data does not age.
    keeps_time: bool,
    /// Limits of every group, for each P/E count from the start on.
    limits: Vec<Endurance>,
    start_pec: u32,
    /// Dose of a reprogramming, in quarters. It acts like reads of the wordline.
    by_reprogramming: u32,
    worn: Vec<Worn>,
    /// Number of P/E cycles that the drive has skipped.
    skipped: u32,
    /// Wear of a reprogrammed cycle. `counts_wear` tells if it lowers limits.
    wear: f64,
    counts_wear: bool,
}

impl Doses {
    pub(crate) fn new(geometry: &Geometry, config: &DriveConfig) -> Self {
        let table = Limits::new(config);
        let noise = Noise::new(config, &table);
        let mut doses = Self {
            model: config.disturb.model,
            per_kind: limits::doses(config.disturb.dose, geometry.cell),
            unit: config.disturb.dose,
            cell: geometry.cell,
            preprogram_weight: (config.disturb.preprogram_weight * WEIGHT_ONE).round() as u64,
            stride: geometry.neighbour_stride,
            wordlines_per_block: geometry.wordlines_per_block,
            kinds: geometry.cell.bits(),
            codings: geometry.codings.clone(),
            blocks: geometry
                .block_ids()
                .map(|block| Block { factor: table.block_factor(block) as u16, ..Block::default() })
                .collect(),
            own_modes: vec![vec![]; geometry.blocks as usize],
            table,
            noise,
            first_levels: vec![
                0;
                if config.ecc.start_from_last { geometry.blocks as usize } else { 0 }
            ],
            kept_from: config.ecc.slow_retries as u8,
            keeps_time: config.keeps_time(),
            steps: vec![0; geometry.blocks as usize],
            limits: vec![],
            start_pec: config.start.pec,
            by_reprogramming: (config.density.reprogram_dose * 4.0).ceil() as u32,
            worn: vec![Worn::default(); geometry.blocks as usize],
            skipped: 0,
            counts_wear: config.density.wear_counts_for_limits,
            wear: config.density.wear,
        };
        doses.know_limits(0);
        doses
    }

    /// Returns the size in bytes for a drive of this geometry, without the wordlines' counters.
    pub(crate) fn bytes(geometry: &Geometry) -> u64 {
        u64::from(geometry.blocks)
            * (size_of::<Block>() + size_of::<Vec<u8>>() + size_of::<Worn>()) as u64
    }

    /// Returns the distance of the neighbours whose counters [`Self::stress`] uses; 0 if it uses
    /// none.
    #[inline]
    pub(crate) fn reach(&self) -> u32 {
        if self.model == DisturbModel::Wordline { self.stride } else { 0 }
    }

    /// Prefetches the counters of a block.
    #[inline]
    pub(crate) fn prefetch(&self, block: BlockId) {
        prefetch(&self.blocks, block.index());
    }

    /// Returns the limit of a page and the weight of its neighbours.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the read path")]
    pub(crate) fn page(&self, at: At) -> Endurance {
        if self.model == DisturbModel::None {
            return Endurance { limit: Stress::SAFE.limit.cast_unsigned(), alpha: 0 };
        }
        let (endurance, limit) = self.endurance(at);
        // With fewer retries than allowed, a page endures a smaller dose.
        let limit = if self.has_rates() {
            self.calm(at) - ROUNDED
        } else {
            self.table.limit_of_kind(limit, at.kind).cast_signed()
        };
        Endurance { limit: limit.max(0).cast_unsigned(), ..endurance }
    }

    /// Returns a dose that no page of a block exceeds, whatever the reads of its neighbours: alpha
    /// 2 max(RC) + BLK. The dose from before the program counts at most fully, so no term of a dose
    /// is missing. These values stay in caches, unlike the counters of neighbours.
    #[inline]
    pub(crate) fn ceiling(&self, block: BlockId, alpha: u64) -> u64 {
        let block = &self.blocks[block.index()];
        2 * alpha * block.most_read + FAR * block.read
    }

    /// Returns a dose that no page of a block exceeds and a limit that no page falls below.
    /// [`Self::of_wordline`] never gives a larger dose or a smaller limit for any wordline of the
    /// block.
    pub(crate) fn bound(&self, block: BlockId) -> Stress {
        if self.model == DisturbModel::None {
            return Stress::SAFE;
        }
        let record = &self.blocks[block.index()];
        if record.has_own || record.mode > 0 {
            // Few blocks have other codings, so each of them is checked in full.
            return Stress { dose: u64::MAX >> 1, limit: -1 };
        }
        // Layers, blocks and kinds have the group's limit or a higher one. A limit below 0 counts
        // as none.
        let of_group = |group: usize| {
            if self.has_rates() {
                self.least_with_retries(block, group)
            } else {
                self.of_group(block, group).limit.cast_signed()
            }
        };
        let limit = (0..self.table.groups()).map(of_group).min().unwrap_or(0);
        Stress {
            dose: self.ceiling(block, self.most_alpha(block)),
            limit: limit.min(self.table.least_of_kinds(limit, self.kinds)),
        }
    }

    /// Returns limit and alpha of the group of a wordline, and the limit of the wordline's weakest
    /// page kind.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the read path")]
    fn endurance(&self, at: At) -> (Endurance, u64) {
        let block = &self.blocks[at.block.index()];
        let endurance = self.limits[block.limits as usize + self.table.group_of(at.index)];
        let limit = self.table.limit_of(endurance.limit, at.index, block.factor.into());
        (endurance, self.table.in_mode(limit, self.mode_at(at)))
    }

    /// Returns the present dose and limit of a programmed page.
    #[inline]
    pub(crate) fn stress(&self, medium: &Medium, at: At) -> Stress {
        self.of_kind(self.of_wordline(medium, at), at)
    }

    /// Returns [`Self::stress`] as if the host had read only beside the page. This covers all reads
    /// of the block since the page's wordline was programmed, except `not_chosen` quarters that the
    /// host could not place.
    pub(crate) fn worst(&self, medium: &Medium, at: At, not_chosen: u64) -> Stress {
        let stress = self.stress(medium, at);
        if self.model != DisturbModel::Wordline {
            return stress;
        }
        let b = medium.counters(at.wordline).block_before;
        let since = self.blocks[at.block.index()].read - b;
        let by_host = since.saturating_sub(not_chosen);
        let dose =
            self.endurance(at).0.alpha * by_host + FAR * (since - by_host) + self.before(FAR * b);
        Stress { dose: stress.dose.max(dose), ..stress }
    }

    /// Returns dose and limit of a page from the result of [`Self::of_wordline`].
    #[inline]
    pub(crate) fn of_kind(&self, wordline: Stress, at: At) -> Stress {
        if wordline == Stress::SAFE {
            return Stress::SAFE;
        }
        let limit = if self.has_rates() {
            self.with_retries(at, self.table.most_retries())
        } else {
            self.table.limit_of_kind(wordline.limit.cast_unsigned(), at.kind).cast_signed()
        };
        Stress { limit, ..wordline }
    }

    /// Returns the present dose of a programmed wordline and the limit of its weakest page kind.
    #[inline]
    pub(crate) fn of_wordline(&self, medium: &Medium, at: At) -> Stress {
        if self.model == DisturbModel::None {
            return Stress::SAFE;
        }
        let (endurance, limit) = self.endurance(at);
        let dose = self.dose(medium, at, endurance.alpha);
        let limit = if self.has_rates() {
            // The wordline has the lowest limit of its page kinds.
            let of_kind =
                |kind: u32| self.with_retries(At { kind, ..at }, self.table.most_retries());
            (0..self.kinds).map(of_kind).min().unwrap_or(0)
        } else {
            limit.cast_signed()
        };
        Stress { dose, limit }
    }

    /// Returns the present dose of a programmed wordline whose neighbours have this weight.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "all wordlines of a drive are looked at in the end")]
    fn dose(&self, medium: &Medium, at: At, alpha: u64) -> u64 {
        let Counters { read, neighbour_before: s, block_before: b } = medium.counters(at.wordline);
        let since = self.blocks[at.block.index()].read - b;
        if counts_alike(self.model) {
            return FAR * since + self.before(FAR * b);
        }
        let low = self.low(medium, at);
        let high = if at.index + self.stride < self.wordlines_per_block {
            medium.read(at.wordline + self.stride)
        } else {
            0
        };
        let adjacent = low - s + high;
        // Only a page that was programmed twice, which is an error too, could make this negative.
        let rest = since.saturating_sub(adjacent + read);
        alpha * adjacent + FAR * rest + self.before(alpha * s + FAR * (b - s))
    }

    /// Returns the first of these wordlines whose dose exceeds `ratio` times this limit. The number
    /// counts within the block. With the limit of [`Self::bound`], no page whose dose exceeds
    /// `ratio` times its own limit is left out. Most wordlines then need no check of their own
    /// limits.
    pub(crate) fn next_above(
        &self,
        medium: &Medium,
        block: BlockId,
        mut wordlines: Range<u32>,
        limit: i64,
        ratio: f64,
    ) -> Option<u32> {
        let first = block.number() * self.wordlines_per_block;
        let limits = &self.limits[self.blocks[block.index()].limits as usize..];
        wordlines.find(|&index| {
            let at = At { block, wordline: first + index, index, kind: 0 };
            let alpha = limits[self.table.group_of(index)].alpha;
            limit <= 0 || Stress { dose: self.dose(medium, at, alpha), limit }.exceeds(ratio)
        })
    }

    /// Returns the amount by which a drive may count a programmed wordline's dose too high. The
    /// drive keeps the dose from before the program in quarters of a unit and rounds it up. No
    /// rounding is possible if that dose is 0, counts fully, or is a whole number of quarters and
    /// counts nothing.
    pub(crate) fn slack(&self, medium: &Medium, at: At) -> u64 {
        if self.model == DisturbModel::None {
            return 0;
        }
        let Counters { neighbour_before: s, block_before: b, .. } = medium.counters(at.wordline);
        let by_neighbours =
            if counts_alike(self.model) { 0 } else { self.endurance(at).0.alpha * s };
        let is_exact = match self.preprogram_weight {
            0 => by_neighbours.is_multiple_of(FAR),
            weight => b == 0 || weight == WEIGHT_ONE as u64,
        };
        if is_exact { 0 } else { UNIT }
    }

    /// Returns whether the drive may take a page of this dose and limit as lost, because it is lost
    /// or nearly so.
    pub(crate) fn may_be_lost(&self, medium: &Medium, at: At, stress: Stress) -> bool {
        if let Some(noise) = &self.noise {
            return noise.may_be_lost(self.rates_at(at, stress.dose).1);
        }
        let is_rounded = self.slack(medium, at) > 0 || self.has_rates();
        stress.is_past() || is_rounded && (stress.dose + UNIT).cast_signed() >= stress.limit
    }

    /// Returns the group of a wordline. `wordline` is its number within its block.
    pub(crate) fn group_of(&self, wordline: u32) -> usize {
        self.table.group_of(wordline)
    }

    /// Returns the coding mode of a wordline.
    #[inline]
    pub(crate) fn mode_at(&self, at: At) -> u8 {
        let block = &self.blocks[at.block.index()];
        let own =
            if block.has_own { self.own_modes[at.block.index()][at.index as usize] } else { 0 };
        if own > 0 { own } else { block.mode }
    }

    /// Returns whether the coding of a page's wordline keeps the page.
    pub(crate) fn keeps(&self, at: At) -> bool {
        self.codings.row(self.mode_at(at)).keeps(at.kind)
    }

    /// Returns RC of the lower neighbour; 0 if there is no such neighbour.
    #[inline]
    fn low(&self, medium: &Medium, at: At) -> u64 {
        if at.index >= self.stride { medium.read(at.wordline - self.stride) } else { 0 }
    }

    /// Returns dose and limit that an erased page would have if it were programmed now.
    pub(crate) fn if_programmed(&self, medium: &Medium, at: At) -> Stress {
        if self.model == DisturbModel::None {
            return Stress::SAFE;
        }
        let ((endurance, limit), b) = (self.endurance(at), self.blocks[at.block.index()].read);
        let s = if counts_alike(self.model) { 0 } else { self.low(medium, at) };
        self.of_kind(
            Stress {
                dose: self.before(endurance.alpha * s + FAR * (b - s)),
                limit: limit.cast_signed(),
            },
            at,
        )
    }

    /// Returns a dose from before the program, multiplied by its weight.
    #[inline]
    pub(crate) fn before(&self, dose: u64) -> u64 {
        if self.preprogram_weight == 0 {
            0
        } else {
            ((u128::from(dose) * u128::from(self.preprogram_weight)) >> 16) as u64
        }
    }

    /// Returns the P/E count that a block's limits belong to.
    pub(crate) fn pec_of(&self, block: BlockId) -> u32 {
        self.start_pec + self.blocks[block.index()].limits / self.table.groups() as u32
    }

    /// Returns whether reads disturb anything.
    pub(crate) fn counts(&self) -> bool {
        self.model != DisturbModel::None
    }

    /// Returns the P/E cycles of a block.
    pub(crate) fn cycles_of(&self, block: BlockId) -> u32 {
        self.start_pec + self.worn[block.index()].all()
    }

    /// Returns the coding mode of a single wordline; 0 if it has none of its own.
    pub(crate) fn own_mode(&self, block: BlockId, index: u32) -> u8 {
        self.own_modes[block.index()].get(index as usize).copied().unwrap_or(0)
    }

    /// Returns the coding mode of a block.
    pub(crate) fn mode_of(&self, block: BlockId) -> u8 {
        self.blocks[block.index()].mode
    }

    /// Returns the present limit and alpha of a group of wordlines in a block, without layers and
    /// page kinds.
    pub(crate) fn of_group(&self, block: BlockId, group: usize) -> Endurance {
        self.limits[self.blocks[block.index()].limits as usize + group]
    }

    /// Returns the largest dose that a read adds to a neighbour in a block at present, in 1/256
    /// reads. Returns 256 if nothing is disturbed.
    pub(crate) fn most_alpha(&self, block: BlockId) -> u64 {
        let groups = if self.counts() { self.table.groups() } else { 0 };
        (0..groups).map(|group| self.of_group(block, group).alpha).max().unwrap_or(256)
    }

    /// Returns the dose units that fresh data of a block's weakest page endures.
    pub(crate) fn bears(&self, block: BlockId) -> f64 {
        let record = &self.blocks[block.index()];
        let limit = self.table.in_mode(self.of_group(block, 0).limit, record.mode);
        limit as f64 / UNIT as f64 * f64::from(record.factor) / 1024.0
    }

    /// Returns the dose read from a block since its erase, in quarters; `None` if reads do not
    /// count.
    pub(crate) fn read_of(&self, block: BlockId) -> Option<u64> {
        (self.model != DisturbModel::None).then(|| self.blocks[block.index()].read)
    }

    /// Returns the dose read from a block since its erase, in twentieths of the limit of its
    /// weakest wordlines; `None` if reads do not count.
    pub(crate) fn used(&self, block: BlockId) -> Option<u64> {
        let record = &self.blocks[block.index()];
        let of_group = |group: usize| self.limits[record.limits as usize + group].limit;
        let weakest = (0..self.table.groups())
            .map(of_group)
            .min()
            .filter(|_| self.model != DisturbModel::None)?;
        Some(record.read * FAR * 20 / self.table.in_mode(weakest, record.mode))
    }

    /// Returns the wear of a block.
    pub(crate) fn worn(&self, block: BlockId) -> BlockWear {
        self.worn[block.index()].since(self.start_pec)
    }

    /// Computes limits up to those that begin at `limits`.
    fn know_limits(&mut self, limits: u32) {
        let groups = self.table.groups();
        while self.model != DisturbModel::None && self.limits.len() <= limits as usize {
            let pec = self.start_pec + (self.limits.len() / groups) as u32;
            self.limits.extend((0..groups).map(|group| self.table.truth(group, pec)));
        }
    }
}
