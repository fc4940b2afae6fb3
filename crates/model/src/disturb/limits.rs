//! True limits of pages, for the error models. They are limits of reads alone, or, with an error
//! rate, limits that also include the gain by retries and the loss by age.

use super::levels::Levels;
use super::table::{Endurance, LimitTable};
use super::{BlockView, ErrorModel, PageHealth};
use crate::base::dose::{Dose, Quarters};
use crate::base::units::{PageInBlock, WordlineInBlock};
use crate::config::DriveConfig;
use crate::error::bch::Bch;
use crate::error::budget::{AgedLimits, Condition, PageAt};
use crate::error::chance::Chances;

/// Endurance of the groups of a block at one P/E count and age. The terms of the laws of error
/// rates are computed once.
pub(super) struct At<'a> {
    model: &'a ErrorModel,
    pec: u32,
    condition: Option<(&'a AgedLimits, Condition)>,
}

impl At<'_> {
    /// Returns the true limit of a group and page kind at a level.
    pub(super) fn of_group(&self, group: usize, kind: usize, level: usize) -> Dose {
        let table = &self.model.table;
        match &self.condition {
            None => table.truth(group, self.pec).limit,
            Some((aged, condition)) => {
                Dose::of_1024ths(aged.limit(table, condition, (group, kind, level)))
            }
        }
    }
}

/// Limits of a block's groups and page kinds without a retry. They do not yet include the factors
/// of layers, of the coding, and of the block.
pub(super) struct OfGroups {
    by_group_and_kind: Vec<Dose>,
    /// Number of page kinds with different limits.
    kinds: usize,
}

impl ErrorModel {
    /// Returns the model of a checked configuration; `None` if the configuration has no table.
    pub(super) fn of(config: &DriveConfig, stride: Option<usize>) -> Option<Self> {
        let table = LimitTable::of(config)?;
        let chances = table
            .aged()
            .and_then(|aged| Chances::of(aged.ladder(), config.geometry.page_size.0 as u32));
        let other =
            Bch::of(config).filter(|bch| bch.members().is_some() || !bch.pages().spread.is_none());
        let chances = match other {
            Some(bch) => chances.map(|chances| chances.with_lost_at_limit(bch.lost())),
            None => chances,
        };
        Some(Self {
            table,
            chances,
            kinds: config.geometry.cell.bits() as usize,
            preprogram_weight: config.disturb.preprogram_weight,
            stride,
        })
    }

    fn aged(&self) -> Option<&AgedLimits> {
        self.table.aged()
    }

    /// Returns the largest number of retries before a page is given up.
    pub fn max_retries(&self) -> u8 {
        self.aged().map_or(0, |aged| aged.ladder().retries() as u8)
    }

    /// Returns whether data ages under this model. If so, an answer holds only for the present
    /// [`BlockView::age_step`].
    pub fn ages(&self) -> bool {
        self.aged().is_some()
    }

    /// Returns the true endurance of all groups at a P/E count.
    pub(super) fn endurances(&self, pec: u32) -> Vec<Endurance> {
        (0..self.table.groups()).map(|group| self.table.truth(group, pec)).collect()
    }

    /// Returns the limits of all groups of a block with these endurances, without a retry.
    pub(super) fn of_groups(&self, block: &BlockView, endurances: &[Endurance]) -> OfGroups {
        let Some(aged) = self.aged() else {
            // A group has one limit for all kinds.
            return OfGroups {
                by_group_and_kind: endurances.iter().map(|endurance| endurance.limit).collect(),
                kinds: 1,
            };
        };
        let at = aged.condition(block.pec, block.age_step);
        let of_kind = |group: usize, kind: usize| {
            Dose::of_1024ths(aged.limit(&self.table, &at, (group, kind, aged.calm())))
        };
        let of_group = |group: usize| (0..self.kinds).map(move |kind| of_kind(group, kind));
        OfGroups {
            by_group_and_kind: (0..self.table.groups()).flat_map(of_group).collect(),
            kinds: self.kinds,
        }
    }

    /// Returns the limits of the groups of a block at a P/E count and a step of age.
    pub(super) fn at(&self, pec: u32, step: usize) -> At<'_> {
        At {
            model: self,
            pec,
            condition: self.aged().map(|aged| (aged, aged.condition(pec, step))),
        }
    }

    /// Returns whether age alone exceeds the limit of a page's last retry. The arguments are P/E
    /// count and step of age, and wordline and kind. A limit below 0 stays below 0 with every
    /// factor.
    pub fn is_spoilt_by_age(
        &self,
        (pec, step): (u32, usize),
        (wordline, kind): (WordlineInBlock, u32),
    ) -> bool {
        let group = self.table.group_of(wordline);
        self.at(pec, step).of_group(group, kind as usize, self.max_retries().into()) < Dose::ZERO
    }

    /// Returns the limit of the weakest of these page kinds of a wordline. `kinds` has one bit per
    /// kind.
    pub(super) fn of_kinds(
        &self,
        block: &BlockView,
        groups: &OfGroups,
        wordline: WordlineInBlock,
        factor: u32,
        kinds: u32,
    ) -> Dose {
        let first = self.table.group_of(wordline) * groups.kinds;
        let Some(aged) = self.aged() else {
            return self.scaled(block, groups.by_group_and_kind[first], (wordline, kinds), factor);
        };
        let of_kind = |kind: usize| {
            let page =
                PageAt { wordline, kind, block_factor: factor, mode: block.mode_of(wordline) };
            Dose::of_1024ths(aged.of_page(
                &self.table,
                groups.by_group_and_kind[first + kind].in_1024ths(),
                page,
            ))
        };
        let live = (0..groups.kinds).filter(|kind| kinds >> kind & 1 == 1);
        live.map(of_kind).min().expect("the caller names a kind")
    }

    /// Returns whether the next wordline of a block may need a retry at its first read. The
    /// wordline is as old as the block, and age alone uses up the limit of one of its groups.
    pub(super) fn is_born_tired(block: &BlockView, groups: &OfGroups) -> bool {
        let has_room = (block.programmed() as usize) < block.wordlines.len();
        has_room && groups.by_group_and_kind.iter().any(|limit| *limit < Dose::ZERO)
    }

    /// Returns the dose that a wordline certainly endures if it is programmed from now on. This is
    /// the lowest limit of any wordline of the worst block at the block's age, divided by the
    /// weight of a neighbour's read.
    pub(super) fn of_new(
        &self,
        block: &BlockView,
        groups: &OfGroups,
        endurances: &[Endurance],
    ) -> Quarters {
        let of_group = |(group, endurance): (usize, &Endurance)| {
            let kinds = &groups.by_group_and_kind[group * groups.kinds..][..groups.kinds];
            let weakest = kinds.iter().copied().min().unwrap_or_default().max(Dose::ZERO);
            self.table.in_mode(weakest, block.mode) / endurance.alpha
        };
        let bounds = endurances.iter().enumerate().map(of_group);
        bounds.min().unwrap_or_default()
    }

    /// Returns the limit of a page for techniques. If data ages, this is the limit at the longest
    /// allowed age, with the retries that techniques count with.
    pub fn limit_to_keep(&self, block: &BlockView, page: PageInBlock) -> Dose {
        let (wordline, kind) = block.wordline_and_kind(page);
        let group = self.table.group_of(wordline);
        let of_group = if self.ages() {
            self.table.lookup_at(block.budget, group, block.pec)
        } else {
            self.table.truth(group, block.pec)
        };
        self.scaled(
            block,
            of_group.limit,
            (wordline, 1 << kind),
            self.table.block_factor(block.block),
        )
    }

    /// Returns the limit of the weakest of some page kinds of a wordline, from the limit of its
    /// group. `kinds` has one bit per kind.
    fn scaled(
        &self,
        block: &BlockView,
        of_group: Dose,
        (wordline, kinds): (WordlineInBlock, u32),
        factor: u32,
    ) -> Dose {
        let of_wordline = self.table.limit_of(of_group, wordline, factor);
        self.table.limit_of_kinds(self.table.in_mode(of_wordline, block.mode_of(wordline)), kinds)
    }

    /// Returns the RBER of a page.
    pub fn rate(&self, block: &BlockView, page: PageInBlock) -> f64 {
        let Some(aged) = self.aged() else { return 0.0 };
        let at = self.at(block.pec, block.age_step);
        aged.rate(
            self.dose(block, page),
            self.at_level(&at, block, page, 0),
            self.at_level(&at, block, page, aged.above_first()),
        )
    }

    /// Returns the probabilities that reads at an error rate take retries; `None` without a known
    /// codeword.
    pub fn chances(&self) -> Option<&Chances> {
        self.chances.as_ref()
    }

    /// Returns the dose up to which a page decodes with this number of retries. Below 0 if the age
    /// of the page alone exceeds the limit.
    pub fn limit(&self, block: &BlockView, page: PageInBlock, retries: u8) -> Dose {
        self.at_level(&self.at(block.pec, block.age_step), block, page, retries.into())
    }

    /// Returns the limit of a page at a level ([`crate::error::budget::Asked::level`]).
    fn at_level(&self, at: &At, block: &BlockView, page: PageInBlock, level: usize) -> Dose {
        let (wordline, kind) = block.wordline_and_kind(page);
        let (group, factor) = (self.table.group_of(wordline), self.table.block_factor(block.block));
        let of_group = at.of_group(group, kind as usize, level);
        let Some(aged) = self.aged() else {
            return self.scaled(block, of_group, (wordline, 1 << kind), factor);
        };
        let (kind, mode) = (kind as usize, block.mode_of(wordline));
        let page = PageAt { wordline, kind, block_factor: factor, mode };
        Dose::of_1024ths(aged.of_page(&self.table, of_group.in_1024ths(), page))
    }

    /// Returns the result of a read of a page with this dose: the smallest number of retries that
    /// decodes the page.
    #[inline]
    pub(super) fn health_at(&self, levels: &Levels, page: PageAt, dose: Dose) -> PageHealth {
        match self.level(levels, page, dose) {
            Some((retries, _)) => PageHealth { retries, is_lost: false },
            None => PageHealth { retries: self.max_retries(), is_lost: true },
        }
    }

    /// Returns the smallest number of retries that decodes a page with this dose, and the page's
    /// limit with these retries. Returns `None` if no level decodes the page.
    #[inline]
    pub(super) fn level(&self, levels: &Levels, page: PageAt, dose: Dose) -> Option<(u8, Dose)> {
        let limits = levels.of_kind(self.table.group_of(page.wordline), page.kind);
        // A limit below 0 stays below 0 with every factor.
        (0..).zip(limits).filter(|(_, limit)| **limit >= Dose::ZERO).find_map(|(retries, limit)| {
            let of_page = self.of_group_in_page(*limit, page);
            (dose <= of_page).then_some((retries, of_page))
        })
    }

    /// Returns the limit of a page from the limit of its group.
    #[inline]
    fn of_group_in_page(&self, of_group: Dose, page: PageAt) -> Dose {
        let of_wordline = self.table.limit_of(of_group, page.wordline, page.block_factor);
        self.table.limit_of_kinds(self.table.in_mode(of_wordline, page.mode), 1 << page.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::geometry::Geometry;
    use crate::base::latency::AccessLatency;
    use crate::base::units::BlockId;
    use crate::disturb::{Assessment, Wordline, error_model};
    use crate::error::ages::Ages;

    /// A page that is programmed into an old block is as old as the block. The model is not asked
    /// again before the first read of the page.
    #[test]
    fn an_open_block_that_is_too_old_for_its_next_wordline_is_suspect() {
        for model in ["count", "wordline"] {
            let text = format!(
                r#"
                geometry = {{ channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 40, wordlines_per_block = 2, cell = "tlc", page_size = "4KiB" }}
                timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }}
                drive = {{ spare = 0.5 }}
                start = {{ age = "1d" }}
                disturb = {{ model = "{model}", table = [{{ pec = 0, limit = [1000.0], alpha = [2.0] }}] }}
                error = {{ model = "powerlaw", e = 0.0045, b = 0.0005, m = 0.0, n = 0.5, longest_age = "30d" }}
                ecc = {{ cap = [0.0085, 0.0200], retry_sense_us = [50], retry_decode_us = [20] }}
            "#
            );
            let config = toml::from_str::<DriveConfig>(&text).unwrap().resolve().unwrap();
            let (model, geometry) =
                (error_model(&config).expect("one that disturbs"), Geometry::new(&config));
            let wordlines = [Wordline::default(); 2];
            let assess = |written, age_step| {
                let block = BlockView {
                    block: BlockId::new(0),
                    reads: Quarters::ZERO,
                    pec: 0,
                    wordlines: &wordlines,
                    pages_per_wordline: 3,
                    codings: &geometry.codings,
                    mode: 0,
                    recoded: &[],
                    written,
                    // The block holds no valid data.
                    valid: &[0],
                    age_step,
                    budget: AccessLatency::Smallest,
                };
                model.assess(&block)
            };
            let (young, old) = (0, Ages::default().step(config.error.longest_age.0));
            assert!(matches!(assess(3, young), Assessment::CleanUntil(_)), "a young block");
            assert!(matches!(assess(3, old), Assessment::Suspect), "an old block with room");
            assert!(
                matches!(assess(6, old), Assessment::CleanUntil(_)),
                "an old block that is full"
            );
        }
    }

    /// A probe of young data must not be compared with the limit of young data. The remaining dose
    /// must suffice until the data has the longest allowed age.
    #[test]
    fn techniques_keep_to_the_limit_of_the_oldest_data() {
        let text = r#"
            geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 40, wordlines_per_block = 64, cell = "tlc", page_size = "4KiB" }
            timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
            drive = { spare = 0.5 }
            start = { age = "1d" }
            disturb = { model = "count", kind_factor = [1.5, 1.0, 2.0], table = [{ pec = 0, limit = [1000.0] }] }
            error = { model = "powerlaw", e = 0.0045, b = 0.0005, m = 0.0, n = 0.2, longest_age = "30d" }
            ecc = { cap = [0.0085] }
        "#;
        let config = toml::from_str::<DriveConfig>(text).unwrap().resolve().unwrap();
        let (limits, geometry) =
            (error_model(&config).expect("one that disturbs"), Geometry::new(&config));
        let block = |age_step| BlockView {
            block: BlockId::new(0),
            reads: Quarters::ZERO,
            pec: 0,
            wordlines: &[],
            pages_per_wordline: 3,
            codings: &geometry.codings,
            mode: 0,
            recoded: &[],
            written: 3,
            valid: &[],
            age_step,
            budget: AccessLatency::Smallest,
        };
        let (young, old) = (block(0), block(Ages::default().step(config.error.longest_age.0)));
        for page in PageInBlock::range(0..3) {
            let keep = limits.limit_to_keep(&young, page);
            assert!(keep <= limits.limit(&old, page, 0), "page {page}");
            assert!(
                keep * 2 > limits.limit(&old, page, 0) && keep < limits.limit(&young, page, 0),
                "page {page}: {keep:?}"
            );
        }
    }
}
