//! Record of a fio job for the results. The record contains everything that is needed to write an
//! equivalent job.

use serde::{Deserialize, Serialize};
use vpass_drive::base::request::{Op, Request};

use super::draft::Ways;
use super::job::Job;
use super::layout::Part;
use super::skew::Distribution;
use crate::synthetic::Arrivals;

/// Numbers of requests and bytes of a fio job, summed over all clones of the job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobCounts {
    /// Number of read requests.
    pub read_requests: u64,
    /// Number of write requests.
    pub write_requests: u64,
    /// Number of trim requests.
    pub trim_requests: u64,
    /// Number of bytes that the read requests read.
    pub read_bytes: u64,
    /// Number of bytes that the write requests wrote.
    pub write_bytes: u64,
}

impl JobCounts {
    pub(super) fn add(&mut self, request: &Request) {
        let bytes = u64::from(request.bytes);
        match request.op {
            Op::Read => {
                (self.read_requests, self.read_bytes) =
                    (self.read_requests + 1, self.read_bytes + bytes);
            }
            Op::Write => {
                (self.write_requests, self.write_bytes) =
                    (self.write_requests + 1, self.write_bytes + bytes);
            }
            Op::Trim => self.trim_requests += 1,
        }
    }
}

/// Fio job as vpass ran it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JobRecord {
    /// Name of the job in the job file.
    pub name: String,
    /// Line of the job file at which the job's section begins.
    pub line: usize,
    /// Number of the job's stage; the first stage has number 0. The jobs of a stage run at the same
    /// time; the stages run one after the other.
    pub stage: usize,
    /// Number of clones of the job.
    pub numjobs: u32,
    /// Value of the option `rw` in the job file.
    pub rw: String,
    /// Percentage of reads, if the job mixes reads and writes.
    pub rwmixread: Option<u32>,
    /// Sizes of the job's reads in bytes; absent if the job has no reads.
    pub read_bs: Option<String>,
    /// Sizes of the job's writes in bytes; absent if the job has no writes.
    pub write_bs: Option<String>,
    /// Sizes of the job's trims in bytes; absent if the job has no trims.
    pub trim_bs: Option<String>,
    /// Value of `random_distribution` in the job file; absent if requests are not random.
    pub random_distribution: Option<String>,
    /// Whether a pass visits each block once; absent if requests are not random.
    pub random_map: Option<bool>,
    /// Number of files of each clone.
    pub files: usize,
    /// First byte of each region on the drive. A clone has one region per file, and the regions of
    /// a clone follow each other in the list.
    pub starts: Vec<u64>,
    /// Size of the region that a clone uses in each of its files, in bytes.
    pub region_bytes: u64,
    /// Number of bytes after which a clone of the job ends; absent if the job ends after a given
    /// time.
    pub io_bytes: Option<u64>,
    /// Number of requests after which the job ends, for each of its loops.
    pub number_ios: Option<u64>,
    /// Number of loops of the job.
    pub loops: u32,
    /// Time after which the job ends, in seconds.
    pub runtime_s: Option<f64>,
    /// Number of requests that each clone keeps outstanding; absent if the job has a rate.
    pub iodepth: Option<u32>,
    /// Rates of reads, writes and trims in bytes per second, for each clone.
    pub rate_bytes_s: Option<[Option<f64>; 3]>,
    /// Whether the requests of a job with a rate arrive as a Poisson process.
    pub poisson: Option<bool>,
    /// Time before the first request, in seconds; only for a job with a rate or a start delay.
    pub start_delay_s: Option<f64>,
}

impl JobRecord {
    /// Makes the record of a job. `parts` are the regions of the job's clones on the drive.
    pub(super) fn new(job: &Job, parts: &[Part]) -> Self {
        let size = |op: usize| job.uses()[op].then(|| job.blocks[op].text());
        let seconds = |ns: u64| ns as f64 / 1e9;
        let random = job.pattern.random;
        Self {
            name: job.label.clone(),
            line: job.place.line(),
            stage: job.stage,
            numjobs: job.clones,
            rw: job.pattern.text.clone(),
            rwmixread: (job.pattern.ways == Ways::Mixed).then_some(job.read_percent),
            read_bs: size(0),
            write_bs: size(1),
            trim_bs: size(2),
            random_distribution: random
                .then(|| job.distribution.map_or_else(|| "random".into(), Distribution::text)),
            random_map: random.then_some(job.map),
            files: parts.first().map_or(0, |part| part.files.len()),
            starts: parts.iter().flat_map(|part| &part.files).map(|r| r.start).collect(),
            region_bytes: parts.first().and_then(|part| part.files.first()).map_or(0, |r| r.bytes),
            io_bytes: parts
                .first()
                .filter(|_| !job.limits.time_based)
                .map(|part| part.amounts.total_bytes(job)),
            number_ios: job.limits.number_ios,
            loops: job.limits.loops,
            runtime_s: job.limits.runtime_ns.map(seconds),
            iodepth: job.rate.is_none().then_some(job.depth),
            rate_bytes_s: job.rate.map(|r| r.bytes_per_s),
            poisson: job.rate.map(|r| r.arrivals == Arrivals::Poisson),
            start_delay_s: (job.rate.is_some() || job.start_ns > 0).then(|| seconds(job.start_ns)),
        }
    }
}
