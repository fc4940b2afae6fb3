//! Command-line options of `vpass workload`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};

use crate::trace::args::ReadArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum WorkloadCommand {
    /// Make a workload generator from the statistics of a disk, run the generator once, and report
    /// how well its requests meet each statistic.
    #[command(after_help = FIT_EXAMPLES)]
    Fit(FitArgs),
}

pub(crate) const EXAMPLES: &str = "Examples:\n  \
    vpass workload fit --trace web.csv.zst --out web.toml\n  \
    vpass run --drive tiny --workload web.toml --set statistics.scale=0.1";

const FIT_EXAMPLES: &str = "Examples:\n  \
    vpass workload fit --statistics disks.csv.zst --windows half-hours.csv.zst --disk w02 --scale \
    0.01 --out w02.toml\n  \
    vpass workload fit --trace web.csv.zst --out web.toml\n  \
    vpass workload fit --workload web.toml --scale 0.1\n  \
    vpass run --drive tiny --workload w02.toml\n\n\
    DISKS has one row per disk. The column workload names the disk. The columns block_req_count, \
    io_request_size_sum and page_access_count exist with the prefix read_ and with the prefix \
    write_. The column page_working_set_size exists with each prefix and without a prefix. For \
    each percentile P = 1, 5, 10 .. 100, there are the columns P_read_page_popularity and \
    P_read_block_request_size. WINDOWS has one row per window: workload, window, end_us, \
    read_pages_4k, write_pages_4k. Other columns are ignored.\n\n\
    Exit code 0: every statistic is met within --tolerance. Exit code 1: at least one is missed. \
    In this case, the table shows which statistics are missed, the message names the smallest \
    tried scale that meets all statistics, and no file is written. At a small scale, a single \
    large request can exceed a window or a percentile, and then statistics are missed.\n\n\
    Memory use grows with the number of touched pages, by about 6 bytes per page.";

fn parse_tolerance(text: &str) -> Result<f64, String> {
    let percent: Result<f64, _> = text.trim_end_matches('%').trim().parse();
    percent
        .ok()
        .filter(|p| *p >= 0.0 && p.is_finite())
        .ok_or_else(|| "a percentage of 0 or more is expected".into())
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("from").required(true).args(["statistics", "trace", "workload"])))]
pub(crate) struct FitArgs {
    /// Table with one row per disk: totals, working sets, and percentiles of page popularity and
    /// request size. The file is plain, gzip or zstd.
    #[arg(long, value_name = "DISKS", requires_all = ["windows", "disk"])]
    pub(crate) statistics: Option<PathBuf>,
    /// Table with one row per disk and time window: number of pages read, and number of pages
    /// written.
    #[arg(long, requires = "statistics")]
    pub(crate) windows: Option<PathBuf>,
    /// Name of the disk, as it appears in both tables.
    #[arg(long, value_name = "NAME", requires = "statistics")]
    pub(crate) disk: Option<String>,
    /// Trace files whose statistics are measured together. `-` is standard input.
    #[arg(long, value_name = "FILE", num_args = 1.., value_parser = crate::stdin::trace_file())]
    pub(crate) trace: Vec<PathBuf>,
    /// Use only this device of the traces, by its number or name. Repeat the option for more
    /// devices.
    #[arg(long, value_name = "DEV", requires = "trace")]
    pub(crate) only: Vec<String>,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// Workload file that contains statistics.
    #[arg(long, value_name = "FILE")]
    pub(crate) workload: Option<String>,
    /// Generate this share of the pages and of their requests. The times, and the number of
    /// requests per page, do not change.
    #[arg(long, value_name = "SHARE")]
    pub(crate) scale: Option<f64>,
    /// Largest allowed deviation of a statistic. If a statistic deviates more, the exit code is 1
    /// and no file is written. vpass then tries larger values for --scale until a value meets all
    /// statistics.
    #[arg(
        long,
        value_name = "PERCENT",
        default_value_t = 2.0,
        value_parser = parse_tolerance,
    )]
    pub(crate) tolerance: f64,
    /// Write the workload into this file, for `vpass run --workload`.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Replace an existing workload file.
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// Random seed. The same seed gives the same results, byte for byte.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print one JSON object instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}
