//! Results of each job of a fio file.

use serde::{Deserialize, Serialize};
use vpass_drive::base::metrics::Group;
use vpass_drive::time::Replay;
use vpass_workload::fio::{FioSource, JobCounts, JobRecord};

use super::{Latencies, Quantiles, Throughput};

/// Results of one job, which is a section of the fio file. If the job has clones, their results are
/// included.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JobResult {
    /// Name of the section.
    pub name: String,
    /// Number of the stage in which the job runs. Jobs in the same stage run at the same time.
    pub stage: usize,
    /// Number of requests of all kinds.
    pub requests: u64,
    /// Numbers of requests and of bytes, by kind of request.
    #[serde(flatten)]
    pub counts: JobCounts,
    /// Number of seconds from the start of the job's first request to the end of the job's last
    /// request. If the file has only one job, the time begins at the start of the run. Null in the
    /// untimed gear.
    pub active_s: Option<f64>,
    /// Throughput during `active_s`. Null if the file has several stages and several passes were
    /// run, because the job then pauses between passes.
    pub throughput: Throughput,
    /// Latencies of the job's requests.
    pub latency_us: Latencies,
}

/// Returns the results of each job, in the order of the fio file. `passes` is the number of passes
/// that were run.
pub fn jobs(source: &FioSource, engine: Option<&Replay>, passes: u64) -> Vec<JobResult> {
    let stages = source.jobs().last().map_or(0, |job| job.stage);
    let groups = engine.map(|engine| engine.metrics().groups.list()).unwrap_or_default();
    let result = |(i, (job, counts)): (usize, (&JobRecord, &JobCounts))| {
        // If there is only one job, its results are those of the whole drive.
        let alone = engine.filter(|_| groups.is_empty());
        let span = groups
            .get(i)
            .map_or_else(|| alone.map(|engine| (0, engine.last_completion())), |group| group.span);
        let active_s = span.map(|(first, last)| (last - first) as f64 / 1e9);
        let seconds = active_s.filter(|_| passes == 1 || stages == 0);
        let bytes = (counts.read_bytes, counts.write_bytes);
        JobResult {
            name: job.name.clone(),
            stage: job.stage,
            requests: counts.read_requests + counts.write_requests + counts.trim_requests,
            counts: *counts,
            active_s,
            throughput: Throughput::of(
                (counts.read_requests, counts.write_requests),
                bytes,
                seconds,
            ),
            latency_us: groups.get(i).map_or_else(|| Latencies::of(alone), Latencies::of_group),
        }
    };
    source.jobs().iter().zip(source.counts()).enumerate().map(result).collect()
}

impl Latencies {
    /// Converts the latencies of a group of requests into results.
    fn of_group(group: &Group) -> Self {
        let [read, write, read_during_reclaim] =
            [&group.read, &group.write, &group.read_during_reclaim].map(Quantiles::of);
        Self { read, write, read_during_reclaim }
    }
}
