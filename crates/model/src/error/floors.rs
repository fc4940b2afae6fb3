//! Lowest limits between two rows that a policy sees, each computed once.
//!
//! A limit is the product of a falling and a rising term, so it may be lowest between two rows. The
//! computation tries every P/E count, because no bound is close enough.
//!
//! ```text
//! rows at 2,300 and 2,400     limits 1,500,000 at 2,300, 1,499,000 at 2,360, 1,499,500 at 2,400     a policy assumes 1,499,000
//! ```

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::budget::Asked;
use super::rate::{Rates, Worn};

/// Largest number of results that are kept. A drive asks for some hundreds between two rows. A life
/// with `reclaim.own_age` asks for more.
const KEPT_MAX: usize = 1 << 14;

/// Largest number of P/E counts between two rows for which the terms of the law are kept. For more,
/// they are computed again.
const COUNTS_MAX: u32 = 1 << 12;

/// Two P/E counts.
type Between = (u32, u32);

/// Lowest limits by rows and by data.
#[derive(Debug, Default)]
pub(super) struct Floors(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    lowest: HashMap<(Between, Asked), i64>,
    /// Rows of the last question, with the terms of the law at each P/E count between them.
    between: Between,
    worn: Vec<Worn>,
}

impl Clone for Floors {
    /// Creates an empty table, because a clone belongs to another table of limits.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Known {
    /// Computes the terms of the law for each P/E count from one row to the other.
    fn work_out(&mut self, between: Between, rates: &Rates) {
        if self.between != between || self.worn.is_empty() {
            self.between = between;
            self.worn = (between.0..=between.1).map(|pec| rates.worn(pec)).collect();
        }
    }
}

impl Floors {
    /// Returns the lowest value of `limit` from one row to the other, including both rows.
    pub(super) fn lowest(
        &self,
        between: Between,
        of: Asked,
        rates: &Rates,
        limit: impl Fn(u32, &Worn) -> i64,
    ) -> i64 {
        let known = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lowest) = known.lowest.get(&(between, of)) {
            return *lowest;
        }
        let (from, to) = between;
        let lowest = if to - from > COUNTS_MAX {
            (from..=to).map(|pec| limit(pec, &rates.worn(pec))).min()
        } else {
            known.work_out(between, rates);
            (from..=to).zip(&known.worn).map(|(pec, worn)| limit(pec, worn)).min()
        };
        let lowest = lowest.expect("two rows");
        if known.lowest.len() == KEPT_MAX {
            known.lowest.clear();
        }
        known.lowest.insert((between, of), lowest);
        lowest
    }
}
