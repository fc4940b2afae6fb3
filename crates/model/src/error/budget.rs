//! One error budget for wear, age and reads: gain of a page's limit by retries, and loss by age, in
//! 1/1024 dose units.
//!
//! `limit_k(age) = C[k] - R[age]`. `C[k]` is the dose at which a fresh page needs more than k
//! retries. R is the dose that causes as many errors as the age. Both are rounded to the worse
//! side. A limit may be below 0.
//!
//! ```text
//! base 0.0015, cap_0 0.0085, ERC_MAX 700,000: a read adds 1e-8
//! cap_1 0.010625     C[0] = 700,000    C[1] = 912,500
//! age adds 0.0082    R = 820,000       limit_0 = -120,000 (a retry without any read), limit_1 = 92,500
//! ```
//!
//! With `bch.combine = "independent"`, R is 0 up to the age that uses up the budget by itself.
//! Above that age, R is larger than any C.
//!
//! `C[0]` is the limit of `[disturb]`, from [`LimitTable`]. So a page without age and retries has
//! exactly that limit. This module computes how far other levels lie above it, and R.
//!
//! The truth follows from the law at each P/E count. Only the limits of `[disturb]` are linear
//! between rows. A policy assumes the lowest limit between two rows that it sees (`floors`).

use crate::base::dose::Dose;
use crate::base::units::{Ns, WordlineInBlock};
use crate::config::{ConfigError, DriveConfig};
use crate::disturb::table::LimitTable;

use super::ages::{Ages, STEPS};
use super::chance;
use super::floors::Floors;
use super::ladder::Ladder;
use super::rate::{Aged, Rates, Worn};

/// Largest gain by retries, and largest loss by age. With them, all factors of layers, blocks,
/// kinds and guard levels together still fit. A limit is below 0 after the largest loss.
const GAINED_MAX: f64 = (1u64 << 36) as f64;
const SPENT_MAX: f64 = (1u64 << 37) as f64;
/// Ratio of an error rate just above the first cap to this cap. The difference shows the effect of
/// a read.
const ABOVE_FIRST: f64 = 1.0625;

/// Data whose limit is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Asked {
    /// Wordline group.
    pub group: usize,
    /// Page kind, LSB first.
    pub kind: usize,
    /// Number of allowed retries, or a number that stands for an error rate of no level
    /// ([`AgedLimits::above_first`], [`AgedLimits::calm`]).
    pub level: usize,
    /// Step of the data's age ([`Ages`]).
    pub step: usize,
}

/// Wear of a block and age of its data, with the terms of the laws of error rates for both.
#[derive(Clone, Copy, Debug)]
pub struct Condition {
    pec: u32,
    worn: Worn,
    /// Terms of the age; `None` if the data has no age.
    aged: Option<Aged>,
}

/// Place of a page, as far as its limit depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageAt {
    /// Number of the wordline within its block.
    pub wordline: WordlineInBlock,
    /// Page kind, LSB first.
    pub kind: usize,
    /// [`LimitTable::block_factor`] of its block.
    pub block_factor: u32,
    /// Coding of the page's wordline.
    pub mode: u8,
}

/// Limits by age and number of retries.
#[derive(Clone, Debug)]
pub struct AgedLimits {
    rates: Rates,
    ladder: Ladder,
    /// Error rates for which limits are wanted. They are the caps of all levels, a rate just above
    /// the first cap, and the rate up to which reads take no retry.
    marks: Vec<f64>,
    ages: Ages,
    floors: Floors,
}

impl AgedLimits {
    /// Returns the table of a checked configuration; `None` without error rates.
    ///
    /// # Errors
    /// Reports an impossible ladder of retries.
    pub fn of(config: &DriveConfig) -> Result<Option<Self>, ConfigError> {
        let (Some(rates), Some(ladder)) = (Rates::of(config), Ladder::of(&config.ecc)?) else {
            return Ok(None);
        };
        let noise = config
            .error
            .noise
            .then(|| chance::calm(&ladder, config.geometry.page_size.0 as u32))
            .flatten();
        let calm = noise.unwrap_or(ladder.cap(0));
        let caps = (0..=ladder.retries()).map(|level| ladder.cap(level));
        Ok(Some(Self {
            rates,
            marks: caps.chain([ABOVE_FIRST * ladder.cap(0), calm]).collect(),
            ladder,
            ages: Ages::default(),
            floors: Floors::default(),
        }))
    }

    /// Returns the ladder: caps and latencies of all retries.
    pub fn ladder(&self) -> &Ladder {
        &self.ladder
    }

    /// Returns the index of the error rate just above the first level's cap.
    pub fn above_first(&self) -> usize {
        self.ladder.retries() + 1
    }

    /// Returns the index of the error rate up to which no read takes a retry. This is the first
    /// level's cap, or [`chance::calm`] if retries are drawn.
    pub fn calm(&self) -> usize {
        self.ladder.retries() + 2
    }

    /// Returns the RBER of a page with this dose, from its limits at the first level and [just
    /// above](Self::above_first) it.
    pub fn rate(&self, dose: Dose, first: Dose, above: Dose) -> f64 {
        let (cap, step) = (self.marks[0], self.marks[self.above_first()] - self.marks[0]);
        let over = (dose - first).in_1024ths() as f64;
        if above > first {
            (cap + step * over / (above - first).in_1024ths() as f64).max(0.0)
        } else {
            // Fresh data is already beyond the first cap, so the effect of a read is unknown.
            if over > 0.0 { 1.0 } else { cap }
        }
    }

    /// Returns the error rates.
    pub fn rates(&self) -> &Rates {
        &self.rates
    }

    /// Returns the steps of age.
    pub fn ages(&self) -> &Ages {
        &self.ages
    }

    /// Returns the RBER that a dose unit adds to a page of a group's worst member; 0 if fresh data
    /// needs a retry.
    pub fn slope(&self, table: &LimitTable, pec: u32, group: usize, kind: usize) -> f64 {
        let units = table.limit_of_kinds(table.truth(group, pec).limit, 1 << kind).units();
        self.room(&self.rates.worn(pec), group, kind).map_or(0.0, |room| room / units)
    }

    /// Returns a block's wear and the age of its data, for [`Self::limit`].
    pub fn condition(&self, pec: u32, step: usize) -> Condition {
        let aged = self.ages.counts_as(step).map(|age| self.rates.aged(age));
        Condition { pec, worn: self.rates.worn(pec), aged }
    }

    /// Returns the RBER that reads may add to a fresh page before its first retry; `None` if
    /// nothing is left.
    fn room(&self, worn: &Worn, group: usize, kind: usize) -> Option<f64> {
        Some(self.ladder.cap(0) - self.rates.base_at(worn, group, kind)).filter(|room| *room > 0.0)
    }

    /// Returns the true limit of a group's worst member in the worst block, without guard levels
    /// and before `disturb.kind_factor`. This is the limit of fresh data, plus the gain by retries,
    /// minus the loss by age.
    pub fn limit(
        &self,
        table: &LimitTable,
        at: &Condition,
        (group, kind, level): (usize, usize, usize),
    ) -> i64 {
        let fresh = table.truth(group, at.pec).limit.in_1024ths();
        fresh + self.change(fresh, at, (group, kind, level))
    }

    /// Returns the true limit at a P/E count and age.
    pub fn truth(&self, table: &LimitTable, pec: u32, of: Asked) -> i64 {
        self.limit(table, &self.condition(pec, of.step), (of.group, of.kind, of.level))
    }

    /// Returns the gain by retries minus the loss by age, in 1/1024 dose units.
    fn change(
        &self,
        fresh: i64,
        at: &Condition,
        (group, kind, level): (usize, usize, usize),
    ) -> i64 {
        if self.is_too_old(at, group, level) {
            return -(SPENT_MAX as i64);
        }
        let room = self.room(&at.worn, group, kind);
        let in_dose = |rate: f64| room.map(|room| fresh as f64 * (rate / room));
        let gained =
            in_dose(self.marks[level] - self.marks[0]).unwrap_or(0.0).min(GAINED_MAX).floor();
        // If fresh data is beyond the first cap, the law leaves nothing for data with any age.
        let spent = at.aged.filter(|_| !self.rates.is_independent()).map_or(0.0, |aged| {
            in_dose(self.rates.retention_at(&at.worn, group, &aged))
                .unwrap_or(SPENT_MAX)
                .min(SPENT_MAX)
                .ceil()
        });
        gained as i64 - spent as i64
    }

    /// Returns whether age alone uses up the limit, if reads and age do not share one budget.
    fn is_too_old(&self, at: &Condition, group: usize, level: usize) -> bool {
        let old = |aged: Aged| self.rates.retention_at(&at.worn, group, &aged) > self.marks[level];
        self.rates.is_independent() && at.aged.is_some_and(old)
    }

    /// Returns the limit that a policy may assume: the lowest limit between the two rows that it
    /// sees around this P/E count.
    pub fn lookup(&self, table: &LimitTable, pec: u32, of: Asked) -> i64 {
        let (from, to) = table.lookup_rows(pec);
        if from == to {
            return self.truth(table, to, of);
        }
        let aged = self.ages.counts_as(of.step).map(|age| self.rates.aged(age));
        self.floors.lowest((from, to), of, &self.rates, |pec, worn| {
            self.limit(table, &Condition { pec, worn: *worn, aged }, (of.group, of.kind, of.level))
        })
    }

    /// Returns the limit of a page from its group's [`Self::truth`]. The factors of layer, block,
    /// page kind and guard levels also multiply the loss by age.
    pub fn of_page(&self, table: &LimitTable, group_limit: i64, page: PageAt) -> i64 {
        let of_block =
            scaled(group_limit, |limit| table.limit_of(limit, page.wordline, page.block_factor));
        let of_wordline = scaled(of_block, |limit| table.in_mode(limit, page.mode));
        Self::of_kind(table, of_wordline, page.kind)
    }

    /// Returns the limit of a page of this kind from the limit of its wordline.
    pub fn of_kind(table: &LimitTable, limit: i64, kind: usize) -> i64 {
        scaled(limit, |limit| table.limit_of_kinds(limit, 1 << kind))
    }

    /// Returns the smallest number of retries that a page needs at this dose, from its limits from
    /// level 0 on. Returns `None` if the dose is above all limits, so that the page is lost.
    pub fn retries(&self, dose: u64, limit: impl Fn(usize) -> i64) -> Option<usize> {
        (0..=self.ladder.retries()).find(|level| i128::from(dose) <= i128::from(limit(*level)))
    }

    /// Returns the age from which a page with this dose needs more retries than allowed; `None` if
    /// it never does.
    pub fn ends(&self, dose: u64, limit: impl Fn(usize) -> i64) -> Option<Ns> {
        let step = (0..STEPS).find(|step| i128::from(dose) > i128::from(limit(*step)))?;
        Some(self.ages.begin(step))
    }
}

/// Multiplies a limit by a factor of at least 1 and rounds down. A limit below 0 becomes worse by
/// one more unit.
fn scaled(limit: i64, by: impl Fn(Dose) -> Dose) -> i64 {
    let scaled = by(Dose::of_1024ths(limit.abs())).in_1024ths();
    if limit >= 0 { scaled } else { -scaled - 1 }
}
