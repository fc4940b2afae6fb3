//! The limits that techniques go by where data ages and reads may take retries: those of data as old as the drive lets it become, read with as
//! many retries as `reclaim.retries` allows.
//!
//! Where that leaves at most a tenth of the fresh limit, one retry more is allowed, and so on: a technique that went by less would rewrite
//! data for its age, over and over.

use super::table::LimitTable;
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
}

impl Allowed {
    /// None where the configuration has no error rate, or one that is refused.
    pub(super) fn of(config: &DriveConfig, table: &LimitTable) -> Option<Self> {
        let aged = AgedLimits::of(config, table).ok().flatten()?;
        let retries = (config.reclaim.retries as usize).min(aged.ladder().retries());
        let step = aged.ages().step(config.error.longest_age.0);
        Some(Self { aged, retries, step, kinds: config.geometry.cell.bits() as usize })
    }

    /// The retries that count on a group at a P/E count, and the limit with them.
    fn at(&self, table: &LimitTable, group: usize, pec: u32) -> (usize, i64) {
        let limit = |level: usize, step: usize| {
            let of_kind = |kind| self.aged.lookup(table, pec, Asked { group, kind, level, step });
            (0..self.kinds).map(of_kind).min().unwrap_or(0)
        };
        let (least, last) = (limit(0, 0) / 10, self.aged.ladder().retries());
        let with = |level: usize| (level, limit(level, self.step));
        (self.retries..=last).map(with).find(|(_, limit)| *limit > least).unwrap_or_else(|| with(last))
    }

    /// The limit of a group's worst member at a P/E count; 0 where no retry leaves any.
    pub(super) fn limit(&self, table: &LimitTable, group: usize, pec: u32) -> u64 {
        self.at(table, group, pec).1.max(0).cast_unsigned()
    }

    /// Whether more retries count on a group than were asked for.
    pub(super) fn is_raised(&self, table: &LimitTable, group: usize, pec: u32) -> bool {
        self.at(table, group, pec).0 > self.retries
    }
}
