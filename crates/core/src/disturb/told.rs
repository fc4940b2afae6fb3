//! The limits that a technique is told of: those of a block at the block's budget. It asks as it would of a drive without hints.

use super::table::{Endurance, LimitTable, Worn};
use crate::base::dose::Dose;
use crate::base::latency::AccessLatency;
use crate::base::units::WordlineInBlock;

/// A drive's limits, at one budget.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    table: &'a LimitTable,
    budget: AccessLatency,
}

impl<'a> Limits<'a> {
    /// Those of data of which a host says this.
    pub fn new(table: &'a LimitTable, budget: AccessLatency) -> Self {
        Self { table, budget }
    }

    /// What the host says of the data.
    pub fn budget(&self) -> AccessLatency {
        self.budget
    }

    /// Number of wordline groups.
    pub fn groups(&self) -> usize {
        self.table.groups()
    }

    /// Group of a wordline, numbered within its block.
    pub fn group_of(&self, wordline: WordlineInBlock) -> usize {
        self.table.group_of(wordline)
    }

    /// What a technique may assume of a group at a P/E count.
    pub fn lookup(&self, group: usize, pec: u32) -> Endurance {
        self.table.lookup_at(self.budget, group, pec)
    }

    /// The same of data of an age.
    pub fn lookup_worn(&self, group: usize, worn: Worn) -> Endurance {
        self.table.lookup_worn(self.budget, group, worn)
    }

    /// Retries that reads of a group's data may take at a P/E count.
    pub fn retries(&self, group: usize, pec: u32) -> u8 {
        self.table.retries_at(self.budget, group, pec)
    }

    /// The most of them on any group.
    pub fn most_retries(&self, pec: u32) -> u32 {
        (0..self.groups()).map(|group| self.retries(group, pec).into()).max().unwrap_or(0)
    }

    /// What decides [`Self::lookup_worn`].
    pub fn worn_class(&self, worn: Worn) -> (u64, Option<usize>) {
        (self.lookup_class(worn.pec), worn.step)
    }

    /// What decides [`Self::lookup`]: P/E counts and budgets with the same number look up the same.
    pub fn lookup_class(&self, pec: u32) -> u64 {
        AccessLatency::COUNT as u64 * self.table.lookup_class(pec) + self.budget as u64
    }

    /// The limit of the weakest of some page kinds of a wordline, a bit each and LSB first, from the wordline's.
    pub fn limit_of_kinds(&self, wordline_limit: Dose, kinds: u32) -> Dose {
        self.table.limit_of_kinds(wordline_limit, kinds)
    }

    /// A limit in a coding, from that in full density.
    pub fn in_mode(&self, limit: Dose, mode: u8) -> Dose {
        self.table.in_mode(limit, mode)
    }
}
