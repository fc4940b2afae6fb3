//! Counts of a life with an accelerated part. During acceleration, each erase stands for K P/E
//! cycles, so the counts of this part are multiplied by K. Pages programmed and blocks erased for
//! wear levelling are not multiplied, because acceleration does not change their number.
//!
//! ```text
//! 40 pages programmed in the warm-up, 100 pages programmed at the end, K = 10:
//! the life has 40 + 10 x (100 - 40) = 640 programs
//! ```

use vpass_drive::base::metrics::HostCounts;
use vpass_drive::base::units::Cause;
use vpass_drive::drive::Drive;

use crate::results::{ByCause, Hints, OfWord, Retries};

/// Counts of a life so far.
#[derive(Clone, Debug)]
pub(super) struct Counts {
    pub(super) programs: ByCause,
    pub(super) erases: ByCause,
    pub(super) host: HostCounts,
    pub(super) lost_pages: u64,
    /// Expected number of lost codewords, and number of bits that the host read. `None` if the
    /// drive has no error rates.
    pub(super) errors: Option<(f64, f64)>,
    pub(super) retries: Option<Retries>,
    pub(super) hints: Option<Hints>,
}

impl Counts {
    /// Returns the counts of a drive so far.
    pub(super) fn of(drive: &Drive) -> Self {
        let flash = drive.flash_counts();
        Self {
            programs: ByCause::from(flash.programs),
            erases: ByCause::from(flash.erases),
            host: *drive.host_counts(),
            lost_pages: drive.lost_pages(),
            errors: errors(drive),
            retries: Retries::of(drive),
            hints: Hints::of(drive),
        }
    }

    #[cfg(test)]
    pub(super) fn none() -> Self {
        let none = ByCause::from([0; Cause::COUNT]);
        let host = HostCounts::default();
        Self {
            programs: none,
            erases: none,
            host,
            lost_pages: 0,
            errors: None,
            retries: None,
            hints: None,
        }
    }

    /// Returns the expected number of lost codewords per bit that the host read.
    pub(super) fn uber(&self) -> Option<f64> {
        let (errors, bits) = self.errors?;
        (bits > 0.0).then(|| errors / bits)
    }

    /// Returns the counts of the whole life. `then` has the counts at the start of acceleration.
    /// Everything counted after the start of acceleration is multiplied by `times`.
    pub(super) fn since(self, then: &Self, times: u32) -> Self {
        let grown = Grown(times.into());
        Self {
            programs: grown.by_cause(&then.programs, &self.programs),
            erases: grown.by_cause(&then.erases, &self.erases),
            host: grown.host(&then.host, &self.host),
            lost_pages: grown.count(then.lost_pages, self.lost_pages),
            errors: grown.errors(then.errors, self.errors),
            retries: self
                .retries
                .zip(then.retries.as_ref())
                .map(|(now, then)| grown.retries(then, &now)),
            hints: self.hints.zip(then.hints).map(|(now, then)| grown.hints(then, now)),
        }
    }
}

/// Returns the expected number of lost codewords, and the number of bits that the host read.
pub(super) fn errors(drive: &Drive) -> Option<(f64, f64)> {
    let bits = drive.host_page_reads() * 8 * u64::from(drive.geometry().page_bytes);
    Some((drive.lost_codewords()?, bits as f64))
}

/// Factor for everything that was counted during acceleration.
#[derive(Clone, Copy)]
pub(super) struct Grown(pub(super) u64);

impl Grown {
    fn count(self, then: u64, now: u64) -> u64 {
        then + self.0 * (now - then)
    }

    /// Returns the expected number of lost codewords in a life, and the number of bits that the
    /// host read.
    pub(super) fn errors(
        self,
        then: Option<(f64, f64)>,
        now: Option<(f64, f64)>,
    ) -> Option<(f64, f64)> {
        let of = |then: f64, now: f64| then + self.0 as f64 * (now - then);
        let ((errors_then, bits_then), (errors, bits)) = then.zip(now)?;
        Some((of(errors_then, errors), of(bits_then, bits)))
    }

    /// Returns the counts of a life, by cause. Counts for wear levelling are not multiplied by K.
    pub(super) fn by_cause(self, then: &ByCause, now: &ByCause) -> ByCause {
        let of = |cause: Cause| {
            let times = if cause == Cause::Wear { Self(1) } else { self };
            times.count(then.of(cause), now.of(cause))
        };
        ByCause::from(Cause::ALL.map(of))
    }

    fn host(self, then: &HostCounts, now: &HostCounts) -> HostCounts {
        let of = |count: fn(&HostCounts) -> u64| self.count(count(then), count(now));
        HostCounts {
            read_requests: of(|host| host.read_requests),
            write_requests: of(|host| host.write_requests),
            trim_requests: of(|host| host.trim_requests),
            read_bytes: of(|host| host.read_bytes),
            write_bytes: of(|host| host.write_bytes),
            read_pages: of(|host| host.read_pages),
            write_pages: of(|host| host.write_pages),
            small_writes: of(|host| host.small_writes),
            trim_pages: of(|host| host.trim_pages),
            unmapped_read_pages: of(|host| host.unmapped_read_pages),
            partial_page_writes: of(|host| host.partial_page_writes),
            fill_reads: of(|host| host.fill_reads),
        }
    }

    fn retries(self, then: &Retries, now: &Retries) -> Retries {
        let histogram: Vec<u64> = then
            .histogram
            .iter()
            .zip(&now.histogram)
            .map(|(then, now)| self.count(*then, *now))
            .collect();
        let reads: u64 = histogram.iter().sum();
        let retries: u64 =
            histogram.iter().enumerate().map(|(level, reads)| level as u64 * reads).sum();
        Retries {
            histogram,
            mean: (reads > 0).then(|| retries as f64 / reads as f64),
            reads_with_retry: self.count(then.reads_with_retry, now.reads_with_retry),
            began_higher: self.count(then.began_higher, now.began_higher),
            budget_raised: now.budget_raised,
        }
    }

    fn hints(self, then: Hints, now: Hints) -> Hints {
        let of = |then: OfWord, now: OfWord| OfWord {
            reads: self.count(then.reads, now.reads),
            missed_budgets: self.count(then.missed_budgets, now.missed_budgets),
            ..now
        };
        Hints {
            smallest: of(then.smallest, now.smallest),
            typical: of(then.typical, now.typical),
            idle: of(then.idle, now.idle),
            ..now
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(programs: [u64; Cause::COUNT], reads: u64, errors: f64, retries: [u64; 3]) -> Counts {
        let with_retry = retries[1] + retries[2];
        Counts {
            programs: ByCause::from(programs),
            erases: ByCause::from([0, 1, 2, 0, 0, 0, 0, 0]),
            host: HostCounts { read_pages: reads, ..HostCounts::default() },
            lost_pages: 0,
            errors: Some((errors, reads as f64)),
            retries: Some(Retries {
                histogram: retries.into(),
                mean: None,
                reads_with_retry: with_retry,
                began_higher: 0,
                budget_raised: 0,
            }),
            hints: None,
        }
    }

    #[test]
    fn accelerated_counts_are_multiplied_and_levelling_counts_once() {
        let of = |gc, wear| {
            let mut by_cause = [0; Cause::COUNT];
            (by_cause[Cause::Gc as usize], by_cause[Cause::Wear as usize]) = (gc, wear);
            by_cause
        };
        let (then, now) = (of(40, 5), of(100, 8));
        let life =
            counts(now, 300, 6.0, [250, 40, 10]).since(&counts(then, 100, 1.0, [100, 0, 0]), 10);
        assert_eq!((life.programs.of(Cause::Gc), life.programs.sum()), (640, 648));
        assert_eq!(
            (life.host.read_pages, life.erases.of(Cause::Gc)),
            (2100, counts(now, 1, 0.0, [0; 3]).erases.of(Cause::Gc))
        );
        assert!((life.uber().unwrap() - 51.0 / 2100.0).abs() < 1e-15);
        let retries = life.retries.unwrap();
        assert_eq!((retries.histogram, retries.reads_with_retry), (vec![1600, 400, 100], 500));
        assert!((retries.mean.unwrap() - 600.0 / 2100.0).abs() < 1e-15);
    }
}
