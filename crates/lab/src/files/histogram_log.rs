//! `read.hlog`, `write.hlog` and `read_during_reclaim.hlog`: latencies in the standard log format
//! of `HdrHistogram`. A log has one line for each interval of time.
//!
//! A line of a log has the start and the length of an interval in simulated seconds. Then follow
//! the largest latency in ns and the histogram of latencies in ns. The intervals are the windows of
//! `latency.csv`. The sum of all histograms is the histogram of the whole run.

use std::fmt::Write;
use std::time::Duration;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::IntervalLogWriterBuilder;

use crate::failure::Failure;

/// Interval of a log: start in ns, end in ns, and histogram of the latencies in the interval.
pub(super) type Interval = (u64, u64, Histogram<u64>);

/// Formats a log of these intervals.
///
/// # Errors
/// Returns an error if a histogram cannot be written.
pub(super) fn text(name: &str, intervals: &[Interval]) -> Result<String, Failure> {
    let mut text = format!(
        "#vpass {}: {name} latencies in nanoseconds; times in simulated seconds\n",
        env!("CARGO_PKG_VERSION")
    );
    for (from, to, histogram) in intervals {
        let seconds = |ns: u64| ns as f64 / 1e9;
        let written =
            histogram_line(histogram).map_err(|e| Failure::failed(format!("{name}.hlog: {e}")))?;
        let _ = writeln!(
            text,
            "{:.9},{:.9},{:.3},{written}",
            seconds(*from),
            seconds(to - from),
            histogram.max() as f64,
        );
    }
    Ok(text)
}

/// Encodes a histogram for the last column of a log line. The `HdrHistogram` library is not used
/// for the other columns, because this library rounds times to milliseconds.
fn histogram_line(histogram: &Histogram<u64>) -> Result<String, String> {
    let (mut bytes, mut serializer) = (vec![], V2DeflateSerializer::new());
    let mut log = IntervalLogWriterBuilder::new()
        .begin_log_with(&mut bytes, &mut serializer)
        .map_err(|e| e.to_string())?;
    log.write_histogram(histogram, Duration::ZERO, Duration::ZERO, None)
        .map_err(|e| format!("{e:?}"))?;
    let line = String::from_utf8(bytes).map_err(|e| e.to_string())?;
    Ok(line.trim_end().rsplit(',').next().unwrap_or_default().to_owned())
}
