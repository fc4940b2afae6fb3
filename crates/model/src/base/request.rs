//! Requests of a host, and their sources.

use crate::base::latency::AccessLatency;
use crate::base::phrase::Phrase;
use crate::base::units::Ns;

/// Direction of a host request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Op {
    /// Read of data.
    Read,
    /// Write of data.
    Write,
    /// Discard of data that the host no longer needs.
    Trim,
}

/// One host request. A trace row is one request, however the drive splits it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Arrival in ns since the first request. It is used only in open loop.
    pub at: Ns,
    /// First byte.
    pub offset: u64,
    /// Length in bytes, at least 1.
    pub bytes: u32,
    /// Direction.
    pub op: Op,
    /// Origin of the request, as a number that the source gives; 0 if the source does not
    /// distinguish origins.
    pub origin: u16,
    /// Latency that the request itself allows; `None` if it has no hint.
    pub hint: Option<AccessLatency>,
}

impl Request {
    /// Makes a request without a hint. Its source does not distinguish origins.
    pub const fn new(at: Ns, offset: u64, bytes: u32, op: Op) -> Self {
        Self { at, offset, bytes, op, origin: 0, hint: None }
    }
}

/// Way in which requests arrive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrival {
    /// Open loop: requests arrive by their own clock (`Request::at`).
    Open,
    /// Closed loop: the next request comes when one of `depth` requests completes.
    Closed {
        /// Number of outstanding requests.
        depth: u32,
    },
    /// Reactive: each origin decides from its own completed requests. The source gets the
    /// completions and returns the due requests ([`RequestSource::completed`],
    /// [`RequestSource::waits_until`]). This needs a gear with a clock.
    Reactive,
}

/// Stream of requests in the order of service. A batch costs one dynamic call.
pub trait RequestSource {
    /// Appends at most `max` requests. Appends no request only at the end of the stream.
    ///
    /// # Errors
    /// Reports a trace that cannot be read or parsed any further. The run then stops.
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError>;

    /// Returns how requests arrive. The drive asks after every `fill`, because the depth of a
    /// closed loop may change during a stream.
    fn arrival(&self) -> Arrival;

    /// Receives the simulated time before each `fill` and `next_stage`, from a gear with a clock.
    /// Streams that end by time need it.
    fn tell_time(&mut self, _now: Ns) {}

    /// Receives the completion of a request of this origin, at the time received last. Only for
    /// [`Arrival::Reactive`].
    fn completed(&mut self, _origin: u16) {}

    /// Returns the time until which only a completion can bring further requests. `Ns::MAX` waits
    /// for a completion alone. Called if `fill` appended no request and the stream has not ended.
    fn waits_until(&self) -> Option<Ns> {
        None
    }

    /// Returns the time until which the drive works after the last request; `None` if a run ends
    /// when its last request is complete. Only for [`Arrival::Open`].
    fn ends_at(&self) -> Option<Ns> {
        None
    }

    /// Takes the flushes of the host among the requests of the calls of `fill` since the last call.
    /// Each flush has a place in `out` and an arrival: the flush comes before the request at this
    /// place. A caller that does not take them serves the requests without flushes.
    fn take_flushes(&mut self) -> Vec<(usize, Ns)> {
        vec![]
    }

    /// Goes on to the next stage, and returns false if there is none. The drive calls it at the end
    /// of the stream, when every request is complete. Afterwards, `fill` and `arrival` are those of
    /// the new stage.
    fn next_stage(&mut self) -> bool {
        false
    }

    /// Returns the total number of requests if it is known, for a progress bar.
    fn len_hint(&self) -> Option<u64> {
        None
    }
}

#[deny(clippy::missing_trait_methods)]
impl<S: RequestSource + ?Sized> RequestSource for Box<S> {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        (**self).fill(out, max)
    }

    fn arrival(&self) -> Arrival {
        (**self).arrival()
    }

    fn tell_time(&mut self, now: Ns) {
        (**self).tell_time(now);
    }

    fn completed(&mut self, origin: u16) {
        (**self).completed(origin);
    }

    fn waits_until(&self) -> Option<Ns> {
        (**self).waits_until()
    }

    fn ends_at(&self) -> Option<Ns> {
        (**self).ends_at()
    }

    fn take_flushes(&mut self) -> Vec<(usize, Ns)> {
        (**self).take_flushes()
    }

    fn next_stage(&mut self) -> bool {
        (**self).next_stage()
    }

    fn len_hint(&self) -> Option<u64> {
        (**self).len_hint()
    }
}

/// Reason why a stream of requests could not go on, as a sentence for the user. It has the file,
/// the line, what was wrong, and what was expected.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct SourceError(Phrase);

impl SourceError {
    /// Makes an error of this sentence.
    pub fn new(sentence: impl Into<Phrase>) -> Self {
        Self(sentence.into())
    }
}

impl From<SourceError> for Phrase {
    fn from(e: SourceError) -> Self {
        e.0
    }
}
