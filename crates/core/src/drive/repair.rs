//! Pages that could not be read, where there is parity: they are rebuilt from their stripes and written anew.

use crate::base::streams::HOST;
use crate::base::units::{Cause, Lpn, Ppn};
use crate::drive::Drive;
use crate::flash::ops::NandOp;
use crate::ftl::map::BUFFERED;
use crate::watch::observer::Origin;

impl Drive {
    /// What flash holds of a page could not be read here: it is rebuilt and written elsewhere. Tells whether that could be done.
    pub(super) fn repair(&mut self, lpn: Lpn, ppn: Ppn) -> bool {
        let (flash, ftl, mut slots) = self.parts();
        let Some(number) = ftl.rebuild(flash, lpn) else { return false };
        flash.tell(|o| o.rebuilt(lpn, number));
        ftl.aim(HOST, lpn);
        if ftl.needs_block(HOST) {
            let domain = ftl.domain_of_page(lpn);
            ftl.ensure_room(flash, &mut slots, domain);
        }
        if ftl.place_of(lpn) != Some(ppn) {
            // Cleaning came upon it, too.
            return true;
        }
        let dst = ftl.place(flash, &mut slots, lpn, HOST, Origin::Xor(number), Cause::Parity);
        ftl.invalidate(flash, ppn);
        ftl.is_programmed(flash, lpn);
        flash.record(NandOp::Striped { dst, serial: number, waits: true, cause: Cause::Parity });
        ftl.settle_parity(flash);
        true
    }

    /// The rest of a partly written page could not be read: it is rebuilt in the controller's memory. Tells whether that could be done.
    pub(super) fn repair_rest(&mut self, lpn: Lpn) -> bool {
        if self.geometry.stripes.is_none() || self.ftl.map.to_physical[lpn as usize] & BUFFERED == 0 || self.ftl.is_lost(lpn) {
            return false;
        }
        let Some(number) = self.ftl.rebuild(&mut self.flash, lpn) else { return false };
        self.flash.tell(|o| o.rebuilt(lpn, number));
        self.make_whole(lpn);
        true
    }

    /// The same for a read of the host's: the page stays whole.
    pub(super) fn repair_rest_for_read(&mut self, lpn: Lpn) -> bool {
        let repaired = self.repair_rest(lpn);
        self.host.fill_reads += u64::from(repaired);
        repaired
    }

    /// What flash holds of a page can neither be read nor be rebuilt.
    pub(super) fn give_up(&mut self, lpn: Lpn) {
        self.ftl.lose_for_good(&mut self.flash, lpn);
        self.ftl.drop_page(&mut self.flash, lpn);
    }

    /// A page past its limit that nobody has read.
    pub(super) fn repair_unread(&mut self, lpn: Lpn, ppn: Ppn) {
        if self.flash.sense(lpn, ppn, Cause::Parity, true).good {
            return;
        }
        if !self.repair(lpn, ppn) {
            if self.ftl.map.to_physical[lpn as usize] & BUFFERED != 0 && !self.ftl.is_lost(lpn) && !self.ftl.is_whole_in_memory(lpn) {
                // The read that would complete it is what fails.
                self.host.fill_reads += 1;
                self.flash.sense_failing(lpn, ppn);
            }
            self.give_up(lpn);
        }
    }
}
