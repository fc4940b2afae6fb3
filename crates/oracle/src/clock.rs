//! Checks the drive's time with the oracle's own arithmetic. Every operation on flash takes time
//! exactly once, on its own die, for as long as the configuration says. A request is complete with
//! its last part, after its waits and its time on the host link. No die is idle while something
//! waits for it.
//!
//! The oracle does not schedule again. The engine decides which queue of a die is served next, and
//! the oracle checks that the configuration allows it. The first error ends all checks, because all
//! later times would follow from it.

mod dies;
mod events;
mod expected;
mod groups;
mod host;
mod latencies;
mod lengths;
mod pads;
mod urgency;
mod work;

use std::collections::{BTreeMap, BTreeSet};

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::metrics::TimedMetrics;
use vpass_drive::base::request::Request;
use vpass_drive::base::units::{BlockId, Cause, Lpn, Ns, Ppn};
use vpass_drive::config::DriveConfig;
use vpass_drive::watch::observer::PhysRead;
use vpass_drive::watch::time_event::{OpId, TimeEvent};

use self::dies::Dies;
use self::expected::Expected;
use self::groups::OfGroups;
use self::host::Host;
pub(crate) use self::lengths::program_us;
use self::lengths::{How, Lengths};
use self::pads::Pads;
use self::urgency::Urgency;
pub(crate) use self::urgency::{Begun, Now};
use crate::codings::FASTER;

/// Total time of the parts of a piece so far, and its die. Parts that show no die do not change the
/// die.
#[derive(Debug, Default)]
struct Parts {
    ns: Ns,
    die: Option<u32>,
    /// Number of pages moved for reclaim jobs that end with the erase of their blocks, and the
    /// erased blocks.
    moved: BTreeMap<BlockId, u32>,
    erased: BTreeSet<BlockId>,
}

/// Part of a request that waits for a rebuild: its bytes, and the number of decodings one after
/// another.
#[derive(Clone, Copy, Debug)]
struct Rebuilding {
    request: u32,
    bytes: u32,
    decodings: u64,
}

/// A page read for a rebuild, with its coding and its first level or the level of its retry.
#[derive(Clone, Copy, Debug, PartialEq)]
struct HeldRead {
    ppn: Ppn,
    retry: Option<u8>,
    how: How,
}

/// The checker of one drive's time.
#[derive(Debug)]
pub(crate) struct TimingChecker {
    lengths: Lengths,
    expected: Expected,
    dies: Dies,
    host: Host,
    pieces: BTreeMap<OpId, Parts>,
    /// Parts of requests that wait for rebuilds, by the number of the rebuild.
    rebuilding: BTreeMap<u32, Rebuilding>,
    /// Reads for rebuilds that wait until a host read has failed, and reads that must come now.
    held: BTreeMap<u32, Vec<HeldRead>>,
    due: Vec<(u32, HeldRead)>,
    /// Page of the last retry that a die got as work, not among its reads.
    retried_behind: Option<Ppn>,
    pads: Pads,
    urgency: Urgency,
    now: Ns,
    /// Whether a run is under way, in which operations take time.
    runs: bool,
    /// Whether checking has stopped.
    stopped: bool,
}

impl TimingChecker {
    pub(crate) fn new(geometry: &Geometry, config: &DriveConfig, dose_of_kind: &[u32]) -> Self {
        let lengths = Lengths::new(geometry, config);
        Self {
            expected: Expected::default(),
            dies: Dies::new(&lengths),
            host: Host::default(),
            pieces: BTreeMap::new(),
            rebuilding: BTreeMap::new(),
            held: BTreeMap::new(),
            due: vec![],
            retried_behind: None,
            pads: Pads::default(),
            urgency: Urgency::new(geometry, config, dose_of_kind.to_vec()),
            now: 0,
            runs: false,
            stopped: false,
            lengths,
        }
    }

    /// Counts latencies for groups of origins too from now on.
    pub(crate) fn expect_groups(&mut self, group_of: &[u16]) {
        self.host.groups = OfGroups::new(group_of);
    }

    pub(crate) fn is_on(&self) -> bool {
        self.runs && !self.stopped
    }

    /// Notes a read of the drive on its flash. The read began at this level.
    #[inline]
    pub(crate) fn sensed(&mut self, read: &PhysRead, level: u8) {
        self.expected.sensed(read, level, &self.lengths);
    }

    /// Notes that a rebuild with this number answers a host read of a page. Failed flash is not
    /// read. Any other page is first read in vain.
    pub(crate) fn rebuilds(&mut self, lpn: Lpn, ppn: Ppn, number: u32, has_failed: bool) {
        if !self.is_on() {
            return;
        }
        if has_failed {
            self.expected.rebuilds(lpn, ppn, number);
        } else if self.expected.repairs(lpn, ppn, number) {
            self.dies.awaits(number);
        }
    }

    pub(crate) fn programmed(&mut self, ppn: Ppn, has_data: bool, cause: Cause) {
        if self.is_on() {
            self.expected.programmed(ppn, has_data, cause, &self.lengths);
        }
    }

    /// Notes that reclaim begins to move all data of a block.
    pub(crate) fn empties(&mut self, block: BlockId) {
        self.expected.empties(block);
    }

    pub(crate) fn opened(&mut self, block: BlockId, coding: u8) {
        self.expected.opened(block, coding);
    }

    /// Takes the time of an adjustment from the refresh technique.
    pub(crate) fn expect_refresh(&mut self, config: &DriveConfig, refresh: &str) {
        self.lengths.expect_refresh(config, refresh);
        if refresh == "ida" {
            self.urgency.expect_adjusting(config.geometry.cell.bits(), self.lengths.merge(FASTER));
        }
    }

    pub(crate) fn merged(&mut self, block: BlockId, coding: u8, cause: Cause) {
        if self.is_on() {
            self.expected.merged(block, coding, cause, &self.lengths);
        }
    }

    /// Notes that a wordline, or a whole block, has another coding from now on.
    pub(crate) fn recoded(&mut self, block: BlockId, wordline: Option<u32>, coding: u8) {
        self.expected.recoded(block, wordline, coding);
    }

    /// Notes an erase of a block that had endured this number of P/E cycles.
    pub(crate) fn erased(&mut self, block: BlockId, cause: Cause, endured: u32) {
        self.expected.forget_block(block);
        if self.is_on() {
            self.expected.erased(block, cause, endured);
        }
    }

    pub(crate) fn requests(&mut self, first: u64, requests: &[Request]) {
        if self.is_on() {
            self.host.ask(first, requests);
        }
    }

    pub(crate) fn begin(&mut self, at: Ns, latencies: &TimedMetrics) {
        self.runs = true;
        self.now = at;
        self.host.begin(latencies);
    }

    /// Checks a group of events.
    ///
    /// # Errors
    /// The first error.
    pub(crate) fn events(&mut self, events: &[TimeEvent]) -> Result<(), String> {
        if !self.is_on() {
            return Ok(());
        }
        let checked =
            events.iter().try_for_each(|event| self.event(event)).and_then(|()| self.check_given());
        self.urgency.end_telling();
        self.stopped |= checked.is_err();
        checked
    }

    /// Checks that all operations so far have been given to a die.
    fn check_given(&self) -> Result<(), String> {
        self.expected.check_empty()?;
        self.pieces
            .values()
            .next()
            .map_or(Ok(()), |parts| Err(format!("{} ns of a job belong to no die", parts.ns)))
    }

    /// Ends the run.
    ///
    /// # Errors
    /// If a request or work is unfinished.
    pub(crate) fn end(&mut self, pending: &[OpId], latencies: &TimedMetrics) -> Result<(), String> {
        if !self.is_on() {
            return Ok(());
        }
        self.runs = false;
        let checked = self.host.check_end(latencies).and_then(|()| self.dies.check_end(pending));
        self.stopped |= checked.is_err();
        checked
    }

    /// Compares the time that reads have waited for reclaim with the drive's report.
    pub(crate) fn check_stalls(&self, told: Ns) -> Result<(), String> {
        let seen = self.dies.stalled;
        if self.stopped || self.runs || told == seen {
            return Ok(());
        }
        Err(format!(
            "the drive reports that reads waited {told} ns for reclaim; {seen} ns were seen"
        ))
    }

    /// Restarts the counts with the measured phase.
    pub(crate) fn begin_measured_phase(&mut self) {
        self.dies.stalled = 0;
    }
}
