//! # STRAW-SS, sound
//! Works like `straw-ss`, but with an upper bound of the dose instead of an estimate. Whatever is
//! read, the bound is never below the dose.
//!
//! - **Paper:** straw-2024 III-B, corrected. The paper's ERC subtracts a wordline's own count,
//!   which may be too high.
//! - **Acts at:** the checks of `shared/straw.rs`, on `U(i) = (alpha - 1) (high[i-d] + high[i+d]) +
//!   BLK - low[i] - b`. For a wordline with a counter, `high` is the count, and `low` is the count
//!   minus its error. For any other wordline, `high` is the block's lowest count, and `low` is 0.
//!   BLK is the block's number of reads. b is the value of BLK when the programming of the
//!   wordline's eighth of the block began.
//! - **Costs:** 2 + 3 + 3 bytes per counter (wordline, count, error). Per block, 3 bytes for BLK
//!   and 8 x 3 bytes for its earlier values.
//! - **Departs from the paper:** as `straw-ss`, but with a new bound. Counts begin when an eighth
//!   of the block is programmed, not at the erase.
//! - **Does not help:** blocks in which more wordlines than counters are read evenly. Every
//!   wordline then counts as a neighbour of a hot wordline.
//! - **Safety:** no page is lost under any reads (`docs/reclaim/straw-ss-sound.md`).
//!
//! ```text
//! 32 counters, alpha 9; 32 wordlines are read 2,000 times each, among them both neighbours of i, which is never read: BLK 64,000
//! high[i-d] = high[i+d] = 2,000   low[i] = 0   b = 0      U = 8 x 4,000 + 64,000 = 96,000, equal to the dose   (straw-ss: 94,000)
//! ```

use super::Technique;
use super::View;
use super::shared::straw::{Budget, DoseEstimate, Straw};
use super::straw_ss::{Highest, quiet};
use super::{CHECK_INTERVAL, COUNTERS, OWN_AGE};
use vpass_drive::api::card::{About, Args, Card, InBulk, Needs, New, Protection};
use vpass_drive::base::dose::{Alpha, Dose, Quarters};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Bytes, WordlineInBlock};
use vpass_drive::config::DriveConfig;
use vpass_drive::disturb::spared;

pub(super) const CARD: Technique = Card {
    about: About {
        name: "straw-ss-sound",
        summary: "`straw-ss` with a bound instead of an estimate: safe under any reads",
        paper: "STRAW, corrected",
        protects: Protection::Sound,
        needs: Needs { limits: true, counters: true, retries: false },
        in_bulk: InBulk::OrderDrawn,
        params: &[CHECK_INTERVAL, COUNTERS, OWN_AGE],
        ..About::PLAIN
    },
    new: New::Listed(|args, config, _| Box::new(StrawSsSound::new(args, config))),
};

pub(super) type StrawSsSound = Straw<Sound>;

/// Estimate that is never below the dose of a wordline.
pub(super) struct Sound {
    /// Whether reads of a wordline disturb that wordline too, as in the model `count`.
    own_disturbs: bool,
    counters: u32,
    highest: Highest,
    /// Buffer for a check: a lower bound of the reads of each wordline.
    lowest: Vec<Quarters>,
}

impl DoseEstimate for Sound {
    const BOUND: &'static str = "largest possible dose";
    const FROM_ERASE: bool = true;

    fn new(args: &Args, config: &DriveConfig) -> Self {
        Self {
            own_disturbs: config.disturb.model.own_reads_disturb(),
            counters: args.whole(&COUNTERS),
            highest: Highest::default(),
            lowest: vec![],
        }
    }

    fn margins(
        &mut self,
        view: &View,
        block: BlockId,
        budget: &Budget,
        movers: Dose,
        out: &mut [Dose],
    ) {
        let tracked = view.tracked(block);
        self.lowest.clear();
        self.lowest.resize(out.len(), Quarters::ZERO);
        if !self.own_disturbs {
            for (wordline, entry) in tracked.entries() {
                self.lowest[wordline] = entry.count - entry.error;
            }
        }
        let (below, _, above) = self.highest.of(view, block);
        let read = view.dose(block);
        let (begun_at, segment) = tracked.begun_at();
        for (n, out) in out.chunks_mut(segment).enumerate() {
            let first = n * segment;
            // If an eighth of the block has no data yet, its programming begins now or later.
            let is_begun = WordlineInBlock::from_index(first).first_page(view.geometry.cell.bits())
                < view.written(block);
            let before =
                if is_begun { begun_at[n] } else { spared(read, view.disturb.preprogram_weight) };
            let of = first..first + out.len();
            let budget = (&budget.keep[of.clone()], &budget.alpha[of.clone()]);
            margins(
                out,
                budget,
                &below[of.clone()],
                &above[of.clone()],
                &self.lowest[of],
                (read - before, movers),
            );
        }
    }

    fn quiet(&self, view: &View, block: BlockId, slack: Dose, alpha: Alpha) -> Quarters {
        quiet(view, block, slack, alpha, Alpha::ONE)
    }

    fn controller_ram(&self, geometry: &Geometry) -> Bytes {
        Bytes(u64::from(geometry.blocks) * (u64::from(self.counters) * (2 + 3 + 3) + 3 + 8 * 3))
    }
}

/// Computes the margins of wordlines with the same b. The loop uses plain slices and has no branch,
/// so that the compiler can vectorise it.
fn margins(
    out: &mut [Dose],
    (keep, alpha): (&[Dose], &[Alpha]),
    below: &[Quarters],
    above: &[Quarters],
    lowest: &[Quarters],
    (read, movers): (Quarters, Dose),
) {
    let rows = below.iter().zip(above).zip(lowest).zip(keep).zip(alpha);
    for (margin, ((((below, above), low), keep), alpha)) in out.iter_mut().zip(rows) {
        let near = (*below + *above) * (*alpha - Alpha::ONE);
        let all = read.far() - low.far();
        *margin = *keep - movers - near - all;
    }
}

#[cfg(test)]
mod tests {
    use super::super::shared::straw::tests::{bounds, drive, looks_left_out_find_nothing};
    use super::super::straw_ss::tests::even_reads_beside_a_wordline_that_is_never_read;
    use super::super::straw_wl::Exact;
    use super::Sound;
    use crate::testing::row;
    use vpass_drive::base::units::{BlockId, Lpn};

    #[test]
    fn the_bound_holds_where_the_estimate_is_too_low() {
        let mut drive = even_reads_beside_a_wordline_that_is_never_read();
        assert_eq!(bounds::<Exact>(&mut drive, BlockId::new(0), 9)[100], 96_000);
        assert_eq!(bounds::<Sound>(&mut drive, BlockId::new(0), 9)[100], 96_000);
    }

    /// Checks the bound of every written wordline repeatedly, while open blocks are read and data
    /// is written and moved.
    #[test]
    fn no_dose_is_ever_above_its_bound() {
        for (weight, counters) in [(0.0, 2), (0.0, 7), (0.3, 3), (1.0, 8)] {
            let text = format!(
                r#"
                geometry = {{ channels = 1, dies_per_channel = 2, planes_per_die = 1, blocks_per_plane = 12, wordlines_per_block = 17, cell = "mlc", page_size = "4KiB" }}
                timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }}
                drive = {{ spare = 0.6, write_buffer = "0B" }}
                disturb = {{ model = "wordline", preprogram_weight = {weight}, table = [{{ pec = 0, limit = [3000], alpha = [9.0] }}] }}
                reclaim = {{ check_interval = 20, counters = {counters} }}
                "#
            );
            let mut drive = drive::<Sound>(&text, "straw-ss-sound", true);
            let pages = u64::from(drive.geometry().host_pages);
            let (mut random, mut compared) = (0u64, 0);
            for step in 0..60_000 {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let unit = (random >> 40) as f64 / (1u64 << 24) as f64;
                let page = (unit * unit * pages as f64) as u32;
                if (random >> 30).is_multiple_of(16) {
                    drive.write_page(Lpn::new(page), u64::MAX);
                } else {
                    drive.read_pages(&[Lpn::new(page)]);
                }
                if step % 41 != 0 {
                    continue;
                }
                for block in drive.geometry().block_ids() {
                    let written = u32::from(row(&drive, block).written).div_ceil(2) as usize;
                    let (doses, most) = (
                        bounds::<Exact>(&mut drive, block, 9),
                        bounds::<Sound>(&mut drive, block, 9),
                    );
                    let broken = (0..written).find(|w| doses[*w] > most[*w]);
                    assert_eq!(broken, None, "weight {weight}, block {block}: {doses:?} {most:?}");
                    compared += (0..written).filter(|w| doses[*w] > 100).count();
                }
            }
            assert!(compared > 10_000 && drive.lost_pages() == 0, "{compared} doses compared");
        }
    }

    #[test]
    fn looks_left_out_would_have_found_nothing() {
        looks_left_out_find_nothing::<Sound>("straw-ss-sound");
    }
}
