//! Limits of pages whose data has error rates. They depend on the retries that a read may take and
//! on the age of the block.

use vpass_drive::base::dose::Dose;
use vpass_drive::base::units::{BlockId, WordlineInBlock};
use vpass_drive::error::budget::PageAt;
use vpass_drive::watch::observer::{PhysRead, ReadResult};

use super::{Doses, Stress};
use crate::medium::{At, Medium};
use crate::noise::Drawn;

/// Upper bound of a limit's rounding error, all factors included, in 1/1024 reads. It is one read.
pub(super) const ROUNDED: i64 = 1024;

impl Doses {
    /// Returns the limit of a page with error rates if a read takes at most this number of retries,
    /// or at another mark of the budget. It is below 0 if age alone needs more retries.
    pub(super) fn with_retries(&self, at: At, retries: u8) -> i64 {
        let of = (self.pec_of(at.block), self.steps[at.block.index()]);
        let group = self.table.group_of(at.index);
        let page = PageAt {
            wordline: WordlineInBlock::new(at.index),
            kind: at.kind as usize,
            block_factor: self.blocks[at.block.index()].factor.into(),
            mode: self.mode_at(at),
        };
        self.table.of_page(self.table.at_level(of, (group, at.kind), retries.into()), page)
    }

    /// Returns the lowest limit of a group's page kinds in a block of full density, for reads with
    /// all retries. Factors of layers and of the block are left out.
    pub(super) fn least_with_retries(&self, block: BlockId, group: usize) -> i64 {
        let of = (self.pec_of(block), self.steps[block.index()]);
        let level = usize::from(self.table.most_retries());
        let limit = |kind: u32| self.table.at_level(of, (group, kind), level);
        (0..self.kinds).map(limit).min().unwrap_or(0)
    }

    /// Returns the limit of a page if the worst wordline of its group has this limit. Without error
    /// rates, returns the page's own limit.
    pub(crate) fn limit_by(&self, at: At, of_group: impl Fn(usize) -> u64) -> u64 {
        if !self.has_rates() {
            return self.page(at).limit;
        }
        let of_group = of_group(self.table.group_of(at.index));
        let of_wordline =
            self.table.limit_of(of_group, at.index, self.blocks[at.block.index()].factor.into());
        self.table.limit_of_kind(self.table.in_mode(of_wordline, self.mode_at(at)), at.kind)
    }

    /// Returns whether age alone certainly makes a page need more than its last retry, and whether
    /// age possibly does. The two differ because limits are rounded.
    pub(crate) fn is_spoilt_by_age(&self, at: At) -> (bool, bool) {
        let last = self.with_retries(at, self.table.most_retries());
        (last < -ROUNDED, last < ROUNDED)
    }

    /// Returns the largest dose at which reads of a page need no retry.
    pub(super) fn calm(&self, at: At) -> i64 {
        self.with_retries(at, self.table.budget().calm() as u8)
    }

    /// Returns the lowest and the highest possible error rate of a page with this dose. Rounding of
    /// limits makes the difference.
    pub(super) fn rates_at(&self, at: At, dose: u64) -> (f64, f64) {
        let budget = self.table.budget();
        let limit = |level: usize| Dose::of_1024ths(self.with_retries(at, level as u8));
        let (first, above) = (limit(0), limit(budget.above_first()));
        let with =
            |more: i64| budget.rate(Dose::of_1024ths(dose.cast_signed() + more), first, above);
        (with(-ROUNDED), with(ROUNDED))
    }

    /// Checks a read with randomly drawn retries; `None` if retries follow from the error rate.
    pub(crate) fn drawn(
        &self,
        medium: &Medium,
        at: At,
        read: &PhysRead,
    ) -> Option<Result<(), String>> {
        let noise = self.noise.as_ref()?;
        let first = self.first_level(at.block);
        let good = (read.result != ReadResult::InMemory).then_some(read.result == ReadResult::Good);
        let rates = self.rates_at(at, self.of_wordline(medium, at).dose);
        let drawn = Drawn { first, retries: read.retries, good, rates };
        Some(if noise.is_possible(drawn) {
            Ok(())
        } else {
            Err(format!("{drawn:?} has no chance"))
        })
    }

    /// Returns the smallest and the largest possible number of retries for a read of a page.
    /// Rounding of limits makes the difference.
    pub(crate) fn retries(&self, medium: &Medium, at: At) -> (u8, u8) {
        if !self.has_rates() {
            return (0, 0);
        }
        let most = self.table.most_retries();
        let dose = self.of_wordline(medium, at).dose.cast_signed();
        let enough = |dose: i64| (0..most).find(|retries| dose <= self.with_retries(at, *retries));
        let level = self.first_level(at.block);
        let with = |dose: i64| enough(dose).unwrap_or(most).saturating_sub(level);
        (with(dose - ROUNDED), with(dose + ROUNDED))
    }

    /// Returns the level at which reads of a block begin. It is the level that worked last since
    /// the block's erase, if the drive uses that.
    #[inline]
    pub(crate) fn first_level(&self, block: BlockId) -> u8 {
        if self.first_levels.is_empty() { 0 } else { self.first_levels[block.index()] }
    }

    /// Notes that a read of a block was decoded after this number of retries.
    #[inline]
    pub(crate) fn decoded(&mut self, block: BlockId, retries: u8) {
        if let Some(level) = self.first_levels.get_mut(block.index()) {
            let worked = level.saturating_add(retries);
            // A block that is not slow yet stays as it is after a read with few retries.
            *level = if worked < self.kept_from { 0 } else { worked };
        }
    }

    /// Sets the age step of a block.
    pub(crate) fn set_step(&mut self, block: BlockId, step: u32) {
        self.steps[block.index()] = if self.keeps_time { step } else { 0 };
    }

    /// Returns whether chance decides the number of retries of a read.
    pub(crate) fn draws_retries(&self) -> bool {
        self.noise.is_some()
    }

    /// Returns whether data has error rates, so that age counts.
    #[inline]
    pub(crate) fn has_rates(&self) -> bool {
        self.table.has_rates()
    }

    /// Returns whether this dose is above the limit, even with the largest rounding error.
    #[inline]
    pub(crate) fn is_past(&self, at: At, stress: Stress) -> bool {
        if let Some(noise) = &self.noise {
            return noise.is_lost(self.rates_at(at, stress.dose).0);
        }
        stress.is_past()
            && (!self.has_rates() || stress.dose.cast_signed() > stress.limit + ROUNDED)
    }

    /// Returns the largest possible rounding error of a limit.
    pub(crate) fn rounded(&self) -> u64 {
        if self.has_rates() { ROUNDED.cast_unsigned() } else { 0 }
    }
}
