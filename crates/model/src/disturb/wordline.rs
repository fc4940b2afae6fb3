//! Error model `wordline` (straw-2024 III). From a wordline's programming on, reads of its two
//! neighbours count alpha times, and reads elsewhere in the block count once. Reads of the wordline
//! itself do not count.
//!
//! ```text
//! RC = reads of a wordline, BLK = of the block, both since erase; at i's programming b = BLK, s = RC[i-d]
//! dose(i) = alpha (RC[i-d] - s + RC[i+d]) + (BLK - b) - (RC[i-d] - s) - RC[i] - RC[i+d]
//!         = alpha (RC[i-d] + RC[i+d]) + BLK - RC[i-d] - RC[i] - RC[i+d] - base      with base = alpha s + (b - s)
//! ```

use super::rows::Endurance;
use super::{Assessment, BlockView, Counts, ErrorModel, LATEST, Wordline};
use crate::base::dose::{Alpha, Dose, Quarters};
use crate::base::units::WordlineInBlock;

/// Returns the reads of both neighbours of wordline `i` together. A missing neighbour has no reads.
fn neighbours(stride: usize, wordlines: &[Wordline], i: usize) -> Quarters {
    let below = i.checked_sub(stride).map_or(Quarters::ZERO, |n| wordlines[n].reads);
    let above = wordlines.get(i + stride).map_or(Quarters::ZERO, |w| w.reads);
    below + above
}

/// Returns the dose of a wordline.
#[inline]
pub(super) fn dose(stride: usize, counts: &Counts, alpha: Alpha) -> Dose {
    let near = neighbours(stride, counts.wordlines, counts.wordline.index());
    let base = counts.wordlines[counts.wordline.index()].base;
    near * alpha + counts.reads.far() - near.far() - counts.own.far() - base.far()
}

impl ErrorModel {
    pub(super) fn assess_by_wordline(&self, stride: usize, block: &BlockView) -> Assessment {
        let endurances = self.endurances(block.pec);
        let groups = self.of_groups(block, &endurances);
        // All reads may hit the weakest wordlines' neighbours. The bound is 0 if age alone has used
        // up a limit.
        let fresh = self.of_new(block, &groups, &endurances);
        if block.reads < fresh {
            return Assessment::CleanUntil(fresh.min(LATEST));
        }
        if Self::is_born_tired(block, &groups) {
            return Assessment::Suspect;
        }
        let table = &self.table;
        let factor = table.block_factor(block.block);
        // Remaining dose of each group's worst wordline. The code divides once per group, not once
        // per wordline.
        let mut left = vec![Dose::MAX; endurances.len()];
        for wordline in WordlineInBlock::range(0..block.programmed()) {
            let kinds = block.live_kinds(wordline);
            if kinds == 0 {
                continue;
            }
            let group = table.group_of(wordline);
            let e = endurances[group];
            let dose = dose(stride, &Counts::of(block, wordline), e.alpha);
            let limit = self.of_kinds(block, &groups, wordline, factor, kinds);
            debug_assert!(dose <= block.reads * e.alpha, "{dose:?} after {:?} reads", block.reads);
            debug_assert!(fresh == Quarters::ZERO || limit >= fresh * e.alpha, "{limit:?}");
            if dose > limit {
                return Assessment::Suspect;
            }
            left[group] = left[group].min(limit - dose);
        }
        let of_group = |(left, e): (&Dose, &Endurance)| *left / e.alpha;
        let mut more = left.iter().zip(&endurances).map(of_group).min().unwrap_or(Quarters::MAX);
        // A wordline that will be programmed later has no dose yet. If this does not hold, the
        // drive asks again when it programs the wordline.
        if (block.programmed() as usize) < block.wordlines.len() {
            more = more.min(fresh);
        }
        Assessment::CleanUntil(block.reads.saturating_add(more).min(LATEST))
    }

    /// Returns the weighed reads of a block that a wordline has seen when it is programmed now.
    pub(super) fn before_program(
        &self,
        stride: usize,
        block: &BlockView,
        wordline: WordlineInBlock,
    ) -> Quarters {
        let e = self.table.truth(self.table.group_of(wordline), block.pec);
        let s = wordline.index().checked_sub(stride);
        let s = s.map_or(Quarters::ZERO, |n| block.wordlines[n].reads);
        (s * e.alpha + block.reads.far() - s.far()) / Alpha::ONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::geometry::Geometry;
    use crate::base::latency::AccessLatency;
    use crate::base::units::{BlockId, PageInBlock};
    use crate::config::DriveConfig;
    use crate::disturb::{PageHealth, error_model};
    use crate::error::ages::Ages;

    const WORDLINES: usize = 8;

    fn config() -> DriveConfig {
        let text = r#"
            geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 40, wordlines_per_block = 8, cell = "tlc", page_size = "4KiB" }
            timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
            drive = { spare = 0.5 }
            start = { age = "1d" }
            error = { model = "powerlaw", e = 0.0045, b = 0.0005, m = 0.0, n = 0.2, longest_age = "30d" }
            ecc = { cap = [0.0085] }

            [disturb]
            model = "wordline"
            groups = ["weak", "strong"]
            spread = [1.5, 1.5]
            block_variation = 0.3
            kind_factor = [1.5, 1.0, 2.0]
            table = [{ pec = 0, limit = [1000.0, 1500.0], alpha = [4.0, 3.0] }]
        "#;
        toml::from_str::<DriveConfig>(text).unwrap().resolve().unwrap()
    }

    /// Returns a full block in which only wordline `at` was read.
    fn read_at(at: usize, reads: Quarters) -> [Wordline; WORDLINES] {
        let mut wordlines = [Wordline::default(); WORDLINES];
        wordlines[at].reads = reads;
        wordlines
    }

    /// In the worst pattern, all reads of the block hit one neighbour. The test looks limits up
    /// page by page and finds the bound by trial. The bound is the smallest number of reads of one
    /// wordline that brings a page past its limit.
    #[test]
    fn a_block_is_clean_below_the_bound_for_fresh_data_wherever_its_reads_go() {
        let config = config();
        let geometry = Geometry::new(&config);
        let model = error_model(&config).expect("one that disturbs");
        for step in [0, 1, 40, Ages::default().step(config.error.longest_age.0)] {
            let mut least = u32::MAX;
            for at in 0..WORDLINES {
                let assess = |reads: u32| {
                    let reads = Quarters::from_count(reads);
                    let wordlines = read_at(at, reads);
                    let view = BlockView {
                        block: BlockId::new(3),
                        reads,
                        pec: 0,
                        wordlines: &wordlines,
                        pages_per_wordline: 3,
                        codings: &geometry.codings,
                        mode: 0,
                        recoded: &[],
                        written: 24,
                        valid: &[u64::MAX],
                        age_step: step,
                        budget: AccessLatency::Smallest,
                    };
                    let is_well = PageInBlock::range(0..24)
                        .all(|page| model.health(&view, page) == PageHealth::WELL);
                    (model.assess(&view), is_well)
                };
                let first_ill = (0..16_000).find(|reads| !assess(*reads).1).unwrap_or(16_000);
                for reads in (0..16_000).step_by(97).chain([first_ill.saturating_sub(1)]) {
                    match assess(reads).0 {
                        Assessment::CleanUntil(until) => {
                            assert!(until.count() < first_ill && reads < first_ill, "step {step}")
                        }
                        Assessment::Suspect => {
                            assert!(reads >= first_ill, "step {step}, wordline {at}: {reads} reads")
                        }
                    }
                }
                least = least.min(first_ill);
            }
            assert!(
                least > 300 && least < 16_000,
                "step {step}: {least} reads are the most that the block bears"
            );
        }
    }
}
