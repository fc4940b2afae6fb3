//! Blocks that are used no more, because flash has failed, and what is lost with it.

use crate::base::units::{BlockId, Lpn, Reads};
use crate::bugs::Bug;
use crate::flash::Flash;
use crate::flash::block::{BlockState, MOVING};
use crate::ftl::Ftl;

/// Pages of the host that failures have taken, since the measured phase began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TakenByFailures {
    /// All of them.
    pub pages: u64,
    /// Those of them that parity would have given back, had not another page of their stripe
    /// failed, too, or been past its limit.
    pub twice_failed: u64,
    /// Those whose stripe had no parity, or whose parity was not up to date with them.
    pub unprotected: u64,
    /// Those of these whose stripe had none because none of its pages lay in a worn block (parity
    /// by wear).
    pub not_worn: u64,
    /// Those of the unprotected whose stripe called for parity because of wear, and still waited
    /// for it.
    pub waiting: u64,
}

/// Why parity, where there is any, does not give a page on failed flash back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beyond {
    /// There is none on the drive.
    NoParity,
    /// There is none for its stripe or for what it holds now.
    Unprotected,
    /// No page of its stripe lies in a worn block, and so there is none.
    NotWorn,
    /// Its stripe calls for parity because of wear, and waits for it.
    Waiting,
    /// Another page that it takes cannot be read.
    AnotherPage,
}

impl Ftl {
    /// A block of which all has failed: nobody writes, moves, cleans or looks at it again.
    pub(crate) fn retire(&mut self, flash: &mut Flash, block: BlockId) {
        self.take_out(flash, block);
        if let Some(slot) = self.job_of(block) {
            // What was moved has moved; the rest cannot be read.
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

    /// A block of which a part has failed is not written any further; when the rest of it has moved
    /// it stays erased.
    pub(crate) fn retire_when_empty(&mut self, flash: &mut Flash, block: BlockId) {
        let was_open = flash.hot(block).state == BlockState::Open;
        self.take_out(flash, block);
        if was_open {
            self.close(flash, block);
        }
        flash.set_alarm(block);
    }

    /// Nobody writes to a block any more.
    fn take_out(&mut self, flash: &mut Flash, block: BlockId) {
        let hot = *flash.hot(block);
        match hot.state {
            BlockState::Free if self.bugs.has(Bug::DeadBlockReused) => {}
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

    /// Whether a page lies on flash that has failed.
    pub(crate) fn lies_on_failed(&self, flash: &Flash, lpn: Lpn) -> bool {
        flash.has_any_failed() && self.place_of(lpn).is_some_and(|ppn| flash.is_failed(ppn))
    }

    /// What flash holds of a page of the host is lost, unless there is newer data of all of it in
    /// the write buffer.
    pub(crate) fn lose_page(&mut self, flash: &mut Flash, lpn: Lpn, beyond: Beyond) {
        if self.is_whole_in_memory(lpn) {
            flash.tell(|o| o.superseded(lpn));
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
            let is_hidden =
                self.bugs.has(Bug::LossByFailureHidden) && lpn.number().is_multiple_of(3);
            if by_failure && !is_hidden {
                // However old it was.
                self.report_lost_by(flash, lpn, false);
            } else if !is_hidden {
                self.report_lost(flash, lpn);
            }
        }
        self.drop_page(flash, lpn);
    }

    /// A stripe has no parity any more: what lies of it on failed flash is lost.
    pub(super) fn lose_what_failed(&mut self, flash: &mut Flash, stripe: u32, beyond: Beyond) {
        let Some(stripes) = self.stripes.filter(|_| flash.has_any_failed()) else { return };
        for lpn in stripes.data(stripe) {
            if self.lies_on_failed(flash, lpn) && !self.in_hand.contains(&lpn) {
                self.lose_page(flash, lpn, beyond);
            }
        }
    }
}
