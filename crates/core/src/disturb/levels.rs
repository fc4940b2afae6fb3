//! Limits of all page kinds and retries at one P/E count and age, worked out once for all blocks of that wear and age.

use super::limits::PageLimits;
use crate::base::dose::{Alpha, Dose};

/// What the groups of blocks of one P/E count endure at one age.
#[derive(Clone, Debug)]
pub struct Levels {
    /// Weight of a neighbour's read by group.
    alpha: Vec<Alpha>,
    /// True limits of groups, by group, page kind and level of the ladder.
    limits: Vec<Dose>,
    kinds: usize,
    retries: usize,
}

impl Levels {
    pub(super) fn of(limits: &PageLimits, pec: u32, step: usize) -> Self {
        let (groups, kinds, retries) = (limits.table.groups(), limits.kinds(), usize::from(limits.max_retries()));
        let of_kind = |group: usize, kind: usize| (0..=retries).map(move |level| limits.of_group((pec, step), group, kind, level));
        let of_group = |group: usize| (0..kinds).flat_map(move |kind| of_kind(group, kind));
        Self {
            alpha: (0..groups).map(|group| limits.table.truth(group, pec).alpha).collect(),
            limits: (0..groups).flat_map(of_group).collect(),
            kinds,
            retries,
        }
    }

    /// The weight of a neighbour's read in a group.
    #[inline]
    pub(super) fn alpha(&self, group: usize) -> Alpha {
        self.alpha[group]
    }

    /// The limits of a group and page kind, from level 0 on.
    #[inline]
    pub(super) fn of_kind(&self, group: usize, kind: usize) -> &[Dose] {
        let levels = self.retries + 1;
        &self.limits[(group * self.kinds + kind) * levels..][..levels]
    }
}
