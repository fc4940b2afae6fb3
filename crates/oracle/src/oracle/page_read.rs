//! Compares the read of a page with the truth: its host page, its version, and whether its dose is
//! within its limit.

use vpass_drive::base::units::{Cause, Ppn};
use vpass_drive::watch::observer::{FROM_BUFFER, NO_OWNER, PhysRead, ReadResult};

use crate::limits::Endurance;
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
        // All addresses are computed first, so that the memory fetches of the whole batch overlap.
        for read in batch {
            self.truth.stamps.prefetch(read.lpn);
            if read.ppn.number() < self.truth.raw_pages {
                self.truth.medium.prefetch(self.truth.geometry.wordline_of(read.ppn));
                self.truth.doses.prefetch(self.truth.geometry.block_of(read.ppn));
            }
        }
        if self.truth.doses.has_rates() {
            let raw_pages = self.truth.raw_pages;
            for read in batch.iter().filter(|read| read.ppn.number() < raw_pages) {
                self.truth.know_age(self.truth.geometry.block_of(read.ppn), None);
            }
        }
        // Pages beyond the flash have no memory to fetch.
        let mut pages = [CachedPage::default(); BATCH];
        for (read, page) in batch
            .iter()
            .zip(&mut pages)
            .filter(|(read, _)| read.ppn.number() < self.truth.raw_pages)
        {
            *page = self.find(read.ppn);
            self.truth.medium.prefetch_stamp(page.at);
            if !self.is_dull(page) {
                self.truth.medium.prefetch_around(page.at.wordline, self.truth.doses.reach());
            }
        }
        for (read, page) in batch.iter().zip(&pages) {
            if read.ppn.number() < self.truth.raw_pages && self.clock.is_on() {
                let level = if read.lpn == NO_OWNER {
                    0
                } else {
                    self.truth.doses.first_level(self.truth.geometry.block_of(read.ppn))
                };
                self.clock.sensed(read, level);
            }
            self.read_page(read, page);
        }
        if self.record.is_on() {
            let host_reads = self.books.seen.host_read_pages;
            for page in &pages[..batch.len()] {
                self.record.look_if_due(&self.truth, page.at.block, host_reads);
            }
        }
    }

    /// Returns the data with which a read of a page is compared.
    #[inline]
    fn find(&self, ppn: Ppn) -> CachedPage {
        let at = At::new(&self.truth.geometry, ppn);
        let Endurance { limit, alpha } = self.truth.doses.page(at);
        // The product is rounded down. So no dose up to it exceeds the worst ratio, which only
        // grows while the batch is checked.
        let unremarkable = (self.record.worst_dose_ratio * limit.cast_signed() as f64) as u64;
        CachedPage { at, alpha, dull: limit.min(unremarkable) }
    }

    /// Returns whether the dose of a readable page cannot change the verdict.
    #[inline]
    fn is_dull(&self, page: &CachedPage) -> bool {
        self.truth.doses.ceiling(page.at.block, page.alpha) <= page.dull
    }

    #[inline]
    fn read_page(&mut self, read: &PhysRead, page: &CachedPage) {
        let by_host = read.cause == Cause::Host && !read.fill;
        self.books.seen.host_read_pages += u64::from(by_host);
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
        let Some(newest) = self.truth.stamps.newest(read.lpn) else {
            return self.read_for_nobody(read);
        };
        if read.ppn.number() >= self.truth.raw_pages {
            return self.read_off_flash(read, newest);
        }
        let at = page.at;
        let carried = self.truth.medium.settle(at);
        self.books.seen.reads[read.cause as usize] += 1;
        let good = read.result == ReadResult::Good;
        self.books.seen.soft_errors += u64::from(read.retries > 0 || !good);
        if !self.adjusted.is_quiet() || read.result == ReadResult::InMemory {
            self.read_adjusted(read);
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
        if good && self.parity.failures.is_failed(read.ppn) {
            self.findings.add(Kind::Limit, || {
                format!("lpn {} was read at ppn {}, which has failed", read.lpn, read.ppn)
            });
        }
        if good {
            if !self.is_dull(page) {
                self.compare(read, at);
            }
            if carried.tag.is_damaged() {
                self.truth.stamps.recovered(&mut self.truth.medium, at);
            }
        } else if read.result == ReadResult::Uncorrectable {
            self.uncorrectable(read, at, self.truth.doses.stress(&self.truth.medium, at));
        }
        if self.is_full()
            && (read.retries > 0 || self.truth.doses.has_rates() && !self.is_dull(page))
        {
            self.check_retries(read, at);
        }
        if read.retries > 0 {
            let own = self.host.requests.hint;
            let judged = self
                .hints
                .as_mut()
                .map_or(Ok(()), |hints| hints.judge(&self.truth, (read, at), own));
            self.findings.note(Kind::Limit, judged);
        }
        self.sense_all(read, at);
        if good && read.retries > 0 {
            self.truth.doses.decoded(at.block, read.retries);
        }
        let asked = self.deadlines.read(&self.truth, read, at);
        self.findings.note(Kind::Protocol, asked);
    }

    /// Checks that the number of retries of a read follows from dose, age and wear of its page.
    #[cold]
    fn check_retries(&mut self, read: &PhysRead, at: At) {
        if self.parity.failures.is_failed(read.ppn) {
            return;
        }
        if let Some(judged) = self.truth.doses.drawn(&self.truth.medium, at, read) {
            let page = self.truth.place(read.ppn);
            self.findings.note(
                Kind::Limit,
                judged.map_err(|what| format!("a read of lpn {} at {page}: {what}", read.lpn)),
            );
            return;
        }
        let (least, most) = self.truth.doses.retries(&self.truth.medium, at);
        if !(least..=most).contains(&read.retries) {
            let (page, stress) =
                (self.truth.place(read.ppn), self.truth.doses.stress(&self.truth.medium, at));
            self.findings.add(Kind::Limit, || {
                let (of, retries) = (read.cause.name(), read.retries);
                format!(
                    "{of} read of lpn {} at {page} took {retries} retries; it must take \
                         {least} to {most}: {}",
                    read.lpn,
                    words(stress)
                )
            });
        }
    }

    /// Counts the sensing of a page, and one more for each retry.
    #[inline]
    fn sense_all(&mut self, read: &PhysRead, at: At) {
        self.truth.doses.sense(&mut self.truth.medium, at);
        if read.retries > 0 {
            self.books.seen.reads[Cause::Retry as usize] += u64::from(read.retries);
            (0..read.retries).for_each(|_| self.truth.doses.sense(&mut self.truth.medium, at));
        }
    }

    /// Records that the host gets a page or an error.
    #[inline]
    fn serve(&mut self, read: &PhysRead) {
        let served = self.host.requests.read(read.lpn);
        self.findings.note(Kind::Request, served);
        if read.ppn == FROM_BUFFER {
            self.serve_from_memory(read.lpn, read.result == ReadResult::Good);
        }
    }

    /// Compares the dose of a readable page with its limit.
    fn compare(&mut self, read: &PhysRead, at: At) {
        let stress = self.truth.doses.stress(&self.truth.medium, at);
        if self.truth.doses.is_past(at, stress) {
            self.past_limit(read, stress);
        }
        if stress.exceeds(self.record.worst_dose_ratio) {
            self.record.worst_dose_ratio = stress.ratio();
            self.record.record_page(&self.truth, at, self.books.seen.host_read_pages);
        }
    }
}
