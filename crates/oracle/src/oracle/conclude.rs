//! Starts the counts of the measured phase, and ends a run: compares the drive's reports with the
//! counts since then.

use vpass_drive::base::metrics::HostCounts;
use vpass_drive::drive::Drive;

use crate::books::{DriveBooks, differences};
use crate::oracle::claims::Seen;
use crate::oracle::{Books, Oracle};
use crate::report::{Kind, OracleReport};
use crate::snapshots::DoseRecord;

impl Oracle {
    /// Checks that all requests so far are served.
    fn end_requests(&mut self) {
        for left in self.host.requests.end() {
            self.findings.add(Kind::Request, || left);
        }
        if self.is_full() && self.host.memory.is_unbuffered {
            self.check_nothing_held();
        }
    }

    /// Compares the drive's counts with the oracle's.
    pub fn check_books(&mut self, drive: &DriveBooks) {
        let seen = DriveBooks { mapped_pages: self.truth.stamps.present(), ..self.books.seen };
        for difference in differences(drive, &seen) {
            self.findings.add(Kind::Books, || difference);
        }
    }

    /// Ends a run. Compares the drive's counts and its map with the truth, looks for pages past
    /// their limit that were not read, and returns the verdict.
    pub fn conclude(self, drive: &Drive) -> OracleReport {
        self.conclude_with_doses(drive).0
    }

    /// Ends a run as [`Self::conclude`] does. Returns the record of doses beside the verdict, if
    /// [`Self::record_doses`] asked for it.
    pub fn conclude_with_doses(mut self, drive: &Drive) -> (OracleReport, Option<DoseRecord>) {
        self.each_check(|check, truth, books, findings| check.end(truth, drive, books, findings));
        if let Some(said) = drive.expected().filter(|_| self.expected.is_none()) {
            self.findings.add(Kind::Books, || {
                format!("the drive reports {said:?}, but parity raises no limits")
            });
        }
        self.end_requests();
        let flash = drive.flash_counts();
        let host = drive.host_counts();
        self.check_books(&DriveBooks {
            reads: flash.reads,
            programs: flash.programs,
            erases: flash.erases,
            reprograms: flash.reprograms,
            soft_errors: flash.soft_errors,
            host_read_pages: host.read_pages,
            host_write_pages: host.write_pages,
            mapped_pages: drive.mapped_pages(),
        });
        self.check_written(drive);
        let refresh = drive.refresh_counts();
        self.check_adjusted(refresh.merged_wordlines, refresh.corrupted_pages);
        self.excuse_what_is_left_alone();
        let aged = self.truth.ages.check(
            drive.refresh_counts().invocations,
            drive.now(),
            drive.oldest_age(),
        );
        self.findings.note(Kind::Books, aged);
        self.truth.know_ages(drive.now());
        self.check_causes(drive.lost_by_age(), drive.now());
        self.check_claims(drive);
        self.check_parity(drive.unprotected_stripes(), drive.parity_counts().given_up);
        self.check_window(drive.parity_window(), drive.parity_counts().exposed);
        self.check_failure_books(drive);
        self.check_forming(drive);
        self.check_blocks(drive.block_states());
        if !self.is_right_since_start(drive) {
            let owner = |ppn| drive.owner(ppn);
            self.check_map(drive.all_map_rows(), owner, &drive.whole_pages());
        }
        let doses = self.end_record(drive.now());
        (self.finish(), doses)
    }

    /// Begins the measured phase. Counts begin at 0, and lost data stays lost.
    pub(crate) fn begin_measured_phase(&mut self) {
        self.truth.cycles.begin_measured_phase();
        self.truth.ages.begin_measured_phase();
        self.check_begun();
        self.end_requests();
        self.host.requests.served = HostCounts::default();
        self.host.memory.fill_reads = 0;
        self.books.begin_measured_phase();
        self.adjusted.begin_measured_phase();
        self.parity.begin_measured_phase();
        self.losses.begin_measured_phase();
        self.record.begin_measured_phase(&self.truth.geometry);
    }
}

impl Books {
    fn begin_measured_phase(&mut self) {
        self.seen = DriveBooks::default();
        self.claims = Seen::default();
        self.written.begin_measured_phase();
        self.density.restart();
    }
}
