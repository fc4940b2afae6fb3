//! Workload sent to a device as by a host: by the requests' own clock, by the number outstanding,
//! or after completions.

mod reactive;

use std::collections::VecDeque;

use super::{Device, Progress, RunError, Tag, before_the_end, check_arrivals};
use crate::base::metrics::TimedMetrics;
use crate::base::request::{Arrival, Request, RequestSource};
use crate::base::units::Ns;
use crate::drive::Drive;

/// Number of requests taken from the source at a time.
const CHUNK: usize = 1024;
/// Number of remaining requests below which more are taken from the source, so that
/// [`Device::prepare`] knows the next ones.
const LEFT: usize = 3 * Device::GROUP;

/// Device with the host side of a workload.
pub struct Replay {
    pub(super) device: Device,
    /// Requests taken from the source. Those before `next` are submitted.
    requests: Vec<Request>,
    next: usize,
    /// Flushes to come: the number of requests to serve before each flush, and its arrival.
    flushes: VecDeque<(u64, Ns)>,
    /// End of the last flush. Requests that waited for the flush arrive at its end.
    flushed_at: Option<Ns>,
    /// Whether the source's stage has no more requests.
    exhausted: bool,
    /// Whether requests come by their own clock, and how many may be outstanding.
    open: bool,
    depth: u32,
    /// Whether requests follow from completions instead.
    reactive: bool,
    served: u64,
}

impl Replay {
    /// Creates an idle device at time 0. The drive must be made for the timed gear.
    pub fn new(drive: &Drive) -> Self {
        Device::new(drive).into()
    }

    /// Returns the latencies so far.
    pub fn metrics(&self) -> &TimedMetrics {
        self.device.metrics()
    }

    /// Also counts latencies for groups of origins from now on. `group_of` gives the group of each
    /// origin.
    pub fn count_groups(&mut self, group_of: &[u16]) {
        self.device.count_groups(group_of);
    }

    /// Marks read latencies at evenly spaced numbers of requests from now on.
    pub fn keep_course(&mut self) {
        self.device.keep_course();
    }

    /// Also counts latencies by window of time from now on. Time must be 0.
    pub fn keep_windows(&mut self) {
        self.device.keep_windows();
    }

    /// Returns the simulated time of the last completion.
    pub fn last_completion(&self) -> Ns {
        self.device.last_completion()
    }

    /// Serves a workload to its end, until every request is complete. Time continues from call to
    /// call. Returns the number of requests served.
    ///
    /// # Errors
    /// Returns the error of the workload, or an interruption.
    pub fn run(
        &mut self,
        drive: &mut Drive,
        source: &mut dyn RequestSource,
        progress: Progress,
    ) -> Result<u64, RunError> {
        self.device.begin_run(drive);
        let before = self.served;
        loop {
            self.exhausted = false;
            self.ask_for_arrival(drive, source);
            if self.reactive {
                self.react(drive, source, progress, before)?;
            } else {
                self.stream(drive, source, progress, before)?;
            }
            source.tell_time(self.device.now());
            if !source.next_stage() {
                self.device.end_run(drive);
                return Ok(self.served - before);
            }
        }
    }

    /// Serves a stage whose requests come by their own clock or by the number outstanding. At the
    /// end all are complete.
    fn stream(
        &mut self,
        drive: &mut Drive,
        source: &mut dyn RequestSource,
        progress: Progress,
        before: u64,
    ) -> Result<(), RunError> {
        loop {
            let mut arrival = Ns::MAX;
            if self.device.outstanding() < self.depth {
                if self.requests.len() - self.next <= LEFT && !self.exhausted {
                    self.refill(drive, source)?;
                    if !progress(self.served - before, drive) {
                        return Err(RunError::Interrupted);
                    }
                }
                arrival = self.admit(drive)?;
                if self.device.outstanding() == 0
                    && self.exhausted
                    && self.next == self.requests.len()
                    && self.flushes.is_empty()
                {
                    let end =
                        source.ends_at().filter(|end| self.open && !self.device.has_reached(*end));
                    let Some(end) = end else { return Ok(()) };
                    arrival = end;
                }
            }
            self.device.pass(drive, arrival, |_, _| ()).map_err(RunError::Stopped)?;
        }
    }

    /// Submits the taken requests that may be submitted now. Returns the time of the next arrival.
    #[inline]
    fn admit(&mut self, drive: &mut Drive) -> Result<Ns, RunError> {
        while self.device.outstanding() < self.depth {
            let now = self.device.now();
            if let Some((_, at)) = self.flushes.front().filter(|(before, _)| *before == self.served)
            {
                if self.device.outstanding() > 0 {
                    return Ok(Ns::MAX);
                }
                if self.open && !self.device.has_reached(*at) {
                    return Ok(*at);
                }
                self.flush(drive)?;
                continue;
            }
            let at_hand = &mut self.requests[self.next..];
            let Some(request) = at_hand.first_mut() else {
                // The source may have more requests: return at once.
                return Ok(if self.exhausted { Ns::MAX } else { now });
            };
            let arrival = request.at.max(self.flushed_at.unwrap_or(0));
            if self.open && !self.device.has_reached(arrival) {
                return Ok(arrival);
            }
            request.at = arrival;
            if !self.open {
                // The request arrives now, and its latency counts from now.
                request.at = now;
            }
            self.device.attend(drive).map_err(RunError::Stopped)?;
            if self.next.is_multiple_of(Device::GROUP) {
                self.device.prepare(drive, at_hand);
            }
            self.device.submit(drive, UNNAMED, &at_hand[0], |_, _| ());
            self.next += 1;
            self.served += 1;
        }
        Ok(Ns::MAX)
    }

    /// Serves the next flush to its end. No request is outstanding.
    #[cold]
    fn flush(&mut self, drive: &mut Drive) -> Result<(), RunError> {
        self.flushes.pop_front();
        self.device.attend(drive).map_err(RunError::Stopped)?;
        self.device.begin_flush(drive);
        while !self.device.is_flushed() {
            self.device.pass(drive, Ns::MAX, |_, _| ()).map_err(RunError::Stopped)?;
        }
        self.flushed_at = Some(self.device.now());
        Ok(())
    }

    #[cold]
    fn refill(
        &mut self,
        drive: &mut Drive,
        source: &mut dyn RequestSource,
    ) -> Result<(), RunError> {
        self.requests.drain(..self.next);
        self.next = 0;
        self.device.mark(self.served);
        let before = self.requests.len();
        source.tell_time(self.device.now());
        source.fill(&mut self.requests, CHUNK).map_err(RunError::Source)?;
        let flushes = source.take_flushes();
        if !drive.config().drive.write_buffer_protected {
            let served = self.served;
            self.flushes.extend(flushes.iter().map(|(place, at)| (served + *place as u64, *at)));
        }
        check_arrivals(&self.requests)?;
        before_the_end("the drive is still at work", self.device.now())?;
        // A flush delays the requests after it. From the first flush on, each request is announced
        // when it is submitted.
        if self.flushes.is_empty() && self.flushed_at.is_none() {
            self.device.announce(drive, &self.requests[before..]);
        }
        self.exhausted = self.requests.len() == before;
        self.ask_for_arrival(drive, source);
        Ok(())
    }

    /// Reads from the source how requests arrive.
    fn ask_for_arrival(&mut self, drive: &Drive, source: &dyn RequestSource) {
        (self.open, self.depth, self.reactive) = match source.arrival() {
            Arrival::Open => (true, drive.config().drive.max_outstanding, false),
            Arrival::Closed { depth } => (false, depth.max(1), false),
            Arrival::Reactive => (true, u32::MAX, true),
        };
        self.device.note_arrival(self.open, self.depth);
    }
}

/// Adds the host side of a workload to a device.
impl From<Device> for Replay {
    fn from(device: Device) -> Self {
        Self {
            device,
            requests: vec![],
            next: 0,
            flushes: VecDeque::new(),
            flushed_at: None,
            exhausted: false,
            open: false,
            depth: 1,
            reactive: false,
            served: 0,
        }
    }
}

/// Gives up the host side of a workload.
impl From<Replay> for Device {
    fn from(replay: Replay) -> Self {
        replay.device
    }
}

/// Tag of requests whose completions the source does not need.
const UNNAMED: Tag = Tag(0);
