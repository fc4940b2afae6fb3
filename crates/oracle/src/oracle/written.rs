//! Why flash was written: each program under one reason, found from what is programmed where, and
//! from the job that moves it. The drive counts programs by the cause that it gives them.
//!
//! ```text
//! host data out of the buffer                                the host
//! a copy                                                     the job that moves the block it came from
//! the XOR of a stripe, of a page of parity                   parity; under a job, that job
//! the XOR of a stripe, of a page of the host                 read recovery; under a job, that job
//! a page without data                                        the cause that the drive gives
//! ```

use std::collections::BTreeMap;

use vpass_drive::base::units::{Cause, Lpn, Ppn};
use vpass_drive::base::written::Reason;
use vpass_drive::drive::Drive;
use vpass_drive::watch::observer::{NO_PPN, Origin};

use crate::oracle::Oracle;
use crate::report::Kind;

/// Programs of the measured phase.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written {
    by_reason: [u64; Reason::COUNT],
    /// Causes of the jobs that copies in the controller's memory come from.
    gathered: BTreeMap<Lpn, Cause>,
}

/// Reason of what is programmed for a cause, unless it is rebuilt.
fn reason_of(cause: Cause) -> Reason {
    match cause {
        Cause::Host => Reason::Host,
        Cause::Reclaim => Reason::ReadDisturb,
        Cause::Refresh => Reason::Retention,
        Cause::Wear => Reason::WearLeveling,
        Cause::Retry => Reason::ReadRecovery,
        Cause::Gc | Cause::Hint => Reason::GarbageCollection,
        Cause::Parity => Reason::Parity,
    }
}

impl Oracle {
    /// A copy waits in the controller's memory.
    pub(crate) fn note_gathered(&mut self, lpn: Lpn, from: Ppn) {
        if let Some(cause) = self.mover_of(from) {
            self.books.written.gathered.insert(lpn, cause);
        }
    }

    /// A page is programmed. Called while the books still know where its data lay.
    pub(crate) fn note_written(&mut self, lpn: Lpn, origin: Origin, cause: Cause) {
        let is_rebuilt = matches!(origin, Origin::Xor(_));
        let mover = match origin {
            Origin::Host => {
                // Newer data has taken the place of a copy that waited.
                self.books.written.gathered.remove(&lpn);
                Some(Cause::Host)
            }
            Origin::Copy(from) => self.mover_of(from),
            Origin::Gathered => self.books.written.gathered.remove(&lpn),
            Origin::Xor(_) if cause == Cause::Parity => None,
            Origin::Xor(_) => self.parity.place_of(lpn).and_then(|from| self.mover_of(from)),
        };
        if let Some(right) = mover.filter(|right| *right != cause) {
            self.findings.add(Kind::Books, || {
                let (said, right) = (cause.name(), right.name());
                format!("lpn {lpn} is programmed for {said}; what moves it is for {right}")
            });
        }
        let cause = mover.unwrap_or(cause);
        let is_of_host = lpn.number() < self.truth.geometry.host_pages;
        let reason = if is_rebuilt && cause == Cause::Parity && is_of_host {
            Reason::ReadRecovery
        } else {
            reason_of(cause)
        };
        self.books.written.by_reason[reason as usize] += 1;
    }

    /// A page without data is programmed.
    pub(crate) fn note_padding(&mut self, cause: Cause) {
        self.books.written.by_reason[reason_of(cause) as usize] += 1;
    }

    /// Cause of the job that moves the block of a page; `None` if jobs are not known.
    fn mover_of(&self, from: Ppn) -> Option<Cause> {
        if from == NO_PPN || !self.truth.geometry.has_page(from) {
            return None;
        }
        self.cause_of_job(self.truth.geometry.block_of(from))
    }

    /// Compares the reasons with those that the drive reports, and their sum with all programs.
    pub(crate) fn check_written(&mut self, drive: &Drive) {
        let (claimed, seen) = (drive.flash_counts().by_reason(), self.books.written.by_reason);
        let all = (claimed.iter().sum(), self.books.seen.programs.iter().sum());
        let lines = Reason::ALL.into_iter().zip(claimed).zip(seen);
        for ((reason, claimed), seen) in lines {
            let what = format!("pages written for {}", reason.name());
            self.findings.compare(&[(&what, claimed, seen)]);
        }
        self.findings.compare(&[("pages written for all reasons", all.0, all.1)]);
    }
}

impl Written {
    /// Forgets the programs before the measured phase.
    pub(crate) fn begin_measured_phase(&mut self) {
        self.by_reason = [0; Reason::COUNT];
    }
}
