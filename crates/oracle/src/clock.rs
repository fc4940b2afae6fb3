//! Checks the drive's time. Every operation on flash takes time exactly once, on its own die, for as
//! long as the configuration says. A request is complete with its last part, after its waits and its
//! time on the host link.
//!
//! The oracle does not schedule again: the engine decides what a die does next, and when.
//! `drive/tests/conservation.rs` checks that no die is idle while something waits for it. The first
//! error ends all checks, because all later times would follow from it.

mod dies;
mod events;
mod expected;
mod host;
mod latencies;
mod lengths;
mod work;

use std::collections::BTreeMap;

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::metrics::TimedMetrics;
use vpass_drive::base::units::{Lpn, Ns, Ppn, WordlineInBlock};
use vpass_drive::config::DriveConfig;
use vpass_drive::drive::Drive;
use vpass_drive::watch::observer::{Event, PhysRead};
use vpass_drive::watch::time_event::{OpId, TimeEvent};

use self::dies::Dies;
use self::expected::Expected;
use self::host::Host;
use self::lengths::{How, Lengths};
use crate::oracle::{Books, Check};
use crate::report::{Findings, Kind};
use crate::truth::Truth;

/// Part of a request that waits for a rebuild: the request and its bytes, and the number of
/// decodings one after another.
#[derive(Clone, Copy, Debug)]
struct Rebuilding {
    part: (u32, u32),
    decodings: u64,
}

/// A page read for a rebuild, which waits until a host read has failed.
#[derive(Clone, Copy, Debug)]
struct HeldRead {
    ppn: Ppn,
    retry: Option<u8>,
    how: How,
    stripe: u32,
    /// Whether the host read has failed.
    is_due: bool,
}

/// The checker of one drive's time.
#[derive(Debug)]
pub(crate) struct TimingChecker {
    lengths: Lengths,
    expected: Expected,
    dies: Dies,
    host: Host,
    /// Time of the parts of each piece of a job so far, and its die. Parts that show no die do not
    /// change the die.
    pieces: BTreeMap<OpId, (Ns, Option<u32>)>,
    /// Parts of requests that wait for rebuilds, by the number of the rebuild.
    rebuilding: BTreeMap<u32, Rebuilding>,
    held: Vec<HeldRead>,
    now: Ns,
    /// Whether a run is under way, in which operations take time, and whether any has begun.
    runs: bool,
    has_run: bool,
    /// Whether checking has stopped.
    stopped: bool,
}

impl TimingChecker {
    pub(crate) fn new(geometry: &Geometry, config: &DriveConfig) -> Self {
        let lengths = Lengths::new(geometry, config);
        Self {
            expected: Expected::default(),
            dies: Dies::new(&lengths),
            host: Host::default(),
            pieces: BTreeMap::new(),
            rebuilding: BTreeMap::new(),
            held: vec![],
            now: 0,
            runs: false,
            has_run: false,
            stopped: false,
            lengths,
        }
    }

    /// Counts latencies for groups of origins too from now on.
    pub(crate) fn expect_groups(&mut self, group_of: &[u16]) {
        self.host.latencies.expect_groups(group_of);
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
    pub(crate) fn rebuilds(
        &mut self,
        lpn: Lpn,
        ppn: Ppn,
        number: u32,
        has_failed: bool,
    ) -> Result<(), String> {
        if !self.is_on() {
            return Ok(());
        }
        if has_failed {
            self.expected.rebuilds(lpn, ppn, number);
        } else if self.expected.repairs(lpn, ppn, number) {
            self.dies.awaits(number)?;
        }
        Ok(())
    }

    /// Takes the time of an adjustment from the refresh technique.
    pub(crate) fn expect_refresh(&mut self, config: &DriveConfig, refresh: &str) {
        self.lengths.expect_refresh(config, refresh);
    }

    fn begin(&mut self, at: Ns, latencies: &TimedMetrics) {
        (self.runs, self.has_run) = (true, true);
        self.now = at;
        self.host.latencies.begin(latencies);
    }

    /// Checks a group of events.
    ///
    /// # Errors
    /// The first error.
    fn events(&mut self, events: &[TimeEvent]) -> Result<(), String> {
        if !self.is_on() {
            return Ok(());
        }
        let checked =
            events.iter().try_for_each(|event| self.event(event)).and_then(|()| self.check_given());
        self.stopped |= checked.is_err();
        checked
    }

    /// Checks that all operations so far have been given to a die.
    fn check_given(&self) -> Result<(), String> {
        self.expected.check_empty()?;
        self.pieces
            .values()
            .next()
            .map_or(Ok(()), |(ns, _)| Err(format!("{ns} ns of a job belong to no die")))
    }

    /// Ends the run.
    ///
    /// # Errors
    /// If a request or work is unfinished.
    fn end_run(&mut self, pending: &[OpId], latencies: &TimedMetrics) -> Result<(), String> {
        if !self.is_on() {
            return Ok(());
        }
        self.runs = false;
        let held = self.held.first().map_or(Ok(()), |held| {
            Err(format!("ppn {} still waits to be read for rebuild {}", held.ppn, held.stripe))
        });
        let checked = held
            .and_then(|()| self.host.check_end(latencies))
            .and_then(|()| self.dies.check_end(pending));
        self.stopped |= checked.is_err();
        checked
    }

    /// Compares the time that reads have waited for reclaim with the drive's report.
    fn check_stalls(&self, told: Ns) -> Result<(), String> {
        let seen = self.dies.stalled;
        if self.stopped || self.runs || told == seen {
            return Ok(());
        }
        Err(format!(
            "the drive reports that reads waited {told} ns for reclaim; {seen} ns were seen"
        ))
    }
}

impl Check for TimingChecker {
    fn before(&mut self, truth: &Truth, event: &Event<'_>, _: &mut Findings) {
        match *event {
            Event::Recoded { block, wordline, mode } if truth.has_block(block) => {
                let wordline = wordline.map(WordlineInBlock::number);
                self.expected.recoded(block, wordline, mode);
                if wordline.is_none() && truth.protocol.written(block) == 0 {
                    self.expected.opened(block, mode);
                }
            }
            Event::Erased { block, cause } if truth.has_block(block) => {
                self.expected.forget_block(block);
                if self.is_on() {
                    self.expected.erased(block, cause, truth.doses.cycles_of(block));
                }
            }
            _ => {}
        }
    }

    fn after(&mut self, _: &Truth, event: &Event<'_>, findings: &mut Findings) {
        let checked = match *event {
            Event::RunBegan { at, latencies } => {
                self.begin(at, latencies);
                Ok(())
            }
            Event::Time { events } => self.events(events),
            Event::RunEnded { pending, latencies } => self.end_run(pending, latencies),
            Event::MeasuredPhase => {
                self.dies.stalled = 0;
                Ok(())
            }
            _ if !self.is_on() => Ok(()),
            Event::Requests { first, requests } => {
                self.host.ask(first, requests);
                Ok(())
            }
            Event::Programmed { ppn, cause, .. } => {
                self.expected.programmed(ppn, true, cause, &self.lengths);
                Ok(())
            }
            Event::Padded { ppn, cause, .. } => {
                self.expected.programmed(ppn, false, cause, &self.lengths);
                Ok(())
            }
            Event::Merged { block, mode, cause, .. } => {
                self.expected.merged(block, mode, cause, &self.lengths);
                Ok(())
            }
            _ => Ok(()),
        };
        findings.note(Kind::Protocol, checked);
    }

    fn end(&mut self, _: &Truth, drive: &Drive, _: &Books, findings: &mut Findings) {
        if self.has_run {
            findings.note(Kind::Books, self.check_stalls(drive.reclaim_counts().stall_ns));
        }
    }
}
