//! The oracle's knowledge of one drive, and the level at which it checks the drive. Each file of
//! the folder checks one part of the drive's behaviour against this knowledge.

pub(crate) mod adjusted;
pub(crate) mod ask;
pub(crate) mod block_books;
pub(crate) mod bulk;
pub(crate) mod claims;
pub(crate) mod conclude;
pub(crate) mod deadlines;
pub(crate) mod delay;
pub(crate) mod density;
pub(crate) mod density_books;
pub(crate) mod dose_watch;
pub(crate) mod durable;
pub(crate) mod end_scan;
pub(crate) mod expected;
pub(crate) mod failures;
pub(crate) mod gathered;
pub(crate) mod hints;
pub(crate) mod jobs;
pub(crate) mod losses;
pub(crate) mod mapping;
pub(crate) mod observe;
pub(crate) mod odd_reads;
pub(crate) mod older;
pub(crate) mod page_read;
pub(crate) mod parity;
pub(crate) mod parts;
pub(crate) mod since_start;
pub(crate) mod start;
pub(crate) mod worn;
pub(crate) mod written;

use std::fmt::Debug;

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Bytes};
use vpass_drive::config::DriveConfig;
use vpass_drive::drive::Drive;
use vpass_drive::watch::observer::Event;

use self::adjusted::Adjusted;
use self::claims::{Course, Seen};
use self::deadlines::Deadlines;
use self::density_books::DensityBooks;
use self::dose_watch::DoseWatch;
use self::expected::Expected;
use self::hints::Hints;
use self::losses::Losses;
use self::parity::Parity;
use self::parity::records::Records;
use self::parts::Memory;
use self::written::Written;
use crate::bits::Bits;
use crate::books::DriveBooks;
use crate::busy::Busy;
use crate::clock::TimingChecker;
use crate::questions::Questions;
use crate::report::{Findings, Kind, OracleReport, Tally};
use crate::requests::Requests;
use crate::truth::Truth;

/// Level at which a drive is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Data page by page, the rules of flash, and all counts.
    On,
    /// Also the host's requests from end to end, and all times. Each page of a request must be
    /// served once and completely.
    Full,
}

/// A check with knowledge of its own. Other checks work on the knowledge of the oracle.
pub(crate) trait Check: Debug + Send {
    /// Takes an event that the truth does not know yet.
    fn before(&mut self, _: &Truth, _: &Event<'_>, _: &mut Findings) {}

    /// Takes an event that the truth knows already.
    fn after(&mut self, truth: &Truth, event: &Event<'_>, findings: &mut Findings);

    /// Compares the drive's reports at the end of a run with what was seen.
    fn end(&mut self, _: &Truth, _: &Drive, _: &Books, _: &mut Findings) {}
}

/// Requests of the host, and their data that waits in the controller's memory. Used at
/// [`Level::Full`].
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) requests: Requests,
    pub(crate) memory: Memory,
}

/// Counts of operations, for the comparison with those that the drive reports.
#[derive(Debug)]
pub(crate) struct Books {
    pub(crate) seen: DriveBooks,
    pub(crate) claims: Seen,
    pub(crate) course: Course,
    pub(crate) written: Written,
    pub(crate) density: DensityBooks,
}

/// Independent checker of one drive.
#[derive(Debug)]
pub struct Oracle {
    level: Level,
    pub(crate) truth: Truth,
    pub(crate) findings: Findings,
    pub(crate) host: Host,
    pub(crate) parity: Parity,
    pub(crate) adjusted: Adjusted,
    pub(crate) losses: Losses,
    pub(crate) deadlines: Deadlines,
    pub(crate) books: Books,
    /// Busy dies and channels, and all other times at [`Level::Full`].
    busy: Busy,
    pub(crate) clock: TimingChecker,
    /// Hints of the host, if it gives any.
    pub(crate) hints: Option<Hints>,
    /// Expected losses, if parity raises the limits of reads.
    pub(crate) expected: Option<Box<Expected>>,
    /// Doses for the results of a run.
    pub(crate) record: DoseWatch,
    /// Checks that the swarm adds.
    more: Vec<Box<dyn Check>>,
}

impl Oracle {
    /// Makes the oracle of an empty, erased drive with a resolved configuration. It checks
    /// everything.
    pub fn new(geometry: &Geometry, config: &DriveConfig) -> Self {
        let planes = if config.timing.independent_planes { geometry.planes_per_die } else { 1 };
        Self {
            level: Level::Full,
            truth: Truth::new(geometry, config),
            findings: Findings::default(),
            host: Host {
                requests: Requests::new(geometry.page_bytes),
                memory: Memory::new(config),
            },
            parity: Parity::new(geometry, config),
            adjusted: Adjusted::default(),
            losses: Losses::new(geometry, config),
            deadlines: Deadlines::new(geometry),
            books: Books {
                seen: DriveBooks::default(),
                claims: Seen::default(),
                course: Course::default(),
                written: Written::default(),
                density: DensityBooks::new(config, geometry),
            },
            busy: Busy::new(geometry.dies() * planes, geometry.channels),
            clock: TimingChecker::new(geometry, config),
            hints: Hints::new(geometry, config),
            expected: Expected::new(config),
            record: DoseWatch::default(),
            more: vec![],
        }
    }

    /// Adds a check.
    pub(crate) fn also(&mut self, check: Box<dyn Check>) {
        self.more.push(check);
    }

    /// Changes the level of the checks. This must come before the drive's first operation.
    #[must_use]
    pub fn at(self, level: Level) -> Self {
        let mut oracle = Self { level, ..self };
        if level == Level::On {
            oracle.deadlines.ignore_doses();
            if let Some(hints) = &mut oracle.hints {
                hints.follows_requests = false;
            }
        }
        oracle
    }

    /// Checks the guarantee of this refresh technique, whose random numbers have this seed.
    pub fn expect_refresh(&mut self, config: &DriveConfig, refresh: &str, seed: u64, timed: bool) {
        self.truth.ages.expect(config, refresh, timed);
        self.adjusted.expect(config, refresh, seed);
        self.clock.expect_refresh(config, refresh);
    }

    /// Returns whether requests are checked from end to end.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.level == Level::Full
    }

    /// Calls a function for each check with knowledge of its own.
    pub(crate) fn each_check(
        &mut self,
        mut call: impl FnMut(&mut dyn Check, &Truth, &Books, &mut Findings),
    ) {
        let Self { truth, books, findings, hints, expected, deadlines, busy, clock, more, .. } =
            self;
        call(deadlines, truth, books, findings);
        call(busy, truth, books, findings);
        call(clock, truth, books, findings);
        if let Some(hints) = hints {
            call(hints, truth, books, findings);
        }
        if let Some(expected) = expected {
            call(expected.as_mut(), truth, books, findings);
        }
        for check in more {
            call(check.as_mut(), truth, books, findings);
        }
    }

    /// Counts latencies by groups of origins, from the first run on. `group_of` gives the group of
    /// each origin.
    pub fn expect_groups(&mut self, group_of: &[u16]) {
        self.clock.expect_groups(group_of);
    }

    /// Returns the memory of the oracle for a drive of this geometry.
    pub fn memory(geometry: &Geometry, level: Level) -> Bytes {
        Bytes(
            Truth::bytes(geometry)
                + geometry.stripes.map_or(0, Records::bytes)
                + Bits::bytes(geometry.host_pages)
                + if level == Level::Full { Questions::bytes(geometry) } else { 0 },
        )
    }

    /// Returns the verdict so far. Pages that were not read are not examined ([`Self::finish`] does
    /// this).
    pub fn report(&self) -> OracleReport {
        OracleReport::new(&self.findings, self.tally())
    }

    pub(crate) fn tally(&self) -> Tally {
        Tally {
            reads_checked: self.books.seen.host_read_pages,
            uncorrectable_reads: self.losses.uncorrectable_reads,
            lost_pages: self.losses.pages,
            worst_dose_ratio: self.record.worst_dose_ratio,
        }
    }

    /// Checks that the block exists.
    pub(crate) fn check_block(&mut self, block: BlockId, what: &str) -> bool {
        let blocks = self.truth.geometry.blocks;
        if block.number() >= blocks {
            self.findings.add(Kind::Protocol, || {
                format!("{what} of block {block}; the drive has {blocks} blocks")
            });
        }
        block.number() < blocks
    }
}
