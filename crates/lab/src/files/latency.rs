//! `latency.csv`: latencies of requests in each time window. All kinds of requests have the same
//! windows.
//!
//! | column | unit | meaning |
//! |---|---|---|
//! | `from_s`, `to_s` | s | Start and end of the window in simulated time. Time 0 is the start of counting. The last window ends with the last request. |
//! | `op` | | Kind of request: `read`, `write`, or `read_during_reclaim` (reads that waited for reclaim, which are also in `read`). |
//! | `count` | requests | Requests that ended in the window. A window without requests has no row. |
//! | `mean_us` | us | Mean latency. |
//! | `p50_us`, `p99_us`, `p99_9_us` | us | Latency within which 50, 99 and 99.9 % of these requests ended. Values are accurate to 0.1 %. |
//! | `max_us` | us | Latency of the slowest of these requests, accurate to 0.1 %. |
//!
//! `latency.csv` has 86 to 128 windows. A run has fewer than 86 windows if it is shorter than 1.4
//! ms, or if it has too many different latencies. Only runs in the timed gear write `latency.csv`.

use vpass_drive::base::metrics::{ByWindow, Latency, Window};

/// Formats all windows in the order of time. A window has a row for each kind of request, in a
/// fixed order.
pub(super) fn csv(by_window: &ByWindow) -> String {
    let ByWindow { read, write, read_during_reclaim } = by_window;
    let kinds = [("read", read), ("write", write), ("read_during_reclaim", read_during_reclaim)];
    let mut rows: Vec<(&str, &Window)> = kinds
        .into_iter()
        .flat_map(|(op, windows)| windows.iter().map(move |window| (op, window)))
        .collect();
    // The sort is stable, so rows with the same start keep their order.
    rows.sort_by_key(|(_, window)| window.from);
    let us = |ns: u64| ns as f64 / 1e3;
    let at = |latency: &Latency, q: f64| us(latency.histogram().value_at_quantile(q));
    csv!(rows, (op, Window { from, to, latency }) => {
        "from_s": *from as f64 / 1e9,
        "to_s": *to as f64 / 1e9,
        "op": op,
        "count": latency.count(),
        "mean_us": latency.mean_ns() / 1e3,
        "p50_us": at(latency, 0.5),
        "p99_us": at(latency, 0.99),
        "p99_9_us": at(latency, 0.999),
        "max_us": us(latency.histogram().max()),
    })
}
