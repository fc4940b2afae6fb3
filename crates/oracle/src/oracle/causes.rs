//! Why data was lost: age took it, or what reads did to it, or chance where retries are drawn. The
//! drive counts the losses by age; here they are counted from the oracle's own ages and limits.
//!
//! ```text
//! by age    older than data may become, or so old that the last retry decodes nothing, had nobody read it
//! unknown   within what rounding does to a limit, or in the step in which data becomes too old: the drive tells the time once a step
//! ```

use std::collections::BTreeMap;

use vpass_core::base::units::{Lpn, Ns};
use vpass_core::config::DriveConfig;

use crate::error_rates::step_of;
use crate::medium::At;
use crate::oracle::Oracle;
use crate::report::Kind;

/// Why a page cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Why {
    /// Whether age took it, for certain and perhaps.
    by_age: (bool, bool),
    /// Whether nobody promises to keep it: it may be older than data may become, or its block was
    /// left alone for parity to repair it.
    not_promised: bool,
}

impl Why {
    const UNKNOWN: Self = Self { by_age: (false, true), not_promised: true };
}

/// Losses by cause.
#[derive(Clone, Debug, Default)]
pub(crate) struct Causes {
    /// Age up to which data is kept; none where it does not age.
    longest: Option<Ns>,
    /// Pages of the host that could not be read, each with why at the last time.
    failed: BTreeMap<Lpn, Why>,
    /// Losses by age in the measured phase, at least and at most.
    by_age: (u64, u64),
    /// Losses of data that nobody promised to keep, since the beginning.
    not_promised: u64,
}

impl Causes {
    pub(crate) fn new(config: &DriveConfig) -> Self {
        Self { longest: config.keeps_time().then(|| config.longest_age().0), ..Self::default() }
    }

    fn add(&mut self, why: Why) {
        self.by_age =
            (self.by_age.0 + u64::from(why.by_age.0), self.by_age.1 + u64::from(why.by_age.1));
        self.not_promised += u64::from(why.not_promised);
    }

    /// A page that nothing could read is reported lost.
    pub(crate) fn lose(&mut self, lpn: Lpn) {
        let why = self.failed.remove(&lpn).unwrap_or(Why::UNKNOWN);
        self.add(why);
    }

    /// A page on flash that has failed is reported lost, however old it was. No technique promised
    /// to prevent that.
    pub(crate) fn lose_by_failure(&mut self, lpn: Lpn) {
        self.failed.remove(&lpn);
        self.not_promised += 1;
    }

    /// So many pages that nobody had read were reported lost some time ago, of blocks that change
    /// now.
    pub(crate) fn lose_unread(&mut self, pages: usize) {
        (0..pages).for_each(|_| self.add(Why::UNKNOWN));
    }

    pub(crate) fn begin_measured_phase(&mut self) {
        self.by_age = (0, 0);
    }
}

impl Oracle {
    /// Why a page cannot be read, at a time or when the drive told the time last.
    fn why(&self, at: At, now: Option<Ns>) -> Why {
        let is_left_alone = self.is_left_alone(at.block);
        let Some(longest) = self.causes.longest.filter(|_| self.doses.has_rates()) else {
            return Why { not_promised: is_left_alone, ..Why::default() };
        };
        let age = self.ageing.age(at.block, now);
        let is_too_old = age > longest;
        let may_be_too_old = is_too_old || now.is_none() && step_of(age) == step_of(longest);
        let (is_spoilt, may_be_spoilt) = self.doses.is_spoilt_by_age(at);
        Why {
            by_age: (is_too_old || is_spoilt, may_be_too_old || may_be_spoilt),
            not_promised: may_be_too_old || is_left_alone,
        }
    }

    /// A page could not be read.
    pub(crate) fn note_failed(&mut self, lpn: Lpn, at: At) {
        let why = self.why(at, None);
        self.causes.failed.insert(lpn, why);
    }

    /// The causes of all losses, those included that nobody has read and that stand in the flash
    /// still.
    fn causes_by(&mut self, now: Ns) -> Causes {
        self.know_ages(now);
        let (mut causes, mut unseen) = (self.causes.clone(), self.unseen_losses.clone());
        for block in self.geometry.block_ids() {
            self.settle_losses(block, &mut unseen, |at| causes.add(self.why(at, Some(now))));
        }
        causes
    }

    /// Losses that no technique promised to prevent, since the beginning: of data that may have
    /// been older than data may become, and of data in blocks that were left alone.
    pub(crate) fn losses_not_promised(&mut self, now: Ns) -> u64 {
        self.causes_by(now).not_promised
    }

    /// What the drive says of its losses.
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use vpass_core::base::request::{Arrival, Op, Request, RequestSource, SourceError};
    use vpass_core::drive::{Drive, Techniques};
    use vpass_core::time::run_untimed;

    /// Reads of single pages, all at once.
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

    /// An hour takes 1e-5 of 0.0075 for the first level and 0.0115 for the last: data older than 48
    /// days is ruined, though it may become a year old, and 2,000 reads take some of the rest.
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
        let config = toml::from_str::<DriveConfig>(text).unwrap().resolve().unwrap();
        let mut drive = Drive::new(
            config,
            &Techniques { reclaim: "none".into(), ..Techniques::default() },
            false,
        )
        .unwrap();
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
