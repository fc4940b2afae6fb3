//! # IPR-WL
//! Works like `straw-wl`, but a wordline near its limit is first reprogrammed in place with guard
//! levels. Its most significant page moves. The other pages stay and endure ten times the reads.
//!
//! - **Paper:** none. The checks are those of straw-2024 III. Reprogramming is that of ipr-2018 III-C,
//!   applied to single wordlines.
//! - **Acts at:** the checks of `shared/straw.rs`. The merges of one job have the additional
//!   reserve `B = q K + 2 (alpha - 1) q`. A job merges at most `K = max(1, I / q)` wordlines, and
//!   each merge adds a dose of `q = p + density.reprogram_dose`. A wordline is merged at most once,
//!   and only if it can then stay beyond the next check. Otherwise it moves.
//! - **Costs:** `straw-wl`'s counters and one bit per wordline. A merge costs p reads, one program,
//!   at most one copy of a page, one page of capacity, and wear.
//! - **Departs from the papers:** there are no separate blocks for read-hot data, and data moves
//!   only when it must.
//! - **Does not help:** even reads, because more wordlines are then due than a job may merge. It
//!   does not help SLC cells either.
//! - **Safety:** no page is lost if merging increases a wordline's limit as configured. This
//!   increase has not been measured (`docs/reclaim/ipr-wl.md`).
//!
//! ```text
//! two pages a wordline, alpha 9, limit 900, I = 10, K = 5, three wordlines, hammered in the middle:
//!                 fresh: 900 - 9 (10 + 1) - (6 + 2 x 8 x 2) - (2 x 5 + 2 x 8 x 2) = 721 is the threshold
//! reads   90      dose of both neighbours 810 > 721; 810 + 9 + 38 + 42 <= 900: both are merged, one page of each moves; limit 9,000
//! reads  984      dose 9 x 984 + 3 = 8,859 > 8,823: the remaining pages of both move
//! ```

use super::CHECK_INTERVAL;
use super::Technique;
use super::shared::straw::{Budget, DoseEstimate, Look, Straw};
use super::straw_wl::Exact;
use super::{GUARDED, Rewrite, View};
use vpass_drive::api::card::{About, Args, Card, Needs, New, Protection};
use vpass_drive::base::dose::{Alpha, Dose, Quarters};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::page_set::{PageSet, WordlineSet, holds_any};
use vpass_drive::base::units::{BlockId, Bytes, Reads, WordlineInBlock};
use vpass_drive::config::DriveConfig;

pub(super) const CARD: Technique = Card {
    about: About {
        name: "ipr-wl",
        summary: "like `straw-wl`, but first reprograms a wordline with guard levels in place, and \
            moves the wordline only later",
        paper: "STRAW and IPR",
        protects: Protection::Sound,
        lowers_density: true,
        needs: Needs { limits: true, counters: false, retries: false },
        params: &[CHECK_INTERVAL],
        ..About::PLAIN
    },
    new: New::Listed(|args, config, _| Box::new(IprWl::new(args, config))),
};

pub(super) type IprWl = Straw<Guarding>;

/// Exact doses, and guard levels for the wordlines that gain from them.
pub(super) struct Guarding {
    exact: Exact,
    /// Largest number of wordlines that one job may merge.
    per_job: u32,
    /// Dose that a merge of a wordline adds to the block. It consists of the reads for the merge
    /// and the disturbance by its program.
    per_merge: Quarters,
    /// Largest number of pages that guard levels may take away in a domain. A wordline with guard
    /// levels holds one page less.
    most: u32,
    /// Number of wordlines that moved although they had guard levels. `refused` is the number that
    /// moved because guard levels were already taking the largest allowed number of pages.
    used_up: u64,
    refused: u64,
}

impl DoseEstimate for Guarding {
    const BOUND: &'static str = Exact::BOUND;
    const FROM_ERASE: bool = Exact::FROM_ERASE;

    fn new(args: &Args, config: &DriveConfig) -> Self {
        let bits = config.geometry.cell.bits();
        let g = Geometry::new(config);
        let most = (config.density.low_density
            * f64::from(g.blocks_per_domain() * g.wordlines_per_block)) as u32;
        let helps = bits > 1 && most > 0 && config.density.limit_factor > 1.0;
        // For every value of `disturb.dose`, reads of all pages of a wordline have a mean dose of
        // one unit per read.
        let per_merge = Quarters::UNIT * bits + config.density.reprogram_quarters();
        let per_job = if helps {
            per_merge.times_in(Reads(args.whole(&CHECK_INTERVAL)).quarters()).max(1)
        } else {
            0
        };
        Self { exact: Exact::new(args, config), per_job, per_merge, most, used_up: 0, refused: 0 }
    }

    fn margins(
        &mut self,
        view: &View,
        block: BlockId,
        budget: &Budget,
        movers: Dose,
        out: &mut [Dose],
    ) {
        self.exact.margins(view, block, budget, movers, out);
        for ((left, gain), coding) in out.iter_mut().zip(&budget.gain).zip(view.recoded(block)) {
            *left += if *coding == GUARDED { *gain } else { Dose::ZERO };
        }
    }

    fn quiet(&self, view: &View, block: BlockId, slack: Dose, alpha: Alpha) -> Quarters {
        self.exact.quiet(view, block, slack, alpha)
    }

    fn burden(&self, _: &Geometry, alpha: Alpha) -> Dose {
        if self.per_job == 0 {
            return Dose::ZERO;
        }
        self.per_merge.far() * self.per_job + self.per_merge * ((alpha - Alpha::ONE) * 2)
    }

    fn remedy(&mut self, view: &View, block: BlockId, pages: PageSet, look: &Look) -> Rewrite {
        let bits = view.geometry.cell.bits();
        let mut moving = PageSet::none(view.geometry.pages_per_block);
        let mut merging = WordlineSet::none(view.geometry.wordlines_per_block);
        let room = view.spare_pages().min(self.most.saturating_sub(view.pages_away()));
        let mut left = self.per_job.min(room);
        for wordline in
            view.geometry.wordlines_in_block().filter(|w| holds_any(pages.words(), *w, bits))
        {
            let has_guards = view.is_recoded(block, wordline);
            if left > 0 && !has_guards && self.helps(view, block, wordline, look) {
                left -= 1;
                merging.insert(wordline, 1);
                continue;
            }
            self.used_up += u64::from(has_guards);
            self.refused += u64::from(room == 0 && !has_guards);
            moving.insert(wordline.first_page(bits), bits);
        }
        if merging.is_empty() {
            return Rewrite::pages(block, moving);
        }
        Rewrite::recode_wordlines(block, GUARDED, merging, moving)
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        vec![("guards_used_up", self.used_up), ("guards_refused", self.refused)]
    }

    fn controller_ram(&self, geometry: &Geometry) -> Bytes {
        Bytes(self.exact.controller_ram(geometry).0 + u64::from(geometry.wordlines()).div_ceil(8))
    }
}

impl Guarding {
    /// Returns whether guard levels help a full-density wordline. There must be time to merge it,
    /// it must keep a valid page, and it must not need to move at the next check.
    fn helps(&self, view: &View, block: BlockId, wordline: WordlineInBlock, look: &Look) -> bool {
        let (w, bits) = (wordline.index(), view.geometry.cell.bits());
        let first = wordline.first_page(bits);
        let is_whole = first + bits <= view.written(block);
        let kept = view.geometry.codings.row(GUARDED);
        let keeps_any =
            || (0..bits).any(|kind| kept.keeps(kind) && view.is_valid_page(block, first + kind));
        let alpha = look.budget.alpha[w];
        let in_time = look.margins[w] + Reads(look.horizon - look.late) * alpha >= Dose::ZERO;
        let outlasts = look.margins[w] + look.budget.gain[w]
            >= Reads(look.horizon) * alpha + self.burden(view.geometry, alpha);
        is_whole && in_time && outlasts && keeps_any()
    }
}

#[cfg(test)]
mod tests {
    use super::super::shared::straw::tests::{drive, looks_left_out_find_nothing};
    use super::Guarding;
    use crate::testing::row;
    use vpass_drive::base::units::{BlockId, Bytes, Cause, Lpn};
    use vpass_drive::drive::Drive;

    const FIRST: BlockId = BlockId::new(0);

    /// Returns the drive of the worked example, with thirty blocks of three wordlines of two pages.
    fn example(more: &str) -> Drive {
        let text = format!(
            r#"
            geometry = {{ channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 30, wordlines_per_block = 3, cell = "mlc", page_size = "4KiB" }}
            timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }}
            drive = {{ spare = 0.5, write_buffer = 0 }}
            disturb = {{ model = "wordline", table = [{{ pec = 0, limit = [900], alpha = [9.0] }}] }}
            reclaim = {{ schedule = "foreground", check_interval = 10 }}
            {more}
            "#
        );
        drive::<Guarding>(&text, "ipr-wl", true)
    }

    fn hammer(drive: &mut Drive, times: u32) {
        (0..times).for_each(|_| drive.read_pages(&[Lpn::new(2)]));
    }

    /// Returns the number of copied pages, of merged wordlines, and of pages that guard levels take
    /// away now.
    fn done(drive: &Drive) -> (u64, u64, u32) {
        (
            drive.reclaim_counts().pages_copied,
            drive.flash_counts().reprograms[Cause::Reclaim as usize],
            drive.view(FIRST).pages_away(),
        )
    }

    #[test]
    fn worked_example() {
        let mut drive = example("");
        hammer(&mut drive, 89);
        assert_eq!(done(&drive), (0, 0, 0));
        hammer(&mut drive, 1);
        assert_eq!(done(&drive), (2, 2, 2));
        hammer(&mut drive, 893);
        assert_eq!(done(&drive), (2, 2, 2));
        hammer(&mut drive, 1);
        assert_eq!(done(&drive), (4, 2, 2));
        hammer(&mut drive, 100_000);
        // The neighbours of the pages that are read have moved, so the reads disturb no data.
        assert_eq!(done(&drive), (4, 2, 2));
        assert_eq!(
            (drive.lost_pages(), drive.flash_counts().erases[Cause::Reclaim as usize]),
            (0, 0)
        );
        assert_eq!(drive.technique_counts(), [("guards_used_up", 2), ("guards_refused", 0)]);
        assert_eq!(drive.controller_ram(), Bytes(3 * (90 + 30) + 12));
    }

    #[test]
    fn what_has_no_room_or_no_gain_moves_as_under_straw_wl() {
        for more in ["density = { low_density = 0 }", "density = { limit_factor = 1 }"] {
            let mut drive = example(more);
            hammer(&mut drive, 90);
            assert_eq!(done(&drive), (4, 0, 0), "{more}");
        }
        // In the first case, one wordline may be merged; in the second, none. The technique
        // reserves the dose of merges in both cases.
        for (more, found) in [
            ("density = { low_density = 0.012 }", (3, 1, 1)),
            ("density = { spare_share = 0 }", (4, 0, 0)),
        ] {
            let mut drive = example(more);
            hammer(&mut drive, 90);
            assert_eq!(done(&drive), found, "{more}");
        }
    }

    #[test]
    fn a_merged_wordline_counts_as_full_and_gives_its_page_back_at_the_erase() {
        let merged_and_erased = |more: &str| {
            let mut drive = example(more);
            hammer(&mut drive, 90);
            assert_eq!(row(&drive, FIRST).valid, 4, "of the four pages that it can hold");
            for _ in 0..2 {
                Lpn::range(0..drive.geometry().host_pages)
                    .for_each(|lpn| drive.write_page(lpn, u64::MAX));
            }
            drive
        };
        let without = merged_and_erased("density = { wear_counts_for_limits = false }");
        assert_eq!(without.view(FIRST).pec(FIRST), row(&without, FIRST).pec);
        let drive = merged_and_erased("");
        let block = row(&drive, FIRST);
        assert_eq!(
            drive.view(FIRST).pec(FIRST),
            block.pec + 1,
            "a fifth of a cycle more is a cycle more for its limits"
        );
        assert_eq!((drive.view(FIRST).pages_away(), block.reprogrammed_cycles), (0, 1));
        assert_eq!(
            block.effective_milli,
            u64::from(block.pec) * 1_000 + 200,
            "its first cycle was a reprogrammed one"
        );
    }

    #[test]
    fn looks_left_out_would_have_found_nothing() {
        looks_left_out_find_nothing::<Guarding>("ipr-wl");
    }
}
