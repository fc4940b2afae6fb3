//! Attempts to rebuild a page from its stripe, successful or not. The drive reports each attempt
//! before its first input. An attempt must read the stripe of its page, and a page may be rebuilt
//! only by an attempt.

use std::collections::BTreeMap;

use vpass_drive::base::units::Lpn;
use vpass_drive::watch::observer::XorSource;

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

    /// Checks that an input of an attempt belongs to the stripe of its page.
    pub(super) fn check_recovery_source(&mut self, number: u32, source: XorSource) {
        let attempt = self.parity.recoveries.under_way.get(&number).copied();
        let Some((lpn, stripes)) = attempt.zip(self.parity.stripes) else { return };
        let stripe = stripes.of(lpn);
        let (of_stripe, is_itself) = match source {
            XorSource::Partial(of) => (of == stripe, false),
            XorSource::Memory(other) => (stripes.of(other) == stripe, other == lpn),
            XorSource::Page(ppn) => match self.truth.carried(ppn) {
                Some(stamp) if stamp.lpn.number() < stripes.pages() => {
                    (stripes.of(stamp.lpn) == stripe, stamp.lpn == lpn)
                }
                // The XOR is wrong, and is reported as such.
                _ => return,
            },
        };
        if !of_stripe || is_itself {
            self.findings.add(Kind::Protocol, || {
                format!("to rebuild lpn {lpn}, {source:?} is read, which is not of its stripe")
            });
        }
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
