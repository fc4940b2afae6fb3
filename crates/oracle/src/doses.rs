//! The truth about reads: what every wordline has endured since it was programmed, from exact
//! counters.
//!
//! With RC the dose read from each wordline and BLK from its whole block, both since the erase, and
//! b = BLK and s = RC\[i-d\] as they stood when the first page of wordline i was programmed:
//!
//! ```text
//! dose(i) = alpha (RC[i-d] - s + RC[i+d]) + rest        rest = (BLK - b) - (RC[i-d] - s) - RC[i] - RC[i+d]
//! ```
//!
//! A wordline does not disturb itself, and one at the edge of a block has one neighbour. What came
//! before the programming, alpha s + (b - s), counts `preprogram_weight`. In the model `count` the
//! dose is BLK - b. The pages of a wordline share its dose; each kind has a limit of its own.
//! Counters are in quarters of a dose unit, alpha in 1/256, doses and limits therefore in 1/1024.
//!
//! Limits fall with each cycle, and with what reprogramming wears beyond it
//! (`density.wear_counts_for_limits`): of a block's n cycles, of which m were reprogrammed ones,
//! the m-th took `(wear - 1) sqrt(max(1, n / 5m))` cycles more, to the thousandth. The sum is
//! rounded up.

mod aged;
mod truth;
mod worn;

use std::ops::Range;

use vpass_core::base::geometry::Geometry;
use vpass_core::base::mem::prefetch;
use vpass_core::base::units::BlockId;
use vpass_core::config::{CellType, DisturbModel, DoseUnit, DriveConfig};

use crate::codings::Codings;
use crate::endurance::{self, Endurance, Endurances, FAR, UNIT, counts_alike};
use crate::error_rates::ErrorRates;
use crate::medium::{At, Counters, Medium};
use crate::noise::Noise;
use aged::ROUNDED;
pub(crate) use truth::Truth;
use worn::{BlockWear, Worn};

/// `preprogram_weight` is a multiple of 1/65536.
const WEIGHT_ONE: f64 = 65_536.0;

/// Counters of a block.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    /// BLK: dose read from it since the erase.
    read: u64,
    /// RC of the wordline that was read most.
    most_read: u64,
    /// Where its limits begin in `Doses::limits`; they depend on its P/E count.
    limits: u32,
    /// Its limits over those of the worst block; see the table.
    factor: u16,
    /// Its coding, which changes its limits again.
    mode: u8,
    /// Whether some of its wordlines have a mode of their own.
    has_own: bool,
}

/// The counters of all blocks, and what wordlines endure.
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
    /// Of blocks with wordlines that have a mode of their own: each wordline's, 0 where it has
    /// none.
    own_modes: Vec<Vec<u8>>,
    table: Endurances,
    /// Where data has error rates: those, and each block's step of age.
    rates: Option<ErrorRates>,
    steps: Vec<u32>,
    /// Where retries are drawn.
    noise: Option<Noise>,
    /// The level that worked last in each block, where reads begin with it.
    first_levels: Vec<u8>,
    /// Whether time counts on this drive: else its data stays as young as it is.
    keeps_time: bool,
    /// Per P/E count since the start, the limits of every group.
    limits: Vec<Endurance>,
    start_pec: u32,
    /// Dose, in quarters, of a reprogramming, as from its wordline.
    by_reprogramming: u32,
    worn: Vec<Worn>,
    /// Wear of a reprogrammed cycle, and whether it counts for limits.
    wear: f64,
    counts_wear: bool,
}

impl Doses {
    pub(crate) fn new(geometry: &Geometry, config: &DriveConfig) -> Self {
        let table = Endurances::new(config);
        let mut doses = Self {
            model: config.disturb.model,
            per_kind: endurance::doses(config.disturb.dose, geometry.cell, Codings::new(geometry)),
            unit: config.disturb.dose,
            cell: geometry.cell,
            preprogram_weight: (config.disturb.preprogram_weight * WEIGHT_ONE).round() as u64,
            stride: geometry.neighbour_stride,
            wordlines_per_block: geometry.wordlines_per_block,
            kinds: geometry.cell.bits(),
            codings: Codings::new(geometry),
            blocks: geometry
                .block_ids()
                .map(|block| Block { factor: table.block_factor(block) as u16, ..Block::default() })
                .collect(),
            own_modes: vec![vec![]; geometry.blocks as usize],
            table,
            rates: ErrorRates::new(config),
            noise: None,
            first_levels: vec![
                0;
                if config.ecc.start_from_last { geometry.blocks as usize } else { 0 }
            ],
            keeps_time: config.keeps_time(),
            steps: vec![0; geometry.blocks as usize],
            limits: vec![],
            start_pec: config.start.pec,
            by_reprogramming: (config.density.reprogram_dose * 4.0).ceil() as u32,
            worn: vec![Worn::default(); geometry.blocks as usize],
            counts_wear: config.density.wear_counts_for_limits,
            wear: config.density.wear,
        };
        doses.noise = doses.rates.as_ref().and_then(|rates| Noise::new(config, rates.level_caps()));
        doses.know_limits(0);
        doses
    }

    /// Bytes for a drive of this geometry, the wordlines' counters apart.
    pub(crate) fn bytes(geometry: &Geometry) -> u64 {
        u64::from(geometry.blocks)
            * (size_of::<Block>() + size_of::<Vec<u8>>() + size_of::<Worn>()) as u64
    }

    /// Distance of the wordlines whose counters [`Self::truth`] looks at; 0 where it looks at none.
    #[inline]
    pub(crate) fn reach(&self) -> u32 {
        if self.model == DisturbModel::Wordline { self.stride } else { 0 }
    }

    /// Fetches the counters of a block.
    #[inline]
    pub(crate) fn prefetch(&self, block: BlockId) {
        prefetch(&self.blocks, block.index());
    }

    /// Limit of a page, and the weight of its neighbours.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the read path")]
    pub(crate) fn page(&self, at: At) -> Endurance {
        if self.model == DisturbModel::None {
            return Endurance { limit: Truth::SAFE.limit.cast_unsigned(), alpha: 0 };
        }
        let (endurance, limit) = self.endurance(at);
        // With fewer retries than it may take a page endures less.
        let limit = if self.rates.is_some() {
            self.calm(at) - ROUNDED
        } else {
            self.table.limit_of_kind(limit, at.kind).cast_signed()
        };
        Endurance { limit: limit.max(0).cast_unsigned(), ..endurance }
    }

    /// A dose that no page of a block has passed, whatever its neighbours were read: alpha 2
    /// max(RC) + BLK. As at most all of what came before its programming counts, no term of its
    /// dose is left out. All of this lies in caches, unlike the neighbours.
    #[inline]
    pub(crate) fn ceiling(&self, block: BlockId, alpha: u64) -> u64 {
        let block = &self.blocks[block.index()];
        2 * alpha * block.most_read + FAR * block.read
    }

    /// A dose that no page of a block has passed, and a limit that no page of it falls below. For
    /// each wordline [`Self::of_wordline`] gives a dose that is not larger and a limit that is not
    /// smaller.
    pub(crate) fn bound(&self, block: BlockId) -> Truth {
        if self.model == DisturbModel::None {
            return Truth::SAFE;
        }
        let record = &self.blocks[block.index()];
        if record.has_own || record.mode > 0 {
            // Blocks with other codings are few: each is looked at.
            return Truth { dose: u64::MAX >> 1, limit: -1 };
        }
        let limit = match &self.rates {
            // Layers, blocks and kinds endure the group's limit or more, and a limit below 0 counts
            // as none.
            Some(rates) => self.least_with_retries(block, rates),
            None => (0..self.table.groups())
                .map(|group| self.of_group(block, group).limit.cast_signed())
                .min()
                .unwrap_or(0),
        };
        Truth {
            dose: self.ceiling(block, self.most_alpha(block)),
            limit: limit.min(self.table.least_of_kinds(limit)),
        }
    }

    /// What its group endures, and the limit of a wordline's weakest page kind.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the read path")]
    fn endurance(&self, at: At) -> (Endurance, u64) {
        let block = &self.blocks[at.block.index()];
        let endurance = self.limits[block.limits as usize + self.table.group_of(at.index)];
        let limit = self.table.limit_of(endurance.limit, at.index, block.factor.into());
        (endurance, self.table.in_mode(limit, self.mode_at(at)))
    }

    /// Dose and limit of a programmed page now.
    #[inline]
    pub(crate) fn truth(&self, medium: &Medium, at: At) -> Truth {
        self.of_kind(self.of_wordline(medium, at), at)
    }

    /// As [`Self::truth`], had the host read beside the page all that it read from the block since
    /// its wordline was programmed, but for these quarters, of which no host chose the place.
    pub(crate) fn worst(&self, medium: &Medium, at: At, not_chosen: u64) -> Truth {
        let truth = self.truth(medium, at);
        if self.model != DisturbModel::Wordline {
            return truth;
        }
        let b = medium.counters(at.wordline).block_before;
        let since = self.blocks[at.block.index()].read - b;
        let by_host = since.saturating_sub(not_chosen);
        let dose =
            self.endurance(at).0.alpha * by_host + FAR * (since - by_host) + self.before(FAR * b);
        Truth { dose: truth.dose.max(dose), ..truth }
    }

    /// A page of a wordline, from the wordline's [`Self::of_wordline`].
    #[inline]
    pub(crate) fn of_kind(&self, wordline: Truth, at: At) -> Truth {
        if wordline == Truth::SAFE {
            return Truth::SAFE;
        }
        let limit = match &self.rates {
            Some(rates) => self.with_retries(at, rates.most_retries()),
            None => self.table.limit_of_kind(wordline.limit.cast_unsigned(), at.kind).cast_signed(),
        };
        Truth { limit, ..wordline }
    }

    /// Dose of a programmed wordline now, and the limit of the weakest page kind.
    #[inline]
    pub(crate) fn of_wordline(&self, medium: &Medium, at: At) -> Truth {
        if self.model == DisturbModel::None {
            return Truth::SAFE;
        }
        let (endurance, limit) = self.endurance(at);
        let dose = self.dose(medium, at, endurance.alpha);
        let limit = match &self.rates {
            // The lowest of its kinds' limits.
            Some(rates) => (0..self.kinds)
                .map(|kind| self.with_retries(At { kind, ..at }, rates.most_retries()))
                .min()
                .unwrap_or(0),
            None => limit.cast_signed(),
        };
        Truth { dose, limit }
    }

    /// Dose of a programmed wordline now, whose neighbours have this weight.
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
        // Only a page that was programmed twice, an error of its own, could make this negative.
        let rest = since.saturating_sub(adjacent + read);
        alpha * adjacent + FAR * rest + self.before(alpha * s + FAR * (b - s))
    }

    /// Returns the first wordline of a block, counted within it, among `wordlines`, whose dose over
    /// this limit is above `ratio`. With the limit of [`Self::bound`], no page is left out whose
    /// dose over its own limit is above `ratio`. Most wordlines need no look at their own limits.
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
            limit <= 0 || Truth { dose: self.dose(medium, at, alpha), limit }.exceeds(ratio)
        })
    }

    /// What a drive may count a programmed wordline's dose too high by. It holds what came before
    /// the programming in quarters of a unit, and rounds it to the worse side; where nothing came
    /// before, where all of that counts, and where it is whole quarters of which none counts, there
    /// is nothing to round.
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

    /// Whether the drive may take a page of this dose and limit for lost: it is, or as good as.
    pub(crate) fn may_be_lost(&self, medium: &Medium, at: At, truth: Truth) -> bool {
        if let Some(noise) = &self.noise {
            return noise.may_be_lost(self.rates_at(at, truth.dose).1);
        }
        let is_rounded = self.slack(medium, at) > 0 || self.rates.is_some();
        truth.is_past() || is_rounded && (truth.dose + UNIT).cast_signed() >= truth.limit
    }

    /// Number of the group of a wordline, counted within its block.
    pub(crate) fn group_of(&self, wordline: u32) -> usize {
        self.table.group_of(wordline)
    }

    /// The coding mode of a wordline.
    #[inline]
    pub(crate) fn mode_at(&self, at: At) -> u8 {
        let block = &self.blocks[at.block.index()];
        let own =
            if block.has_own { self.own_modes[at.block.index()][at.index as usize] } else { 0 };
        if own > 0 { own } else { block.mode }
    }

    /// Whether the coding of a page's wordline keeps the page.
    pub(crate) fn keeps(&self, at: At) -> bool {
        self.codings.keeps(self.mode_at(at), at.kind)
    }

    /// RC of the lower neighbour; nothing where there is none.
    #[inline]
    fn low(&self, medium: &Medium, at: At) -> u64 {
        if at.index >= self.stride { medium.read(at.wordline - self.stride) } else { 0 }
    }

    /// Dose and limit that an erased page would have, were it programmed now.
    pub(crate) fn if_programmed(&self, medium: &Medium, at: At) -> Truth {
        if self.model == DisturbModel::None {
            return Truth::SAFE;
        }
        let ((endurance, limit), b) = (self.endurance(at), self.blocks[at.block.index()].read);
        let s = if counts_alike(self.model) { 0 } else { self.low(medium, at) };
        self.of_kind(
            Truth {
                dose: self.before(endurance.alpha * s + FAR * (b - s)),
                limit: limit.cast_signed(),
            },
            at,
        )
    }

    /// What a dose from before the programming counts.
    #[inline]
    pub(crate) fn before(&self, dose: u64) -> u64 {
        if self.preprogram_weight == 0 {
            0
        } else {
            ((u128::from(dose) * u128::from(self.preprogram_weight)) >> 16) as u64
        }
    }

    /// A page was sensed, for whatever reason and with whatever result.
    #[inline]
    pub(crate) fn sense(&mut self, medium: &mut Medium, at: At) {
        if self.model != DisturbModel::None {
            let dose = self.of_page(at);
            let block = &mut self.blocks[at.block.index()];
            block.read += u64::from(dose);
            block.most_read = block.most_read.max(medium.sense(at.wordline, dose));
        }
    }

    /// The dose, in quarters, of reading a page: that of the kind which takes as many sensings in
    /// full density.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the read path")]
    pub(crate) fn of_page(&self, at: At) -> u32 {
        let block = &self.blocks[at.block.index()];
        if block.has_own || block.mode > 0 {
            self.of_coded(at)
        } else {
            self.per_kind[at.kind as usize]
        }
    }

    #[cold]
    fn of_coded(&self, at: At) -> u32 {
        let coding = self.mode_at(at);
        if self.codings.keeps(coding, at.kind) {
            let sensings = self.codings.sensings(coding, at.kind);
            endurance::dose_of(self.unit, self.cell, self.codings, sensings)
        } else {
            self.per_kind[at.kind as usize]
        }
    }

    /// The dose, in quarters, of reading a page of this kind in full density.
    #[inline]
    pub(crate) fn of_read(&self, kind: u32) -> u32 {
        self.per_kind[kind as usize]
    }

    /// The doses of all kinds of pages of this cell.
    pub(crate) fn per_kind(&self, geometry: &Geometry) -> &[u32] {
        &self.per_kind[..geometry.cell.bits() as usize]
    }

    /// That of reprogramming a wordline.
    pub(crate) fn of_reprogramming(&self) -> u32 {
        self.by_reprogramming
    }

    /// A wordline was reprogrammed in place: the others take what so many reads of it would have
    /// done, in quarters of a read.
    pub(crate) fn reprogram(&mut self, medium: &mut Medium, block: BlockId, wordline: u32) {
        if self.model != DisturbModel::None && self.by_reprogramming > 0 {
            let record = &mut self.blocks[block.index()];
            record.read += u64::from(self.by_reprogramming);
            record.most_read = record.most_read.max(medium.sense(wordline, self.by_reprogramming));
        }
    }

    /// So much was read from the wordlines of a block, from its first on.
    pub(crate) fn age(&mut self, medium: &mut Medium, block: BlockId, doses: &[u32]) {
        if self.model == DisturbModel::None {
            return;
        }
        let record = &mut self.blocks[block.index()];
        for (wordline, dose) in (block.number() * self.wordlines_per_block..).zip(doses) {
            record.read += u64::from(*dose);
            record.most_read = record.most_read.max(medium.sense(wordline, *dose));
        }
    }

    /// Adds the dose of sensing a page `times` times.
    pub(crate) fn sense_often(&mut self, medium: &mut Medium, at: At, times: u32) {
        if self.model != DisturbModel::None {
            let dose = self.of_page(at) * times;
            let block = &mut self.blocks[at.block.index()];
            block.read += u64::from(dose);
            block.most_read = block.most_read.max(medium.sense(at.wordline, dose));
        }
    }

    /// The first page of a wordline is programmed.
    pub(crate) fn program(&self, medium: &mut Medium, at: At) {
        let neighbour = self.low(medium, at);
        medium.start(at.wordline, neighbour, self.blocks[at.block.index()].read);
    }

    /// The block was reprogrammed, or a wordline of it.
    pub(crate) fn note_reprogramming(&mut self, block: BlockId) {
        self.worn[block.index()].is_reprogrammed = true;
    }

    /// The block's limits are those of a coding mode, until its erase.
    pub(crate) fn set_mode(&mut self, block: BlockId, mode: u8) {
        self.blocks[block.index()].mode = mode;
    }

    /// The limits of this wordline, by itself, are those of a coding mode, until its block's erase.
    pub(crate) fn recode_wordline(&mut self, block: BlockId, index: u32, mode: u8) {
        self.blocks[block.index()].has_own = true;
        let modes = &mut self.own_modes[block.index()];
        modes.resize(self.wordlines_per_block as usize, 0);
        modes[index as usize] = mode;
    }

    /// The P/E count that a block's limits are those of.
    pub(crate) fn pec_of(&self, block: BlockId) -> u32 {
        self.start_pec + self.blocks[block.index()].limits / self.table.groups() as u32
    }

    /// Whether reads disturb anything.
    pub(crate) fn counts(&self) -> bool {
        self.model != DisturbModel::None
    }

    /// P/E cycles of a block.
    pub(crate) fn cycles_of(&self, block: BlockId) -> u32 {
        self.start_pec + self.worn[block.index()].all()
    }

    /// The coding of a wordline by itself; 0 where it has none.
    pub(crate) fn own_mode(&self, block: BlockId, index: u32) -> u8 {
        self.own_modes[block.index()].get(index as usize).copied().unwrap_or(0)
    }

    /// A block's coding.
    pub(crate) fn mode_of(&self, block: BlockId) -> u8 {
        self.blocks[block.index()].mode
    }

    /// What a group of wordlines endures in a block now, layers and page kinds apart.
    pub(crate) fn of_group(&self, block: BlockId, group: usize) -> Endurance {
        self.limits[self.blocks[block.index()].limits as usize + group]
    }

    /// What a read disturbs a neighbour by at most in a block now, in 256ths of a read; one read
    /// where nothing is disturbed.
    pub(crate) fn most_alpha(&self, block: BlockId) -> u64 {
        let groups = if self.counts() { self.table.groups() } else { 0 };
        (0..groups).map(|group| self.of_group(block, group).alpha).max().unwrap_or(256)
    }

    /// Dose units that fresh data of a block's weakest page bears.
    pub(crate) fn bears(&self, block: BlockId) -> f64 {
        let record = &self.blocks[block.index()];
        let limit = self.table.in_mode(self.of_group(block, 0).limit, record.mode);
        limit as f64 / UNIT as f64 * f64::from(record.factor) / 1024.0
    }

    /// Dose, in quarters, read from a block since its erase; `None` where nobody counts.
    pub(crate) fn read_of(&self, block: BlockId) -> Option<u64> {
        (self.model != DisturbModel::None).then(|| self.blocks[block.index()].read)
    }

    /// Twentieths of its weakest wordlines' limit that a block's reads since its erase come to;
    /// `None` where nobody counts.
    pub(crate) fn used(&self, block: BlockId) -> Option<u64> {
        let record = &self.blocks[block.index()];
        let of_group = |group: usize| self.limits[record.limits as usize + group].limit;
        let weakest = (0..self.table.groups())
            .map(of_group)
            .min()
            .filter(|_| self.model != DisturbModel::None)?;
        Some(record.read * FAR * 20 / self.table.in_mode(weakest, record.mode))
    }

    /// What a block has been through.
    pub(crate) fn worn(&self, block: BlockId) -> BlockWear {
        self.worn[block.index()].since(self.start_pec)
    }

    /// The block's wordlines forget; its next limits are those of so many more cycles, and of what
    /// reprogramming wore in each of the cycles that the last one stands for.
    pub(crate) fn erase(&mut self, block: BlockId, cycles: (u32, u32)) {
        let limits = self.worn[block.index()].end_cycle(cycles, self.wear, self.counts_wear)
            * self.table.groups() as u32;
        let record = &mut self.blocks[block.index()];
        if record.has_own {
            self.own_modes[block.index()] = vec![];
        }
        (record.read, record.most_read, record.limits, record.mode, record.has_own) =
            (0, 0, limits, 0, false);
        if let Some(level) = self.first_levels.get_mut(block.index()) {
            *level = 0;
        }
        self.know_limits(limits);
    }

    /// A block begins with so many P/E cycles. Gives how many of them others do not begin with.
    pub(crate) fn begin_worn(&mut self, block: BlockId, pec: u32) -> u32 {
        let more = pec.saturating_sub(self.start_pec);
        let limits = more * self.table.groups() as u32;
        self.worn[block.index()].more = more;
        self.blocks[block.index()].limits = limits;
        self.know_limits(limits);
        more
    }

    /// Looks limits up until those that begin at `limits` are known.
    fn know_limits(&mut self, limits: u32) {
        let groups = self.table.groups();
        while self.model != DisturbModel::None && self.limits.len() <= limits as usize {
            let pec = self.start_pec + (self.limits.len() / groups) as u32;
            self.limits.extend((0..groups).map(|group| self.table.truth(group, pec)));
        }
    }
}
