//! Options for reading a trace file. The user states facts that the file does not contain, because
//! vpass does not guess such facts.

use crate::traces::shown::shown;
use std::path::Path;

use vpass_drive::base::phrase::{Opt, Phrase};
use vpass_drive::base::request::{Op, SourceError};
use vpass_drive::phrase;

use crate::traces::rows::blk::BlkAction;
use crate::traces::rows::format::Format;
use crate::traces::rows::trace_row::Epoch;
use crate::traces::rows::unit::{TimeUnit, Times};

/// Facts that the user states because the file does not contain them, and the treatment of invalid
/// lines.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// Format of the file. If this option is absent, the format is detected from the content of the
    /// file.
    pub format: Option<&'static Format>,
    /// Direction of all requests, for a format whose rows have no direction.
    pub assume_op: Option<Op>,
    /// Source of the requests' times, for a format without times.
    pub clock: MissingClock,
    /// Kind of event that vpass takes as the request, for a format with several events per request.
    pub blk_action: Option<BlkAction>,
    /// Unit of the times, for a format that does not define this unit.
    pub time_unit: Option<TimeUnit>,
    /// Whether invalid lines and records are skipped and counted.
    pub skip_bad_lines: bool,
}

/// Source of the times for a trace without times.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum MissingClock {
    /// A trace without times is refused.
    #[default]
    Refuse,
    /// All requests have the time 0. This is enough for a closed loop and for an analysis of
    /// addresses.
    Ignore,
    /// Requests are evenly spaced. The field is the number of requests per second, which is above
    /// 0.
    Rate(f64),
}

impl ReadOptions {
    /// Checks that a file of the given format can be read with these options.
    pub(in crate::traces) fn suffice(
        &self,
        path: &Path,
        format: &Format,
    ) -> Result<(), SourceError> {
        let sentence = |what: Phrase| {
            let (path, name) = (shown(path), format.name);
            Err(SourceError::new(phrase!["{path}: ", what, " ({name} format)"]))
        };
        if !format.has_op && self.assume_op.is_none() {
            return sentence(phrase![
                "the trace does not say which requests are reads and which are writes; give ",
                Opt::AssumeOp.to("read"),
                " or ",
                Opt::AssumeOp.to("write"),
            ]);
        }
        match (format.times, self.time_unit) {
            (Times::Fixed(unit), Some(_)) => {
                return sentence(phrase![
                    "the format fixes the unit of its times ({unit}), so ",
                    Opt::TimeUnit,
                    " has no effect; leave it out",
                ]);
            }
            (Times::None, Some(_)) => {
                return sentence(phrase![
                    "the trace has no times for its requests, so ",
                    Opt::TimeUnit,
                    " has no effect; leave it out",
                ]);
            }
            _ => {}
        }
        match (format.clock, self.clock) {
            (Epoch::None, MissingClock::Refuse) => sentence(phrase![
                "the trace has no times for its requests; give ",
                Opt::AssumeRate.to("IOPS"),
                ", or ",
                Opt::QueueDepth.to("N"),
                " for a closed loop",
            ]),
            (Epoch::None, MissingClock::Rate(rate)) if !(rate > 0.0 && rate.is_finite()) => {
                sentence(phrase![
                    Opt::AssumeRate.to(rate),
                    " is not a rate; a number above 0 is expected",
                ])
            }
            _ => Ok(()),
        }
    }
}
