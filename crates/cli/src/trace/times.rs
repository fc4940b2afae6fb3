//! Times of a trace: their unit, the first time and the last time. With an absolute clock, the
//! times also have dates.

use std::time::{Duration, SystemTime};

use serde::Serialize;
use vpass_workload::profile::Timeline;
use vpass_workload::traces::{Epoch, TimeUnit, TraceFile};

/// Clock of a trace, for the JSON output of `vpass trace info`.
#[derive(Serialize)]
pub(super) struct Times {
    /// Origin of the times: "absolute" (a date), "relative" (the start of the recording) or "none".
    pub(super) clock: &'static str,
    /// Unit of the times. The field after this one says why this unit is used: "format" (the trace
    /// format fixes the unit), "assumed" (default unit), or "said" (unit that the user gave).
    pub(super) time_unit: Option<&'static str>,
    pub(super) time_unit_from: Option<&'static str>,
    /// Earliest time on the trace's own clock. The field after this one has the latest time. The
    /// two fields are absent in a trace without times.
    pub(super) first_ns: Option<u64>,
    pub(super) last_ns: Option<u64>,
    /// Date of the earliest time, in UTC. The field after this one has the date of the latest time.
    /// The two fields are absent without an absolute clock, or if a date is implausible.
    pub(super) first_date: Option<String>,
    pub(super) last_date: Option<String>,
}

/// Earliest plausible date of a recording: 1990-01-01, in seconds since 1970. An earlier time does
/// not count as a date.
const EARLIEST_S: u64 = 631_152_000;
/// Number of seconds from 1601-01-01 to 1970-01-01. Windows file times count from 1601.
const FILE_TIME_S: u64 = 11_644_473_600;
const S_NS: u64 = 1_000_000_000;

impl Times {
    pub(super) fn of(file: &TraceFile, said: Option<TimeUnit>, time: &Timeline) -> Self {
        let (clock, unit) = (file.clock(), file.format().times.taken(said));
        let known = |ns: u64| (clock != Epoch::None).then_some(ns);
        let date = |ns: u64| (clock == Epoch::Absolute).then(|| date(ns)).flatten();
        Self {
            clock: match clock {
                Epoch::Absolute => "absolute",
                Epoch::Relative => "relative",
                Epoch::Run => "run",
                Epoch::None => "none",
            },
            time_unit: unit.map(|unit| unit.words),
            time_unit_from: unit.map(|unit| unit.because.name()),
            first_ns: known(time.earliest_ns()),
            last_ns: known(time.latest_ns()),
            first_date: date(time.earliest_ns()),
            last_date: date(time.latest_ns()),
        }
    }
}

/// Returns the date of an absolute time; `None` if the date is implausible. A clock counts from
/// 1970 or, in Windows, from 1601. A time gives a plausible date for at most one of these two
/// clocks.
fn date(ns: u64) -> Option<String> {
    let since_1970 = ns.checked_sub(FILE_TIME_S * S_NS).unwrap_or(ns);
    let is_date = since_1970 >= EARLIEST_S * S_NS;
    is_date.then(|| {
        humantime::format_rfc3339_millis(SystemTime::UNIX_EPOCH + Duration::from_nanos(since_1970))
            .to_string()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_both_clocks() {
        // Time of the first row in the MSR Cambridge trace hm_0, in ticks of 100 ns since 1601.
        assert_eq!(
            date(128_166_372_003_061_629 * 100).as_deref(),
            Some("2007-02-22T17:00:00.306Z")
        );
        assert_eq!(date(1_456_095_145_133_076_000).as_deref(), Some("2016-02-21T22:52:25.133Z"));
        // The first two times count from the start of a recording. The third is a Windows file time
        // before 1990.
        assert_eq!([0, 3_600 * S_NS, (FILE_TIME_S + 5) * S_NS].map(date), [None, None, None]);
    }
}
