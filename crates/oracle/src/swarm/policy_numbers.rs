//! Compares the numbers that a policy receives about a block with the truth. If a bound uses a
//! wrong number, only few drives come near the bound and lose data. The number itself is wrong in
//! every drive.
//!
//! The drive may give a policy a worse number than the truth, such as a lower limit or more valid
//! pages, because this only costs copies. The oracle checks the numbers on which a guarantee
//! depends. It also counts the blocks that the streams of the policy open.

use std::sync::{Arc, Mutex, PoisonError};

use vpass_drive::api::reclaim::{FIRST_OWN, StreamSpec};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::latency::AccessLatency;
use vpass_drive::base::units::{BlockId, Cause, StreamId};
use vpass_drive::config::DriveConfig;
use vpass_drive::drive::Drive;
use vpass_drive::hints::Hinted;
use vpass_drive::watch::observer::Event;

use crate::limits::{Endurance, FAR, UNIT};
use crate::medium::At;
use crate::oracle::{Books, Check};
use crate::report::{Findings, Kind};
use crate::truth::Truth;

/// Numbers that a policy received about one block.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) block: BlockId,
    /// Dose in quarters of a dose unit.
    pub(super) dose: u32,
    /// P/E count at which limits are looked up, and the limits found there for each wordline group.
    pub(super) pec: u32,
    pub(super) endures: Vec<Endurance>,
    pub(super) mode: u8,
    pub(super) valid: u32,
    pub(super) to_come: u32,
    /// Hint of the block's data.
    pub(super) budget: AccessLatency,
    /// Blocks that the policy wants to reprogram.
    pub(super) reprograms: Vec<BlockId>,
    /// Stream that has just opened the block.
    pub(super) opens: Option<StreamId>,
    /// Whether each wordline has its own guard levels. The list is empty if no wordline has them.
    pub(super) guarded: Vec<bool>,
    /// Numbers about each wordline and each page, in some cases.
    pub(super) within: Option<Within>,
    /// Wordlines that were just probed, each with the share of its limit that the probe found used.
    pub(super) probed: Vec<(u32, f64)>,
}

/// Numbers that a policy received about the wordlines and pages of a block.
#[derive(Clone, Debug)]
pub(super) struct Within {
    /// Reads of each wordline in quarters of a dose unit, and whether it holds valid pages.
    pub(super) wordlines: Vec<(u32, bool)>,
    /// Whether each page is valid.
    pub(super) pages: Vec<bool>,
}

/// Shared record between the listener at a policy and its checker.
pub(super) type Ear = Arc<Mutex<Option<Told>>>;

/// Checker of the numbers that a policy receives.
#[derive(Debug)]
pub(super) struct PolicyNumbers {
    ear: Ear,
    hinted: Option<Hinted>,
    /// Pages of each block that may be programmed without a job, as its policy knows.
    to_come: Vec<Option<u32>>,
    /// The technique's own streams.
    streams: Vec<StreamSpec>,
    /// Number of blocks that should be in the IPR pool since the measured phase began, of those
    /// outside it, and of blocks that did not get the requested guard levels.
    pool: u64,
    missed: u64,
    refused: u64,
    /// Blocks that will be reprogrammed. If an earlier request was impossible, `refused` is not
    /// known.
    reprogrammed: Vec<BlockId>,
    unsure: bool,
}

impl PolicyNumbers {
    pub(super) fn new(
        geometry: &Geometry,
        config: &DriveConfig,
        streams: Vec<StreamSpec>,
        ear: &Ear,
    ) -> Self {
        let hinted =
            |said: &Vec<_>| Hinted::new(said, geometry.page_bytes.into(), geometry.host_pages);
        Self {
            ear: ear.clone(),
            hinted: config.hints.said.as_ref().map(hinted),
            to_come: vec![None; geometry.blocks as usize],
            streams,
            pool: 0,
            missed: 0,
            refused: 0,
            reprogrammed: vec![],
            unsure: false,
        }
    }

    /// Checks the numbers of a policy that was just asked about a block.
    fn check_told(&mut self, truth: &Truth, block: BlockId, findings: &mut Findings) {
        let told = self.ear.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(told) = told else { return };
        if told.block == block {
            let wrong = wrong_number(truth, &told)
                .or_else(|| wrong_guards(truth, &told))
                .or_else(|| wrong_within(truth, self.hinted.as_ref(), &told))
                .or_else(|| wrong_probe(truth, &told));
            if let Some(what) = wrong {
                findings.add(Kind::Books, || {
                    format!("the policy gets wrong data about block {block}: {what}")
                });
            }
            self.count_opened(truth, &told);
            self.to_come[block.index()] = Some(told.to_come);
        }
        self.unsure |= !self.reprogrammed.is_empty();
        self.reprogrammed = told.reprograms;
    }

    /// Counts a block that a stream has opened.
    fn count_opened(&mut self, truth: &Truth, told: &Told) {
        let own = |stream: StreamId| self.streams.get(usize::from(stream.checked_sub(FIRST_OWN)?));
        let Some(own) = told.opens.and_then(own) else { return };
        self.refused += u64::from(own.mode > 0 && truth.geometry.cell.bits() > 1 && told.mode == 0);
        self.pool += u64::from(own.pool);
        self.missed += u64::from(own.pool && !truth.geometry.is_in_pool(told.block));
    }

    /// Checks the program of a page of a block.
    fn program(&mut self, truth: &Truth, block: BlockId) -> Result<(), String> {
        let to_come = &mut self.to_come[block.index()];
        if truth.jobs.contains_key(&block) {
            return Ok(());
        }
        match to_come {
            None => {}
            Some(0) => {
                *to_come = None;
                return Err(format!(
                    "block {block} is written, but the policy was informed that no more pages \
                     follow"
                ));
            }
            Some(left) => *left -= 1,
        }
        Ok(())
    }
}

impl Check for PolicyNumbers {
    fn before(&mut self, truth: &Truth, event: &Event<'_>, findings: &mut Findings) {
        match *event {
            Event::AsksAt { block, .. } => self.check_told(truth, block, findings),
            Event::Programmed { ppn, .. } | Event::Padded { ppn, .. }
                if truth.geometry.has_page(ppn) =>
            {
                let checked = self.program(truth, truth.geometry.block_of(ppn));
                findings.note(Kind::Books, checked);
            }
            _ => {}
        }
    }

    fn after(&mut self, truth: &Truth, event: &Event<'_>, _: &mut Findings) {
        match *event {
            Event::Erased { block, .. } if truth.has_block(block) => {
                self.to_come[block.index()] = None;
            }
            Event::Failed { pages } => {
                for block in pages.blocks(&truth.geometry) {
                    self.to_come[block.index()] = None;
                }
            }
            Event::JobBegan { block, pages, cause: Cause::Reclaim } => {
                if let Some(at) = self.reprogrammed.iter().position(|wanted| *wanted == block) {
                    self.reprogrammed.swap_remove(at);
                    self.refused += u64::from(pages.is_none());
                }
            }
            Event::MeasuredPhase => {
                (self.pool, self.missed, self.refused) = (0, 0, 0);
                self.unsure = !self.reprogrammed.is_empty();
            }
            _ => {}
        }
    }

    fn end(&mut self, _: &Truth, drive: &Drive, _: &Books, findings: &mut Findings) {
        let reclaim = drive.reclaim_counts();
        findings.compare(&[
            ("blocks opened for the pool", reclaim.pool_openings, self.pool),
            ("of them outside the pool", reclaim.pool_misses, self.missed),
        ]);
        if !self.unsure && self.reprogrammed.is_empty() {
            let claimed = reclaim.low_density_refused;
            findings.compare(&[("blocks with refused guard levels", claimed, self.refused)]);
        }
    }
}

fn wrong_number(truth: &Truth, told: &Told) -> Option<String> {
    let block = told.block;
    let dose = truth.doses.read_of(block)?;
    if u64::from(told.dose) != dose {
        return Some(format!("a dose of {} quarters instead of {dose}", told.dose));
    }
    let (pec, mode) = (truth.doses.pec_of(block), truth.doses.mode_of(block));
    if (told.pec, told.mode) != (pec, mode) {
        let (told_pec, told_mode) = (told.pec, told.mode);
        return Some(format!(
            "{told_pec} P/E cycles and coding {told_mode} instead of {pec} and {mode}"
        ));
    }
    let endured = |group: usize| truth.doses.of_group(block, group);
    // If retries are allowed, a technique may assume a higher limit than that of a fresh page
    // without retries. Weights do not change.
    let goes_by_fresh = !truth.doses.has_rates();
    let too_good = |(group, told): &(usize, &Endurance)| {
        told.limit > endured(*group).limit && goes_by_fresh || told.alpha < endured(*group).alpha
    };
    let (group, told) = told.endures.iter().enumerate().find(too_good)?;
    Some(format!("{told:?} for wordline group {group} instead of {:?}", endured(group)))
}

fn wrong_guards(truth: &Truth, told: &Told) -> Option<String> {
    let is_guarded = |index: u32| truth.doses.own_mode(told.block, index) > 0;
    let told_of = |index: u32| told.guarded.get(index as usize).copied().unwrap_or(false);
    let wrong = (0..truth.geometry.wordlines_per_block)
        .find(|index| told_of(*index) != is_guarded(*index))?;
    let words =
        if is_guarded(wrong) { "none, although it has some" } else { "some, although it has none" };
    Some(format!("guard levels of wordline {wrong}: {words}"))
}

fn wrong_within(truth: &Truth, hinted: Option<&Hinted>, told: &Told) -> Option<String> {
    let within = told.within.as_ref()?;
    let (first, bits) = (truth.geometry.first_wordline(told.block), truth.geometry.cell.bits());
    let mut live = 0;
    for (index, (read, holds)) in (0..).zip(&within.wordlines) {
        let counted = truth.medium.read(first + index);
        if u64::from(*read) != counted {
            return Some(format!("{read} quarter reads of wordline {index} instead of {counted}"));
        }
        for (kind, stamp) in (0..).zip(truth.medium.stamps(first + index)) {
            if !truth.stamps.is_live(stamp) {
                continue;
            }
            live += 1;
            if hinted.is_some_and(|hinted| hinted.of(stamp.lpn) < told.budget) {
                return Some(format!(
                    "access latency {}, but it holds lpn {} with a tighter one",
                    told.budget.name(),
                    stamp.lpn
                ));
            }
            if !holds || !within.pages[(index * bits + kind) as usize] {
                return Some(format!(
                    "wordline {index}, or its page of kind {kind}, counts as empty, but it \
                     holds lpn {}",
                    stamp.lpn
                ));
            }
        }
    }
    (told.valid < live).then(|| format!("{} valid pages instead of {live}", told.valid))
}

/// Returns an error if a probe found a wrong share of the limit that the policy uses. If data
/// ages, this is the limit at the longest age.
fn wrong_probe(truth: &Truth, told: &Told) -> Option<String> {
    let (first, bits) = (truth.geometry.first_wordline(told.block), truth.geometry.cell.bits());
    let heaviest = (0..bits).map(|kind| u64::from(truth.doses.of_read(kind))).max()?;
    told.probed.iter().find_map(|(index, used)| {
        // The limit of a page kind that the wordline's coding gives up does not matter.
        let kinds = (0..bits).map(|kind| At {
            block: told.block,
            wordline: first + index,
            index: *index,
            kind,
        });
        let kinds = kinds.filter(|at| truth.doses.keeps(*at));
        let limit = |at: At| {
            truth.doses.limit_by(at, |group| told.endures.get(group).map_or(0, |told| told.limit))
        };
        let limit = kinds.map(limit).min()?;
        let at = At { block: told.block, wordline: first + index, index: *index, kind: 0 };
        let dose = truth.doses.of_wordline(&truth.medium, at).dose;
        // Later probes of other wordlines, and the probe itself, also add to the dose.
        let since =
            heaviest * (2 * truth.doses.page(at).alpha + FAR * told.probed.len() as u64) + UNIT;
        let found = used * limit as f64;
        (limit > 0 && found + since as f64 <= dose as f64).then(|| {
            let of = |units: f64| units / UNIT as f64;
            format!(
                "a probe finds {:.1} % of a limit of {:.2} used on wordline {index}, but its \
                 dose is {:.2}",
                100.0 * used,
                of(limit as f64),
                of(dose as f64)
            )
        })
    })
}
