//! Endurance of each wordline group by P/E count. This module has the true values between and
//! beyond the rows of the table, and the closer rows that policies use.
//!
//! The truth is linear between the rows of `disturb.table`, and constant below the first row.
//! Beyond the last row, it continues like the last stretch of the table. Each further stretch of
//! the same length reduces a limit by the same share and adds the same amount to alpha. A table of
//! one row holds everywhere. A policy sees a row every `disturb.policy_row_cycles` cycles, and the
//! rows of the table. At such a row, it uses the row's values; between two rows, the lower limit
//! and the higher alpha. The truth has no corner between two such rows, so it is never worse there.
//!
//! ```text
//! rows at 0 (limit 2,000), 1,000 (1,000)     truth      500: 1,500     550: 1,450     1,000: 1,000     2,000: 500     2,500: 375
//! a policy's rows every 100 cycles                      500: 1,500     501 to 600: 1,400               1,900: 550
//! by the table's own rows (policy_row_cycles = 0)       500: 1,000     501 to 1,000: 1,000
//! ```
//!
//! If data has error rates, these depend on wear everywhere. A policy then also sees rows below the
//! first row, and beyond a single row.

use crate::base::dose::{Alpha, Dose};
use crate::config::{ALPHA_MAX, DisturbConfig, PerPec};

/// Endurance of a wordline, and the effect of its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endurance {
    /// Dose at which data is lost.
    pub limit: Dose,
    /// Weight of a neighbour's read.
    pub alpha: Alpha,
}

/// Limits (in dose units) and alphas, by P/E count and group.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    pec: Vec<u32>,
    limit: Vec<Vec<f64>>,
    alpha: Vec<Vec<f64>>,
    /// Number of cycles between two rows that a policy sees; 0 for only the rows of the table.
    step: u32,
    /// Whether data has error rates.
    has_rates: bool,
}

/// Number of cycles between two rows that a policy sees beyond a single row, if none is given.
const BEYOND_SINGLE: u32 = 100;

impl Rows {
    pub(super) fn new(config: &DisturbConfig) -> Self {
        let groups = config.groups.len();
        let alpha_of = |row: &PerPec| {
            if config.model.has_neighbours() { row.alpha.clone() } else { vec![1.0; groups] }
        };
        let rows = config.table.iter();
        Self {
            pec: rows.clone().map(|r| r.pec).collect(),
            limit: rows.clone().map(|r| r.limit.clone()).collect(),
            alpha: rows.map(alpha_of).collect(),
            step: config.policy_row_cycles,
            has_rates: false,
        }
    }

    /// Returns these rows. `has_rates` tells whether data on the flash has error rates.
    pub(super) fn with_rates(self, has_rates: bool) -> Self {
        Self { has_rates, ..self }
    }

    /// Returns the true endurance of a group.
    pub(super) fn truth(&self, group: usize, pec: u32) -> Endurance {
        let row = self.row_from(pec);
        let (at, above) = (self.at(row), self.values(row, group));
        if row == 0 || at <= u64::from(pec) {
            return fixed(above);
        }
        let (from, below) = (self.at(row - 1), self.values(row - 1, group));
        let t = (u64::from(pec) - from) as f64 / (at - from) as f64;
        let mix = |(below, above): (f64, f64)| below + t * (above - below);
        fixed((mix((below.0, above.0)), mix((below.1, above.1))))
    }

    /// Returns the P/E counts of the two rows that a policy uses. Both are equal at a row, and
    /// where nothing changes any more.
    pub(super) fn around(&self, pec: u32) -> (u32, u32) {
        let row = self.row_from(pec);
        let (at, p) = (self.at(row), u64::from(pec));
        let whole = |count: u64| count.min(u32::MAX.into()) as u32;
        let nothing_changes = (row == 0 || at < p) && !self.has_rates;
        if at == p || nothing_changes {
            return (whole(at), whole(at));
        }
        let (below, above) = match row {
            _ if at < p => (at, u64::MAX),
            0 => (0, at),
            _ => (self.at(row - 1), at),
        };
        let step =
            u64::from(if self.step == 0 && above == u64::MAX { BEYOND_SINGLE } else { self.step });
        if step == 0 {
            return (whole(below), whole(above));
        }
        (whole((p / step * step).max(below)), whole(p.next_multiple_of(step).min(above)))
    }

    /// Returns the next P/E count at which a policy may see other values; `None` if nothing changes
    /// any more.
    pub(super) fn next_change(&self, pec: u32) -> Option<u32> {
        let (_, to) = self.around(pec);
        let is_last = self.pec.len() == 1 && pec >= self.pec[0] && !self.has_rates;
        if is_last {
            None
        } else if to > pec {
            Some(to)
        } else {
            pec.checked_add(1)
        }
    }

    /// Returns the P/E count of the table's last row.
    pub(super) fn last(&self) -> u32 {
        self.pec[self.pec.len() - 1]
    }

    /// Returns the number of the first row at or above a P/E count, including rows beyond the
    /// table. A table of one row has only row 0.
    fn row_from(&self, pec: u32) -> usize {
        let next = self.pec.partition_point(|row| *row < pec);
        if next < self.pec.len() {
            return next;
        }
        let last = self.pec.len() - 1;
        if last == 0 {
            0
        } else {
            last + (pec - self.pec[last]).div_ceil(self.last_stretch()) as usize
        }
    }

    fn last_stretch(&self) -> u32 {
        let last = self.pec.len() - 1;
        self.pec[last] - self.pec[last - 1]
    }

    /// Returns the P/E count of a row.
    fn at(&self, row: usize) -> u64 {
        let last = self.pec.len() - 1;
        let beyond = row.saturating_sub(last);
        let stretch = if beyond == 0 { 0 } else { u64::from(self.last_stretch()) * beyond as u64 };
        u64::from(self.pec[row.min(last)]) + stretch
    }

    /// Returns the limit and alpha of a group in a row.
    fn values(&self, row: usize, group: usize) -> (f64, f64) {
        let last = self.pec.len() - 1;
        if row <= last {
            return (self.limit[row][group], self.alpha[row][group]);
        }
        let beyond = i32::try_from(row - last).unwrap_or(i32::MAX);
        let (limit, before) = (self.limit[last][group], self.limit[last - 1][group]);
        let (alpha, alpha_before) = (self.alpha[last][group], self.alpha[last - 1][group]);
        // If values improve at the end of the table, they do not improve further beyond it. A limit
        // never reaches 0.
        let kept = (limit / before).min(1.0).powi(beyond);
        let grown = (alpha - alpha_before).max(0.0) * f64::from(beyond);
        ((limit * kept).max(1.0), (alpha + grown).min(ALPHA_MAX.max(alpha)))
    }
}

/// Converts to fixed point, rounded to the worse side.
fn fixed((limit, alpha): (f64, f64)) -> Endurance {
    let endurance = Endurance { limit: Dose::floor(limit), alpha: Alpha::ceil(alpha) };
    debug_assert!(
        endurance.alpha >= Alpha::ONE,
        "the weight of a neighbour's read is at least 1 (`disturb::wordline`)"
    );
    endurance
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(step: u32, table: &[(u32, f64, f64)]) -> Rows {
        Rows {
            pec: table.iter().map(|row| row.0).collect(),
            limit: table.iter().map(|row| vec![row.1]).collect(),
            alpha: table.iter().map(|row| vec![row.2]).collect(),
            step,
            has_rates: false,
        }
    }

    const TABLE: [(u32, f64, f64); 2] = [(0, 2000.0, 8.0), (1000, 1000.0, 8.5)];

    fn limits(rows: &Rows, pec: &[u32]) -> Vec<f64> {
        pec.iter().map(|pec| rows.truth(0, *pec).limit.units()).collect()
    }

    #[test]
    fn beyond_the_last_row_the_truth_goes_on_as_the_table_ended() {
        let rows = rows(100, &TABLE);
        assert_eq!(
            limits(&rows, &[0, 500, 1000, 1500, 2000, 2500, 3000]),
            [2000.0, 1500.0, 1000.0, 750.0, 500.0, 375.0, 250.0]
        );
        assert_eq!(
            [1000, 2000, 3000].map(|pec| rows.truth(0, pec).alpha.in_256ths()),
            [2176, 2304, 2432]
        );
        assert_eq!(
            rows.truth(0, u32::MAX),
            Endurance { limit: Dose::UNIT, alpha: Alpha::ONE * 32 },
            "never nothing"
        );
    }

    #[test]
    fn a_limit_that_grew_at_the_end_is_held_and_so_is_a_single_row() {
        let grows = rows(100, &[(0, 1000.0, 9.0), (1000, 2000.0, 8.0)]);
        assert_eq!(limits(&grows, &[1000, 1001, 5000]), [2000.0; 3]);
        assert_eq!(grows.truth(0, 5000).alpha, Alpha::ONE * 8);
        let single = rows(100, &[(500, 1000.0, 9.0)]);
        assert_eq!(limits(&single, &[0, 500, 1_000_000]), [1000.0; 3]);
        assert_eq!(
            (single.around(0), single.around(7777), single.next_change(500)),
            ((500, 500), (500, 500), None)
        );
    }

    #[test]
    fn policies_see_rows_every_so_many_cycles_and_those_of_the_table() {
        let close = rows(100, &[(0, 2000.0, 8.0), (1010, 1000.0, 8.5)]);
        let around =
            [0, 1, 100, 101, 1000, 1001, 1010, 1011, 1200, 1950].map(|pec| close.around(pec));
        let expected = [
            (0, 0),
            (0, 100),
            (100, 100),
            (100, 200),
            (1000, 1000),
            (1000, 1010),
            (1010, 1010),
            (1010, 1100),
            (1200, 1200),
            (1900, 2000),
        ];
        assert_eq!(around, expected);
        let own = rows(0, &TABLE);
        assert_eq!(
            [0, 1, 1000, 1001, 2000].map(|pec| own.around(pec)),
            [(0, 0), (0, 1000), (1000, 1000), (1000, 2000), (2000, 2000)]
        );
    }

    #[test]
    fn error_rates_change_below_the_first_row_and_beyond_a_single_one() {
        let around = |rows: Rows, counts: &[u32]| {
            counts.iter().map(|pec| rows.around(*pec)).collect::<Vec<_>>()
        };
        let single = |step| rows(step, &[(250, 1000.0, 9.0)]).with_rates(true);
        assert_eq!(
            around(single(100), &[0, 7, 200, 201, 250, 251, 300]),
            [(0, 0), (0, 100), (200, 200), (200, 250), (250, 250), (250, 300), (300, 300)]
        );
        assert_eq!(
            around(single(0), &[0, 7, 250, 251, 777]),
            [(0, 250), (0, 250), (250, 250), (250, 300), (700, 800)]
        );
        assert_eq!(
            (single(100).next_change(250), single(100).next_change(251)),
            (Some(251), Some(300))
        );
        assert_eq!(single(100).around(u32::MAX), (4_294_967_200, u32::MAX));
    }

    #[test]
    fn changes_are_all_there() {
        for has_rates in [false, true] {
            changes_are_all_there_of(
                &rows(100, &[(50, 2000.0, 8.0), (310, 1000.0, 8.5)]).with_rates(has_rates),
            );
        }
    }

    fn changes_are_all_there_of(rows: &Rows) {
        let mut changes = vec![0];
        while let Some(next) =
            rows.next_change(changes[changes.len() - 1]).filter(|next| *next <= 420)
        {
            changes.push(next);
        }
        let mut classes: Vec<u32> =
            (1..=420).filter(|pec| rows.around(*pec) != rows.around(pec - 1)).collect();
        classes.insert(0, 0);
        changes.retain(|pec| *pec == 0 || rows.around(*pec) != rows.around(pec - 1));
        assert_eq!(changes, classes);
    }
}
