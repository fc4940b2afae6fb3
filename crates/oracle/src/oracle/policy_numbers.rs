//! Compares the numbers that a policy receives about a block with the truth. If a bound uses a
//! wrong number, only few drives come near the bound and lose data. The number itself is wrong in
//! every drive.
//!
//! The drive may give a policy a worse number than the truth, such as a lower limit or more valid
//! pages, because this only costs copies. The oracle checks the numbers on which a guarantee
//! depends.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use vpass_drive::api::reclaim::Part;
use vpass_drive::base::latency::AccessLatency;
use vpass_drive::base::units::{BlockId, PageInBlock, Ppn, StreamId};
use vpass_drive::config::{DriveConfig, ProgramUnit, Schedule};

use crate::clock::program_us;
use crate::endurance::{Endurance, FAR, UNIT};
use crate::medium::At;
use crate::oracle::Oracle;
use crate::report::Kind;

/// Numbers that a policy received about one block.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) block: BlockId,
    /// Dose in quarters of a dose unit.
    pub(crate) dose: u32,
    /// P/E count at which limits are looked up, and the limits found there for each wordline group.
    pub(crate) pec: u32,
    pub(crate) endures: Vec<Endurance>,
    pub(crate) late: u32,
    pub(crate) mode: u8,
    pub(crate) valid: u32,
    pub(crate) to_come: u32,
    /// Hint of the block's data.
    pub(crate) budget: AccessLatency,
    /// Pages that low density takes away, including pages that jobs under way will take.
    pub(crate) away: u32,
    /// Blocks that the policy wants to reprogram.
    pub(crate) reprograms: Vec<BlockId>,
    /// Stream that has just opened the block.
    pub(crate) opens: Option<StreamId>,
    /// Whether each wordline has its own guard levels. The list is empty if no wordline has them.
    pub(crate) guarded: Vec<bool>,
    /// Numbers about each wordline and each page, in some cases.
    pub(crate) within: Option<Within>,
    /// Blocks whose pages the policy divides.
    pub(crate) divides: Vec<(BlockId, Divided)>,
    /// Wordlines that were just probed, each with the share of its limit that the probe found used.
    pub(crate) probed: Vec<(u32, f64)>,
}

/// Numbers that a policy received about the wordlines and pages of a block.
#[derive(Clone, Debug)]
pub(crate) struct Within {
    /// Reads of each wordline in quarters of a dose unit, and whether it holds valid pages.
    pub(crate) wordlines: Vec<(u32, bool)>,
    /// Whether each page is valid.
    pub(crate) pages: Vec<bool>,
}

/// Destinations of all pages of a block: its parts, each with the coding mode of its stream.
pub(crate) type Divided = Vec<(Part, u8)>;

/// Shared record between the listener at a policy and the oracle.
pub(crate) type Ear = Arc<Mutex<Option<Told>>>;

/// Received numbers that can only be judged later.
#[derive(Debug, Default)]
pub(crate) struct PolicyNumbers {
    ear: Option<Ear>,
    /// Number of reads that may come between an alarm and the end of its job.
    late: u32,
    /// Pages of each block that may be programmed without a job, as its policy knows.
    to_come: Vec<Option<u32>>,
    divided: BTreeMap<BlockId, Divided>,
}

impl Oracle {
    /// Begins to use a listener's record of the numbers that the policy receives.
    pub(crate) fn overhear(&mut self, ear: &Ear, config: &DriveConfig) {
        let to_come = vec![None; self.geometry.blocks as usize];
        self.policy_numbers = PolicyNumbers {
            ear: Some(ear.clone()),
            late: late_reads(config),
            to_come,
            divided: BTreeMap::new(),
        };
    }

    /// Checks the numbers of a policy that was just asked about a block.
    pub(crate) fn check_told(&mut self, block: BlockId) {
        let Some(ear) = &self.policy_numbers.ear else { return };
        let Some(told) = ear.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        if told.block == block {
            let wrong = self
                .wrong_number(&told)
                .or_else(|| self.wrong_budget(block, told.budget))
                .or_else(|| self.wrong_away(&told));
            let wrong = wrong
                .or_else(|| self.wrong_guards(&told))
                .or_else(|| self.wrong_within(&told))
                .or_else(|| self.wrong_probe(&told));
            self.note_opening(&told);
            if let Some(what) = wrong {
                self.findings.add(Kind::Books, || {
                    format!("the policy gets wrong data about block {block}: {what}")
                });
            }
            self.policy_numbers.to_come[block.index()] = Some(told.to_come);
        }
        self.openings.wants_reprogrammed(&told.reprograms);
        self.policy_numbers.divided.extend(told.divides);
    }

    fn wrong_number(&self, told: &Told) -> Option<String> {
        let block = told.block;
        let dose = self.doses.read_of(block)?;
        if u64::from(told.dose) != dose {
            return Some(format!("a dose of {} quarters instead of {dose}", told.dose));
        }
        let pec = self.doses.pec_of(block);
        if told.pec != pec {
            return Some(format!("the limits at {} P/E cycles instead of {pec}", told.pec));
        }
        if told.late < self.policy_numbers.late {
            return Some(format!(
                "{} reads until a job is done, although {} are possible",
                told.late, self.policy_numbers.late
            ));
        }
        if told.mode != self.doses.mode_of(block) {
            return Some(format!("coding {} instead of {}", told.mode, self.doses.mode_of(block)));
        }
        let endured = |group: usize| self.doses.of_group(block, group);
        // If retries are allowed, a technique may assume a higher limit than that of a fresh page
        // without retries. Weights do not change.
        let goes_by_fresh = !self.doses.has_rates();
        let too_good = |(group, told): &(usize, &Endurance)| {
            told.limit > endured(*group).limit && goes_by_fresh
                || told.alpha < endured(*group).alpha
        };
        let (group, told) = told.endures.iter().enumerate().find(too_good)?;
        Some(format!("{told:?} for wordline group {group} instead of {:?}", endured(group)))
    }

    fn wrong_guards(&self, told: &Told) -> Option<String> {
        let is_guarded = |index: u32| self.doses.own_mode(told.block, index) > 0;
        let told_of = |index: u32| told.guarded.get(index as usize).copied().unwrap_or(false);
        let wrong = (0..self.geometry.wordlines_per_block)
            .find(|index| told_of(*index) != is_guarded(*index))?;
        let words = if is_guarded(wrong) {
            "none, although it has some"
        } else {
            "some, although it has none"
        };
        Some(format!("guard levels of wordline {wrong}: {words}"))
    }

    fn wrong_within(&self, told: &Told) -> Option<String> {
        let within = told.within.as_ref()?;
        let (first, bits) = (self.geometry.first_wordline(told.block), self.geometry.cell.bits());
        let mut live = 0;
        for (index, (read, holds)) in (0..).zip(&within.wordlines) {
            let counted = self.medium.read(first + index);
            if u64::from(*read) != counted {
                return Some(format!(
                    "{read} quarter reads of wordline {index} instead of {counted}"
                ));
            }
            for (kind, stamp) in (0..).zip(self.medium.stamps(first + index)) {
                if !self.stamps.is_live(stamp) {
                    continue;
                }
                live += 1;
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
    fn wrong_probe(&self, told: &Told) -> Option<String> {
        let (first, bits) = (self.geometry.first_wordline(told.block), self.geometry.cell.bits());
        let heaviest = (0..bits).map(|kind| u64::from(self.doses.of_read(kind))).max()?;
        told.probed.iter().find_map(|(index, used)| {
            // The limit of a page kind that the wordline's coding gives up does not matter.
            let kinds = (0..bits).map(|kind| At {
                block: told.block,
                wordline: first + index,
                index: *index,
                kind,
            });
            let kinds = kinds.filter(|at| self.doses.keeps(*at));
            let limit = |at: At| {
                self.doses
                    .limit_by(at, |group| told.endures.get(group).map_or(0, |told| told.limit))
            };
            let limit = kinds.map(limit).min()?;
            let at = At { block: told.block, wordline: first + index, index: *index, kind: 0 };
            let dose = self.doses.of_wordline(&self.medium, at).dose;
            // Later probes of other wordlines, and the probe itself, also add to the dose.
            let since =
                heaviest * (2 * self.doses.page(at).alpha + FAR * told.probed.len() as u64) + UNIT;
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

    /// Checks the program of a page of a block.
    pub(crate) fn check_to_come(&mut self, block: BlockId) {
        if self.policy_numbers.ear.is_none() || self.jobs.contains_key(&block) {
            return;
        }
        match &mut self.policy_numbers.to_come[block.index()] {
            None => {}
            Some(0) => {
                self.policy_numbers.to_come[block.index()] = None;
                self.findings.add(Kind::Books, || {
                    format!(
                        "block {block} is written, but the policy was informed that no more pages \
                         follow"
                    )
                });
            }
            Some(left) => *left -= 1,
        }
    }

    /// Checks the destination of a copied page. A page for a block of full density must not go to
    /// another block.
    pub(crate) fn check_divided(&mut self, from: Ppn, to: At) {
        if self.policy_numbers.divided.is_empty() || !self.geometry.has_page(from) {
            return;
        }
        let block = self.geometry.block_of(from);
        let Some(parts) = self.policy_numbers.divided.get(&block) else { return };
        let page = PageInBlock::new(from - self.geometry.first_page(block));
        let Some((_, wanted)) = parts.iter().find(|(part, _)| part.holds(page)) else { return };
        let given_up = |mode: u8| self.density.codings.given_up(mode);
        if given_up(*wanted) < given_up(self.doses.mode_of(to.block)) {
            let place = self.place(from);
            self.findings.add(Kind::Books, || {
                format!("{place} must go to a block of full density; it goes to block {}", to.block)
            });
        }
    }

    pub(crate) fn forget_told(&mut self, block: BlockId) {
        if self.policy_numbers.ear.is_some() {
            self.policy_numbers.to_come[block.index()] = None;
            self.policy_numbers.divided.remove(&block);
        }
    }
}

/// Returns `R_late`. It is `reclaim.late_reads`, if this is given. Otherwise it is the number of
/// reads of a die in the time of a job. It is at most an eighth of the reads beside them that the
/// weakest wordlines endure. It is 0 if jobs run at once. The pages of a block are added if moves
/// of blocks that are not recycled may read other blocks for rebuilds.
pub(crate) fn late_reads(config: &DriveConfig) -> u32 {
    let leaves_alone = config.parity.by_wear().is_some_and(|by_wear| by_wear.last.is_some());
    let pages = config.geometry.wordlines_per_block * config.geometry.cell.bits();
    late_by_jobs(config) + if leaves_alone { pages } else { 0 }
}

fn late_by_jobs(config: &DriveConfig) -> u32 {
    if let Some(late) = config.reclaim.late_reads {
        return late;
    }
    if config.reclaim.schedule == Schedule::Foreground {
        return 0;
    }
    let (timing, geometry) = (&config.timing, &config.geometry);
    let bits = f64::from(geometry.cell.bits());
    let sense: f64 = timing.sense_per_kind_us(geometry.cell).iter().sum::<f64>() / bits;
    let together = if timing.program_unit == ProgramUnit::Wordline { bits } else { 1.0 };
    let program =
        (0..geometry.cell.bits()).map(|kind| program_us(config, kind)).sum::<f64>() / bits;
    let in_a_job =
        bits * f64::from(geometry.wordlines_per_block) * (1.0 + program / together / sense);
    let beside = |row: &vpass_drive::config::PerPec| {
        let alpha = |group: usize| row.alpha.get(group).copied().unwrap_or(1.0);
        row.limit
            .iter()
            .enumerate()
            .map(|(group, limit)| limit / alpha(group))
            .fold(f64::INFINITY, f64::min)
    };
    let weakest = config.disturb.table.iter().map(beside).fold(f64::INFINITY, f64::min);
    // A whole number with an error in its last digit may become one less.
    ((weakest / 8.0).min(in_a_job) * (1.0 - 1e-12)) as u32
}

#[cfg(test)]
mod tests {
    use super::late_reads;
    use vpass_drive::config::{DriveConfig, KindUs};

    fn of(reclaim: &str) -> DriveConfig {
        let text = format!(
            r#"
            geometry = {{ channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 40, wordlines_per_block = 4, cell = "slc", page_size = "4KiB" }}
            timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }}
            drive = {{ spare = 0.4 }}
            disturb = {{ model = "wordline", table = [{{ pec = 0, limit = [9000], alpha = [9.0] }}, {{ pec = 9, limit = [900], alpha = [9.0] }}] }}
            reclaim = {{ {reclaim} }}
            "#
        );
        toml::from_str::<DriveConfig>(&text).unwrap().resolve().unwrap()
    }

    #[test]
    fn late_reads_are_those_of_a_job_or_an_eighth_of_what_the_weakest_endure() {
        // 4 copies take the time of 11 reads each, and 900 / 9 / 8 is 12.5.
        assert_eq!(late_reads(&of("schedule = \"deadline\"")), 12);
        assert_eq!(late_reads(&of("schedule = \"deadline\", late_reads = 70")), 70);
        assert_eq!(late_reads(&of("schedule = \"foreground\"")), 0);
        let mut quick = of("schedule = \"deadline\"");
        quick.timing.program_us = KindUs::All(60.0);
        assert_eq!(late_reads(&quick), 8, "4 copies of the time of 2.2 reads");
    }
}
