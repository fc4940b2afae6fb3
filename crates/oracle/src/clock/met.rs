//! Host reads that meet reclaim on their die: how many requests do, and for how long they wait for it.

use vpass_core::metrics::Latency;
use vpass_core::units::Ns;

use super::dies::Dies;

/// What is counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Met {
    /// Reads that came while reclaim's work waited or went on at one of their dies. Its jobs may be under way there without any work.
    pub(super) reads: u64,
    /// Time that reads waited for such work once it had begun, over all of them, when it ended.
    pub(super) stall_ns: Ns,
}

impl Dies {
    /// Work that began at `since` ends at a die: the time that reads still waiting there have waited for it.
    pub(super) fn waited(&self, die: u32, since: Ns, now: Ns, units_per_die: u32) -> Ns {
        let of_die = self.reads.iter().flatten().filter(|read| read.since.is_none() && read.unit / units_per_die == die);
        of_die.map(|read| now - read.asked.max(since)).sum()
    }
}

/// The latencies of a kind against their number and sum, to the nanosecond, and what is exported of them.
pub(super) fn check_latencies(what: &str, told: &Latency, count: u64, sum: u128) -> Result<(), String> {
    let (n, ns) = (told.count(), told.total_ns());
    if (count, sum) != (n, ns) {
        return Err(format!("{n} {what} are reported to have taken {ns} ns; {count} took {sum} ns"));
    }
    // Within what a histogram of three digits is exact to.
    let (mean, exact) = (told.histogram().mean(), sum as f64 / count.max(1) as f64);
    if (mean - exact).abs() > exact / 500.0 + 1.0 {
        return Err(format!("the {what} took {exact:.0} ns in the mean; by the histogram of their latencies {mean:.0} ns"));
    }
    Ok(())
}
