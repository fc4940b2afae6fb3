//! What a run found, as it stands in `summary.json`. Every key is always there; null where it does not apply.

pub(crate) mod jobs;
mod life;
mod warnings;
mod wear;

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use vpass_core::base::metrics::Latency;
use vpass_core::base::units::Cause;
use vpass_core::drive::Drive;
use vpass_core::time::Replay;
use vpass_oracle::OracleReport;

pub(crate) use life::CONFIDENT_CYCLES;
pub(crate) use wear::{Ageing, Before, Confidence, Wear};

/// The result of one run.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Summary {
    /// Version of vpass.
    pub(crate) vpass: &'static str,
    pub(crate) drive: String,
    pub(crate) workload: String,
    /// Whether no host ever sent these requests.
    pub(crate) workload_generated: bool,
    /// Where they come from, in words.
    pub(crate) workload_source: String,
    pub(crate) reclaim_technique: String,
    /// Whether these are the results of no real drive.
    pub(crate) counterfactual: bool,
    pub(crate) gc_technique: String,
    pub(crate) gear: &'static str,
    pub(crate) seed: u64,
    /// Passes over the workload.
    pub(crate) passes: u64,
    /// Whether `--until stable` ended because programs and erases per host page had settled; null without it.
    pub(crate) stable: Option<bool>,
    pub(crate) host: Host,
    pub(crate) latency_us: Latencies,
    pub(crate) throughput: Throughput,
    pub(crate) flash: Flash,
    pub(crate) write_amplification: Option<f64>,
    pub(crate) reclaim: Reclaim,
    pub(crate) wear: Wear,
    /// Host reads that the drive answered with an error.
    pub(crate) uncorrectable_reads: u64,
    /// Pages of host data that the drive reported lost.
    pub(crate) data_lost_pages: u64,
    pub(crate) oracle: Option<OracleReport>,
    pub(crate) controller_ram_bytes: u64,
    pub(crate) trace: Option<Trace>,
    /// Those of a fio file; null where the workload is another.
    pub(crate) jobs: Option<Vec<jobs::JobResult>>,
    pub(crate) simulation: Simulation,
    /// What to know before these results are believed, in sentences; see [`Summary::warn`].
    pub(crate) warnings: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Host {
    pub(crate) read_requests: u64,
    pub(crate) write_requests: u64,
    pub(crate) trim_requests: u64,
    pub(crate) read_bytes: u64,
    pub(crate) write_bytes: u64,
    pub(crate) read_pages: u64,
    pub(crate) write_pages: u64,
    pub(crate) trim_pages: u64,
    pub(crate) unmapped_read_pages: u64,
    pub(crate) partial_page_writes: u64,
    pub(crate) fill_reads: u64,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Latencies {
    pub(crate) read: Quantiles,
    pub(crate) write: Quantiles,
    pub(crate) read_during_reclaim: Quantiles,
}

/// Microseconds.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Quantiles {
    pub(crate) mean: Option<f64>,
    pub(crate) p50: Option<f64>,
    pub(crate) p90: Option<f64>,
    pub(crate) p99: Option<f64>,
    pub(crate) p99_9: Option<f64>,
    pub(crate) p99_99: Option<f64>,
    pub(crate) max: Option<f64>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Throughput {
    pub(crate) read_iops: Option<f64>,
    pub(crate) write_iops: Option<f64>,
    pub(crate) read_mib_s: Option<f64>,
    pub(crate) write_mib_s: Option<f64>,
    /// Requests a second that arrived, by their own clock; null in closed loop.
    pub(crate) offered_iops: Option<f64>,
    /// How long after the last arrival the last request was done; null in closed loop.
    pub(crate) backlog_s: Option<f64>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Flash {
    pub(crate) reads: ByCause,
    pub(crate) programs: ByCause,
    /// Those of them that hold nothing, in wordlines that were programmed before they were complete.
    pub(crate) padded_pages: u64,
    pub(crate) erases: ByCause,
    pub(crate) reprograms: ByCause,
}

/// A count for each cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ByCause(pub(crate) [u64; Cause::COUNT]);

impl ByCause {
    pub(crate) fn of(&self, cause: Cause) -> u64 {
        self.0[cause as usize]
    }

    pub(crate) fn sum(&self) -> u64 {
        self.0.iter().sum()
    }
}

impl Serialize for ByCause {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_map(Cause::ALL.iter().map(|c| (c.name(), self.of(*c))))
    }
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Reclaim {
    pub(crate) alarms: u64,
    pub(crate) invocations: u64,
    pub(crate) pages_copied: u64,
    pub(crate) stall_us: f64,
    pub(crate) deadline_misses: u64,
    /// Blocks that GC erased to make room for reclaim jobs.
    pub(crate) gc_erases: u64,
    /// Blocks opened that should lie in the IPR pool, and those of them that do not.
    pub(crate) pool_openings: u64,
    pub(crate) pool_misses: u64,
    /// Blocks reprogrammed in place, and blocks that should have got guard levels but that the drive could not spare their pages.
    pub(crate) reprograms: u64,
    pub(crate) low_density_refused: u64,
    /// Blocks of low density erased by GC, and all of them by the share of their limit that they had used, in twentieths.
    pub(crate) low_density_erases_by_gc: u64,
    pub(crate) low_density_used: [u64; 20],
    /// What the technique counts of its own.
    #[serde(flatten)]
    pub(crate) technique: BTreeMap<&'static str, u64>,
    /// Whose reads caused the copies: ranges of the host's addresses, those with most copies first.
    pub(crate) blame: Vec<Blame>,
}

/// Copies that reads of a range caused; movers' reads count for the range whose data they read.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Blame {
    pub(crate) offset_bytes: u64,
    pub(crate) bytes: u64,
    /// A job is shared out, so this is no whole number; to a thousandth.
    pub(crate) copies: f64,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Trace {
    pub(crate) files: Vec<String>,
    pub(crate) formats: Vec<&'static str>,
    pub(crate) rows: u64,
    /// Requests earlier than the one before them, moved up to it.
    pub(crate) clamped: u64,
    /// Requests whose address was changed to fit the drive.
    pub(crate) refitted: u64,
    /// Lines and records that could not be read and were passed over, and what was wrong with the first.
    pub(crate) bad_lines: u64,
    pub(crate) first_bad_line: Option<String>,
    pub(crate) several_devices: bool,
    /// Side by side on the drive, in this order.
    pub(crate) devices: Vec<TraceDevice>,
    pub(crate) span_s: f64,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct TraceDevice {
    pub(crate) name: String,
    /// The file that names it first.
    pub(crate) file: String,
    /// Where it begins, before any fit.
    pub(crate) base_bytes: u64,
    /// The end of its highest request.
    pub(crate) extent_bytes: u64,
    /// Its requests in a pass.
    pub(crate) rows: u64,
}

/// All but the first are null in a folder, where `timing.json` has them.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Simulation {
    pub(crate) simulated_s: Option<f64>,
    /// Of the measured phase; where drives share requests, of this drive's turns.
    pub(crate) wall_s: Option<f64>,
    pub(crate) requests_per_s: Option<f64>,
    pub(crate) peak_rss_bytes: Option<u64>,
}

impl Quantiles {
    fn of(latency: &Latency) -> Self {
        if latency.count() == 0 {
            return Self::default();
        }
        let at = |q: f64| Some(latency.quantile_ns(q) as f64 / 1e3);
        Self {
            mean: Some(latency.mean_ns() / 1e3),
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p99_9: at(0.999),
            p99_99: at(0.9999),
            max: Some(latency.max_ns() as f64 / 1e3),
        }
    }
}

impl Latencies {
    /// Of the timed gear, or nothing but nulls.
    pub(crate) fn of(engine: Option<&Replay>) -> Self {
        let of = |pick: fn(&Replay) -> &Latency| engine.map_or_else(Quantiles::default, |e| Quantiles::of(pick(e)));
        Self {
            read: of(|e| &e.metrics().read),
            write: of(|e| &e.metrics().write),
            read_during_reclaim: of(|e| &e.metrics().read_during_reclaim),
        }
    }
}

impl Host {
    pub(crate) fn of(drive: &Drive) -> Self {
        let h = drive.host_counts();
        Self {
            read_requests: h.read_requests,
            write_requests: h.write_requests,
            trim_requests: h.trim_requests,
            read_bytes: h.read_bytes,
            write_bytes: h.write_bytes,
            read_pages: h.read_pages,
            write_pages: h.write_pages,
            trim_pages: h.trim_pages,
            unmapped_read_pages: h.unmapped_read_pages,
            partial_page_writes: h.partial_page_writes,
            fill_reads: h.fill_reads,
        }
    }

    /// Requests and bytes over the simulated time.
    pub(crate) fn throughput(&self, seconds: Option<f64>) -> Throughput {
        Throughput::of((self.read_requests, self.write_requests), (self.read_bytes, self.write_bytes), seconds)
    }
}

impl Throughput {
    /// Requests and bytes, each of reads and writes, over a time.
    fn of(requests: (u64, u64), bytes: (u64, u64), seconds: Option<f64>) -> Self {
        let Some(s) = seconds.filter(|s| *s > 0.0) else { return Self::default() };
        let mib = |bytes: u64| bytes as f64 / f64::from(1u32 << 20) / s;
        Self {
            read_iops: Some(requests.0 as f64 / s),
            write_iops: Some(requests.1 as f64 / s),
            read_mib_s: Some(mib(bytes.0)),
            write_mib_s: Some(mib(bytes.1)),
            ..Self::default()
        }
    }
}

impl Throughput {
    /// With the clock that so many requests came by, the last at this second; the drive was done at another.
    pub(crate) fn against(self, requests: u64, last_arrival_s: f64, done_s: f64) -> Self {
        let offered_iops = (last_arrival_s > 0.0).then(|| requests as f64 / last_arrival_s);
        Self { offered_iops, backlog_s: Some((done_s - last_arrival_s).max(0.0)), ..self }
    }
}

impl Flash {
    pub(crate) fn of(drive: &Drive) -> Self {
        let f = drive.flash_counts();
        Self {
            reads: ByCause(f.reads),
            programs: ByCause(f.programs),
            padded_pages: f.padded_pages,
            erases: ByCause(f.erases),
            reprograms: ByCause(f.reprograms),
        }
    }
}

impl Reclaim {
    pub(crate) fn of(drive: &Drive) -> Self {
        let r = drive.reclaim_counts();
        Self {
            alarms: r.alarms,
            invocations: r.invocations,
            pages_copied: r.pages_copied,
            stall_us: r.stall_ns as f64 / 1e3,
            deadline_misses: r.deadline_misses,
            gc_erases: r.gc_erases,
            pool_openings: r.pool_openings,
            pool_misses: r.pool_misses,
            reprograms: r.reprograms,
            low_density_refused: r.low_density_refused,
            low_density_erases_by_gc: r.low_density_erases_by_gc,
            low_density_used: r.low_density_used.0,
            technique: drive.technique_counts().into_iter().collect(),
            blame: Blame::of(drive),
        }
    }
}

impl Blame {
    fn of(drive: &Drive) -> Vec<Self> {
        let page = u64::from(drive.geometry().page_bytes);
        let ranges = drive.blamed_ranges().map(|r| Self {
            offset_bytes: u64::from(r.first) * page,
            bytes: u64::from(r.pages) * page,
            copies: (r.copies * 1e3).round() / 1e3,
        });
        let mut ranges: Vec<Self> = ranges.collect();
        ranges.sort_by(|a, b| b.copies.total_cmp(&a.copies));
        ranges
    }
}

impl Simulation {
    pub(crate) fn new(simulated_s: Option<f64>, wall_s: f64, requests: u64) -> Self {
        let requests_per_s = if wall_s > 0.0 { requests as f64 / wall_s } else { 0.0 };
        Self { simulated_s, wall_s: Some(wall_s), requests_per_s: Some(requests_per_s), peak_rss_bytes: peak_rss() }
    }
}

/// The most memory this process ever had, where the system tells.
fn peak_rss() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kib = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?;
    Some(kib * 1024)
}
