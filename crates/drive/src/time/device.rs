//! Drive as a device: a host submits requests, advances time event by event, and is informed of
//! each completed request.
//!
//! The data in the drive changes when a request is served. The physical work that follows is queued
//! at the dies. Deferred jobs take a step whenever the schedule allows it. Time jumps from event to
//! event, without polling.
//!
//! ```
//! # use vpass_drive::base::request::{Op, Request};
//! # use vpass_drive::base::units::Ns;
//! # use vpass_drive::drive::Drive;
//! # use vpass_techniques::usual;
//! # use vpass_drive::time::{Device, Tag};
//! # let config: vpass_drive::config::DriveConfig = toml::from_str(r#"
//! #     geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 80, wordlines_per_block = 64, cell = "slc", page_size = "4KiB" }
//! #     timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
//! #     drive = { spare = 0.2 }
//! # "#).unwrap();
//! # let mut drive = Drive::new(config.resolve().unwrap(), &usual(), true).unwrap();
//! # drive.precondition(1);
//! let mut device = Device::new(&drive);
//! let mut complete = vec![];
//! let mut host = |tag: Tag, at: Ns| complete.push((tag, at));
//! for page in 0..2 {
//!     let read = Request { at: device.now(), offset: page * 4096, bytes: 4096, op: Op::Read, origin: 0, hint: None };
//!     device.submit(&mut drive, Tag(page as u32), &read, &mut host);
//! }
//! while device.outstanding() > 0 {
//!     device.advance(&mut drive, Ns::MAX, &mut host);
//! }
//! // This is 50 us of sensing and 4 KiB at 800 MB/s, one read after the other.
//! assert_eq!(complete, [(Tag(0), 55_120), (Tag(1), 110_240)]);
//! ```

mod dies;
mod events;
mod host;
mod jobs;
mod rebuilt;
mod route;
mod speed;
mod stripes;
mod submit;
mod timeline;
mod tree;
mod under_way;
mod watch;
mod wordlines;

use std::collections::VecDeque;
use std::slice;

use self::dies::Dies;
use self::host::{Host, HostEvent};
use self::rebuilt::Held;
pub use self::speed::Speed;
use self::stripes::StripesUnderWay;
use self::wordlines::Wordlines;
use super::drive::NandOp;
use crate::base::course::Course;
use crate::base::metrics::{Groups, TimedMetrics};
use crate::base::reciprocal::Reciprocal;
use crate::base::request::Request;
use crate::base::units::{DieId, Lpn, Ns, us};
use crate::config::Schedule;
use crate::drive::Drive;

/// Tag that a host gives to a request. Several requests may have one tag: the device only gives it
/// back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(pub u32);

impl Tag {
    /// Tag of no request.
    const NONE: Self = Self(u32::MAX);
}

/// Request in the device. Its latency counts from its `at`.
#[derive(Clone, Copy)]
struct Command {
    request: Request,
    tag: Tag,
    /// Number of the request for the observer.
    number: u32,
}

/// Number of requests between two checks for data to regroup by its hints. The pace does not depend
/// on how a source hands out its requests.
const REGROUP_EVERY: u32 = 1024;

/// Number of stripes that are formed at a time for each die. Pages of one are read, the parity of
/// one waits for its die, and the parity of one is programmed.
const FORMED_PER_DIE: usize = 3;

/// Dies, channels, host link and write buffer of a drive over time. The drive holds the data. It is
/// an argument of each call, and must always be the same drive.
pub struct Device {
    speed: Speed,
    dies: Dies,
    host: Host,
    now: Ns,
    by_unit: Reciprocal,
    /// Number of pages that the write buffer may hold while they are programmed. With 0, a write is
    /// acknowledged when it is programmed.
    program_slots: u32,
    programming: u32,
    /// Writes and trims that wait for space in the buffer.
    stalled: VecDeque<Command>,
    /// Number of running programs of copied pages. In idle gaps, at most two per die are started.
    copy_programs: u32,
    held_back: VecDeque<DieId>,
    /// Wordlines that wait for reads of their pages.
    wordlines: Wordlines,
    /// Reads for rebuilds that wait until a host read has failed.
    held: Held,
    /// Stripes that are being written.
    stripes: StripesUnderWay,
    /// Time without a request after which incomplete wordlines are padded, and the time when this
    /// last happened.
    pad_after: Option<Ns>,
    padded_at: Ns,
    /// Work that the drive has recorded for the dies.
    ops: Vec<NandOp>,
    /// Number of works queued at dies, without host reads.
    works: u32,
    /// Dies that may be able to start some work.
    touched: Vec<DieId>,
    schedule: Schedule,
    /// Number of requests that the observer knows but that are not yet submitted.
    announced: u32,
    /// Number of stages of the drive's life that have begun since the device was made.
    stages: usize,
    /// Sensing of the page that the host reads next, if it takes retries or begins above level 0.
    tired: Option<Tired>,
    /// Size and channel time of the last partial page read.
    last_transfer: (u32, Ns),
}

/// Sensing of a read that needs retries.
#[derive(Clone, Copy, Debug, Default)]
struct Tired {
    /// Level that the read begins with.
    level: u8,
    /// Number of further levels that it uses.
    retries: u8,
}

impl Device {
    /// Number of requests that [`Self::prepare`] prefetches at a time, so that their cache and
    /// translation misses overlap.
    pub const GROUP: usize = 16;

    /// Creates an idle device at time 0. The drive must be made for the timed gear.
    pub fn new(drive: &Drive) -> Self {
        assert!(drive.is_timed(), "the drive was made for the untimed gear");
        let (config, g) = (drive.config(), drive.geometry());
        let t = &config.timing;
        let planes = if t.independent_planes { g.planes_per_die } else { 1 };
        Self {
            speed: Speed::new(config, g, drive.ftl.adjusting.map_or(0, |merging| merging.takes)),
            dies: Dies::new(config, g),
            host: Host::new(t.host_mb_s),
            now: 0,
            by_unit: Reciprocal::new(g.blocks_per_plane * g.planes_per_die / planes),
            program_slots: drive.ftl.buffer_slots,
            programming: 0,
            stalled: VecDeque::new(),
            copy_programs: 0,
            held_back: VecDeque::new(),
            wordlines: Wordlines::default(),
            held: Held::default(),
            stripes: StripesUnderWay::default(),
            pad_after: (drive.flash.by_wordline && t.pad_after_us > 0.0)
                .then(|| us(t.pad_after_us)),
            padded_at: 0,
            ops: vec![],
            works: 0,
            touched: vec![],
            schedule: config.reclaim.schedule,
            announced: 0,
            stages: drive.ftl.worn.lifetime.beginnings().len(),
            tired: None,
            last_transfer: (0, 0),
        }
    }

    /// Returns the current time.
    pub fn now(&self) -> Ns {
        self.now
    }

    /// Returns the number of requests that are submitted and not yet complete.
    pub fn outstanding(&self) -> u32 {
        self.host.outstanding
    }

    /// Returns the time of the last completion.
    pub fn last_completion(&self) -> Ns {
        self.host.last_end
    }

    /// Returns the latencies so far.
    pub fn metrics(&self) -> &TimedMetrics {
        &self.host.metrics
    }

    /// Also counts latencies for groups of origins from now on. `group_of` gives the group of each
    /// origin.
    pub fn count_groups(&mut self, group_of: &[u16]) {
        self.host.metrics.groups = Groups::new(group_of);
    }

    /// Marks read latencies at evenly spaced numbers of requests from now on.
    pub fn keep_course(&mut self) {
        self.host.metrics.course = Some(Course::default());
    }

    /// Also counts latencies by window of time from now on ([`TimedMetrics::by_window`]). Time must
    /// be 0.
    pub fn keep_windows(&mut self) {
        assert_eq!(self.now, 0, "windows begin at time 0");
        self.host.metrics.windows.begin();
    }

    /// Marks the read latencies after this number of requests, if they are marked and a mark is
    /// due.
    #[cold]
    pub(super) fn mark(&mut self, requests: u64) {
        if let Some(course) = &mut self.host.metrics.course {
            course.note(requests, &self.host.metrics.read);
        }
    }

    /// Takes over a request from the host now. Only [`Self::advance`] moves time. The request's
    /// latency counts from `request.at`, which may be in the past. If the request completes at
    /// once, like a write that finds space in the buffer, `completed` gets it with the time.
    #[inline(always)]
    // Once a request; what is asked would go through memory.
    pub fn submit(
        &mut self,
        drive: &mut Drive,
        tag: Tag,
        request: &Request,
        completed: impl FnMut(Tag, Ns),
    ) {
        assert!(tag != Tag::NONE, "the tag u32::MAX is reserved");
        debug_assert!(request.at <= self.now, "a request is submitted before it was made");
        if self.announced == 0 {
            self.announce(drive, slice::from_ref(request));
        }
        let number = self.submitted(drive);
        self.announced -= 1;
        if number.is_multiple_of(REGROUP_EVERY) {
            drive.regroup();
        }
        self.take_over(drive, tag, number, request);
        self.give_back(completed);
    }

    /// Gives the host the requests that are complete.
    #[inline]
    fn give_back(&mut self, mut completed: impl FnMut(Tag, Ns)) {
        for (tag, at) in &self.host.done {
            completed(*tag, *at);
        }
        self.host.done.clear();
    }

    /// Executes the next event if it happens up to `until`. Otherwise advances time to `until`.
    /// Returns the time. `completed` gets each request that completes with the event, at the
    /// current time. Events of one time are executed one by one, so that the host may submit
    /// requests between them.
    ///
    /// # Panics
    /// Panics if time would have no end: no event is left and `until` is `Ns::MAX`.
    #[inline(always)]
    // Three times a page read.
    pub fn advance(
        &mut self,
        drive: &mut Drive,
        until: Ns,
        mut completed: impl FnMut(Tag, Ns),
    ) -> Ns {
        let ((at_dies, next), at_host) = (self.dies.next(), self.host.next_event());
        let at = at_dies.min(at_host).min(until);
        if self.host.outstanding == 0
            && (self.pads_before(drive, at) || self.rebuilds_before(drive, at))
            || drive.next_wake() < at && self.wakes_before(drive)
        {
            return self.now;
        }
        assert!(at != Ns::MAX, "the host waits for the drive, but the drive has no work");
        debug_assert!(at >= self.now, "time does not go back");
        self.now = at;
        if at_dies == at {
            self.step(drive, next);
            self.give_back(completed);
        } else if at_host == at {
            match self.host.take_event() {
                HostEvent::Completed(tag) => completed(tag, at),
                HostEvent::Arrived(command) => {
                    self.take_in(drive, &command);
                    self.give_back(completed);
                }
            }
        }
        at
    }

    /// Returns the time of the next event if the host does nothing; `Ns::MAX` if there is none. The
    /// padding of incomplete wordlines in a pause is not included.
    pub fn next_event(&self) -> Ns {
        self.dies.next().0.min(self.host.next_event())
    }

    /// Begins to program all data in the controller's memory. No request is under way.
    pub fn begin_flush(&mut self, drive: &mut Drive) {
        debug_assert!(self.host.outstanding == 0, "a flush follows the requests before it");
        drive.flash.now = self.now;
        drive.drain_buffer();
        self.route(drive, dies::NIL);
    }

    /// Returns whether all programs that a flush began have ended, and so have those before it.
    pub fn is_flushed(&self) -> bool {
        self.programming == 0 && self.copy_programs == 0
    }

    /// Prefetches the memory that the next requests will use. A host that knows these requests
    /// calls this before every [`Self::GROUP`]th request, with the requests from that one on. For a
    /// host that does not, the results are unchanged, but the run is slower.
    #[inline(never)]
    pub fn prepare(&self, drive: &mut Drive, next: &[Request]) {
        // Map entries are prefetched two groups ahead, counters one.
        let shift = drive.geometry().page_shift();
        let mut groups = next.chunks(Self::GROUP);
        let mut group = || groups.next().unwrap_or_default();
        let (first, second, third) = (group(), group(), group());
        for later in third {
            drive.prefetch_map(Lpn::holding(later.offset, shift));
        }
        drive.settle_soon(second.iter());
        for soon in second {
            let entry = drive.ftl.map.get(Lpn::holding(soon.offset, shift));
            drive.prefetch_counters(entry);
        }
        if drive.has_tracker() {
            for request in first {
                drive.prefetch_tracked(request);
            }
        }
    }

    /// Reports the next requests to the observer before they are submitted, all at once. A request
    /// that is not announced is reported by itself.
    pub fn announce(&mut self, drive: &mut Drive, requests: &[Request]) {
        // The observer gets a request only after all earlier events.
        self.tell_all(drive);
        drive.announce(requests);
        self.announced += requests.len() as u32;
    }

    /// Returns the number of requests submitted so far, modulo 2^32. It is the number of the next
    /// one.
    fn submitted(&self, drive: &Drive) -> u32 {
        (drive.announced() as u32).wrapping_sub(self.announced)
    }

    /// Checks blocks that are due next only because of time. The drive may then have work to do.
    #[cold]
    fn wakes_before(&mut self, drive: &mut Drive) -> bool {
        self.now = drive.next_wake().max(self.now);
        self.wake(drive);
        true
    }

    /// Returns whether all events up to this time have happened. A host submits a request when the
    /// device has reached its arrival.
    #[inline]
    pub fn has_reached(&self, at: Ns) -> bool {
        at < self.now || at == self.now && self.next_event() > at
    }

    /// Lets time pass as [`Self::advance`] does, and handles failures at their times. A host calls
    /// this function and [`Self::attend`] before each request.
    ///
    /// # Errors
    /// Returns the reason for which the drive cannot go on.
    #[inline(always)]
    // As `advance`.
    pub fn pass(
        &mut self,
        drive: &mut Drive,
        until: Ns,
        completed: impl FnMut(Tag, Ns),
    ) -> Result<(), String> {
        if !drive.wants_attention() {
            self.advance(drive, until, completed);
            return Ok(());
        }
        let fails = drive.next_failure();
        self.advance(drive, until.min(fails.max(self.now)), completed);
        // A failure before a request waits for the request, however time is cut into pieces.
        if fails <= self.now { self.attend(drive) } else { Ok(()) }
    }

    /// Handles all failures that are due by the next request or by now, and continues a rebuild
    /// with each request.
    ///
    /// # Errors
    /// Returns the reason for which the drive cannot go on.
    #[inline]
    pub fn attend(&mut self, drive: &mut Drive) -> Result<(), String> {
        if drive.wants_attention() { self.attend_now(drive) } else { Ok(()) }
    }

    #[cold]
    fn attend_now(&mut self, drive: &mut Drive) -> Result<(), String> {
        drive.flash.now = self.now;
        let attended = drive.attend(drive.announced() - u64::from(self.announced), self.now);
        self.route(drive, dies::NIL);
        attended
    }

    /// Rebuilds a page on failed flash in a pause without other work. The drive then has work to
    /// do.
    #[cold]
    fn rebuilds_before(&mut self, drive: &mut Drive, at: Ns) -> bool {
        if !self.may_rebuild(drive) || self.now >= at.min(drive.next_wake()) {
            return false;
        }
        drive.flash.now = self.now;
        drive.rebuild_next(self.now);
        self.route(drive, dies::NIL);
        true
    }

    /// Returns whether pages on failed flash wait and no die has other work.
    fn may_rebuild(&self, drive: &Drive) -> bool {
        drive.is_rebuilding() && self.dies.next().0 == Ns::MAX
    }

    /// Checks blocks that are due by now.
    #[cold]
    #[inline(never)]
    fn wake(&mut self, drive: &mut Drive) {
        drive.flash.now = self.now;
        drive.ftl.worn.pace.dies_are_busy = self.has_better_work(drive);
        drive.wake();
        self.route(drive, dies::NIL);
    }

    /// Returns whether dies have better work than forming stripes. It is work that writes wait for,
    /// pages to rebuild, or enough stripes that no host request waits for. A die handles jobs only
    /// when nothing else waits for it. So with jobs, the limit on these stripes is that of one die.
    fn has_better_work(&self, drive: &Drive) -> bool {
        let dies = if self.dies.have_jobs() { 1 } else { self.dies.count() };
        !self.stalled.is_empty()
            || drive.is_rebuilding()
            || self.stripes.of_nobody() >= FORMED_PER_DIE * dies
    }

    /// Pads incomplete wordlines if the pause becomes long enough before `at`. The drive may then
    /// have work before `at`.
    #[cold]
    fn pads_before(&mut self, drive: &mut Drive, at: Ns) -> bool {
        let Some(pad_after) = self.pad_after.filter(|_| !drive.ftl.gathers.is_empty()) else {
            return false;
        };
        let quiet_since = self.padded_at.max(self.host.last_end);
        let due = (quiet_since + pad_after).max(self.now);
        // Earlier checks and rebuilds come first, so that a long pause has the same effects as the
        // same pause in pieces.
        let waits =
            due > drive.next_wake().max(self.now) || due > self.now && self.may_rebuild(drive);
        if due >= at || waits {
            return false;
        }
        (self.now, self.padded_at) = (due, due);
        drive.flash.now = due;
        drive.pad_streams();
        self.route(drive, dies::NIL);
        true
    }
}
