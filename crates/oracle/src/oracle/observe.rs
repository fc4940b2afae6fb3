//! Receives the events of the drive, and passes each event to the parts of the oracle that need it.

use vpass_drive::base::page_set::PageSet;
use vpass_drive::base::request::Request;
use vpass_drive::base::units::{BlockId, Cause, Lpn, Ppn, Seq, WordlineInBlock};
use vpass_drive::watch::observer::{Event, NO_OWNER, Observer, Origin};

use crate::medium::At;
use crate::oracle::Oracle;
use crate::report::Kind;
use crate::stamps::{Stamp, Stamps};

impl Oracle {
    fn requests(&mut self, first: u64, requests: &[Request]) {
        self.excuse_what_is_left_alone();
        let checked = requests.last().map_or(Ok(()), |last| self.ageing.requests(last.at));
        self.findings.note(Kind::Protocol, checked);
        self.expect_reads(requests);
        if self.is_full() {
            self.requests.ask(first, requests);
            self.clock.requests(first, requests);
        }
    }

    fn host_wrote(&mut self, lpn: Lpn, whole: bool) {
        self.check_stripes();
        self.check_stage();
        self.parity.delay.host_writes();
        self.check_failures();
        self.parity.worn.host_writes(self.parity.stripes);
        self.check_background();
        self.seen.host_write_pages += 1;
        self.host_acts();
        if self.is_full() {
            self.wear.look(&self.geometry);
            self.check_durable(lpn);
        }
        let whole = if self.is_full() { self.take_in(lpn, whole) } else { whole };
        if whole {
            self.forget_failed(lpn);
            self.blame.leaves_flash(lpn);
            self.waiting.remove(&lpn);
        }
        let checked = self.stamps.host_wrote(lpn, whole);
        self.findings.note(Kind::Protocol, checked);
    }

    fn trimmed(&mut self, lpn: Lpn) {
        self.claims.trimmed_pages += 1;
        self.need.happens(false);
        self.host_acts();
        if self.is_full() {
            self.check_durable(lpn);
            self.memory.forget(lpn);
            self.blame.leaves_flash(lpn);
            let served = self.requests.trim(lpn);
            self.findings.note(Kind::Request, served);
        }
        self.waiting.remove(&lpn);
        self.forget_failed(lpn);
        self.leaves_stripe(lpn);
        let checked = self.stamps.trimmed(lpn);
        self.findings.note(Kind::Protocol, checked);
    }

    fn programmed(&mut self, ppn: Ppn, lpn: Lpn, seq: Seq, origin: Origin, cause: Cause) {
        self.seen.programs[cause as usize] += 1;
        self.clock.programmed(ppn, true, cause);
        self.need.happens(cause == Cause::Host && origin == Origin::Host);
        if self.failures.is_failed(ppn) {
            self.findings.add(Kind::Protocol, || {
                format!("lpn {lpn} is programmed at ppn {ppn}, which has failed")
            });
        }
        self.know_stripe_of(lpn);
        self.note_written(lpn, origin, cause);
        let Some(at) = self.program_in_order(ppn, lpn, seq, cause) else { return };
        self.program_by_hint(at, lpn, origin);
        self.blame.programmed(ppn, lpn);
        self.program_within(at.block);
        if self.ageing.programmed(at.block) {
            self.excuse_left_alone(at.block);
            self.asked_of_age(at.block);
        }
        self.check_to_come(at.block);
        self.parity.end_loading();
        let checked = match origin {
            Origin::Xor(number) => self.program_xor(at, (ppn, lpn), number),
            Origin::Host => {
                self.host_acts();
                self.count_as_printed(lpn, ppn);
                let held = if self.is_full() { self.program_held(lpn) } else { Ok(()) };
                self.stamps.program_host(&mut self.medium, at, lpn).and(held)
            }
            Origin::Gathered => self.program_gathered(at, lpn),
            Origin::Copy(from) => {
                self.claims.reclaim_copies += u64::from(cause == Cause::Reclaim);
                self.check_divided(from, at);
                self.adjusted.written_elsewhere(from);
                let copied = self.carried(from).unwrap_or(Stamp::ERASED);
                let checked = Stamps::program_copy(&mut self.medium, at, lpn, copied);
                if checked.is_ok() && from != ppn {
                    // The copy is the data from now on. The old page may stay on flash for long,
                    // and must not be read.
                    self.medium.set_stamp(At::new(&self.geometry, from), Stamp::DEAD);
                }
                checked.map_err(|what| format!("{what}, ppn {from}"))
            }
        };
        if !matches!(origin, Origin::Xor(_)) {
            self.lies_at(lpn, ppn);
        }
        self.findings.note(
            Kind::Stamp,
            checked.map_err(|what| format!("{} at ppn {ppn}: {what}", cause.name())),
        );
    }

    fn superseded(&mut self, lpn: Lpn) {
        self.forget_failed(lpn);
        // A rebuild of a page on failed flash may need the version that is overwritten now. The
        // oracle knows now whether this version is readable, so it checks the stripe now.
        if let Some(stripes) = self.parity.stripes.filter(|stripes| lpn.number() < stripes.pages())
        {
            self.weigh_stripe(stripes.of(lpn));
        }
        self.leaves_stripe(lpn);
    }

    fn gathered(&mut self, lpn: Lpn, from: Ppn) {
        self.need.happens(false);
        self.blame.leaves_flash(lpn);
        self.claims.reclaim_copies += u64::from(self.course.moving == Cause::Reclaim);
        self.adjusted.written_elsewhere(from);
        self.note_gathered(lpn, from);
        let checked = self.gather(lpn, from);
        self.findings.note(Kind::Stamp, checked);
    }

    fn padded(&mut self, ppn: Ppn, seq: Seq, cause: Cause) {
        self.seen.programs[cause as usize] += 1;
        self.claims.padded_pages += 1;
        self.note_padding(cause);
        self.need.happens(false);
        self.clock.programmed(ppn, false, cause);
        if let Some(at) = self.program_in_order(ppn, NO_OWNER, seq, cause) {
            self.ageing.programmed(at.block);
            self.excuse_left_alone(at.block);
            self.pad_by_hint(at.block);
            self.medium.set_stamp(at, Stamp::DEAD);
            self.blame.programmed(ppn, NO_OWNER);
            self.check_to_come(at.block);
        }
    }

    fn moving(&mut self, block: BlockId, pages: Option<&PageSet>, cause: Cause) {
        self.look_before_job(block, cause);
        self.check_recycled(block, cause);
        if cause == Cause::Refresh && self.adjusted.between && self.moves_nothing(block, pages) {
            self.ageing.may_refresh();
        } else if cause == Cause::Refresh {
            let checked = self.ageing.refreshes(block);
            self.findings.note(Kind::Protocol, checked);
        }
        if self.is_full() {
            if cause == Cause::Hint {
                self.check_regrouping(block, pages.is_some());
            }
            if cause == Cause::Reclaim && pages.is_none() {
                self.clock.empties(block);
            }
            self.begin_job(block, pages, cause);
        }
    }

    fn recoded(&mut self, block: BlockId, wordline: Option<WordlineInBlock>, mode: u8) {
        let wordline = wordline.map(WordlineInBlock::number);
        if self.check_block(block, "recoding") {
            self.clock.recoded(block, wordline, mode);
            match wordline {
                Some(wordline) => self.recoded_wordline(block, wordline, mode),
                None if self.protocol.written(block) == 0 => self.opened_in_mode(block, mode),
                None => self.recoded_block(block, mode),
            }
        }
    }

    fn erased(&mut self, block: BlockId, cause: Cause) {
        self.seen.erases[cause as usize] += 1;
        self.need.happens(false);
        if !self.check_block(block, "erase") {
            return;
        }
        self.look_before_erase(block);
        self.clock.erased(block, cause, self.doses.cycles_of(block));
        self.check_still_needed(block);
        self.end_service(block);
        self.cleaned(cause);
        self.note_density(block, cause);
        self.end_cleaning(block);
        self.jobs.remove(&block);
        self.questions.erase(block);
        self.forget_told(block);
        if self.doses.has_rates() {
            self.know_age(block, None);
        }
        self.ageing.end(block);
        self.asked_of_age(block);
        self.forget_adjusted(block);
        self.erase_by_hint(block);
        self.openings.erase(block);
        self.blame.erased(&self.geometry, block);
        self.settle_block(block);
        let checked = self.protocol.erase(block);
        self.findings.note(Kind::Protocol, checked);
        self.medium.erase(block);
        let times = self.acceleration.of_erase(cause);
        let cycles = times * self.of_sample.next_erase();
        self.doses.erase(block, (cycles, times));
        self.note_worn(block);
        self.wear.erase(block, cause, (cycles, self.doses.worn(block).beyond_milli));
        self.keep_failed_from_use(block);
    }

    /// Takes events about parity and failures.
    fn take_of_stripe(&mut self, event: Event<'_>) {
        match event {
            Event::Xored { number, source } => self.add_to_xor(number, source),
            Event::Recovering { lpn, number } => self.recovers(lpn, number),
            Event::Rebuilt { lpn, number } => self.rebuilt_in_memory(lpn, number),
            Event::Superseded { lpn } => self.superseded(lpn),
            Event::Delayed { stripe, number, covered, exposed } => {
                self.check_always_protected(stripe);
                let checked = self.delays(stripe, number, (covered, exposed));
                self.findings.note(Kind::Stamp, checked);
            }
            Event::Failed { pages } => {
                // Free blocks may be among the failed blocks. The drive counted the free blocks
                // when it programmed the last page.
                self.need.happens(false);
                self.fail(pages);
            }
            Event::RebuildDone => self.check_rebuild_done(),
            Event::LivesIn { stage } => self.enter_stage(stage),
            Event::AwaitsParity { stripe } => {
                self.check_always_protected(stripe);
                let checked = self.await_parity(stripe);
                self.findings.note(Kind::Stamp, checked);
            }
            Event::NeedsNoParity { stripe } => {
                self.check_always_protected(stripe);
                let checked = self.need_no_parity(stripe);
                self.findings.note(Kind::Stamp, checked);
            }
            Event::Unprotected { stripe } => self.unprotect(stripe),
            _ => self.take_of_time(event),
        }
    }

    /// Takes events about the start-up state, time and phases of the run.
    fn take_of_time(&mut self, event: Event<'_>) {
        match event {
            Event::Preloaded { block, lpns } => {
                self.preload_block(block, lpns);
                self.preload_by_hint(block, lpns);
            }
            Event::BeginsInOrder { orders, filled } => self.begin_in_order(orders, filled),
            Event::PreloadedInOrder { block, first, pages, holds } => {
                self.preload_in_order(block, first, pages, holds)
            }
            Event::WornBefore { block, pec } => self.begin_worn(block, pec),
            Event::ServedBefore { block, doses } => {
                let doses: Vec<u32> = doses.iter().map(|dose| dose.count()).collect();
                self.age_block(block, &doses);
            }
            Event::Clock { at } => {
                self.excuse_what_is_left_alone();
                let checked = self.ageing.clock(at).and_then(|()| self.check_older());
                self.findings.note(Kind::Protocol, checked);
            }
            Event::Aged { block, since } if self.check_block(block, "age") => {
                let checked = self.ageing.aged(block, since);
                self.findings.note(Kind::Books, checked);
                self.excuse_left_alone(block);
                self.asked_of_age(block);
            }
            Event::Renewed { block, since } if self.check_block(block, "age") => {
                let checked = self.renew(block, since);
                self.findings.note(Kind::Protocol, checked);
                self.asked_of_age(block);
            }
            Event::ClockRestarted { passed } => {
                self.adjusted.set_back(passed.cast_signed());
                self.set_older_back(passed.cast_signed());
                let checked = self.ageing.restart(passed);
                self.findings.note(Kind::Protocol, checked);
            }
            Event::MeasuredPhase => self.begin_measured_phase(),
            Event::CyclesSkipped { cycles } => self.doses.skip_cycles(cycles),
            Event::Occupied { intervals } => self.time.note(intervals),
            Event::RunBegan { at, latencies } => {
                self.need.happens(false);
                self.clock.begin(at, latencies);
            }
            Event::Time { events } => {
                self.note_jobs();
                let checked = self.clock.events(events);
                self.findings.note(Kind::Protocol, checked);
            }
            Event::RunEnded { pending, latencies } => {
                let checked = self.clock.end(pending, latencies);
                self.findings.note(Kind::Protocol, checked);
            }
            _ => {}
        }
    }
}

impl Observer for Oracle {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Now { at } => self.note_time(at),
            Event::Requests { first, requests } => self.requests(first, requests),
            Event::Reads { batch } => self.judge_batch(batch),
            Event::ReadInBulk { block, reads, doses } => self.judge_bulk(block, reads, doses),
            Event::ReadInBulkWithRetries(reads) => self.judge_bulk_with_retries(&reads),
            Event::ReadOffFlash(reads) => {
                self.seen.host_read_pages += reads.sum();
                self.claims.unmapped_reads += reads.without_data;
                self.uncorrectable_reads += reads.lost;
            }
            Event::QuietUntil { at } => {
                self.expect_bulk();
                let checked = self.ageing.requests(at);
                self.findings.note(Kind::Protocol, checked);
            }
            Event::Wrote { lpn, whole, .. } => self.host_wrote(lpn, whole),
            Event::TookIn { lpn, parts } => {
                if self.is_full() {
                    self.memory.claim(lpn, parts);
                }
            }
            Event::Filled { lpn } => {
                self.stamps.completed(lpn);
                if self.is_full() {
                    self.blame.leaves_flash(lpn);
                    let checked = self.keep_fill(lpn);
                    self.findings.note(Kind::Stamp, checked);
                }
            }
            Event::Trimmed { lpn } => self.trimmed(lpn),
            Event::Lost { lpn } => {
                let checked = self.loss(lpn);
                self.findings.note(Kind::FalseLoss, checked);
                self.leaves_stripe(lpn);
            }
            Event::Programmed { ppn, lpn, seq, origin, cause } => {
                self.programmed(ppn, lpn, seq, origin, cause)
            }
            Event::Gathered { lpn, from } => self.gathered(lpn, from),
            Event::Padded { ppn, seq, cause } => self.padded(ppn, seq, cause),
            Event::AsksAt { block, at } => {
                if self.is_full() {
                    self.check_told(block);
                    self.judge_answer(block, at);
                    self.name_question(block, at);
                }
                self.asked_of_age(block);
            }
            Event::JobEnded { block } => {
                self.end_adjusting(block);
                if self.is_full() {
                    self.end_job(block);
                }
            }
            Event::JobBegan { block, pages, cause } => self.moving(block, pages, cause),
            Event::Merged { block, wordline, mode, cause } => {
                self.seen.reprograms[cause as usize] += 1;
                self.clock.merged(block, mode, cause);
                self.merged_wordline(block, wordline.number(), mode);
            }
            Event::Recoded { block, wordline, mode } => self.recoded(block, wordline, mode),
            Event::Erased { block, cause } => self.erased(block, cause),
            _ => self.take_of_stripe(event),
        }
    }

    fn wants_time(&self) -> bool {
        self.is_full()
    }
}
