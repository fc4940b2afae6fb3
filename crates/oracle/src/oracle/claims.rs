//! Compares other reports of the drive with the oracle's counts: host requests, losses, copies and
//! cleaning by reclaim, and the ranges that caused the copies.

use vpass_drive::base::metrics::HostCounts;
use vpass_drive::base::units::Cause;
use vpass_drive::config::ProgramUnit;
use vpass_drive::drive::Drive;
use vpass_drive::watch::observer::{NO_OWNER, PhysRead};

use crate::medium::At;
use crate::oracle::Oracle;
use crate::report::Kind;
use crate::stamps::Stamp;

/// Counts since the measured phase began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// Host reads of pages without data.
    pub(crate) unmapped_reads: u64,
    /// Reported losses. A page counts again if it was written in between.
    pub(crate) losses: u64,
    pub(crate) trimmed_pages: u64,
    pub(crate) padded_pages: u64,
    /// Reclaim jobs that began.
    pub(crate) jobs: u64,
    /// Pages that reclaim read for a move, and pages that it copied.
    pub(crate) reclaim_reads: u64,
    pub(crate) reclaim_copies: u64,
    /// Blocks that GC erased just before reclaim continued, and their largest possible number if
    /// wear levelling may have come between.
    pub(crate) cleaned_for_reclaim: u64,
    cleaned_at_most: u64,
}

/// Events so far, also from before the measured phase.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Course {
    /// Cause of the last read by a mover.
    pub(crate) moving: Cause,
    /// Blocks that GC erased since the last action of any other part.
    cleaned: u64,
    /// Blocks that GC erased since the host's last action.
    cleaned_for_drive: u64,
}

impl Default for Course {
    fn default() -> Self {
        Self { moving: Cause::Gc, cleaned: 0, cleaned_for_drive: 0 }
    }
}

impl Oracle {
    /// Records that a mover reads a page.
    #[cold]
    #[inline(never)]
    pub(crate) fn mover_reads(&mut self, read: &PhysRead) {
        if read.cause != Cause::Parity {
            // A page that is rebuilt meanwhile lies elsewhere, as do the pages that the rebuild
            // reads.
            self.books.density.sense(&self.truth.geometry, read.ppn);
        }
        if read.lpn == NO_OWNER {
            return;
        }
        if self.truth.geometry.has_page(read.ppn)
            && self.truth.jobs.contains_key(&self.truth.geometry.block_of(read.ppn))
        {
            self.check_wanted(read);
        }
        if self.truth.geometry.has_page(read.ppn) {
            let at = At::new(&self.truth.geometry, read.ppn);
            self.record.record_page(&self.truth, at, self.books.seen.host_read_pages);
        }
        self.books.course.moving = read.cause;
        match read.cause {
            Cause::Gc => {}
            Cause::Reclaim => {
                self.books.claims.reclaim_reads += 1;
                self.books.claims.cleaned_for_reclaim +=
                    std::mem::take(&mut self.books.course.cleaned);
                self.books.claims.cleaned_at_most +=
                    std::mem::take(&mut self.books.course.cleaned_for_drive);
            }
            _ => self.books.course.cleaned = 0,
        }
    }

    /// Checks a page that a job reads for a move. Its data must not have a newer version elsewhere.
    /// With parity, a job may copy an old version that parity still needs. The drive decides which
    /// lost pages it moves.
    fn check_wanted(&mut self, read: &PhysRead) {
        let is_known = !self.parity.is_on() && !self.truth.stamps.any_was_lost();
        let is_old = |stamp: Stamp| stamp.lpn == read.lpn && !self.truth.stamps.is_live(stamp);
        if is_known
            && self.truth.carried(read.ppn).is_some_and(is_old)
            && !self.truth.stamps.is_partly_written(read.lpn)
        {
            self.findings.add(Kind::Stamp, || {
                format!(
                    "{} reads lpn {} at ppn {} to move it, but the page there is invalid",
                    read.cause.name(),
                    read.lpn,
                    read.ppn
                )
            });
        }
    }

    /// Checks the ranges of addresses whose reads caused copies, by the number of copies.
    fn check_blame(&mut self, drive: &Drive) {
        let (mut copies, mut end) = (0.0, 0);
        let mut is_wrong = false;
        for range in drive.blamed_ranges() {
            is_wrong |= range.copies < 0.0 || range.first.number() < end || range.pages == 0;
            end = range.first.number() + range.pages;
            copies += range.copies;
        }
        let moved = self.books.claims.reclaim_reads as f64;
        is_wrong |= end > self.truth.geometry.host_pages;
        is_wrong |= !drive.is_timed() && copies > moved * (1.0 + 1e-9) + 1e-6;
        if is_wrong {
            self.findings.add(Kind::Books, || {
                format!(
                    "the drive attributes {copies:.3} of {moved} reclaim copies to ranges up to \
                     page {end}, which overlap or are too many"
                )
            });
        }
    }

    /// Records that GC or another part erased a block.
    pub(crate) fn cleaned(&mut self, by: Cause) {
        self.books.course.cleaned += u64::from(by == Cause::Gc);
        self.books.course.cleaned_for_drive += u64::from(by == Cause::Gc);
    }

    /// Records an action of the host. Blocks that GC erased just before were erased for the host.
    pub(crate) fn host_acts(&mut self) {
        (self.books.course.cleaned, self.books.course.cleaned_for_drive) = (0, 0);
    }

    /// Compares the drive's reports with the oracle's counts.
    pub(crate) fn check_claims(&mut self, drive: &Drive) {
        let (host, reclaim) = (drive.host_counts(), drive.reclaim_counts());
        let seen = self.books.claims;
        let mut lines = vec![
            ("pages lost", drive.lost_pages(), seen.losses),
            (
                "host page reads that failed",
                drive.uncorrectable_reads(),
                self.losses.uncorrectable_reads,
            ),
            ("host reads of pages without data", host.unmapped_read_pages, seen.unmapped_reads),
            ("pages trimmed", host.trim_pages, seen.trimmed_pages),
            ("pages padded", drive.flash_counts().padded_pages, seen.padded_pages),
            ("pages copied by reclaim", reclaim.pages_copied, seen.reclaim_copies),
            ("attempts to rebuild", drive.parity_counts().recoveries, self.parity.recoveries.count),
        ];
        if self.is_full() && self.host.requests.any {
            lines.extend(host_lines(host, &self.host.requests.served));
            lines.push((
                "reads that complete a page",
                host.fill_reads,
                self.host.memory.fill_reads,
            ));
        }
        if self.is_full() {
            lines.push(("reclaim jobs", reclaim.invocations, seen.jobs));
        }
        // With parity, programs of other stripes' parity may come between a cleaning and the
        // reclaim job that needed it. Pages that wait for their wordline hide whether a cleaning
        // was for the host.
        let by_page = drive.config().timing.program_unit == ProgramUnit::Page;
        if !drive.is_timed() && !self.parity.is_on() && by_page {
            lines.push(("blocks cleaned for reclaim", reclaim.gc_erases, seen.cleaned_for_reclaim));
        }
        self.findings.compare(&lines);
        if reclaim.gc_erases > seen.cleaned_at_most {
            let (claimed, counted) = (reclaim.gc_erases, seen.cleaned_at_most);
            self.findings.add(Kind::Books, || {
                format!(
                    "the drive reports {claimed} blocks cleaned for reclaim; at most {counted} \
                     were cleaned for it"
                )
            });
        }
        self.check_density(reclaim);
        self.check_blame(drive);
    }
}

fn host_lines(drive: &HostCounts, seen: &HostCounts) -> [(&'static str, u64, u64); 9] {
    [
        ("read requests", drive.read_requests, seen.read_requests),
        ("write requests", drive.write_requests, seen.write_requests),
        ("trim requests", drive.trim_requests, seen.trim_requests),
        ("bytes read", drive.read_bytes, seen.read_bytes),
        ("bytes written", drive.write_bytes, seen.write_bytes),
        ("writes smaller than a page", drive.small_writes, seen.small_writes),
        ("pages read", drive.read_pages, seen.read_pages),
        ("pages written", drive.write_pages, seen.write_pages),
        ("pages written in part", drive.partial_page_writes, seen.partial_page_writes),
    ]
}
