//! Background rebuild of pages on failed flash, in the order of their numbers, up to a watermark.
//! It runs in idle time, and beside host requests at its own rate. Pages that the host reads,
//! writes or trims earlier are rebuilt at once.

use crate::base::stripes::Stripes;
use crate::base::units::{Lpn, Ns, Ppn};
use crate::drive::Drive;
use crate::drive::failing::RebuiltRead;
use crate::ftl::retire::Beyond;
use crate::watch::observer::Event;

/// Running rebuild.
pub(super) struct BackgroundRebuild {
    /// First page that is not yet handled. All pages before it are rebuilt or lost.
    watermark: Lpn,
    /// Number of pages that may be rebuilt now.
    credit: f64,
}

impl Drive {
    /// Begins a rebuild after a failure, also of pages before the present watermark.
    pub(super) fn begin_rebuild(&mut self) {
        self.failing.background = Some(BackgroundRebuild { watermark: Lpn::new(0), credit: 0.0 });
        self.failing.books.rebuild_done = None;
    }

    /// Rebuilds at once the stripes that lose pages for good, and the stripes whose parity waits in
    /// the cache. The parity of a stripe is lost with its lost pages, although other pages of the
    /// stripe may need it. Cleaning may have to give up waiting parity, and cannot rebuild pages.
    /// All data is computed before anything is lost or written.
    pub(super) fn rebuild_at_once(
        &mut self,
        stripes: Stripes,
        urgent: &[Lpn],
        gone: Vec<(u32, Vec<(Lpn, Beyond)>)>,
    ) {
        let rebuilt: Vec<(Lpn, Option<u32>)> =
            urgent.iter().map(|lpn| (*lpn, self.take_in_hand(*lpn))).collect();
        for (stripe, gone) in gone.iter().filter(|(_, gone)| !gone.is_empty()) {
            self.lose(stripes, *stripe, gone);
        }
        for (lpn, number) in rebuilt {
            match (self.ftl.place_of(lpn).filter(|ppn| self.flash.is_failed(*ppn)), number) {
                (Some(ppn), Some(number)) => self.write_rebuilt(lpn, ppn, number),
                // Another page of the stripe is past its limit.
                (Some(_), None) => self.give_up(lpn),
                (None, _) => {}
            }
            self.failing.books.rebuilt_in_background += u64::from(number.is_some());
        }
        self.ftl.in_hand.clear();
        for (stripe, _) in gone {
            self.rebuild_page(stripes.parity(stripe));
        }
    }

    /// Returns whether a rebuild is running.
    pub(crate) fn is_rebuilding(&self) -> bool {
        self.failing.background.is_some()
    }

    /// Rebuilds pages beside this number of host requests.
    pub(super) fn rebuild_during_requests(&mut self, requests: u64, at: Ns) {
        if let Some(rebuild) = &mut self.failing.background {
            rebuild.credit += requests as f64 * self.failing.by_request;
        }
        while let Some(rebuild) =
            self.failing.background.as_mut().filter(|rebuild| rebuild.credit >= 1.0)
        {
            rebuild.credit -= 1.0;
            self.rebuild_next(at);
        }
    }

    /// Rebuilds the next page. Ends the rebuild if no page is left.
    pub(crate) fn rebuild_next(&mut self, at: Ns) {
        while let Some(rebuild) = &mut self.failing.background {
            let lpn = rebuild.watermark;
            if lpn.number() >= self.geometry.logical_pages() {
                self.failing.background = None;
                self.failing.books.rebuild_done = Some((self.failing.request, at));
                self.flash.tell(Event::RebuildDone);
                return;
            }
            rebuild.watermark = lpn + 1;
            if self.rebuild_page(lpn) {
                self.failing.books.rebuilt_in_background += 1;
                return self.form_waiting();
            }
        }
    }

    /// Rebuilds the pages of a stripe on failed flash before the stripe changes.
    pub(super) fn rebuild_stripe(&mut self, stripe: u32) {
        let Some(stripes) = self.geometry.stripes.filter(|_| self.is_rebuilding()) else {
            return;
        };
        for lpn in stripes.data(stripe).chain([stripes.parity(stripe)]) {
            self.failing.books.rebuilt_for_writes += u64::from(self.rebuild_page(lpn));
        }
    }

    /// Notes that a host read found an unreadable page and had it rebuilt. The host waits for the
    /// rebuild only if reads take time. A read of a warm-up must not leave a rebuild to a read of
    /// the measured phase.
    pub(super) fn note_rebuilt_for_read(&mut self, ppn: Ppn) {
        let has_failed = self.flash.is_failed(ppn);
        self.failing.books.rebuilt_for_reads += u64::from(has_failed);
        let rebuilt = RebuiltRead { serial: self.failing.last_rebuilt, was_read: !has_failed };
        self.failing.rebuilt_read = Some(rebuilt).filter(|_| self.flash.timed);
    }

    /// Returns how the page of the last host read was rebuilt, if it was. Returns it only once.
    pub(crate) fn take_rebuilt_read(&mut self) -> Option<RebuiltRead> {
        self.failing.rebuilt_read.take()
    }

    /// Rebuilds a page if it lies on failed flash. Returns whether the page was rebuilt.
    pub(super) fn rebuild_page(&mut self, lpn: Lpn) -> bool {
        let has_failed = self.ftl.lies_on_failed(&self.flash, lpn);
        let Some(ppn) = has_failed.then(|| self.ftl.place_of(lpn)).flatten() else {
            return false;
        };
        let rebuilt = self.repair(lpn, ppn);
        if !rebuilt {
            // Another page of the stripe is past its limit.
            self.give_up(lpn);
        }
        rebuilt
    }
}
