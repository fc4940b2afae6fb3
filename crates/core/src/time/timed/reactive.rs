//! Requests that follow from completions: the source is asked for what is due whenever one of its requests is complete, and at the times
//! that it names. A job that pauses between its requests, or several with queues of their own, are such sources.

use super::{Asked, CHUNK, TimedEngine};
use crate::base::request::RequestSource;
use crate::base::units::Ns;
use crate::drive::Drive;
use crate::time::{Progress, RunError};

/// Requests between two calls of `progress`.
const STEP: u64 = CHUNK as u64;

impl TimedEngine {
    /// Serves a stage of such requests; at its end all are complete.
    #[cold]
    pub(super) fn react(
        &mut self,
        drive: &mut Drive,
        source: &mut dyn RequestSource,
        progress: Progress,
        before: u64,
    ) -> Result<(), RunError> {
        self.host.completed = Some(vec![]);
        let mut step_at = self.served;
        let result = loop {
            if self.served >= step_at {
                if !progress(self.served - before, drive) {
                    break Err(RunError::Interrupted);
                }
                step_at = self.served + STEP;
            }
            match self.ask(drive, source) {
                Err(error) => break Err(error),
                Ok(None) if self.host.outstanding == 0 => break Ok(()),
                Ok(wakes) => self.wait(drive, wakes.unwrap_or(Ns::MAX)),
            }
        };
        self.host.completed = None;
        (self.requests, self.next) = (vec![], 0);
        result
    }

    /// Tells the source what is complete and submits what is due; gives the time until which there is nothing else, none at the end.
    fn ask(&mut self, drive: &mut Drive, source: &mut dyn RequestSource) -> Result<Option<Ns>, RunError> {
        source.tell_time(self.now);
        if let Some(completed) = &mut self.host.completed {
            completed.drain(..).for_each(|origin| source.completed(origin));
        }
        self.requests.clear();
        // Who watches hears of no request before all that happened earlier.
        self.hand_over_all(drive);
        source.fill(&mut self.requests, CHUNK).map_err(RunError::Source)?;
        drive.announce(&self.requests);
        self.first = (drive.announced() - self.requests.len() as u64) as u32;
        for next in 0..self.requests.len() {
            let request = self.requests[next];
            self.served += 1;
            let number = self.first.wrapping_add(next as u32);
            self.submit(drive, &Asked { request, number, start: request.at });
        }
        if self.requests.is_empty() { Ok(source.waits_until()) } else { Ok(Some(self.now)) }
    }

    /// Lets time pass until a request is complete, or until `wakes`.
    fn wait(&mut self, drive: &mut Drive, wakes: Ns) {
        loop {
            if self.host.completed.as_ref().is_some_and(|completed| !completed.is_empty()) {
                return;
            }
            let ((event, next), completion) = (self.dies.next(), self.host.next_event());
            let at = event.min(completion).min(wakes);
            if self.host.outstanding == 0 && self.pads_before(drive, at) {
                continue;
            }
            assert!(at != Ns::MAX, "requests are outstanding or still to come, but nothing is going to happen");
            self.now = self.now.max(at);
            if event == at {
                self.step(drive, next);
            } else if completion == at {
                if let Some(asked) = self.host.take_event() {
                    self.take_in(drive, &asked);
                }
            } else {
                return;
            }
        }
    }
}
