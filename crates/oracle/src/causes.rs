//! Why data was lost: age took it, or what reads did to it, or chance where retries are drawn. The drive counts the losses by age; here they are
//! counted from the oracle's own ages and limits.
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
    /// Whether it may be older than data may become: nobody promises to keep it then.
    too_old: bool,
}

impl Why {
    const UNKNOWN: Self = Self { by_age: (false, true), too_old: true };
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
    /// Losses of data that may have been too old, since the beginning.
    too_old: u64,
}

impl Causes {
    pub(crate) fn new(config: &DriveConfig) -> Self {
        Self { longest: config.keeps_time().then(|| config.longest_age().0), ..Self::default() }
    }

    fn add(&mut self, why: Why) {
        self.by_age = (self.by_age.0 + u64::from(why.by_age.0), self.by_age.1 + u64::from(why.by_age.1));
        self.too_old += u64::from(why.too_old);
    }

    /// A page that nothing could read is reported lost.
    pub(crate) fn lose(&mut self, lpn: Lpn) {
        let why = self.failed.remove(&lpn).unwrap_or(Why::UNKNOWN);
        self.add(why);
    }

    /// So many pages that nobody had read were reported lost some time ago, of blocks that change now.
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
        let Some(longest) = self.causes.longest.filter(|_| self.doses.has_rates()) else { return Why::default() };
        let age = self.ageing.age(at.block, now);
        let is_too_old = age > longest;
        let may_be_too_old = is_too_old || now.is_none() && step_of(age) == step_of(longest);
        let (is_spoilt, may_be_spoilt) = self.doses.is_spoilt_by_age(at);
        Why { by_age: (is_too_old || is_spoilt, may_be_too_old || may_be_spoilt), too_old: may_be_too_old }
    }

    /// A page could not be read.
    pub(crate) fn note_failed(&mut self, lpn: Lpn, at: At) {
        let why = self.why(at, None);
        self.causes.failed.insert(lpn, why);
    }

    /// The causes of all losses, those included that nobody has read and that stand in the flash still.
    fn causes_by(&mut self, now: Ns) -> Causes {
        self.know_ages(now);
        let (mut causes, mut unseen) = (self.causes.clone(), self.unseen_losses.clone());
        for block in self.geometry.block_ids() {
            self.settle_losses(block, &mut unseen, |at| causes.add(self.why(at, Some(now))));
        }
        causes
    }

    /// Losses of data that may have been older than data may become, since the beginning: nobody promises to keep that.
    pub(crate) fn losses_of_too_old(&mut self, now: Ns) -> u64 {
        self.causes_by(now).too_old
    }

    /// What the drive says of its losses.
    pub(crate) fn check_causes(&mut self, lost_by_age: u64, now: Ns) {
        let (least, most) = self.causes_by(now).by_age;
        if !(least..=most).contains(&lost_by_age) {
            self.findings.add(Kind::Books, || format!("the drive reports {lost_by_age} pages lost by age; {least} to {most} were seen"));
        }
    }
}
