//! Error model `wordline`: reads of the two neighbours count alpha times, reads elsewhere in the block once, own reads not
//! at all, from the wordline's own programming on (straw-2024 III).
//!
//! ```text
//! RC = reads of a wordline, BLK = of the block, both since erase; at i's programming b = BLK, s = RC[i-d]
//! dose(i) = alpha (RC[i-d] - s + RC[i+d]) + (BLK - b) - (RC[i-d] - s) - RC[i] - RC[i+d]
//!         = alpha (RC[i-d] + RC[i+d]) + BLK - RC[i-d] - RC[i] - RC[i+d] - base      with base = alpha s + (b - s)
//! ```

use super::limits::PageLimits;
use super::rows::Endurance;
use super::{Assessment, BlockView, Counts, ErrorModel, LATEST, spared};
use crate::base::dose::{Alpha, Dose, Quarters};
use crate::base::units::{PageInBlock, WordlineInBlock};
use crate::bugs::{Bug, planted};
use crate::disturb::Wordline;

pub(super) struct WordlineModel {
    limits: PageLimits,
    preprogram_weight: f64,
    stride: usize,
}

impl WordlineModel {
    pub(super) fn new(limits: PageLimits, preprogram_weight: f64, neighbour_stride: u32) -> Self {
        Self { limits, preprogram_weight, stride: neighbour_stride as usize }
    }

    /// Reads of the neighbours of wordline `i`, together; a missing neighbour is never read.
    fn neighbours(&self, wordlines: &[Wordline], i: usize) -> Quarters {
        let stride = if self.limits.table.bugs.has(Bug::StrideForgotten) { 1 } else { self.stride };
        let beyond = if self.limits.table.bugs.has(Bug::EdgeWraps) { wordlines[wordlines.len() - 1].reads } else { Quarters::ZERO };
        let below = i.checked_sub(stride).map_or(beyond, |n| wordlines[n].reads);
        let above = wordlines.get(i + stride).map_or(Quarters::ZERO, |w| w.reads);
        below + above
    }
}

impl ErrorModel for WordlineModel {
    fn assess(&self, block: &BlockView) -> Assessment {
        let endurances = self.limits.endurances(block.pec);
        let groups = self.limits.of_groups(block, &endurances);
        // Every read to come on the weakest neighbourhood.
        let fresh = self.limits.of_new(block, &groups, &endurances);
        // Age alone may have left nothing.
        if block.reads == Quarters::ZERO && fresh > Quarters::ZERO {
            return Assessment::CleanUntil(fresh.min(LATEST));
        }
        let table = &self.limits.table;
        let factor = table.block_factor(block.block);
        // What is left to each group's worst; divided once, not for each wordline.
        let mut left = vec![Dose::MAX; endurances.len()];
        for wordline in WordlineInBlock::range(0..block.programmed()) {
            let kinds = block.live_kinds(wordline);
            if kinds == 0 {
                continue;
            }
            let group = table.group_of(wordline);
            let e = endurances[group];
            let dose = self.weighed_dose(&Counts::of(block, wordline), e.alpha);
            let limit = self.limits.of_kinds(block, &groups, wordline, factor, kinds);
            if dose > limit {
                return Assessment::Suspect;
            }
            left[group] = left[group].min(limit - dose);
        }
        let rounding = |alpha: Alpha| if planted(Bug::QuietRoundedUp) { i64::from(alpha.in_256ths()) - 1 } else { 0 };
        let of_group = |(left, e): (&Dose, &Endurance)| (*left + Dose::of_1024ths(rounding(e.alpha))) / e.alpha;
        let mut more = left.iter().zip(&endurances).map(of_group).min().unwrap_or(Quarters::MAX);
        // A wordline programmed from now on answers for nothing yet, or the drive asks again when it is.
        if (block.programmed() as usize) < block.wordlines.len() {
            more = more.min(fresh);
        }
        Assessment::CleanUntil(block.reads.saturating_add(more).min(LATEST))
    }

    #[inline]
    fn weighed_dose(&self, counts: &Counts, alpha: Alpha) -> Dose {
        let near = self.neighbours(counts.wordlines, counts.wordline.index());
        let base = counts.wordlines[counts.wordline.index()].base;
        near * alpha + counts.reads.far() - near.far() - counts.own.far() - base.far()
    }

    fn limit(&self, block: &BlockView, page: PageInBlock, retries: u8) -> Dose {
        self.limits.of_page(block, page, retries)
    }

    fn page_limits(&self) -> Option<&PageLimits> {
        Some(&self.limits)
    }

    #[cfg(feature = "seeded-bugs")]
    fn page_limits_mut(&mut self) -> Option<&mut PageLimits> {
        Some(&mut self.limits)
    }

    fn base_at_program(&self, block: &BlockView, wordline: WordlineInBlock) -> Quarters {
        let i = wordline.index();
        let e = self.limits.table.truth(self.limits.table.group_of(wordline), block.pec);
        let s = i.checked_sub(self.stride).map_or(Quarters::ZERO, |n| block.wordlines[n].reads);
        let before = s * e.alpha + block.reads.far() - s.far();
        spared(before / Alpha::ONE, self.preprogram_weight)
    }
}
