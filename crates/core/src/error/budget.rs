//! One budget for wear, age and reads: what retries add to a page's limit and what age takes from
//! it, in 1/1024 dose units.
//!
//! `limit_k(age) = C[k] - R[age]`, with C the dose at which a fresh page needs more than k retries,
//! and R the dose that would do as much harm as its age has done. Both are rounded to the worse
//! side; a limit may be below 0.
//!
//! ```text
//! base 0.0015, cap_0 0.0085, ERC_MAX 700,000: a read adds 1e-8
//! cap_1 0.010625     C[0] = 700,000    C[1] = 912,500
//! age adds 0.0082    R = 820,000       limit_0 = -120,000 (a retry without any read), limit_1 = 92,500
//! ```
//!
//! With `bch.combine = "independent"` R is 0 up to the age that leaves nothing by itself, and then
//! more than any C.
//!
//! `C[0]` is `[disturb]`'s own limit, taken from [`LimitTable`] so that a page without age and
//! retries has today's limit to the unit. What is worked out here is how far other levels are above
//! it, and R.
//!
//! The truth follows from the law at each P/E count: only the limits of `[disturb]` are linear
//! between rows. A policy assumes the lowest limit from one row that it sees to the next
//! (`floors`).

use crate::base::dose::Dose;
use crate::base::units::{Ns, WordlineInBlock};
use crate::bugs::{Bug, planted};
use crate::config::{ConfigError, DriveConfig};
use crate::disturb::table::LimitTable;

use super::ages::{Ages, STEPS};
use super::chance;
use super::floors::Floors;
use super::ladder::Ladder;
use super::rate::{Aged, Rates, Worn};

/// Most that retries add, and that age takes: all factors of layers, blocks, kinds and guard levels
/// together still fit. Whatever age takes so much from has less than nothing left.
const GAINED_MAX: f64 = (1u64 << 36) as f64;
const SPENT_MAX: f64 = (1u64 << 37) as f64;
/// An error rate just above the first cap, over that: what lies between tells what a read adds.
const ABOVE_FIRST: f64 = 1.0625;

/// Whose limit is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Asked {
    /// Wordline group.
    pub group: usize,
    /// Page kind, LSB first.
    pub kind: usize,
    /// Retries that may be made; or, by number, an error rate that is no level's
    /// ([`AgedLimits::above_first`], [`AgedLimits::calm`]).
    pub level: usize,
    /// Step of the data's age ([`Ages`]).
    pub step: usize,
}

/// Wear of a block and age of its data, with what the laws of error rates make of both.
#[derive(Clone, Copy, Debug)]
pub struct Condition {
    pec: u32,
    worn: Worn,
    /// None where data has no age.
    aged: Option<Aged>,
}

/// Where a page lies, as far as its limit depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageAt {
    /// Wordline within its block.
    pub wordline: WordlineInBlock,
    /// Page kind, LSB first.
    pub kind: usize,
    /// [`LimitTable::block_factor`] of its block.
    pub block_factor: u32,
    /// Coding of its wordline: how many page kinds it takes away.
    pub mode: u8,
}

/// Limits by age and retries.
#[derive(Clone, Debug)]
pub struct AgedLimits {
    rates: Rates,
    ladder: Ladder,
    /// The error rates that limits are asked for: the caps of all levels, one just above the first,
    /// and the one up to which reads take no retry.
    marks: Vec<f64>,
    ages: Ages,
    floors: Floors,
}

impl AgedLimits {
    /// The table of a checked configuration; none where it says nothing of errors.
    ///
    /// # Errors
    /// A ladder that cannot be.
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

    /// The retries, their caps and latencies.
    pub fn ladder(&self) -> &Ladder {
        &self.ladder
    }

    /// The number of the error rate that is just above the first level's cap.
    pub fn above_first(&self) -> usize {
        self.ladder.retries() + 1
    }

    /// The number of the error rate up to which no read takes a retry: the first level's cap, or
    /// where retries are drawn ([`chance::calm`]).
    pub fn calm(&self) -> usize {
        self.ladder.retries() + 2
    }

    /// RBER of a page that has taken this dose, by its limits at the first level and [just
    /// above](Self::above_first) it.
    pub fn rate(&self, dose: Dose, first: Dose, above: Dose) -> f64 {
        let (cap, step) = (self.marks[0], self.marks[self.above_first()] - self.marks[0]);
        let over = (dose - first).in_1024ths() as f64;
        if above > first {
            (cap + step * over / (above - first).in_1024ths() as f64).max(0.0)
        } else {
            // Fresh data is past the first cap already, and nothing says what a read adds.
            if over > 0.0 { 1.0 } else { cap }
        }
    }

    /// The error rates behind it.
    pub fn rates(&self) -> &Rates {
        &self.rates
    }

    /// The steps of age.
    pub fn ages(&self) -> &Ages {
        &self.ages
    }

    /// RBER that a dose unit adds to a page of a group's worst member; nothing where fresh data is
    /// not decoded without retry any more.
    pub fn slope(&self, table: &LimitTable, pec: u32, group: usize, kind: usize) -> f64 {
        let units = table.limit_of_kinds(table.truth(group, pec).limit, 1 << kind).units();
        self.room(&self.rates.worn(pec), group, kind).map_or(0.0, |room| room / units)
    }

    /// A block's wear and the age of its data, for [`Self::limit`].
    pub fn condition(&self, pec: u32, step: usize) -> Condition {
        let aged = self.ages.counts_as(step).map(|age| self.rates.aged(age));
        Condition { pec, worn: self.rates.worn(pec), aged }
    }

    /// What reads may add to a fresh page before its first retry; none where there is nothing left.
    fn room(&self, worn: &Worn, group: usize, kind: usize) -> Option<f64> {
        Some(self.ladder.cap(0) - self.rates.base_at(worn, group, kind)).filter(|room| *room > 0.0)
    }

    /// The true limit of a group's worst member in the worst block, without guard levels and before
    /// `disturb.kind_factor`: fresh data's, with what retries add and less what age takes.
    pub fn limit(
        &self,
        table: &LimitTable,
        at: &Condition,
        (group, kind, level): (usize, usize, usize),
    ) -> i64 {
        let fresh = table.truth(group, at.pec).limit.in_1024ths();
        if planted(Bug::BudgetBetweenRows) {
            return fresh + self.between_rows(table, at, (group, kind, level));
        }
        fresh + self.change(fresh, at, (group, kind, level))
    }

    /// What retries add and age takes where a bug takes it as linear between the rows of
    /// `disturb.table`.
    fn between_rows(&self, table: &LimitTable, at: &Condition, of: (usize, usize, usize)) -> i64 {
        let (from, to) = table.stretch(at.pec);
        let row = |pec: u32| {
            let fresh = table.truth(of.0, pec).limit.in_1024ths();
            self.change(fresh, &Condition { pec, worn: self.rates.worn(pec), ..*at }, of)
        };
        let share = if to > from { f64::from(at.pec - from) / f64::from(to - from) } else { 0.0 };
        let (below, above) = (row(from) as f64, row(to) as f64);
        (below + share * (above - below)).floor() as i64
    }

    /// The true limit at a P/E count and age, where one is asked for.
    pub fn truth(&self, table: &LimitTable, pec: u32, of: Asked) -> i64 {
        self.limit(table, &self.condition(pec, of.step), (of.group, of.kind, of.level))
    }

    /// What retries add and age takes, in 1/1024 dose units.
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
        // Where fresh data is past the first cap the law leaves nothing of data that has any age.
        let spent = at.aged.filter(|_| !self.rates.is_independent()).map_or(0.0, |aged| {
            in_dose(self.rates.retention_at(&at.worn, group, &aged))
                .unwrap_or(SPENT_MAX)
                .min(SPENT_MAX)
                .ceil()
        });
        gained as i64 - spent as i64
    }

    /// Whether age alone is too much, where reads do not count beside it.
    fn is_too_old(&self, at: &Condition, group: usize, level: usize) -> bool {
        let old = |aged: Aged| self.rates.retention_at(&at.worn, group, &aged) > self.marks[level];
        self.rates.is_independent() && !planted(Bug::AgeAloneForgotten) && at.aged.is_some_and(old)
    }

    /// What a policy may assume of it: the lowest limit from one row that it sees around this P/E
    /// count to the other.
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

    /// The limit of a page, from its group's [`Self::truth`]: layer, block, page kind and guard
    /// levels multiply what age takes as they do the rest.
    pub fn of_page(&self, table: &LimitTable, group_limit: i64, page: PageAt) -> i64 {
        let of_block =
            scaled(group_limit, |limit| table.limit_of(limit, page.wordline, page.block_factor));
        let of_wordline = scaled(of_block, |limit| table.in_mode(limit, page.mode));
        Self::of_kind(table, of_wordline, page.kind)
    }

    /// The limit of a page of this kind, from that of its wordline.
    pub fn of_kind(table: &LimitTable, limit: i64, kind: usize) -> i64 {
        scaled(limit, |limit| table.limit_of_kinds(limit, 1 << kind))
    }

    /// The fewest retries that a dose needs of a page, by its limits from level 0 on; none where
    /// all are passed and the page is lost.
    pub fn retries(&self, dose: u64, limit: impl Fn(usize) -> i64) -> Option<usize> {
        (0..=self.ladder.retries()).find(|level| i128::from(dose) <= i128::from(limit(*level)))
    }

    /// The age from which on a page that has taken this dose needs more retries than these; none
    /// where no step of age brings it there.
    pub fn ends(&self, dose: u64, limit: impl Fn(usize) -> i64) -> Option<Ns> {
        let step = (0..STEPS).find(|step| i128::from(dose) > i128::from(limit(*step)))?;
        Some(self.ages.begin(step))
    }
}

/// A limit times a factor of at least 1 that rounds down, also where it is below 0: there it
/// becomes worse by a unit more.
fn scaled(limit: i64, by: impl Fn(Dose) -> Dose) -> i64 {
    let scaled = by(Dose::of_1024ths(limit.abs())).in_1024ths();
    if limit >= 0 { scaled } else { -scaled - 1 }
}
