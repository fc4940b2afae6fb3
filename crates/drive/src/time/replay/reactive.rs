//! Requests that follow from completions. The source is asked for due requests whenever one of its
//! requests is complete, and at the times that it names. Such sources are jobs that pause between
//! their requests, and several jobs with separate queues.

use super::{CHUNK, Replay};
use crate::base::request::RequestSource;
use crate::base::units::Ns;
use crate::drive::Drive;
use crate::time::{Progress, RunError, Tag};

/// Number of requests between two calls of `progress`.
const STEP: u64 = CHUNK as u64;

impl Replay {
    /// Serves a stage of such requests. At its end all are complete.
    #[cold]
    pub(super) fn react(
        &mut self,
        drive: &mut Drive,
        source: &mut dyn RequestSource,
        progress: Progress,
        before: u64,
    ) -> Result<(), RunError> {
        // This list holds the origins of completed requests: a request's tag is its origin.
        let mut completed = vec![];
        let mut step_at = self.served;
        let result = loop {
            if self.served >= step_at {
                self.device.mark(self.served);
                if !progress(self.served - before, drive) {
                    break Err(RunError::Interrupted);
                }
                step_at = self.served + STEP;
            }
            match self.ask(drive, source, &mut completed) {
                Err(error) => break Err(error),
                Ok(None) if self.device.outstanding() == 0 => break Ok(()),
                Ok(wakes) => {
                    let waited = self.wait(drive, wakes.unwrap_or(Ns::MAX), &mut completed);
                    if let Err(error) = waited {
                        break Err(error);
                    }
                }
            }
        };
        (self.requests, self.next) = (vec![], 0);
        result
    }

    /// Reports completions to the source and submits due requests. Returns the time until which
    /// there is no other request; `None` at the end.
    fn ask(
        &mut self,
        drive: &mut Drive,
        source: &mut dyn RequestSource,
        completed: &mut Vec<u16>,
    ) -> Result<Option<Ns>, RunError> {
        source.tell_time(self.device.now());
        completed.drain(..).for_each(|origin| source.completed(origin));
        self.requests.clear();
        source.fill(&mut self.requests, CHUNK).map_err(RunError::Source)?;
        self.device.announce(drive, &self.requests);
        for request in &self.requests {
            self.served += 1;
            self.device.attend(drive).map_err(RunError::Stopped)?;
            self.device.submit(drive, Tag(request.origin.into()), request, |tag, _| {
                completed.push(tag.0 as u16);
            });
        }
        if self.requests.is_empty() {
            Ok(source.waits_until())
        } else {
            Ok(Some(self.device.now()))
        }
    }

    /// Advances time until a request is complete, or until `wakes` with all its events.
    fn wait(
        &mut self,
        drive: &mut Drive,
        wakes: Ns,
        completed: &mut Vec<u16>,
    ) -> Result<(), RunError> {
        while completed.is_empty() && wakes >= self.device.now() {
            self.device
                .pass(drive, wakes, |tag, _| completed.push(tag.0 as u16))
                .map_err(RunError::Stopped)?;
            if self.device.now() == wakes && self.device.next_event() > wakes {
                break;
            }
        }
        Ok(())
    }
}
