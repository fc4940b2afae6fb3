//! Detects implausibly high request rates, which are a sign of a wrong time unit.

use vpass_drive::base::in_words;
use vpass_drive::base::phrase::{Opt, Phrase};
use vpass_drive::base::units::Ns;
use vpass_drive::phrase;

use crate::traces::rows::format::Format;
use crate::traces::rows::unit::{TimeUnit, Times, UnitBasis};

/// Largest plausible rate, in requests per second. Few hosts exceed this rate on average over a
/// whole trace.
const MOST_IOPS: f64 = 100_000.0;
/// Smallest number of requests in a file whose request rate is checked. Fewer requests may be a
/// burst, for example a queue that is emptied at once.
const FEWEST_ROWS: u64 = 5_000;

/// Returns a warning if `rows` requests in `span_ns` are implausibly many, because the times in
/// `file` were then probably read in a wrong unit. The warning says how to set another unit.
pub fn doubts(
    file: &str,
    format: &Format,
    said: Option<TimeUnit>,
    rows: u64,
    span_ns: Ns,
) -> Option<Phrase> {
    let taken = format.times.taken(said)?;
    let seconds = span_ns as f64 / 1e9;
    let iops = rows as f64 / seconds;
    if rows < FEWEST_ROWS || span_ns == 0 || iops <= MOST_IOPS {
        return None;
    }
    let (span, unit) = (in_words::seconds(seconds), taken.words);
    let text = phrase![
        "{file}: {rows} requests in {span} are {iops:.0} requests per second, more than most hosts \
         sustain; the times of the trace are taken as {unit}, "
    ];
    if let (Times::Usual(usual), UnitBasis::Assumed | UnitBasis::Said) =
        (format.times, taken.because)
    {
        let (other, factor) = coarser(said.unwrap_or(usual), iops);
        let (span, iops) = (in_words::seconds(seconds * factor), iops / factor);
        return Some(phrase![
            text,
            "which ",
            Opt::TimeUnit,
            " changes: with {other}, the trace would take {span} and have {iops:.0} requests per \
             second",
        ]);
    }
    let name = format.name;
    Some(phrase![
        text,
        "as the {name} format requires; if the file was made from another trace, make the file \
         again with ",
        Opt::TimeUnit,
        "; ",
        Opt::Speed.to("0.001"),
        " replays it slower",
    ])
}

/// Returns the shortest time unit longer than `unit` that gives a plausible rate, and the length of
/// the returned unit in multiples of `unit`. If no unit gives a plausible rate, the longest unit is
/// returned.
fn coarser(unit: TimeUnit, iops: f64) -> (TimeUnit, f64) {
    let longer = |other: TimeUnit| other.ns() as f64 / unit.ns() as f64;
    let by_length = [TimeUnit::Microseconds, TimeUnit::Milliseconds, TimeUnit::Seconds];
    let found = by_length
        .into_iter()
        .find(|other| longer(*other) > 1.0 && iops / longer(*other) <= MOST_IOPS);
    let other = found.unwrap_or(TimeUnit::Seconds);
    (other, longer(other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traces::format_named;

    fn said(format: &str, unit: Option<TimeUnit>, rows: u64, span_ns: Ns) -> Option<String> {
        doubts("a", format_named(format).unwrap(), unit, rows, span_ns).map(|s| s.to_string())
    }

    #[test]
    fn microseconds_taken_for_nanoseconds_are_noticed() {
        // The trace has 45,000 requests in 300 s, but its times were read as 300 ms.
        assert_eq!(
            said("mqsim", None, 45_000, 300_000_000).unwrap(),
            "a: 45000 requests in 300 ms are 150000 requests per second, more than most hosts \
             sustain; the times of the trace are taken as nanoseconds, which `time_unit` changes: \
             with us, the trace would take 5.00 min and have 150 requests per second"
        );
        // With the unit ms given by the user, 45,000 requests came in 1 ms. With the unit s, these
        // are 45,000 requests per second.
        let text = said("disksim", Some(TimeUnit::Milliseconds), 45_000, 1_000_000).unwrap();
        assert!(
            text.ends_with(
                "taken as milliseconds, which `time_unit` changes: with s, the trace would take \
                 1.00 s and have 45000 requests per second"
            ),
            "{text}"
        );
        let text = said("compact", None, 45_000, 300_000_000).unwrap();
        assert!(
            text.contains(
                "taken as nanoseconds, as the compact format requires; if the file was made from \
                 another trace"
            ),
            "{text}"
        );
    }

    #[test]
    fn a_burst_and_a_fast_disk_are_believed() {
        assert_eq!(said("mqsim", None, 4_999, 1), None);
        assert_eq!(said("mqsim", None, 100_000, 1_000_000_000), None);
        assert_eq!(said("tencent", None, 50_000, 0), None, "all within a tick of its clock");
        assert_eq!(said("arc", None, 50_000, 1), None, "no times at all");
    }
}
