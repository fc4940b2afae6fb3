//! One budget for wear, age and reads: what retries add to a page's limit and what age takes from it, in 1/1024 dose units.
//!
//! `limit_k(age) = C[k] - R[age]`, with C the dose at which a fresh page needs more than k retries, and R the dose that would do as much harm as
//! its age has done. Both are tables by row, group and page kind, rounded to the worse side; a limit may be below 0.
//!
//! ```text
//! base 0.0015, cap_0 0.0085, ERC_MAX 700,000: a read adds 1e-8
//! cap_1 0.010625     C[0] = 700,000    C[1] = 912,500
//! age adds 0.0082    R = 820,000       limit_0 = -120,000 (a retry without any read), limit_1 = 92,500
//! ```
//!
//! With `bch.combine = "independent"` R is 0 up to the age that leaves nothing by itself, and then more than any C.
//!
//! `C[0]` is `[disturb]`'s own limit, taken from [`LimitTable`] so that a page without age and retries has today's limit to the unit. What is
//! kept here is how far other levels are above it, and R. Rows are those of `disturb.table`, and beyond the last one those that `[disturb]`
//! goes on with. The truth is linear between two rows, in whole numbers. A policy takes the worse of the two rows that it sees around.

use crate::base::dose::Dose;
use crate::base::units::{Ns, WordlineInBlock};
use crate::bugs::{Bug, planted};
use crate::config::{ConfigError, DriveConfig};
use crate::disturb::table::LimitTable;

use super::ages::{Ages, STEPS};
use super::chance;
use super::ladder::Ladder;
use super::rate::Rates;

/// Most that retries add, and that age takes: all factors of layers, blocks, kinds and guard levels together still fit. Whatever age takes
/// so much from has less than nothing left.
const GAINED_MAX: f64 = (1u64 << 36) as f64;
const SPENT_MAX: f64 = (1u64 << 37) as f64;
/// An error rate just above the first cap, over that: what lies between tells what a read adds.
const ABOVE_FIRST: f64 = 1.0625;

/// Whose limit is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Wordline group.
    pub group: usize,
    /// Page kind, LSB first.
    pub kind: usize,
    /// Retries that may be made; or, by number, an error rate that is no level's ([`AgedLimits::above_first`], [`AgedLimits::calm`]).
    pub level: usize,
    /// Step of the data's age ([`Ages`]).
    pub step: usize,
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
    /// The error rates that limits are asked for: the caps of all levels, one just above the first, and the one up to which reads take no retry.
    marks: Vec<f64>,
    ages: Ages,
    groups: usize,
    kinds: usize,
    /// P/E counts of the rows.
    rows: Vec<u32>,
    /// C\[k\] - C\[0\] by row, group, kind and level.
    gained: Vec<i64>,
    /// R by row, group, kind and step.
    spent: Vec<i64>,
}

impl AgedLimits {
    /// The table of a checked configuration; none where it says nothing of errors.
    ///
    /// # Errors
    /// A ladder that cannot be.
    pub fn of(config: &DriveConfig, table: &LimitTable) -> Result<Option<Self>, ConfigError> {
        let (Some(rates), Some(ladder)) = (Rates::of(config), Ladder::of(&config.ecc)?) else { return Ok(None) };
        let noise = config.error.noise.then(|| chance::calm(&ladder, config.geometry.page_size.0 as u32)).flatten();
        let calm = noise.unwrap_or(ladder.cap(0));
        let caps = (0..=ladder.retries()).map(|level| ladder.cap(level));
        let mut limits = Self {
            rates,
            marks: caps.chain([ABOVE_FIRST * ladder.cap(0), calm]).collect(),
            ladder,
            ages: Ages::default(),
            groups: table.groups(),
            kinds: config.geometry.cell.bits() as usize,
            rows: config.disturb.table.iter().map(|row| row.pec).collect(),
            gained: vec![],
            spent: vec![],
        };
        limits.fill(table);
        Ok(Some(limits))
    }

    fn fill(&mut self, table: &LimitTable) {
        let (mut gained, mut spent) = (vec![], vec![]);
        for row in &self.rows {
            for group in 0..self.groups {
                for kind in 0..self.kinds {
                    gained.extend((0..self.marks.len()).map(|level| self.gained_at(table, *row, group, kind, level)));
                    spent.extend((0..STEPS).map(|step| self.spent_at(table, *row, group, kind, step)));
                }
            }
        }
        (self.gained, self.spent) = (gained, spent);
    }

    /// The retries, their caps and latencies.
    pub fn ladder(&self) -> &Ladder {
        &self.ladder
    }

    /// The number of the error rate that is just above the first level's cap.
    pub fn above_first(&self) -> usize {
        self.ladder.retries() + 1
    }

    /// The number of the error rate up to which no read takes a retry: the first level's cap, or where retries are drawn ([`chance::calm`]).
    pub fn calm(&self) -> usize {
        self.ladder.retries() + 2
    }

    /// RBER of a page that has taken this dose, by its limits at the first level and [just above](Self::above_first) it.
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

    /// RBER that a dose unit adds to a page of a group's worst member; nothing where fresh data is not decoded without retry any more.
    pub fn slope(&self, table: &LimitTable, pec: u32, group: usize, kind: usize) -> f64 {
        let units = table.limit_of_kinds(table.truth(group, pec).limit, 1 << kind).units();
        self.room(pec, group, kind).map_or(0.0, |room| room / units)
    }

    /// What reads may add to a fresh page before its first retry; none where there is nothing left.
    fn room(&self, pec: u32, group: usize, kind: usize) -> Option<f64> {
        Some(self.ladder.cap(0) - self.rates.base(pec, group, kind)).filter(|room| *room > 0.0)
    }

    /// C\[k\] - C\[0\] in a row, in 1/1024 dose units.
    fn gained_at(&self, table: &LimitTable, row: u32, group: usize, kind: usize, level: usize) -> i64 {
        let more = self.marks[level] - self.marks[0];
        let gained = self.room(row, group, kind).map_or(0.0, |room| table.truth(group, row).limit.in_1024ths() as f64 * (more / room));
        gained.min(GAINED_MAX).floor() as i64
    }

    /// R in a row. Where fresh data is past the first cap the law leaves nothing of data that has any age.
    fn spent_at(&self, table: &LimitTable, row: u32, group: usize, kind: usize, step: usize) -> i64 {
        let Some(age) = self.ages.counts_as(step).filter(|_| !self.rates.is_independent()) else { return 0 };
        let lost = self.rates.retention(row, group, age);
        let spent = self.room(row, group, kind).map_or(SPENT_MAX, |room| table.truth(group, row).limit.in_1024ths() as f64 * (lost / room));
        spent.min(SPENT_MAX).ceil() as i64
    }

    /// What retries add and age takes in a row; computed for rows beyond the table's own.
    fn at_row(&self, table: &LimitTable, row: u32, of: Asked) -> i64 {
        let Ok(number) = self.rows.binary_search(&row) else {
            return self.gained_at(table, row, of.group, of.kind, of.level) - self.spent_at(table, row, of.group, of.kind, of.step);
        };
        let cell = (number * self.groups + of.group) * self.kinds + of.kind;
        self.gained[cell * self.marks.len() + of.level] - self.spent[cell * STEPS + of.step]
    }

    /// What retries add and age takes at a P/E count: linear between rows, rounded down.
    fn change(&self, table: &LimitTable, pec: u32, of: Asked) -> i64 {
        if self.is_too_old(pec, of) {
            return -(SPENT_MAX as i64);
        }
        let (from, to) = table.stretch(pec);
        if from == to {
            return self.at_row(table, to, of);
        }
        let (below, above) = (self.at_row(table, from, of), self.at_row(table, to, of));
        let (done, whole) = (i128::from(pec - from), i128::from(to - from));
        let mixed = i128::from(below) * (whole - done) + i128::from(above) * done;
        mixed.div_euclid(whole) as i64
    }

    /// Whether age alone is too much, where reads do not count beside it.
    fn is_too_old(&self, pec: u32, of: Asked) -> bool {
        let old = |age| self.rates.retention(pec, of.group, age) > self.marks[of.level];
        self.rates.is_independent() && !planted(Bug::AgeAloneForgotten) && self.ages.counts_as(of.step).is_some_and(old)
    }

    /// The true limit of a group's worst member in the worst block, without guard levels and before `disturb.kind_factor`.
    pub fn truth(&self, table: &LimitTable, pec: u32, of: Asked) -> i64 {
        table.truth(of.group, pec).limit.in_1024ths() + self.change(table, pec, of)
    }

    /// What a policy may assume of it: the lower one of the two rows that it sees around this P/E count, and never more than the truth.
    pub fn lookup(&self, table: &LimitTable, pec: u32, of: Asked) -> i64 {
        let (from, to) = table.lookup_rows(pec);
        let (below, above) = (self.change(table, from, of), self.change(table, to, of));
        // Each of the two terms is rounded down by itself; between the rows that may cost another unit.
        let rounding = i64::from(from != to && (below != 0 || above != 0));
        let limit = |pec: u32, change: i64| table.truth(of.group, pec).limit.in_1024ths() + change;
        limit(from, below).min(limit(to, above)) - rounding
    }

    /// The limit of a page, from its group's [`Self::truth`]: layer, block, page kind and guard levels multiply what age takes as they do
    /// the rest.
    pub fn of_page(&self, table: &LimitTable, group_limit: i64, page: PageAt) -> i64 {
        let of_block = scaled(group_limit, |limit| table.limit_of(limit, page.wordline, page.block_factor));
        let of_wordline = scaled(of_block, |limit| table.in_mode(limit, page.mode));
        Self::of_kind(table, of_wordline, page.kind)
    }

    /// The limit of a page of this kind, from that of its wordline.
    pub fn of_kind(table: &LimitTable, limit: i64, kind: usize) -> i64 {
        scaled(limit, |limit| table.limit_of_kinds(limit, 1 << kind))
    }

    /// The fewest retries that a dose needs of a page, by its limits from level 0 on; none where all are passed and the page is lost.
    pub fn retries(&self, dose: u64, limit: impl Fn(usize) -> i64) -> Option<usize> {
        (0..=self.ladder.retries()).find(|level| i128::from(dose) <= i128::from(limit(*level)))
    }

    /// The age from which on a page that has taken this dose needs more retries than these; none where no step of age brings it there.
    pub fn ends(&self, dose: u64, limit: impl Fn(usize) -> i64) -> Option<Ns> {
        let step = (0..STEPS).find(|step| i128::from(dose) > i128::from(limit(*step)))?;
        Some(self.ages.begin(step))
    }
}

/// A limit times a factor of at least 1 that rounds down, also where it is below 0: there it becomes worse by a unit more.
fn scaled(limit: i64, by: impl Fn(Dose) -> Dose) -> i64 {
    let scaled = by(Dose::of_1024ths(limit.abs())).in_1024ths();
    if limit >= 0 { scaled } else { -scaled - 1 }
}
