//! Blocks that need retries: stored limits for their reads. Most of their reads then need neither
//! the error model nor the policy.
//!
//! A block's limits stay while its wear and its step of age stay. They are computed once for all
//! blocks with these two values. A page may need more retries for its age than for all reads of its
//! block. Then its group and kind decide its retries, and no counters are read.

use std::collections::BTreeMap;

use crate::base::codings::FULL;
use crate::base::dose::Quarters;
use crate::base::units::{BlockId, Cause, Lpn, Ns, Ppn, WordlineInBlock};
use crate::disturb::{Counts, Levels, PageHealth};
use crate::error::budget::PageAt;
use crate::flash::Flash;
use crate::flash::assess::COUNTER_GUARD;
use crate::flash::block::{FAILED, HAS_RECODED, SUSPECT};
use crate::flash::operate::sense::Sensed;
use crate::watch::observer::PhysRead;

/// Limits of a block that needs retries.
#[derive(Clone, Copy, Debug)]
struct Tired {
    /// Number of the block's [`Levels`].
    levels: u32,
    /// Block dose below which no read asks the policy.
    rings: Quarters,
    /// Ratio of the block's limits to those of the worst block.
    factor: u32,
    /// Time before which the levels hold; 0 if the limits are not known.
    until: Ns,
}

impl Tired {
    const UNKNOWN: Self = Self { levels: 0, rings: Quarters::ZERO, factor: 0, until: 0 };
}

/// Largest number of stored levels. A drive rarely has more combinations of wear and age at one
/// time.
const LEVELS_MAX: usize = 4096;

/// Known limits of all blocks that need retries.
#[derive(Default)]
pub(crate) struct TiredBlocks {
    /// Limits by block; empty until a block needs retries.
    blocks: Vec<Tired>,
    levels: Vec<Levels>,
    /// Number of the levels by P/E count and step of age.
    numbers: BTreeMap<(u32, usize), u32>,
    /// Group by wordline, numbered within its block.
    group_of: Vec<u16>,
}

impl TiredBlocks {
    /// Returns the memory used.
    pub(crate) fn bytes(blocks: u32) -> u64 {
        u64::from(blocks) * size_of::<Tired>() as u64
    }

    fn of(&mut self, block: BlockId) -> Option<&mut Tired> {
        self.blocks.get_mut(block.index())
    }

    /// Sets the dose below which no read of a block asks its policy.
    pub(super) fn rings_at(&mut self, block: BlockId, dose: Quarters) {
        if let Some(tired) = self.of(block) {
            tired.rings = dose.min(COUNTER_GUARD);
        }
    }

    /// Returns whether a read that brings a block to this dose asks no policy.
    #[inline]
    pub(super) fn is_quiet(&self, block: BlockId, dose: Quarters) -> bool {
        self.blocks.get(block.index()).is_some_and(|tired| dose < tired.rings)
    }

    /// Returns the dose below which no read of a block asks its policy.
    pub(super) fn quiet_dose(&self, block: BlockId) -> Quarters {
        self.blocks.get(block.index()).map_or(Quarters::ZERO, |tired| tired.rings)
    }

    /// Forgets the limits of a block.
    pub(super) fn forget(&mut self, block: BlockId) {
        if let Some(tired) = self.of(block) {
            tired.until = 0;
        }
    }

    /// Forgets the limits of all blocks.
    pub(super) fn forget_all(&mut self) {
        self.blocks.iter_mut().for_each(|tired| tired.until = 0);
        self.levels.clear();
        self.numbers.clear();
    }
}

impl Flash {
    /// Marks a block as needing retries.
    pub(super) fn begin_tired(&mut self, block: BlockId) {
        if self.tired.blocks.is_empty() {
            self.tired.blocks = vec![Tired::UNKNOWN; self.geometry.blocks as usize];
            let wordlines = self.geometry.wordlines_in_block();
            let group_of = self
                .limits()
                .map(|table| wordlines.map(|wordline| table.group_of(wordline) as u16).collect());
            self.tired.group_of = group_of.unwrap_or_default();
        }
        self.tired.blocks[block.index()] = Tired::UNKNOWN;
    }

    /// Returns the result of a counted host read in a block that needs retries. Returns `None` if
    /// the result is not known without counters, or if the read may ask a policy.
    #[inline]
    pub(crate) fn read_quietly(&mut self, lpn: Lpn, ppn: Ppn) -> Option<Sensed> {
        let block = self.geometry.block_of(ppn);
        let (hot, known) = (&self.hot[block.index()], self.tired.blocks.get(block.index())?);
        if !self.is_plainly_tired(block) || self.now >= known.until {
            return None;
        }
        let wordline = self.geometry.wordline_of(ppn);
        let (kind, dose) = (self.geometry.kind_of(ppn) as usize, self.dose_of(ppn));
        let group = self.tired.group_of[(wordline - self.geometry.first_wordline(block)) as usize];
        let retries = self.tired.levels[known.levels as usize].whatever_was_read(
            group.into(),
            kind,
            hot.reads,
        )?;
        let counted = dose * u32::from(retries);
        if hot.reads + counted >= known.rings || self.draws.is_at_risk(retries) {
            return None;
        }
        let read = PhysRead { retries, ..PhysRead::good(lpn, ppn, Cause::Host) };
        self.note_read(read);
        self.sense_again(read, 0);
        Some(Sensed { good: true, rings: false, level: 0, retries })
    }

    /// Returns whether the counters, age and wear of a block decide the retries of its reads, and
    /// all its wordlines have the same coding.
    #[inline]
    fn is_plainly_tired(&self, block: BlockId) -> bool {
        let hot = &self.hot[block.index()];
        hot.has(SUSPECT)
            && !hot.has(HAS_RECODED)
            && !hot.has(FAILED)
            && hot.mode == FULL
            && !self.draws.has_noise()
            && !self.levels.are_kept()
    }

    /// Returns the result of a read of a page of a block that needs retries. `own` is the dose that
    /// the current sensing has deposited already. It came after the data was sensed, so it does not
    /// count.
    #[inline]
    pub(super) fn health_of_tired(
        &mut self,
        block: BlockId,
        (wordline, kind): (WordlineInBlock, u32),
        own: Quarters,
    ) -> PageHealth {
        if self.tired.blocks.get(block.index()).is_none_or(|known| self.now >= known.until) {
            self.look_levels_up(block);
        }
        let known = &self.tired.blocks[block.index()];
        let hot = &self.hot[block.index()];
        let wordlines = &self.wordlines[self.geometry.rows_of(block)];
        let counts = Counts {
            wordlines,
            reads: hot.reads - own,
            wordline,
            own: wordlines[wordline.index()].reads - own,
        };
        let mode = match hot.mode {
            mode if !hot.has(HAS_RECODED) => mode,
            mode => self.own_mode(block, wordline).unwrap_or(mode),
        };
        let page = PageAt { wordline, kind: kind as usize, block_factor: known.factor, mode };
        self.error_model().health_by(&self.tired.levels[known.levels as usize], &counts, page)
    }

    /// Returns the coding that a wordline has for itself.
    #[cold]
    fn own_mode(&self, block: BlockId, wordline: WordlineInBlock) -> Option<u8> {
        self.recoded.of(block).get(wordline.index()).copied().filter(|own| *own != FULL)
    }

    /// Looks up the limits of a block.
    #[cold]
    fn look_levels_up(&mut self, block: BlockId) {
        let (number, factor) = self.levels_of(block, self.age_step(block));
        let until = self.next_step_begins(block);
        let known = &mut self.tired.blocks[block.index()];
        *known = Tired { levels: number, factor, until, ..*known };
    }

    /// Returns the number of a block's levels at a step of age, and the ratio of its limits to
    /// those of the worst block.
    fn levels_of(&mut self, block: BlockId, step: usize) -> (u32, u32) {
        let pec = self.limit_pec(block);
        if self.tired.levels.len() == LEVELS_MAX && !self.tired.numbers.contains_key(&(pec, step)) {
            self.tired.forget_all();
        }
        let (model, tired) = (
            self.model.as_deref().expect("only drives with an error model have tired blocks"),
            &mut self.tired,
        );
        let number = *tired.numbers.entry((pec, step)).or_insert_with(|| {
            tired.levels.push(model.levels(pec, step));
            tired.levels.len() as u32 - 1
        });
        (number, model.table.block_factor(block))
    }

    /// Returns how many host reads a block that needs retries can serve, in any page. At the next
    /// read, the policy may be asked or the page may take more retries. `step` is the step of the
    /// block's age. `retries` gets the retries of each place that `is_read`. A place is a wordline
    /// or, with `by_page`, a page. Returns `None` if each read needs a check of its own.
    pub(super) fn reads_of_known_retries(
        &mut self,
        block: BlockId,
        step: usize,
        (by_page, is_read): (bool, impl Fn(usize) -> bool),
        retries: &mut Vec<u8>,
    ) -> Option<u32> {
        retries.clear();
        if !self.is_plainly_tired(block) {
            return None;
        }
        let (number, block_factor) = self.levels_of(block, step);
        let (levels, model) = (&self.tired.levels[number as usize], self.error_model());
        if !by_page && !levels.are_kinds_alike() {
            return None;
        }
        let hot = &self.hot[block.index()];
        let wordlines = &self.wordlines[self.geometry.rows_of(block)];
        let kinds = if by_page { self.geometry.cell.bits() } else { 1 };
        retries.resize(wordlines.len() * kinds as usize, 0);
        let (mut room, mut most) = (Quarters::MAX, 0);
        for (place, retries) in retries.iter_mut().enumerate() {
            if !is_read(place) {
                continue;
            }
            let wordline = WordlineInBlock::from_index(place / kinds as usize);
            let counts = Counts {
                wordlines,
                reads: hot.reads,
                wordline,
                own: wordlines[wordline.index()].reads,
            };
            let kind = place % kinds as usize;
            let page = PageAt { wordline, kind, block_factor, mode: FULL };
            let (taken, left) = model.room_by(levels, &counts, page)?;
            (*retries, room, most) = (taken, room.min(left), most.max(taken));
        }
        // At this number of retries, chance decides whether the last codewords decode.
        if self.draws.is_at_risk(most) {
            return None;
        }
        let quiet =
            self.tired.quiet_dose(block).saturating_sub(hot.reads + Quarters::from_count(1));
        let largest = self.largest_dose();
        Some(room.min(quiet).count() / (largest * (u32::from(most) + 1)).count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::units::Reads;
    use crate::drive::Drive;
    use crate::drive::tests::tiny_config;
    use crate::testing::fakes;

    /// Creates a full drive, and returns a block of it.
    fn drive() -> (Drive, BlockId) {
        let mut config = tiny_config();
        config.start.fill = 1.0;
        let mut drive = Drive::new(config.resolve().unwrap(), &fakes(), false).unwrap();
        drive.precondition(1);
        let block = drive
            .geometry
            .block_ids()
            .find(|block| drive.flash.hot[block.index()].valid > 0)
            .unwrap();
        (drive, block)
    }

    #[test]
    fn a_block_that_becomes_tired_keeps_nothing_of_a_life_before() {
        let (mut drive, block) = drive();
        let flash = &mut drive.flash;
        flash.begin_tired(block);
        flash.tired.rings_at(block, Quarters::UNIT * 50);
        flash.tired.blocks[block.index()].until = 7;
        assert!(flash.tired.is_quiet(block, Quarters::UNIT * 49));
        flash.begin_tired(block);
        assert!(!flash.tired.is_quiet(block, Quarters::ZERO));
        assert_eq!(flash.tired.blocks[block.index()].until, 0);
    }

    #[test]
    fn a_block_that_is_young_again_has_other_limits() {
        let (mut drive, block) = drive();
        drive.flash.begin_tired(block);
        drive.flash.tired.blocks[block.index()].until = 7;
        drive.flash.restart_age(block, 5);
        assert_eq!(drive.flash.tired.blocks[block.index()].until, 0);
    }

    /// Policies reserve the sensings of movers, with each of their retries. They do not reserve
    /// reads of the host.
    #[test]
    fn retries_of_movers_put_the_alarm_off() {
        for (cause, units) in [(Cause::Reclaim, 102), (Cause::Gc, 102), (Cause::Host, 100)] {
            let (mut drive, block) = drive();
            let flash = &mut drive.flash;
            flash.set_policy_alarm(block, Reads(100));
            let ppn = flash.geometry.first_page(block);
            flash
                .sense_again(PhysRead { retries: 2, ..PhysRead::good(Lpn::new(0), ppn, cause) }, 0);
            assert_eq!(
                flash.cold[block.index()].policy_alarm_dose(),
                Quarters::UNIT * units,
                "{cause:?}"
            );
        }
    }
}
