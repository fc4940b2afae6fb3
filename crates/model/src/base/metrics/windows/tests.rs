//! Tests of windows against a list of all requests, sorted by hand.

use super::*;
use crate::base::metrics::TimedMetrics;

/// Returns `count` requests as (end, latency) in ns, by rising end. The last request ends at about
/// `end`.
fn requests(count: u64, end: Ns) -> Vec<(Ns, Ns)> {
    let mut state = 1u64;
    let mut draw = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let mut all: Vec<_> = (0..count)
        .map(|_| (draw() * draw() % end, 50_000 + draw() % (1 << (10 + draw() % 14))))
        .collect();
    all.sort_unstable();
    all
}

/// Records every request as a read. Every third request is also a read that waited for reclaim, and
/// every fifth request is also a write.
fn recorded(requests: &[(Ns, Ns)], most_counts: usize) -> TimedMetrics {
    let mut metrics = TimedMetrics::default();
    metrics.windows.begin();
    metrics.windows.read.begin_within(most_counts);
    for (n, (end, latency)) in requests.iter().enumerate() {
        if n % 3 == 0 {
            metrics.note_read_during_reclaim(*end, *latency);
        } else {
            metrics.note_read(*end, *latency);
        }
        if n % 5 == 0 {
            metrics.note_write(*end, *latency);
        }
    }
    metrics
}

/// Asserts that each window has the requests that ended in it, and that no request is missing.
fn check(windows: &[Window], requests: &[(Ns, Ns)], whole: &Latency) {
    let last = requests.last().unwrap().0;
    let mut union = Latency::default();
    for Window { from, to, latency } in windows {
        let mut own: Vec<Ns> = requests
            .iter()
            .filter(|(end, _)| from <= end && (end < to || *end == last && *to == last))
            .map(|(_, latency)| *latency)
            .collect();
        own.sort_unstable();
        assert_eq!(latency.count(), own.len() as u64, "{from} to {to}");
        assert_eq!(latency.total_ns(), own.iter().map(|ns| u128::from(*ns)).sum());
        for (q, rank) in [(0.5, own.len().div_ceil(2)), (0.75, (3 * own.len()).div_ceil(4))] {
            let (found, right) = (latency.quantile_ns(q), own[rank - 1]);
            assert!(found.abs_diff(right) <= right / 1000, "{found} is not {right}");
        }
        assert!(latency.max_ns().abs_diff(own[own.len() - 1]) <= own[own.len() - 1] / 1000);
        union.sum_ns += latency.sum_ns;
        latency.counts.iter().enumerate().for_each(|(step, count)| union.add(step, *count));
    }
    assert_eq!((union.sum_ns, union.count()), (whole.sum_ns, whole.count()));
    assert!(union.since(whole).count() == 0 && whole.since(&union).count() == 0);
}

fn every(n: usize, requests: &[(Ns, Ns)]) -> Vec<(Ns, Ns)> {
    requests.iter().step_by(n).copied().collect()
}

#[test]
fn windows_hold_the_requests_that_ended_in_them() {
    // The runs have from less than one window up to 23 doublings of the length.
    for end in [9_000, 1_400_000, 8_191_999, 8_192_000, 77_777_777, 5_000_000_000, 1 << 36] {
        let all = requests(20_000, end);
        let metrics = recorded(&all, MOST_COUNTS);
        let last = all.last().unwrap().0;
        let found = metrics.by_window(last).unwrap();
        for (windows, whole, n) in [
            (&found.read, &metrics.read, 1),
            (&found.read_during_reclaim, &metrics.read_during_reclaim, 3),
            (&found.write, &metrics.write, 5),
        ] {
            check(windows, &every(n, &all), whole);
            assert!(windows.windows(2).all(|pair| pair[0].to <= pair[1].from));
        }
        let length = found.read[0].to - found.read[0].from;
        let windows = last / length + 1;
        assert!(windows <= SHOWN && (windows >= 86 || end < 1_400_000), "{end}: {windows}");
    }
}

#[test]
fn too_many_values_merge_windows_and_lose_no_request() {
    let all = requests(20_000, 5_000_000_000);
    for most in [ALL_STEPS, 3000, 10] {
        let metrics = recorded(&all, most);
        let found = metrics.by_window(all.last().unwrap().0).unwrap();
        check(&found.read, &all, &metrics.read);
        let read = &metrics.windows.read;
        assert!(read.counts.len() <= most && read.counts.capacity() == most);
        // All kinds of requests have the same windows.
        assert!(found.write.iter().all(|w| found.read.iter().any(|r| r.from == w.from)));
    }
}

#[test]
fn recording_claims_no_memory() {
    let all = requests(20_000, 1 << 36);
    let metrics = recorded(&all, MOST_COUNTS);
    let windows = &metrics.windows.write;
    assert_eq!(windows.counts.capacity(), MOST_COUNTS);
    assert_eq!(windows.closed.capacity(), MOST as usize + 2);
    assert_eq!(windows.merged.capacity(), 2 * ALL_STEPS);
    let bytes = 8 * (windows.counts.capacity() + windows.merged.capacity() + ALL_STEPS)
        + windows.closed.capacity() * size_of::<Closed>();
    assert!(bytes as u64 <= Windows::MEMORY, "{bytes}");
}

#[test]
fn worked_example() {
    let mut metrics = TimedMetrics::default();
    metrics.windows.begin();
    (0..512).for_each(|n| metrics.note_read(16_000 * n, 50_000));
    let length = |metrics: &TimedMetrics| metrics.windows.read.length;
    assert_eq!(length(&metrics), 16_000);
    metrics.note_read(8_192_000, 50_000);
    assert_eq!(length(&metrics), 32_000);
    let shown = metrics.by_window(299 * 32_000).unwrap().read;
    assert_eq!((shown[0].to, shown[0].latency.count()), (96_000, 6));
    assert!(TimedMetrics::default().by_window(1).is_none());
}
