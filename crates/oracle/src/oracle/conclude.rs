//! Starts the counts of the measured phase, and ends a run: compares the drive's reports with the
//! counts since then.

use vpass_drive::base::metrics::HostCounts;
use vpass_drive::drive::Drive;

use crate::addresses;
use crate::books::{DriveBooks, differences};
use crate::oracle::Oracle;
use crate::oracle::claims::Seen;
use crate::oracle::mapping::MapEntry;
use crate::report::{Kind, OracleReport};
use crate::snapshots::DoseRecord;
use crate::time_check::TimeCheck;

impl Oracle {
    /// Checks that all requests so far are served.
    fn end_requests(&mut self) {
        for left in self.requests.end() {
            self.findings.add(Kind::Request, || left);
        }
        if self.is_full() && self.memory.is_unbuffered {
            self.check_nothing_held();
        }
    }

    /// Compares the drive's counts with the oracle's.
    pub fn check_books(&mut self, drive: &DriveBooks) {
        let seen = DriveBooks { mapped_pages: self.stamps.present(), ..self.seen };
        for difference in differences(drive, &seen) {
            self.findings.add(Kind::Books, || difference);
        }
    }

    /// Adds the findings about the drive's times.
    pub fn check_time(&mut self, time: &TimeCheck) {
        self.findings.absorb(time.findings());
    }

    /// Ends a run. Compares the drive's counts and its map with the truth, looks for pages past
    /// their limit that were not read, and returns the verdict.
    pub fn conclude(self, drive: &Drive) -> OracleReport {
        self.conclude_with_doses(drive).0
    }

    /// Ends a run as [`Self::conclude`] does. Returns the record of doses beside the verdict, if
    /// [`Self::record_doses`] asked for it.
    pub fn conclude_with_doses(mut self, drive: &Drive) -> (OracleReport, Option<DoseRecord>) {
        let time = std::mem::replace(&mut self.time, TimeCheck::new(0, 0));
        self.check_time(&time);
        self.end_requests();
        let addresses = std::mem::replace(&mut self.addresses, Ok(()));
        self.findings.note(Kind::Books, addresses);
        self.findings.note(Kind::Books, addresses::check_pool(drive.geometry(), drive.config()));
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
        let aged =
            self.ageing.check(drive.refresh_counts().invocations, drive.now(), drive.oldest_age());
        self.findings.note(Kind::Books, aged);
        self.know_ages(drive.now());
        self.check_causes(drive.lost_by_age(), drive.now());
        self.check_claims(drive);
        self.check_parity(drive.unprotected_stripes(), drive.parity_counts().given_up);
        self.check_window(drive.parity_window(), drive.parity_counts().exposed);
        self.check_failure_books(drive);
        self.check_forming(drive);
        self.check_expected(drive);
        let rows = || {
            drive.all_map_rows().map(|r| MapEntry { lpn: r.lpn, ppn: r.ppn, buffered: r.buffered })
        };
        self.check_blocks(drive.block_states());
        if !self.is_right_since_start(drive) {
            self.check_map(rows, |ppn| drive.owner(ppn), drive.valid_pages(), &drive.whole_pages());
        }
        let doses = self.end_record(drive.now());
        (self.finish(), doses)
    }

    /// Begins the measured phase. Counts begin at 0, and lost data stays lost.
    pub(crate) fn begin_measured_phase(&mut self) {
        self.forget_hint_counts();
        let checked = self
            .start_reads
            .check()
            .and_then(|()| self.start_wear.check())
            .and_then(|()| self.ageing.check_start());
        self.findings.note(Kind::Books, checked);
        self.acceleration.begin_measured_phase();
        self.ageing.begin_measured_phase();
        self.causes.begin_measured_phase();
        self.stamps.end_loading();
        self.check_begun();
        self.end_requests();
        self.density.restart();
        self.openings.restart();
        self.claims = Seen::default();
        self.requests.served = HostCounts::default();
        self.memory.fill_reads = 0;
        self.questions.overtaken = 0;
        self.adjusted.begin_measured_phase();
        self.blame.begin_measured_phase();
        self.written.begin_measured_phase();
        self.parity.begin_measured_phase();
        self.begin_service();
        self.clock.begin_measured_phase();
        self.seen = DriveBooks::default();
        self.uncorrectable_reads = 0;
        self.lost_pages = 0;
        self.was_lost.clear();
        self.worst_dose_ratio = 0.0;
        self.threshold_used = None;
        if let Some(recorder) = &mut self.recorder {
            recorder.begin(&self.geometry);
        }
    }
}
