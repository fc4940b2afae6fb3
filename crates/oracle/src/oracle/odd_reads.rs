//! Checks all reads that are not reads of valid data at its place. These are reads from the write
//! buffer, reads without data, probes and undecodable reads. Reads of a wrong page, or of a page
//! past its limit, also belong here.

use vpass_drive::base::units::Cause;
use vpass_drive::watch::observer::{FROM_BUFFER, NO_OWNER, NO_PPN, PhysRead, ReadResult};

use crate::doses::Stress;
use crate::medium::At;
use crate::oracle::Oracle;
use crate::oracle::end_scan::words;
use crate::report::Kind;
use crate::stamps::{Stamp, Tag};

impl Oracle {
    /// Checks a read without a host page. It is right only for a probe, which reads the states of
    /// programmed cells.
    #[cold]
    #[inline(never)]
    pub(crate) fn read_for_nobody(&mut self, read: &PhysRead) {
        if read.lpn != NO_OWNER
            || read.cause == Cause::Host
            || !self.truth.geometry.has_page(read.ppn)
        {
            return self.wrong_page(read, None);
        }
        let at = At::new(&self.truth.geometry, read.ppn);
        if self.truth.medium.stamp(at) == Stamp::ERASED {
            let place = self.truth.place(read.ppn);
            self.findings.add(Kind::Protocol, || {
                format!("{} sensed {place}, which is erased", read.cause.name())
            });
        }
        self.books.seen.reads[read.cause as usize] += 1;
        self.truth.doses.sense(&mut self.truth.medium, at);
        self.deadlines.put_off(at.block, self.truth.doses.of_page(at));
    }

    /// Checks a read that needed no flash page. The write buffer has the newest data, or the page
    /// has no data.
    pub(crate) fn read_off_flash(&mut self, read: &PhysRead, newest: Tag) {
        let good = read.result == ReadResult::Good;
        let lpn = read.lpn;
        let by_host = read.cause == Cause::Host && !read.fill;
        match read.ppn {
            FROM_BUFFER | NO_PPN if !good => {
                self.losses.uncorrectable_reads += u64::from(by_host);
                if !newest.is_lost() {
                    self.findings.add(Kind::FalseLoss, || {
                        format!(
                            "{} read of lpn {lpn} failed, but no flash page was read; it holds {}",
                            read.cause.name(),
                            newest.words()
                        )
                    });
                }
            }
            FROM_BUFFER if newest.is_present() && self.is_newest_in_memory(lpn) => {}
            // The rest of a partly written page was never written or is lost, so there is no page
            // to read.
            NO_PPN if read.fill || !(newest.is_present() || newest.is_lost()) => {
                self.books.claims.unmapped_reads += u64::from(by_host)
            }
            _ => self.wrong_page(read, Some(newest)),
        }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn wrong_page(&mut self, read: &PhysRead, newest: Option<Tag>) {
        let &PhysRead { lpn, ppn, cause, .. } = read;
        let holds = newest.map_or_else(
            || "it is beyond the host's capacity".into(),
            |tag| format!("it holds {}", tag.words()),
        );
        let found = match ppn {
            FROM_BUFFER => "was served from the write buffer".into(),
            NO_PPN => "was served as unmapped".into(),
            _ => match self.truth.carried(ppn) {
                Some(carried) => {
                    format!("went to {}, which carries {}", self.truth.place(ppn), carried.words())
                }
                None => format!("went to ppn {ppn}, which is beyond the flash"),
            },
        };
        self.findings
            .add(Kind::Stamp, || format!("{} read of lpn {lpn} {found}; {holds}", cause.name()));
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn past_limit(&mut self, read: &PhysRead, stress: Stress) {
        let place = self.truth.place(read.ppn);
        self.findings.add(Kind::Limit, || {
            format!(
                "{} read used lpn {} past its limit at {place}: {}",
                read.cause.name(),
                read.lpn,
                words(stress)
            )
        });
    }

    /// Checks a flash page that the drive could not decode.
    #[cold]
    #[inline(never)]
    pub(crate) fn uncorrectable(&mut self, read: &PhysRead, at: At, stress: Stress) {
        self.losses.uncorrectable_reads += u64::from(read.cause == Cause::Host && !read.fill);
        if !self.parity.failures.is_failed(read.ppn)
            && !self.truth.doses.may_be_lost(&self.truth.medium, at, stress)
        {
            let place = self.truth.place(read.ppn);
            self.findings.add(Kind::FalseLoss, || {
                format!(
                    "{} read of lpn {} was reported uncorrectable at {place}: {}",
                    read.cause.name(),
                    read.lpn,
                    words(stress)
                )
            });
        }
        self.truth.stamps.failed(&mut self.truth.medium, at, read.lpn, read.cause != Cause::Parity);
        self.note_failed(read.lpn, at);
    }
}
