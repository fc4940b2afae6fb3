//! What time asks of the drive's state, in one place.

use super::split::Pages;
use crate::base::codings::{FASTER, FULL};
use crate::base::request::{Op, Request};
use crate::base::units::{Cause, DieId, Lpn, Ns, Ppn};
use crate::bugs::{Bug, planted};
use crate::drive::Drive;
use crate::flash::count::TRACKED;
use crate::ftl::job::JobRef;
use crate::ftl::map::Entry;

pub(super) use crate::flash::ops::NandOp;

/// Counting requests, in both gears.
impl Drive {
    /// Counts a request of the host. Its pages are counted as they are served.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "once a request; what is asked is known where it is called"
    )]
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

    /// Writes the pages that a request covers, each in whole or in part.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "once a request, with its pages known where it is called"
    )]
    pub(super) fn write_pages(&mut self, pages: &Pages) {
        self.ftl.buffer.goes_through = self.longest_cached.is_some_and(|most| pages.count > most);
        for page in 0..pages.count {
            self.write_page(pages.first + page, pages.mask(page));
        }
        self.end_write();
    }

    /// Trims the pages that a request covers wholly; a part of a page stays, as drives do.
    pub(super) fn trim_pages(&mut self, pages: &Pages) {
        let also_parts = self.bugs.has(Bug::PartTrimmed);
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
        let count = pages.count - u32::from(planted(Bug::TrimLastSkipped) && pages.count > 1);
        for page in (0..count).filter(|p| pages.mask(*p) == u64::MAX || also_parts) {
            self.host.trim_pages += 1;
            self.trim_page(pages.first + page);
        }
    }
}

/// Where things are, and what is done about them.
impl Drive {
    /// The coding that decides how long a read of a page of the host takes, as far as it is on
    /// flash.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a page read")]
    pub(super) fn read_coding(&self, lpn: Lpn) -> u8 {
        if self.flash.recoded().is_read_otherwise { self.coding_on_flash(lpn) } else { FULL }
    }

    #[inline(never)]
    fn coding_on_flash(&self, lpn: Lpn) -> u8 {
        let coding = self.ftl.place_of(lpn).map_or(FULL, |ppn| self.flash.read_coding(ppn));
        if planted(Bug::MergedReadTooFast) && coding == FASTER { coding + 1 } else { coding }
    }

    /// Tells the drive the time, before its state changes.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "an assignment")]
    pub(super) fn set_now(&mut self, now: Ns) {
        self.flash.now = now;
    }

    /// The map entry of a page of the host.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a load")]
    pub(super) fn map_entry(&self, lpn: Lpn) -> Entry {
        self.ftl.map.get(lpn)
    }

    /// The map entry of a page that will be read or written soon, which is noted.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a load")]
    pub(super) fn settled_entry(&mut self, lpn: Lpn) -> Entry {
        self.ftl.map.settle(lpn)
    }

    /// The die of a physical page.
    pub(super) fn die_of(&self, ppn: Ppn) -> DieId {
        self.geometry.die_of(self.geometry.block_of(ppn))
    }

    /// Asks for the counter of a technique that keeps some of the pages it sees.
    pub(super) fn prefetch_tracked(&self, request: &Request) {
        self.prefetch_own::<TRACKED>(
            self.map_entry(Lpn::holding(request.offset, self.geometry.page_shift())),
        );
    }

    /// Whether a technique counts so.
    pub(super) fn has_tracker(&self) -> bool {
        self.flash.counted() == TRACKED
    }

    /// Whether a program takes a whole wordline.
    pub(super) fn programs_wordlines(&self) -> bool {
        self.flash.by_wordline()
    }

    /// Whether pages wait in the controller for the rest of their wordline.
    pub(super) fn has_incomplete_wordlines(&self) -> bool {
        !self.ftl.gathers.is_empty()
    }
}

/// Work that changes of state imply, and jobs.
impl Drive {
    /// Whether there is work that the dies have not taken over.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a page read")]
    pub(super) fn has_recorded(&self) -> bool {
        !self.flash.ops.is_empty() || !self.ftl.started_jobs.is_empty()
    }

    /// Takes over the work that was recorded, for what has been dealt with: `ops` is empty.
    pub(super) fn take_recorded(&mut self, ops: &mut Vec<NandOp>) {
        debug_assert!(ops.is_empty());
        std::mem::swap(&mut self.flash.ops, ops);
    }

    /// Stripes among it of which pages of the host are written.
    pub(super) fn recorded_host_stripes(&self) -> u32 {
        let serials = self.flash.ops.iter().filter_map(|op| match op {
            NandOp::Striped { serial, cause: Cause::Host, .. } => Some(*serial),
            _ => None,
        });
        // Those of a stripe follow each other.
        let mut last = None;
        serials.filter(|serial| last.replace(*serial) != Some(*serial)).count() as u32
    }

    /// Whether pages of a stripe leave together.
    pub(super) fn writes_stripes(&self) -> bool {
        self.geometry.stripes.is_some()
    }

    /// Programs of wordlines among it that the host waits for.
    pub(super) fn recorded_host_wordlines(&self) -> u32 {
        self.flash
            .ops
            .iter()
            .filter(|op| matches!(op, NandOp::ProgramWordline { cause: Cause::Host, .. }))
            .count() as u32
    }

    /// Further stages of the drive's life that have begun in the measured phase.
    pub(super) fn stages_begun(&self) -> usize {
        self.ftl.worn.lifetime.beginnings().len()
    }

    /// Dies have other work than to form stripes, or have none.
    pub(super) fn note_busy_dies(&mut self, are_busy: bool) {
        self.ftl.note_busy_dies(are_busy);
    }

    /// Whether a stripe would be formed but for that.
    pub(super) fn forming_is_held(&self) -> bool {
        self.ftl.forming_is_held()
    }

    /// It is to be formed now.
    pub(super) fn go_on_forming(&mut self, now: Ns) {
        self.ftl.go_on_forming(now);
    }

    /// Takes over the next deferred job, its die, and why it is done; the last that was begun comes
    /// first.
    pub(super) fn take_started_job(&mut self) -> Option<(JobRef, DieId, Cause)> {
        while let Some(job) = self.ftl.started_jobs.pop() {
            if let Some(running) = self.job(job) {
                return Some((job, self.geometry.die_of(running.block), running.cause));
            }
        }
        None
    }

    /// Whether a deferred job is done.
    pub(super) fn is_done(&self, job: JobRef) -> bool {
        self.job(job).is_none()
    }

    /// Whether a deferred job should go ahead of reads.
    pub(super) fn is_job_urgent(&self, job: JobRef) -> bool {
        self.job(job).is_some_and(|job| self.is_urgent(job))
    }

    /// Counts time that host reads waited for reclaim.
    pub(super) fn add_reclaim_stall(&mut self, ns: Ns) {
        self.ftl.reclaim.stall_ns += ns;
    }
}
