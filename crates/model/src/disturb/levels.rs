//! Limits of all page kinds and retries at one P/E count and age. They are computed once for all
//! blocks of this wear and age.

use super::ErrorModel;
use crate::base::codings::FULL;
use crate::base::dose::{Alpha, Dose, Quarters};

/// Endurance of the groups of blocks at one P/E count and age.
#[derive(Clone, Debug)]
pub struct Levels {
    /// Weight of a neighbour's read, by group.
    alpha: Vec<Alpha>,
    /// True limits, by group, page kind and number of retries.
    limits: Vec<Dose>,
    /// Effect of age alone on pages, by group and page kind.
    by_age: Vec<ByAge>,
    kinds: usize,
    retries: usize,
    /// Whether all pages of a wordline have the same limits.
    are_kinds_alike: bool,
}

/// Effect of age alone on the pages of a group and kind.
#[derive(Clone, Copy, Debug)]
struct ByAge {
    /// Number of retries of the pages while their dose is small.
    retries: u8,
    /// Dose of a block up to which this number of retries holds in full density, whichever pages
    /// were read.
    until: Quarters,
}

impl ByAge {
    /// Computes the effect from the limits of a group and kind by level. A page's dose is at most
    /// the dose of its block times the weight of a neighbour's read.
    fn of(model: &ErrorModel, of_group: &[Dose], kind: usize, alpha: Alpha) -> Option<Self> {
        let retries = of_group.iter().position(|limit| *limit >= Dose::ZERO)?;
        let alpha = alpha.max(Alpha::ONE);
        let until =
            model.table.limit_of_kinds(model.table.in_mode(of_group[retries], FULL), 1 << kind)
                / alpha;
        Some(Self { retries: retries as u8, until })
    }

    /// Effect on pages that age alone has spoiled.
    const NEVER: Self = Self { retries: 0, until: Quarters::ZERO };
}

impl Levels {
    pub(super) fn of(model: &ErrorModel, pec: u32, step: usize) -> Self {
        let (groups, kinds, retries) =
            (model.table.groups(), model.kinds, usize::from(model.max_retries()));
        let at = &model.at(pec, step);
        let of_kind = |group: usize, kind: usize| {
            (0..=retries).map(move |level| at.of_group(group, kind, level))
        };
        let of_group = |group: usize| (0..kinds).flat_map(move |kind| of_kind(group, kind));
        let mut levels = Self {
            alpha: (0..groups).map(|group| model.table.truth(group, pec).alpha).collect(),
            limits: (0..groups).flat_map(of_group).collect(),
            by_age: vec![],
            kinds,
            retries,
            are_kinds_alike: false,
        };
        let each = (0..groups).flat_map(|group| (0..kinds).map(move |kind| (group, kind)));
        let by_age = |(group, kind): (usize, usize)| {
            ByAge::of(model, levels.of_kind(group, kind), kind, levels.alpha(group))
                .unwrap_or(ByAge::NEVER)
        };
        levels.by_age = each.map(by_age).collect();
        let of_first = |group: usize, kind: usize| {
            levels.of_kind(group, kind) == levels.of_kind(group, 0)
                && model.table.limit_of_kinds(Dose::UNIT, 1 << kind)
                    == model.table.limit_of_kinds(Dose::UNIT, 1)
        };
        levels.are_kinds_alike =
            (0..groups).all(|group| (0..kinds).all(|kind| of_first(group, kind)));
        levels
    }

    /// Returns whether all pages of a wordline have the same limits.
    pub fn are_kinds_alike(&self) -> bool {
        self.are_kinds_alike
    }

    /// Returns the number of retries of a page of a group and kind, whichever wordlines of its
    /// block were read. `block` is the dose of the block. Returns `None` if the number is not
    /// known.
    #[inline]
    pub fn whatever_was_read(&self, group: usize, kind: usize, block: Quarters) -> Option<u8> {
        let by_age = self.by_age[group * self.kinds + kind];
        (block < by_age.until).then_some(by_age.retries)
    }

    /// Returns the weight of a neighbour's read in a group.
    #[inline]
    pub(super) fn alpha(&self, group: usize) -> Alpha {
        self.alpha[group]
    }

    /// Returns the limits of a group and page kind, from level 0 on.
    #[inline]
    pub(super) fn of_kind(&self, group: usize, kind: usize) -> &[Dose] {
        let levels = self.retries + 1;
        &self.limits[(group * self.kinds + kind) * levels..][..levels]
    }
}
