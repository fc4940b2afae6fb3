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
        let checked = requests.last().map_or(Ok(()), |last| self.truth.ages.requests(last.at));
        self.findings.note(Kind::Protocol, checked);
        if self.is_full() {
            self.host.requests.ask(first, requests);
        }
    }

    fn host_wrote(&mut self, lpn: Lpn, whole: bool) {
        self.check_stripes();
        self.check_failures();
        self.books.seen.host_write_pages += 1;
        self.host_acts();
        if self.is_full() {
            self.check_durable(lpn);
        }
        let whole = if self.is_full() { self.take_in(lpn, whole) } else { whole };
        if whole {
            self.forget_failed(lpn);
            self.truth.waiting.remove(&lpn);
        }
        let checked = self.truth.stamps.host_wrote(lpn, whole);
        self.findings.note(Kind::Protocol, checked);
    }

    fn trimmed(&mut self, lpn: Lpn) {
        self.books.claims.trimmed_pages += 1;
        self.host_acts();
        if self.is_full() {
            self.check_durable(lpn);
            self.host.memory.forget(lpn);
            let served = self.host.requests.trim(lpn);
            self.findings.note(Kind::Request, served);
        }
        self.truth.waiting.remove(&lpn);
        self.forget_failed(lpn);
        self.leaves_stripe(lpn);
        let checked = self.truth.stamps.trimmed(lpn);
        self.findings.note(Kind::Protocol, checked);
    }

    fn programmed(&mut self, ppn: Ppn, lpn: Lpn, seq: Seq, origin: Origin, cause: Cause) {
        self.books.seen.programs[cause as usize] += 1;
        if self.parity.failures.is_failed(ppn) {
            self.findings.add(Kind::Protocol, || {
                format!("lpn {lpn} is programmed at ppn {ppn}, which has failed")
            });
        }
        self.know_stripe_of(lpn);
        self.note_written(lpn, origin, cause);
        let Some(at) = self.program_in_order(ppn, lpn, seq) else { return };
        self.program_within(at.block);
        if self.truth.ages.programmed(at.block) {
            self.excuse_left_alone(at.block);
        }
        self.parity.end_loading();
        let checked = match origin {
            Origin::Xor(number) => self.program_xor(at, (ppn, lpn), number),
            Origin::Host => {
                self.host_acts();
                self.count_as_printed(lpn, ppn);
                let held = if self.is_full() { self.program_held(lpn) } else { Ok(()) };
                self.truth.stamps.program_host(&mut self.truth.medium, at, lpn).and(held)
            }
            Origin::Gathered => self.program_gathered(at, lpn),
            Origin::Copy(from) => {
                self.books.claims.reclaim_copies += u64::from(cause == Cause::Reclaim);
                self.adjusted.written_elsewhere(from);
                let copied = self.truth.carried(from).unwrap_or(Stamp::ERASED);
                let checked = Stamps::program_copy(&mut self.truth.medium, at, lpn, copied);
                if checked.is_ok() && from != ppn {
                    // The copy is the data from now on. The old page may stay on flash for long,
                    // and must not be read.
                    self.truth.medium.set_stamp(At::new(&self.truth.geometry, from), Stamp::DEAD);
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
        if let Some(stripes) = self.parity.stripes_with(lpn) {
            self.weigh_stripe(stripes.of(lpn));
        }
        self.leaves_stripe(lpn);
    }

    fn gathered(&mut self, lpn: Lpn, from: Ppn) {
        self.books.claims.reclaim_copies += u64::from(self.books.course.moving == Cause::Reclaim);
        self.adjusted.written_elsewhere(from);
        self.note_gathered(lpn, from);
        let checked = self.gather(lpn, from);
        self.findings.note(Kind::Stamp, checked);
    }

    fn padded(&mut self, ppn: Ppn, seq: Seq, cause: Cause) {
        self.books.seen.programs[cause as usize] += 1;
        self.books.claims.padded_pages += 1;
        self.note_padding(cause);
        if let Some(at) = self.program_in_order(ppn, NO_OWNER, seq) {
            self.truth.ages.programmed(at.block);
            self.excuse_left_alone(at.block);
            self.truth.medium.set_stamp(at, Stamp::DEAD);
        }
    }

    fn moving(&mut self, block: BlockId, pages: Option<&PageSet>, cause: Cause) {
        let host_reads = self.books.seen.host_read_pages;
        self.record.look_before_job(&self.truth, block, cause, host_reads);
        if cause == Cause::Refresh && self.adjusted.between && self.moves_nothing(block, pages) {
            self.truth.ages.may_refresh();
        } else if cause == Cause::Refresh {
            let checked = self.truth.ages.refreshes(block);
            self.findings.note(Kind::Protocol, checked);
        }
        if self.is_full() {
            self.begin_job(block, cause);
        }
    }

    fn recoded(&mut self, block: BlockId, wordline: Option<WordlineInBlock>, mode: u8) {
        let wordline = wordline.map(WordlineInBlock::number);
        if self.check_block(block, "recoding") {
            match wordline {
                Some(wordline) => self.recoded_wordline(block, wordline, mode),
                None if self.truth.protocol.written(block) == 0 => self.opened_in_mode(block, mode),
                None => self.recoded_block(block, mode),
            }
        }
    }

    fn erased(&mut self, block: BlockId, cause: Cause) {
        self.books.seen.erases[cause as usize] += 1;
        if !self.check_block(block, "erase") {
            return;
        }
        let host_reads = self.books.seen.host_read_pages;
        self.record.look_before_erase(&self.truth, block, host_reads);
        self.check_still_needed(block);
        self.cleaned(cause);
        self.note_density(block, cause);
        self.truth.jobs.remove(&block);
        if self.truth.doses.has_rates() {
            self.truth.know_age(block, None);
        }
        self.truth.ages.end(block);
        self.forget_adjusted(block);
        self.settle_block(block);
        let checked = self.truth.protocol.erase(block);
        self.findings.note(Kind::Protocol, checked);
        self.truth.medium.erase(block);
        let cycles = self.truth.cycles.of_erase(cause);
        self.truth.doses.erase(block, cycles);
    }

    /// Takes events about parity and failures.
    fn take_of_stripe(&mut self, event: Event<'_>) {
        match event {
            Event::Xored { number, source } => self.add_to_xor(number, source),
            Event::Recovering { lpn, number } => self.recovers(lpn, number),
            Event::Rebuilt { lpn, number } => self.rebuilt_in_memory(lpn, number),
            Event::Superseded { lpn } => self.superseded(lpn),
            Event::Delayed { stripe, number, covered, exposed } => {
                let checked = self.delays(stripe, number, (covered, exposed));
                self.findings.note(Kind::Stamp, checked);
            }
            Event::Failed { pages } => self.fail(pages),
            Event::RebuildDone => self.check_rebuild_done(),
            Event::LivesIn { stage } => self.enter_stage(stage),
            Event::AwaitsParity { stripe } => {
                let checked = self.await_parity(stripe);
                self.findings.note(Kind::Stamp, checked);
            }
            Event::NeedsNoParity { stripe } => {
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
            Event::Preloaded { block, lpns } => self.preload_block(block, lpns),
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
                let checked = self.truth.ages.clock(at);
                self.findings.note(Kind::Protocol, checked);
            }
            Event::Aged { block, since } if self.check_block(block, "age") => {
                let checked = self.truth.ages.aged(block, since);
                self.findings.note(Kind::Books, checked);
                self.excuse_left_alone(block);
            }
            Event::Renewed { block, since } if self.check_block(block, "age") => {
                let checked = self.renew(block, since);
                self.findings.note(Kind::Protocol, checked);
            }
            Event::ClockRestarted { passed } => {
                self.adjusted.set_back(passed.cast_signed());
                let checked = self.truth.ages.restart(passed);
                self.findings.note(Kind::Protocol, checked);
            }
            Event::MeasuredPhase => self.begin_measured_phase(),
            Event::CyclesSkipped { cycles } => self.truth.doses.skip_cycles(cycles),
            _ => {}
        }
    }
}

impl Observer for Oracle {
    fn take(&mut self, event: Event<'_>) {
        self.each_check(|check, truth, _, findings| check.before(truth, &event, findings));
        self.know(event);
        self.each_check(|check, truth, _, findings| check.after(truth, &event, findings));
    }

    fn wants_time(&self) -> bool {
        self.is_full()
    }
}

impl Oracle {
    /// Checks an event and adds it to the truth.
    fn know(&mut self, event: Event<'_>) {
        match event {
            Event::Now { at } => self.record.note_time(at),
            Event::Requests { first, requests } => self.requests(first, requests),
            Event::Reads { batch } => self.judge_batch(batch),
            Event::ReadInBulk { block, reads, doses } => self.judge_bulk(block, reads, doses),
            Event::ReadInBulkWithRetries(reads) => self.judge_bulk_with_retries(&reads),
            Event::ReadOffFlash(reads) => {
                self.books.seen.host_read_pages += reads.sum();
                self.books.claims.unmapped_reads += reads.without_data;
                self.losses.uncorrectable_reads += reads.lost;
            }
            Event::QuietUntil { at } => {
                let checked = self.truth.ages.requests(at);
                self.findings.note(Kind::Protocol, checked);
            }
            Event::Wrote { lpn, whole, .. } => self.host_wrote(lpn, whole),
            Event::TookIn { lpn, parts } => {
                if self.is_full() {
                    self.host.memory.claim(lpn, parts);
                }
            }
            Event::Filled { lpn } => {
                self.truth.stamps.completed(lpn);
                if self.is_full() {
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
            Event::JobEnded { block } => {
                self.end_adjusting(block);
                if self.is_full() {
                    self.end_job(block);
                }
            }
            Event::JobBegan { block, pages, cause } => self.moving(block, pages, cause),
            Event::Merged { block, wordline, mode, cause } => {
                self.books.seen.reprograms[cause as usize] += 1;
                self.merged_wordline(block, wordline.number(), mode);
            }
            Event::Recoded { block, wordline, mode } => self.recoded(block, wordline, mode),
            Event::Erased { block, cause } => self.erased(block, cause),
            _ => self.take_of_stripe(event),
        }
    }
}
