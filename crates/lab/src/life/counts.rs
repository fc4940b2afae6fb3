//! Counts of a life that is simulated in stretches. What a stretch counts is multiplied by the
//! weight of the stretch.
//!
//! ```text
//! 40 pages programmed in the warm-up, 100 pages programmed at the end, a weight of 10:
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

    /// Returns the expected number of lost codewords per bit that the host read.
    pub(super) fn uber(&self) -> Option<f64> {
        let (errors, bits) = self.errors?;
        (bits > 0.0).then(|| errors / bits)
    }
}

/// Returns the expected number of lost codewords, and the number of bits that the host read.
pub(super) fn errors(drive: &Drive) -> Option<(f64, f64)> {
    let bits = drive.host_page_reads() * 8 * u64::from(drive.geometry().page_bytes);
    Some((drive.lost_codewords()?, bits as f64))
}

/// Weight of a stretch of a life.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weight {
    /// Weight of times and counts.
    pub(super) life: f64,
    /// Weight of P/E cycles, and of programs and erases for wear levelling.
    pub(super) erases: f64,
}

impl Weight {
    /// Returns the counts of a life. The life had the counts `before` when the stretch began. The
    /// drive had the counts `from` when the stretch began, and has the counts `now`.
    pub(super) fn add(self, before: &Counts, from: &Counts, now: Counts) -> Counts {
        Counts {
            programs: self.by_cause(&before.programs, &from.programs, &now.programs),
            erases: self.by_cause(&before.erases, &from.erases, &now.erases),
            host: self.host(&before.host, &from.host, &now.host),
            // A loss between two windows is a loss, too.
            lost_pages: Self { life: self.life.max(1.0), ..self }.count(
                before.lost_pages,
                from.lost_pages,
                now.lost_pages,
            ),
            errors: self.errors(before.errors, from.errors, now.errors),
            retries: self.retries(before.retries.as_ref(), from.retries.as_ref(), now.retries),
            hints: self.hints(before.hints, from.hints, now.hints),
        }
    }

    fn count(self, before: u64, from: u64, now: u64) -> u64 {
        before + (self.life * (now - from) as f64).round() as u64
    }

    /// Returns the expected number of lost codewords in a life, and the number of bits that the
    /// host read.
    pub(super) fn errors(
        self,
        before: Option<(f64, f64)>,
        from: Option<(f64, f64)>,
        now: Option<(f64, f64)>,
    ) -> Option<(f64, f64)> {
        let ((before, from), now) = before.zip(from).zip(now)?;
        let of = |before: f64, from: f64, now: f64| before + self.life * (now - from);
        Some((of(before.0, from.0, now.0), of(before.1, from.1, now.1)))
    }

    /// Returns the counts of a life, by cause.
    pub(super) fn by_cause(self, before: &ByCause, from: &ByCause, now: &ByCause) -> ByCause {
        let of = |cause: Cause| {
            let levels = cause == Cause::Wear;
            let weight = if levels { Self { life: self.erases, ..self } } else { self };
            weight.count(before.of(cause), from.of(cause), now.of(cause))
        };
        ByCause::from(Cause::ALL.map(of))
    }

    fn host(self, before: &HostCounts, from: &HostCounts, now: &HostCounts) -> HostCounts {
        let of = |count: fn(&HostCounts) -> u64| self.count(count(before), count(from), count(now));
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

    fn retries(
        self,
        before: Option<&Retries>,
        from: Option<&Retries>,
        now: Option<Retries>,
    ) -> Option<Retries> {
        let ((before, from), now) = before.zip(from).zip(now)?;
        let of = |level: usize| {
            let at = |retries: &Retries| retries.histogram[level];
            self.count(at(before), at(from), at(&now))
        };
        let histogram: Vec<u64> = (0..now.histogram.len()).map(of).collect();
        let reads: u64 = histogram.iter().sum();
        let retries: u64 =
            histogram.iter().enumerate().map(|(level, reads)| level as u64 * reads).sum();
        let of = |count: fn(&Retries) -> u64| self.count(count(before), count(from), count(&now));
        Some(Retries {
            mean: (reads > 0).then(|| retries as f64 / reads as f64),
            reads_with_retry: of(|retries| retries.reads_with_retry),
            began_higher: of(|retries| retries.began_higher),
            budget_raised: now.budget_raised,
            histogram,
        })
    }

    fn hints(
        self,
        before: Option<Hints>,
        from: Option<Hints>,
        now: Option<Hints>,
    ) -> Option<Hints> {
        let ((before, from), now) = before.zip(from).zip(now)?;
        let of = |before: OfWord, from: OfWord, now: OfWord| OfWord {
            reads: self.count(before.reads, from.reads, now.reads),
            missed_budgets: self.count(
                before.missed_budgets,
                from.missed_budgets,
                now.missed_budgets,
            ),
            ..now
        };
        Some(Hints {
            smallest: of(before.smallest, from.smallest, now.smallest),
            typical: of(before.typical, from.typical, now.typical),
            idle: of(before.idle, from.idle, now.idle),
            ..now
        })
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
    fn counts_of_a_stretch_are_multiplied_by_its_weight() {
        let of = |gc, wear| {
            let mut by_cause = [0; Cause::COUNT];
            (by_cause[Cause::Gc as usize], by_cause[Cause::Wear as usize]) = (gc, wear);
            by_cause
        };
        let then = counts(of(40, 5), 100, 1.0, [100, 0, 0]);
        let now = || counts(of(100, 8), 300, 6.0, [250, 40, 10]);
        let life = Weight { life: 10.0, erases: 10.0 }.add(&then, &then, now());
        assert_eq!((life.programs.of(Cause::Gc), life.programs.sum()), (640, 675));
        assert_eq!(
            (life.host.read_pages, life.erases.of(Cause::Gc)),
            (2100, now().erases.of(Cause::Gc))
        );
        assert!((life.uber().unwrap() - 51.0 / 2100.0).abs() < 1e-15);
        let retries = life.retries.unwrap();
        assert_eq!((retries.histogram, retries.reads_with_retry), (vec![1600, 400, 100], 500));
        assert!((retries.mean.unwrap() - 600.0 / 2100.0).abs() < 1e-15);
        // With `wear.acceleration`, an erase for wear levelling stands for itself.
        let of_drive = Weight { life: 10.0, erases: 1.0 }.add(&then, &then, now());
        assert_eq!((of_drive.programs.of(Cause::Gc), of_drive.programs.sum()), (640, 648));
        // A stretch that does not count still shows that data was lost.
        let lost = Counts { lost_pages: 3, ..now() };
        let between = Weight { life: 0.0, erases: 0.0 }.add(&then, &then, lost);
        assert_eq!((between.lost_pages, between.programs.sum()), (3, then.programs.sum()));
    }
}
