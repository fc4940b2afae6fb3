//! How much goes at a time: no batch of a job is longer than it may be, and a wordline waits for its pages as long as it may.

use vpass_core::time_event::Work;
use vpass_core::units::{Cause, Ns};

use super::lengths::Lengths;

/// Pieces of jobs that copy more pages than a batch may: each a job that was finished at its deadline.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Batches {
    pub(super) longer: u64,
}

impl Batches {
    pub(super) fn piece(&mut self, copies: u32, cause: Cause, lengths: &Lengths) {
        self.longer += u64::from(cause == Cause::Reclaim && lengths.batch.is_some_and(|most| copies > most));
    }
}

/// When a wordline of the host's is programmed that is not complete: once nothing was asked for through a pause.
#[derive(Debug, Default)]
pub(super) struct Pads {
    at: Ns,
}

impl Pads {
    /// `quiet_since` is the end of the last request.
    pub(super) fn check(&mut self, work: &Work, now: Ns, quiet_since: Ns, sparse: bool, lengths: &Lengths) -> Result<(), String> {
        let Work::Program { pages, cause: Cause::Host, wordline: Some(_), .. } = *work else { return Ok(()) };
        let Some(pause) = lengths.pad_after.filter(|_| pages < lengths.bits && lengths.slots > 0 && !sparse) else { return Ok(()) };
        let due = self.at.max(quiet_since) + pause;
        if now != due && now != self.at {
            return Err(format!("a wordline is programmed with {pages} pages at {now} ns; its pause ends at {due} ns"));
        }
        self.at = now;
        Ok(())
    }
}
