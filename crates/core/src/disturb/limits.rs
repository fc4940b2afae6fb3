//! The true limits of pages, for the error models: those of reads alone or, where the drive has an error rate, with what retries add and age
//! takes.

use super::BlockView;
use super::table::{Endurance, LimitTable};
use crate::base::page_set::any;
use crate::config::DriveConfig;
use crate::error::budget::{AgedLimits, Asked, PageAt};

/// Limits of one drive's pages.
pub(super) struct PageLimits {
    pub(super) table: LimitTable,
    aged: Option<AgedLimits>,
    kinds: usize,
}

/// The limits of a block's groups and page kinds without retries, before what its layers, its coding and the block itself add.
pub(super) struct OfGroups {
    by_group_and_kind: Vec<i64>,
    kinds: usize,
}

impl PageLimits {
    /// Those of a checked configuration.
    pub(super) fn of(config: &DriveConfig) -> Self {
        let table = LimitTable::of(config);
        let aged = AgedLimits::of(config, &table).expect("the configuration was checked");
        Self { table, aged, kinds: config.geometry.cell.bits() as usize }
    }

    /// How often a read is tried again.
    pub(super) fn max_retries(&self) -> u8 {
        self.aged.as_ref().map_or(0, |aged| aged.ladder().retries() as u8)
    }

    /// Whether age takes of them.
    pub(super) fn age(&self) -> bool {
        self.aged.is_some()
    }

    /// What all groups of a block endure without retries.
    pub(super) fn of_groups(&self, block: &BlockView) -> OfGroups {
        let of_group = |group: usize| (0..self.kinds).map(move |kind| self.of_group(block, group, kind, 0));
        OfGroups { by_group_and_kind: (0..self.table.groups()).flat_map(of_group).collect(), kinds: self.kinds }
    }

    fn of_group(&self, block: &BlockView, group: usize, kind: usize, level: usize) -> i64 {
        match &self.aged {
            None => self.table.truth(group, block.pec).limit.cast_signed(),
            Some(aged) => aged.truth(&self.table, block.pec, Asked { group, kind, level, step: block.age_step }),
        }
    }

    /// The limit of the weakest of these page kinds of a wordline, a bit each.
    pub(super) fn of_kinds(&self, block: &BlockView, groups: &OfGroups, wordline: u32, factor: u32, kinds: u32) -> i64 {
        let first = self.table.group_of(wordline) * groups.kinds;
        let Some(aged) = &self.aged else {
            return self.scaled(block, groups.by_group_and_kind[first].cast_unsigned(), (wordline, kinds), factor).cast_signed();
        };
        let of_kind = |kind: usize| {
            let page = PageAt { wordline, kind, block_factor: factor, mode: block.mode_of(wordline) };
            aged.of_page(&self.table, groups.by_group_and_kind[first + kind], page)
        };
        let live = (0..groups.kinds).filter(|kind| any(&[u64::from(kinds)], *kind as u32, 1));
        live.map(of_kind).min().expect("the caller names a kind")
    }

    /// The lowest limit of any wordline of the worst block that has no age beyond the block's, over the weight of a neighbour's read: reads that
    /// a wordline surely bears that is programmed from now on.
    pub(super) fn of_new(&self, block: &BlockView, groups: &OfGroups, endurances: &[Endurance]) -> u64 {
        let of_group = |(group, endurance): (usize, &Endurance)| {
            let kinds = &groups.by_group_and_kind[group * groups.kinds..][..groups.kinds];
            let weakest = kinds.iter().copied().min().unwrap_or(0).max(0).cast_unsigned();
            self.table.in_mode(weakest, block.mode) / endurance.alpha
        };
        endurances.iter().enumerate().map(of_group).min().unwrap_or(0)
    }

    /// The limit of a page that techniques go by.
    pub(super) fn to_keep(&self, block: &BlockView, page: u32) -> u64 {
        let (wordline, kind) = block.wordline_and_kind(page);
        let group = self.table.group_of(wordline);
        let of_group = if self.aged.is_some() { self.table.lookup(group, block.pec) } else { self.table.truth(group, block.pec) };
        self.scaled(block, of_group.limit, (wordline, 1 << kind), self.table.block_factor(block.block))
    }

    /// The limit of the weakest of some page kinds of a wordline, a bit each, from its group's.
    fn scaled(&self, block: &BlockView, of_group: u64, (wordline, kinds): (u32, u32), factor: u32) -> u64 {
        let of_wordline = self.table.limit_of(of_group, wordline, factor);
        self.table.limit_of_kinds(self.table.in_mode(of_wordline, block.mode_of(wordline)), kinds)
    }

    /// The limit of a page with so many retries.
    pub(super) fn of_page(&self, block: &BlockView, page: u32, retries: u8) -> i64 {
        let (wordline, kind) = block.wordline_and_kind(page);
        let (group, factor) = (self.table.group_of(wordline), self.table.block_factor(block.block));
        let of_group = self.of_group(block, group, kind as usize, retries.into());
        match &self.aged {
            None => self.scaled(block, of_group.cast_unsigned(), (wordline, 1 << kind), factor).cast_signed(),
            Some(aged) => {
                let page = PageAt { wordline, kind: kind as usize, block_factor: factor, mode: block.mode_of(wordline) };
                aged.of_page(&self.table, of_group, page)
            }
        }
    }
}
