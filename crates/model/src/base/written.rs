//! Why flash was written, in the terms of the SMART statistics of the OCP Datacenter `NVMe` SSD
//! Specification: each program of a page has exactly one of these reasons.
//!
//! ```text
//! causes of programs                                 reason
//! host                                               Host
//! reclaim                                            ReadDisturb
//! refresh                                            Retention
//! wear                                               WearLeveling
//! retry, and parity that holds data of the host      ReadRecovery
//! gc, hint                                           GarbageCollection
//! the rest of parity                                 Parity
//! ```

use crate::base::metrics::FlashCounts;
use crate::base::named::named;
use crate::base::units::Cause;

named! {
    /// Reason of a program.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Reason {
        /// The host wrote the page.
        Host = "the host",
        /// The page moved because of reads.
        ReadDisturb = "read disturb",
        /// The page moved because of its age.
        Retention = "retention",
        /// The page moved to level wear.
        WearLeveling = "wear leveling",
        /// The page could not be read, and was rebuilt and written elsewhere.
        ReadRecovery = "read recovery",
        /// The page moved so that its block could be erased, or so that it lies among its own.
        GarbageCollection = "garbage collection",
        /// The page holds the parity of a stripe.
        Parity = "parity",
    }
}

impl FlashCounts {
    /// Returns the number of programmed pages for each reason.
    pub fn by_reason(&self) -> [u64; Reason::COUNT] {
        let mut pages = [0; Reason::COUNT];
        for (cause, programs) in Cause::ALL.into_iter().zip(self.programs) {
            let reason = match cause {
                Cause::Host => Reason::Host,
                Cause::Reclaim => Reason::ReadDisturb,
                Cause::Refresh => Reason::Retention,
                Cause::Wear => Reason::WearLeveling,
                Cause::Retry => Reason::ReadRecovery,
                Cause::Gc | Cause::Hint => Reason::GarbageCollection,
                Cause::Parity => Reason::Parity,
            };
            pages[reason as usize] += programs;
        }
        pages[Reason::Parity as usize] -= self.recovered_pages;
        pages[Reason::ReadRecovery as usize] += self.recovered_pages;
        pages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_program_has_one_reason() {
        // Host, GC, reclaim, refresh, wear, parity, retry and hint: a power of two each.
        let programs = [1, 2, 4, 8, 16, 32, 64, 128];
        let counts = FlashCounts { programs, recovered_pages: 5, ..FlashCounts::default() };
        assert_eq!(counts.by_reason(), [1, 4, 8, 16, 64 + 5, 2 + 128, 32 - 5]);
        assert_eq!(counts.by_reason().iter().sum::<u64>(), 255);
    }
}
