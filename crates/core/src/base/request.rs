//! What a host asks of the drive, and where such requests come from.

use crate::base::latency::AccessLatency;
use crate::base::units::Ns;

/// Direction of a host request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Op {
    /// Read.
    Read,
    /// Write.
    Write,
    /// Discard: the data is no longer wanted.
    Trim,
}

/// One host request; a trace row is one request, however the drive splits it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Arrival, in ns since the first request; used in open loop only.
    pub at: Ns,
    /// First byte addressed.
    pub offset: u64,
    /// Length in bytes, at least 1.
    pub bytes: u32,
    /// Direction.
    pub op: Op,
    /// Who asks, by a number that the source gives; 0 where it tells nobody from another.
    pub origin: u16,
    /// How slow it may be, where it says so itself.
    pub hint: Option<AccessLatency>,
}

/// How requests arrive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrival {
    /// By their own clock (`Request::at`).
    Open,
    /// The next one when one of `depth` completes.
    Closed {
        /// Requests outstanding at any time.
        depth: u32,
    },
    /// As their origins decide, each from what of its own is complete: the source hears of
    /// completions and hands out what is due ([`RequestSource::completed`],
    /// [`RequestSource::waits_until`]). Only a gear with a clock serves it.
    Reactive,
}

/// A stream of requests in the order of service. One dynamic call per batch.
pub trait RequestSource {
    /// Appends at most `max` requests; appends none only at the end of the stream.
    ///
    /// # Errors
    /// A trace that cannot be read or parsed further; the run stops and reports it.
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError>;

    /// How its requests arrive. Asked after every `fill`: the depth of a closed loop may change
    /// during a stream.
    fn arrival(&self) -> Arrival;

    /// The simulated time, told before each `fill` and `next_stage` by a gear that has a clock: for
    /// streams that end by time.
    fn tell_time(&mut self, _now: Ns) {}

    /// A request of this origin is complete, at the time told last. Told where requests are
    /// [`Arrival::Reactive`].
    fn completed(&mut self, _origin: u16) {}

    /// Where `fill` appended none and the stream is not at its end: the time before which nothing
    /// but a completion changes that. `Ns::MAX` waits for a completion alone.
    fn waits_until(&self) -> Option<Ns> {
        None
    }

    /// Goes on to the next stage, where there is one. Asked at the end of the stream, when every
    /// request is complete; afterwards `fill` and `arrival` are those of that stage.
    fn next_stage(&mut self) -> bool {
        false
    }

    /// Requests in total where that is known, for a progress bar.
    fn len_hint(&self) -> Option<u64> {
        None
    }
}

/// Why a stream of requests could not go on: a sentence for the user (file, line, what was wrong,
/// what was expected).
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct SourceError(pub String);
