//! State of the drive that a checker may see at the end of a run: the map and the blocks.

pub mod blame;
mod figures;
pub mod hints;

use std::ops::Range;

use crate::api::Told;
use crate::api::gc::GcPolicy;
use crate::api::reclaim::{Policy, View};
use crate::api::refresh::Held;
use crate::base::dose::{Dose, Quarters};
use crate::base::latency::AccessLatency;
use crate::base::units::{BlockId, Lpn, Moment, Ppn, StreamId};
use crate::drive::Drive;
use crate::flash::block::{BlockState, CARRY, FAILED};
use crate::flash::contents::set_bits;
use crate::ftl::map::Entry;
#[cfg(doc)]
use crate::watch::observer::NO_LPN;
use crate::watch::observer::NO_PPN;

/// Host page in the drive's map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapRow {
    /// Number of the page.
    pub lpn: Lpn,
    /// Place of the page on flash; [`NO_PPN`] if only the write buffer has it.
    pub ppn: Ppn,
    /// Whether the write buffer has newer data.
    pub buffered: bool,
}

/// Block at the end of a run.
#[derive(Clone, Copy, Debug)]
pub struct BlockRow {
    /// State of the block.
    pub state: BlockState,
    /// Stream that writes or wrote the block.
    pub stream: StreamId,
    /// Time at which the block's oldest page was programmed.
    pub programmed_at: Moment,
    /// Number of P/E cycles.
    pub pec: u32,
    /// Number of effective P/E cycles, in thousandths.
    pub effective_milli: u64,
    /// Number of P/E cycles that have ended since the drive was made, without skipped ones.
    pub cycles: u32,
    /// Number of P/E cycles in which the block was reprogrammed in place.
    pub reprogrammed_cycles: u32,
    /// Number of reads since the erase, in dose units.
    pub reads: f64,
    /// Coding of the block's cells.
    pub mode: u8,
    /// Number of pages with current data.
    pub valid: u16,
    /// Number of programmed pages.
    pub written: u16,
    /// Whether neither reads nor age cause recycling of the block, because parity repairs its
    /// unreadable pages.
    pub left_to_parity: bool,
    /// Whether anything of it has failed, so that it is written no more.
    pub has_failed: bool,
}

impl Drive {
    /// Inserts a checker between the drive and its policy. The checker sees the information that
    /// the policy gets.
    #[must_use]
    pub fn interpose(self, between: impl FnOnce(Box<dyn Policy>) -> Box<dyn Policy>) -> Self {
        Self { policy: self.policy.interposed(between), ..self }
    }

    /// Inserts a checker between the drive and its GC policy. The checker sees the victims.
    #[must_use]
    pub fn interpose_gc(
        self,
        between: impl FnOnce(Box<dyn GcPolicy>) -> Box<dyn GcPolicy>,
    ) -> Self {
        Self { gc: self.gc.interposed(between), ..self }
    }

    /// Returns the drive's map in logical order: every host page that holds data. Pages reported
    /// lost hold no data.
    pub fn map_rows(&self) -> impl Iterator<Item = MapRow> + '_ {
        self.all_map_rows().take_while(|row| row.lpn.number() < self.geometry.host_pages)
    }

    /// Returns the rows of the map including parity pages, which have the numbers above those of
    /// host pages.
    pub fn all_map_rows(&self) -> impl Iterator<Item = MapRow> + '_ {
        Lpn::range(0..self.ftl.map.pages()).filter_map(|lpn| self.map_row(lpn))
    }

    /// Returns a page's row in the map; `None` if it holds no data.
    pub fn map_row(&self, lpn: Lpn) -> Option<MapRow> {
        let entry = self.ftl.map.get(lpn);
        let slot = entry.slot();
        let (buffered, on_flash) =
            (slot.is_some(), slot.map_or(entry, |slot| self.ftl.buffer.slot(slot).below));
        let ppn = on_flash.ppn().unwrap_or(NO_PPN);
        let holds = (buffered || ppn < NO_PPN) && !self.ftl.is_lost(lpn);
        holds.then_some(MapRow { lpn, ppn, buffered })
    }

    /// Returns whether any page was reported lost and has not been written since.
    pub fn any_is_lost(&self) -> bool {
        self.ftl.lost_words().iter().any(|word| *word != 0)
    }

    /// Returns whether the map has a page at its place of the computed start. The place itself is
    /// not computed.
    #[inline]
    pub fn is_as_begun(&self, lpn: Lpn) -> bool {
        self.ftl.map.is_as_begun(lpn)
    }

    /// Returns whether [`Self::is_as_begun`] holds for all pages of a run. The run must not go
    /// beyond the last parity page, or beyond the last host page without parity.
    pub fn are_as_begun(&self, run: Range<u32>) -> bool {
        self.ftl.map.are_as_begun(run.start as usize..run.end as usize)
    }

    /// Returns whether the reverse map still has the owners of the computed start for all pages of
    /// a block.
    pub fn owners_are_as_begun(&self, block: BlockId) -> bool {
        self.flash.contents.is_as_begun(block)
    }

    /// Returns the pages of a block that the drive considers valid, one bit each. They include
    /// pages reported lost.
    pub fn valid_words(&self, block: BlockId) -> &[u64] {
        self.flash.contents.valid_words(block)
    }

    /// Returns the owner of a flash page by the reverse map, or its last owner; [`NO_LPN`] if it
    /// never had one.
    pub fn owner(&self, ppn: Ppn) -> Lpn {
        self.flash.contents.owner(ppn)
    }

    /// Returns the flash pages that the drive considers valid, in order, without pages reported
    /// lost.
    pub fn valid_pages(&self) -> impl Iterator<Item = Ppn> + '_ {
        self.geometry.block_ids().flat_map(|block| {
            let first = self.geometry.first_page(block);
            let pages = set_bits(self.flash.contents.valid_words(block))
                .map(move |page| first + page as u32);
            pages.filter(|ppn| !self.ftl.is_lost(self.owner(*ppn)))
        })
    }

    /// Returns the number of pages that hold data, which are the rows of [`Self::all_map_rows`].
    pub fn mapped_pages(&self) -> u64 {
        let is_mapped = |lpn: &usize| self.ftl.map.get(Lpn::from_index(*lpn)) != Entry::UNMAPPED;
        let lost = set_bits(self.ftl.lost_words()).filter(is_mapped).count();
        self.ftl.map.mapped() - lost as u64
    }

    /// Returns the number of pages of each block that hold data and are not lost.
    pub fn whole_pages(&self) -> Vec<u32> {
        let mut whole: Vec<u32> =
            self.flash.blocks().0.iter().map(|hot| u32::from(hot.valid)).collect();
        for lpn in set_bits(self.ftl.lost_words()) {
            if let Some(ppn) = self.ftl.place_of(Lpn::from_index(lpn)) {
                whole[self.geometry.block_of(ppn).index()] -= 1;
            }
        }
        whole
    }

    /// Returns the dose and the limit of a programmed page, as the drive computes them; `None` if
    /// reads disturb nothing.
    pub fn dose_and_limit(&self, ppn: Ppn) -> Option<(Dose, Dose)> {
        let block = self.geometry.block_of(ppn);
        self.flash.limits()?;
        let page = self.geometry.page_in(block, ppn);
        Some(self.flash.with_block_view(block, |model, view| {
            let limit = model.limit(view, page, model.max_retries());
            (model.dose(view, page), limit.max(Dose::ZERO))
        }))
    }

    /// Returns the wordlines of a block that the technique's counters count. Each has a lower and
    /// an upper bound of its reads since the erase. Returns no wordline if the technique has no
    /// such counters.
    pub fn counted_wordlines(
        &self,
        block: BlockId,
    ) -> impl Iterator<Item = (u32, Quarters, Quarters)> + '_ {
        let known = self.flash.tracker.is_on().then(|| self.flash.tracker.of(block));
        known.into_iter().flat_map(|known| {
            known
                .entries()
                .map(|(wordline, entry)| (wordline as u32, entry.count - entry.error, entry.count))
                .collect::<Vec<_>>()
        })
    }

    /// Returns the number of reads between two rewrites because of reads, for blocks of this age;
    /// `None` if reads cause no rewrite. Only the ratio between ages has a meaning.
    pub fn reads_per_rewrite(&self, pec: u32) -> Option<f64> {
        let view = self.view_of_data(BlockId::new(0), AccessLatency::Smallest);
        self.policy.reads_per_rewrite(&view, pec)
    }

    /// Returns the state that a reclaim technique sees when the drive asks it about a block.
    pub fn view(&self, block: BlockId) -> View<'_> {
        self.view_of_data(block, self.flash.cold(block).budget)
    }

    fn view_of_data(&self, block: BlockId, budget: AccessLatency) -> View<'_> {
        let told = Told { config: &self.config, facts: &self.facts, host: &self.host };
        View::of(&self.flash, self.ftl.away(&self.flash, block), told, budget)
    }

    /// Returns the contents of a block that a refresh technique sees.
    pub fn held(&self, block: BlockId) -> Held<'_> {
        Held::of(&self.flash, block)
    }

    /// Returns one row per block: state, P/E cycles, reads since the erase in dose units, and valid
    /// and written pages.
    pub fn block_states(&self) -> impl Iterator<Item = BlockRow> + '_ {
        let (hot, cold) = self.flash.blocks();
        hot.iter().zip(cold).zip(self.geometry.block_ids()).map(|((hot, cold), block)| BlockRow {
            state: hot.state,
            stream: hot.stream,
            programmed_at: cold.programmed_at,
            pec: cold.pec,
            effective_milli: cold.effective_milli(),
            cycles: cold.pec - cold.skipped - self.flash.first_pec(block),
            reprogrammed_cycles: cold.reprogrammed_cycles,
            reads: f64::from(cold.carries) * CARRY.units() + hot.reads.units(),
            mode: hot.mode,
            valid: hot.valid,
            written: hot.write_ptr,
            left_to_parity: self.ftl.is_left_alone(&self.flash, block),
            has_failed: hot.has(FAILED),
        })
    }
}
