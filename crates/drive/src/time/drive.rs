//! Interface of the time modules to the drive's state.

use super::split::Pages;
use crate::base::codings::FULL;
use crate::base::request::{Op, Request};
use crate::base::units::{Cause, DieId, Lpn, Ppn};
use crate::drive::Drive;
use crate::flash::count::TRACKED;
use crate::ftl::job::JobRef;

pub(super) use crate::flash::ops::NandOp;

/// Counts of requests, in both gears.
impl Drive {
    /// Counts a request of the host. Its pages are counted when they are served.
    #[inline(always)]
    // Called once per request, with arguments that are known where it is called.
    pub(super) fn count_request(&mut self, op: Op, bytes: u32) {
        match op {
            Op::Read => {
                self.host.read_requests += 1;
                self.host.read_bytes += u64::from(bytes);
            }
            Op::Write => {
                self.host.write_requests += 1;
                self.host.write_bytes += u64::from(bytes);
                self.host.small_writes += u64::from(bytes < self.geometry.page_bytes);
            }
            Op::Trim => self.host.trim_requests += 1,
        }
    }

    /// Writes the pages of a request, each completely or in part.
    #[inline(always)]
    // Once a request, with its pages known where it is called.
    pub(super) fn write_pages(&mut self, pages: &Pages) {
        self.ftl.buffer.goes_through = self.longest_cached.is_some_and(|most| pages.count > most);
        for page in 0..pages.count {
            self.write_page(pages.first + page, pages.mask(page));
        }
        self.end_write();
    }

    /// Trims the pages that a request covers completely. A part of a page stays, as in real drives.
    pub(super) fn trim_pages(&mut self, pages: &Pages) {
        if let Some(stripes) = self.geometry.stripes {
            let whole = |page: u32| pages.mask(page) == u64::MAX;
            let first = u32::from(!whole(0));
            let end = if pages.count > first && !whole(pages.count - 1) {
                pages.count - 1
            } else {
                pages.count
            };
            let count = end.saturating_sub(first);
            self.host.trim_pages += u64::from(count);
            return self.trim_striped(stripes, &(pages.first + first).run(count));
        }
        for page in (0..pages.count).filter(|p| pages.mask(*p) == u64::MAX) {
            self.host.trim_pages += 1;
            self.trim_page(pages.first + page);
        }
    }
}

/// Places of data, and operations on it.
impl Drive {
    /// Returns the coding that decides the time of a read of a host page, if the page is on flash.
    #[inline(always)]
    // Once a page read.
    pub(super) fn read_coding(&self, lpn: Lpn) -> u8 {
        if self.flash.recoded.is_read_otherwise { self.coding_on_flash(lpn) } else { FULL }
    }

    #[inline(never)]
    fn coding_on_flash(&self, lpn: Lpn) -> u8 {
        self.ftl.place_of(lpn).map_or(FULL, |ppn| self.flash.read_coding(ppn))
    }

    /// Stores the map entries of the first pages of requests that will be served soon.
    #[inline]
    pub(super) fn settle_soon<'a>(&mut self, soon: impl Iterator<Item = &'a Request>) {
        let shift = self.geometry.page_shift();
        self.ftl.map.settle_each(soon.map(|request| Lpn::holding(request.offset, shift)));
    }

    /// Returns the die of a physical page.
    pub(super) fn die_of(&self, ppn: Ppn) -> DieId {
        self.geometry.die_of(self.geometry.block_of(ppn))
    }

    /// Returns whether reads are counted in the technique's own counters.
    pub(super) fn has_tracker(&self) -> bool {
        self.flash.counted == TRACKED
    }

    /// Prefetches the counter of a technique that tracks some of the pages that it sees.
    pub(super) fn prefetch_tracked(&self, request: &Request) {
        self.prefetch_own::<TRACKED>(
            self.ftl.map.get(Lpn::holding(request.offset, self.geometry.page_shift())),
        );
    }
}

/// Work that follows from changes of state, and jobs.
impl Drive {
    /// Returns whether there is work that the dies have not taken over.
    #[inline(always)]
    // Once a page read.
    pub(super) fn has_recorded(&self) -> bool {
        !self.flash.ops.is_empty() || !self.ftl.started_jobs.is_empty()
    }

    /// Returns the number of stripes in the recorded work to which host pages are written.
    pub(super) fn recorded_host_stripes(&self) -> u32 {
        let serials = self.flash.ops.iter().filter_map(|op| match op {
            NandOp::Striped { serial, cause: Cause::Host, .. } => Some(*serial),
            _ => None,
        });
        // Operations of one stripe follow each other.
        let mut last = None;
        serials.filter(|serial| last.replace(*serial) != Some(*serial)).count() as u32
    }

    /// Returns the number of wordline programs in the recorded work that the host waits for.
    pub(super) fn recorded_host_wordlines(&self) -> u32 {
        self.flash
            .ops
            .iter()
            .filter(|op| matches!(op, NandOp::ProgramWordline { cause: Cause::Host, .. }))
            .count() as u32
    }

    /// Takes over a deferred job, with its die and its cause. The last job that was begun comes
    /// first.
    pub(super) fn take_started_job(&mut self) -> Option<(JobRef, DieId, Cause)> {
        while let Some(job) = self.ftl.started_jobs.pop() {
            if let Some(running) = self.ftl.job(job) {
                return Some((job, self.geometry.die_of(running.block), running.cause));
            }
        }
        None
    }
}
