//! Options for reading and replaying a trace. The user states facts that the files do not contain,
//! because vpass does not guess such facts. Other options say which devices are replayed, and how
//! addresses and times are mapped.

use std::path::Path;

use vpass_drive::base::phrase::{Opt, Phrase};
use vpass_drive::base::request::{Arrival, Op, SourceError};
use vpass_drive::phrase;

use crate::traces::replay::capacity_fit::Fit;
use crate::traces::rows::blk::BlkAction;
use crate::traces::rows::format::{Epoch, Format};
use crate::traces::rows::unit::{TimeUnit, Times};
use crate::traces::shown::shown;

/// Options for reading and replaying a trace.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct TraceOptions {
    /// Format of the files. If this option is absent, the format is detected from the content of
    /// each file.
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
    /// Numbers or names of the devices to replay; all devices if empty.
    pub only: Vec<String>,
    /// Whether the files follow each other as parts of one trace. In this case, devices with the
    /// same name in several files are one device.
    pub concat: bool,
    /// Whether recordings in a file follow each other if the clock of the file starts again.
    pub join_recordings: bool,
    /// Method for requests that lie beyond the drive's capacity.
    pub fit: Fit,
    /// Page size of the drive in bytes, for [`Fit::Pack`]; a power of two up to 1 MiB.
    pub page_bytes: u64,
    /// Whether a request that is earlier than the previous request causes an error. If this is
    /// false, such a request gets the time of the previous request.
    pub strict: bool,
    /// Replay speed as a multiple of the recorded speed, above 0.
    pub speed: f64,
    /// Rule by which requests arrive. In an open loop, requests arrive at the times in the trace.
    pub arrival: Arrival,
}

impl Default for TraceOptions {
    fn default() -> Self {
        Self {
            format: None,
            assume_op: None,
            clock: MissingClock::Refuse,
            blk_action: None,
            time_unit: None,
            skip_bad_lines: false,
            only: vec![],
            concat: false,
            join_recordings: false,
            fit: Fit::Error,
            page_bytes: 4096,
            strict: false,
            speed: 1.0,
            arrival: Arrival::Open,
        }
    }
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

impl TraceOptions {
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
        let fixed = match format.times {
            Times::Usual(_) => None,
            Times::Fixed(unit) => Some(format!("the format fixes the unit of its times ({unit})")),
            Times::None => Some("the trace has no times for its requests".into()),
        };
        if let Some(why) = fixed.filter(|_| self.time_unit.is_some()) {
            return sentence(phrase![why, ", so ", Opt::TimeUnit, " has no effect; leave it out"]);
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
