//! What a checker may see of the drive's own state at the end of a run: its map and its blocks.

pub mod blame;
mod figures;
pub mod hints;

use std::ops::Range;

use crate::base::dose::{Dose, Quarters};
use crate::base::units::{BlockId, Lpn, Ppn};
use crate::drive::Drive;
use crate::flash::block::{BlockState, CARRY, FAILED};
use crate::flash::contents::set_bits;
use crate::ftl::map::Entry;
use crate::slots::gc::{GC, GcPolicy};
use crate::slots::reclaim::{Policy, technique};
#[cfg(doc)]
use crate::watch::observer::NO_LPN;
use crate::watch::observer::NO_PPN;

/// A page of the host in the drive's map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapRow {
    /// The page.
    pub lpn: Lpn,
    /// Where it lies on flash, [`NO_PPN`] where only the write buffer has it.
    pub ppn: Ppn,
    /// Newer data is in the write buffer.
    pub buffered: bool,
}

/// A block at the end of a run.
#[derive(Clone, Copy, Debug)]
pub struct BlockRow {
    /// Life.
    pub state: BlockState,
    /// P/E cycles.
    pub pec: u32,
    /// Effective P/E cycles, in thousandths.
    pub effective_milli: u64,
    /// P/E cycles that ended since the drive was made.
    pub cycles: u32,
    /// Those of them in which it was reprogrammed in place.
    pub reprogrammed_cycles: u32,
    /// Reads since erase, in dose units.
    pub reads: f64,
    /// Page kinds that its coding takes away.
    pub mode: u8,
    /// Pages with current data.
    pub valid: u16,
    /// Pages programmed.
    pub written: u16,
    /// Whether it is recycled neither for its reads nor for its age, because parity repairs what
    /// cannot be read of it.
    pub left_to_parity: bool,
    /// Whether anything of it has failed, so that it is written no more.
    pub has_failed: bool,
}

impl Drive {
    /// Puts someone between the drive and its policy: for who checks what policies are told.
    pub fn interpose(&mut self, between: impl FnOnce(Box<dyn Policy>) -> Box<dyn Policy>) {
        let nobody = technique("none").expect("it is in the list");
        let policy = std::mem::replace(&mut self.policy, nobody.make(&self.config, 0));
        self.policy = between(policy);
    }

    /// Puts someone between the drive and its GC policy: for who checks what it picks.
    pub fn interpose_gc(&mut self, between: impl FnOnce(Box<dyn GcPolicy>) -> Box<dyn GcPolicy>) {
        let nobody = GC.first().expect("the list is not empty");
        let policy = std::mem::replace(&mut self.gc, nobody.make(&self.config, 0));
        self.gc = between(policy);
    }

    /// The map as the drive has it, in logical order: every page of the host that holds data. Pages
    /// reported lost hold none.
    pub fn map_rows(&self) -> impl Iterator<Item = MapRow> + '_ {
        self.all_map_rows().take_while(|row| row.lpn.number() < self.geometry.host_pages)
    }

    /// The same with the pages of parity, which are numbered behind those of the host.
    pub fn all_map_rows(&self) -> impl Iterator<Item = MapRow> + '_ {
        Lpn::range(0..self.ftl.map.pages()).filter_map(|lpn| self.map_row(lpn))
    }

    /// A page's row in the map, if it holds data.
    pub fn map_row(&self, lpn: Lpn) -> Option<MapRow> {
        let entry = self.ftl.map.get(lpn);
        let slot = entry.slot();
        let (buffered, on_flash) =
            (slot.is_some(), slot.map_or(entry, |slot| self.ftl.buffer.slot(slot).below));
        let ppn = on_flash.ppn().unwrap_or(NO_PPN);
        let holds = (buffered || ppn < NO_PPN) && !self.ftl.is_lost(lpn);
        holds.then_some(MapRow { lpn, ppn, buffered })
    }

    /// Whether any page is reported lost, and was not written since.
    pub fn any_is_lost(&self) -> bool {
        self.ftl.lost_words().iter().any(|word| *word != 0)
    }

    /// Whether the map says of a page that it lies where the computed start put it, without its
    /// place having been worked out.
    #[inline]
    pub fn is_as_begun(&self, lpn: Lpn) -> bool {
        self.ftl.map.is_as_begun(lpn)
    }

    /// Whether [`Self::is_as_begun`] holds of all pages of a run, which end with the last page of
    /// the host at the latest.
    pub fn are_as_begun(&self, run: Range<u32>) -> bool {
        self.ftl.map.are_as_begun(run.start as usize..run.end as usize)
    }

    /// Whether the reverse map says of all pages of a block that they belong to whom the computed
    /// start gave them.
    pub fn owners_are_as_begun(&self, block: BlockId) -> bool {
        self.flash.contents().is_as_begun(block)
    }

    /// The pages of a block that the drive holds to be valid, a bit each, pages reported lost among
    /// them.
    pub fn valid_words(&self, block: BlockId) -> &[u64] {
        self.flash.contents().valid_words(block)
    }

    /// What the reverse map says about a flash page: to whom it belongs, or last belonged;
    /// [`NO_LPN`] where to nobody.
    pub fn owner(&self, ppn: Ppn) -> Lpn {
        self.flash.contents().owner(ppn)
    }

    /// The flash pages that the drive holds to be valid, in their order, but for those of pages
    /// reported lost.
    pub fn valid_pages(&self) -> impl Iterator<Item = Ppn> + '_ {
        self.geometry.block_ids().flat_map(|block| {
            let first = self.geometry.first_page(block);
            let pages = set_bits(self.flash.contents().valid_words(block))
                .map(move |page| first + page as u32);
            pages.filter(|ppn| !self.ftl.is_lost(self.owner(*ppn)))
        })
    }

    /// Pages that hold data: the rows of [`Self::all_map_rows`].
    pub fn mapped_pages(&self) -> u64 {
        let is_mapped = |lpn: &usize| self.ftl.map.get(Lpn::from_index(*lpn)) != Entry::UNMAPPED;
        let lost = set_bits(self.ftl.lost_words()).filter(is_mapped).count();
        self.ftl.map.mapped() - lost as u64
    }

    /// Pages per block that hold data which is not lost.
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

    /// What the drive takes for the dose and the limit of a programmed page; nothing where reads
    /// disturb nothing.
    pub fn dose_and_limit(&self, ppn: Ppn) -> Option<(Dose, Dose)> {
        let block = self.geometry.block_of(ppn);
        self.flash.limits()?;
        let page = self.geometry.page_in(block, ppn);
        Some(self.flash.with_block_view(block, |model, view| {
            let limit = model.limit(view, page, model.max_retries());
            (model.dose(view, page), limit.max(Dose::ZERO))
        }))
    }

    /// What the technique's counters know of a block's wordlines that they count: the least and the
    /// most that was read of each since the erase. Nothing where the technique has no such
    /// counters.
    pub fn counted_wordlines(
        &self,
        block: BlockId,
    ) -> impl Iterator<Item = (u32, Quarters, Quarters)> + '_ {
        let known = self.flash.tracker().is_on().then(|| self.flash.tracker().of(block));
        known.into_iter().flat_map(|known| {
            known
                .entries()
                .map(|(wordline, entry)| (wordline as u32, entry.count - entry.error, entry.count))
                .collect::<Vec<_>>()
        })
    }

    /// Reads between two rewrites that reads cause, in blocks of this age; none where they cause
    /// none. Only its ratio between ages counts.
    pub fn reads_per_rewrite(&mut self, pec: u32) -> Option<f64> {
        let (policy, view) = self.policy_and_view();
        policy.reads_per_rewrite(&view, pec)
    }

    /// One row per block: state, P/E cycles, reads since erase in dose units, valid and written
    /// pages.
    pub fn block_states(&self) -> impl Iterator<Item = BlockRow> + '_ {
        let (hot, cold) = self.flash.blocks();
        hot.iter().zip(cold).zip(self.geometry.block_ids()).map(|((hot, cold), block)| BlockRow {
            state: hot.state,
            pec: cold.pec,
            effective_milli: cold.effective_milli(),
            cycles: cold.pec - self.flash.first_pec(block),
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
