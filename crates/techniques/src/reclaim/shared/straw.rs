//! The check that all straw-2024 techniques share. It runs at fixed intervals of a block's reads,
//! and rewrites the wordlines whose dose could reach their limit before the next check. Each
//! technique has its own way to estimate doses, which is its [`DoseEstimate`].
//!
//! - **Acts at:** read counts of a block that are multiples of the interval I
//!   (`reclaim.check_interval`). A wordline i with valid pages moves if `bound(i) + alpha (max(I,
//!   R_late + 1) + R_late) + M > ERC_MAX`. `M = V + 2 (alpha - 1) p` is the dose that movers may
//!   add. They read each of the block's V valid pages once more; p of these pages lie on each
//!   neighbour.
//! - **Leaves behind:** an invalid page for each moved page. A block without valid pages is erased.
//!   Checks at which no wordline can be due are skipped.
//! - **Safety:** no page is lost under two conditions: `bound(i)` is never below the dose, and the
//!   first check leaves a new wordline in place (`docs/reclaim/straw.md`).

use std::collections::BTreeMap;

use super::super::promise::Budget as Promised;
use super::super::{Action, GUARDED, Policy, Promise, Rewrite, Threshold, View};
use super::super::{CHECK_INTERVAL, OWN_AGE};
use vpass_drive::api::card::Args;
use vpass_drive::base::dose::{Alpha, Dose, Quarters};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::page_set::PageSet;
use vpass_drive::base::units::{BlockId, Bytes, Reads, WordlineInBlock};
use vpass_drive::config::{DoseUnit, DriveConfig};
use vpass_drive::disturb::table::{Worn, dose_per_kind};
use vpass_drive::disturb::told::Limits;

/// Method by which a technique estimates the doses of a block's wordlines.
pub(crate) trait DoseEstimate: Send {
    /// Name of the estimate, which is an upper bound of the dose. `vpass explain` prints this name.
    const BOUND: &'static str;
    /// Whether the estimate also counts reads from before a wordline's programming. If so,
    /// wordlines without data in an open block have an estimate too. Once it has reached the limit,
    /// nothing may be written to the wordline.
    const FROM_ERASE: bool;

    /// Whether an attacker can cause a dose that is above its estimate.
    const CAN_BE_DECEIVED: bool = false;
    /// Whether the reserve is only `alpha I`, as in the paper. Such a reserve is unsafe, because it
    /// has no dose for movers' reads and for host reads during a job.
    const ONLY_THE_INTERVAL: bool = false;

    /// Creates the estimate for a drive of this configuration.
    fn new(args: &Args, config: &DriveConfig) -> Self;

    /// Computes the margin `budget.keep[i] - movers - bound(i)` of each wordline i, whether it
    /// holds data or not.
    fn margins(
        &mut self,
        view: &View,
        block: BlockId,
        budget: &Budget,
        movers: Dose,
        out: &mut [Dose],
    );

    /// Returns the dose that the block can take before the estimate of any wordline has grown by
    /// more than `slack`. `alpha` is the highest alpha in the block.
    fn quiet(&self, view: &View, block: BlockId, slack: Dose, alpha: Alpha) -> Quarters;

    /// Returns the dose that a wordline may get when a check reprograms other wordlines, in
    /// addition to reads of movers.
    fn burden(&self, _geometry: &Geometry, _alpha: Alpha) -> Dose {
        Dose::ZERO
    }

    /// Returns the rewrite that a check requests. `pages` has the pages of all wordlines that the
    /// check cannot leave unchanged.
    fn remedy(&mut self, _view: &View, block: BlockId, pages: PageSet, _look: &Look) -> Rewrite {
        Rewrite::pages(block, pages)
    }

    /// Returns counts for the results, each with its name.
    fn counts(&self) -> Vec<(&'static str, u64)> {
        vec![]
    }

    /// Returns the RAM of the counters in a real controller.
    fn controller_ram(&self, geometry: &Geometry) -> Bytes;

    /// Returns the largest memory that the counters take in the simulation. A few bytes per block
    /// are not included.
    fn memory(&self) -> Bytes {
        Bytes(0)
    }
}

/// Result of a check.
pub(crate) struct Look<'a> {
    /// Margin of each wordline: the dose that it may still take.
    pub(crate) margins: &'a [Dose],
    pub(crate) budget: &'a Budget,
    /// Number of host reads, in dose units, for which the margins have space until the end of the
    /// next check's job. `late` is the number until the end of this check's job.
    pub(crate) horizon: u32,
    pub(crate) late: u32,
}

/// Reclaim technique that consists of the common check and a dose estimate.
pub(crate) struct Straw<E> {
    pub(crate) estimate: E,
    interval: u32,
    /// Whether a block's limits are looked up at the age of its data. Otherwise, they are those at
    /// the longest age.
    own_age: bool,
    /// Whether to skip checks at which no wordline can be due.
    skips: bool,
    /// Number of dose units by which alarms may be passed between a check and the end of the next
    /// check's job. The number is 0 if every read has a dose of 1.
    overshoot: u32,
    /// Largest dose of one read.
    heaviest: Quarters,
    /// Whether the check includes wordlines that are not yet programmed, because their estimate may
    /// reach the limit.
    counts_before: bool,
    /// Doses that wordlines may have at a check, for each class of wear and age.
    budgets: BTreeMap<Class, Budget>,
    /// Buffer for the margins of a check: the dose that each wordline may still take.
    margins: Vec<Dose>,
}

/// Class of wear and age within which all limits are equal. [`Limits::worn_class`] computes it.
type Class = (u64, Option<usize>);

/// Largest number of stored budgets. This number suffices for many age steps at a few P/E counts.
const BUDGETS_MAX: usize = 512;

/// Doses up to which a check leaves wordlines unchanged. `keep` has this dose for each wordline.
/// The dose V of movers' reads is not yet subtracted from it.
pub(crate) struct Budget {
    pub(crate) keep: Vec<Dose>,
    pub(crate) alpha: Vec<Alpha>,
    /// Dose by which guard levels would increase each entry of `keep`.
    pub(crate) gain: Vec<Dose>,
    highest_alpha: Alpha,
    /// Smallest entry of `keep`.
    fresh: Dose,
}

impl<E: DoseEstimate> Straw<E> {
    pub(crate) fn new(args: &Args, config: &DriveConfig) -> Self {
        let sensings = config.disturb.dose == DoseUnit::Sensings;
        Self {
            estimate: E::new(args, config),
            interval: args.whole(&CHECK_INTERVAL),
            own_age: args.has(&OWN_AGE) && args.whole(&OWN_AGE) == 1,
            skips: true,
            // The dose of a read is at most 2.25 units, and two alarms are each passed by less than
            // one read. Checks round up to whole dose units twice.
            overshoot: if sensings { 6 } else { 0 },
            heaviest: dose_per_kind(config.disturb.dose, config.geometry.cell)
                [..config.geometry.cell.bits() as usize]
                .iter()
                .copied()
                .max()
                .unwrap_or(Quarters::UNIT),
            counts_before: E::FROM_ERASE || config.disturb.preprogram_weight > 0.0,
            budgets: BTreeMap::new(),
            margins: vec![],
        }
    }

    /// Returns the number of reads that a wordline must endure after a check that leaves it
    /// unchanged. It covers the time until the next check, and the job of that check.
    fn horizon(&self, view: &View) -> u32 {
        if E::ONLY_THE_INTERVAL {
            return self.interval;
        }
        let late = view.late_in_a_job();
        self.interval.max(late + 1) + late + self.overshoot
    }

    /// Returns the number of reads after which the job of a check must be done.
    fn grace(&self, view: &View) -> u32 {
        if E::ONLY_THE_INTERVAL { self.interval } else { view.late_in_a_job() }
    }

    /// Returns the dose up to which a check leaves a wordline of a group unchanged, and alpha of
    /// the group. The dose V of movers' reads is not yet subtracted.
    fn keep(&self, view: &View, limits: Limits, group: usize, worn: Worn) -> (Dose, Alpha) {
        let e = limits.lookup_worn(group, worn);
        let beside = if E::ONLY_THE_INTERVAL { 0 } else { 2 * view.geometry.cell.bits() };
        let neighbours = Reads(beside) * (e.alpha - Alpha::ONE);
        let margin = Reads(self.horizon(view)) * e.alpha
            + neighbours
            + self.estimate.burden(view.geometry, e.alpha);
        (e.limit - margin, e.alpha)
    }

    /// Returns the budget of a group on which the guarantee depends. The budget holds if the first
    /// check leaves a new wordline in place.
    fn promised(&self, view: &View, limits: Limits, group: usize, pec: u32) -> Promised {
        let e = limits.lookup(group, pec);
        let reads = self.horizon(view);
        let (keep, _) = self.keep(view, limits, group, Worn::at_longest(pec));
        let left = keep - self.movers(view, view.geometry.pages_per_block);
        let by_host = Reads(reads) * e.alpha;
        Promised {
            group,
            endures: e.limit.units(),
            alpha: e.alpha.weight(),
            reads,
            own: (e.limit - left - by_host).units(),
        }
    }

    fn budget(&mut self, view: &View, block: BlockId) -> Option<Class> {
        let (limits, worn) = (view.limits?, view.worn(block, self.own_age));
        let class = limits.worn_class(worn);
        if !self.budgets.contains_key(&class) {
            let groups: Vec<_> =
                (0..limits.groups()).map(|g| self.keep(view, limits, g, worn)).collect();
            let endures: Vec<Dose> =
                (0..limits.groups()).map(|g| limits.lookup_worn(g, worn).limit).collect();
            let of = |w: WordlineInBlock| groups[limits.group_of(w)];
            let wordlines = view.geometry.wordlines_in_block();
            let keep: Vec<Dose> = wordlines.clone().map(|w| of(w).0).collect();
            let alpha: Vec<Alpha> = wordlines.clone().map(|w| of(w).1).collect();
            let limit = |w: WordlineInBlock| endures[limits.group_of(w)];
            let gain = wordlines.map(|w| limits.in_mode(limit(w), GUARDED) - limit(w)).collect();
            let highest_alpha = alpha.iter().copied().max().expect("a block has wordlines");
            let fresh = keep.iter().copied().min().expect("a block has wordlines");
            if self.budgets.len() == BUDGETS_MAX {
                self.budgets.clear();
            }
            self.budgets.insert(class, Budget { keep, alpha, gain, highest_alpha, fresh });
        }
        Some(class)
    }

    /// Returns the dose estimate, and the doses up to which checks leave this block's wordlines
    /// unchanged.
    pub(crate) fn estimate_and_budget(
        &mut self,
        view: &View,
        block: BlockId,
    ) -> Option<(&mut E, &Budget)> {
        let class = self.budget(view, block)?;
        Some((&mut self.estimate, &self.budgets[&class]))
    }

    /// Returns the dose that movers may add to a wordline by reads of other wordlines that are not
    /// its neighbours.
    fn movers(&self, view: &View, pages: u32) -> Dose {
        if E::ONLY_THE_INTERVAL {
            return Dose::ZERO;
        }
        // Reads of all pages of a block have a mean dose of one unit per read.
        (self.heaviest * pages).min(Reads(view.geometry.pages_per_block).quarters()).far()
    }

    /// Returns the read count of a block's next check. `now` is its present read count, and `slack`
    /// is its smallest margin.
    fn next_look(&self, view: &View, block: BlockId, now: u32, slack: Dose, alpha: Alpha) -> Reads {
        let quiet = if self.skips {
            self.estimate.quiet(view, block, slack.max(Dose::ZERO), alpha)
        } else {
            Quarters::ZERO
        };
        let earliest = u64::from(now) + u64::from(quiet.whole_down().0.max(1));
        Reads(
            earliest.next_multiple_of(u64::from(self.interval)).min(u64::from(u32::MAX - 1)) as u32
        )
    }

    /// Computes the margins of all wordlines of a block and stores them in `self.margins`. A margin
    /// is the dose that a wordline may still take.
    fn look(&mut self, view: &View, block: BlockId, class: Class) {
        let movers = self.movers(view, view.valid_pages(block) + view.pages_to_come(block));
        let budget = &self.budgets[&class];
        self.margins.resize(budget.keep.len(), Dose::ZERO);
        self.estimate.margins(view, block, budget, movers, &mut self.margins);
    }
}

impl<E: DoseEstimate> Policy for Straw<E> {
    fn arm(&mut self, view: &View, block: BlockId) -> Reads {
        let Some(class) = self.budget(view, block) else { return Reads::NEVER };
        let movers = self.movers(view, view.geometry.pages_per_block);
        let budget = &self.budgets[&class];
        self.next_look(view, block, 0, budget.fresh - movers, budget.highest_alpha)
    }

    fn on_alarm(&mut self, view: &View, block: BlockId, out: &mut Vec<Action>) -> Reads {
        let Some(class) = self.budget(view, block) else { return Reads::NEVER };
        self.look(view, block, class);
        let (now, horizon) = (view.reads(block).0, self.horizon(view));
        let budget = &self.budgets[&class];
        let bits = view.geometry.cell.bits();
        let written = view.geometry.pages_per_block - view.pages_to_come(block);
        let is_open = written < view.geometry.pages_per_block;
        let mut smallest = if is_open {
            budget.fresh - self.movers(view, view.geometry.pages_per_block)
        } else {
            Dose::MAX
        };
        let mut pages = None;
        for (wordline, margin) in WordlineInBlock::all().zip(&self.margins) {
            let first = wordline.first_page(bits);
            // In an open block, partly written wordlines are checked too. Unwritten wordlines are
            // checked if doses from before their programming count.
            let unwritten = is_open
                && (first + bits).number() > written
                && (first.number() < written || self.counts_before);
            if *margin >= smallest && *margin >= Dose::ZERO
                || !(unwritten || view.is_valid(block, wordline))
            {
                continue;
            }
            if *margin < Dose::ZERO {
                pages
                    .get_or_insert_with(|| PageSet::none(view.geometry.pages_per_block))
                    .insert(first, bits);
            } else {
                smallest = *margin;
            }
        }
        if let Some(pages) = pages {
            let look = Look {
                margins: &self.margins,
                budget,
                horizon,
                late: view.late_in_a_job() + self.overshoot,
            };
            out.push(self.estimate.remedy(view, block, pages, &look).into());
            return Reads(now.saturating_add(self.grace(view)));
        }
        self.next_look(view, block, now, smallest, budget.highest_alpha)
    }

    fn follows_age(&self) -> bool {
        self.own_age
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        self.estimate.counts()
    }

    fn controller_ram(&self, geometry: &Geometry) -> Bytes {
        self.estimate.controller_ram(geometry)
    }

    fn memory(&self) -> Bytes {
        self.estimate.memory()
    }

    fn promise(&self, view: &View, pec: u32) -> Promise {
        let budgets = view.limits.into_iter().flat_map(|limits| {
            (0..limits.groups()).map(move |group| self.promised(view, limits, group, pec))
        });
        match Promise::within(budgets) {
            Promise::Within(budget) if E::ONLY_THE_INTERVAL => Promise::Unsafe(
                budget,
                "the margin covers neither the reads by the rewrite itself nor the host's reads \
                 during the rewrite",
            ),
            Promise::Within(budget) if E::CAN_BE_DECEIVED => Promise::Deceivable(budget),
            promise => promise,
        }
    }

    fn explain(&self, view: &View, pec: u32) -> Vec<Threshold> {
        let Some(limits) = view.limits else { return vec![] };
        let pages = view.geometry.pages_per_block;
        let movers = self.movers(view, pages).units();
        let of_group = |group: usize| {
            let (keep, alpha) = self.keep(view, limits, group, Worn::at_longest(pec));
            let alpha = alpha.weight();
            let limit = limits.lookup(group, pec).limit.units();
            let near = 2.0 * (alpha - 1.0) * f64::from(view.geometry.cell.bits());
            let burden =
                self.estimate.burden(view.geometry, limits.lookup(group, pec).alpha).units();
            let group = &view.disturb.groups[group];
            let because = if E::ONLY_THE_INTERVAL {
                format!("ERC_MAX {limit} - alpha {alpha:.3} x I {}", self.interval)
            } else {
                format!(
                    "ERC_MAX {limit} - alpha {alpha:.3} x (max(I {}, R_late {} + 1) + R_late{}) - \
                     M ({movers} + {near:.1}{})",
                    self.interval,
                    view.late_in_a_job(),
                    if self.overshoot > 0 {
                        format!(" + overshoot {}", self.overshoot)
                    } else {
                        String::new()
                    },
                    if burden > 0.0 { format!(" + merges {burden:.1}") } else { String::new() },
                )
            };
            Threshold {
                name: format!(
                    "group {group}: rewrite of a wordline in a full block, decided by the {}",
                    E::BOUND
                ),
                reads: (keep.units() - movers).max(0.0) as u32,
                because,
            }
        };
        (0..limits.groups()).map(of_group).collect()
    }
}

#[cfg(test)]
pub(crate) mod tests;
