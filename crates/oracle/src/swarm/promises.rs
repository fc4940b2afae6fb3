//! Checks that the answer of a policy keeps its technique's guarantee. An answer keeps it if no
//! page of the block can reach its limit until the policy is asked again. This includes the time
//! until the job that the policy may then request is done.
//!
//! ```text
//! no action: of every page         dose + alpha (reads until it is asked again + R_late) + movers
//! a job: of a page that moves      dose + alpha (reads until the deadline) + movers
//!        of a page that stays      dose + alpha (reads until the deadline + 1 + R_late) + movers
//!
//! Each sum must be at most the limit; `movers` are the reads by movers.
//! ```
//!
//! Limits are the true limits. Doses are the true doses. If a technique only counts the reads of a
//! block, they are the largest doses for this count. Future reads are those of the worst host, all
//! beside the page. Each page counts for one read by movers, at its place. A technique must reserve
//! at least these reads. So if an answer fails here, some host loses data, though rarely the
//! present host.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::page_set::{PageSet, WordlineSet};
use vpass_drive::base::units::{BlockId, Cause, Reads};
use vpass_drive::config::{DisturbModel, DriveConfig};
use vpass_drive::watch::observer::{Event, PhysRead};

use crate::doses::Stress;
use crate::limits::{COUNTED_UNIT, FAR, UNIT};
use crate::medium::At;
use crate::oracle::Check;
use crate::report::Findings;
use crate::truth::Truth;

/// Number of reads that no page endures, in quarters.
const FOR_EVER: u64 = 1 << 40;

/// Action that a policy wants for the block about which it was asked.
#[derive(Clone, Debug)]
pub(super) enum Wanted {
    /// No action: the block continues to serve reads.
    Nothing,
    /// All data moves away.
    All,
    /// The pages of `pages` move away, and also the most significant pages of the wordlines in
    /// `merged`.
    Some { pages: PageSet, merged: WordlineSet },
    /// The block is reprogrammed in place. Then the remaining data has other limits.
    Reprogrammed,
}

impl Wanted {
    /// Returns whether a page moves away, before any wordline is merged.
    fn takes_away(&self, page: At, bits: u32) -> bool {
        let Self::Some { pages, merged } = self else { return false };
        holds(pages.words(), page.index * bits + page.kind) && !holds(merged.words(), page.index)
    }
}

/// Answer of a policy about a block, until it names the next alarm.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) block: BlockId,
    pub(super) wanted: Wanted,
}

/// Shared record between the listener at a policy and the oracle.
pub(super) type Answers = Arc<Mutex<Option<Answer>>>;

/// Knowledge on which a technique's guarantee depends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Knows {
    /// Host reads between an alarm and the end of its job.
    pub(super) late: u32,
    /// Whether the technique only counts the reads of each block.
    pub(super) counts_blocks: bool,
    /// Reads between two checks, if the technique merges single wordlines. A job merges as many
    /// wordlines as this number of reads allows.
    pub(super) interval: Option<u32>,
}

/// Checker of a technique's guarantee.
#[derive(Debug)]
pub(super) struct Promises {
    answers: Answers,
    /// First answer that breaks the guarantee.
    broken: Broken,
    /// Host reads, in quarters of a unit, between an alarm and the end of its job.
    late: u64,
    /// Dose of the merge of a wordline, in quarters.
    per_merge: u64,
    /// Number of wordlines that the next job may merge while a page stays.
    merges: u64,
    model: DisturbModel,
    stride: u32,
    /// Whether the technique knows only the number of a block's reads, not their places.
    counts_blocks: bool,
    /// Dose of each block since its erase, in quarters, from reads that no host could place.
    not_chosen: Vec<u64>,
}

/// Shared record of the first answer that breaks a guarantee.
pub(super) type Broken = Arc<Mutex<Option<String>>>;

/// Future dose from each wordline of a block, in quarters. Wordlines without such dose are absent.
type Coming = BTreeMap<u32, u64>;

impl Promises {
    /// Begins to check a technique's guarantee on a drive of the untimed gear, in which jobs are done
    /// before the next read.
    pub(super) fn new(
        (geometry, config): (&Geometry, &DriveConfig),
        knows: Knows,
        (answers, broken): (&Answers, &Broken),
    ) -> Self {
        let bits = config.geometry.cell.bits();
        let wordlines = geometry.blocks_per_domain() * geometry.wordlines_per_block;
        let guarded = (config.density.low_density * f64::from(wordlines)) as u32;
        let merges =
            knows.interval.filter(|_| bits > 1 && guarded > 0 && config.density.limit_factor > 1.0);
        let per_merge = COUNTED_UNIT * u64::from(bits)
            + (config.density.reprogram_dose * COUNTED_UNIT as f64).ceil() as u64;
        Self {
            answers: answers.clone(),
            broken: broken.clone(),
            late: COUNTED_UNIT * u64::from(knows.late),
            per_merge,
            merges: merges
                .map_or(0, |interval| (COUNTED_UNIT * u64::from(interval) / per_merge).max(1)),
            model: config.disturb.model,
            stride: config.geometry.neighbour_stride,
            counts_blocks: knows.counts_blocks,
            not_chosen: vec![0; geometry.blocks as usize],
        }
    }

    /// Returns the future dose of a page on wordline `own`. Dose from neighbours counts alpha
    /// times.
    fn deposited(&self, coming: &Coming, own: u32, alpha: u64) -> u64 {
        let weight = |wordline: u32| match self.model {
            DisturbModel::Wordline if wordline == own => 0,
            DisturbModel::Wordline if wordline.abs_diff(own) == self.stride => alpha,
            _ => FAR,
        };
        coming.iter().map(|(wordline, dose)| weight(*wordline) * dose).sum()
    }

    /// Returns the dose of the merges for which a technique must always leave space, if it merges
    /// wordlines.
    fn burden(&self, alpha: u64) -> u64 {
        let beside = if self.merges > 0 { 2 * (alpha - FAR) } else { 0 };
        self.per_merge * (FAR * self.merges + beside)
    }

    /// Returns the host reads, in quarters, that a block may serve before this page leaves it.
    /// `until` is the number of reads before the policy is asked again or its job is done.
    fn by_host(&self, wanted: &Wanted, page: At, bits: u32, until: u64) -> u64 {
        match wanted {
            Wanted::Nothing => until + self.late,
            Wanted::All | Wanted::Reprogrammed => 0,
            Wanted::Some { pages, merged }
                if holds(pages.words(), page.index * bits + page.kind)
                    || holds(merged.words(), page.index) =>
            {
                0
            }
            // The policy is asked about the block at the next read after the job.
            Wanted::Some { .. } => COUNTED_UNIT + self.late,
        }
    }

    /// Returns how an answer breaks the guarantee.
    fn broken_by(&self, truth: &Truth, answer: &Answer, at: Reads) -> Option<String> {
        let (block, bits) = (answer.block, truth.geometry.cell.bits());
        let served = truth.doses.read_of(block)?;
        let until = if at == Reads::NEVER {
            FOR_EVER
        } else {
            (COUNTED_UNIT * u64::from(at.0)).saturating_sub(served) / COUNTED_UNIT * COUNTED_UNIT
        };
        let (moves, merges) = coming(truth, answer);
        let first = truth.geometry.first_wordline(block);
        let all = (0..truth.geometry.wordlines_per_block).flat_map(|index| {
            (0..bits).map(move |kind| At { block, wordline: first + index, index, kind })
        });
        for page in all.filter(|at| will_be_read(truth, *at)) {
            let is_backed_up = page.kind + 1 == bits;
            if matches!(answer.wanted, Wanted::Reprogrammed) && is_backed_up {
                continue;
            }
            let is_new = truth.protocol.written(block) == 0;
            let stress = match self.counts_blocks {
                _ if is_new => truth.doses.if_programmed(&truth.medium, page),
                false => truth.doses.stress(&truth.medium, page),
                true => truth.doses.worst(&truth.medium, page, self.not_chosen[block.index()]),
            };
            let alpha = if self.model == DisturbModel::Wordline {
                truth.doses.page(page).alpha
            } else {
                FAR
            };
            let burden =
                if matches!(answer.wanted, Wanted::Nothing) { self.burden(alpha) } else { 0 };
            let by_merges = if answer.wanted.takes_away(page, bits) {
                0
            } else {
                self.deposited(&merges, page.index, alpha)
            };
            let by_drive = self.deposited(&moves, page.index, alpha) + by_merges + burden;
            let most =
                stress.dose + alpha * self.by_host(&answer.wanted, page, bits, until) + by_drive;
            if most.cast_signed() > stress.limit {
                return Some(broken_words(answer, at, page, stress, most));
            }
        }
        None
    }
}

impl Check for Promises {
    /// Checks the policy's answer when it names the dose at which it must be asked next.
    fn before(&mut self, truth: &Truth, event: &Event<'_>, _: &mut Findings) {
        let Event::AsksAt { block, at } = *event else { return };
        let answer = self.answers.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(answer) = answer.filter(|answer| answer.block == block) else { return };
        let broken = self.broken_by(truth, &answer, at);
        let mut first = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
        *first = first.take().or(broken);
    }

    fn after(&mut self, truth: &Truth, event: &Event<'_>, _: &mut Findings) {
        match *event {
            Event::Reads { batch } => {
                let by_mover = |read: &&PhysRead| {
                    !matches!(read.cause, Cause::Host | Cause::Parity)
                        && truth.geometry.has_page(read.ppn)
                };
                for read in batch.iter().filter(by_mover) {
                    let at = At::new(&truth.geometry, read.ppn);
                    let sensings = 1 + u64::from(read.retries);
                    self.not_chosen[at.block.index()] +=
                        u64::from(truth.doses.of_page(at)) * sensings;
                }
            }
            Event::Merged { block, .. }
                if truth.has_block(block) && truth.protocol.is_full(block) =>
            {
                self.not_chosen[block.index()] += u64::from(truth.doses.of_reprogramming());
            }
            Event::ServedBefore { block, doses } if truth.has_block(block) => {
                self.not_chosen[block.index()] +=
                    doses.iter().map(|dose| u64::from(dose.count())).sum::<u64>();
            }
            Event::Erased { block, .. } if truth.has_block(block) => {
                self.not_chosen[block.index()] = 0;
            }
            _ => {}
        }
    }
}

/// Returns whether a page holds data that must not be lost. In an erased block, returns whether
/// it may hold such data.
fn will_be_read(truth: &Truth, at: At) -> bool {
    if truth.protocol.written(at.block) == 0 {
        return at.kind + u32::from(truth.doses.mode_of(at.block)) < truth.geometry.cell.bits();
    }
    truth.stamps.is_live(truth.medium.stamp(at))
}

/// Returns the dose of movers until all data of the block has moved once, and the dose of the
/// merges that are wanted now. Pages move before wordlines are merged.
fn coming(truth: &Truth, answer: &Answer) -> (Coming, Coming) {
    let (block, bits) = (answer.block, truth.geometry.cell.bits());
    let first = truth.geometry.first_wordline(block);
    let reads_of = |kind: u32| u64::from(truth.doses.of_read(kind));
    let merge = (0..bits).map(reads_of).sum::<u64>() + u64::from(truth.doses.of_reprogramming());
    let of_wordline = |index: u32| {
        let holds_data = |kind: &u32| {
            will_be_read(truth, At { block, wordline: first + index, index, kind: *kind })
        };
        let moved: u64 = (0..bits).filter(holds_data).map(reads_of).sum();
        let is_whole = (index + 1) * bits <= truth.protocol.written(block);
        match &answer.wanted {
            Wanted::Reprogrammed if is_whole => {
                (if holds_data(&(bits - 1)) { reads_of(bits - 1) } else { 0 }, merge)
            }
            Wanted::Some { merged, .. } if holds(merged.words(), index) => (moved, merge),
            _ => (moved, 0),
        }
    };
    let all: Vec<_> =
        (0..truth.geometry.wordlines_per_block).map(|index| (index, of_wordline(index))).collect();
    let some = |of: fn((u64, u64)) -> u64| {
        all.iter()
            .map(|(index, doses)| (*index, of(*doses)))
            .filter(|(_, dose)| *dose > 0)
            .collect()
    };
    (some(|(moves, _)| moves), some(|(_, merges)| merges))
}

fn broken_words(
    answer: &Answer,
    at: Reads,
    page: At,
    Stress { dose, limit }: Stress,
    most: u64,
) -> String {
    let units = |n: u64| n as f64 / UNIT as f64;
    let what = match answer.wanted {
        Wanted::Nothing => "requests nothing",
        Wanted::All => "requests to move all of it",
        Wanted::Some { .. } => "requests to move part of it",
        Wanted::Reprogrammed => "requests to reprogram it",
    };
    format!(
        "asked about block {}, the policy {what} and sets its next alarm at {} reads: a page of \
         kind {} on wordline {} has a dose of {:.2} of {:.2}, which may reach {:.2} before it has \
         moved",
        answer.block,
        at.0,
        page.kind,
        page.index,
        units(dose),
        units(limit.max(0).cast_unsigned()),
        units(most)
    )
}

fn holds(words: &[u64], number: u32) -> bool {
    words.get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
}
