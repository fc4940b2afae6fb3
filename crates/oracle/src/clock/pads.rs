//! Time from which an incomplete wordline of host data may be programmed.

use vpass_drive::base::units::{Cause, Ns};
use vpass_drive::watch::time_event::Work;

use super::lengths::Lengths;

/// Checks the pause without requests before such a program.
#[derive(Debug, Default)]
pub(super) struct Pads {
    at: Ns,
}

impl Pads {
    /// Checks the program of an incomplete wordline. `quiet_since` is the end of the last request.
    pub(super) fn check(
        &mut self,
        work: &Work,
        now: Ns,
        quiet_since: Ns,
        sparse: bool,
        lengths: &Lengths,
    ) -> Result<(), String> {
        let Work::Program { pages, cause: Cause::Host, wordline: Some(_), .. } = *work else {
            return Ok(());
        };
        let Some(pause) =
            lengths.pad_after.filter(|_| pages < lengths.bits && lengths.slots > 0 && !sparse)
        else {
            return Ok(());
        };
        let due = self.at.max(quiet_since) + pause;
        if now != due && now != self.at {
            return Err(format!(
                "a wordline is programmed with only {pages} pages at {now} ns, before its pause \
                 ends at {due} ns"
            ));
        }
        self.at = now;
        Ok(())
    }
}
