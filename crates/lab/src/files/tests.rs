//! Tests that compare the latency files with requests that were counted by hand.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use vpass_drive::base::metrics::{Latency, Window};

use super::*;
use crate::plan::{Chosen, RunPlan};
use crate::progress::{Unwatched, unwatched};
use crate::run::execute;
use crate::setup::{Base, Named, Setup};

/// Makes a histogram of these latencies, in nanoseconds.
fn latencies(ns: impl IntoIterator<Item = u64>) -> Latency {
    let mut latency = Latency::default();
    ns.into_iter().for_each(|ns| latency.record(ns));
    latency
}

fn cells(csv: &str) -> Vec<Vec<&str>> {
    csv.lines().map(|line| line.split(',').collect()).collect()
}

fn close(text: &str, right: f64) {
    let found: f64 = text.parse().unwrap();
    assert!((found - right).abs() <= right * 1.1e-3, "{found} is not {right}");
}

#[test]
fn percentiles_of_a_thousand_known_requests() {
    // The latencies are 1 to 1,000 us, so the n-th fastest request took n us.
    let read = latencies((1..=1000).rev().map(|us| us * 1000));
    let csv = quantiles::csv(&[("read", &read), ("write", &Latency::default())]);
    let rows = cells(&csv);
    assert_eq!(rows[0], ["op", "nines", "percentile", "us", "samples_beyond"]);
    // Three nines have 20 percentiles each. One request is beyond the last percentile. The row of
    // the maximum follows.
    assert_eq!(rows.len(), 1 + 61 + 1, "{csv}");
    assert!(rows[1..].iter().all(|row| row[0] == "read" && row.len() == 5));
    for (at, row) in rows[1..62].iter().enumerate() {
        let share = 0.1f64.powf(at as f64 / 20.0);
        assert_eq!(row[1], format!("{:.2}", at as f64 * 0.05));
        let percentile: f64 = row[2].parse().unwrap();
        // A percentile with n nines has n + 2 digits after the decimal point.
        let digit = 0.01 * 0.1f64.powi(i32::try_from(at).unwrap() / 20);
        assert!((percentile - 100.0 * (1.0 - share)).abs() <= 0.51 * digit, "{row:?}");
        // 10^-0.3 is 0.501187. So 501 of 1,000 requests are beyond this percentile, and the slowest
        // of the other requests took 499 us.
        let beyond = (1..=1000u64).rev().find(|n| *n as f64 <= 1000.0 * share + 1e-6).unwrap();
        assert_eq!(row[4], beyond.to_string(), "{row:?}");
        close(row[3], (1000 - beyond).max(1) as f64);
    }
    assert_eq!(rows[21][1..3], ["1.00", "90.000"]);
    assert_eq!((rows[7][4], rows[61][4]), ("501", "1"));
    assert_eq!(rows[62][..3], ["read", "", "100"]);
    close(rows[62][3], 1000.0);
    assert_eq!(rows[62][4], "0");
}

#[test]
fn one_request_has_its_latency_at_0_nines_and_as_maximum() {
    let csv = quantiles::csv(&[("write", &latencies([5000]))]);
    let rows = cells(&csv);
    assert_eq!(rows.len(), 3);
    assert_eq!((&rows[1][1..3], rows[1][4]), (&["0.00", "0.00"][..], "1"));
    close(rows[1][3], 5.0);
    close(rows[2][3], 5.0);
}

#[test]
fn windows_are_rows_by_time_and_kind() {
    let window = |from: u64, to: u64, ns: &[u64]| Window {
        from,
        to,
        latency: latencies(ns.iter().copied()),
    };
    let by_window = ByWindow {
        read: vec![
            window(0, 1_000_000, &[10_000, 20_000, 60_000]),
            window(1_000_000, 1_500_000, &[7_000]),
        ],
        write: vec![window(1_000_000, 1_500_000, &[400_000])],
        read_during_reclaim: vec![window(0, 1_000_000, &[60_000])],
    };
    let csv = latency::csv(&by_window);
    let rows = cells(&csv);
    let head = "from_s,to_s,op,count,mean_us,p50_us,p99_us,p99_9_us,max_us";
    assert_eq!(csv.lines().next(), Some(head));
    let heads: Vec<_> = rows[1..].iter().map(|row| row[..4].join(" ")).collect();
    assert_eq!(
        heads,
        [
            "0 0.001 read 3",
            "0 0.001 read_during_reclaim 1",
            "0.001 0.0015 read 1",
            "0.001 0.0015 write 1"
        ]
    );
    assert_eq!(rows[1][4], "30");
    [20.0, 60.0, 60.0, 60.0].iter().zip(&rows[1][5..]).for_each(|(right, us)| close(us, *right));
    [400.0; 5].iter().zip(&rows[4][4..]).for_each(|(right, us)| close(us, *right));
}

/// Decodes a text in base64.
fn decoded(text: &str) -> Vec<u8> {
    let digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut count, mut bytes) = (0u32, 0, vec![]);
    for c in text.trim_end_matches('=').chars() {
        bits = bits << 6 | digits.find(c).unwrap() as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    bytes
}

/// Reads a histogram log. Returns the start, the length and the histogram of each interval. Times
/// are in seconds.
fn intervals(log: &[u8]) -> Vec<(f64, f64, Histogram<u64>)> {
    let read = |entry: LogEntry| match entry {
        LogEntry::Interval(interval) => {
            let bytes = decoded(interval.encoded_histogram());
            let histogram = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
            let seconds =
                [interval.start_timestamp(), interval.duration()].map(|d| d.as_secs_f64());
            (seconds[0], seconds[1], histogram)
        }
        _ => panic!("only intervals are written"),
    };
    IntervalLogIterator::new(log).map(|entry| read(entry.unwrap())).collect()
}

fn union(intervals: &[(f64, f64, Histogram<u64>)]) -> Histogram<u64> {
    let mut all = Histogram::new(3).unwrap();
    all.auto(true);
    for (_, _, histogram) in intervals {
        all.add(histogram).unwrap();
    }
    all
}

/// Compares a run with windows and a run without windows that have the same requests. The merged
/// intervals of the first run must equal the single histogram of the second run.
#[test]
fn the_intervals_of_a_log_are_the_whole_histogram() {
    let set = ["workload.requests=20000", "start.pec=2000", "start.reads=12000"];
    let base = Base { set: set.map(Into::into).into(), ..Base::new("tiny") };
    let setup = Setup::new(base, Named::Workload("random-70-30".into()));
    let plan = RunPlan::new(&setup, Chosen::default(), &unwatched).unwrap();
    let files = |files: bool| {
        let plan = RunPlan { files, ..plan.clone() };
        of_run(&plan, &execute(&plan, &Unwatched).unwrap(), &Call::of_library("run")).unwrap()
    };
    let (with, without) = (files(true), files(false));
    let file = |files: &[File], name: &str| {
        files.iter().find(|(of, _)| of == name).map(|(_, text)| text.clone().into_bytes())
    };
    assert!(file(&without, "latency.csv").is_none());
    assert_eq!(file(&with, "quantiles.csv"), file(&without, "quantiles.csv"));
    let csv = String::from_utf8(file(&with, "latency.csv").unwrap()).unwrap();
    for op in ["read", "write", "read_during_reclaim"] {
        let log = |files: &[File]| intervals(&file(files, &format!("{op}.hlog")).unwrap());
        let (windows, whole) = (log(&with), log(&without));
        assert!(whole.len() == 1 && windows.len() > 30, "{op}: {}", windows.len());
        assert_eq!(union(&windows), whole[0].2, "{op}");
        let end = windows.last().map(|(start, length, _)| start + length).unwrap();
        assert!(end <= whole[0].1 + 1e-9);
        assert!(windows.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0 + 1e-9));
        // Each row of latency.csv belongs to one interval of the log.
        let rows: Vec<_> = cells(&csv).into_iter().filter(|row| row[2] == op).collect();
        assert_eq!(rows.len(), windows.len());
        for (row, (start, length, histogram)) in rows.iter().zip(&windows) {
            let [from, to] = [row[0], row[1]].map(|s| s.parse::<f64>().unwrap());
            assert!((from - start).abs() < 1e-9 && (to - start - length).abs() < 1e-9);
            assert_eq!(row[3], histogram.len().to_string());
            close(row[7], histogram.value_at_quantile(0.999) as f64 / 1e3);
        }
    }
}
