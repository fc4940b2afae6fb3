//! What a policy is told of a block when it is asked, against the truth. A bound that rests on a
//! wrong number rarely loses data in the few drives that come to its border; the number itself is
//! wrong in every drive.
//!
//! Told may be less than the truth where that only costs copies: limits too low, pages held for
//! valid that are not. What is checked is what a promise rests on.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use vpass_core::base::latency::AccessLatency;
use vpass_core::base::units::{BlockId, PageInBlock, Ppn, StreamId};
use vpass_core::config::{DriveConfig, ProgramUnit, Schedule};
use vpass_core::slots::reclaim::Part;

use crate::clock::program_us;
use crate::endurance::{Endurance, FAR, UNIT};
use crate::medium::At;
use crate::oracle::Oracle;
use crate::report::Kind;

/// What a policy was told of one block.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) block: BlockId,
    /// In quarters of a dose unit.
    pub(crate) dose: u32,
    /// The P/E count at which limits are to be looked up, and what it finds there for each group of
    /// wordlines.
    pub(crate) pec: u32,
    pub(crate) endures: Vec<Endurance>,
    pub(crate) late: u32,
    pub(crate) mode: u8,
    pub(crate) valid: u32,
    pub(crate) to_come: u32,
    /// What the host says of its data.
    pub(crate) budget: AccessLatency,
    /// Pages that low density takes away, and is about to.
    pub(crate) away: u32,
    /// The blocks that it wants reprogrammed.
    pub(crate) reprograms: Vec<BlockId>,
    /// The stream that has just opened it.
    pub(crate) opens: Option<StreamId>,
    /// Of each wordline whether it has guard levels of its own; nothing where none has.
    pub(crate) guarded: Vec<bool>,
    /// Now and then: what it is told of each wordline, and of each page.
    pub(crate) within: Option<Within>,
    /// The blocks that it divides.
    pub(crate) divides: Vec<(BlockId, Divided)>,
    /// Wordlines that were just probed, and what share of each one's limit is used up by what the
    /// probe found.
    pub(crate) probed: Vec<(u32, f64)>,
}

/// What a policy was told of the inside of a block.
#[derive(Clone, Debug)]
pub(crate) struct Within {
    /// Quarters of a dose unit read from each wordline, and whether it holds valid pages.
    pub(crate) wordlines: Vec<(u32, bool)>,
    /// Whether each page is valid.
    pub(crate) pages: Vec<bool>,
}

/// Where all pages of a block are to go: parts of it, with the coding mode of the stream that each
/// goes to.
pub(crate) type Divided = Vec<(Part, u8)>;

/// Between whoever hears what a policy is told, and the oracle.
pub(crate) type Ear = Arc<Mutex<Option<Told>>>;

/// What was heard, as far as it can be judged later only.
#[derive(Debug, Default)]
pub(crate) struct Hearsay {
    ear: Option<Ear>,
    /// Reads that may come between an alarm and the end of its job.
    late: u32,
    /// Pages of each block that may be programmed without a job, as its policy knows it.
    to_come: Vec<Option<u32>>,
    divided: BTreeMap<BlockId, Divided>,
}

impl Oracle {
    /// From now on somebody hears what the policy is told.
    pub(crate) fn overhear(&mut self, ear: &Ear, config: &DriveConfig, timed: bool) {
        let to_come = vec![None; self.geometry.blocks as usize];
        self.hearsay = Hearsay {
            ear: Some(ear.clone()),
            late: late_reads(config, timed),
            to_come,
            divided: BTreeMap::new(),
        };
    }

    /// The policy was asked about a block just now.
    pub(crate) fn check_told(&mut self, block: BlockId) {
        let Some(ear) = &self.hearsay.ear else { return };
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
            self.hearsay.to_come[block.index()] = Some(told.to_come);
        }
        self.openings.wants_reprogrammed(&told.reprograms);
        self.hearsay.divided.extend(told.divides);
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
        if told.late < self.hearsay.late {
            return Some(format!(
                "{} reads until a job is done, although {} are possible",
                told.late, self.hearsay.late
            ));
        }
        if told.mode != self.doses.mode_of(block) {
            return Some(format!("coding {} instead of {}", told.mode, self.doses.mode_of(block)));
        }
        let endured = |group: usize| self.doses.of_group(block, group);
        // Where retries count, a technique may assume more than a fresh page endures without. They
        // change no weight.
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

    /// What a probe finds is a share of the limit that the policy goes by: of that of the longest
    /// age, where data ages.
    fn wrong_probe(&self, told: &Told) -> Option<String> {
        let (first, bits) = (self.geometry.first_wordline(told.block), self.geometry.cell.bits());
        let heaviest = (0..bits).map(|kind| u64::from(self.doses.of_read(kind))).max()?;
        told.probed.iter().find_map(|(index, used)| {
            // A page kind that the wordline's coding gives up endures nothing that matters.
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
            // Others were probed behind it, and it itself.
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

    /// A page of a block is programmed.
    pub(crate) fn check_to_come(&mut self, block: BlockId) {
        if self.hearsay.ear.is_none() || self.jobs.contains_key(&block) {
            return;
        }
        match &mut self.hearsay.to_come[block.index()] {
            None => {}
            Some(0) => {
                self.hearsay.to_come[block.index()] = None;
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

    /// A page is copied: one that is to go to a block of full density does not go to another.
    pub(crate) fn check_divided(&mut self, from: Ppn, to: At) {
        if self.hearsay.divided.is_empty() || !self.geometry.has_page(from) {
            return;
        }
        let block = self.geometry.block_of(from);
        let Some(parts) = self.hearsay.divided.get(&block) else { return };
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
        if self.hearsay.ear.is_some() {
            self.hearsay.to_come[block.index()] = None;
            self.hearsay.divided.remove(&block);
        }
    }
}

/// As `reclaim.late_reads` says or, without a word, the reads of a die in the time of a job, but no
/// more than an eighth of what the weakest wordlines endure of reads beside them; none where jobs
/// run at once. And as many as a block has pages where moves of blocks that are left alone read
/// others to rebuild what they have lost.
pub(crate) fn late_reads(config: &DriveConfig, timed: bool) -> u32 {
    let leaves_alone = config.parity.by_wear().is_some_and(|by_wear| by_wear.last.is_some());
    let pages = config.geometry.wordlines_per_block * config.geometry.cell.bits();
    late_by_jobs(config, timed) + if leaves_alone { pages } else { 0 }
}

fn late_by_jobs(config: &DriveConfig, timed: bool) -> u32 {
    if let Some(late) = config.reclaim.late_reads {
        return late;
    }
    if !timed || config.reclaim.schedule == Schedule::Foreground {
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
    let beside = |row: &vpass_core::config::PerPec| {
        let alpha = |group: usize| row.alpha.get(group).copied().unwrap_or(1.0);
        row.limit
            .iter()
            .enumerate()
            .map(|(group, limit)| limit / alpha(group))
            .fold(f64::INFINITY, f64::min)
    };
    let weakest = config.disturb.table.iter().map(beside).fold(f64::INFINITY, f64::min);
    // What is a whole number but for the last digit of its arithmetic may be one less.
    ((weakest / 8.0).min(in_a_job) * (1.0 - 1e-12)) as u32
}

#[cfg(test)]
mod tests {
    use super::late_reads;
    use vpass_core::config::{DriveConfig, KindUs};

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
        // 4 copies take the time of 11 reads each; 900 / 9 / 8 is 12.5.
        assert_eq!(late_reads(&of("schedule = \"deadline\""), true), 12);
        assert_eq!(late_reads(&of("schedule = \"deadline\", late_reads = 70"), true), 70);
        assert_eq!(
            [late_reads(&of(""), false), late_reads(&of("schedule = \"foreground\""), true)],
            [0, 0]
        );
        let mut quick = of("schedule = \"deadline\"");
        quick.timing.program_us = KindUs::All(60.0);
        assert_eq!(late_reads(&quick, true), 8, "4 copies of the time of 2.2 reads");
    }
}
