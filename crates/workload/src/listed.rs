//! Source that hands out a list of requests from memory. Many drives can replay the same list at
//! the same time.

use std::sync::Arc;

use vpass_drive::base::request::{Arrival, Request, RequestSource, SourceError};
use vpass_drive::base::units::Ns;

use crate::pass::PassSource;

/// Source that hands out a list of requests.
pub struct ListedSource {
    all: Arc<[Request]>,
    arrival: Arrival,
    next: usize,
    /// Time at which the current pass begins.
    begins: Ns,
}

impl ListedSource {
    /// Makes a source of these requests. In an open loop, the list must be in the order of arrival
    /// times.
    pub fn new(all: Arc<[Request]>, arrival: Arrival) -> Self {
        Self { all, arrival, next: 0, begins: 0 }
    }
}

impl RequestSource for ListedSource {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        let end = self.all.len().min(self.next.saturating_add(max));
        let begins = self.begins;
        out.extend(
            self.all[self.next..end]
                .iter()
                .map(|request| Request { at: request.at + begins, ..*request }),
        );
        self.next = end;
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        self.arrival
    }

    fn len_hint(&self) -> Option<u64> {
        Some(self.all.len() as u64)
    }
}

impl PassSource for ListedSource {
    fn next_pass(&mut self) -> Result<(), SourceError> {
        self.begins += self.all.last().map_or(0, |request| request.at);
        self.next = 0;
        Ok(())
    }

    fn memory(&self) -> u64 {
        0
    }
}
