//! # STRAW-WL
//! Counts the reads of every wordline, looks at a block every so many reads, and rewrites the wordlines whose own dose could reach
//! their limit before the next look.
//!
//! **Paper** straw-2024 III, with its naive counters ("STRAW-WL" of Fig. 8).
//! **Acts at** multiples of the interval I of a block's reads (`reclaim.check_interval`), on each wordline i with valid pages and
//! `dose(i) + alpha (max(I, R_late + 1) + R_late) + M > ERC_MAX`, with `M = V + 2 (alpha - 1) p`: movers read each of the block's V
//! valid pages once more, p of them on each neighbour. Moved pages leave a hole; a block without valid pages is erased.
//! **Costs** 3 bytes per wordline and block: the counters of the drive are read here, because the controller's would be the same.
//! **Departs from the paper** doses count from a wordline's own programming, not from the erase; the margin has a term for the movers'
//! own reads and one for the reads that a block serves until its job is done; looks that cannot find anything are left out.
//! **Does not help** where everything is read evenly and ages alike; and the holes are GC's to clean.
//!
//! ```text
//! one page a wordline, alpha 9, limit 900, I = 10, three wordlines, hammered in the middle:
//!                 fresh wordline: 900 - 9 (10 + 1) - (3 + 2 x 8) = 782 may have been taken = 86 reads: first look at 90
//! reads   90      dose of both neighbours 810 > 782: both move (3 - 2 valid pages left), the middle one, dose 0, stays
//! ```
//!
//! **Why it is safe.** A wordline that a look leaves where it is can take `alpha` for each read until the next look and `M` for movers'
//! reads, whenever they come: valid pages only get fewer (those an open block will still be given are counted as valid), and each is read
//! by a mover at most once. The next look comes after at most I reads, or, where a job is under way, when the job is over and
//! `R_late` reads and the one after it have passed. At that look the wordline is left again, for the same reason safe, or moved; then it
//! must bear `R_late` reads more and the movers' part of M that is still to come. The sum is the formula. A wordline programmed
//! after a look has taken less than one that was fresh at it, and the look at an open block takes a fresh one into account. Reads
//! before the programming count as `preprogram_weight` has it; the look counts them in full.
//! A dose grows by at most alpha with each read, so a look before the smallest margin is used up finds nothing: it is left out.

use super::{Action, Policy, Threshold, View};
use crate::config::{DisturbModel, DoseUnit, DriveConfig};
use crate::disturb::table::{ALPHA_ONE, DOSE_ONE, LimitTable, QUARTERS, dose_per_kind};
use crate::geometry::Geometry;
use crate::nand::block::Wordline;
use crate::page_set::PageSet;
use crate::units::{BlockId, Bytes, Reads};

pub(super) struct StrawWl {
    interval: u32,
    /// Leaves out looks that cannot find anything.
    skips: bool,
    /// Dose units by which alarms may be overshot between a look and the end of the job of the next: none where every read counts one.
    overshoot: u32,
    /// Largest weight of one read, in quarters.
    heaviest: u32,
    /// 1 where a wordline's own reads disturb it (model `count`), else 0.
    own_weight: u64,
    /// Whether reads count for wordlines that are not yet programmed.
    counts_before: bool,
    /// What wordlines may take, by `LimitTable::lookup_class`.
    budgets: Vec<Option<Budget>>,
    /// Room for a look: reads of the wordlines between margins of nothing, and what each may still take.
    reads: Vec<u32>,
    slack: Vec<i64>,
}

/// What each wordline of a block may have taken at a look that leaves it, in 1/1024 units, but for V.
struct Budget {
    keep: Vec<i64>,
    alpha: Vec<u32>,
    highest_alpha: u32,
    /// The smallest entry of `keep`.
    fresh: i64,
}

impl StrawWl {
    pub(super) fn new(config: &DriveConfig) -> Self {
        let sensings = config.disturb.dose == DoseUnit::Sensings;
        Self {
            interval: config.reclaim.check_interval,
            skips: true,
            // A read weighs up to 2.25 units. Two alarms are passed by less than that each, and looks round up to whole units twice.
            overshoot: if sensings { 6 } else { 0 },
            heaviest: dose_per_kind(config.disturb.dose, config.geometry.cell)[..config.geometry.cell.bits() as usize]
                .iter()
                .copied()
                .max()
                .unwrap_or(QUARTERS),
            own_weight: u64::from(config.disturb.model == DisturbModel::Count),
            counts_before: config.disturb.preprogram_weight > 0.0,
            budgets: vec![],
            reads: vec![],
            slack: vec![],
        }
    }

    /// Reads that a wordline left at a look must bear until it is out.
    fn horizon(&self, view: &View) -> u32 {
        let late = late(view);
        self.interval.max(late + 1) + late + self.overshoot
    }

    /// What a wordline of a group may have taken at a look, before V is subtracted, in 1/1024 units.
    fn keep(&self, view: &View, limits: &LimitTable, group: usize, pec: u32) -> (i64, u32) {
        let e = limits.lookup(group, pec);
        let neighbours = 2 * (e.alpha - ALPHA_ONE) * u64::from(view.geometry.cell.bits());
        let margin = u64::from(QUARTERS) * (e.alpha * u64::from(self.horizon(view)) + neighbours);
        (e.limit.cast_signed() - margin.cast_signed(), e.alpha as u32)
    }

    fn budget(&mut self, view: &View, pec: u32) -> Option<usize> {
        let limits = view.limits?;
        let class = limits.lookup_class(pec);
        if self.budgets.len() <= class {
            self.budgets.resize_with(class + 1, || None);
        }
        if self.budgets[class].is_none() {
            let groups: Vec<_> = (0..limits.groups()).map(|g| self.keep(view, limits, g, pec)).collect();
            let of = |w| groups[limits.group_of(w)];
            let wordlines = 0..view.geometry.wordlines_per_block;
            let keep: Vec<i64> = wordlines.clone().map(|w| of(w).0).collect();
            let alpha: Vec<u32> = wordlines.map(|w| of(w).1).collect();
            let highest_alpha = alpha.iter().copied().max().expect("a block has wordlines");
            let fresh = keep.iter().copied().min().expect("a block has wordlines");
            self.budgets[class] = Some(Budget { keep, alpha, highest_alpha, fresh });
        }
        Some(class)
    }

    /// Dose that movers may still deposit on a wordline far from all they read, in 1/1024 units.
    fn movers(&self, view: &View, pages: u32) -> i64 {
        // The pages of a whole block weigh one unit each in the mean.
        let quarters = (pages * self.heaviest).min(view.geometry.pages_per_block * QUARTERS);
        i64::from(quarters) * ALPHA_ONE.cast_signed()
    }

    /// The next look after `now` block reads, where the smallest margin is `slack`, in 1/1024 units.
    fn next_look(&self, now: u32, slack: i64, alpha: u32) -> Reads {
        let idle = if self.skips { slack.max(0) as u64 / (u64::from(alpha) * u64::from(QUARTERS)) } else { 0 };
        let earliest = (u64::from(now) + idle).max(u64::from(now) + 1);
        Reads(earliest.next_multiple_of(u64::from(self.interval)).min(u64::from(u32::MAX - 1)) as u32)
    }

    /// Works out what each wordline of a block may still take, live or not, into `self.slack`.
    fn look(&mut self, view: &View, block: BlockId, class: usize) {
        let wordlines = view.wordlines(block);
        let stride = view.geometry.neighbour_stride as usize;
        self.reads.clear();
        self.reads.resize(stride, 0);
        self.reads.extend(wordlines.iter().map(|w| w.reads));
        self.reads.resize(wordlines.len() + 2 * stride, 0);
        let movers = self.movers(view, view.valid_pages(block) + view.pages_to_come(block));
        let budget = self.budgets[class].as_ref().expect("the caller has looked it up");
        self.slack.resize(wordlines.len(), 0);
        let below = &self.reads[..wordlines.len()];
        let above = &self.reads[2 * stride..][..wordlines.len()];
        slacks(&mut self.slack, budget, wordlines, below, above, Fixed { read: view.dose(block), own: self.own_weight, movers });
    }
}

/// `R_late`; a job that is not done at once has one read at least.
fn late(view: &View) -> u32 {
    view.late_reads.max(1)
}

/// What is the same for all wordlines of a block.
#[derive(Clone, Copy)]
struct Fixed {
    read: u32,
    own: u64,
    movers: i64,
}

/// Margin of each wordline in 1/1024 units; plain slices and no branch, so that it vectorises.
fn slacks(out: &mut [i64], budget: &Budget, wordlines: &[Wordline], below: &[u32], above: &[u32], f: Fixed) {
    let rows = wordlines.iter().zip(below).zip(above).zip(&budget.keep).zip(&budget.alpha);
    for (slack, ((((wordline, below), above), keep), alpha)) in out.iter_mut().zip(rows) {
        let near = u64::from(below + above);
        let own = u64::from(wordline.reads) * (1 - f.own);
        let far = u64::from(f.read).wrapping_sub(near + own + u64::from(wordline.base)).cast_signed();
        let dose = (u64::from(*alpha) * near).cast_signed() + far * ALPHA_ONE.cast_signed();
        *slack = keep - f.movers - dose;
    }
}

impl Policy for StrawWl {
    fn arm(&mut self, view: &View, block: BlockId) -> Reads {
        let Some(class) = self.budget(view, view.pec(block)) else { return Reads::NEVER };
        let movers = self.movers(view, view.geometry.pages_per_block);
        let budget = self.budgets[class].as_ref().expect("just looked up");
        self.next_look(0, budget.fresh - movers, budget.highest_alpha)
    }

    fn on_alarm(&mut self, view: &View, block: BlockId, out: &mut Vec<Action>) -> Reads {
        let Some(class) = self.budget(view, view.pec(block)) else { return Reads::NEVER };
        self.look(view, block, class);
        let now = view.reads(block).0;
        let budget = self.budgets[class].as_ref().expect("just looked up");
        let bits = view.geometry.cell.bits();
        let written = view.geometry.pages_per_block - view.pages_to_come(block);
        let is_open = written < view.geometry.pages_per_block;
        let mut smallest = if is_open { budget.fresh - self.movers(view, view.geometry.pages_per_block) } else { i64::MAX };
        let mut pages = None;
        for wordline in 0..view.geometry.wordlines_per_block {
            let first = wordline * bits;
            // Of an open block also what is written in part, and what is to be written where it has a dose before that.
            let unwritten = is_open && first + bits > written && (first < written || self.counts_before);
            let slack = self.slack[wordline as usize];
            if slack >= smallest && slack >= 0 || !(unwritten || view.is_valid(block, wordline)) {
                continue;
            }
            if slack < 0 {
                pages.get_or_insert_with(|| PageSet::none(view.geometry.pages_per_block)).insert(first, bits);
            } else {
                smallest = slack;
            }
        }
        if let Some(pages) = pages {
            out.push(Action::RelocatePages { block, pages });
            return Reads(now.saturating_add(late(view)));
        }
        self.next_look(now, smallest, budget.highest_alpha)
    }

    fn controller_ram(&self, geometry: &Geometry) -> Bytes {
        Bytes(3 * (u64::from(geometry.wordlines()) + u64::from(geometry.blocks)))
    }

    fn explain(&self, view: &View, pec: u32) -> Vec<Threshold> {
        let Some(limits) = view.limits else { return vec![] };
        let pages = view.geometry.pages_per_block;
        let movers = self.movers(view, pages) as f64 / DOSE_ONE as f64;
        let units = |n: i64| n as f64 / DOSE_ONE as f64;
        let of_group = |group: usize| {
            let (keep, alpha) = self.keep(view, limits, group, pec);
            let alpha = f64::from(alpha) / ALPHA_ONE as f64;
            let limit = limits.lookup(group, pec).limit as f64 / DOSE_ONE as f64;
            let near = 2.0 * (alpha - 1.0) * f64::from(view.geometry.cell.bits());
            Threshold {
                name: format!("wordline of group {} rewritten once its dose of a full block is above", view.disturb.groups[group]),
                reads: (units(keep) - movers).max(0.0) as u32,
                because: format!(
                    "ERC_MAX {limit} - alpha {alpha:.3} x (max(I {}, R_late {} + 1) + R_late{}) - M ({movers} + {near:.1})",
                    self.interval,
                    late(view),
                    if self.overshoot > 0 { format!(" + overshoot {}", self.overshoot) } else { String::new() },
                ),
            }
        };
        (0..limits.groups()).map(of_group).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::StrawWl;
    use crate::drive::{BATCH, Drive, Techniques};
    use crate::units::Cause;

    fn drive(text: &str, skips: bool) -> Drive {
        let config: crate::config::DriveConfig = toml::from_str::<crate::config::DriveConfig>(text).unwrap().resolve().unwrap();
        let mut drive = Drive::new(config.clone(), &Techniques { reclaim: "straw-wl".into(), ..Techniques::default() }, false).unwrap();
        drive.policy = Box::new(StrawWl { skips, ..StrawWl::new(&config) });
        drive.precondition(1);
        drive.begin_measurement();
        drive
    }

    #[test]
    fn only_the_neighbours_of_a_hammered_wordline_move() {
        let text = r#"
            geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 30, wordlines_per_block = 3, cell = "slc", page_size = "4KiB" }
            timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
            drive = { spare = 0.5 }
            disturb = { model = "wordline", table = [{ pec = 0, limit = [900], alpha = [9.0] }] }
            reclaim = { check_interval = 10 }
        "#;
        let mut drive = drive(text, true);
        let read = |drive: &mut Drive, times| (0..times).for_each(|_| drive.read_batch(&[1], &mut [0; BATCH]));
        read(&mut drive, 89);
        assert_eq!((drive.reclaim_counts().alarms, drive.reclaim_counts().pages_copied), (0, 0));
        read(&mut drive, 1);
        assert_eq!((drive.reclaim_counts().alarms, drive.reclaim_counts().pages_copied), (1, 2));
        read(&mut drive, 100_000);
        // The page that is read has lost its neighbours, and nothing disturbs it any more.
        assert_eq!((drive.reclaim_counts().pages_copied, drive.flash_counts().erases[Cause::Reclaim as usize]), (2, 0));
        assert_eq!(drive.lost_pages(), 0);
    }

    /// Reads skewed towards the low pages, with some writes, under both ways of looking.
    #[test]
    fn looks_left_out_would_have_found_nothing() {
        let text = r#"
            geometry = { channels = 2, dies_per_channel = 2, planes_per_die = 1, blocks_per_plane = 10, wordlines_per_block = 24, cell = "tlc", page_size = "16KiB", neighbour_stride = 2 }
            timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
            drive = { spare = 0.4, write_buffer = "128KiB" }
            reclaim = { check_interval = 16 }
            [disturb]
            model = "wordline"
            dose = "sensings"
            preprogram_weight = 0.5
            groups = ["good", "bad"]
            table = [{ pec = 0, limit = [4000, 2500], alpha = [8.0, 9.0] }, { pec = 40, limit = [3500, 2000], alpha = [8.5, 9.5] }]
        "#;
        let run = |skips| {
            let mut drive = drive(text, skips);
            let pages = u64::from(drive.geometry().host_pages);
            let mut random = 0u64;
            for _ in 0..1_500_000 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let unit = (random >> 40) as f64 / (1u64 << 24) as f64;
                let page = (unit * unit * unit * pages as f64) as u32;
                if (random >> 32).is_multiple_of(64) {
                    drive.write_page(page, u64::MAX);
                } else {
                    drive.read_batch(&[page], &mut [0; BATCH]);
                }
            }
            assert_eq!(drive.lost_pages(), 0);
            (*drive.flash_counts(), drive.reclaim_counts().pages_copied, drive.reclaim_counts().alarms)
        };
        let (counts, copied, looks) = run(true);
        let (every_counts, every_copied, every_look) = run(false);
        assert_eq!((counts, copied), (every_counts, every_copied));
        assert!(copied > 10_000 && looks * 3 < every_look * 2, "{copied} pages copied, {looks} looks of {every_look}");
    }
}
