//! `quantiles.csv`: percentiles of the latencies of a whole run. There are 20 percentiles from 90 %
//! to 99 %, 20 from 99 % to 99.9 %, and so on.
//!
//! | column | unit | meaning |
//! |---|---|---|
//! | `op` | | Kind of request: `read`, `write`, or `read_during_reclaim` (reads that waited for reclaim, which are also in `read`). |
//! | `nines` | | Percentile in nines: 0 for 0 %, 1 for 90 %, 2 for 99 %, 3 for 99.9 %. There are 20 percentiles per nine. Empty for the maximum. |
//! | `percentile` | % | Percentile, computed as 100 (1 - 10^-nines). |
//! | `us` | us | Latency within which this share of the requests ended, accurate to 0.1 %. |
//! | `samples_beyond` | requests | Number of requests beyond the percentile: the number of all requests times 10^-nines, rounded down. |
//!
//! Beyond the last percentile, there is at least one request. The last row has the largest latency.
//! Only runs in the timed gear write `quantiles.csv`.

use std::fmt::Write;

use vpass_drive::base::metrics::Latency;

const HEADER: &str = "op,nines,percentile,us,samples_beyond\n";

/// Number of percentiles from 90 % to 99 %, from 99 % to 99.9 %, and so on.
const PER_NINE: u32 = 20;

/// Formats the percentiles of each kind of request.
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
        // The factor 1 + 1e-12 corrects rounding errors. For example, 0.001 times 1,000 must not be
        // less than 1.
        let beyond = (requests as f64 * share * (1.0 + 1e-12)).min(requests as f64) as u64;
        if beyond == 0 {
            break;
        }
        while so_far < (requests - beyond).max(1) {
            let step = steps.next().expect("the steps count all requests");
            so_far += step.count_since_last_iteration();
            us = step.value_iterated_to() as f64 / 1e3;
        }
        // A percentile with n nines has n + 2 digits after the decimal point.
        let digits = nines as usize + 2;
        let _ = writeln!(csv, "{op},{nines:.2},{:.digits$},{us},{beyond}", 100.0 * (1.0 - share));
    }
    let _ = writeln!(csv, "{op},,100,{},0", histogram.max() as f64 / 1e3);
}
