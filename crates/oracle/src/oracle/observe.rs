//! Receives the events of the drive, and passes each event to the parts of the oracle that need it.

use vpass_drive::base::dose::Quarters;
use vpass_drive::base::failure::Stretch;
use vpass_drive::base::metrics::TimedMetrics;
use vpass_drive::base::page_set::PageSet;
use vpass_drive::base::request::Request;
use vpass_drive::base::steady::Order;
use vpass_drive::base::units::{BlockId, Cause, Lpn, Moment, Ns, Ppn, Reads, Seq, WordlineInBlock};
use vpass_drive::watch::observer::{
    BulkReads, NO_OWNER, Observer, Origin, PhysRead, ReadsOffFlash, XorSource,
};
use vpass_drive::watch::time_event::{OpId, TimeEvent};

use crate::medium::At;
use crate::oracle::Oracle;
use crate::report::Kind;
use crate::stamps::{Stamp, Stamps};

impl Observer for Oracle {
    fn now(&mut self, at: Ns) {
        self.note_time(at);
    }

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

    fn reads(&mut self, batch: &[PhysRead]) {
        self.judge_batch(batch);
    }

    fn read_in_bulk(&mut self, block: BlockId, reads: u64, doses: &[u32]) {
        self.judge_bulk(block, reads, doses);
    }

    fn read_in_bulk_with_retries(&mut self, reads: &BulkReads) {
        self.judge_bulk_with_retries(reads);
    }

    fn read_off_flash(&mut self, reads: ReadsOffFlash) {
        self.seen.host_read_pages += reads.sum();
        self.claims.unmapped_reads += reads.without_data;
        self.uncorrectable_reads += reads.lost;
    }

    fn quiet_until(&mut self, at: Ns) {
        self.expect_bulk();
        let checked = self.ageing.requests(at);
        self.findings.note(Kind::Protocol, checked);
    }

    fn host_wrote(&mut self, _: u64, lpn: Lpn, whole: bool) {
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

    fn took_in(&mut self, lpn: Lpn, parts: u64) {
        if self.is_full() {
            self.memory.claim(lpn, parts);
        }
    }

    fn filled(&mut self, lpn: Lpn) {
        self.stamps.completed(lpn);
        if self.is_full() {
            self.blame.leaves_flash(lpn);
            let checked = self.keep_fill(lpn);
            self.findings.note(Kind::Stamp, checked);
        }
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

    fn lost(&mut self, lpn: Lpn) {
        let checked = self.loss(lpn);
        self.findings.note(Kind::FalseLoss, checked);
        self.leaves_stripe(lpn);
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

    fn xored(&mut self, number: u32, source: XorSource) {
        self.add_to_xor(number, source);
    }

    fn recovering(&mut self, lpn: Lpn, number: u32) {
        self.recovers(lpn, number);
    }

    fn rebuilt(&mut self, lpn: Lpn, number: u32) {
        self.rebuilt_in_memory(lpn, number);
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

    fn delayed(&mut self, stripe: u32, number: u32, covered: u64, exposed: u64) {
        self.check_always_protected(stripe);
        let checked = self.delays(stripe, number, (covered, exposed));
        self.findings.note(Kind::Stamp, checked);
    }

    fn failed(&mut self, pages: Stretch) {
        // Free blocks may be among the failed blocks. The drive counted the free blocks when it
        // programmed the last page.
        self.need.happens(false);
        self.fail(pages);
    }

    fn rebuild_done(&mut self) {
        self.check_rebuild_done();
    }

    fn lives_in(&mut self, stage: u8) {
        self.enter_stage(stage);
    }

    fn awaits_parity(&mut self, stripe: u32) {
        self.check_always_protected(stripe);
        let checked = self.await_parity(stripe);
        self.findings.note(Kind::Stamp, checked);
    }

    fn needs_no_parity(&mut self, stripe: u32) {
        self.check_always_protected(stripe);
        let checked = self.need_no_parity(stripe);
        self.findings.note(Kind::Stamp, checked);
    }

    fn unprotected(&mut self, stripe: u32) {
        self.unprotect(stripe);
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

    fn asks_at(&mut self, block: BlockId, at: Reads) {
        if self.is_full() {
            self.check_told(block);
            self.judge_answer(block, at);
            self.name_question(block, at);
        }
        self.asked_of_age(block);
    }

    fn job_ended(&mut self, block: BlockId) {
        self.end_adjusting(block);
        if self.is_full() {
            self.end_job(block);
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

    fn merged(&mut self, block: BlockId, wordline: WordlineInBlock, mode: u8, cause: Cause) {
        self.seen.reprograms[cause as usize] += 1;
        self.clock.merged(block, mode, cause);
        self.merged_wordline(block, wordline.number(), mode);
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

    fn preloaded(&mut self, block: BlockId, lpns: &[Lpn]) {
        self.preload_block(block, lpns);
        self.preload_by_hint(block, lpns);
    }

    fn begins_in_order(&mut self, orders: &[Order], filled: u32) {
        self.begin_in_order(orders, filled);
    }

    fn preloaded_in_order(&mut self, block: BlockId, first: u32, pages: Order, holds: u32) {
        self.preload_in_order(block, first, pages, holds);
    }

    fn worn_before(&mut self, block: BlockId, pec: u32) {
        self.begin_worn(block, pec);
    }

    fn served_before(&mut self, block: BlockId, doses: &[Quarters]) {
        let doses: Vec<u32> = doses.iter().map(|dose| dose.count()).collect();
        self.age_block(block, &doses);
    }

    fn clock(&mut self, at: Ns) {
        self.excuse_what_is_left_alone();
        let checked = self.ageing.clock(at).and_then(|()| self.check_older());
        self.findings.note(Kind::Protocol, checked);
    }

    fn aged(&mut self, block: BlockId, since: Moment) {
        if self.check_block(block, "age") {
            let checked = self.ageing.aged(block, since);
            self.findings.note(Kind::Books, checked);
            self.excuse_left_alone(block);
            self.asked_of_age(block);
        }
    }

    fn renewed(&mut self, block: BlockId, since: Moment) {
        if self.check_block(block, "age") {
            let checked = self.renew(block, since);
            self.findings.note(Kind::Protocol, checked);
            self.asked_of_age(block);
        }
    }

    fn clock_restarts(&mut self, passed: Ns) {
        self.adjusted.set_back(passed.cast_signed());
        self.set_older_back(passed.cast_signed());
        let checked = self.ageing.restart(passed);
        self.findings.note(Kind::Protocol, checked);
    }

    fn measured_phase(&mut self) {
        self.begin_measured_phase();
    }

    fn cycles_skipped(&mut self, cycles: u32) {
        self.doses.skip_cycles(cycles);
    }

    fn occupied(&mut self, intervals: &[(u32, Ns, Ns)]) {
        self.time.note(intervals);
    }

    fn wants_time(&self) -> bool {
        self.is_full()
    }

    fn run_began(&mut self, at: Ns, latencies: &TimedMetrics) {
        self.need.happens(false);
        self.clock.begin(at, latencies);
    }

    fn time(&mut self, events: &[TimeEvent]) {
        self.note_jobs();
        let checked = self.clock.events(events);
        self.findings.note(Kind::Protocol, checked);
    }

    fn run_ended(&mut self, pending: &[OpId], latencies: &TimedMetrics) {
        let checked = self.clock.end(pending, latencies);
        self.findings.note(Kind::Protocol, checked);
    }
}
