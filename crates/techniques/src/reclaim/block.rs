//! # Block
//! Counts the reads of each block. The whole block is rewritten before any access pattern could
//! make one of its pages unreadable.
//!
//! - **Paper:** the baseline of all five papers (straw-2024 II; ipr-2018 IV, "Baseline"); Ha et
//!   al., IEEE TCAD 2015.
//! - **Acts at:** one alarm per block, after T reads. T is `floor((ERC_MAX - D_move) / alpha) -
//!   R_late` for the group where this is smallest. `D_move = P + 2 (alpha - 1) p` is the dose of a
//!   job that reads all P pages, p of them on each neighbour. `R_late` is the number of reads that
//!   the block serves during the job.
//! - **Costs:** 3 bytes per block.
//! - **Departs from the paper:** the papers set the threshold by hand. In vpass it follows from the
//!   limits, so it is safe at every P/E count and under every schedule. With `fixed_count = 1`,
//!   blocks have the threshold of the table's last row even while they are less worn, as in drives
//!   with one fixed count.
//! - **Does not help:** blocks with a few hot wordlines, because all other wordlines are rewritten
//!   unnecessarily.
//! - **Safety:** if T is 1 or more, no page is lost under any reads (`docs/reclaim/block.md`).
//!
//! ```text
//! 192 pages, one group, alpha 1, limit 10,000:      D_move = 192 + 0 = 192      T = 10,000 - 192 = 9,808
//! reads   0 ... 9,807   9,808 -> all valid pages move, the block is erased
//! ```

use super::OWN_AGE;
use super::Technique;
use super::promise::Budget;
use super::{Action, Policy, Promise, Rewrite, Threshold, View};
use vpass_drive::api::card::{About, Card, Kind, Needs, New, Param, Protection};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Bytes, Reads};
use vpass_drive::config::{DoseUnit, DriveConfig};
use vpass_drive::disturb::table::{Worn, dose_per_kind};
use vpass_drive::disturb::told::Limits;

pub(crate) const CARD: Technique = Card {
    about: About {
        name: "block",
        summary: "rewrites a whole block at the read count that the worst access pattern allows",
        paper: "Ha et al., TCAD 2015",
        protects: Protection::Sound,
        needs: Needs { limits: true, counters: false, retries: false },
        params: &[OWN_AGE, FIXED_COUNT],
        ..About::PLAIN
    },
    new: New::Listed(|args, config, _| {
        Box::new(Block {
            own_age: args.whole(&OWN_AGE) == 1,
            fixed_count: args.whole(&FIXED_COUNT) == 1,
            ..Block::new(config)
        })
    }),
};

const FIXED_COUNT: Param = Param {
    key: "fixed_count",
    kind: Kind::Whole,
    unit: "",
    default: 0.0,
    range: (0.0, 1.0),
    draw: &[0.0],
    meaning: "1: at any wear, rewrites at the read count for the highest P/E count in \
        disturb.table; 0: rewrites at the read count for the wear of the block",
    source: "the read counts of SSD-A and SSD-D in read-latency-relaxation-2021 do not fall with \
        wear",
    alias: None,
};

pub(super) struct Block {
    /// Number of dose units by which a block's dose may pass an alarm in one read. The number is 0
    /// if every read has a dose of 1.
    overshoot: f64,
    /// Whether a block's limits are looked up at the age of its data. Otherwise, they are those at
    /// the longest age.
    own_age: bool,
    /// Whether blocks have the threshold of the limit table's last row even while they are less
    /// worn.
    fixed_count: bool,
}

impl Block {
    /// Creates a technique that uses the limits at the longest age.
    pub(super) fn new(config: &DriveConfig) -> Self {
        Self {
            overshoot: if config.disturb.dose == DoseUnit::Sensings { 4.0 } else { 0.0 },
            own_age: false,
            fixed_count: false,
        }
    }

    /// Returns the dose, in dose units, that merging a wordline adds. It consists of a read of the
    /// most significant page for a backup, reads of all pages, and the disturbance of the program.
    pub(super) fn merging(config: &DriveConfig) -> f64 {
        let bits = config.geometry.cell.bits();
        let dose = dose_per_kind(config.disturb.dose, config.geometry.cell);
        let most_significant = dose[bits as usize - 1].whole_up();
        f64::from(bits + most_significant.0) + config.density.reprogram_dose
    }

    /// Returns the number of dose units by which a block's dose may pass an alarm in one read.
    pub(super) fn overshoot(&self) -> u32 {
        self.overshoot as u32
    }

    /// Returns the threshold at a P/E count and its terms, for pages of these kinds. `kinds` has
    /// one bit per page kind.
    pub(super) fn threshold(&self, view: &View, pec: u32, kinds: u32) -> Option<(u32, Terms)> {
        self.threshold_for(view, pec, kinds, Work::moving_all(view))
    }

    /// Returns the threshold at a P/E count for any job. The job may read a page several times or
    /// not at all, and the block may have any coding.
    pub(super) fn threshold_for(
        &self,
        view: &View,
        pec: u32,
        kinds: u32,
        work: Work,
    ) -> Option<(u32, Terms)> {
        self.threshold_worn(view, Worn::at_longest(pec), kinds, work)
    }

    /// Returns the threshold and its terms for a block with this wear and age.
    pub(super) fn threshold_worn(
        &self,
        view: &View,
        wear: Worn,
        kinds: u32,
        work: Work,
    ) -> Option<(u32, Terms)> {
        let limits = view.limits?;
        let of_group = |wear| {
            (0..limits.groups())
                .map(move |group| self.group_threshold(view, limits, wear, group, kinds, work))
                .min_by_key(|(reads, _)| *reads)
        };
        let own = of_group(wear)?;
        let last = limits.last_row();
        if !self.fixed_count || wear.pec >= last {
            return Some(own);
        }
        // The smaller of the two counts applies. So the guarantee also holds if limits rise with
        // wear.
        of_group(Worn { pec: last, ..wear }).into_iter().chain([own]).min_by_key(|(n, _)| *n)
    }

    /// Returns one budget for each wordline group: the doses that the thresholds reserve. Each
    /// budget includes at least one host read before the rewrite.
    pub(super) fn budgets(&self, view: &View, pec: u32, work: Work) -> Vec<Budget> {
        let Some(limits) = view.limits else { return vec![] };
        let of_group = |group: usize| {
            let terms = Self::terms(view, limits, Worn::at_longest(pec), group, ALL_KINDS, work);
            let reads = 1 + view.late_reads + self.overshoot();
            Budget { group, endures: terms.limit, alpha: terms.alpha, reads, own: terms.moving }
        };
        (0..limits.groups()).map(of_group).collect()
    }

    fn group_threshold(
        &self,
        view: &View,
        limits: Limits,
        wear: Worn,
        group: usize,
        kinds: u32,
        work: Work,
    ) -> (u32, Terms) {
        let terms = Self::terms(view, limits, wear, group, kinds, work);
        let worst_case = ((terms.limit - terms.moving) / terms.alpha - self.overshoot).floor();
        // The threshold is at least one read. If even one read is unsafe, the drive is refused, or
        // the run prints a warning (`promise`).
        let reads = (worst_case - f64::from(view.late_reads)).max(1.0) as u32;
        (reads, terms)
    }

    fn terms(
        view: &View,
        limits: Limits,
        wear: Worn,
        group: usize,
        kinds: u32,
        work: Work,
    ) -> Terms {
        let endurance = limits.lookup_worn(group, wear);
        let alpha = endurance.alpha.weight();
        let limit =
            limits.in_mode(limits.limit_of_kinds(endurance.limit, kinds), work.mode).units();
        let all = f64::from(view.geometry.wordlines_per_block) * work.units_per_wordline;
        let moving = all + 2.0 * (alpha - 1.0) * work.units_per_wordline;
        Terms { group, limit, alpha, moving }
    }

    /// Returns the formula of a threshold, with the numbers filled in.
    pub(super) fn because(&self, view: &View, t: &Terms) -> String {
        format!(
            "group {}: floor((ERC_MAX {} - D_move {:.1}) / alpha {:.3}{}) - R_late {}",
            view.disturb.groups[t.group],
            t.limit,
            t.moving,
            t.alpha,
            if self.overshoot > 0.0 {
                format!(" - overshoot {}", self.overshoot)
            } else {
                String::new()
            },
            view.late_reads
        )
    }
}

/// Job that rewrites a block at its threshold.
#[derive(Clone, Copy)]
pub(super) struct Work {
    /// Coding of the block.
    pub(super) mode: u8,
    /// Dose that the job adds by reading one wordline, in dose units.
    pub(super) units_per_wordline: f64,
}

impl Work {
    /// Creates the job that reads each page of a full-density block once.
    pub(super) fn moving_all(view: &View) -> Self {
        Self { mode: 0, units_per_wordline: f64::from(view.geometry.cell.bits()) }
    }
}

/// Set of all page kinds, with one bit each. QLC has four kinds. For other cells the additional
/// bits have no effect, because a missing kind is never the weakest.
pub(super) const ALL_KINDS: u32 = 0b1111;

/// Terms of the formula of a threshold.
pub(super) struct Terms {
    group: usize,
    limit: f64,
    alpha: f64,
    moving: f64,
}

impl Policy for Block {
    fn arm(&mut self, view: &View, block: BlockId) -> Reads {
        self.threshold_worn(view, view.worn(block, self.own_age), ALL_KINDS, Work::moving_all(view))
            .map_or(Reads::NEVER, |(reads, _)| Reads(reads))
    }

    fn on_alarm(&mut self, view: &View, block: BlockId, out: &mut Vec<Action>) -> Reads {
        if self.own_age {
            // The alarm may have come because the age step or the limit of the block has changed,
            // and not because of its reads.
            let threshold = self.arm(view, block);
            if threshold > view.reads(block) {
                return threshold;
            }
        }
        out.push(Rewrite::all(block).into());
        Reads(view.reads(block).0.saturating_add(view.late_reads.max(1)))
    }

    fn follows_age(&self) -> bool {
        self.own_age
    }

    fn controller_ram(&self, geometry: &Geometry) -> Bytes {
        Bytes(3 * u64::from(geometry.blocks))
    }

    fn promise(&self, view: &View, pec: u32) -> Promise {
        Promise::within(self.budgets(view, pec, Work::moving_all(view)))
    }

    fn explain(&self, view: &View, pec: u32) -> Vec<Threshold> {
        let Some((reads, terms)) = self.threshold(view, pec, ALL_KINDS) else { return vec![] };
        vec![Threshold {
            name: "block rewritten".into(),
            reads,
            because: self.because(view, &terms),
        }]
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::drive;
    use vpass_drive::base::units::{Cause, Lpn};

    #[test]
    fn worked_example() {
        let text = r#"
            geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 30, wordlines_per_block = 64, cell = "tlc", page_size = "4KiB" }
            reclaim.schedule = "foreground"
            timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
            drive = { spare = 0.5 }
            disturb = { model = "count", table = [{ pec = 0, limit = [10000] }] }
        "#;
        let (pages, limit) = (3 * 64, 10_000);
        let threshold = limit - pages;
        assert_eq!((pages, threshold), (192, 9_808));
        let mut drive = drive(text, "block");
        drive.begin_measurement();
        let mut after = |reads| {
            (0..reads).for_each(|_| drive.read_pages(&[Lpn::new(7)]));
            (
                drive.reclaim_counts().pages_copied,
                drive.flash_counts().erases[Cause::Reclaim as usize],
            )
        };
        assert_eq!(after(threshold - 1), (0, 0));
        assert_eq!(after(1), (pages, 1));
        assert_eq!(
            after(threshold - 1),
            (pages, 1),
            "at its new place the page has endured nothing"
        );
        assert_eq!(after(1), (2 * pages, 2));
        assert_eq!(drive.lost_pages(), 0);
    }

    /// The limit is 10,000 reads for a new block, and 5,000 reads at 1,000 P/E cycles. It leaves
    /// 9,808 and 4,808 reads for the host. With a fixed count, the threshold is 4,808 up to 1,000
    /// P/E cycles, and falls above them.
    #[test]
    fn a_fixed_count_is_that_of_the_last_row() {
        let reads_until_moved = |more: &str, pec: u32| {
            let text = format!(
                r#"
                geometry = {{ channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 30, wordlines_per_block = 64, cell = "tlc", page_size = "4KiB" }}
                reclaim.schedule = "foreground"
                timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }}
                drive = {{ spare = 0.5 }}
                disturb = {{ model = "count", table = [{{ pec = 0, limit = [10000] }}, {{ pec = 1000, limit = [5000] }}] }}
                start = {{ pec = {pec} }}
                {more}
            "#
            );
            let mut drive = drive(&text, "block");
            drive.begin_measurement();
            let mut reads = 0;
            while drive.reclaim_counts().pages_copied == 0 {
                drive.read_pages(&[Lpn::new(7)]);
                reads += 1;
            }
            reads
        };
        let counts = |more: &str| [0, 500, 1000, 2000].map(|pec| reads_until_moved(more, pec));
        assert_eq!(counts(""), [9808, 7308, 4808, 2308]);
        assert_eq!(counts("[reclaim.block]\nfixed_count = 1"), [4808, 4808, 4808, 2308]);
    }
}
