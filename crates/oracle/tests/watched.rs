//! Small drives under the oracle.

use vpass_drive::base::request::RequestSource;
use vpass_drive::config::DriveConfig;
use vpass_drive::drive::{Drive, Techniques};
use vpass_drive::time::{Replay, run_untimed};
use vpass_oracle::{Oracle, OracleReport};
use vpass_techniques::{card, resolve, usual};

pub(crate) fn config(text: &str) -> DriveConfig {
    resolve(toml::from_str::<DriveConfig>(text).unwrap()).unwrap()
}

/// Returns a filled drive of a reclaim technique, in the measured phase.
pub(crate) fn drive(text: &str, reclaim: &str, timed: bool) -> Drive {
    let techniques = Techniques { reclaim: card(reclaim), ..usual() };
    filled(Drive::new(config(text), &techniques, timed).unwrap())
}

/// Returns a new drive under the oracle, filled and in the measured phase.
pub(crate) fn filled(mut drive: Drive) -> Drive {
    drive.observe(Box::new(Oracle::new(drive.geometry(), drive.config())));
    drive.precondition(1);
    drive.begin_measurement();
    drive
}

pub(crate) fn serve(drive: &mut Drive, timed: bool, host: &mut impl RequestSource) {
    let served = if timed {
        Replay::new(drive).run(drive, host, &mut |_, _| true)
    } else {
        run_untimed(drive, host, &mut |_, _| true)
    };
    served.unwrap();
}

/// Ends a case. The oracle must find no error.
pub(crate) fn end(drive: &mut Drive, case: &str) -> OracleReport {
    drive.report_unread_losses();
    let report = drive.end_observation_of::<Oracle>().unwrap().conclude(drive);
    assert!(!report.is_bug(), "{case}: {:?}", report.findings);
    report
}

/// Ends a case in which no page may be lost.
pub(crate) fn end_without_loss(drive: &mut Drive, case: &str) -> OracleReport {
    let report = end(drive, case);
    assert_eq!((report.lost_pages, report.uncorrectable_reads), (0, 0), "{case}");
    report
}

/// Knuth's multiplicative generator.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, number: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % number
    }
}
