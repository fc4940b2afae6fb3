//! The oracle's knowledge of one drive, and the level at which it checks the drive. Each file of
//! the folder checks one part of the drive's behaviour against this knowledge.

pub(crate) mod adjusted;
pub(crate) mod ask;
pub(crate) mod blame;
pub(crate) mod block_books;
pub(crate) mod bulk;
pub(crate) mod causes;
pub(crate) mod claims;
pub(crate) mod cleaning;
pub(crate) mod conclude;
pub(crate) mod delay;
pub(crate) mod density;
pub(crate) mod density_books;
pub(crate) mod dose_watch;
pub(crate) mod durable;
pub(crate) mod end_scan;
pub(crate) mod expected;
pub(crate) mod failures;
pub(crate) mod fullness;
pub(crate) mod gathered;
pub(crate) mod hints;
pub(crate) mod jobs;
pub(crate) mod mapping;
pub(crate) mod need;
pub(crate) mod observe;
pub(crate) mod odd_reads;
pub(crate) mod older;
pub(crate) mod opening;
pub(crate) mod page_read;
pub(crate) mod parity;
pub(crate) mod parts;
pub(crate) mod policy_numbers;
pub(crate) mod promises;
pub(crate) mod since_start;
pub(crate) mod start;
pub(crate) mod worn;
pub(crate) mod written;

use std::collections::{BTreeMap, BTreeSet};

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Bytes, Lpn, Ppn};
use vpass_drive::config::DriveConfig;

use self::adjusted::Adjusted;
use self::blame::Blame;
use self::causes::Causes;
use self::claims::{Course, Seen};
use self::cleaning::Cleaning;
use self::density_books::DensityBooks;
use self::expected::Expected;
use self::failures::Failures;
use self::fullness::Sight;
use self::hints::Hints;
use self::jobs::Jobs;
use self::need::Need;
use self::older::Older;
use self::opening::Openings;
use self::parity::Parity;
use self::parity::records::Records;
use self::parts::Memory;
use self::policy_numbers::PolicyNumbers;
use self::promises::Promises;
use self::written::Written;
use crate::acceleration::Acceleration;
use crate::addresses;
use crate::ageing::Ageing;
use crate::bits::Bits;
use crate::books::DriveBooks;
use crate::clock::TimingChecker;
use crate::doses::Doses;
use crate::medium::{At, Medium};
use crate::protocol::Protocol;
use crate::questions::Questions;
use crate::report::{Findings, Kind, OracleReport, Tally};
use crate::requests::Requests;
use crate::sample_wear::SampleWear;
use crate::snapshots::Recorder;
use crate::stamps::{Loss, Stamp, Stamps};
use crate::start_reads::StartReads;
use crate::start_wear::StartWear;
use crate::time_check::TimeCheck;
use crate::wear::Wear;

/// Level at which a drive is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Data page by page, the rules of flash, and all counts.
    On,
    /// Also the host's requests from end to end, and all times. Each page of a request must be
    /// served once and completely.
    Full,
}

/// Independent checker of one drive.
#[derive(Debug)]
pub struct Oracle {
    level: Level,
    pub(crate) geometry: Geometry,
    pub(crate) raw_pages: u32,
    pub(crate) medium: Medium,
    pub(crate) stamps: Stamps,
    pub(crate) doses: Doses,
    pub(crate) protocol: Protocol,
    pub(crate) findings: Findings,
    /// Losses that were reported without a read that showed them. A page past its limit must
    /// explain each of them.
    pub(crate) unseen_losses: BTreeSet<Stamp>,
    pub(crate) seen: DriveBooks,
    pub(crate) uncorrectable_reads: u64,
    pub(crate) lost_pages: u64,
    /// Whether each host page was reported lost since the measured phase began.
    pub(crate) was_lost: Bits,
    pub(crate) worst_dose_ratio: f64,
    /// Highest ratio of dose to limit of a block at the start of its reclaim job.
    pub(crate) threshold_used: Option<f64>,
    /// Record of doses for the results of a run, if requested.
    pub(crate) recorder: Option<Box<Recorder>>,
    /// Copies that wait in the controller's memory, with their stamps.
    pub(crate) waiting: BTreeMap<Lpn, Stamp>,
    /// Requests of the host, and their data that waits in the controller's memory. Used at
    /// [`Level::Full`].
    pub(crate) requests: Requests,
    pub(crate) memory: Memory,
    pub(crate) wear: Wear,
    pub(crate) claims: Seen,
    pub(crate) density: DensityBooks,
    pub(crate) cleaning: Cleaning,
    pub(crate) course: Course,
    pub(crate) start_reads: StartReads,
    pub(crate) start_wear: StartWear,
    pub(crate) of_sample: SampleWear,
    pub(crate) acceleration: Acceleration,
    pub(crate) ageing: Ageing,
    pub(crate) causes: Causes,
    pub(crate) adjusted: Adjusted,
    /// Error in the drive's geometry, if there is one.
    pub(crate) addresses: Result<(), String>,
    pub(crate) time: TimeCheck,
    /// Checker of times. It and the following fields are used at [`Level::Full`].
    pub(crate) clock: TimingChecker,
    pub(crate) jobs: Jobs,
    pub(crate) questions: Questions,
    pub(crate) older: Older,
    pub(crate) blame: Blame,
    pub(crate) written: Written,
    pub(crate) policy_numbers: PolicyNumbers,
    pub(crate) openings: Openings,
    pub(crate) need: Need,
    /// Lists that GC saw, if a listener records them.
    pub(crate) sight: Option<Sight>,
    pub(crate) promises: Promises,
    pub(crate) parity: Parity,
    pub(crate) failures: Failures,
    /// Expected losses, if parity raises the limits of reads.
    pub(crate) expected: Option<Box<Expected>>,
    /// Hints of the host, if it gives any.
    pub(crate) hints: Option<Hints>,
}

impl Oracle {
    /// Makes the oracle of an empty, erased drive with a resolved configuration. It checks
    /// everything.
    pub fn new(geometry: &Geometry, config: &DriveConfig) -> Self {
        let doses = Doses::new(geometry, config);
        let hints = Hints::new(geometry, config);
        let planes = if config.timing.independent_planes { geometry.planes_per_die } else { 1 };
        Self {
            level: Level::Full,
            requests: Requests::new(geometry.page_bytes),
            memory: Memory::new(config, geometry.stripes),
            start_reads: StartReads::new(config),
            start_wear: StartWear::new(config, geometry.blocks),
            of_sample: SampleWear::new(config),
            acceleration: Acceleration::new(config),
            ageing: Ageing::new(config),
            causes: Causes::new(config),
            adjusted: Adjusted::default(),
            addresses: addresses::check(geometry, config),
            wear: Wear::new(geometry, config),
            claims: Seen::default(),
            density: DensityBooks::new(config, geometry),
            cleaning: Cleaning::default(),
            course: Course::default(),
            time: TimeCheck::new(geometry.dies() * planes, geometry.channels),
            clock: TimingChecker::new(geometry, config, doses.per_kind(geometry)),
            jobs: Jobs::default(),
            questions: Questions::new(geometry),
            older: Older::default(),
            // With parity, a job may copy an old version that parity still needs. Such a copy has
            // no owner to blame.
            blame: if geometry.stripes.is_some() {
                Blame::default()
            } else {
                Blame::new(geometry, config.disturb.model)
            },
            parity: Parity::new(geometry, config),
            failures: Failures::default(),
            expected: Expected::new(config),
            policy_numbers: PolicyNumbers::default(),
            written: Written::default(),
            openings: Openings::new(geometry, config),
            need: Need::new(geometry, config, hints::reserve(hints.as_ref())),
            sight: None,
            promises: Promises::default(),
            hints,
            geometry: geometry.clone(),
            raw_pages: geometry.raw_pages(),
            medium: Medium::new(geometry),
            stamps: Stamps::new(geometry),
            doses,
            protocol: Protocol::new(geometry),
            findings: Findings::default(),
            unseen_losses: BTreeSet::new(),
            seen: DriveBooks::default(),
            uncorrectable_reads: 0,
            lost_pages: 0,
            was_lost: Bits::none_of(geometry.host_pages),
            worst_dose_ratio: 0.0,
            threshold_used: None,
            recorder: None,
            waiting: BTreeMap::new(),
        }
    }

    /// Changes the level of the checks. This must come before the drive's first operation.
    #[must_use]
    pub fn at(self, level: Level) -> Self {
        let full = Self { level, ..self };
        match level {
            Level::Full => full,
            Level::On => Self { questions: Questions::default(), blame: Blame::default(), ..full },
        }
    }

    /// Checks the guarantee of this refresh technique, whose random numbers have this seed.
    pub fn expect_refresh(&mut self, config: &DriveConfig, refresh: &str, seed: u64, timed: bool) {
        self.ageing.expect(config, refresh, timed);
        self.adjusted.expect(config, refresh, seed);
        self.clock.expect_refresh(config, refresh);
    }

    /// Returns whether requests are checked from end to end.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.level == Level::Full
    }

    /// Counts latencies by groups of origins, from the first run on. `group_of` gives the group of
    /// each origin.
    pub fn expect_groups(&mut self, group_of: &[u16]) {
        self.clock.expect_groups(group_of);
    }

    /// Returns the memory of the oracle for a drive of this geometry.
    pub fn memory(geometry: &Geometry, level: Level) -> Bytes {
        let full = if level == Level::Full {
            Questions::bytes(geometry) + Blame::bytes(geometry)
        } else {
            0
        };
        let lost = full
            + Bits::bytes(geometry.host_pages)
            + Wear::bytes(geometry)
            + Openings::bytes(geometry);
        Bytes(
            Medium::bytes(geometry)
                + Stamps::bytes(geometry)
                + Doses::bytes(geometry)
                + Protocol::bytes(geometry)
                + geometry.stripes.map_or(0, Records::bytes)
                + lost,
        )
    }

    /// Returns the verdict so far. Pages that were not read are not examined ([`Self::finish`] does
    /// this).
    pub fn report(&self) -> OracleReport {
        OracleReport::new(&self.findings, self.tally())
    }

    /// Returns the stamp of a flash page, or `None` beyond the flash.
    pub(crate) fn carried(&self, ppn: Ppn) -> Option<Stamp> {
        self.geometry.has_page(ppn).then(|| self.medium.stamp(At::new(&self.geometry, ppn)))
    }

    pub(crate) fn tally(&self) -> Tally {
        Tally {
            reads_checked: self.seen.host_read_pages,
            uncorrectable_reads: self.uncorrectable_reads,
            lost_pages: self.lost_pages,
            worst_dose_ratio: self.worst_dose_ratio,
        }
    }

    /// Returns the place of a flash page in words.
    pub(crate) fn place(&self, ppn: Ppn) -> String {
        let at = At::new(&self.geometry, ppn);
        format!("ppn {ppn} (block {}, wordline {})", at.block, at.index)
    }

    /// Handles the drive's report that a page is lost.
    pub(crate) fn loss(&mut self, lpn: Lpn) -> Result<(), String> {
        self.know_stripe_of(lpn);
        let was_rest_lost = self.has_lost_rest(lpn);
        let by_failure = self.explain_by_failure(lpn);
        match self.stamps.lost(lpn)? {
            Loss::Absent => {
                return Err(format!("lpn {lpn} was reported lost, but it holds no data"));
            }
            Loss::Again => return Ok(()),
            Loss::Seen | Loss::Unseen(_) if by_failure => self.causes.lose_by_failure(lpn),
            Loss::Seen => self.causes.lose(lpn),
            Loss::Unseen(_) if was_rest_lost => self.causes.lose(lpn),
            Loss::Unseen(stamp) => {
                self.unseen_losses.insert(stamp);
            }
        }
        self.blame.lost();
        self.claims.losses += 1;
        self.lost_pages += u64::from(self.was_lost.insert(lpn));
        Ok(())
    }

    /// Checks that the block exists.
    pub(crate) fn check_block(&mut self, block: BlockId, what: &str) -> bool {
        let blocks = self.geometry.blocks;
        if block.number() >= blocks {
            self.findings.add(Kind::Protocol, || {
                format!("{what} of block {block}; the drive has {blocks} blocks")
            });
        }
        block.number() < blocks
    }
}
