//! Workload that a caller makes at run time. The workload has a name, an identity, and a function
//! that makes a source of requests for a drive.
//!
//! Each request of the source is checked. A request that no host could make ends the run, and the
//! error names the workload.

use std::fmt;
use std::sync::Arc;

use vpass_drive::base::request::{Arrival, Request, RequestSource, SourceError};
use vpass_drive::base::units::Ns;

use crate::pass::PassSource;

/// Drive for which a caller's workload makes requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForDrive {
    /// Capacity of the drive in bytes.
    pub capacity: u64,
    /// Size of a flash page in bytes.
    pub page_bytes: u32,
    /// Random seed of the run.
    pub seed: u64,
}

/// Function that makes a source of requests. vpass calls the function once for each drive, and also
/// for checks before a run.
pub type Make = dyn Fn(ForDrive) -> Result<Box<dyn PassSource>, SourceError> + Send + Sync;

/// Workload that a caller made. Clones share the function that makes the source.
#[derive(Clone)]
pub struct Given {
    name: Arc<str>,
    identity: Arc<str>,
    make: Arc<Make>,
}

impl Given {
    /// Makes a workload. Two workloads with the same identity must make the same requests. A digest
    /// of the requests is a good identity.
    pub fn new(
        name: impl Into<Arc<str>>,
        identity: impl Into<Arc<str>>,
        make: impl Fn(ForDrive) -> Result<Box<dyn PassSource>, SourceError> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), identity: identity.into(), make: Arc::new(make) }
    }

    /// Returns the name that results use for the workload.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the identity of the workload's requests.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// Makes the source of requests for a drive.
    ///
    /// # Errors
    /// Returns an error if the caller's function returns an error.
    pub fn source(&self, drive: ForDrive) -> Result<Box<dyn PassSource>, SourceError> {
        let source = (self.make)(drive)?;
        let name = self.name.clone();
        Ok(Box::new(Checked { source, name, capacity: drive.capacity, count: 0, last: 0 }))
    }
}

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.identity)
    }
}

impl PartialEq for Given {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.identity) == (&other.name, &other.identity)
    }
}

/// Source that checks each request of a caller's source.
struct Checked {
    source: Box<dyn PassSource>,
    name: Arc<str>,
    capacity: u64,
    /// Number of requests so far, and arrival time of the last request.
    count: u64,
    last: Ns,
}

impl Checked {
    fn check(&mut self, request: &Request) -> Result<(), SourceError> {
        let end = request.offset.checked_add(request.bytes.into());
        let wrong = if request.bytes == 0 {
            "has 0 bytes; at least 1 is expected".into()
        } else if end.is_none_or(|end| end > self.capacity) {
            format!(
                "has {} bytes from byte {} on, so the request ends beyond the drive of {} bytes",
                request.bytes, request.offset, self.capacity
            )
        } else if self.arrival() == Arrival::Open && request.at < self.last {
            format!(
                "arrives after {} ns, earlier than the request before it ({} ns); rising times \
                 are expected",
                request.at, self.last
            )
        } else {
            (self.count, self.last) = (self.count + 1, request.at);
            return Ok(());
        };
        Err(SourceError::new(format!("{}: request {} {wrong}", self.name, self.count)))
    }
}

impl RequestSource for Checked {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        let first = out.len();
        self.source.fill(out, max)?;
        let made = out.len() - first;
        if made > max {
            return Err(SourceError::new(format!(
                "{}: the source returned {made} requests, but vpass asked for at most {max}",
                self.name
            )));
        }
        (first..out.len()).try_for_each(|n| self.check(&out[n]))
    }

    fn arrival(&self) -> Arrival {
        self.source.arrival()
    }

    fn tell_time(&mut self, now: Ns) {
        self.source.tell_time(now);
    }

    fn completed(&mut self, origin: u16) {
        self.source.completed(origin);
    }

    fn waits_until(&self) -> Option<Ns> {
        self.source.waits_until()
    }

    fn next_stage(&mut self) -> bool {
        self.source.next_stage()
    }

    fn len_hint(&self) -> Option<u64> {
        self.source.len_hint()
    }
}

impl PassSource for Checked {
    fn next_pass(&mut self) -> Result<(), SourceError> {
        self.source.next_pass()
    }

    fn memory(&self) -> u64 {
        self.source.memory()
    }

    fn has_next_stage(&self) -> bool {
        self.source.has_next_stage()
    }
}

#[cfg(test)]
mod tests {
    use vpass_drive::base::request::Op;

    use super::*;
    use crate::listed::ListedSource;

    fn served(requests: &[(Ns, u64, u32)], arrival: Arrival) -> Result<usize, String> {
        let request =
            |&(at, offset, bytes): &(Ns, u64, u32)| Request::new(at, offset, bytes, Op::Read);
        let all: Arc<[Request]> = requests.iter().map(request).collect();
        let given =
            Given::new("mine", "1", move |_| Ok(Box::new(ListedSource::new(all.clone(), arrival))));
        let mut out = vec![];
        let drive = ForDrive { capacity: 100, page_bytes: 4096, seed: 1 };
        given
            .source(drive)
            .unwrap()
            .fill(&mut out, 9)
            .map(|()| out.len())
            .map_err(|e| e.to_string())
    }

    #[test]
    fn possible_requests_pass_and_others_are_named() {
        let closed = Arrival::Closed { depth: 1 };
        assert_eq!(served(&[(5, 0, 100), (5, 99, 1)], Arrival::Open), Ok(2));
        assert_eq!(served(&[(5, 0, 1), (4, 0, 1)], closed), Ok(2));
        for (requests, said) in [
            (&[(0, 0, 0)][..], "mine: request 0 has 0 bytes"),
            (
                &[(0, 0, 1), (0, 1, 100)],
                "mine: request 1 has 100 bytes from byte 1 on, so the request ends beyond",
            ),
            (&[(0, u64::MAX, 1)], "mine: request 0 has 1 bytes"),
            (&[(5, 0, 1), (4, 0, 1)], "mine: request 1 arrives after 4 ns, earlier than"),
        ] {
            let why = served(requests, Arrival::Open).unwrap_err();
            assert!(why.starts_with(said), "{why}");
        }
    }
}
