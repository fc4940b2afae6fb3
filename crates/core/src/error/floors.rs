//! The lowest limit from one row that a policy sees to the next, each worked out once.
//!
//! A limit is the product of a falling and of a rising term, so it may be lowest between two rows.
//! Every P/E count is tried: no bound is as close.
//!
//! ```text
//! rows at 2,300 and 2,400     limits 1,500,000 at 2,300, 1,499,000 at 2,360, 1,499,500 at 2,400     a policy assumes 1,499,000
//! ```

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::budget::Asked;
use super::rate::{Rates, Worn};

/// Answers that are kept. A drive asks for some hundred between two rows; a life under
/// `reclaim.own_age` for more.
const KEPT_MAX: usize = 1 << 14;

/// P/E counts between two rows of which the law is kept; of more it is worked out anew.
const COUNTS_MAX: u32 = 1 << 12;

/// Two P/E counts.
type Between = (u32, u32);

/// Lowest limits by rows and by what is asked.
#[derive(Debug, Default)]
pub(super) struct Floors(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    lowest: HashMap<(Between, Asked), i64>,
    /// The rows that were asked about last, with what the law makes of each P/E count between them.
    between: Between,
    worn: Vec<Worn>,
}

impl Clone for Floors {
    /// Knows nothing yet: a clone belongs to another table.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Known {
    /// Keeps what the law makes of each P/E count from one row to the other.
    fn work_out(&mut self, between: Between, rates: &Rates) {
        if self.between != between || self.worn.is_empty() {
            self.between = between;
            self.worn = (between.0..=between.1).map(|pec| rates.worn(pec)).collect();
        }
    }
}

impl Floors {
    /// The lowest of these limits, by P/E count, from one row to the other, both included.
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
