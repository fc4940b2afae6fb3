//! Checks a drive without a write buffer. When the next write or trim comes, all data of earlier
//! writes must be on flash.

use vpass_drive::base::units::Lpn;

use crate::oracle::Oracle;
use crate::report::Kind;
use crate::stamps::Tag;

impl Oracle {
    /// Checks memory before the host changes this page.
    pub(crate) fn check_durable(&mut self, next: Lpn) {
        if !self.host.memory.is_unbuffered || !self.host.requests.begins(next) {
            return;
        }
        self.check_nothing_held();
    }

    /// Checks that no host data waits in memory, except parts of pages that are lost with the rest
    /// of the page.
    pub(crate) fn check_nothing_held(&mut self) {
        let stamps = &self.truth.stamps;
        let held =
            self.host.memory.pages().find(|lpn| stamps.newest(*lpn).is_some_and(Tag::is_present));
        if let Some(lpn) = held {
            self.findings.add(Kind::Request, || {
                format!(
                    "a write of lpn {lpn} is complete while the page waits in memory, but there is \
                     no write buffer"
                )
            });
        }
    }
}
