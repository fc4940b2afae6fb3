//! # Chance probe
//! Chooses reads at random. For each chosen read, it senses the neighbours of the wordline that was
//! read and counts their errors. Neighbours of a hot wordline are found in time with a probability
//! close to 1. The technique keeps one read count per block.
//!
//! - **Paper:** none. The idea is PARA's for DRAM rows (Kim et al., ISCA 2014); probing is DEAR's
//!   (MICRO 2025, from public notes).
//! - **Acts at:** reads drawn with probability p (`reclaim.probe_probability`). Probes are reads,
//!   and may be drawn too. A wordline moves if it could exceed its limit before its next probe. The
//!   whole block moves at E reads; the safety page has the formulas.
//! - **Costs:** 3 bytes per block, as `block`. On average, 2 p probes per read, with their time
//!   (`timing.probe_us`) and dose.
//! - **Departs from the paper:** PARA refreshes rows without probing them. In vpass, `SipHash` with
//!   the run's seed draws the reads. A real controller would use physical noise.
//! - **Does not help:** evenly read blocks, which move earlier than with counters. A share
//!   ([`NEAR`]) of the limit, and w more reads, are reserved for reads of neighbours.
//! - **Safety:** if the seed is secret, the probability of a loss is at most 2^-64 for each
//!   sequence of reads of which none is drawn (`docs/reclaim/chance-probe.md`).
//!
//! ```text
//! p 0.1, so w 422; alpha 9, limit 20,000, 64 wordlines of one page: G = 422 + 64 + 1 + 2 + 2 = 491, B - E = 1 + 1 + 64 + 64 = 130
//! E = 0.75 (20,000 - 8 x 491) - 130 = 11,924: an evenly read block moves then; if one wordline is hammered, its neighbours move when a
//! probe finds (alpha - 1) near > 20,000 - 8 x 491 - 12,054 = 4,018: after 503 reads and the next draw, about ten later.
//! ```

use siphasher::sip::SipHasher24;

use super::Technique;
use super::block::{ALL_KINDS, Block};
use super::promise::Budget;
use super::{Action, Policy, Probed, Promise, Rewrite, Threshold, View};
use vpass_drive::api::card::{About, Args, Card, Kind, Needs, New, Param, Protection};
use vpass_drive::base::dose::{Alpha, Dose};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::page_set::PageSet;
use vpass_drive::base::units::{BlockId, Bytes, Reads, WordlineInBlock};
use vpass_drive::config::{DoseUnit, DriveConfig};
use vpass_drive::disturb::told::Limits;

/// Probability that a read is drawn, so that the neighbours of its wordline are probed.
const PROBABILITY: Param = Param {
    key: "probability",
    kind: Kind::Real,
    unit: "",
    default: 0.01,
    range: (1e-6, 0.25),
    draw: &[0.05, 0.15, 0.25],
    meaning: "Probability that a read probes the neighbouring wordlines",
    source: "Assumption: 2 x 28 us per 100 reads is 1.4 % of the time of 40-us reads",
    alias: Some("probe_probability"),
};

pub(super) const CARD: Technique = Card {
    about: About {
        name: "chance-probe",
        summary: "like `block`, but also probes wordlines beside randomly drawn reads, without \
            wordline counters; with a secret seed, a loss between two draws has a probability of \
            at most 2^-64",
        paper: "PARA, ISCA 2014",
        protects: Protection::Sound,
        needs: Needs { limits: true, counters: false, retries: false },
        draws: true,
        params: &[PROBABILITY],
        ..About::PLAIN
    },
    new: New::Listed(|args, config, seed| Box::new(ChanceProbe::new(args, config, seed.of_run()))),
};

/// Negative natural logarithm of 2^-64, which is 64 ln 2. With the probability 2^-64, none of w
/// successive reads is drawn.
const MISSES: f64 = 64.0 * std::f64::consts::LN_2;
/// Largest number of probes that one drawn read may cause. Probes can be drawn too and then cause
/// further probes.
const CASCADE: u32 = 64;
/// Constant half of the hash key: digits of pi. The other half is the seed.
const KEY: u64 = 0x243F_6A88_85A3_08D3;
/// Share of a wordline's limit that is reserved for reads of its neighbours. The value is an
/// assumption.
const NEAR: f64 = 0.25;

pub(super) struct ChanceProbe {
    block: Block,
    /// Whether reads can be drawn on this drive. If not, blocks are treated as `block` treats them.
    draws_count: bool,
    draw: Draw,
    chance: f64,
    /// Value G of the safety page, without `R_late` and retries. G is the number of reads beside a
    /// wordline for which dose is reserved.
    near: u32,
    /// Pages that must move when the present series of probes has ended; `None` if there are none.
    pages: Option<PageSet>,
    probes: u64,
    draws: u64,
}

/// Source of the random draws.
enum Draw {
    Keyed(SipHasher24),
    /// Source of draws that every host can predict. Tests use it to show what such a host can do.
    #[cfg(test)]
    Public,
}

impl Draw {
    /// Returns the random number of one sensing of a block, at least 0 and below 1. Retries are
    /// sensings too. After an erase of the block, its numbers differ.
    fn number(&self, block: BlockId, pec: u32, sensing: u32) -> f64 {
        match self {
            Self::Keyed(hasher) => {
                let mut sensed = [0; 12];
                sensed[..4].copy_from_slice(&block.number().to_le_bytes());
                sensed[4..8].copy_from_slice(&pec.to_le_bytes());
                sensed[8..].copy_from_slice(&sensing.to_le_bytes());
                (hasher.hash(&sensed) >> 11) as f64 / (1u64 << 53) as f64
            }
            #[cfg(test)]
            Self::Public => {
                let life = u64::from(block.number()) << 43 ^ u64::from(pec) << 27;
                vpass_drive::base::splitmix::fraction(0, life ^ u64::from(sensing))
            }
        }
    }
}

impl ChanceProbe {
    pub(super) fn new(args: &Args, config: &DriveConfig, seed: u64) -> Self {
        let chance = args.real(&PROBABILITY);
        let wordlines = config.geometry.wordlines_per_block;
        // Reads from before the run were spread evenly, and none of them was drawn.
        let before = 2 * config.start.reads.div_ceil(wordlines);
        let window = (MISSES / -(1.0 - chance).ln()).ceil() as u32;
        Self {
            block: Block::new(config),
            draws_count: config.disturb.dose == DoseUnit::Reads
                && config.disturb.preprogram_weight == 0.0,
            draw: Draw::Keyed(SipHasher24::new_with_keys(seed, KEY)),
            chance,
            near: window.saturating_add(wordlines + 2 + 2 * config.geometry.cell.bits() + before),
            pages: None,
            probes: 0,
            draws: 0,
        }
    }

    /// Returns G, the number of reads beside a wordline for which dose is reserved.
    fn near(&self, view: &View, limits: Limits, pec: u32) -> u32 {
        // While a job moves some wordlines, the block serves one read, which may need retries. The
        // limit already takes account of the retries of all other reads.
        let retries = limits.most_retries(pec) * view.geometry.wordlines_per_block;
        self.near.saturating_add(view.late_in_a_job()).saturating_add(retries)
    }

    /// Returns (alpha - 1) G, the additional dose of G reads beside a wordline.
    fn neighbour_share(&self, view: &View, limits: Limits, pec: u32, alpha: Alpha) -> Dose {
        Reads(self.near(view, limits, pec)) * (alpha - Alpha::ONE)
    }

    /// Returns E, the number of reads at which a whole block moves.
    fn end(&self, view: &View, limits: Limits, pec: u32) -> u32 {
        let of_group = |group| {
            let e = limits.lookup(group, pec);
            let room = (e.limit - self.neighbour_share(view, limits, pec, e.alpha))
                .max(Dose::ZERO)
                .units();
            // With alpha 1, reads of neighbours weigh no more than other reads, and need no
            // reserve.
            if e.alpha == Alpha::ONE { room } else { room * (1.0 - NEAR) }
        };
        let least = (0..limits.groups()).map(of_group).fold(f64::INFINITY, f64::min);
        (least as u32).saturating_sub(after_end(view)).max(1)
    }

    /// Returns whether blocks at this P/E count are treated as `block` treats them, without probes.
    fn is_block(&self, view: &View, limits: Limits, pec: u32) -> bool {
        let threshold =
            self.block.threshold(view, pec, ALL_KINDS).map_or(0, |(threshold, _)| threshold);
        !self.draws_count || self.end(view, limits, pec) <= threshold
    }

    /// Returns the next alarm of a block. It is the next drawn read, but at most the read count at
    /// which the whole block moves.
    fn next(&self, view: &View, limits: Limits, block: BlockId) -> Reads {
        let now = view.reads(block).0;
        let end = self.end(view, limits, view.pec(block)).max(now + 1);
        Reads((now + 1..end).find(|n| self.is_drawn(view, block, *n)).unwrap_or(end))
    }

    /// Returns whether the n-th sensing of a block is drawn.
    fn is_drawn(&self, view: &View, block: BlockId, n: u32) -> bool {
        self.draw.number(block, view.pec(block), n) < self.chance
    }

    /// Returns those neighbours of a wordline that hold valid data or are partly written.
    fn neighbours_with_data(
        view: &View,
        block: BlockId,
        wordline: WordlineInBlock,
    ) -> impl Iterator<Item = WordlineInBlock> {
        let (bits, stride) = (view.geometry.cell.bits(), view.geometry.neighbour_stride);
        let above =
            Some(wordline + stride).filter(|w| w.number() < view.geometry.wordlines_per_block);
        // A partly written wordline counts even without valid data, because it will get more data.
        let (written, is_open) = (view.written(block), view.pages_to_come(block) > 0);
        let in_part = move |w: WordlineInBlock| {
            is_open && w.first_page(bits) < written && (w + 1).first_page(bits) > written
        };
        wordline
            .checked_sub(stride)
            .into_iter()
            .chain(above)
            .filter(move |w| view.is_valid(block, *w) || in_part(*w))
    }
}

/// Returns the number of reads that a block may serve after E reads, at which its job starts. The
/// safety page calls this number B - E.
fn after_end(view: &View) -> u32 {
    view.late_in_a_job() + 1 + view.geometry.pages_per_block + CASCADE
}

impl Policy for ChanceProbe {
    fn arm(&mut self, view: &View, block: BlockId) -> Reads {
        match view.limits {
            None => Reads::NEVER,
            Some(limits) if self.is_block(view, limits, view.pec(block)) => {
                self.block.arm(view, block)
            }
            Some(limits) => self.next(view, limits, block),
        }
    }

    fn on_alarm(&mut self, view: &View, block: BlockId, out: &mut Vec<Action>) -> Reads {
        let Some(limits) = view.limits else { return Reads::NEVER };
        let (now, pec) = (view.reads(block).0, view.pec(block));
        if self.is_block(view, limits, pec) || now >= self.end(view, limits, pec) {
            return self.block.on_alarm(view, block, out);
        }
        self.draws += 1;
        let wordlines: Vec<_> =
            Self::neighbours_with_data(view, block, view.wordline_read(block)).collect();
        if wordlines.is_empty() {
            return self.next(view, limits, block);
        }
        out.push(Action::Probe { block, wordlines });
        Reads(now + 1)
    }

    fn probed(
        &mut self,
        view: &View,
        block: BlockId,
        found: &[Probed],
        out: &mut Vec<Action>,
    ) -> Reads {
        let Some(limits) = view.limits else { return Reads::NEVER };
        self.probes += found.len() as u64;
        let (now, pec) = (view.reads(block).0, view.pec(block));
        let last = self.end(view, limits, pec) + after_end(view);
        let far = Reads(last.saturating_sub(now)).far();
        let bits = view.geometry.cell.bits();
        let mut in_turn = vec![];
        for (sensing, probed) in (now + 1 - found.len() as u32..).zip(found) {
            let e = limits.lookup(limits.group_of(probed.wordline), pec);
            if probed.left_of(e.limit) < far + self.neighbour_share(view, limits, pec, e.alpha) {
                self.pages
                    .get_or_insert_with(|| PageSet::none(view.geometry.pages_per_block))
                    .insert(probed.wordline.first_page(bits), bits);
            }
            if self.is_drawn(view, block, sensing) {
                in_turn.extend(Self::neighbours_with_data(view, block, probed.wordline));
            }
        }
        if !in_turn.is_empty() {
            out.push(Action::Probe { block, wordlines: in_turn });
            return Reads(now + 1);
        }
        match self.pages.take() {
            // These pages must move before the next read of the block, because that read may not be
            // drawn.
            Some(pages) => {
                out.push(Rewrite::pages(block, pages).into());
                Reads(now + 1)
            }
            None => self.next(view, limits, block),
        }
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        vec![("draws", self.draws), ("probes", self.probes)]
    }

    fn controller_ram(&self, geometry: &Geometry) -> Bytes {
        self.block.controller_ram(geometry)
    }

    fn promise(&self, view: &View, pec: u32) -> Promise {
        let Some(limits) = view.limits else { return Promise::Nothing("reads disturb nothing") };
        if self.is_block(view, limits, pec) {
            return self.block.promise(view, pec);
        }
        // E is above the threshold of `block`, so it is at least 2. So a probe of a new wordline
        // finds enough of its limit left.
        let of_group = |group: usize| {
            let e = limits.lookup(group, pec);
            let own = self.neighbour_share(view, limits, pec, e.alpha).units();
            Budget { group, endures: e.limit.units(), alpha: 1.0, reads: 1 + after_end(view), own }
        };
        Promise::within((0..limits.groups()).map(of_group))
    }

    fn explain(&self, view: &View, pec: u32) -> Vec<Threshold> {
        let Some(limits) = view.limits else { return vec![] };
        if self.is_block(view, limits, pec) {
            return self.block.explain(view, pec);
        }
        let end = self.end(view, limits, pec);
        let whole = Threshold {
            name: "block rewritten".into(),
            reads: end,
            because: format!(
                "minimum over groups of (1 - {NEAR}) x (ERC_MAX - (alpha - 1) {}) - {}",
                self.near(view, limits, pec),
                after_end(view)
            ),
        };
        let of_group = |group: usize| {
            let e = limits.lookup(group, pec);
            let need = f64::from(end + after_end(view))
                + self.neighbour_share(view, limits, pec, e.alpha).units();
            let limit = e.limit.units();
            Threshold {
                name: format!(
                    "group {}: a probe moves a wordline if all reads go to the neighbouring \
                     wordlines",
                    view.disturb.groups[group]
                ),
                reads: ((limit - need) / (e.alpha - Alpha::ONE).max(Alpha::of_256ths(1)).weight())
                    .max(0.0) as u32,
                because: format!(
                    "(ERC_MAX {limit} - need {need:.1}) / (alpha - 1); a probe every {:.0} reads \
                     on average",
                    1.0 / self.chance
                ),
            }
        };
        std::iter::once(whole).chain((0..limits.groups()).map(of_group)).collect()
    }
}

#[cfg(test)]
mod tests;
