//! Keys of a `[workload]` table that contains `[[workload.phase]]`, and checks of these keys before
//! a run.

use serde::{Deserialize, Serialize};
use vpass_drive::base::daily::DailyHours;
use vpass_drive::base::request::{Arrival, Op};
use vpass_drive::base::units::Lpn;
use vpass_drive::config::ConfigError;
use vpass_drive::config::keys::Keys;

use crate::synthetic::{
    Arrivals, HOURS, MAX_QUEUE_DEPTH, RATE, WorkloadFileOf, arrival, check_arrival, check_hours,
    hours, require,
};

/// Workload file that describes a workload of phases.
pub type PhasesFile = WorkloadFileOf<PhasesConfig>;

/// `[workload]`: phases, and the way in which requests arrive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Keys)]
#[serde(deny_unknown_fields)]
#[keys(table = "workload")]
pub struct PhasesConfig {
    /// Number of requests in a pass; if absent, each phase runs once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[key(unit = "requests", range = Whole(1, u64::MAX))]
    pub requests: Option<u64>,
    /// Number of outstanding requests at any time; 64 if neither `queue_depth` nor `rate` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[key(unit = "requests", range = Whole(1, MAX_QUEUE_DEPTH as u64))]
    pub queue_depth: Option<u32>,
    /// Number of requests per second; replaces `queue_depth`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[key(unit = "requests/s", range = RATE)]
    pub rate: Option<f64>,
    /// Arrival process of the requests, if `rate` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
    /// Number of hours per day in which requests arrive at the `rate`; 24 if absent. These hours
    /// begin at the start of the day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[key(unit = "h", range = HOURS)]
    pub hours_per_day: Option<f64>,
    /// `[[workload.phase]]`: phases, in the order in which they are run.
    #[key(range = Words("rows, at least one"))]
    pub phase: Vec<PhaseConfig>,
}

/// `[[workload.phase]]`: a number of requests, each to one page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Keys)]
#[serde(deny_unknown_fields)]
pub struct PhaseConfig {
    /// Operation of all requests of the phase: read, write or trim.
    #[serde(default = "PhaseConfig::default_op")]
    #[key(default = PhaseOp::Read)]
    pub op: PhaseOp,
    /// Number of requests of the phase.
    #[key(unit = "requests", range = Whole(1, u64::MAX))]
    pub requests: u64,
    /// Order in which requests of the phase go to the pages of the phase.
    #[serde(default = "PhaseConfig::default_order")]
    #[key(default = Order::RoundRobin)]
    pub order: Order,
    /// List of logical pages; a page that the list names twice gets twice as many requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[key(
        unit = "pages",
        range = Words("page numbers, from 0 to the last page of the drive"),
        default
    )]
    pub pages: Vec<Lpn>,
    /// List of ranges of logical pages. Each range is given by its first and its last page. A phase
    /// takes the pages in `pages` first, then the pages in these ranges.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[key(
        unit = "pages",
        range = Words("pairs [first, last] of page numbers, from 0 to the last page of the drive"),
        default
    )]
    pub ranges: Vec<[Lpn; 2]>,
}

/// Operation of the requests of a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Keys)]
#[serde(rename_all = "lowercase")]
pub enum PhaseOp {
    /// Each request reads a page.
    #[default]
    Read,
    /// Each request writes a whole page.
    Write,
    /// Each request trims (discards) a page.
    Trim,
}

impl From<PhaseOp> for Op {
    fn from(op: PhaseOp) -> Self {
        match op {
            PhaseOp::Read => Self::Read,
            PhaseOp::Write => Self::Write,
            PhaseOp::Trim => Self::Trim,
        }
    }
}

/// Order in which the requests of a phase go to the pages of the phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Keys)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// One page after the other; each time that the phase begins, it starts with its first page.
    #[default]
    RoundRobin,
    /// Pages are drawn at random, all with the same chance.
    Random,
}

impl PhaseConfig {
    /// Makes a phase that reads the given pages in turn.
    pub fn reads(pages: Vec<Lpn>, requests: u64) -> Self {
        Self { op: PhaseOp::Read, requests, order: Order::RoundRobin, pages, ranges: vec![] }
    }
}

impl PhasesConfig {
    /// Returns how requests arrive: at a rate, or as soon as earlier requests are complete.
    pub fn arrival(&self) -> Arrival {
        arrival(self.queue_depth, self.rate)
    }

    /// Returns the hours of each day in which requests arrive.
    pub fn hours(&self) -> DailyHours {
        hours(self.hours_per_day)
    }

    /// Returns the number of requests per pass.
    pub fn requests(&self) -> u64 {
        self.requests.unwrap_or_else(|| {
            self.phase.iter().fold(0, |sum, phase| sum.saturating_add(phase.requests))
        })
    }

    /// Checks all keys of the workload for a drive with `host_pages` logical pages.
    pub(super) fn check(&self, host_pages: u64) -> Result<(), ConfigError> {
        self.check_ranges()?;
        check_arrival(self.queue_depth, self.rate, self.arrivals)?;
        check_hours(self.hours_per_day, self.rate)?;
        require(!self.phase.is_empty(), || {
            "workload.phase is empty; at least one [[workload.phase]] is expected".into()
        })?;
        (1..).zip(&self.phase).try_for_each(|(n, phase)| phase.check(n, host_pages))
    }
}

impl PhaseConfig {
    /// Checks the keys of phase number `n`.
    fn check(&self, n: usize, host_pages: u64) -> Result<(), ConfigError> {
        require(!(self.pages.is_empty() && self.ranges.is_empty()), || {
            format!(
                "workload.phase {n} names no page; pages = [17, 19] or ranges = [[100, 199]] is \
                 expected"
            )
        })?;
        let beyond = |page: &Lpn| u64::from(page.number()) >= host_pages;
        let last = host_pages.saturating_sub(1);
        if let Some(page) = self.pages.iter().find(|page| beyond(page)) {
            return Err(ConfigError::new(format!(
                "workload.phase {n}: page {page} is beyond the drive, whose last page is {last}"
            )));
        }
        for [from, to] in &self.ranges {
            require(from <= to, || {
                format!(
                    "workload.phase {n}: the range [{from}, {to}] ends before it begins; [first, \
                     last] is expected"
                )
            })?;
            require(!beyond(to), || {
                format!(
                    "workload.phase {n}: the range [{from}, {to}] ends beyond the drive, whose \
                     last page is {last}"
                )
            })?;
        }
        Ok(())
    }
}
