//! Latencies of a run from its `.hlog` file, which holds the whole histogram.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use vpass_lab::failure::Failure;

use crate::folder::Folder;

/// Returns the histogram of a log in nanoseconds; `None` without the file.
///
/// # Errors
/// Reports a file that is not a log of one histogram or more.
pub fn histogram(folder: &Folder, file: &str) -> Result<Option<Histogram<u64>>, Failure> {
    let Some(bytes) = folder.file(file) else { return Ok(None) };
    let wrong = |why: &str| folder.wrong(file, why);
    let mut all: Option<Histogram<u64>> = None;
    for entry in IntervalLogIterator::new(bytes) {
        let LogEntry::Interval(interval) = entry.map_err(|_| wrong("a line is unknown"))? else {
            continue;
        };
        let coded = STANDARD.decode(interval.encoded_histogram());
        let coded = coded.map_err(|e| wrong(&e.to_string()))?;
        let one: Histogram<u64> = Deserializer::new()
            .deserialize(&mut coded.as_slice())
            .map_err(|e| wrong(&e.to_string()))?;
        match &mut all {
            Some(all) => all.add(one).map_err(|e| wrong(&e.to_string()))?,
            None => all = Some(one),
        }
    }
    all.map(Some).ok_or_else(|| wrong("the log holds no histogram"))
}

/// Returns the latency in microseconds that a share of `1 - 10^-nines` of the requests do not
/// exceed.
pub fn at_nines(histogram: &Histogram<u64>, nines: f64) -> f64 {
    histogram.value_at_quantile(1.0 - 10f64.powf(-nines)) as f64 / 1e3
}
