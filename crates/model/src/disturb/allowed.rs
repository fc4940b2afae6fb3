//! Limits for techniques if data ages and reads may take retries. They hold for data of the longest
//! allowed age, read with at most `reclaim.retries` retries.
//!
//! If that leaves at most a tenth of the fresh limit, more retries are allowed, one by one. With a
//! smaller limit, a technique would rewrite data again and again because of its age.
//!
//! If a host gives a hint, the hint budget limits the retries. Of all allowed numbers of retries,
//! the number with the highest limit counts. The limit is never below that of a stricter budget.
//! The share `hints.margin` of the dose at which data would be lost is always kept.
//!
//! A read that takes k retries adds 1 + k times its dose. Techniques count the dose. But their
//! reserves for future work count reads: the reads of a job, at most two per page, and the one read
//! beyond an alarm. So k times this number is subtracted from the limit.

use super::table::{LimitTable, dose_per_kind};
use crate::base::dose::Dose;
use crate::base::latency::AccessLatency;
use crate::config::DriveConfig;
use crate::error::budget::{AgedLimits, Asked};
use crate::hints::Budgets;

/// Limits that techniques use on one drive.
#[derive(Clone, Debug)]
pub(super) struct Allowed {
    /// Limits by age and retries.
    pub(super) aged: AgedLimits,
    retries: usize,
    /// Number of retries that fit into each hint budget; `None` if `reclaim.retries` limits them.
    within: [Option<usize>; AccessLatency::COUNT],
    /// Share of a limit that budgets may use: 1 minus `hints.margin`.
    given: f64,
    /// Step of the longest allowed age.
    pub(super) step: usize,
    kinds: usize,
    /// Dose units that one retry may add to a technique's reserve, by reads elsewhere in the block
    /// and by reads of neighbours.
    far: f64,
    near: f64,
}

impl Allowed {
    /// Returns `None` if the configuration has no error rate, or has an error rate that is refused.
    pub(super) fn of(config: &DriveConfig) -> Option<Self> {
        let aged = AgedLimits::of(config).ok().flatten()?;
        let retries = (config.reclaim.retries as usize).min(aged.ladder().retries());
        let step = aged.ages().step(config.longest_age().0);
        let (g, kinds) = (&config.geometry, config.geometry.cell.bits());
        let dose = dose_per_kind(config.disturb.dose, g.cell)
            .iter()
            .take(kinds as usize)
            .max()
            .map_or(1.0, |most| most.units());
        let budgets = config.hints.said.as_ref().and_then(|_| Budgets::of(config).ok().flatten());
        let within = |latency| {
            budgets
                .as_ref()
                .map(|of| of.at(latency))
                .filter(|at| at.us.is_some())
                .map(|at| usize::from(at.retries))
        };
        let (within, given) = (AccessLatency::ALL.map(within), 1.0 - config.hints.margin);
        let (far, near) = (
            dose * f64::from(2 * g.wordlines_per_block * kinds),
            dose * f64::from(2 * 2 * kinds + 1),
        );
        Some(Self { aged, retries, within, given, step, kinds: kinds as usize, far, near })
    }

    /// Returns the limits of a group of a table at a P/E count.
    pub(super) fn group<'a>(
        &'a self,
        table: &'a LimitTable,
        group: usize,
        pec: u32,
    ) -> OfGroup<'a> {
        OfGroup { allowed: self, table, group, pec }
    }
}

/// Limits of a group at a P/E count.
#[derive(Clone, Copy)]
pub(super) struct OfGroup<'a> {
    allowed: &'a Allowed,
    table: &'a LimitTable,
    group: usize,
    pec: u32,
}

impl OfGroup<'_> {
    /// Returns the limit with this number of retries, for data in this step of age.
    fn limit_with(self, level: usize, step: usize) -> Dose {
        let Self { allowed, table, group, pec } = self;
        let of_kind = |kind| allowed.aged.lookup(table, pec, Asked { group, kind, level, step });
        let limit = (0..allowed.kinds).map(of_kind).min().unwrap_or(0);
        Dose::of_1024ths(limit) - self.reserve(level)
    }

    /// Returns a tenth of the fresh limit.
    fn tenth(self) -> Dose {
        self.limit_with(0, 0) / 10
    }

    /// Returns the number of retries that count without a hint budget, and the limit with these
    /// retries.
    fn at(self) -> (usize, Dose) {
        let (tenth, last) = (self.tenth(), self.allowed.aged.ladder().retries());
        let with = |level: usize| (level, self.limit_with(level, self.allowed.step));
        (self.allowed.retries..=last)
            .map(with)
            .find(|(_, limit)| *limit > tenth)
            .unwrap_or_else(|| with(last))
    }

    /// Returns the number of retries and the limit with a hint budget. The limit is at most 0 if
    /// all retries together leave nothing.
    pub(super) fn at_budget(self, budget: AccessLatency) -> (usize, Dose) {
        let Some(within) = self.allowed.within[budget as usize] else { return self.at() };
        let (tenth, last) = (self.tenth(), self.allowed.aged.ladder().retries());
        let most = self.most(self.allowed.step);
        let with = |level: usize| (level, self.limit_with(level, self.allowed.step).min(most));
        let best = (0..=within)
            .map(with)
            .max_by_key(|(level, limit)| (*limit, std::cmp::Reverse(*level)))
            .expect("level 0 is there");
        let own = if best.1 > tenth {
            Some(best)
        } else {
            (within + 1..=last).map(with).find(|(_, limit)| *limit > tenth)
        };
        let own = own.unwrap_or_else(|| with(last));
        let tighter = budget.tighter().map(|tighter| self.at_budget(tighter));
        tighter.filter(|(_, limit)| *limit > own.1).unwrap_or(own)
    }

    /// Returns the largest dose that a hint budget allows at all. It is a share of the limit of the
    /// last retry.
    fn most(self, step: usize) -> Dose {
        let end = self.limit_with(self.allowed.aged.ladder().retries(), step);
        end.min(end.share(self.allowed.given))
    }

    /// Returns the dose that this number of retries may add to a technique's reserve.
    fn reserve(self, level: usize) -> Dose {
        let (from, to) = self.table.lookup_rows(self.pec);
        let [from, to] = [from, to].map(|pec| self.table.truth(self.group, pec).alpha);
        let alpha = from.max(to).weight();
        Dose::ceil(level as f64 * (self.allowed.far + alpha * self.allowed.near))
    }

    /// Returns the limit at an age, with the retries that count at the longest age. The limit only
    /// falls as data grows older.
    pub(super) fn limit_at(self, budget: AccessLatency, step: usize) -> Dose {
        let (level, longest) = self.at_budget(budget);
        if step >= self.allowed.step {
            return longest.max(Dose::ZERO);
        }
        let limit = self.limit_with(level, step);
        let is_bounded = self.allowed.within[budget as usize].is_some();
        if is_bounded { limit.min(self.most(step)) } else { limit }.max(Dose::ZERO)
    }

    /// Returns whether, at the longest allowed age, even all retries leave techniques less than a
    /// tenth of the fresh limit.
    pub(super) fn is_used_up(self, budget: AccessLatency) -> bool {
        self.at_budget(budget).1 <= self.tenth()
    }

    /// Returns whether more retries count than the user allowed.
    pub(super) fn is_raised(self, budget: AccessLatency) -> bool {
        let user = self.allowed.within[budget as usize].unwrap_or(self.allowed.retries);
        self.at_budget(budget).0 > user
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected values are computed by hand. With eight wordlines, a retry may add 2 x 8 dose
    /// units by reads elsewhere, and 2 x 2 + 1 = 5 by reads of neighbours. Between rows of alpha 9
    /// and 2, alpha 9 counts: 16 + 9 x 5 = 61. At the row of alpha 2, the reserve is 26.
    #[test]
    fn retries_reserve_by_the_larger_alpha_of_two_rows() {
        let text = r#"
            geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 24, wordlines_per_block = 8, cell = "slc", page_size = "4KiB" }
            timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
            drive = { spare = 0.5 }
            error = { model = "powerlaw", e = 0.001 }
            ecc = { cap = [0.0085, 0.0125], retry_decode_us = [20] }
            [disturb]
            model = "wordline"
            policy_row_cycles = 0
            table = [{ pec = 0, limit = [9000.0], alpha = [9.0] }, { pec = 1000, limit = [9000.0], alpha = [2.0] }]
        "#;
        let config = toml::from_str::<DriveConfig>(text).unwrap().resolve().unwrap();
        let (table, allowed) = (LimitTable::of(&config).unwrap(), Allowed::of(&config).unwrap());
        let reserve = |(pec, retries)| allowed.group(&table, 0, pec).reserve(retries);
        let right = [61, 61, 61, 122, 0, 26].map(|units| Dose::UNIT * units);
        assert_eq!([(0, 1), (1, 1), (999, 1), (500, 2), (500, 0), (1000, 1)].map(reserve), right);
    }
}
