//! What each job of a fio file asked for and got.

use serde::Serialize;
use vpass_core::base::metrics::Group;
use vpass_core::time::Replay;
use vpass_workload::fio::{FioSource, JobCounts, JobRecord};

use super::{Latencies, Quantiles, Throughput};
use crate::numbers::{bytes, count, digits, microseconds};
use crate::table::Table;

/// The job of a section with its clones.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct JobResult {
    pub(crate) name: String,
    /// Jobs of a stage run at the same time.
    pub(crate) stage: usize,
    pub(crate) requests: u64,
    #[serde(flatten)]
    pub(crate) counts: Counts,
    /// From its first request, or from the start of the run where it is the only job, to the end of its last; null in the untimed gear.
    pub(crate) active_s: Option<f64>,
    /// Over that time; null where it worked with breaks, in several passes of several stages.
    pub(crate) throughput: Throughput,
    pub(crate) latency_us: Latencies,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Counts {
    pub(crate) read_requests: u64,
    pub(crate) write_requests: u64,
    pub(crate) trim_requests: u64,
    pub(crate) read_bytes: u64,
    pub(crate) write_bytes: u64,
}

/// The jobs of a source that ran so many passes, in the order of the file.
pub(crate) fn jobs(source: &FioSource, engine: Option<&Replay>, passes: u64) -> Vec<JobResult> {
    let stages = source.jobs().last().map_or(0, |job| job.stage);
    let groups = engine.map(|engine| engine.metrics().groups.list()).unwrap_or_default();
    let result = |(i, (job, counts)): (usize, (&JobRecord, &JobCounts))| {
        // A job alone has what the drive has.
        let alone = engine.filter(|_| groups.is_empty());
        let span = groups.get(i).map_or_else(|| alone.map(|engine| (0, engine.last_completion())), |group| group.span);
        let active_s = span.map(|(first, last)| (last - first) as f64 / 1e9);
        let counts = Counts::of(counts);
        JobResult {
            name: job.name.clone(),
            stage: job.stage,
            requests: counts.read_requests + counts.write_requests + counts.trim_requests,
            counts,
            active_s,
            throughput: counts.throughput(active_s.filter(|_| passes == 1 || stages == 0)),
            latency_us: groups.get(i).map_or_else(|| Latencies::of(alone), Latencies::of_group),
        }
    };
    source.jobs().iter().zip(source.counts()).enumerate().map(result).collect()
}

impl Counts {
    fn of(counts: &JobCounts) -> Self {
        Self {
            read_requests: counts.read_requests,
            write_requests: counts.write_requests,
            trim_requests: counts.trim_requests,
            read_bytes: counts.read_bytes,
            write_bytes: counts.write_bytes,
        }
    }

    fn throughput(&self, seconds: Option<f64>) -> Throughput {
        Throughput::of((self.read_requests, self.write_requests), (self.read_bytes, self.write_bytes), seconds)
    }
}

impl Latencies {
    /// Of a group of requests.
    fn of_group(group: &Group) -> Self {
        let [read, write, read_during_reclaim] = [&group.read, &group.write, &group.read_during_reclaim].map(Quantiles::of);
        Self { read, write, read_during_reclaim }
    }
}

/// A table of several jobs; nothing where there is one at most.
pub(crate) fn table(jobs: &[JobResult], timed: bool, colour: bool) -> Option<String> {
    if jobs.len() < 2 {
        return None;
    }
    let mut heading = vec!["job", "reads", "read", "writes", "written"];
    if timed {
        heading.extend(["reads/s", "writes/s", "read p50", "p99", "p99.9", "write p99"]);
    }
    let mut table = Table::new(heading);
    for job in jobs {
        let c = &job.counts;
        let mut row = vec![job.name.clone(), count(c.read_requests), bytes(c.read_bytes), count(c.write_requests), bytes(c.write_bytes)];
        if timed {
            let cell = |value: Option<f64>, show: fn(f64) -> String| value.map_or_else(|| "-".into(), show);
            let (t, read, write) = (&job.throughput, &job.latency_us.read, &job.latency_us.write);
            row.extend([t.read_iops, t.write_iops].map(|v| cell(v.filter(|v| *v > 0.0), digits)));
            row.extend([read.p50, read.p99, read.p99_9, write.p99].map(|v| cell(v, microseconds)));
        }
        table.row(row);
    }
    Some(table.render(colour))
}
