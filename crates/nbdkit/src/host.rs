//! Clients of the drive in real time. Each request is submitted at the present and answered when the
//! drive's time has passed. One thread keeps the drive's clock.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nbdkit::Error;
use vpass_cli::serve::Serving;
use vpass_drive::base::units::Ns;
use vpass_live::{Action, Actor, Completion, Id, Lost, Refusal};

use crate::late::Late;

/// Longest sleep of the clock's thread without an event of the drive.
const IDLE: Duration = Duration::from_millis(100);

/// Whether the user has asked to end the fast load.
static ENDS_LOAD: AtomicBool = AtomicBool::new(false);

/// Drive that is served, and its clients.
pub(crate) struct Host {
    capacity: u64,
    state: Mutex<State>,
    /// Wakes the clock's thread when an event is due earlier than it expects.
    bell: Condvar,
}

/// Request whose client waits.
struct Waiting {
    at: Ns,
    reply: SyncSender<Result<Vec<u8>, Lost>>,
}

struct State {
    /// Drive; `None` after the end.
    drive: Option<(Serving, Actor)>,
    status: Option<PathBuf>,
    clock: Clock,
    waiting: HashMap<Id, Waiting>,
    late: Late,
    /// Number of requests, and the drive's time of the last one.
    requests: u64,
    last: Ns,
    /// Time after the last write at which the fast load ends; `None` if it has ended.
    load: Option<Duration>,
    last_write: Instant,
    /// Time at which the clock's thread wakes.
    wakes: Ns,
}

/// Relation of the drive's time to real time.
struct Clock {
    began: Instant,
    /// The drive's time at `began`.
    from: Ns,
    dilate: f64,
}

impl Clock {
    /// Returns the drive's present.
    fn now(&self) -> Ns {
        self.from + (self.began.elapsed().as_nanos() as f64 / self.dilate) as Ns
    }

    /// Returns the real time for a span of the drive's time.
    fn real(&self, span: Ns) -> Duration {
        Duration::from_nanos((span as f64 * self.dilate).ceil() as u64)
    }
}

fn ended() -> Error {
    Error::new(libc::ESHUTDOWN, "the drive is not served any more")
}

extern "C" fn end_load(_: libc::c_int) {
    ENDS_LOAD.store(true, Ordering::Relaxed);
}

impl Host {
    /// Serves this drive from now on. Its exit code goes to the file `status`.
    pub(crate) fn new(serving: Serving, actor: Actor, status: Option<PathBuf>) -> Self {
        let handler = end_load as extern "C" fn(libc::c_int);
        // SAFETY: the handler only sets a flag.
        unsafe { libc::signal(libc::SIGUSR1, handler as libc::sighandler_t) };
        let clock = Clock { began: Instant::now(), from: 0, dilate: serving.dilate() };
        let state = State {
            load: serving.fast_load(),
            status,
            clock,
            waiting: HashMap::new(),
            late: Late::default(),
            requests: 0,
            last: 0,
            last_write: Instant::now(),
            wakes: 0,
            drive: None,
        };
        let capacity = actor.capacity();
        let state = State { drive: Some((serving, actor)), ..state };
        Self { capacity, state: Mutex::new(state), bell: Condvar::new() }
    }

    /// Returns the size of the drive in bytes.
    pub(crate) fn capacity(&self) -> u64 {
        self.capacity
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Serves a request of a client, and returns when the drive has completed it.
    pub(crate) fn serve(&self, offset: u64, action: Action) -> nbdkit::Result<Vec<u8>> {
        self.wait(|state| state.submit(offset, action))
    }

    /// Flushes the drive for a client, and returns when the flush is complete.
    pub(crate) fn flush(&self) -> nbdkit::Result<()> {
        self.wait(State::flush).map(drop)
    }

    /// Passes a request to the drive, and returns when the drive has completed it.
    fn wait(
        &self,
        submit: impl FnOnce(&mut State) -> nbdkit::Result<Receiver<Result<Vec<u8>, Lost>>>,
    ) -> nbdkit::Result<Vec<u8>> {
        let reply = {
            let mut state = self.state();
            let reply = submit(&mut state)?;
            if state.next_due() < state.wakes {
                self.bell.notify_one();
            }
            reply
        };
        match reply.recv() {
            Ok(Ok(bytes)) => Ok(bytes),
            Ok(Err(Lost)) => Err(Error::new(libc::EIO, "the drive has lost this data")),
            Err(_) => Err(ended()),
        }
    }

    /// Lets the drive's time pass with real time, until the end.
    pub(crate) fn keep_time(&self) {
        // SAFETY: this only lets timers of this thread expire without delay.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
        let mut state = self.state();
        while state.drive.is_some() {
            state.end_load_if_due();
            state.advance();
            state.wakes = state.next_due();
            let left = state.wakes.saturating_sub(state.clock.now());
            let sleep = state.clock.real(left).min(IDLE);
            state = self
                .bell
                .wait_timeout(state, sleep)
                .map_or_else(|poisoned| poisoned.into_inner().0, |(state, _)| state);
        }
    }

    /// Ends the service: completes all requests and shows the results.
    pub(crate) fn end(&self) {
        let mut state = self.state();
        let Some((serving, mut actor)) = state.drive.take() else { return };
        while actor.outstanding() > 0
            && let Some(next) = actor.next_event()
        {
            actor.advance(next);
        }
        eprintln!("vpass: {}", state.late.sentence(serving.dilate()));
        let code = serving.end(actor.end(), state.requests, state.last);
        if let Some(file) = &state.status {
            // Without the file, `vpass serve` reports a failure.
            let _ = std::fs::write(file, code.to_string());
        }
    }
}

impl State {
    fn submit(
        &mut self,
        offset: u64,
        action: Action,
    ) -> nbdkit::Result<Receiver<Result<Vec<u8>, Lost>>> {
        self.advance();
        if matches!(action, Action::Write(_)) {
            self.last_write = Instant::now();
        }
        let (serving, actor) = self.drive.as_mut().ok_or_else(ended)?;
        let request = action.request(actor.now(), offset);
        let id = actor.submit(offset, action, None).map_err(|why| {
            let code = match why {
                Refusal::Invalid { .. } => libc::EINVAL,
                Refusal::NoMemory { .. } => libc::ENOSPC,
                Refusal::Stopped(_) => libc::EIO,
            };
            Error::new(code, why)
        })?;
        serving.record(&request);
        self.requests += 1;
        self.last = actor.now();
        Ok(self.expect(id))
    }

    fn flush(&mut self) -> nbdkit::Result<Receiver<Result<Vec<u8>, Lost>>> {
        self.advance();
        let (serving, actor) = self.drive.as_mut().ok_or_else(ended)?;
        serving.record_flush(actor.now());
        let id = actor.flush();
        self.last = actor.now();
        Ok(self.expect(id))
    }

    /// Returns the place where the result of this request arrives.
    fn expect(&mut self, id: Id) -> Receiver<Result<Vec<u8>, Lost>> {
        let (reply, receiver) = sync_channel(1);
        let at = self.drive.as_ref().map_or(0, |(_, actor)| actor.now());
        self.waiting.insert(id, Waiting { at, reply });
        self.advance();
        receiver
    }

    /// Lets the drive's time pass up to the present, and answers complete requests. During the fast
    /// load, the drive's time passes until no request is left.
    fn advance(&mut self) {
        let Some((_, actor)) = &mut self.drive else { return };
        let is_load = self.load.is_some();
        let mut completed = actor.advance(if is_load { actor.now() } else { self.clock.now() });
        while is_load
            && actor.outstanding() > 0
            && let Some(next) = actor.next_event()
        {
            completed.append(&mut actor.advance(next));
        }
        for Completion { id, at, result } in completed {
            let Some(Waiting { at: arrival, reply }) = self.waiting.remove(&id) else { continue };
            if self.load.is_none() {
                let late = self.clock.real(self.clock.now().saturating_sub(at));
                self.late.note(self.clock.real(at - arrival), late);
            }
            // A client that has left wants no answer.
            let _ = reply.send(result);
        }
    }

    /// Ends the fast load if the user asked for it, or if no write came for long enough. The
    /// drive's time goes on from where it is.
    fn end_load_if_due(&mut self) {
        let Some((_, actor)) = &self.drive else { return };
        let is_due = self.load.is_some_and(|pause| self.last_write.elapsed() >= pause);
        if self.load.is_some() && (is_due || ENDS_LOAD.load(Ordering::Relaxed)) {
            self.load = None;
            (self.clock.began, self.clock.from) = (Instant::now(), actor.now());
        }
    }

    /// Returns the drive's time of its next event. During the fast load, requests alone let time
    /// pass.
    fn next_due(&self) -> Ns {
        let next = self.drive.as_ref().and_then(|(_, actor)| actor.next_event());
        next.filter(|_| self.load.is_none()).unwrap_or(Ns::MAX)
    }
}
