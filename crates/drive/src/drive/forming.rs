//! Parity that only worn blocks require. This module handles the effect of a change of a stripe on
//! its parity. It also forms parity for stripes that wait for it.
//!
//! Whether a stripe needs parity after a change depends on the blocks to which its pages go. So the
//! drive first determines these blocks, and reads pages for parity only if the counter will be
//! above 0. Later events may prove this wrong. The stripe then waits, like a stripe of which a move
//! has brought a page to a worn block.
//!
//! Without a clock, a waiting stripe is formed as soon as no other operation is running. With a
//! clock, stripes are formed one after another at the rate that all dies can sustain
//! (`ftl/pace.rs`), behind host reads. If too many stripes wait, they are formed at once.

use crate::base::streams::HOST;
use crate::base::stripes::Stripes;
use crate::base::units::Lpn;
use crate::drive::Drive;
use crate::drive::striped::Update;
use crate::ftl::lifetime::{Beginning, Stage};
use crate::watch::observer::Event;

impl Drive {
    /// Begins a change of a stripe. Returns whether the stripe will have parity. This is true if
    /// wear does not decide.
    pub(super) fn plans_parity(&mut self, update: &Update) -> bool {
        let Some(by_wear) = self.config.parity.by_wear() else { return true };
        self.ftl.worn.updating = Some(update.stripe);
        if self.ftl.worn.lifetime.is_last() {
            return true;
        }
        let written: Vec<Lpn> = update.written().collect();
        // Freeing space may also move pages of this stripe.
        for lpn in &written {
            self.make_room_for(*lpn);
        }
        let to_worn: Vec<bool> = written.iter().map(|lpn| self.goes_to_worn_block(*lpn)).collect();
        if by_wear.as_printed {
            return self.ftl.worn.as_printed(update.stripe, to_worn.into_iter()) > 0;
        }
        let leaving =
            update.pages(true).filter(|lpn| self.ftl.lies_in_worn_block(&self.flash, *lpn)).count()
                as u32;
        let coming = to_worn.into_iter().filter(|worn| *worn).count() as u32;
        self.ftl.counter(update.stripe) + coming > leaving
    }

    /// Returns whether a host page would be written to a worn block.
    fn goes_to_worn_block(&mut self, lpn: Lpn) -> bool {
        self.ftl.aim(HOST, lpn);
        self.ftl
            .next_block(&self.flash, HOST)
            .is_some_and(|block| self.ftl.is_worn(&self.flash, block))
    }

    /// Ends a change of a stripe if wear decides which stripes have parity. Everything except the
    /// parity is done.
    pub(super) fn end_update_by_wear(&mut self, update: &Update, protected: bool) {
        let (parity, pages) = (update.parity(), update.stripes.data(update.stripe).len() as u64);
        self.ftl.worn.updating = None;
        let had_parity = self.ftl.place_of(parity).is_some();
        if !self.ftl.needs_parity(update.stripe) {
            // The stripe has no page in a worn block. Settling gives up its parity.
        } else if protected {
            self.ftl.parity.formed += u64::from(!had_parity);
            self.place_parity(update.parity(), update.number, update.serial);
            let now = self.flash.now;
            self.ftl.worn.end_waiting(update.stripe, pages, now);
            self.ftl.protect_again(update.stripe);
        } else if update.plans_parity {
            self.ftl.unprotect(&mut self.flash, update.stripe);
        } else {
            // The old parity does not contain the written data.
            self.ftl.drop_page(&mut self.flash, parity);
        }
        self.ftl.settle_stripe(&mut self.flash, update.stripe);
        self.ftl.settle_parity(&mut self.flash);
    }

    /// Forms waiting stripes when no other operation is running. Without a clock, it forms all of
    /// them. With a clock, it forms only those above the limit.
    pub(crate) fn form_waiting(&mut self) {
        let Some(stripes) = self
            .geometry
            .stripes
            .filter(|_| self.ftl.worn.is_on() && self.ftl.worn.updating.is_none())
        else {
            return;
        };
        self.ask_about_rebuilds();
        self.ftl.settle_parity(&mut self.flash);
        self.live_on();
        while (!self.flash.timed || self.ftl.worn.are_too_many())
            && let Some(stripe) = self.ftl.worn.longest_waiting()
        {
            self.protect_anew(stripes, stripe);
        }
        if !self.flash.timed {
            while self.sweep(stripes) {}
        }
    }

    /// Begins the stage of life that is due.
    fn live_on(&mut self) {
        let (due, now) = (self.ftl.stage_due(), self.ftl.worn.lifetime.stage());
        if due == now {
            return;
        }
        let (at, waiting, protected_stripes) =
            (self.flash.now, self.ftl.worn.window.at(self.flash.now), self.stripes_with_parity());
        for stage in
            [Stage::Worn, Stage::Last].into_iter().filter(|stage| *stage > now && *stage <= due)
        {
            let (host, flash) = (self.host, self.flash.counts);
            self.ftl.worn.lifetime.enter(Beginning {
                stage,
                at,
                host,
                flash,
                protected_stripes,
                waiting,
            });
            self.flash.tell(Event::LivesIn { stage: stage.number() });
        }
        if let Some(last) = self.ftl.worn.lifetime.last().filter(|_| due == Stage::Last) {
            self.longest_cached = Some(last.cut_off);
            self.ftl.partial.pages = last.cache_pages as usize;
            self.ftl.pace_forming(&self.flash);
        }
    }

    /// In the last stage, goes through stripes up to one without parity, and forms its parity.
    /// Returns whether there was such a stripe.
    fn sweep(&mut self, stripes: Stripes) -> bool {
        while self.ftl.worn.lifetime.is_last() && self.ftl.worn.lifetime.watermark < stripes.count()
        {
            let stripe = self.ftl.worn.lifetime.watermark;
            self.ftl.worn.lifetime.watermark += 1;
            if self.ftl.worn.lifetime.watermark == stripes.count() {
                self.ftl.worn.lifetime.end_sweep(self.host.write_pages, self.flash.now);
            }
            let waits_for_none = self.ftl.is_unprotected(stripe) || !self.ftl.is_on_flash(stripe);
            if !waits_for_none && self.ftl.lacks_parity(stripes, stripe) {
                self.protect_anew(stripes, stripe);
                return true;
            }
        }
        false
    }

    /// Forms the stripe that has waited longest, if its time has come and the dies are idle.
    pub(super) fn form_in_time(&mut self) {
        let now = self.flash.now;
        if self.ftl.wheel.other_due() > now || self.ftl.forming_makes_way(now) {
            return;
        }
        let Some(stripes) = self.geometry.stripes else { return };
        match self.ftl.worn.longest_waiting() {
            Some(stripe) => self.protect_anew(stripes, stripe),
            None => _ = self.sweep(stripes),
        }
        self.form_waiting();
        self.ftl.pace_forming(&self.flash);
    }

    /// Returns the number of stripes with parity.
    pub fn stripes_with_parity(&self) -> u64 {
        let stripes = |stripes: Stripes| {
            (0..stripes.count())
                .filter(|stripe| self.ftl.place_of(stripes.parity(*stripe)).is_some())
                .count()
        };
        self.geometry.stripes.map_or(0, |of| stripes(of) as u64)
    }

    /// Returns the number of stripes whose counter differs from the number of their pages in worn
    /// blocks. This happens under the published rule.
    pub fn miscounted_stripes(&self) -> u64 {
        let Some(stripes) = self.geometry.stripes.filter(|_| self.ftl.worn.is_on()) else {
            return 0;
        };
        let is_wrong = |stripe: &u32| {
            self.ftl.counter(*stripe)
                != self.ftl.pages_in_worn_blocks(&self.flash, stripes, *stripe)
        };
        (0..stripes.count()).filter(is_wrong).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use crate::api::parity::STRIPE;
    use crate::api::rewrite::Rewrite;
    use crate::base::streams::{GC, HOST};
    use crate::base::units::{BlockId, Cause, Lpn, Reads};
    use crate::drive::tests::tiny_config;
    use crate::drive::{Drive, Techniques};
    use crate::flash::block::BlockState;
    use crate::testing::{BY_PRINTED_RULE, BY_WEAR, without_reclaim};

    const T_P: u32 = 9;
    /// Pages of the first stripe.
    const D: [Lpn; 3] = [Lpn::new(0), Lpn::new(1), Lpn::new(2)];

    /// Returns a drive with stripes of three pages on four dies. The first two stripes are written.
    /// All blocks have 9 P/E cycles, and no block is worn.
    fn drive(published: bool, timed: bool) -> Drive {
        let mut config = tiny_config();
        (config.geometry.blocks_per_plane, config.drive.spare, config.start.pec) =
            (Some(20), Some(0.6), T_P);
        (config.drive.write_buffer.0, config.wear.static_gap, config.gc.background) = (0, 0, 0.0);
        config.parity.params.set(None, STRIPE.key, STRIPE.number(3.0));
        let techniques = Techniques {
            parity: if published { &BY_PRINTED_RULE } else { &BY_WEAR },
            ..without_reclaim()
        };
        let mut drive = Drive::new(config.resolve().unwrap(), &techniques, timed).unwrap();
        write(&mut drive, &Lpn::range(0..6).collect::<Vec<_>>());
        drive
    }

    fn write(drive: &mut Drive, pages: &[Lpn]) {
        for lpn in pages {
            drive.write_page(*lpn, u64::MAX);
        }
        drive.end_write();
    }

    /// Makes the next block that the die of a page writes a block of `pec` cycles. The open block
    /// is filled with another page of that die, and all free blocks get this number of cycles.
    fn next_block_has(drive: &mut Drive, lpn: Lpn, pec: u32) {
        let (stripes, geometry) = (drive.geometry.stripes.unwrap(), drive.geometry.clone());
        let other = Lpn::range(3..6).find(|other| stripes.die(*other) == stripes.die(lpn)).unwrap();
        let is_open = |drive: &Drive| {
            let on_die = |block: &BlockId| geometry.die_of(*block) == stripes.die(lpn);
            let is_open = |block| {
                drive.flash.hot(block).state == BlockState::Open
                    && drive.flash.hot(block).stream == HOST
            };
            geometry.block_ids().filter(on_die).any(is_open)
        };
        while is_open(drive) {
            write(drive, &[other]);
        }
        free_blocks_have(drive, lpn, |_| pec);
    }

    /// Sets the cycles of the free blocks of a page's die, by their order.
    fn free_blocks_have(drive: &mut Drive, lpn: Lpn, pec: impl Fn(usize) -> u32) {
        let domain = drive.ftl.domain_of_page(lpn);
        let free: Vec<BlockId> = (0..drive.ftl.free.count(domain))
            .map(|_| drive.ftl.take_for_loading_in(domain))
            .collect();
        for (turn, block) in free.into_iter().enumerate() {
            drive.flash.pretend_cycles(block, pec(turn));
            drive.ftl.add_free(&drive.flash, block);
        }
    }

    /// Returns the reads for parity and the programs of parity of a write of one page, and then the
    /// stripe's counter.
    fn written(drive: &mut Drive, lpn: Lpn) -> (u64, u64, u32) {
        let count = |drive: &Drive| {
            (
                drive.flash_counts().reads[Cause::Parity as usize],
                drive.flash_counts().programs[Cause::Parity as usize],
            )
        };
        let before = count(drive);
        write(drive, &[lpn]);
        let after = count(drive);
        (after.0 - before.0, after.1 - before.1, drive.ftl.counter(0))
    }

    /// Checks the example of the file of `pe-aware`.
    #[test]
    fn worked_example() {
        let mut drive = drive(false, false);
        assert_eq!(drive.stripes_with_parity(), 0, "no block is worn");
        assert_eq!(written(&mut drive, D[1]), (0, 0, 0));
        next_block_has(&mut drive, D[1], T_P + 1);
        assert_eq!(written(&mut drive, D[1]), (2, 1, 1), "P = D0 ^ D1' ^ D2");
        assert_eq!(written(&mut drive, D[1]), (2, 1, 1), "P' = P ^ D1' ^ D1''");
        assert_eq!(
            written(&mut drive, D[0]),
            (2, 1, 1),
            "on a block that is not worn, in a stripe that has parity"
        );
        next_block_has(&mut drive, D[1], T_P);
        let with_parity = drive.stripes_with_parity();
        assert_eq!(written(&mut drive, D[1]), (0, 0, 0), "P is given back");
        assert_eq!(drive.stripes_with_parity(), with_parity - 1);
        assert_eq!(drive.miscounted_stripes(), 0);
    }

    /// The published counter rises with each write to a worn block. It does not return to 0 when
    /// all pages lie in young blocks, so the stripe keeps parity that it does not need. The counter
    /// falls with each write to a young block. It is then 0 while a page lies in a worn block, and
    /// the stripe has lost its parity.
    #[test]
    fn the_printed_counter_drifts() {
        let mut drive = drive(true, false);
        next_block_has(&mut drive, D[1], T_P + 1);
        assert_eq!(written(&mut drive, D[1]), (2, 1, 1));
        assert_eq!(
            written(&mut drive, D[1]),
            (2, 1, 2),
            "that the old copy lay in a worn block is forgotten"
        );
        next_block_has(&mut drive, D[1], T_P);
        assert_eq!(
            written(&mut drive, D[1]),
            (2, 1, 1),
            "no page lies in a worn block, and there is parity"
        );
        assert_eq!(written(&mut drive, D[1]), (0, 0, 0));
        next_block_has(&mut drive, D[1], T_P + 1);
        assert_eq!(written(&mut drive, D[1]), (2, 1, 1));
        assert_eq!(
            written(&mut drive, D[0]),
            (0, 0, 0),
            "a page lies in a worn block, and there is no parity"
        );
        let stripes = drive.geometry.stripes.unwrap();
        assert_eq!(drive.ftl.pages_in_worn_blocks(&drive.flash, stripes, 0), 1);
        assert!(drive.miscounted_stripes() > 0);
    }

    /// With a clock, a move brings a page to a worn block, and its stripe waits. Nothing is read or
    /// programmed for the stripe within the move. The stripe has parity once the clock has advanced
    /// by the time of a copy.
    #[test]
    fn what_a_move_makes_necessary_waits_its_turn() {
        let mut drive = drive(false, true);
        next_block_has(&mut drive, D[1], T_P + 1);
        let block = drive.geometry.block_of(drive.ftl.place_of(D[1]).unwrap());
        let parity = drive.flash_counts().programs[Cause::Parity as usize];
        let (ftl, mut cx) = drive.parts();
        ftl.rewrite(&mut cx, Rewrite::all(block), Cause::Reclaim, Reads::NEVER);
        let job = ftl.job_of(block).unwrap();
        ftl.finish_job(&mut cx, job);
        assert_eq!(
            (drive.ftl.counter(0), drive.forming_window().unwrap().stripes),
            (1, 2),
            "both stripes have a page there"
        );
        assert_eq!(drive.flash_counts().programs[Cause::Parity as usize], parity);
        for formed in 1..=2 {
            let at = drive.next_wake();
            assert!(at > drive.flash.now && at < u64::MAX);
            drive.flash.now = at;
            drive.wake();
            assert_eq!(
                (drive.ftl.parity.formed, drive.forming_window().unwrap().stripes),
                (formed, 2 - formed)
            );
        }
        assert_eq!(drive.next_wake(), u64::MAX);
        assert!(drive.forming_window().unwrap().stripe_ns > 0);
    }

    /// GC writes data of a worn block to a worn block if one is free. It writes data of other
    /// blocks to the least worn block.
    #[test]
    fn gc_keeps_pages_in_their_class() {
        let mut drive = drive(false, false);
        next_block_has(&mut drive, D[1], T_P + 1);
        write(&mut drive, &[D[1]]);
        next_block_has(&mut drive, D[1], T_P);
        free_blocks_have(&mut drive, D[1], |turn| if turn == 3 { T_P + 1 } else { T_P });
        for (to_worn, formed) in [(true, 0), (false, 0)] {
            let block = drive.geometry.block_of(drive.ftl.place_of(D[1]).unwrap());
            assert_eq!(drive.flash.cold(block).pec > T_P, to_worn);
            let (ftl, mut cx) = drive.parts();
            ftl.rewrite(&mut cx, Rewrite::all_to(block, GC), Cause::Gc, Reads::NEVER);
            let now = drive.geometry.block_of(drive.ftl.place_of(D[1]).unwrap());
            assert_ne!(now, block);
            assert_eq!(
                (drive.flash.cold(now).pec > T_P, drive.ftl.counter(0)),
                (to_worn, u32::from(to_worn))
            );
            assert_eq!(
                drive.forming_window().unwrap().most_stripes,
                formed,
                "no stripe came to need parity"
            );
            next_block_has(&mut drive, D[1], T_P);
            write(&mut drive, &[D[1]]);
        }
    }
}
