//! Limits of pages: those of the drive's table (`LimitTable`) and, with error rates, of its budget
//! for age and retries (`AgedLimits`). `drive/tests/reference` compares both with arithmetic of its
//! own. The oracle looks limits up by its own counts of cycles, codings, ages and doses.

use std::cell::RefCell;
use std::collections::BTreeMap;

use vpass_drive::base::dose::Dose;
use vpass_drive::base::units::{BlockId, WordlineInBlock};
use vpass_drive::config::{CellType, DisturbModel, DoseUnit, DriveConfig};
use vpass_drive::disturb::table::{self, LimitTable};
use vpass_drive::error::budget::{AgedLimits, PageAt};

/// A dose unit in counters, which count quarters.
pub(crate) const COUNTED_UNIT: u64 = 4;
/// Weight of a distant read, in 1/256.
pub(crate) const FAR: u64 = 256;
/// A dose unit in doses and limits, which are in 1/1024.
pub(crate) const UNIT: u64 = COUNTED_UNIT * FAR;

/// Limit of a wordline, and the weight of its neighbours' reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Endurance {
    /// Dose at which data is lost, in 1/1024 dose units.
    pub(crate) limit: u64,
    /// Weight of a neighbour's read, in 1/256.
    pub(crate) alpha: u64,
}

impl Endurance {
    /// Converts limit and alpha of the drive's table.
    pub(crate) fn told(told: table::Endurance) -> Self {
        Self {
            limit: told.limit.in_1024ths().cast_unsigned(),
            alpha: told.alpha.in_256ths().into(),
        }
    }
}

/// Limits of one drive's flash.
#[derive(Debug)]
pub(crate) struct Limits {
    /// `None` if reads disturb nothing.
    table: Option<LimitTable>,
    aged: Option<Aged>,
}

/// Limits of data with error rates.
#[derive(Debug)]
struct Aged {
    limits: AgedLimits,
    kinds: usize,
    /// Limits computed so far, by P/E count and step of age.
    known: RefCell<Known>,
}

/// Limits of some P/E counts and steps of age.
#[derive(Debug, Default)]
struct Known {
    tables: Vec<((u32, u32), Vec<i64>)>,
    places: BTreeMap<(u32, u32), usize>,
    /// Table used last. The pages of a block come one after another and share it.
    last: usize,
}

impl Limits {
    pub(crate) fn new(config: &DriveConfig) -> Self {
        let aged = AgedLimits::of(config).expect("the drive has checked its ladder");
        let kinds = config.geometry.cell.bits() as usize;
        Self {
            table: LimitTable::of(config),
            aged: aged.map(|limits| Aged { limits, kinds, known: RefCell::default() }),
        }
    }

    fn table(&self) -> &LimitTable {
        self.table.as_ref().expect("reads disturb data")
    }

    /// Returns the limits of data with error rates.
    fn aged(&self) -> &Aged {
        self.aged.as_ref().expect("data has error rates")
    }

    pub(crate) fn groups(&self) -> usize {
        self.table.as_ref().map_or(1, LimitTable::groups)
    }

    /// Returns the group of a wordline, numbered within its block.
    #[inline]
    pub(crate) fn group_of(&self, wordline: u32) -> usize {
        self.table.as_ref().map_or(0, |table| table.group_of(WordlineInBlock::new(wordline)))
    }

    /// Returns the ratio of a block's limits to those of the worst block, in 1/1024.
    pub(crate) fn block_factor(&self, block: BlockId) -> u32 {
        self.table.as_ref().map_or(1024, |table| table.block_factor(block))
    }

    /// Returns limit and alpha of a group's worst layer after this number of cycles.
    pub(crate) fn truth(&self, group: usize, pec: u32) -> Endurance {
        Endurance::told(self.table().truth(group, pec))
    }

    /// Returns the limit of a wordline's weakest page kind, from its group's limit and its block's
    /// factor.
    #[inline]
    pub(crate) fn limit_of(&self, of_group: u64, wordline: u32, block_factor: u32) -> u64 {
        let of_group = Dose::of_1024ths(of_group.cast_signed());
        let wordline = WordlineInBlock::new(wordline);
        self.table().limit_of(of_group, wordline, block_factor).in_1024ths().cast_unsigned()
    }

    /// Returns the limit of a page kind, from its wordline's limit.
    #[inline]
    pub(crate) fn limit_of_kind(&self, of_wordline: u64, kind: u32) -> u64 {
        let of_wordline = Dose::of_1024ths(of_wordline.cast_signed());
        self.table().limit_of_kinds(of_wordline, 1 << kind).in_1024ths().cast_unsigned()
    }

    /// Returns the lowest limit of these page kinds. A limit below 0 stays as it is.
    pub(crate) fn least_of_kinds(&self, limit: i64, kinds: u32) -> i64 {
        if limit < 0 {
            return limit;
        }
        self.table().limit_of_kinds(Dose::of_1024ths(limit), (1 << kinds) - 1).in_1024ths()
    }

    /// Returns a limit in a coding mode, which may leave guard levels.
    #[inline]
    pub(crate) fn in_mode(&self, limit: u64, mode: u8) -> u64 {
        self.table()
            .in_mode(Dose::of_1024ths(limit.cast_signed()), mode)
            .in_1024ths()
            .cast_unsigned()
    }

    /// Returns whether data has error rates, so that age counts and reads take retries.
    #[inline]
    pub(crate) fn has_rates(&self) -> bool {
        self.aged.is_some()
    }

    /// Returns the budget of data with error rates.
    pub(crate) fn budget(&self) -> &AgedLimits {
        &self.aged().limits
    }

    /// Returns the largest number of retries of a read; 0 without error rates.
    pub(crate) fn most_retries(&self) -> u8 {
        self.aged.as_ref().map_or(0, |aged| aged.limits.ladder().retries() as u8)
    }

    /// Returns the limit of a group's worst layer in the worst block, in 1/1024, at this P/E count
    /// and step of age, for reads with this number of retries or at another mark of the budget.
    /// Below 0 if age alone needs more retries.
    pub(crate) fn at_level(
        &self,
        of: (u32, u32),
        (group, kind): (usize, u32),
        level: usize,
    ) -> i64 {
        let Aged { limits, kinds, known } = self.aged();
        let levels = limits.calm() + 1;
        let mut known = known.borrow_mut();
        known.limits(of, || {
            let condition = limits.condition(of.0, of.1 as usize);
            let all = (0..self.groups())
                .flat_map(|group| (0..*kinds).map(move |kind| (group, kind)))
                .flat_map(|(group, kind)| (0..levels).map(move |level| (group, kind, level)));
            all.map(|of| limits.limit(self.table(), &condition, of)).collect()
        })[(group * kinds + kind as usize) * levels + level]
    }

    /// Returns the limit of a page from that of its group.
    pub(crate) fn of_page(&self, of_group: i64, page: PageAt) -> i64 {
        self.budget().of_page(self.table(), of_group, page)
    }
}

impl Known {
    /// Returns the limits of this P/E count and step of age.
    fn limits(&mut self, of: (u32, u32), compute: impl FnOnce() -> Vec<i64>) -> &[i64] {
        if self.tables.get(self.last).is_none_or(|(known, _)| *known != of) {
            self.last = *self.places.entry(of).or_insert(self.tables.len());
            if self.last == self.tables.len() {
                self.tables.push((of, compute()));
            }
        }
        &self.tables[self.last].1
    }
}

/// Returns whether every read of a block counts equally for all its pages, including the pages of
/// the wordline that is read. The match names every model, so that a new model needs an entry here.
pub(crate) fn counts_alike(model: DisturbModel) -> bool {
    match model {
        DisturbModel::Count => true,
        DisturbModel::None | DisturbModel::Wordline => false,
    }
}

/// Returns the dose of a read of each page kind in full density, in quarters.
pub(crate) fn doses(unit: DoseUnit, cell: CellType) -> [u32; 4] {
    let mut doses = [4; 4];
    for (dose, sensings) in doses.iter_mut().zip(cell.sensings()) {
        *dose = dose_of(unit, cell, sensings);
    }
    doses
}

/// Returns the dose of a read with this number of sensings, in quarters. By `disturb.dose`, it is
/// one read, or the sensings over the mean of a wordline's kinds.
pub(crate) fn dose_of(unit: DoseUnit, cell: CellType, sensings: u32) -> u32 {
    let mean = f64::from(cell.sensings().sum::<u32>()) / f64::from(cell.bits());
    if unit == DoseUnit::Sensings {
        ((4.0 * f64::from(sensings) / mean).round() as u32).max(1)
    } else {
        4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sensings_weigh_by_kind() {
        assert_eq!(doses(DoseUnit::Reads, CellType::Tlc), [4; 4]);
        // TLC has 1, 2 and 4 sensings, and their mean is 7/3. This gives 1.7, 3.4 and 6.9 quarters.
        assert_eq!(doses(DoseUnit::Sensings, CellType::Tlc), [2, 3, 7, 4]);
        assert_eq!(doses(DoseUnit::Sensings, CellType::Qlc), [1, 2, 4, 9]);
        assert_eq!(doses(DoseUnit::Sensings, CellType::Tlc232), [3, 5, 3, 4]);
        assert_eq!(dose_of(DoseUnit::Sensings, CellType::Tlc232, 1), 2);
    }
}
