//! `quantiles.csv`: latencies by percentile over the whole run, evenly spaced in nines.
//!
//! | column | unit | meaning |
//! |---|---|---|
//! | `op` | | Kind of request: `read`, `write`, or `read_during_reclaim` (reads that waited for reclaim, which are also in `read`). |
//! | `nines` | | Place of the percentile: 0 for 0 %, 1 for 90 %, 2 for 99 %, 3 for 99.9 %. There are 20 places a nine. Empty for the maximum. |
//! | `percentile` | % | Percentile, which is 100 (1 - 10^-nines). |
//! | `us` | us | Latency within which this share of the requests ended, to 0.1 %. |
//! | `samples_beyond` | requests | Requests that the percentile leaves out: their number times 10^-nines, rounded down. |
//!
//! The last percentile leaves out at least one request. The maximum follows it. Only runs of the
//! timed gear have this file.

use std::fmt::Write;

use vpass_core::base::metrics::Latency;

const HEADER: &str = "op,nines,percentile,us,samples_beyond\n";

/// Number of percentiles from one nine to the next.
const PER_NINE: u32 = 20;

/// Formats the percentiles of these kinds of requests.
pub(super) fn csv(kinds: &[(&str, &Latency)]) -> String {
    let mut csv = HEADER.to_owned();
    for (op, latency) in kinds {
        add(&mut csv, op, latency);
    }
    csv
}

fn add(csv: &mut String, op: &str, latency: &Latency) {
    let requests = latency.count();
    if requests == 0 {
        return;
    }
    let histogram = latency.histogram();
    let mut steps = histogram.iter_recorded();
    let (mut us, mut so_far) = (0.0, 0);
    for place in 0.. {
        let nines = f64::from(place) / f64::from(PER_NINE);
        let share = 10f64.powf(-nines);
        // The margin corrects the last digit of the product: 0.001 of 1,000 requests is one.
        let beyond = (requests as f64 * share * (1.0 + 1e-12)).min(requests as f64) as u64;
        if beyond == 0 {
            break;
        }
        while so_far < (requests - beyond).max(1) {
            let step = steps.next().expect("the steps count all requests");
            so_far += step.count_since_last_iteration();
            us = step.value_iterated_to() as f64 / 1e3;
        }
        // Percentiles have two digits after the last nine.
        let digits = nines as usize + 2;
        let _ = writeln!(csv, "{op},{nines:.2},{:.digits$},{us},{beyond}", 100.0 * (1.0 - share));
    }
    let _ = writeln!(csv, "{op},,100,{},0", histogram.max() as f64 / 1e3);
}
