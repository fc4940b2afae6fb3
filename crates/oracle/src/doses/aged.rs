//! Limits of pages whose data has error rates: by the retries that a read may take, and by the age
//! of the block.

use vpass_core::base::units::BlockId;
use vpass_core::watch::observer::{PhysRead, ReadResult};

use super::{Doses, Truth};
use crate::error_rates::{ErrorRates, Whose};
use crate::medium::{At, Medium};
use crate::noise::{Drawn, Noise};

/// What rounding does to a limit, all factors included, is less than this, in 1/1024: a read.
pub(super) const ROUNDED: i64 = 1024;

impl Doses {
    /// Limit of a page where its data has error rates and a read takes at most so many retries;
    /// below 0 where its age alone takes more.
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

    /// The lowest limit of the groups and page kinds of a block in full density, layers and the
    /// block's own factor apart, where a read takes all retries.
    pub(super) fn least_with_retries(&self, block: BlockId, rates: &ErrorRates) -> i64 {
        let (pec, step) = (self.pec_of(block), self.steps[block.index()]);
        let whose = (0..self.table.groups())
            .flat_map(|group| (0..self.kinds).map(move |kind| Whose { group, kind, step }));
        whose
            .map(|whose| rates.limit(&self.table, pec, whose, rates.most_retries()))
            .min()
            .unwrap_or(0)
    }

    /// The limit of a page where the worst of its group has this one; without error rates its own.
    pub(crate) fn limit_by(&self, at: At, of_group: impl Fn(usize) -> u64) -> u64 {
        if self.rates.is_none() {
            return self.page(at).limit;
        }
        let of_group = of_group(self.table.group_of(at.index));
        let of_wordline =
            self.table.limit_of(of_group, at.index, self.blocks[at.block.index()].factor.into());
        self.table.limit_of_kind(self.table.in_mode(of_wordline, self.mode_at(at)), at.kind)
    }

    /// Whether age alone takes more of a page than its last retry decodes, for certain and perhaps:
    /// a limit may be off by what rounding does.
    pub(crate) fn is_spoilt_by_age(&self, at: At) -> (bool, bool) {
        let last =
            self.rates.as_ref().map_or(0, |rates| self.with_retries(at, rates.most_retries()));
        (last < -ROUNDED, last < ROUNDED)
    }

    /// Up to which dose no read of a page takes a retry.
    pub(super) fn calm(&self, at: At) -> i64 {
        let first = self.with_retries(at, 0);
        match (&self.rates, &self.noise) {
            (Some(rates), Some(noise)) => {
                rates.dose(noise.calm(), first, self.with_retries(at, rates.second_place()))
            }
            _ => first,
        }
    }

    /// The error rate of a page of this dose, at least and at most: a limit may be off by what
    /// rounding does.
    pub(super) fn rates_at(&self, at: At, dose: u64) -> (f64, f64) {
        let rates = self.rates.as_ref().expect("the caller knows");
        let (first, second) =
            (self.with_retries(at, 0), self.with_retries(at, rates.second_place()));
        let with = |more: i64| rates.rate((dose.cast_signed() + more) as f64, first, second);
        (with(-ROUNDED), with(ROUNDED))
    }

    /// Judges a read whose retries were drawn; none where they follow. Those of data of which
    /// nobody knows beforehand that it may need retries (`is_dull`) are no draws.
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

    /// Whether reads took as many retries as their chances say, where these are drawn.
    pub(crate) fn check_noise(&self) -> Result<(), String> {
        self.noise.as_ref().map_or(Ok(()), Noise::check)
    }

    /// The retries that a read of a page takes, at least and at most: a limit may be off by what
    /// rounding does.
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

    /// The level that reads of a block begin with: the one that worked last since its erase, where
    /// that counts.
    #[inline]
    pub(crate) fn first_level(&self, block: BlockId) -> u8 {
        if self.first_levels.is_empty() { 0 } else { self.first_levels[block.index()] }
    }

    /// A read of a block was decoded after so many retries.
    #[inline]
    pub(crate) fn decoded(&mut self, block: BlockId, retries: u8) {
        if let Some(level) = self.first_levels.get_mut(block.index()) {
            *level = level.saturating_add(retries);
        }
    }

    /// The age of a block is in this step.
    pub(crate) fn set_step(&mut self, block: BlockId, step: u32) {
        self.steps[block.index()] = if self.keeps_time { step } else { 0 };
    }

    /// Whether chance decides how many retries a read takes.
    pub(crate) fn draws_retries(&self) -> bool {
        self.noise.is_some()
    }

    /// Whether data has error rates, so that age counts.
    pub(crate) fn has_rates(&self) -> bool {
        self.rates.is_some()
    }

    /// Whether a page of this dose and limit is past its limit, beyond all rounding.
    #[inline]
    pub(crate) fn is_past(&self, at: At, truth: Truth) -> bool {
        if let Some(noise) = &self.noise {
            return noise.is_lost(self.rates_at(at, truth.dose).0);
        }
        truth.is_past()
            && (self.rates.is_none() || truth.dose.cast_signed() > truth.limit + ROUNDED)
    }

    /// By what a limit may be off.
    pub(crate) fn rounded(&self) -> u64 {
        if self.rates.is_some() { ROUNDED.cast_unsigned() } else { 0 }
    }
}
