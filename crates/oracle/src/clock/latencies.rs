//! Compares reported latencies with the time that requests took: of all requests, and of those of
//! each group of origins, such as the tenants of a drive.

use vpass_drive::base::metrics::{Group, Latency, TimedMetrics};
use vpass_drive::base::request::{Op, Request};
use vpass_drive::base::units::Ns;

/// Latencies that the drive reports: of reads, of reads that met reclaim, and of writes.
type Told<'a> = [&'a Latency; 3];

fn of_all(told: &TimedMetrics) -> Told<'_> {
    [&told.read, &told.read_during_reclaim, &told.write]
}

fn of_group(told: &Group) -> Told<'_> {
    [&told.read, &told.read_during_reclaim, &told.write]
}

/// Number and sum of the latencies of each kind, and the time from the first request's arrival to
/// the last one's end.
#[derive(Clone, Debug, Default)]
struct Seen {
    latencies: [(u64, u128); 3],
    span: Option<(Ns, Ns)>,
}

impl Seen {
    fn begin(&mut self, told: Told<'_>) {
        self.latencies = told.map(|told| (told.count(), told.total_ns()));
    }

    fn completed(&mut self, op: Op, met_reclaim: bool, (start, end): (Ns, Ns)) {
        let counts = [op == Op::Read, met_reclaim, op == Op::Write];
        for ((count, sum), counts) in self.latencies.iter_mut().zip(counts) {
            *count += u64::from(counts);
            *sum += u128::from(counts) * u128::from(end - start);
        }
        let (first, last) = self.span.unwrap_or((start, end));
        self.span = Some((first.min(start), last.max(end)));
    }

    fn check(&self, told: Told<'_>, of: &str) -> Result<(), String> {
        let kinds = ["reads", "reads that met reclaim", "writes"];
        for ((told, (count, sum)), what) in told.into_iter().zip(self.latencies).zip(kinds) {
            check_latencies(&format!("{what}{of}"), told, count, sum)?;
        }
        Ok(())
    }
}

/// Latencies of the requests that are complete.
#[derive(Debug, Default)]
pub(super) struct Latencies {
    all: Seen,
    /// Group of each origin, and the latencies of each group.
    group_of: Vec<u16>,
    groups: Vec<Seen>,
}

impl Latencies {
    /// Counts latencies for groups of origins too from now on.
    pub(super) fn expect_groups(&mut self, group_of: &[u16]) {
        let groups = group_of.iter().max().map_or(0, |last| usize::from(*last) + 1);
        (self.group_of, self.groups) = (group_of.to_vec(), vec![Seen::default(); groups]);
    }

    /// Takes over the latencies of earlier runs.
    pub(super) fn begin(&mut self, told: &TimedMetrics) {
        self.all.begin(of_all(told));
        for (seen, told) in self.groups.iter_mut().zip(told.groups.list()) {
            seen.begin(of_group(told));
            seen.span = told.span;
        }
    }

    /// Notes that a request is complete.
    pub(super) fn completed(&mut self, request: &Request, met_reclaim: bool, span: (Ns, Ns)) {
        self.all.completed(request.op, met_reclaim, span);
        if let Some(group) = self.group_of.get(usize::from(request.origin)) {
            self.groups[usize::from(*group)].completed(request.op, met_reclaim, span);
        }
    }

    /// Compares the drive's report with the requests seen.
    pub(super) fn check(&self, told: &TimedMetrics) -> Result<(), String> {
        self.all.check(of_all(told), "")?;
        for (number, seen) in self.groups.iter().enumerate() {
            let group = told
                .groups
                .list()
                .get(number)
                .ok_or_else(|| format!("the drive reports nothing about group {number}"))?;
            seen.check(of_group(group), &format!(" of group {number}"))?;
            if group.span != seen.span {
                return Err(format!(
                    "the drive reports that group {number} lasts {:?} ns; it lasts {:?} ns",
                    group.span, seen.span
                ));
            }
        }
        Ok(())
    }
}

/// Compares the latencies of a kind of request with their number and their sum in nanoseconds. Then
/// compares the histogram with their mean.
fn check_latencies(what: &str, told: &Latency, count: u64, sum: u128) -> Result<(), String> {
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
