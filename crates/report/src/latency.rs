//! Latencies of a run, which are stored as a histogram in an `.hlog` file.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use vpass_lab::failure::Failure;

use crate::folder::Folder;

/// Returns the histogram that a log file holds, in nanoseconds; `None` if the file is absent.
///
/// # Errors
/// Returns an error for a file that is not a log with at least one histogram.
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
        let one = Deserializer::new().deserialize(&mut coded.as_slice());
        let mut one: Histogram<u64> = one.map_err(|e| wrong(&e.to_string()))?;
        one.auto(true);
        match &mut all {
            Some(all) => all.add(one).map_err(|e| wrong(&e.to_string()))?,
            None => all = Some(one),
        }
    }
    all.map(Some).ok_or_else(|| wrong("the log holds no histogram"))
}

/// Returns the latency in microseconds at a percentile. The percentile is given as a number of
/// nines: `1 - 10^-nines` of the requests are not slower.
pub fn at_nines(histogram: &Histogram<u64>, nines: f64) -> f64 {
    histogram.value_at_quantile(1.0 - 10f64.powf(-nines)) as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hdrhistogram::serialization::V2DeflateSerializer;
    use hdrhistogram::serialization::interval_log::IntervalLogWriterBuilder;

    use super::*;

    /// Makes a log file with one interval for each list of latencies in nanoseconds.
    fn log(intervals: &[&[u64]]) -> Vec<u8> {
        let (mut bytes, mut serializer) = (vec![], V2DeflateSerializer::new());
        let mut log =
            IntervalLogWriterBuilder::new().begin_log_with(&mut bytes, &mut serializer).unwrap();
        for (at, latencies) in (0..).zip(intervals) {
            let mut histogram = Histogram::<u64>::new(3).unwrap();
            latencies.iter().for_each(|ns| histogram.record(*ns).unwrap());
            let (start, length) = (Duration::from_secs(at), Duration::from_secs(1));
            log.write_histogram(&histogram, start, length, None).unwrap();
        }
        bytes
    }

    fn folder(content: Vec<u8>) -> Folder {
        Folder::of_files("run", [("read.hlog".to_owned(), content)])
    }

    #[test]
    fn intervals_add_up_to_the_histogram_of_the_run() {
        // In the first interval, nine reads take 50 us. In the second interval, one read takes 5
        // ms.
        let all = histogram(&folder(log(&[&[50_000; 9], &[5_000_000]])), "read.hlog");
        let all = all.unwrap().unwrap();
        assert_eq!(all.len(), 10);
        let close = |us: f64, to: f64| (us / to - 1.0).abs() < 0.001;
        assert!(close(at_nines(&all, 0.5), 50.0) && close(at_nines(&all, 2.0), 5000.0));
    }

    #[test]
    fn a_log_that_is_cut_or_empty_is_refused_and_no_log_is_none() {
        assert!(histogram(&Folder::default(), "read.hlog").unwrap().is_none());
        let empty = histogram(&folder(log(&[])), "read.hlog").unwrap_err().to_string();
        assert!(empty.starts_with("run/read.hlog: the log holds no histogram"), "{empty}");
        let mut cut = log(&[&[1000]]);
        cut.truncate(cut.len() - 20);
        assert!(histogram(&folder(cut), "read.hlog").is_err());
    }
}
