//! Limits that a technique sees. For each block, they are the limits at the block's hint budget. A
//! technique makes the same calls on a drive without hints.

use super::table::{Endurance, LimitTable, Worn};
use crate::base::dose::Dose;
use crate::base::latency::AccessLatency;
use crate::base::units::WordlineInBlock;

/// Limits of a drive at one hint budget.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    table: &'a LimitTable,
    budget: AccessLatency,
    /// Number of cycles from a block's P/E count to the middle of the cycles that its next erase
    /// counts as.
    ahead: u32,
}

/// Number of bits for the distance between two classes of look-up.
const DISTANCE_BITS: u32 = 24;
/// Bit that is set in the classes of an accelerated life.
const ACCELERATED: u64 = 1 << 63;

impl<'a> Limits<'a> {
    /// Returns the limits of data with this hint.
    pub fn new(table: &'a LimitTable, budget: AccessLatency) -> Self {
        Self { table, budget, ahead: 0 }
    }

    /// Returns the limits of a drive on which each erase counts as `acceleration` cycles. A block
    /// has one P/E count for all cycles between two erases, so the rows at the middle cycle apply.
    /// If the limits are lower at the first cycle, these apply.
    #[must_use]
    pub fn accelerated(self, acceleration: u32) -> Self {
        Self { ahead: acceleration / 2, ..self }
    }

    /// Returns the hint of the data.
    pub fn budget(&self) -> AccessLatency {
        self.budget
    }

    /// Returns the number of wordline groups.
    pub fn groups(&self) -> usize {
        self.table.groups()
    }

    /// Returns the group of a wordline.
    pub fn group_of(&self, wordline: WordlineInBlock) -> usize {
        self.table.group_of(wordline)
    }

    /// Returns the endurance that a technique may assume for a group at a P/E count.
    pub fn lookup(&self, group: usize, pec: u32) -> Endurance {
        self.lowest(pec, |pec| self.table.lookup_at(self.budget, group, pec))
    }

    /// Returns the endurance that a technique may assume for a group and data of this age.
    pub fn lookup_worn(&self, group: usize, worn: Worn) -> Endurance {
        self.lowest(worn.pec, |pec| {
            self.table.lookup_worn(self.budget, group, Worn { pec, ..worn })
        })
    }

    /// Returns the worse of two look-ups: at a P/E count, and at the middle of the cycles that the
    /// count represents.
    fn lowest(&self, pec: u32, look_up: impl Fn(u32) -> Endurance) -> Endurance {
        if self.ahead == 0 {
            return look_up(pec);
        }
        let first = look_up(pec);
        let middle = look_up(pec.saturating_add(self.ahead));
        Endurance { limit: first.limit.min(middle.limit), alpha: first.alpha.max(middle.alpha) }
    }

    /// Returns the P/E count of the table's last row.
    pub fn last_row(&self) -> u32 {
        self.table.last_row()
    }

    /// Returns the next P/E count at which a look-up may change; `None` if nothing changes any
    /// more.
    pub fn next_lookup(&self, pec: u32) -> Option<u32> {
        let middle =
            || self.table.next_lookup(pec.saturating_add(self.ahead)).map(|next| next - self.ahead);
        let own = self.table.next_lookup(pec);
        if self.ahead == 0 { own } else { own.into_iter().chain(middle()).min() }
    }

    /// Returns the number of retries that reads of a group's data may take at a P/E count.
    pub fn retries(&self, group: usize, pec: u32) -> u8 {
        self.table.retries_at(self.budget, group, pec)
    }

    /// Returns the largest number of retries over all groups.
    pub fn most_retries(&self, pec: u32) -> u32 {
        (0..self.groups()).map(|group| self.retries(group, pec).into()).max().unwrap_or(0)
    }

    /// Returns the class of a wear and age. Equal classes have the same [`Self::lookup_worn`].
    pub fn worn_class(&self, worn: Worn) -> (u64, Option<usize>) {
        (self.lookup_class(worn.pec), worn.step)
    }

    /// Returns the class of a P/E count at this budget. Equal classes have the same
    /// [`Self::lookup`].
    pub fn lookup_class(&self, pec: u32) -> u64 {
        let of = |pec: u32| {
            AccessLatency::COUNT as u64 * self.table.lookup_class(pec) + self.budget as u64
        };
        if self.ahead == 0 {
            return of(pec);
        }
        let (first, middle) = (of(pec), of(pec.saturating_add(self.ahead)));
        let distance = middle - first;
        debug_assert!(
            distance >> DISTANCE_BITS == 0 && first >> (63 - DISTANCE_BITS) == 0,
            "two classes have one number"
        );
        ACCELERATED | first << DISTANCE_BITS | distance
    }

    /// Returns the lowest limit of some page kinds of a wordline. `wordline_limit` is the
    /// wordline's limit, and `kinds` has one bit per kind, LSB first.
    pub fn limit_of_kinds(&self, wordline_limit: Dose, kinds: u32) -> Dose {
        self.table.limit_of_kinds(wordline_limit, kinds)
    }

    /// Returns a limit in a coding, from the limit in full density.
    pub fn in_mode(&self, limit: Dose, mode: u8) -> Dose {
        self.table.in_mode(limit, mode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::DriveConfig;

    /// Creates a table with one group, and with rows for techniques every 100 cycles.
    fn table(rows: &str) -> LimitTable {
        let text = format!(
            r#"
            geometry = {{ channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 40, wordlines_per_block = 4, cell = "slc", page_size = "4KiB" }}
            timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }}
            drive = {{ spare = 0.5 }}
            disturb = {{ model = "count", table = [{rows}] }}
            "#
        );
        LimitTable::of(&toml::from_str::<DriveConfig>(&text).unwrap().resolve().unwrap())
            .expect("a table")
    }

    const FALLS: &str = "{ pec = 0, limit = [3000] }, { pec = 1000, limit = [2000] }";
    const RISES: &str = "{ pec = 0, limit = [2000] }, { pec = 1000, limit = [3000] }";

    fn limits(rows: &str, acceleration: u32, counts: &[u32]) -> Vec<f64> {
        let table = table(rows);
        let limits = Limits::new(&table, AccessLatency::Smallest).accelerated(acceleration);
        counts.iter().map(|pec| limits.lookup(0, *pec).limit.units()).collect()
    }

    #[test]
    fn an_accelerated_block_goes_by_the_row_in_the_middle_of_its_cycles() {
        assert_eq!(limits(FALLS, 1, &[0, 1, 100, 101]), [3000.0, 2900.0, 2900.0, 2800.0]);
        // With 100 cycles per erase, the middle of 0 to 99 is 50, for which the row at 100 applies.
        assert_eq!(limits(FALLS, 100, &[0, 100, 300]), [2900.0, 2800.0, 2600.0]);
        // With 30 cycles per erase, the middle of 60 to 89 is 75, and the middle of 90 to 119 is
        // 105.
        assert_eq!(limits(FALLS, 30, &[60, 90]), [2900.0, 2800.0]);
    }

    /// The thresholds of an accelerated life must add up to the thresholds of all cycles that it
    /// represents, to within a cycle in each row.
    #[test]
    fn accelerated_thresholds_add_up_to_those_of_all_cycles() {
        let mean = |acceleration: u32| {
            let counts: Vec<u32> = (0..900).step_by(acceleration as usize).collect();
            limits(FALLS, acceleration, &counts).iter().sum::<f64>() / counts.len() as f64
        };
        let exact = mean(1);
        assert!(
            [10, 30, 100]
                .iter()
                .all(|acceleration| (mean(*acceleration) / exact - 1.0).abs() < 0.002),
            "{exact}"
        );
    }

    #[test]
    fn limits_that_rise_are_those_of_the_first_cycle() {
        assert_eq!(limits(RISES, 100, &[0, 100, 250]), limits(RISES, 1, &[0, 100, 250]));
    }

    #[test]
    fn classes_and_changes_follow_both_rows() {
        for acceleration in [1, 2, 30, 100, 1000] {
            let table = table(FALLS);
            let limits = Limits::new(&table, AccessLatency::Smallest).accelerated(acceleration);
            let mut next = 0;
            for pec in 1..1500 {
                let (before, now) = (limits.lookup(0, pec - 1), limits.lookup(0, pec));
                let same = limits.lookup_class(pec - 1) == limits.lookup_class(pec);
                assert!(!same || before == now, "{acceleration}: {pec} cycles");
                next = if next < pec {
                    limits.next_lookup(pec - 1).expect("the table goes on")
                } else {
                    next
                };
                assert!(
                    before == now || next == pec,
                    "{acceleration}: nothing changes at {pec} cycles"
                );
            }
        }
    }
}
