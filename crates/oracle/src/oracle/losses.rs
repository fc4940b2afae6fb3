//! Losses of host pages, by cause: age, reads, or chance if retries are random. The drive counts the
//! losses by age, and the oracle counts them from its own ages and limits.
//!
//! ```text
//! by age    older than data may become, or so old that the last retry fails without any read
//! unknown   within rounding of a limit, or in the step of age in which data becomes too old,
//!           because the drive reports the time once a step
//! ```

use std::collections::{BTreeMap, BTreeSet};

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Lpn, Ns};
use vpass_drive::config::DriveConfig;

use crate::bits::Bits;
use crate::medium::At;
use crate::oracle::Oracle;
use crate::report::Kind;
use crate::stamps::{Loss, Stamp};
use crate::truth::Truth;

/// Reason why a page cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Why {
    /// Whether age certainly caused the loss, and whether it may have caused it.
    by_age: (bool, bool),
    /// Whether no technique guarantees this data: it may be too old, or its block is not recycled
    /// because parity protects it.
    not_promised: bool,
}

impl Why {
    const UNKNOWN: Self = Self { by_age: (false, true), not_promised: true };
}

/// Numbers of losses by cause.
#[derive(Clone, Copy, Debug, Default)]
struct Causes {
    /// Smallest and largest possible number of losses by age in the measured phase.
    by_age: (u64, u64),
    /// Number of losses without a guarantee, since the start.
    not_promised: u64,
}

impl Causes {
    fn add(&mut self, why: Why) {
        let (least, most) = self.by_age;
        self.by_age = (least + u64::from(why.by_age.0), most + u64::from(why.by_age.1));
        self.not_promised += u64::from(why.not_promised);
    }
}

/// Losses that the drive reported.
#[derive(Debug)]
pub(crate) struct Losses {
    /// Age up to which data is kept. `None` if data does not age.
    longest: Option<Ns>,
    causes: Causes,
    /// Host pages that could not be read, each with the reason at the last attempt.
    failed: BTreeMap<Lpn, Why>,
    /// Losses that were reported without a read that showed them. A page past its limit must
    /// explain each of them.
    pub(crate) unseen: BTreeSet<Stamp>,
    /// Host reads that the drive answered with an error, and different lost pages, since the
    /// measured phase began.
    pub(crate) uncorrectable_reads: u64,
    pub(crate) pages: u64,
    was_lost: Bits,
}

impl Losses {
    pub(crate) fn new(geometry: &Geometry, config: &DriveConfig) -> Self {
        Self {
            longest: config.keeps_time().then(|| config.longest_age().0),
            causes: Causes::default(),
            failed: BTreeMap::new(),
            unseen: BTreeSet::new(),
            uncorrectable_reads: 0,
            pages: 0,
            was_lost: Bits::none_of(geometry.host_pages),
        }
    }

    pub(crate) fn begin_measured_phase(&mut self) {
        self.causes.by_age = (0, 0);
        (self.uncorrectable_reads, self.pages) = (0, 0);
        self.was_lost.clear();
    }
}

impl Oracle {
    /// Handles the drive's report that a page is lost.
    pub(crate) fn loss(&mut self, lpn: Lpn) -> Result<(), String> {
        self.know_stripe_of(lpn);
        let was_rest_lost = self.has_lost_rest(lpn);
        let by_failure = self.explain_by_failure(lpn);
        match self.truth.stamps.lost(lpn)? {
            Loss::Absent => {
                return Err(format!("lpn {lpn} was reported lost, but it holds no data"));
            }
            Loss::Again => return Ok(()),
            // No technique guarantees pages on failed flash, whatever their age.
            Loss::Seen | Loss::Unseen(_) if by_failure => {
                self.losses.failed.remove(&lpn);
                self.losses.causes.not_promised += 1;
            }
            Loss::Unseen(stamp) if !was_rest_lost => {
                self.losses.unseen.insert(stamp);
            }
            Loss::Seen | Loss::Unseen(_) => {
                let why = self.losses.failed.remove(&lpn).unwrap_or(Why::UNKNOWN);
                self.losses.causes.add(why);
            }
        }
        self.books.claims.losses += 1;
        self.losses.pages += u64::from(self.losses.was_lost.insert(lpn));
        Ok(())
    }

    /// Returns why a page cannot be read, at this time or at the last time that the drive reported.
    fn why(&self, at: At, now: Option<Ns>) -> Why {
        let is_left_alone = self.is_left_alone(at.block);
        let Some(longest) = self.losses.longest.filter(|_| self.truth.doses.has_rates()) else {
            return Why { not_promised: is_left_alone, ..Why::default() };
        };
        let age = self.truth.ages.age(at.block, now);
        let step_of = |age| self.truth.ages.steps.step(age);
        let is_too_old = age > longest;
        let may_be_too_old = is_too_old || now.is_none() && step_of(age) == step_of(longest);
        let (is_spoilt, may_be_spoilt) = self.truth.doses.is_spoilt_by_age(at);
        Why {
            by_age: (is_too_old || is_spoilt, may_be_too_old || may_be_spoilt),
            not_promised: may_be_too_old || is_left_alone,
        }
    }

    /// Records that a page could not be read.
    pub(crate) fn note_failed(&mut self, lpn: Lpn, at: At) {
        let why = self.why(at, None);
        self.losses.failed.insert(lpn, why);
    }

    /// Returns the causes of all losses, including losses that were not read and are still on
    /// flash.
    fn causes_by(&mut self, now: Ns) -> Causes {
        self.truth.know_ages(now);
        let (mut causes, mut unseen) = (self.losses.causes, self.losses.unseen.clone());
        for block in self.truth.geometry.block_ids() {
            let mut add = |at| causes.add(self.why(at, Some(now)));
            self.truth.explain_losses(block, &mut unseen, &mut add);
        }
        causes
    }

    /// Returns the number of losses without a guarantee since the start. The data may have been too
    /// old, or in blocks that are not recycled.
    pub(crate) fn losses_not_promised(&mut self, now: Ns) -> u64 {
        self.causes_by(now).not_promised
    }

    /// Compares the drive's losses by age with the oracle's.
    pub(crate) fn check_causes(&mut self, lost_by_age: u64, now: Ns) {
        let (least, most) = self.causes_by(now).by_age;
        if !(least..=most).contains(&lost_by_age) {
            self.findings.add(Kind::Books, || {
                format!(
                    "the drive reports {lost_by_age} pages lost by age; {least} to {most} were seen"
                )
            });
        }
    }

    /// Settles the unread losses that this block explains, before the block changes.
    pub(crate) fn settle_block(&mut self, block: BlockId) {
        let Losses { unseen, causes, .. } = &mut self.losses;
        self.truth.explain_losses(block, unseen, &mut |_| causes.add(Why::UNKNOWN));
    }
}

impl Truth {
    /// Removes the reported losses that this block explains. A loss is explained if a page with the
    /// lost data is past its limit, or within rounding of it. `found` receives the page.
    pub(crate) fn explain_losses(
        &self,
        block: BlockId,
        unseen: &mut BTreeSet<Stamp>,
        found: &mut dyn FnMut(At),
    ) {
        if unseen.is_empty() {
            return;
        }
        let first = self.geometry.first_wordline(block);
        self.each_wordline(block, |wordline, of_wordline| {
            for (kind, stamp) in (0..).zip(self.medium.stamps(wordline)) {
                let at = At { block, wordline, index: wordline - first, kind };
                let stress = self.doses.of_kind(of_wordline, at);
                if self.doses.may_be_lost(&self.medium, at, stress)
                    && unseen.remove(&stamp.undamaged())
                {
                    found(at);
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vpass_drive::base::request::{Arrival, Op, Request, RequestSource, SourceError};
    use vpass_drive::drive::{Drive, Techniques};
    use vpass_drive::time::run_untimed;
    use vpass_techniques::{card, resolve, usual};

    /// Source that reads single pages, all at once.
    struct Reads(u64);

    impl RequestSource for Reads {
        fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
            for n in 0..self.0.min(max as u64) {
                let page = (self.0 - n) * 7919 % 1000;
                out.push(Request {
                    at: 0,
                    offset: page * 4096,
                    bytes: 4096,
                    op: Op::Read,
                    origin: 0,
                    hint: None,
                });
            }
            self.0 = self.0.saturating_sub(max as u64);
            Ok(())
        }

        fn arrival(&self) -> Arrival {
            Arrival::Open
        }
    }

    /// An hour adds an error rate of 1e-5. The first level decodes 0.0075, and the last decodes
    /// 0.0115. So data older than 48 days is lost, though it may become a year old. 2,000 reads use
    /// a part of the rest.
    #[test]
    fn the_drive_is_held_to_what_it_says_of_causes() {
        let text = r#"
            geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 60, wordlines_per_block = 32, cell = "slc", page_size = "4KiB" }
            timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
            drive = { spare = 0.4 }
            start = { age = "60d" }
            disturb = { model = "count", table = [{ pec = 0, limit = [100.0] }] }
            error = { model = "powerlaw", e = 0.001, b = 1e-5, m = 0.0, n = 1.0 }
            ecc = { cap = [0.0085, 0.0125], retry_decode_us = [20] }
        "#;
        let config = resolve(toml::from_str::<DriveConfig>(text).unwrap()).unwrap();
        let mut drive =
            Drive::new(config, &Techniques { reclaim: card("none"), ..usual() }, false).unwrap();
        drive.observe(Box::new(Oracle::new(drive.geometry(), drive.config())));
        drive.precondition(1);
        drive.begin_measurement();
        run_untimed(&mut drive, &mut Reads(2000), &mut |_, _| true).unwrap();
        drive.report_unread_losses();
        let oracle: Box<dyn std::any::Any> = drive.end_observation().expect("the oracle watched");
        let mut oracle = *oracle.downcast::<Oracle>().expect("the watcher is the oracle");
        let (lost, by_age) = (drive.lost_pages(), drive.lost_by_age());
        assert!(by_age > 100 && lost > by_age + 100, "{by_age} of {lost} by age");
        assert_eq!(oracle.causes_by(drive.now()).by_age, (by_age, by_age));
        assert_eq!(oracle.losses_not_promised(drive.now()), 0);
        oracle.check_causes(by_age, drive.now());
        assert!(!oracle.report().is_bug());
        for wrong in [0, by_age - 1, by_age + 1, lost] {
            let before = oracle.report().books_errors;
            oracle.check_causes(wrong, drive.now());
            assert_eq!(oracle.report().books_errors, before + 1, "{wrong} of {lost}");
        }
        let report = oracle.conclude(&drive);
        assert_eq!(
            (report.books_errors, report.false_losses, report.limit_violations),
            (4, 0, 0),
            "and nothing else"
        );
    }
}
