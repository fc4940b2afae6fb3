//! Repair of unreadable pages on drives with parity. The pages are rebuilt from their stripes and
//! written again.

use crate::base::streams::HOST;
use crate::base::units::{Cause, Lpn, Ppn};
use crate::drive::Drive;
use crate::flash::operate::program::NewPage;
use crate::flash::ops::NandOp;
use crate::watch::observer::{Event, Origin};

impl Drive {
    /// Rebuilds a page that could not be read at `ppn`, and writes it elsewhere. Returns whether
    /// this was possible.
    pub(super) fn repair(&mut self, lpn: Lpn, ppn: Ppn) -> bool {
        let Some(number) = self.take_in_hand(lpn) else { return false };
        self.write_rebuilt(lpn, ppn, number);
        true
    }

    /// Computes a page from its stripe and keeps it in the controller's memory, to be written next.
    /// Returns the number of the computation; `None` if it was not possible.
    pub(super) fn take_in_hand(&mut self, lpn: Lpn) -> Option<u32> {
        let number = self.ftl.rebuild(&mut self.flash, lpn)?;
        self.flash.tell(Event::Rebuilt { lpn, number });
        self.ftl.in_hand.push(lpn);
        self.failing.last_rebuilt = number;
        Some(number)
    }

    /// Writes a rebuilt page elsewhere, after it could not be read at `ppn`.
    pub(super) fn write_rebuilt(&mut self, lpn: Lpn, ppn: Ppn, number: u32) {
        self.ftl.make_way(&mut self.flash, lpn, ppn);
        self.make_room_for(lpn);
        let (ftl, mut cx) = self.parts();
        ftl.in_hand.retain(|other| *other != lpn);
        if ftl.place_of(lpn) != Some(ppn) {
            // Cleaning has also handled the page.
            return;
        }
        let data = NewPage { lpn, origin: Origin::Xor(number), cause: Cause::Parity };
        let dst = ftl.place(&mut cx, HOST, data);
        cx.flash.counts.recovered_pages += u64::from(lpn.number() < cx.flash.geometry.host_pages);
        ftl.invalidate(cx.flash, ppn);
        ftl.is_programmed(cx.flash, lpn);
        cx.flash.record(NandOp::Striped { dst, serial: number, waits: true, cause: Cause::Parity });
        ftl.settle_parity(cx.flash);
    }

    /// Rebuilds the rest of a partly written page in the controller's memory, after the rest could
    /// not be read. Returns whether this was possible.
    pub(super) fn repair_rest(&mut self, lpn: Lpn) -> bool {
        if self.geometry.stripes.is_none()
            || self.ftl.map.slot_of(lpn).is_none()
            || self.ftl.is_lost(lpn)
        {
            return false;
        }
        let Some(number) = self.ftl.rebuild(&mut self.flash, lpn) else { return false };
        self.flash.tell(Event::Rebuilt { lpn, number });
        self.make_whole(lpn);
        true
    }

    /// Rebuilds the rest of a partly written page for a host read, after the rest could not be read
    /// at `from`. The page stays whole.
    pub(super) fn repair_rest_for_read(&mut self, lpn: Lpn, from: Ppn) -> bool {
        let (mut reads, mut from) = (1, from);
        while let Some(now) = self.rebuilt_elsewhere(lpn, from) {
            reads += 1;
            let serial = self.ftl.next_xor();
            if self.read_at((lpn, now), Cause::Host, None, serial) {
                self.host.fill_reads += reads;
                self.make_whole(lpn);
                return true;
            }
            from = now;
        }
        let repaired = self.repair_rest(lpn);
        self.host.fill_reads += if repaired { reads } else { 0 };
        repaired
    }

    /// Returns the present place of a partly written page's rest, after it could not be read at
    /// `from`. A move that the read started may have rebuilt it. It must then be read there,
    /// because the stripe may not survive a second rebuild.
    pub(super) fn rebuilt_elsewhere(&self, lpn: Lpn, from: Ppn) -> Option<Ppn> {
        self.geometry.stripes?;
        self.ftl.place_of(lpn).filter(|now| *now != from)
    }

    /// Gives up the data of a page that can neither be read nor be rebuilt.
    pub(super) fn give_up(&mut self, lpn: Lpn) {
        self.ftl.lose_for_good(&mut self.flash, lpn);
        self.ftl.drop_page(&mut self.flash, lpn);
    }

    /// Handles a page past its limit that no read has found.
    pub(super) fn repair_unread(&mut self, lpn: Lpn, ppn: Ppn) {
        if self.flash.sense(lpn, ppn, Cause::Parity, true).good {
            return;
        }
        if !self.repair(lpn, ppn) {
            self.fail_to_complete(lpn, ppn);
            self.give_up(lpn);
        }
    }

    /// Handles a page that the write buffer holds in part, and whose rest is lost. The fill read
    /// that would complete the page fails.
    fn fail_to_complete(&mut self, lpn: Lpn, ppn: Ppn) {
        let is_buffered = self.ftl.map.slot_of(lpn).is_some();
        if is_buffered && !self.ftl.is_lost(lpn) && !self.ftl.is_whole_in_memory(lpn) {
            self.host.fill_reads += 1;
            self.flash.sense_failing(lpn, ppn);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::api::parity::STRIPE;
    use crate::base::dose::Quarters;
    use crate::base::units::{Cause, Lpn, Reads};
    use crate::config::{DisturbModel, PerPec};
    use crate::drive::Drive;
    use crate::drive::tests::tiny_config;
    use crate::flash::block::BlockState;
    use crate::testing::{STRIPED, with_parity};

    /// Number of reads that a block endures.
    const LIMIT: u32 = 1000;

    /// Returns a full drive with stripes of three pages and their parity.
    fn striped_drive() -> Drive {
        striped_drive_in(false)
    }

    fn striped_drive_in(timed: bool) -> Drive {
        let mut config = tiny_config();
        (config.geometry.blocks_per_plane, config.start.fill, config.drive.spare) =
            (Some(20), 1.0, Some(0.5));
        config.parity.params.set(None, STRIPE.key, STRIPE.number(3.0));
        config.disturb.model = DisturbModel::Count;
        config.disturb.table =
            vec![PerPec { pec: 0, limit: vec![f64::from(LIMIT)], alpha: vec![] }];
        let techniques = with_parity(&STRIPED);
        let mut drive = Drive::new(config.resolve().unwrap(), &techniques, timed).unwrap();
        drive.precondition(1);
        drive
    }

    /// At the end of a run, the buffer holds a part of a page. The rest of the page is past its
    /// limit, in a stripe without parity. The host would have got neither part. The read that
    /// should complete the page is counted, and fails.
    #[test]
    fn what_the_buffer_holds_in_part_is_lost_by_the_read_that_would_complete_it() {
        let mut drive = striped_drive();
        let lpn = Lpn::new(0);
        let ppn = drive.ftl.place_of(lpn).unwrap();
        let stripe = drive.geometry.stripes.unwrap().of(lpn);
        drive.ftl.unprotect(&mut drive.flash, stripe);
        drive.write_page(lpn, 1);
        let block = drive.geometry.block_of(ppn);
        drive.flash.pretend_reads(block, Quarters::UNIT * (LIMIT + 1));
        drive.flash.model_alarm(block);
        let reads = drive.flash_counts().reads[Cause::Host as usize];
        drive.report_unread_losses();
        assert!(drive.ftl.is_lost(lpn));
        assert_eq!(
            (drive.host.fill_reads, drive.flash_counts().reads[Cause::Host as usize] - reads),
            (1, 1)
        );
    }

    /// A page that a read of a warm-up had rebuilt delays no read of the measured phase. Only the
    /// read that caused the rebuild waits for it.
    #[test]
    fn what_a_warm_up_has_rebuilt_keeps_nobody_waiting() {
        let mut drive = striped_drive_in(true);
        let worn_out = |drive: &mut Drive, lpn| {
            let block = drive.geometry.block_of(drive.ftl.place_of(lpn).unwrap());
            drive.flash.pretend_reads(block, Quarters::UNIT * (LIMIT + 1));
            drive.flash.model_alarm(block);
        };
        let [early, late] = [Lpn::new(0), Lpn::new(40)];
        worn_out(&mut drive, early);
        drive.out_of_time(|drive| drive.read_pages(&[early]));
        let rebuilt = drive.ftl.parity.rebuilt;
        assert!(rebuilt > 0 && drive.take_rebuilt_read().is_none());
        worn_out(&mut drive, late);
        drive.read_pages(&[late]);
        assert!(drive.ftl.parity.rebuilt > rebuilt && drive.take_rebuilt_read().is_some());
    }

    /// Freeing space for a rebuilt page may move the page. It is then not written again.
    #[test]
    fn a_rebuilt_page_that_has_moved_meanwhile_is_not_written() {
        let mut drive = striped_drive();
        let lpn = Lpn::new(0);
        let [place, elsewhere] = [lpn, Lpn::new(40)].map(|lpn| drive.ftl.place_of(lpn).unwrap());
        let number = drive.take_in_hand(lpn).unwrap();
        // The test pretends that the page lay elsewhere when it was rebuilt.
        drive.write_rebuilt(lpn, elsewhere, number);
        assert_eq!(drive.ftl.place_of(lpn), Some(place));
        drive.write_rebuilt(lpn, place, number);
        assert!(drive.ftl.place_of(lpn).is_some_and(|now| now != place));
    }

    /// The host reads a page that is partly in the buffer. The rest cannot be read, and this read
    /// starts the move of its block. The page is rebuilt with the last read that its parity
    /// endures, and written. A second rebuild would fail.
    #[test]
    fn what_a_move_has_just_rebuilt_is_read_and_not_rebuilt() {
        let mut drive = striped_drive();
        let stripes = drive.geometry.stripes.unwrap();
        let first_two = |block| {
            let first = drive.geometry.first_page(block);
            [first, first + 1].map(|ppn| drive.flash.contents.owner(ppn))
        };
        let is_fit = |lpn: &Lpn| !stripes.is_parity(*lpn) && drive.ftl.place_of(*lpn).is_some();
        let fits = |block: &_| {
            drive.flash.hot(*block).state == BlockState::Closed
                && first_two(*block).iter().all(is_fit)
        };
        let block = drive.geometry.block_ids().find(fits).unwrap();
        let [lpn, other] = first_two(block);
        drive.write_page(lpn, 1);
        let worn = |drive: &mut Drive, block, reads: u32| {
            drive.flash.pretend_reads(block, Quarters::UNIT * reads);
            drive.flash.set_policy_alarm(block, Reads(reads + 2));
            drive.flash.set_alarm(block);
        };
        worn(&mut drive, block, LIMIT + 1);
        drive.read_pages(&[other]);
        let parity = drive.ftl.place_of(stripes.parity(stripes.of(lpn))).unwrap();
        let block_of_parity = drive.geometry.block_of(parity);
        worn(&mut drive, block_of_parity, LIMIT);
        let rebuilt = drive.ftl.parity.rebuilt;
        drive.read_pages(&[lpn]);
        assert!(drive.ftl.parity.rebuilt > rebuilt, "the block was moved");
        assert!(!drive.ftl.is_lost(lpn));
        assert_eq!(drive.host.fill_reads, 2, "where it was, and where it is");
        assert_ne!(drive.geometry.block_of(drive.ftl.place_of(lpn).unwrap()), block);
    }
}
