//! Blocks that are used no more, because flash has failed.

use crate::base::units::{BlockId, Reads};
use crate::flash::Flash;
use crate::flash::block::{BlockState, MOVING};
use crate::ftl::Ftl;

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

    /// A block of which a part has failed is not written any further; when the rest of it has moved it stays erased.
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
            BlockState::Free => {
                let plane = u32::from(flash.geometry.die_of(block)) * flash.geometry.planes_per_die + flash.geometry.plane_of(block);
                self.free.remove(plane, block, flash.geometry.is_in_pool(block));
            }
            BlockState::Open => {
                self.streams.drop_open(hot.stream, block);
                flash.set_state(block, BlockState::Closed);
            }
            BlockState::Closed => {}
        }
    }
}
