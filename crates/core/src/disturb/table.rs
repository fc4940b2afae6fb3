//! Limits and neighbour weights by wordline group and P/E count, in fixed point. This is the nature
//! of the flash: the drive's error models, the policies' thresholds and the oracle all read it
//! here. The truth interpolates over P/E counts (`rows`); a policy looks up the worse of the rows
//! around (straw-2024 III).

use super::allowed::Allowed;
pub use super::rows::Endurance;
use super::rows::Rows;
use crate::base::codings::{CODINGS, Codings, FACTOR_ONE, FULL};
use crate::base::dose::{Alpha, Dose, Quarters};
use crate::base::latency::AccessLatency;
use crate::base::splitmix::fraction;
use crate::base::units::{BlockId, WordlineInBlock};
use crate::bugs::{Bug, Bugs, planted};
use crate::config::{CellType, DisturbConfig, DoseUnit, DriveConfig, ErrorLaw};
use crate::error::budget::{AgedLimits, Asked};

/// Limits of layers, blocks and page kinds over those of the worst are multiples of 1/1024.
const MEMBER_ONE: u32 = 1024;
/// Sets of page kinds: QLC has four kinds.
const KIND_SETS: usize = 16;
/// Keeps what is drawn for layers and blocks apart from the groups.
const LAYER_SALT: u64 = 1 << 40;
const BLOCK_SALT: u64 = 1 << 41;

/// What a technique looks limits up by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Worn {
    /// P/E cycles.
    pub pec: u32,
    /// Step of the age that data has or soon comes to; none for the longest that it may have.
    pub step: Option<usize>,
}

impl Worn {
    /// Data as old as it may become.
    pub fn at_longest(pec: u32) -> Self {
        Self { pec, step: None }
    }
}

/// The `[disturb]` table, ready for look-up.
#[derive(Clone, Debug)]
pub struct LimitTable {
    groups: usize,
    /// Group of each wordline in a block; the same in every block (process similarity, straw-2024
    /// \[10\]).
    group_of: Vec<u8>,
    /// Limit of each wordline over its group's, in 1/1024; the same in every block.
    member: Vec<u32>,
    block_variation: f64,
    /// Limit of the weakest of a set of page kinds, a bit each, over the wordline's, in 1/1024.
    weakest: [u32; KIND_SETS],
    /// Limits in each coding over those of full density, in 1/1024.
    by_coding: [u64; CODINGS],
    rows: Rows,
    /// What techniques may assume where data ages.
    allowed: Option<Allowed>,
    /// A bug of the drive that reads it.
    pub(crate) bugs: Bugs,
}

impl LimitTable {
    /// The table of a checked configuration; none where its error model has none.
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

    /// The table for blocks of so many wordlines, so many of them in a layer.
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
            weakest: weakest(&config.kind_factor),
            by_coding: [FACTOR_ONE; CODINGS],
            rows: Rows::new(config),
            allowed: None,
            bugs: Bugs::default(),
        }
    }

    /// Number of wordline groups.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// What decides [`Self::lookup`]: P/E counts with the same number look up the same.
    pub fn lookup_class(&self, pec: u32) -> u64 {
        let (from, to) = self.rows.around(pec);
        2 * u64::from(to) + u64::from(from == to && !planted(Bug::ClassForgetsRow))
    }

    /// The P/E counts between which limits without age and retries are linear around this one.
    pub(crate) fn stretch(&self, pec: u32) -> (u32, u32) {
        self.rows.stretch(pec)
    }

    /// The P/E counts of the rows that [`Self::lookup`] takes the worse of.
    pub(crate) fn lookup_rows(&self, pec: u32) -> (u32, u32) {
        self.rows.around(pec)
    }

    /// The next P/E count that may look up something else; none where nothing changes any more.
    pub fn next_lookup(&self, pec: u32) -> Option<u32> {
        self.rows.next_change(pec)
    }

    /// The P/E count of the table's last row; beyond it limits are extrapolated.
    pub fn last_row(&self) -> u32 {
        self.rows.last()
    }

    /// Group of a wordline, numbered within its block.
    #[inline]
    pub fn group_of(&self, wordline: WordlineInBlock) -> usize {
        usize::from(self.group_of[wordline.index()])
    }

    /// Limits of a block over those of the worst block, in 1/1024; at least 1024.
    pub fn block_factor(&self, block: BlockId) -> u32 {
        MEMBER_ONE
            + (self.block_variation
                * fraction(0, BLOCK_SALT ^ u64::from(block.number()))
                * f64::from(MEMBER_ONE)) as u32
    }

    /// The true limit of a wordline, from its group's [`Self::truth`] and its block's
    /// [`Self::block_factor`]. Never below the group's.
    #[inline]
    pub fn limit_of(
        &self,
        group_limit: Dose,
        wordline: WordlineInBlock,
        block_factor: u32,
    ) -> Dose {
        let next = self.bugs.has(Bug::NextLayer) && wordline.index() + 1 < self.member.len();
        let of_layer =
            group_limit.by_1024ths(self.member[wordline.index() + usize::from(next)].into());
        if planted(Bug::LimitRoundedOnce) {
            let unrounded = group_limit * self.member[wordline.index()] * block_factor;
            return unrounded.by_1024ths(1).by_1024ths(1);
        }
        of_layer.by_1024ths(block_factor.into())
    }

    /// The limit of the weakest of some page kinds of a wordline, a bit each and LSB first, from
    /// the wordline's [`Self::limit_of`].
    #[inline]
    pub fn limit_of_kinds(&self, wordline_limit: Dose, kinds: u32) -> Dose {
        let weakest = if self.bugs.has(Bug::StrongestKind) {
            self.weakest.iter().max()
        } else {
            self.weakest.get(kinds as usize % KIND_SETS)
        };
        wordline_limit.by_1024ths(u64::from(*weakest.expect("a number for each set")))
    }

    /// A limit in a coding, from that in full density.
    #[inline]
    pub fn in_mode(&self, limit: Dose, mode: u8) -> Dose {
        let times = if self.bugs.has(Bug::GuardFactorTwice) { 2 } else { 1 };
        if mode == FULL {
            limit
        } else {
            limit.by_1024ths(self.by_coding[usize::from(mode)] * times)
        }
    }

    /// [`Self::limit_of`] in the worst block.
    pub fn limit_of_worst_block(&self, group_limit: Dose, wordline: WordlineInBlock) -> Dose {
        self.limit_of(group_limit, wordline, MEMBER_ONE)
    }

    /// The truth about a group's worst member: linear between rows, and beyond the last as the
    /// table ended.
    pub fn truth(&self, group: usize, pec: u32) -> Endurance {
        if self.bugs.has(Bug::AlphaFloor) {
            let truth = self.rows.truth(group, pec);
            return Endurance { alpha: truth.alpha.floor(), ..truth };
        }
        let pec = if self.bugs.has(Bug::NotExtrapolated) { pec.min(self.last_row()) } else { pec };
        let group = if self.bugs.has(Bug::TruthOfFirstGroup) { 0 } else { group };
        self.rows.truth(group, if self.bugs.has(Bug::TruthOfNew) { 0 } else { pec })
    }

    /// What a policy may assume of data of an age of which the host says this, as
    /// [`Self::lookup_at`].
    pub fn lookup_worn(&self, budget: AccessLatency, group: usize, worn: Worn) -> Endurance {
        let longest = self.lookup_at(budget, group, worn.pec);
        let (Some(step), Some(allowed)) = (worn.step, &self.allowed) else { return longest };
        Endurance { limit: allowed.limit_at(self, budget, (group, worn.pec), step), ..longest }
    }

    /// The step of the longest age that data may have; none where it does not age.
    pub(crate) fn longest_step(&self) -> Option<usize> {
        self.allowed.as_ref().map(Allowed::longest)
    }

    /// What a policy may assume of data without a hint: of the two rows that it sees around this
    /// P/E count the lower limit and the higher alpha.
    pub fn lookup(&self, group: usize, pec: u32) -> Endurance {
        self.lookup_at(AccessLatency::Smallest, group, pec)
    }

    /// The same of data of which the host says this.
    pub fn lookup_at(&self, budget: AccessLatency, group: usize, pec: u32) -> Endurance {
        if let Some(distorted) = self.distorted(group, pec) {
            return distorted;
        }
        let (from, to) = self.rows.around(pec.saturating_sub(u32::from(planted(Bug::RowOfBefore))));
        let (below, above) = (self.truth(group, from), self.truth(group, to));
        let fresh = above.limit.min(below.limit);
        let limit =
            self.allowed.as_ref().map_or(fresh, |allowed| allowed.limit(self, budget, group, pec));
        let alpha = if planted(Bug::SmallerAlpha) {
            above.alpha.min(below.alpha)
        } else if planted(Bug::AlphaOfOlder) {
            above.alpha
        } else if planted(Bug::AlphaOfYounger) {
            below.alpha
        } else {
            above.alpha.max(below.alpha)
        };
        Endurance { limit, alpha }
    }

    /// The true limits by age and retries, where the drive has an error rate.
    pub(crate) fn aged(&self) -> Option<&AgedLimits> {
        self.allowed.as_ref().map(Allowed::aged)
    }

    /// The share of what fresh data of the first group bears that the longest age takes, where
    /// reads and age have one budget; all of it at most.
    pub(crate) fn taken_by_age(&self, pec: u32) -> f64 {
        let Some(allowed) =
            self.allowed.as_ref().filter(|allowed| !allowed.aged().rates().is_independent())
        else {
            return 0.0;
        };
        let left = allowed.aged().truth(
            self,
            pec,
            Asked { group: 0, kind: 0, level: 0, step: allowed.longest() },
        );
        1.0 - (Dose::of_1024ths(left).units() / self.truth(0, pec).limit.units()).clamp(0.0, 1.0)
    }

    /// What a group endures for certain: the truth or, where data ages and reads take retries, what
    /// techniques assume of it.
    pub(crate) fn endured(&self, group: usize, pec: u32) -> Endurance {
        let truth = self.truth(group, pec);
        let limit = self.allowed.as_ref().map_or(truth.limit, |allowed| {
            allowed.limit(self, AccessLatency::Smallest, group, pec).min(truth.limit)
        });
        Endurance { limit, ..truth }
    }

    /// Groups on which techniques count with more retries than a budget has room for, because age
    /// leaves them too little otherwise.
    pub fn budget_raised(&self, budget: AccessLatency, pec: u32) -> u32 {
        let raised = |allowed: &Allowed| {
            (0..self.groups).filter(|group| allowed.is_raised(self, budget, *group, pec)).count()
        };
        self.allowed.as_ref().map_or(0, raised) as u32
    }

    /// Whether age leaves techniques at most a tenth of a group's fresh limit, all retries made.
    pub(crate) fn is_used_up_by_age(&self, budget: AccessLatency, group: usize, pec: u32) -> bool {
        self.allowed.as_ref().is_some_and(|allowed| allowed.is_used_up(self, budget, group, pec))
    }

    /// Retries that techniques count with for a group's data of which the host says this; none
    /// where reads take none.
    pub fn retries_at(&self, budget: AccessLatency, group: usize, pec: u32) -> u8 {
        self.allowed.as_ref().map_or(0, |allowed| allowed.retries_at(self, budget, group, pec))
    }
}

impl LimitTable {
    /// What a policy is told of a drive with a bug in what it may assume.
    #[inline]
    fn distorted(&self, group: usize, pec: u32) -> Option<Endurance> {
        let (from, to) = self.rows.around(pec);
        if self.bugs.has(Bug::AlphaOne) {
            let limit = self.truth(group, from).limit.min(self.truth(group, to).limit);
            return Some(Endurance { limit, alpha: Alpha::ONE });
        }
        if self.bugs.has(Bug::BestGroup) {
            return (0..self.groups).map(|g| self.truth(g, to)).max_by_key(|e| e.limit);
        }
        if self.bugs.has(Bug::LimitsOfNew) {
            return Some(self.truth(group, 0));
        }
        self.bugs.has(Bug::BetterRow).then(|| self.truth(group, from))
    }
}

/// Limits of layers over their group's, in 1/1024: each group's worst layer stands at 1, the rest
/// are spread up to the group's best.
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
        MEMBER_ONE + (spread * share * f64::from(MEMBER_ONE)) as u32
    };
    let members: Vec<u32> = group_of_layer.iter().enumerate().map(member).collect();
    debug_assert!(
        members.iter().all(|factor| *factor >= MEMBER_ONE),
        "no layer is below its group's worst (`disturb::wordline`)"
    );
    members
}

/// The smallest factor of each set of page kinds, in 1/1024.
fn weakest(kind_factor: &[f64]) -> [u32; KIND_SETS] {
    let factor = |kind: usize| {
        kind_factor.get(kind).map_or(MEMBER_ONE, |f| (f * f64::from(MEMBER_ONE)) as u32)
    };
    let weakest = std::array::from_fn(|set| {
        (0..4).filter(|kind| set >> kind & 1 == 1).map(factor).min().unwrap_or(MEMBER_ONE)
    });
    debug_assert!(
        weakest.iter().all(|factor| *factor >= MEMBER_ONE),
        "no page kind is below the weakest (`disturb::wordline`)"
    );
    weakest
}

/// Dose of one sensing per page kind.
pub fn dose_per_kind(unit: DoseUnit, cell: CellType) -> [Quarters; 4] {
    let mut weights = [Quarters::UNIT; 4];
    for (weight, sensings) in weights.iter_mut().zip(cell.sensings()) {
        *weight = dose_of(unit, cell, sensings);
    }
    weights
}

/// Dose of a read that takes so many sensings.
fn dose_of(unit: DoseUnit, cell: CellType, sensings: u32) -> Quarters {
    if unit == DoseUnit::Reads {
        return Quarters::UNIT;
    }
    let exact = f64::from(Quarters::UNIT.count() * sensings * cell.bits())
        / f64::from(cell.sensings().sum::<u32>());
    Quarters::from_count((exact.round() as u32).max(1))
}

/// The same in every coding: a sensing weighs as much as in full density. A page kind that a coding
/// does without counts as there.
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
