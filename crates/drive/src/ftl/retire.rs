//! Blocks that are not used any more because flash has failed, and the data lost with them.

use crate::base::units::{BlockId, Lpn, Reads};
use crate::flash::Flash;
use crate::flash::block::{BlockState, MOVING};
use crate::ftl::Ftl;
use crate::watch::observer::Event;

/// Host pages lost by failures since the measured phase began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TakenByFailures {
    /// Number of all host pages lost by failures.
    pub pages: u64,
    /// Number of pages that parity would have restored, but another page of their stripe failed,
    /// too, or was past its limit.
    pub twice_failed: u64,
    /// Number of pages whose stripe had no parity, or only outdated parity.
    pub unprotected: u64,
    /// Number of unprotected pages whose stripe had no parity because none of its pages was in a
    /// worn block (parity by wear).
    pub not_worn: u64,
    /// Number of unprotected pages whose stripe needed parity because of wear, but still waited for
    /// it.
    pub waiting: u64,
}

/// Reason why parity does not restore a page on failed flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beyond {
    /// The drive has no parity.
    NoParity,
    /// The stripe has no parity, or none for its current data.
    Unprotected,
    /// No page of the stripe is in a worn block, so it has no parity.
    NotWorn,
    /// The stripe needs parity because of wear, but still waits for it.
    Waiting,
    /// Another page that is needed cannot be read.
    AnotherPage,
}

impl Ftl {
    /// Retires a failed block: it is not written, moved, cleaned or checked again.
    pub(crate) fn retire(&mut self, flash: &mut Flash, block: BlockId) {
        self.take_out(flash, block);
        if let Some(slot) = self.job_of(block) {
            // Some pages have moved. The others cannot be read.
            self.take_job(flash, slot);
        }
        if self.victims.contains(block) {
            self.victims.remove(block);
        }
        self.wheel.clear(block);
        self.steps.clear(block);
        flash.set_policy_alarm(block, Reads::NEVER);
        flash.set_flags(block, MOVING);
        flash.set_alarm(block);
    }

    /// Retires a block of which a part has failed. Nothing more is written to it. When the rest of
    /// it has moved, it stays erased.
    pub(crate) fn retire_when_empty(&mut self, flash: &mut Flash, block: BlockId) {
        let was_open = flash.hot(block).state == BlockState::Open;
        self.take_out(flash, block);
        if was_open {
            self.close(flash, block);
        }
        flash.set_alarm(block);
    }

    /// Stops all writing to a block.
    fn take_out(&mut self, flash: &mut Flash, block: BlockId) {
        let hot = *flash.hot(block);
        match hot.state {
            BlockState::Free => {
                let plane = u32::from(flash.geometry.die_of(block)) * flash.geometry.planes_per_die
                    + flash.geometry.plane_of(block);
                self.free.remove(plane, block, flash.geometry.is_in_pool(block));
            }
            BlockState::Open => {
                self.streams.drop_open(hot.stream, block);
                flash.set_state(block, BlockState::Closed);
            }
            BlockState::Closed => {}
        }
    }

    /// Returns whether a page is on failed flash. The place of a page that was never touched is
    /// computed only if its die has failed flash.
    pub(crate) fn lies_on_failed(&self, flash: &Flash, lpn: Lpn) -> bool {
        let may_lie =
            || self.map.domain_at_start(lpn).is_none_or(|domain| flash.has_any_failed_in(domain));
        flash.has_any_failed()
            && may_lie()
            && self.place_of(lpn).is_some_and(|ppn| flash.is_failed(ppn))
    }

    /// Loses the data of a host page on flash, unless the write buffer has newer data for all of
    /// the page.
    pub(crate) fn lose_page(&mut self, flash: &mut Flash, lpn: Lpn, beyond: Beyond) {
        if self.is_whole_in_memory(lpn) {
            flash.tell(Event::Superseded { lpn });
        } else {
            let by_failure = self.lies_on_failed(flash, lpn);
            if by_failure && !self.is_lost(lpn) {
                self.taken.pages += 1;
                self.taken.twice_failed += u64::from(beyond == Beyond::AnotherPage);
                self.taken.unprotected += u64::from(matches!(
                    beyond,
                    Beyond::Unprotected | Beyond::NotWorn | Beyond::Waiting
                ));
                self.taken.not_worn += u64::from(beyond == Beyond::NotWorn);
                self.taken.waiting += u64::from(beyond == Beyond::Waiting);
            }
            if by_failure {
                // The age of the data does not matter.
                self.report_lost_by(flash, lpn, false);
            } else {
                self.report_lost(flash, lpn);
            }
        }
        self.drop_page(flash, lpn);
    }

    /// Loses the data of a stripe on failed flash, because the stripe has no parity any more.
    pub(super) fn lose_what_failed(&mut self, flash: &mut Flash, stripe: u32, beyond: Beyond) {
        let Some(stripes) = self.stripes.filter(|_| flash.has_any_failed()) else { return };
        for lpn in stripes.data(stripe) {
            if self.lies_on_failed(flash, lpn) && !self.in_hand.contains(&lpn) {
                self.lose_page(flash, lpn, beyond);
            }
        }
    }
}
