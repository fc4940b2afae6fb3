//! Compares reported latencies with the time that requests took.

use vpass_drive::base::metrics::Latency;

/// Compares the latencies of a kind of request with their number and their sum in nanoseconds. Then
/// compares the histogram with their mean.
pub(super) fn check_latencies(
    what: &str,
    told: &Latency,
    count: u64,
    sum: u128,
) -> Result<(), String> {
    let (n, ns) = (told.count(), told.total_ns());
    if (count, sum) != (n, ns) {
        return Err(format!(
            "the drive reports {n} {what} with {ns} ns in all; {count} with {sum} ns were seen"
        ));
    }
    // A histogram of three digits may be off by this much.
    let (mean, exact) = (told.histogram().mean(), sum as f64 / count.max(1) as f64);
    if (mean - exact).abs() > exact / 500.0 + 1.0 {
        return Err(format!(
            "the mean of the {what} is {exact:.0} ns; their histogram gives {mean:.0} ns"
        ));
    }
    Ok(())
}
