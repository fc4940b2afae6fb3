//! Attempts to rebuild a page from its stripe, successful or not. The drive reports each attempt
//! before its first input. A page may be rebuilt only by an attempt.

use std::collections::BTreeMap;

use vpass_drive::base::units::Lpn;

use crate::oracle::Oracle;
use crate::report::Kind;

/// Attempts of the measured phase.
#[derive(Debug, Default)]
pub(crate) struct Recoveries {
    /// Number of attempts.
    pub(crate) count: u64,
    /// Page of each attempt since the host's last action, by the number of its XOR.
    pub(super) under_way: BTreeMap<u32, Lpn>,
}

impl Oracle {
    /// Records that the drive begins to rebuild a page.
    pub(crate) fn recovers(&mut self, lpn: Lpn, number: u32) {
        self.parity.recoveries.count += 1;
        self.parity.recoveries.under_way.insert(number, lpn);
    }

    /// Checks that the XOR which becomes the data of a page was reported as an attempt to rebuild
    /// it.
    pub(super) fn check_is_recovery(&mut self, lpn: Lpn, number: u32) {
        if self.parity.recoveries.under_way.get(&number) != Some(&lpn) {
            self.findings.add(Kind::Protocol, || {
                format!("lpn {lpn} is rebuilt by XOR {number}, which was not reported as a rebuild")
            });
        }
    }
}
