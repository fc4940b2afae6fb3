//! Compares other reports of the drive with the oracle's counts: host requests, losses, copies and
//! cleaning by reclaim, and blame.

use vpass_drive::base::metrics::HostCounts;
use vpass_drive::base::units::Cause;
use vpass_drive::config::ProgramUnit;
use vpass_drive::drive::Drive;
use vpass_drive::watch::observer::{NO_OWNER, PhysRead};

use crate::medium::At;
use crate::oracle::Oracle;
use crate::report::Kind;

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
    /// Number of questions to the policy about a block that no job was moving.
    pub(crate) alarms: u64,
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
            self.density.sense(&self.geometry, read.ppn);
        }
        if read.lpn == NO_OWNER {
            return;
        }
        if self.geometry.has_page(read.ppn)
            && self.jobs.contains_key(&self.geometry.block_of(read.ppn))
        {
            let wanted = self.blame.check_wanted(&self.medium, read);
            self.findings.note(Kind::Stamp, wanted);
        }
        if self.geometry.has_page(read.ppn) {
            self.record_page(At::new(&self.geometry, read.ppn));
        }
        if self.geometry.has_page(read.ppn) && self.is_full() {
            self.note_cleaning(self.geometry.block_of(read.ppn), read.cause);
        }
        self.course.moving = read.cause;
        match read.cause {
            Cause::Gc => {}
            Cause::Reclaim => {
                self.claims.reclaim_reads += 1;
                self.claims.cleaned_for_reclaim += std::mem::take(&mut self.course.cleaned);
                self.claims.cleaned_at_most += std::mem::take(&mut self.course.cleaned_for_drive);
            }
            _ => self.course.cleaned = 0,
        }
        if read.cause == Cause::Wear && self.geometry.has_page(read.ppn) && self.is_full() {
            self.wear.level(self.geometry.block_of(read.ppn));
        }
    }

    /// Records that GC or another part erased a block.
    pub(crate) fn cleaned(&mut self, by: Cause) {
        self.course.cleaned += u64::from(by == Cause::Gc);
        self.course.cleaned_for_drive += u64::from(by == Cause::Gc);
    }

    /// Records an action of the host. Blocks that GC erased just before were erased for the host.
    pub(crate) fn host_acts(&mut self) {
        (self.course.cleaned, self.course.cleaned_for_drive) = (0, 0);
        self.accuse_cleaning();
    }

    /// Compares the drive's reports with the oracle's counts.
    pub(crate) fn check_claims(&mut self, drive: &Drive) {
        let (host, reclaim) = (drive.host_counts(), drive.reclaim_counts());
        let seen = self.claims;
        let mut lines = vec![
            ("pages lost", drive.lost_pages(), seen.losses),
            ("host page reads that failed", drive.uncorrectable_reads(), self.uncorrectable_reads),
            ("host reads of pages without data", host.unmapped_read_pages, seen.unmapped_reads),
            ("pages trimmed", host.trim_pages, seen.trimmed_pages),
            ("pages padded", drive.flash_counts().padded_pages, seen.padded_pages),
            ("pages copied by reclaim", reclaim.pages_copied, seen.reclaim_copies),
            ("attempts to rebuild", drive.parity_counts().recoveries, self.parity.recoveries.count),
        ];
        if self.is_full() && self.requests.any {
            lines.extend(host_lines(host, &self.requests.served));
            lines.push(("reads that complete a page", host.fill_reads, self.memory.fill_reads));
        }
        if self.is_full() {
            lines.push(("reclaim jobs", reclaim.invocations, seen.jobs));
            lines.push(("block alarms", reclaim.alarms, seen.alarms));
            lines.push(("overtaken jobs", reclaim.deadline_misses, self.questions.overtaken));
        }
        // With parity, programs of other stripes' parity may come between a cleaning and the
        // reclaim job that needed it. Pages that wait for their wordline hide whether a cleaning
        // was for the host.
        let by_page = drive.config().timing.program_unit == ProgramUnit::Page;
        if !drive.is_timed() && !self.parity.is_on() && by_page {
            lines.push(("blocks cleaned for reclaim", reclaim.gc_erases, seen.cleaned_for_reclaim));
        }
        for (what, claimed, counted) in lines {
            if claimed != counted {
                self.findings.add(Kind::Books, || {
                    format!("the drive reports {claimed} {what}; {counted} were seen")
                });
            }
        }
        if reclaim.gc_erases > seen.cleaned_at_most {
            let (claimed, counted) = (reclaim.gc_erases, seen.cleaned_at_most);
            self.findings.add(Kind::Books, || {
                format!(
                    "the drive reports {claimed} blocks cleaned for reclaim; at most {counted} \
                     were cleaned for it"
                )
            });
        }
        self.findings.absorb(&self.wear.findings);
        let neglect = self.wear.neglect.take().filter(|_| !drive.is_timed());
        self.findings.note(Kind::Books, neglect.map_or(Ok(()), Err));
        let cold = self.wear.cold_to_young.take().filter(|_| !drive.is_timed());
        self.findings.note(Kind::Books, cold.map_or(Ok(()), Err));
        self.check_density(reclaim);
        self.check_openings(reclaim);
        self.check_refusals(reclaim);
        self.findings.note(Kind::Protocol, self.questions.end());
        if self.is_full() && drive.is_timed() {
            self.findings.note(Kind::Books, self.clock.check_stalls(reclaim.stall_ns));
        }
        self.check_blame(drive);
        self.check_hints(drive);
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
