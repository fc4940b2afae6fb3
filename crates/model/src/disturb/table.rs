//! Limits and neighbour weights by wordline group and P/E count, in fixed point. They describe the
//! flash. The drive's error models, the thresholds of policies and the oracle all use this table.
//! The truth is interpolated over P/E counts (`rows`). A policy uses the worse of the two nearest
//! rows (straw-2024 III).

use super::allowed::Allowed;
pub use super::rows::Endurance;
use super::rows::Rows;
use crate::base::codings::{CODINGS, Codings, FACTOR_ONE, FULL};
use crate::base::dose::{Dose, Quarters};
use crate::base::latency::AccessLatency;
use crate::base::splitmix::fraction;
use crate::base::units::{BlockId, WordlineInBlock};
use crate::config::{CellType, DisturbConfig, DoseUnit, DriveConfig, ErrorLaw, SCATTER_MAX};
use crate::error::budget::{AgedLimits, Asked};

/// Factor of 1: factors of layers, blocks and page kinds are in 1/1024 of the worst one.
const MEMBER_ONE: u32 = 1024;
/// Number of sets of page kinds. QLC has four kinds.
const KIND_SETS: usize = 16;
/// Salts that keep the random numbers of layers and blocks independent of those of groups.
const LAYER_SALT: u64 = 1 << 40;
const BLOCK_SALT: u64 = 1 << 41;
const BLOCK_SCATTER: u64 = 1 << 42;
const LAYER_SCATTER: u64 = 1 << 43;
/// Salt of the second random number of a scatter.
const ANGLE_SALT: u64 = 1 << 44;

/// Wear and age at which a technique looks limits up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Worn {
    /// Number of P/E cycles.
    pub pec: u32,
    /// Step of the age that data has or soon reaches; `None` for the longest allowed age.
    pub step: Option<usize>,
}

impl Worn {
    /// Creates the entry for data of the longest allowed age.
    pub fn at_longest(pec: u32) -> Self {
        Self { pec, step: None }
    }
}

/// Table `[disturb]`, prepared for look-ups.
#[derive(Clone, Debug)]
pub struct LimitTable {
    groups: usize,
    /// Group of each wordline of a block. It is the same in every block (process similarity,
    /// straw-2024 \[10\]).
    group_of: Vec<u8>,
    /// Limit of each wordline divided by its group's limit, in 1/1024. It is the same in every
    /// block.
    member: Vec<u32>,
    block_variation: f64,
    /// Standard deviation of the logarithm of a block's scatter.
    sigma_block: f64,
    /// Limit of the weakest kind of a set of page kinds, divided by the wordline's limit, in
    /// 1/1024. A set has one bit per kind.
    weakest: [u32; KIND_SETS],
    /// Limits in each coding, divided by those of full density, in 1/1024.
    by_coding: [u64; CODINGS],
    rows: Rows,
    /// Limits for techniques if data ages.
    allowed: Option<Allowed>,
}

impl LimitTable {
    /// Returns the table of a checked configuration; `None` if its error model has no table.
    pub fn of(config: &DriveConfig) -> Option<Self> {
        if !config.disturb.model.has_table() {
            return None;
        }
        let table = Self::new(
            &config.disturb,
            config.geometry.wordlines_per_block,
            config.geometry.strings_per_layer,
        );
        let rows = table.rows.with_rates(config.error.model != ErrorLaw::None);
        let table = Self {
            rows,
            by_coding: Codings::of(config).rows().map(|row| row.limit_factor),
            ..table
        };
        Some(Self { allowed: Allowed::of(config), ..table })
    }

    /// Creates the table for blocks with these numbers of wordlines per block and per layer.
    fn new(config: &DisturbConfig, wordlines_per_block: u32, strings_per_layer: u32) -> Self {
        let groups = config.groups.len();
        let share = |g: usize| config.group_share.get(g).copied().unwrap_or(1.0 / groups as f64);
        let layers = wordlines_per_block.div_ceil(strings_per_layer);
        let group_of_layer = (0..layers).map(|layer| {
            let mut u = fraction(0, u64::from(layer));
            let mut g = 0;
            while g + 1 < groups && u >= share(g) {
                u -= share(g);
                g += 1;
            }
            g as u8
        });
        let group_of_layer: Vec<u8> = group_of_layer.collect();
        let member_of_layer = members(config, &group_of_layer);
        let by_wordline = || (0..wordlines_per_block).map(|w| (w / strings_per_layer) as usize);
        Self {
            groups,
            group_of: by_wordline().map(|layer| group_of_layer[layer]).collect(),
            member: by_wordline().map(|layer| member_of_layer[layer]).collect(),
            block_variation: config.block_variation,
            sigma_block: config.limit_sigma_block,
            weakest: weakest(&config.kind_factor),
            by_coding: [FACTOR_ONE; CODINGS],
            rows: Rows::new(config),
            allowed: None,
        }
    }

    /// Returns the number of wordline groups.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// Returns the class of a P/E count. P/E counts of the same class have the same
    /// [`Self::lookup`].
    pub fn lookup_class(&self, pec: u32) -> u64 {
        let (from, to) = self.rows.around(pec);
        2 * u64::from(to) + u64::from(from == to)
    }

    /// Returns the P/E counts of the two rows of which [`Self::lookup`] uses the worse values.
    pub(crate) fn lookup_rows(&self, pec: u32) -> (u32, u32) {
        self.rows.around(pec)
    }

    /// Returns the next P/E count at which a look-up may change; `None` if nothing changes any
    /// more.
    pub fn next_lookup(&self, pec: u32) -> Option<u32> {
        self.rows.next_change(pec)
    }

    /// Returns the P/E count of the table's last row. Limits beyond it are extrapolated.
    pub fn last_row(&self) -> u32 {
        self.rows.last()
    }

    /// Returns the group of a wordline.
    #[inline]
    pub fn group_of(&self, wordline: WordlineInBlock) -> usize {
        usize::from(self.group_of[wordline.index()])
    }

    /// Returns the limits of a block divided by those of the worst block, in 1/1024; at least 1024.
    pub fn block_factor(&self, block: BlockId) -> u32 {
        let number = u64::from(block.number());
        let varied = MEMBER_ONE
            + (self.block_variation * fraction(0, BLOCK_SALT ^ number) * f64::from(MEMBER_ONE))
                as u32;
        by_1024ths(varied, scatter(self.sigma_block, BLOCK_SCATTER ^ number))
    }

    /// Returns the true limit of a wordline, from its group's [`Self::truth`] and its block's
    /// [`Self::block_factor`]. It is never below the group's limit.
    #[inline]
    pub fn limit_of(
        &self,
        group_limit: Dose,
        wordline: WordlineInBlock,
        block_factor: u32,
    ) -> Dose {
        let of_layer = group_limit.by_1024ths(self.member[wordline.index()].into());
        of_layer.by_1024ths(block_factor.into())
    }

    /// Returns the lowest limit of some page kinds of a wordline. `wordline_limit` is the result of
    /// [`Self::limit_of`] for the wordline, and `kinds` has one bit per kind, LSB first.
    #[inline]
    pub fn limit_of_kinds(&self, wordline_limit: Dose, kinds: u32) -> Dose {
        let weakest = self.weakest.get(kinds as usize % KIND_SETS);
        wordline_limit.by_1024ths(u64::from(*weakest.expect("a number for each set")))
    }

    /// Returns a limit in a coding, from the limit in full density.
    #[inline]
    pub fn in_mode(&self, limit: Dose, mode: u8) -> Dose {
        if mode == FULL { limit } else { limit.by_1024ths(self.by_coding[usize::from(mode)]) }
    }

    /// Returns [`Self::limit_of`] in the worst block.
    pub fn limit_of_worst_block(&self, group_limit: Dose, wordline: WordlineInBlock) -> Dose {
        self.limit_of(group_limit, wordline, MEMBER_ONE)
    }

    /// Returns the true endurance of a group's worst member. It is linear between rows, and
    /// extrapolated beyond the last row.
    pub fn truth(&self, group: usize, pec: u32) -> Endurance {
        self.rows.truth(group, pec)
    }

    /// Returns the endurance that a policy may assume for data of this age and hint budget, like
    /// [`Self::lookup_at`].
    pub fn lookup_worn(&self, budget: AccessLatency, group: usize, worn: Worn) -> Endurance {
        let longest = self.lookup_at(budget, group, worn.pec);
        let (Some(step), Some(allowed)) = (worn.step, &self.allowed) else { return longest };
        Endurance { limit: allowed.group(self, group, worn.pec).limit_at(budget, step), ..longest }
    }

    /// Returns the step of the longest allowed age; `None` if data does not age.
    pub fn longest_step(&self) -> Option<usize> {
        self.allowed.as_ref().map(|allowed| allowed.step)
    }

    /// Returns the endurance that a policy may assume for data without a hint. Of the two rows
    /// around this P/E count, the lower limit and the higher alpha apply.
    pub fn lookup(&self, group: usize, pec: u32) -> Endurance {
        self.lookup_at(AccessLatency::Smallest, group, pec)
    }

    /// Returns the endurance that a policy may assume for data with this hint.
    pub fn lookup_at(&self, budget: AccessLatency, group: usize, pec: u32) -> Endurance {
        let (from, to) = self.rows.around(pec);
        let (below, above) = (self.truth(group, from), self.truth(group, to));
        let fresh = above.limit.min(below.limit);
        let limit = self.allowed_at(budget, group, pec).map_or(fresh, |(_, limit)| limit);
        let alpha = above.alpha.max(below.alpha);
        Endurance { limit, alpha }
    }

    /// Returns the number of retries that count for a group, and the limit with these retries;
    /// `None` if data does not age.
    fn allowed_at(&self, budget: AccessLatency, group: usize, pec: u32) -> Option<(usize, Dose)> {
        let (retries, limit) = self.allowed.as_ref()?.group(self, group, pec).at_budget(budget);
        Some((retries, limit.max(Dose::ZERO)))
    }

    /// Returns the true limits by age and retries, if the drive has an error rate.
    pub(crate) fn aged(&self) -> Option<&AgedLimits> {
        self.allowed.as_ref().map(|allowed| &allowed.aged)
    }

    /// Returns the share of the first group's fresh limit that the longest age uses up, at most 1.
    /// The share is 0 if reads and age do not share one budget.
    pub fn taken_by_age(&self, pec: u32) -> f64 {
        let Some(allowed) =
            self.allowed.as_ref().filter(|allowed| !allowed.aged.rates().is_independent())
        else {
            return 0.0;
        };
        let left = allowed.aged.truth(
            self,
            pec,
            Asked { group: 0, kind: 0, level: 0, step: allowed.step },
        );
        1.0 - (Dose::of_1024ths(left).units() / self.truth(0, pec).limit.units()).clamp(0.0, 1.0)
    }

    /// Returns the certain endurance of a group. This is the true endurance. If data ages and reads
    /// take retries, it is at most the limit for techniques.
    pub fn endured(&self, group: usize, pec: u32) -> Endurance {
        let truth = self.truth(group, pec);
        let allowed = self.allowed_at(AccessLatency::Smallest, group, pec);
        let limit = allowed.map_or(truth.limit, |(_, limit)| limit.min(truth.limit));
        Endurance { limit, ..truth }
    }

    /// Returns the number of groups for which techniques count with more retries than fit into a
    /// budget. Without them, age would leave too small a limit.
    pub fn budget_raised(&self, budget: AccessLatency, pec: u32) -> u32 {
        let raised = |allowed: &Allowed| {
            let of_group = |group: &usize| allowed.group(self, *group, pec).is_raised(budget);
            (0..self.groups).filter(of_group).count()
        };
        self.allowed.as_ref().map_or(0, raised) as u32
    }

    /// Returns whether age leaves techniques at most a tenth of a group's fresh limit, even with
    /// all retries.
    pub fn is_used_up_by_age(&self, budget: AccessLatency, group: usize, pec: u32) -> bool {
        let allowed = self.allowed.as_ref();
        allowed.is_some_and(|allowed| allowed.group(self, group, pec).is_used_up(budget))
    }

    /// Returns the number of retries that techniques count with for a group's data with this hint;
    /// 0 if reads take no retries.
    pub fn retries_at(&self, budget: AccessLatency, group: usize, pec: u32) -> u8 {
        self.allowed_at(budget, group, pec).map_or(0, |(retries, _)| retries as u8)
    }

    /// Returns the number of reads that fresh data of the weakest group of a block endures in a
    /// mode. If reads and age have one budget, also returns the share of these reads that the
    /// longest age takes.
    pub fn endurance_of_fresh(&self, block: BlockId, pec: u32, mode: u8) -> (f64, f64) {
        let fresh = self
            .in_mode(self.truth(0, pec).limit.by_1024ths(self.block_factor(block).into()), mode)
            .units();
        (fresh, self.taken_by_age(pec))
    }
}

/// Returns factor `n` of a lognormal scatter, in 1/1024. Its logarithm is half-normal, because
/// factors below 1 are left out: limits of the table are those of the worst. The normal number
/// comes from two random numbers (Box and Muller, 1958).
fn scatter(sigma: f64, n: u64) -> u32 {
    if sigma == 0.0 {
        return MEMBER_ONE;
    }
    let radius = (-2.0 * (1.0 - fraction(0, n)).ln()).sqrt();
    let angle = std::f64::consts::TAU * fraction(0, ANGLE_SALT ^ n);
    let normal = radius * angle.cos();
    let size = normal.abs();
    let factor = (sigma * size).exp().min(SCATTER_MAX);
    (factor * f64::from(MEMBER_ONE)) as u32
}

/// Returns the product of two factors, each in 1/1024.
fn by_1024ths(factor: u32, other: u32) -> u32 {
    (u64::from(factor) * u64::from(other) / u64::from(MEMBER_ONE)) as u32
}

/// Returns the limits of layers divided by those of their groups, in 1/1024. Each group's worst
/// layer has factor 1, and the others are spread up to the group's best layer.
fn members(config: &DisturbConfig, group_of_layer: &[u8]) -> Vec<u32> {
    let strength = |layer: usize| fraction(0, LAYER_SALT ^ layer as u64);
    let worst = |group: u8| {
        let layers = group_of_layer.iter().enumerate().filter(|(_, g)| **g == group);
        layers.map(|(layer, _)| strength(layer)).fold(f64::INFINITY, f64::min)
    };
    let worst: Vec<f64> = (0..config.groups.len()).map(|g| worst(g as u8)).collect();
    let member = |(layer, group): (usize, &u8)| {
        let g = usize::from(*group);
        let spread = config.spread.get(g).map_or(0.0, |spread| spread - 1.0);
        let share = (strength(layer) - worst[g]) / (1.0 - worst[g]);
        let spread = MEMBER_ONE + (spread * share * f64::from(MEMBER_ONE)) as u32;
        by_1024ths(spread, scatter(config.limit_sigma_layer, LAYER_SCATTER ^ layer as u64))
    };
    let members: Vec<u32> = group_of_layer.iter().enumerate().map(member).collect();
    debug_assert!(
        members.iter().all(|factor| *factor >= MEMBER_ONE),
        "the factor of each layer is at least the factor of the worst layer in the group \
         (`disturb::wordline`)"
    );
    members
}

/// Returns the smallest factor of each set of page kinds, in 1/1024.
fn weakest(kind_factor: &[f64]) -> [u32; KIND_SETS] {
    let factor = |kind: usize| {
        kind_factor.get(kind).map_or(MEMBER_ONE, |f| (f * f64::from(MEMBER_ONE)) as u32)
    };
    let weakest = std::array::from_fn(|set| {
        (0..4).filter(|kind| set >> kind & 1 == 1).map(factor).min().unwrap_or(MEMBER_ONE)
    });
    debug_assert!(
        weakest.iter().all(|factor| *factor >= MEMBER_ONE),
        "the factor of the weakest page kind is at least 1 (`disturb::wordline`)"
    );
    weakest
}

/// Returns the dose of one page read, for each page kind.
pub fn dose_per_kind(unit: DoseUnit, cell: CellType) -> [Quarters; 4] {
    let mut weights = [Quarters::UNIT; 4];
    for (weight, sensings) in weights.iter_mut().zip(cell.sensings()) {
        *weight = dose_of(unit, cell, sensings);
    }
    weights
}

/// Returns the dose of a read that takes this number of sensings.
fn dose_of(unit: DoseUnit, cell: CellType, sensings: u32) -> Quarters {
    if unit == DoseUnit::Reads {
        return Quarters::UNIT;
    }
    let exact = f64::from(Quarters::UNIT.count() * sensings * cell.bits())
        / f64::from(cell.sensings().sum::<u32>());
    Quarters::from_count((exact.round() as u32).max(1))
}

/// Returns the dose of one page read, for each coding and page kind. A sensing weighs as much as in
/// full density. A page kind that a coding gives up has its dose of full density.
pub fn dose_per_coding(
    unit: DoseUnit,
    cell: CellType,
    codings: &Codings,
) -> [[Quarters; 4]; CODINGS] {
    let full = dose_per_kind(unit, cell);
    codings.rows().map(|row| {
        std::array::from_fn(|kind| {
            if row.keeps(kind as u32) {
                dose_of(unit, cell, row.sensings[kind].into())
            } else {
                full[kind]
            }
        })
    })
}

#[cfg(test)]
mod tests;
