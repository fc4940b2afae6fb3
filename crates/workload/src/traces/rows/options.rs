//! How one file is to be read: what it cannot say itself and nobody should guess.

use std::path::Path;

use vpass_core::base::request::{Op, SourceError};

use crate::traces::rows::blk::BlkAction;
use crate::traces::rows::format::Format;
use crate::traces::rows::trace_row::Epoch;
use crate::traces::rows::unit::{TimeUnit, Times};

/// What a format does not keep and the user has to say, and what to do about wrong lines.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The format; found from the content where none is given.
    pub format: Option<&'static Format>,
    /// The direction of all requests, for a format that keeps none.
    pub assume_op: Option<Op>,
    /// The times of all requests, for a format that keeps none.
    pub clock: MissingClock,
    /// The event that counts as the request, for a format that records several for each.
    pub blk_action: Option<BlkAction>,
    /// The unit of the times, for a format whose definition leaves it open.
    pub time_unit: Option<TimeUnit>,
    /// Passes over lines and records that cannot be read, and counts them.
    pub skip_bad_lines: bool,
}

/// The clock of a trace that keeps none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum MissingClock {
    /// Such a trace is refused.
    #[default]
    Refuse,
    /// All requests come at 0: for a closed loop, which does not ask, and for whoever looks at
    /// addresses only.
    Ignore,
    /// So many requests a second, evenly; above 0.
    Rate(f64),
}

impl ReadOptions {
    /// Whether a file of this format can be read with what the options say.
    pub(in crate::traces) fn suffice(
        &self,
        path: &Path,
        format: &Format,
    ) -> Result<(), SourceError> {
        let sentence = |what: &str| {
            Err(SourceError(format!("{}: {what} ({} format)", path.display(), format.name)))
        };
        if !format.has_op && self.assume_op.is_none() {
            return sentence(
                "the trace does not say what is read and what is written; say --assume-op read or --assume-op write",
            );
        }
        match (format.times, self.time_unit) {
            (Times::Fixed(unit), Some(_)) => {
                return sentence(&format!(
                    "the format fixes the unit of its times ({unit}), so --time-unit says nothing; leave it out"
                ));
            }
            (Times::None, Some(_)) => {
                return sentence(
                    "the trace keeps no time for its requests, so --time-unit says nothing; leave it out",
                );
            }
            _ => {}
        }
        match (format.clock, self.clock) {
            (Epoch::None, MissingClock::Refuse) => sentence(
                "the trace keeps no time for its requests; say --assume-rate IOPS, or --queue-depth N for a closed loop",
            ),
            (Epoch::None, MissingClock::Rate(rate)) if !(rate > 0.0 && rate.is_finite()) => {
                sentence(&format!(
                    "{rate} requests a second are no rate; a number above 0 is expected"
                ))
            }
            _ => Ok(()),
        }
    }
}
