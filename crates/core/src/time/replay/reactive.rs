//! Requests that follow from completions: the source is asked for what is due whenever one of its
//! requests is complete, and at the times that it names. A job that pauses between its requests, or
//! several with queues of their own, are such sources.

use super::{CHUNK, Replay};
use crate::base::request::RequestSource;
use crate::base::units::Ns;
use crate::drive::Drive;
use crate::time::{Progress, RunError, Tag};

/// Requests between two calls of `progress`.
const STEP: u64 = CHUNK as u64;

impl Replay {
    /// Serves a stage of such requests; at its end all are complete.
    #[cold]
    pub(super) fn react(
        &mut self,
        drive: &mut Drive,
        source: &mut dyn RequestSource,
        progress: Progress,
        before: u64,
    ) -> Result<(), RunError> {
        // Origins of requests that are complete: a request's tag is its origin.
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
                    let fails =
                        if drive.wants_attention() { drive.next_failure() } else { Ns::MAX };
                    self.wait(drive, wakes.unwrap_or(Ns::MAX).min(fails), &mut completed);
                }
            }
        };
        (self.requests, self.next) = (vec![], 0);
        result
    }

    /// Tells the source what is complete and submits what is due; gives the time until which there
    /// is nothing else, none at the end.
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
        if drive.wants_attention() {
            self.device.attend(drive, drive.announced()).map_err(RunError::Stopped)?;
        }
        self.device.announce(drive, &self.requests);
        for (n, request) in self.requests.iter().enumerate() {
            self.served += 1;
            if drive.wants_attention() {
                let number = drive.announced() - (self.requests.len() - n) as u64;
                self.device.attend(drive, number).map_err(RunError::Stopped)?;
            }
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

    /// Lets time pass until a request is complete, or until `wakes` and all that happens then.
    fn wait(&mut self, drive: &mut Drive, wakes: Ns, completed: &mut Vec<u16>) {
        while completed.is_empty() && wakes >= self.device.now() {
            let at = self.device.advance(drive, wakes, |tag, _| completed.push(tag.0 as u16));
            if at == wakes && self.device.next_event() > wakes {
                return;
            }
        }
    }
}
