//! # Tiered
//! Counts reads more finely as a block nears its limit: first per block, then per layer, then per
//! wordline. The counters of layers and wordlines come from a pool, and only blocks that need them
//! get them.
//!
//! - **Paper:** none. The idea is Hydra's for DRAM rows (Qureshi et al., ISCA 2022); the check is
//!   that of straw-2024 (`shared/straw.rs`).
//! - **Acts at:** the share `reclaim.tier_share` of `block`'s threshold T. From this read count on,
//!   a block has layer counters and is checked as in `straw-wl`. It gets wordline counters when,
//!   according to its layer counters, a wordline may have used this share of its limit. A block
//!   without layer counters moves as a whole, at T or later.
//! - **Costs:** 6 bytes per block, 3 bytes per counter of the pools (`reclaim.layer_sets`,
//!   `reclaim.wordline_sets`) and 12 bytes per set.
//! - **Departs from the paper:** Hydra also keeps one counter per row in memory. `tiered` has only
//!   the pool, to which cold blocks return their counters.
//! - **Does not help:** drives with more hot blocks than counter sets. Hot blocks without a set are
//!   rewritten as a whole.
//! - **Safety:** no page is lost under any reads (`docs/reclaim/tiered.md`).
//!
//! ```text
//! alpha 9, limit 900, tier_share 0.25, one page a wordline, two wordlines a layer, four in all, without margins; wordline 1 is hammered:
//! reads   25   tier_share of 900 / 9: layers, 25 unplaced       50   8 x 25 = 200 is at most 225 of the 900: no change
//!         54   8 x 29 = 232: wordlines, 25 unplaced, 29 in layer 0
//!        100   bound of 0 and 2: 8 (25 + 29 + 46) + 100 = 900: both move; 3, beside 2, has 8 (25 + 0 + 0) + 100 = 300
//! ```

mod placed;
mod sets;

use super::Technique;
use super::block::{ALL_KINDS, Block, Work};
use super::shared::straw::Straw;
use super::{Action, Policy, Promise, Threshold, View};
use super::{CHECK_INTERVAL, OWN_AGE};
use placed::Placed;
use vpass_drive::api::card::{About, Args, Card, Kind, Needs, New, Param, Protection};
use vpass_drive::base::dose::Alpha;
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Bytes, Reads};
use vpass_drive::config::DriveConfig;
use vpass_drive::disturb::table::Worn;

/// Share of a limit. When a block or a wordline has used up this share of its limit, its reads are
/// counted more finely.
const TIER_SHARE: Param = Param {
    key: "tier_share",
    kind: Kind::Real,
    unit: "share",
    default: 0.1,
    range: (0.0, 1.0),
    draw: &[0.0, 0.1, 0.5, 1.0],
    meaning: "A block or a wordline gets finer counters when this share of the limit is used; 0: a \
        block has finer counters from its erase on",
    source: "Assumption: docs/design/techniques.md shows the costs and savings of other \
        values",
    alias: Some("tier_share"),
};
/// Number of sets of layer counters, divided by the number of blocks.
const LAYER_SETS: Param = Param {
    key: "layer_sets",
    default: 0.02,
    draw: &[0.0, 0.1, 1.0],
    meaning: "Number of sets of layer counters, as a share of the number of blocks",
    alias: Some("layer_sets"),
    ..TIER_SHARE
};
/// Number of sets of wordline counters, divided by the number of blocks.
const WORDLINE_SETS: Param = Param {
    key: "wordline_sets",
    default: 0.002,
    draw: &[0.0, 0.05, 1.0],
    meaning: "Number of sets of wordline counters, as a share of the number of blocks",
    alias: Some("wordline_sets"),
    ..TIER_SHARE
};

pub(super) const CARD: Technique = Card {
    about: About {
        name: "tiered",
        summary: "`straw-wl` with layer and wordline counters from a pool, only for the blocks \
            that need them",
        paper: "Hydra, ISCA 2022",
        protects: Protection::Sound,
        needs: Needs { limits: true, counters: false, retries: false },
        params: &[CHECK_INTERVAL, TIER_SHARE, LAYER_SETS, WORDLINE_SETS, OWN_AGE],
        ..About::PLAIN
    },
    new: New::Listed(|args, config, _| Box::new(Tiered::new(args, config))),
};

/// Divisor for repeated requests. A block that found no free set asks again after this part of its
/// remaining reads: the eighth for 8.
const RETRIES: u32 = 8;

pub(super) struct Tiered {
    block: Block,
    straw: Straw<Placed>,
    /// Whether the pools have any sets of counters.
    has_sets: bool,
    share: f64,
    interval: u32,
}

impl Tiered {
    pub(super) fn new(args: &Args, config: &DriveConfig) -> Self {
        Self {
            block: Block::new(config),
            straw: Straw::new(args, config),
            has_sets: args.real(&LAYER_SETS) > 0.0,
            share: args.real(&TIER_SHARE),
            interval: args.whole(&CHECK_INTERVAL),
        }
    }

    fn own_age(&self) -> bool {
        self.straw.follows_age()
    }

    /// Returns two read counts. At the first, a block gets layer counters. At the second, a block
    /// without layer counters moves as a whole.
    fn bounds(&self, view: &View, worn: Worn) -> Option<(u32, u32)> {
        let (threshold, _) =
            self.block.threshold_worn(view, worn, ALL_KINDS, Work::moving_all(view))?;
        Some(((f64::from(threshold) * self.share) as u32, threshold))
    }

    /// Returns the read count at which a block without layer counters moves as a whole. If it had
    /// such counters earlier, these may show that some reads were not beside any wordline with
    /// data. Such reads then weigh 1 instead of alpha.
    fn end(&self, view: &View, block: BlockId, threshold: u32) -> u32 {
        let alphas = view.limits.into_iter().flat_map(|limits| {
            let pec = view.pec(block);
            (0..limits.groups()).map(move |group| limits.lookup(group, pec).alpha)
        });
        let alpha = alphas.min().unwrap_or(Alpha::ONE);
        let away = self.straw.estimate.away(block) * (alpha - Alpha::ONE) / alpha;
        threshold.saturating_add(away.whole_down().0)
    }

    /// Returns the read count at which a block asks again for a set of counters. It is at most
    /// `end`, at which the block moves as a whole.
    fn retry(&self, now: u32, end: u32) -> u32 {
        now.saturating_add(((end - now) / RETRIES).max(self.interval)).min(end)
    }
}

impl Policy for Tiered {
    fn arm(&mut self, view: &View, block: BlockId) -> Reads {
        let Some((first, _)) = self.bounds(view, view.worn(block, self.own_age())) else {
            return Reads::NEVER;
        };
        self.straw.estimate.begin(block);
        if first > 0 || !self.straw.estimate.count_layers(view, block) {
            return Reads(first.max(1));
        }
        self.straw.estimate.count_wordlines(view, block);
        self.straw.arm(view, block)
    }

    fn on_alarm(&mut self, view: &View, block: BlockId, out: &mut Vec<Action>) -> Reads {
        let Some((first, threshold)) = self.bounds(view, view.worn(block, self.own_age())) else {
            return Reads::NEVER;
        };
        let now = view.reads(block).0;
        if self.own_age() && now < first && !self.straw.estimate.counts_layers(view, block) {
            // This alarm came because of the block's age and not because of its reads.
            return Reads(first);
        }
        if !self.straw.estimate.counts_layers(view, block) {
            let end = self.end(view, block, threshold);
            if now >= end {
                return self.block.on_alarm(view, block, out);
            }
            if !self.straw.estimate.count_layers(view, block) {
                return Reads(self.retry(now, end));
            }
        }
        let next = self.straw.on_alarm(view, block, out);
        if !out.is_empty() || self.straw.estimate.counts_wordlines(view, block) {
            return next;
        }
        let Some((estimate, budget)) = self.straw.estimate_and_budget(view, block) else {
            return next;
        };
        match estimate.cool_for(view, block, budget, self.share) {
            0 if estimate.count_wordlines(view, block) => next,
            0 => Reads(self.retry(now, next.0)),
            cool => Reads(next.0.min(now.saturating_add(cool))),
        }
    }

    fn compares_with(&self, view: &View, block: BlockId) -> Vec<BlockId> {
        self.straw.estimate.compared_with(view, block)
    }

    fn follows_age(&self) -> bool {
        self.own_age()
    }

    fn controller_ram(&self, geometry: &Geometry) -> Bytes {
        self.straw.controller_ram(geometry)
    }

    fn memory(&self) -> Bytes {
        self.straw.memory()
    }

    fn promise(&self, view: &View, pec: u32) -> Promise {
        // Blocks without sets are not considered here, because they need smaller budgets than
        // blocks with sets.
        if self.has_sets { self.straw.promise(view, pec) } else { self.block.promise(view, pec) }
    }

    fn explain(&self, view: &View, pec: u32) -> Vec<Threshold> {
        let Some((first, threshold)) = self.bounds(view, Worn::at_longest(pec)) else {
            return vec![];
        };
        let layers = Threshold {
            name: "layers counted".into(),
            reads: first,
            because: format!(
                "tier_share {} of {threshold}, the threshold at which a block without layer \
                 counters is rewritten",
                self.share
            ),
        };
        std::iter::once(layers)
            .chain(self.block.explain(view, pec))
            .chain(self.straw.explain(view, pec))
            .collect()
    }

    /// Returns the mean number of reads between two rewrites, for blocks with counters. Their
    /// wordlines are rewritten one by one. These blocks wear most.
    fn reads_per_rewrite(&self, view: &View, pec: u32) -> Option<f64> {
        self.straw.reads_per_rewrite(view, pec)
    }
}

#[cfg(test)]
mod tests {
    use super::super::shared::straw::DoseEstimate;
    use super::super::shared::straw::tests::{bounds_of, budget};
    use super::Placed;
    use crate::testing::{self, row};
    use vpass_drive::base::metrics::FlashCounts;
    use vpass_drive::base::units::{BlockId, Cause, Lpn};
    use vpass_drive::drive::Drive;
    use vpass_drive::watch::observer::NO_PPN;

    fn drive(text: &str, technique: &str) -> Drive {
        let mut drive = testing::drive(text, technique);
        drive.begin_measurement();
        drive
    }

    /// Computes bounds of wordlines, and the reads until wordlines need counters, without margins.
    #[test]
    fn worked_example() {
        let text = r#"
            geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 30, wordlines_per_block = 4, strings_per_layer = 2, cell = "slc", page_size = "4KiB" }
            timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
            drive = { spare = 0.5 }
            disturb = { model = "wordline", table = [{ pec = 0, limit = [1000000], alpha = [9.0] }] }
            reclaim = { layer_sets = 1.0, wordline_sets = 1.0 }
        "#;
        let mut drive = drive(text, "none");
        let mut placed = Placed::new(&super::CARD.args(drive.config()), drive.config());
        let (budget, share) = (budget(4, 9, 900), 0.25);
        assert_eq!(
            (900 / 9 / 4, 900 / 4),
            (25, 225),
            "reads until layers are counted; what layers may give a wordline that stays cool"
        );
        let read =
            |drive: &mut Drive, times| (0..times).for_each(|_| drive.read_pages(&[Lpn::new(1)]));
        let cool_for = |placed: &mut Placed, drive: &mut Drive| {
            bounds_of(placed, drive, BlockId::new(0), 9);
            placed.cool_for(&drive.view(BlockId::new(0)), BlockId::new(0), &budget, share)
        };
        placed.begin(BlockId::new(0));
        read(&mut drive, 25);
        assert!(placed.count_layers(&drive.view(BlockId::new(0)), BlockId::new(0)));
        read(&mut drive, 25);
        assert!(cool_for(&mut placed, &mut drive) > 0, "8 x 25 = 200");
        read(&mut drive, 4);
        assert_eq!(cool_for(&mut placed, &mut drive), 0, "8 x 29 = 232");
        assert!(placed.count_wordlines(&drive.view(BlockId::new(0)), BlockId::new(0)));
        read(&mut drive, 46);
        let bounds = bounds_of(&mut placed, &mut drive, BlockId::new(0), 9);
        assert_eq!(
            (bounds[0], bounds[2], bounds[3]),
            (8 * (25 + 29 + 46) + 100, 8 * (25 + 29 + 46) + 100, 8 * 25 + 100)
        );
        assert_eq!((bounds[0], bounds[3]), (900, 300));
    }

    /// With margins, T = floor((900 - 4 - 16) / 9) = 97, so layers count from 24 reads on. A
    /// wordline may have 900 - 9 (2 + 1) - 16 - 4 = 853 of its 900. The neighbours of the hot
    /// wordline move at 95 reads, because 9 x 95 = 855.
    #[test]
    fn the_finer_the_counters_the_less_moves() {
        let reads_and_copies = |layer_sets: f64, wordline_sets: f64| {
            let text = format!(
                r#"
                geometry = {{ channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 30, wordlines_per_block = 4, strings_per_layer = 2, cell = "slc", page_size = "4KiB" }}
                timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }}
                drive = {{ spare = 0.5 }}
                disturb = {{ model = "wordline", table = [{{ pec = 0, limit = [900], alpha = [9.0] }}] }}
                reclaim = {{ check_interval = 1, tier_share = 0.25, layer_sets = {layer_sets}, wordline_sets = {wordline_sets} }}
                "#
            );
            let mut drive = drive(&text, "tiered");
            let mut reads = 0;
            while drive.reclaim_counts().pages_copied == 0 {
                drive.read_pages(&[Lpn::new(1)]);
                reads += 1;
            }
            (
                reads,
                drive.reclaim_counts().pages_copied,
                drive.flash_counts().erases[Cause::Reclaim as usize],
            )
        };
        assert_eq!(reads_and_copies(1.0, 1.0), (95, 2, 0), "the neighbours");
        assert_eq!(
            reads_and_copies(1.0, 0.0),
            (95, 3, 0),
            "the hot wordline too: it lies in the layer that was read, beside another"
        );
        assert_eq!(reads_and_copies(0.0, 1.0), (97, 4, 1), "the block");
    }

    /// Serves skewed reads and some writes.
    fn run(technique: &str, dose: &str, reclaim: &str) -> (FlashCounts, u64) {
        let text = format!(
            r#"
            geometry = {{ channels = 2, dies_per_channel = 2, planes_per_die = 1, blocks_per_plane = 10, wordlines_per_block = 24, strings_per_layer = 4, cell = "tlc", page_size = "16KiB", neighbour_stride = 2 }}
            timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }}
            drive = {{ spare = 0.4, write_buffer = "128KiB" }}
            reclaim = {{ check_interval = 16, {reclaim} }}
            [disturb]
            model = "wordline"
            dose = "{dose}"
            groups = ["good", "bad"]
            table = [{{ pec = 0, limit = [4000, 2500], alpha = [8.0, 9.0] }}, {{ pec = 40, limit = [3500, 2000], alpha = [8.5, 9.5] }}]
            "#
        );
        let mut drive = drive(&text, technique);
        let pages = f64::from(drive.geometry().host_pages);
        let mut random = 0u64;
        for _ in 0..1_000_000 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let unit = (random >> 40) as f64 / (1u64 << 24) as f64;
            let page = (unit * unit * unit * pages) as u32;
            if (random >> 32).is_multiple_of(64) {
                drive.write_page(Lpn::new(page), u64::MAX);
            } else {
                drive.read_pages(&[Lpn::new(page)]);
            }
        }
        assert_eq!(drive.lost_pages(), 0);
        (*drive.flash_counts(), drive.reclaim_counts().pages_copied)
    }

    #[test]
    fn with_wordlines_counted_from_the_erase_it_is_straw_wl() {
        let exact = run("straw-wl", "sensings", "");
        assert!(exact.1 > 5_000, "{} pages copied", exact.1);
        assert_eq!(
            run("tiered", "sensings", "tier_share = 0.0, layer_sets = 1.0, wordline_sets = 1.0"),
            exact
        );
    }

    /// The pool has one set of four layer counters, for 30 blocks of eight wordlines each.
    /// `T = floor((900 - 8 - 16) / 9) = 97`, so layers count from 24 reads on. Block 0 is read 80
    /// times. Then block 1 is read, and takes the set at its second attempt.
    ///
    /// If block 0 was hammered in one place, all of its reads may have been beside a wordline, and
    /// it is emptied at T. If the first and the last layer of block 0 were read in turn, 28 of the
    /// 56 counted reads were not beside any wordline. Block 0 is then emptied at
    /// `97 + floor(28 x 8 / 9) = 121`.
    #[test]
    fn a_block_that_cools_down_loses_its_set_and_keeps_what_it_knew() {
        let reads_until_emptied = |second: u32| {
            let text = r#"
                geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 30, wordlines_per_block = 8, strings_per_layer = 2, cell = "slc", page_size = "4KiB" }
                timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
                drive = { spare = 0.5 }
                disturb = { model = "wordline", table = [{ pec = 0, limit = [900], alpha = [9.0] }] }
                reclaim = { check_interval = 8, tier_share = 0.25, layer_sets = 0.01, wordline_sets = 0.0 }
            "#;
            let mut drive = drive(text, "tiered");
            let in_turn = |drive: &mut Drive, pages: [u32; 2], times: u32| {
                for page in (0..times).flat_map(|_| pages) {
                    assert!(drive.read_page(Lpn::new(page)) < NO_PPN);
                }
            };
            in_turn(&mut drive, [1, second], 40);
            in_turn(&mut drive, [9, 15], 30);
            let mut reads = 80;
            while row(&drive, BlockId::new(0)).valid == 8 {
                in_turn(&mut drive, [1, if reads % 2 == 0 { 9 } else { 15 }], 1);
                reads += 1;
            }
            (reads, row(&drive, BlockId::new(0)).valid)
        };
        assert_eq!(reads_until_emptied(1), (97, 0));
        assert_eq!(reads_until_emptied(7), (121, 0));
    }

    #[test]
    fn without_sets_it_is_block() {
        assert_eq!(
            run("tiered", "reads", "layer_sets = 0.0, wordline_sets = 0.0"),
            run("block", "reads", "")
        );
    }
}
