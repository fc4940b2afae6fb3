//! Compares the read of a page with the truth: its host page, its version, and whether its dose is
//! within its limit.

use vpass_drive::base::units::{BlockId, Cause, Ns, Ppn};
use vpass_drive::watch::observer::{FROM_BUFFER, NO_OWNER, PhysRead, ReadResult};

use crate::endurance::Endurance;
use crate::error_rates::step_of;
use crate::medium::At;
use crate::oracle::Oracle;
use crate::oracle::end_scan::words;
use crate::report::Kind;
use crate::stamps::Stamp;

/// Page that is read, as known from caches.
#[derive(Clone, Copy, Default)]
struct CachedPage {
    at: At,
    /// Weight of reads of its neighbours.
    alpha: u64,
    /// Dose up to which the page is within its limit and below the worst ratio so far.
    dull: u64,
}

/// Largest number of reads in one `Event::Reads`.
const BATCH: usize = 32;

impl Oracle {
    /// Checks reads in the order in which the drive made them.
    #[inline]
    pub(crate) fn judge_batch(&mut self, batch: &[PhysRead]) {
        assert!(batch.len() <= BATCH, "{} reads in one batch", batch.len());
        self.stamps.end_loading();
        // All addresses are computed first, so that the memory fetches of the whole batch overlap.
        for read in batch {
            self.stamps.prefetch(read.lpn);
            if read.ppn.number() < self.raw_pages {
                self.medium.prefetch(self.geometry.wordline_of(read.ppn));
                self.doses.prefetch(self.geometry.block_of(read.ppn));
            }
        }
        if self.doses.has_rates() {
            let raw_pages = self.raw_pages;
            for read in batch.iter().filter(|read| read.ppn.number() < raw_pages) {
                self.know_age(self.geometry.block_of(read.ppn), None);
            }
        }
        // Pages beyond the flash have no memory to fetch.
        let mut pages = [CachedPage::default(); BATCH];
        for (read, page) in
            batch.iter().zip(&mut pages).filter(|(read, _)| read.ppn.number() < self.raw_pages)
        {
            *page = self.find(read.ppn);
            self.medium.prefetch_stamp(page.at);
            if !self.is_dull(page) {
                self.medium.prefetch_around(page.at.wordline, self.doses.reach());
            }
        }
        for (read, page) in batch.iter().zip(&pages) {
            if read.ppn.number() < self.raw_pages && self.clock.is_on() {
                let level = if read.lpn == NO_OWNER {
                    0
                } else {
                    self.doses.first_level(self.geometry.block_of(read.ppn))
                };
                self.clock.sensed(read, level);
            }
            self.read_page(read, page);
        }
        if self.recorder.is_some() {
            pages[..batch.len()].iter().for_each(|page| self.look_if_due(page.at.block));
        }
    }

    /// Finds the limits of a block at its present age, or at the last time that the drive reported.
    pub(crate) fn know_age(&mut self, block: BlockId, at: Option<Ns>) {
        self.doses.set_step(block, step_of(self.ageing.age(block, at)));
    }

    /// Finds the limits of all blocks at their age.
    pub(crate) fn know_ages(&mut self, at: Ns) {
        if self.doses.has_rates() {
            self.geometry.block_ids().for_each(|block| self.know_age(block, Some(at)));
        }
    }

    /// Returns the data with which a read of a page is compared.
    #[inline]
    fn find(&self, ppn: Ppn) -> CachedPage {
        let at = At::new(&self.geometry, ppn);
        let Endurance { limit, alpha } = self.doses.page(at);
        // The product is rounded down. So no dose up to it exceeds the worst ratio, which only
        // grows while the batch is checked.
        let unremarkable = (self.worst_dose_ratio * limit.cast_signed() as f64) as u64;
        CachedPage { at, alpha, dull: limit.min(unremarkable) }
    }

    /// Returns whether the dose of a readable page cannot change the verdict.
    #[inline]
    fn is_dull(&self, page: &CachedPage) -> bool {
        self.doses.ceiling(page.at.block, page.alpha) <= page.dull
    }

    #[inline]
    fn read_page(&mut self, read: &PhysRead, page: &CachedPage) {
        let by_host = read.cause == Cause::Host && !read.fill;
        self.seen.host_read_pages += u64::from(by_host);
        self.parity.note_read(read, by_host);
        if read.cause == Cause::Host {
            self.host_acts();
            if by_host {
                self.check_stripes();
                self.check_failures();
            }
            if by_host && self.is_full() {
                self.serve(read);
            }
        } else if read.cause != Cause::Parity {
            self.mover_reads(read);
        } else if !read.fill {
            self.host_acts();
        }
        let Some(newest) = self.stamps.newest(read.lpn) else {
            return self.read_for_nobody(read);
        };
        if read.ppn.number() >= self.raw_pages {
            return self.read_off_flash(read, newest);
        }
        let at = page.at;
        let carried = self.medium.settle(at);
        self.seen.reads[read.cause as usize] += 1;
        let good = read.result == ReadResult::Good;
        self.seen.soft_errors += u64::from(read.retries > 0 || !good);
        if !self.adjusted.is_quiet() || read.result == ReadResult::InMemory {
            self.read_adjusted(read, self.doses.truth(&self.medium, at));
        }
        if read.fill && read.cause != Cause::Parity && self.is_full() {
            self.fill(read, carried);
        }
        // Other parts may read an older version, because newer data may wait in the write buffer.
        let right = carried.lpn == read.lpn
            && (carried.tag.on_flash() == newest.on_flash() || !(by_host && good));
        if !right {
            self.wrong_page(read, Some(newest));
            if carried == Stamp::ERASED {
                return;
            }
        }
        if good && self.failures.is_failed(read.ppn) {
            self.findings.add(Kind::Limit, || {
                format!("lpn {} was read at ppn {}, which has failed", read.lpn, read.ppn)
            });
        }
        if good {
            if !self.is_dull(page) {
                self.compare(read, at);
            }
            if carried.tag.is_damaged() {
                self.stamps.recovered(&mut self.medium, at);
            }
        } else if read.result == ReadResult::Uncorrectable {
            self.uncorrectable(read, at, self.doses.truth(&self.medium, at));
        }
        if self.is_full() && (read.retries > 0 || self.doses.has_rates() && !self.is_dull(page)) {
            self.check_retries(read, at, self.is_dull(page));
        }
        if read.retries > 0 {
            self.judge_latency(read, at);
        }
        self.sense_all(read, at);
        if good && read.retries > 0 {
            self.doses.decoded(at.block, read.retries);
        }
        if self.is_full() {
            self.count_for_policy(read, at);
        }
    }

    /// Checks that the number of retries of a read follows from dose, age and wear of its page.
    #[cold]
    fn check_retries(&mut self, read: &PhysRead, at: At, is_dull: bool) {
        if self.failures.is_failed(read.ppn) {
            return;
        }
        if let Some(judged) = self.doses.drawn(&self.medium, at, read, is_dull) {
            let page = self.place(read.ppn);
            self.findings.note(
                Kind::Limit,
                judged.map_err(|what| format!("a read of lpn {} at {page}: {what}", read.lpn)),
            );
            return;
        }
        let (least, most) = self.doses.retries(&self.medium, at);
        if !(least..=most).contains(&read.retries) {
            let (page, truth) = (self.place(read.ppn), self.doses.truth(&self.medium, at));
            self.findings.add(Kind::Limit, || {
                let (of, retries) = (read.cause.name(), read.retries);
                format!(
                    "{of} read of lpn {} at {page} took {retries} retries; it must take \
                         {least} to {most}: {}",
                    read.lpn,
                    words(truth)
                )
            });
        }
    }

    /// Counts the sensing of a page, and one more for each retry.
    #[inline]
    fn sense_all(&mut self, read: &PhysRead, at: At) {
        self.doses.sense(&mut self.medium, at);
        if read.retries > 0 {
            self.seen.reads[Cause::Retry as usize] += u64::from(read.retries);
            (0..read.retries).for_each(|_| self.doses.sense(&mut self.medium, at));
        }
    }

    /// Counts a read towards the next question to the policy, or postpones this question.
    #[inline]
    fn count_for_policy(&mut self, read: &PhysRead, at: At) {
        if read.cause == Cause::Parity && read.fill {
            // For reads of a rebuild, the policy is not asked before the next read.
            return;
        }
        if matches!(read.cause, Cause::Host | Cause::Parity) {
            let served = self.doses.read_of(at.block).unwrap_or(0);
            if read.fill && read.result == ReadResult::Uncorrectable {
                self.questions.failing_fill(at.block, served);
                return;
            }
            let asked = self.questions.read(at.block, served);
            self.findings.note(Kind::Protocol, asked);
        } else {
            self.questions
                .put_off(at.block, self.doses.of_page(at) * (1 + u32::from(read.retries)));
            if read.fill {
                self.blame.leaves_flash(read.lpn);
            }
        }
    }

    /// Records that the host gets a page or an error.
    #[inline]
    fn serve(&mut self, read: &PhysRead) {
        let served = self.requests.read(read.lpn);
        self.findings.note(Kind::Request, served);
        if read.ppn == FROM_BUFFER {
            self.serve_from_memory(read.lpn, read.result == ReadResult::Good);
        }
    }

    /// Compares the dose of a readable page with its limit.
    fn compare(&mut self, read: &PhysRead, at: At) {
        let truth = self.doses.truth(&self.medium, at);
        if self.doses.is_past(at, truth) {
            self.past_limit(read, truth);
        }
        if truth.exceeds(self.worst_dose_ratio) {
            self.worst_dose_ratio = truth.ratio();
            self.record_page(at);
        }
    }
}
