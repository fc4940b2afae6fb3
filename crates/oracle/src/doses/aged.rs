//! Limits of pages whose data has error rates. They depend on the retries that a read may take and
//! on the age of the block.

use vpass_drive::base::units::BlockId;
use vpass_drive::watch::observer::{PhysRead, ReadResult};

use super::{Doses, Truth};
use crate::error_rates::{ErrorRates, Whose};
use crate::medium::{At, Medium};
use crate::noise::{Drawn, Noise};

/// Upper bound of a limit's rounding error, all factors included, in 1/1024 reads. It is one read.
pub(super) const ROUNDED: i64 = 1024;

impl Doses {
    /// Returns the limit of a page with error rates if a read takes at most this number of retries.
    /// The limit is below 0 if age alone needs more retries.
    pub(super) fn with_retries(&self, at: At, retries: u8) -> i64 {
        let rates = self.rates.as_ref().expect("the caller knows");
        let block = &self.blocks[at.block.index()];
        let pec = self.pec_of(at.block);
        let whose = Whose {
            group: self.table.group_of(at.index),
            kind: at.kind,
            step: self.steps[at.block.index()],
        };
        let limit = rates.limit(&self.table, pec, whose, retries);
        let mode = self.mode_at(at);
        let of_page = |limit: u64| {
            let of_wordline =
                self.table.in_mode(self.table.limit_of(limit, at.index, block.factor.into()), mode);
            self.table.limit_of_kind(of_wordline, at.kind).cast_signed()
        };
        if limit < 0 { -of_page(limit.unsigned_abs()) } else { of_page(limit.unsigned_abs()) }
    }

    /// Returns the lowest limit of all groups and page kinds in a block of full density, for reads
    /// with all retries. Factors of layers and of the block are left out.
    pub(super) fn least_with_retries(&self, block: BlockId, rates: &ErrorRates) -> i64 {
        let (pec, step) = (self.pec_of(block), self.steps[block.index()]);
        let whose = (0..self.table.groups())
            .flat_map(|group| (0..self.kinds).map(move |kind| Whose { group, kind, step }));
        whose
            .map(|whose| rates.limit(&self.table, pec, whose, rates.most_retries()))
            .min()
            .unwrap_or(0)
    }

    /// Returns the limit of a page if the worst wordline of its group has this limit. Without error
    /// rates, returns the page's own limit.
    pub(crate) fn limit_by(&self, at: At, of_group: impl Fn(usize) -> u64) -> u64 {
        if self.rates.is_none() {
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
        let last =
            self.rates.as_ref().map_or(0, |rates| self.with_retries(at, rates.most_retries()));
        (last < -ROUNDED, last < ROUNDED)
    }

    /// Returns the largest dose at which reads of a page need no retry.
    pub(super) fn calm(&self, at: At) -> i64 {
        let first = self.with_retries(at, 0);
        match (&self.rates, &self.noise) {
            (Some(rates), Some(noise)) => {
                rates.dose(noise.calm(), first, self.with_retries(at, rates.second_place()))
            }
            _ => first,
        }
    }

    /// Returns the lowest and the highest possible error rate of a page with this dose. Rounding of
    /// limits makes the difference.
    pub(super) fn rates_at(&self, at: At, dose: u64) -> (f64, f64) {
        let rates = self.rates.as_ref().expect("the caller knows");
        let (first, second) =
            (self.with_retries(at, 0), self.with_retries(at, rates.second_place()));
        let with = |more: i64| rates.rate((dose.cast_signed() + more) as f64, first, second);
        (with(-ROUNDED), with(ROUNDED))
    }

    /// Checks a read with randomly drawn retries; `None` if retries follow from the error rate.
    /// With `is_dull`, the drive could not know that the data may need retries, so the read is not
    /// counted as a draw.
    pub(crate) fn drawn(
        &mut self,
        medium: &Medium,
        at: At,
        read: &PhysRead,
        is_dull: bool,
    ) -> Option<Result<(), String>> {
        self.noise.as_ref()?;
        let first = self.first_level(at.block);
        let good = (read.result != ReadResult::InMemory).then_some(read.result == ReadResult::Good);
        let rates = self.rates_at(at, self.of_wordline(medium, at).dose);
        let drawn = Drawn { first, retries: read.retries, good, rates };
        let noise = self.noise.as_mut()?;
        if !is_dull {
            noise.note(drawn);
        }
        Some(if noise.is_possible(drawn) {
            Ok(())
        } else {
            Err(format!("{drawn:?} has no chance"))
        })
    }

    /// Checks that reads took as many retries as their chances say, if retries are drawn.
    pub(crate) fn check_noise(&self) -> Result<(), String> {
        self.noise.as_ref().map_or(Ok(()), Noise::check)
    }

    /// Returns the smallest and the largest possible number of retries for a read of a page.
    /// Rounding of limits makes the difference.
    pub(crate) fn retries(&self, medium: &Medium, at: At) -> (u8, u8) {
        let Some(rates) = &self.rates else { return (0, 0) };
        let dose = self.of_wordline(medium, at).dose.cast_signed();
        let enough = |dose: i64| {
            (0..rates.most_retries()).find(|retries| dose <= self.with_retries(at, *retries))
        };
        let level = self.first_level(at.block);
        let with = |dose: i64| enough(dose).unwrap_or(rates.most_retries()).saturating_sub(level);
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
    pub(crate) fn has_rates(&self) -> bool {
        self.rates.is_some()
    }

    /// Returns whether this dose is above the limit, even with the largest rounding error.
    #[inline]
    pub(crate) fn is_past(&self, at: At, truth: Truth) -> bool {
        if let Some(noise) = &self.noise {
            return noise.is_lost(self.rates_at(at, truth.dose).0);
        }
        truth.is_past()
            && (self.rates.is_none() || truth.dose.cast_signed() > truth.limit + ROUNDED)
    }

    /// Returns the largest possible rounding error of a limit.
    pub(crate) fn rounded(&self) -> u64 {
        if self.rates.is_some() { ROUNDED.cast_unsigned() } else { 0 }
    }
}
