//! Owner of a live drive. It takes requests at the present time, lets the drive's time pass up to the
//! present and never beyond, and reports completed requests.
//!
//! The state of the drive depends only on the requests and their times. It does not depend on the
//! number of calls of [`Actor::advance`] in between.

use std::collections::VecDeque;

use vpass_drive::base::latency::AccessLatency;
use vpass_drive::base::request::{Op, Request};
use vpass_drive::base::units::{Lpn, Ns};
use vpass_drive::drive::Drive;
use vpass_drive::time::{Device, Tag};

use crate::content::Page;
use crate::store::{Served, Store};

/// Bytes of a sector. Requests begin and end at sectors.
pub const SECTOR: u64 = 512;

/// Number of a request, in the order of submission.
pub type Id = u64;

/// What the host wants to do with its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Read of this number of bytes.
    Read(u32),
    /// Write of these bytes.
    Write(Vec<u8>),
    /// Discard of this number of bytes. Pages that are covered only in part keep their data.
    Trim(u32),
}

impl Action {
    /// Returns the request for this action, without its bytes.
    pub fn request(&self, at: Ns, offset: u64) -> Request {
        let bytes = self.bytes() as u32;
        Request { at, offset, bytes, op: self.op(), origin: 0, hint: None }
    }

    fn bytes(&self) -> u64 {
        match self {
            Self::Read(bytes) | Self::Trim(bytes) => u64::from(*bytes),
            Self::Write(bytes) => bytes.len() as u64,
        }
    }

    fn op(&self) -> Op {
        match self {
            Self::Read(_) => Op::Read,
            Self::Write(_) => Op::Write,
            Self::Trim(_) => Op::Trim,
        }
    }
}

/// Reason for which a request is not taken. The drive stays as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The request is empty, is not aligned to sectors, or ends beyond the drive.
    #[error(
        "a request of {bytes} bytes at byte {offset} is invalid; requests have whole sectors of \
         {SECTOR} bytes within the {capacity} bytes of the drive"
    )]
    Invalid {
        /// First byte.
        offset: u64,
        /// Number of bytes.
        bytes: u64,
        /// Size of the drive in bytes.
        capacity: u64,
    },
    /// The bytes of the write may not fit into memory.
    #[error("the data of the drive may need more than {most} bytes of memory after this write")]
    NoMemory {
        /// Largest number of bytes that the data may take.
        most: u64,
    },
    /// The drive has stopped, because too much of its flash has failed.
    #[error("{0}")]
    Stopped(String),
}

/// Data that the drive could not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost;

/// Completed request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Number of the request.
    pub id: Id,
    /// Time of the completion.
    pub at: Ns,
    /// Bytes of a read, and no bytes of other requests.
    pub result: Result<Vec<u8>, Lost>,
}

/// Request that is not complete.
struct Open {
    id: Id,
    result: Result<Vec<u8>, Lost>,
}

/// Request that waits because as many as possible are in the drive, or because of a flush.
enum Waiting {
    Request { tag: Tag, request: Request, bytes: Vec<u8> },
    Flush { tag: Tag, at: Ns },
}

/// Owner of a live drive.
pub struct Actor {
    drive: Drive,
    device: Device,
    capacity: u64,
    most_bytes: u64,
    next_id: Id,
    /// Requests that are not complete, by tag.
    open: Vec<Option<Open>>,
    unused: Vec<Tag>,
    waiting: VecDeque<Waiting>,
    /// Flush under way, which later requests wait for.
    flushing: Option<Tag>,
    completed: Vec<Completion>,
    stopped: Option<String>,
}

impl Actor {
    /// Makes a drive live. Its data counts as zeros. At most `most_bytes` of memory hold data that
    /// the host writes. The time is 0.
    pub fn new(mut drive: Drive, mut device: Device, most_bytes: u64) -> Self {
        let geometry = drive.geometry().clone();
        drive.observe(Box::new(Store::new(&geometry)));
        device.begin_run(&mut drive);
        device.note_arrival(true, drive.config().drive.max_outstanding);
        Self {
            capacity: u64::from(geometry.host_pages) * u64::from(geometry.page_bytes),
            drive,
            device,
            most_bytes,
            next_id: 0,
            open: vec![],
            unused: vec![],
            waiting: VecDeque::new(),
            flushing: None,
            completed: vec![],
            stopped: None,
        }
    }

    /// Returns the size of the drive in bytes.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Returns the drive.
    pub fn drive(&self) -> &Drive {
        &self.drive
    }

    /// Returns the drive, for its observers.
    pub fn drive_mut(&mut self) -> &mut Drive {
        &mut self.drive
    }

    /// Returns the dies, channels and latencies of the drive.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns whether the drive has stopped, because too much of its flash has failed.
    pub fn has_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// Returns the drive's time.
    pub fn now(&self) -> Ns {
        self.device.now()
    }

    /// Returns the number of requests that are not complete.
    pub fn outstanding(&self) -> usize {
        self.open.len() - self.unused.len()
    }

    /// Takes a request at the drive's time. The caller has advanced the time to the present.
    ///
    /// # Errors
    /// Returns the reason for which the request is not taken.
    pub fn submit(
        &mut self,
        offset: u64,
        action: Action,
        hint: Option<AccessLatency>,
    ) -> Result<Id, Refusal> {
        self.check(offset, &action)?;
        let (id, tag) = self.open();
        let request = Request { hint, ..action.request(self.device.now(), offset) };
        let bytes = if let Action::Write(bytes) = action { bytes } else { vec![] };
        self.waiting.push_back(Waiting::Request { tag, request, bytes });
        self.admit();
        Ok(id)
    }

    /// Takes a flush at the drive's time. If the controller's memory loses its data without power,
    /// the flush waits for all earlier requests and until their data is on flash. Later requests
    /// wait for the flush, and their latency begins with its end. A drive that has stopped fails the
    /// flush.
    pub fn flush(&mut self) -> Id {
        let (id, tag) = self.open();
        if self.stopped.is_some() {
            self.fail(tag);
        } else if self.drive.config().drive.write_buffer_protected {
            self.complete(tag, self.device.now());
        } else {
            self.waiting.push_back(Waiting::Flush { tag, at: self.device.now() });
            self.admit();
        }
        id
    }

    /// Lets the drive's time pass up to `now`, with all events up to then. Returns the requests that
    /// are complete, in the order of their completion.
    pub fn advance(&mut self, now: Ns) -> Vec<Completion> {
        loop {
            self.admit();
            if self.device.has_reached(now) || self.stopped.is_some() {
                break;
            }
            let Self { drive, device, open, unused, completed, .. } = self;
            let passed = device.pass(drive, now, |tag, at| {
                completed.push(complete(open, unused, tag, at));
            });
            self.stop_if(passed);
        }
        std::mem::take(&mut self.completed)
    }

    /// Returns the time at which the drive has something to do if no request comes; `None` if it
    /// then does nothing until the host's next request.
    pub fn next_event(&self) -> Option<Ns> {
        if !self.completed.is_empty() {
            return Some(self.device.now());
        }
        Some(self.device.next_event()).filter(|at| *at != Ns::MAX)
    }

    /// Ends the life of the drive as a device. All requests are complete. Returns the drive without
    /// its bytes, and its times.
    pub fn end(mut self) -> (Drive, Device) {
        self.device.end_run(&mut self.drive);
        self.drive.end_observation_of::<Store>();
        (self.drive, self.device)
    }

    fn check(&mut self, offset: u64, action: &Action) -> Result<(), Refusal> {
        let (bytes, capacity) = (action.bytes(), self.capacity);
        let is_aligned = offset.is_multiple_of(SECTOR) && bytes.is_multiple_of(SECTOR);
        let ends = offset.checked_add(bytes).is_some_and(|end| end <= capacity);
        if !is_aligned || !ends || bytes == 0 || bytes > u64::from(u32::MAX) {
            return Err(Refusal::Invalid { offset, bytes, capacity });
        }
        if let Some(why) = &self.stopped {
            return Err(Refusal::Stopped(why.clone()));
        }
        let page = u64::from(self.drive.geometry().page_bytes);
        let pages = (offset + bytes).div_ceil(page) - offset / page;
        let bytes_of = |waiting: &Waiting| match waiting {
            Waiting::Request { bytes, .. } => bytes.len(),
            Waiting::Flush { .. } => 0,
        };
        let waiting: usize = self.waiting.iter().map(bytes_of).sum();
        let most = self.most_bytes;
        let fits = self.store().most_bytes_after(pages) + 3 * waiting as u64 <= most;
        if action.op() == Op::Write && !fits {
            return Err(Refusal::NoMemory { most });
        }
        Ok(())
    }

    fn store(&mut self) -> &mut Store {
        self.drive.observer::<Store>().expect("the store observes the drive until its end")
    }

    /// Opens a request.
    fn open(&mut self) -> (Id, Tag) {
        let id = self.next_id;
        self.next_id += 1;
        let open = Some(Open { id, result: Ok(vec![]) });
        if let Some(tag) = self.unused.pop() {
            self.open[tag.0 as usize] = open;
            return (id, tag);
        }
        self.open.push(open);
        (id, Tag(self.open.len() as u32 - 1))
    }

    /// Takes a complete request out of the open ones.
    fn complete(&mut self, tag: Tag, at: Ns) {
        let completion = complete(&mut self.open, &mut self.unused, tag, at);
        self.completed.push(completion);
    }

    /// Returns whether the next waiting request may go to the device now.
    fn may_admit(&self) -> bool {
        self.flushing.is_none()
            && match self.waiting.front() {
                None => false,
                Some(Waiting::Flush { at, .. }) => {
                    self.device.outstanding() == 0 && self.device.has_reached(*at)
                }
                Some(Waiting::Request { request, .. }) => {
                    self.device.outstanding() < self.drive.config().drive.max_outstanding
                        && self.device.has_reached(request.at)
                }
            }
    }

    /// Ends the flush under way if all its data is on flash.
    fn end_flush(&mut self) {
        if let Some(tag) = self.flushing
            && self.device.is_flushed()
        {
            self.flushing = None;
            let now = self.device.now();
            for waiting in &mut self.waiting {
                if let Waiting::Request { request, .. } = waiting {
                    request.at = now;
                }
            }
            self.complete(tag, now);
        }
    }

    /// Passes waiting requests to the device while it takes more.
    fn admit(&mut self) {
        self.end_flush();
        while self.may_admit() {
            let attended = self.device.attend(&mut self.drive);
            self.stop_if(attended);
            let (tag, request, bytes) = match self.waiting.pop_front() {
                None => return,
                Some(Waiting::Request { tag, request, bytes }) => (tag, request, bytes),
                Some(Waiting::Flush { tag, .. }) => {
                    self.device.begin_flush(&mut self.drive);
                    self.flushing = Some(tag);
                    self.end_flush();
                    continue;
                }
            };
            let number = self.drive.announced();
            if request.op == Op::Write {
                self.store().expect(number, request.offset, bytes);
            }
            let Self { drive, device, .. } = self;
            let mut at_once = None;
            device.submit(drive, tag, &request, |tag, at| at_once = Some((tag, at)));
            if request.op == Op::Read {
                let result = self.read(&request);
                if let Some(open) = &mut self.open[tag.0 as usize] {
                    open.result = result;
                }
            }
            if let Some((tag, at)) = at_once {
                self.complete(tag, at);
            }
        }
    }

    /// If the drive has stopped, all its requests fail.
    fn stop_if(&mut self, passed: Result<(), String>) {
        let Err(why) = passed else { return };
        self.stopped = Some(why);
        self.waiting.clear();
        self.flushing = None;
        for tag in (0..).map(Tag).take(self.open.len()) {
            self.fail(tag);
        }
    }

    /// Ends a request, if it is open, without its data.
    fn fail(&mut self, tag: Tag) {
        if let Some(open) = &mut self.open[tag.0 as usize] {
            open.result = Err(Lost);
            self.complete(tag, self.device.now());
        }
    }

    /// Returns the bytes that a read gets from the pages that the drive has just sensed for it.
    fn read(&mut self, request: &Request) -> Result<Vec<u8>, Lost> {
        let page = self.drive.geometry().page_bytes;
        let served = self.store().take_served();
        let first = Lpn::holding(request.offset, page.trailing_zeros());
        let end = request.offset + u64::from(request.bytes);
        let mut bytes = Vec::with_capacity(request.bytes as usize);
        for (n, Served { lpn, bytes: of_page }) in (0..).zip(served) {
            assert_eq!(lpn, first + n, "the drive reads the pages of a request in order");
            let start = lpn.offset(page);
            let from = request.offset.saturating_sub(start) as usize;
            let to = (end - start).min(u64::from(page)) as usize;
            match of_page.map_err(|()| Lost)? {
                Some(content) => bytes.extend_from_slice(&Page::bytes(&content)[from..to]),
                None => bytes.resize(bytes.len() + to - from, 0),
            }
        }
        assert_eq!(bytes.len(), request.bytes as usize, "the drive reads all pages of a request");
        Ok(bytes)
    }
}

/// Takes a complete request out of the open ones.
fn complete(open: &mut [Option<Open>], unused: &mut Vec<Tag>, tag: Tag, at: Ns) -> Completion {
    let Open { id, result } = open[tag.0 as usize].take().expect("a request completes once");
    unused.push(tag);
    Completion { id, at, result }
}
