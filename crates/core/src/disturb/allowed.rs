//! The limits that techniques go by where data ages and reads may take retries: those of data as old as the drive lets it become, read with as
//! many retries as `reclaim.retries` allows.
//!
//! Where that leaves at most a tenth of the fresh limit, one retry more is allowed, and so on: a technique that went by less would rewrite
//! data for its age, over and over.
//!
//! A read that takes k retries deposits 1 + k times its dose. Techniques count the dose, but their budgets for what is still to come count
//! reads: what a job reads, at most twice each page, and the one read that goes beyond an alarm. So much times k is taken off the limit.

use super::table::{LimitTable, dose_per_kind};
use crate::base::dose::Dose;
use crate::config::DriveConfig;
use crate::error::budget::{AgedLimits, Asked};

/// What is allowed of one drive's data.
#[derive(Clone, Debug)]
pub(super) struct Allowed {
    aged: AgedLimits,
    retries: usize,
    /// Step of the longest age.
    step: usize,
    kinds: usize,
    /// Dose units that a retry may add to what a technique reserves: those far from a wordline, and those beside it.
    far: f64,
    beside: f64,
}

impl Allowed {
    /// None where the configuration has no error rate, or one that is refused.
    pub(super) fn of(config: &DriveConfig, table: &LimitTable) -> Option<Self> {
        let aged = AgedLimits::of(config, table).ok().flatten()?;
        let retries = (config.reclaim.retries as usize).min(aged.ladder().retries());
        let step = aged.ages().step(config.longest_age().0);
        let (g, kinds) = (&config.geometry, config.geometry.cell.bits());
        let dose = dose_per_kind(config.disturb.dose, g.cell).iter().take(kinds as usize).max().map_or(1.0, |most| most.units());
        let (far, beside) = (dose * f64::from(2 * g.wordlines_per_block * kinds), dose * f64::from(2 * 2 * kinds + 1));
        Some(Self { aged, retries, step, kinds: kinds as usize, far, beside })
    }

    /// The limits by age and retries behind it.
    pub(super) fn aged(&self) -> &AgedLimits {
        &self.aged
    }

    /// The retries that count on a group at a P/E count, and the limit with them.
    fn at(&self, table: &LimitTable, group: usize, pec: u32) -> (usize, Dose) {
        let limit = |level: usize, step: usize| self.with(table, (group, pec), level, step);
        let (tenth, last) = (limit(0, 0) / 10, self.aged.ladder().retries());
        let at_longest = |level: usize| (level, limit(level, self.step));
        (self.retries..=last).map(at_longest).find(|(_, limit)| *limit > tenth).unwrap_or_else(|| at_longest(last))
    }

    /// What so many retries may add to what a technique reserves of a limit.
    fn reserve(&self, table: &LimitTable, group: usize, pec: u32, level: usize) -> Dose {
        let (from, to) = table.lookup_rows(pec);
        let alpha = table.truth(group, from).alpha.max(table.truth(group, to).alpha).weight();
        Dose::ceil(level as f64 * (self.far + alpha * self.beside))
    }

    /// The limit of a group's worst member at a P/E count; 0 where no retry leaves any.
    pub(super) fn limit(&self, table: &LimitTable, group: usize, pec: u32) -> Dose {
        self.at(table, group, pec).1.max(Dose::ZERO)
    }

    /// The same at an age, with the retries that count at the longest: it only falls as data grows older.
    pub(super) fn limit_at(&self, table: &LimitTable, group: usize, pec: u32, step: usize) -> Dose {
        let (level, longest) = self.at(table, group, pec);
        let limit = if step < self.step { self.with(table, (group, pec), level, step) } else { longest };
        limit.max(Dose::ZERO)
    }

    /// The step of the longest age.
    pub(super) fn longest(&self) -> usize {
        self.step
    }

    /// The limit of a group at a P/E count, with so many retries at an age.
    fn with(&self, table: &LimitTable, (group, pec): (usize, u32), level: usize, step: usize) -> Dose {
        let of_kind = |kind| self.aged.lookup(table, pec, Asked { group, kind, level, step });
        Dose::of_1024ths((0..self.kinds).map(of_kind).min().unwrap_or(0)) - self.reserve(table, group, pec, level)
    }

    /// The retries that count on a group at a P/E count.
    pub(super) fn retries(&self, table: &LimitTable, group: usize, pec: u32) -> u32 {
        self.at(table, group, pec).0 as u32
    }

    /// Whether more retries count on a group than were asked for.
    pub(super) fn is_raised(&self, table: &LimitTable, group: usize, pec: u32) -> bool {
        self.at(table, group, pec).0 > self.retries
    }
}
