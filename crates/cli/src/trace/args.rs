//! Command-line options of `vpass trace`.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use vpass_drive::base::request::Op;
use vpass_drive::base::units::Bytes;
use vpass_lab::setup::{events, operations};
use vpass_workload::traces::{BlkAction, Target, TimeUnit};

use super::duration::Duration;
use crate::args::at_least_one;

#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// Describe trace files: rows, sizes, footprint, reuse, hot spots, and the reads that the trace
    /// would cause on the blocks of a drive.
    #[command(after_help = INFO_EXAMPLES)]
    Info(InfoArgs),
    /// Join traces into one trace, and write it in vpass's compact form or as MSR Cambridge CSV.
    #[command(after_help = CONVERT_EXAMPLES)]
    Convert(ConvertArgs),
    /// Write a part of a trace: a time span, one device, a sample of the addresses, or the first
    /// rows.
    #[command(after_help = CUT_EXAMPLES)]
    Cut(CutArgs),
}

const INFO_EXAMPLES: &str = "Examples:\n  \
    vpass trace info examples/traces/pgbench-ext4.csv.zst\n  \
    vpass trace info --drive modern-tlc --set start.pec=2500 --json web.csv.zst db.vpt\n\n\
    Pages have the page size of --drive. Memory use grows with the number of touched pages, not of \
    rows: about 6 bytes per page if the touched pages are adjacent.";

const CONVERT_EXAMPLES: &str = "Examples:\n  \
    vpass trace convert web.csv.zst web.vpt\n  \
    vpass trace convert hour-1.csv hour-2.csv day.vpt.zst\n\n\
    The ending of OUT selects the form: .vpt for compact; .csv for msr. A further ending .zst or \
    .gz compresses the file.";

const CUT_EXAMPLES: &str = "Examples:\n  \
    vpass trace cut week.vpt hour.vpt --from 10h --to 11h\n  \
    vpass trace cut volumes.csv.zst one.csv --only 1371\n  \
    vpass trace cut big.vpt tenth.vpt --sample 0.1\n\n\
    A row is written if all given options select it. The form of OUT is chosen as in `vpass trace \
    convert`.";

/// Options for reading traces. All subcommands of `vpass trace` have these options.
#[derive(Clone, Debug, Args)]
pub(crate) struct ReadArgs {
    /// Trace format (see `vpass list formats`). Default: the format is recognised from the content.
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<String>,
    /// Columns of a trace in the text of any tool, in the order of a line, such as
    /// time:us,op,offset:bytes,size:sectors (see docs/start/your-own-trace.md).
    #[arg(long, value_name = "LIST", conflicts_with = "format")]
    pub(crate) columns: Option<String>,
    /// Direction of all requests, for a trace without directions.
    #[arg(long, value_parser = operations(), value_name = "read|write")]
    pub(crate) assume_op: Option<Op>,
    /// Requests per second, for a trace without times.
    #[arg(long, value_name = "IOPS")]
    pub(crate) assume_rate: Option<f64>,
    /// Unit of the times, for trace formats that do not fix the unit: disksim (default ms), mqsim
    /// (ns) and fio (us).
    #[arg(long, value_name = "s|ms|us|ns", value_parser = str::parse::<TimeUnit>)]
    pub(crate) time_unit: Option<TimeUnit>,
    /// Kind of blktrace event that counts as a request: queued, issued or completed. Default:
    /// queued if the start of the file has such events, else issued, else completed.
    #[arg(long, value_parser = events(), ignore_case = true, value_name = "Q|D|C")]
    pub(crate) blk_action: Option<BlkAction>,
    /// Skip and count lines that cannot be read, instead of stopping at the first such line.
    #[arg(long)]
    pub(crate) skip_bad_lines: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    /// Trace files: plain, gzip or zstd. Each file is described separately. `-` is standard input.
    #[arg(required = true, value_name = "FILE", value_parser = crate::stdin::trace_file())]
    pub(crate) files: Vec<PathBuf>,
    /// Drive whose page size and block size apply to all counts: a preset (see `vpass list drives`)
    /// or a TOML file.
    #[arg(long, value_name = "NAME|FILE", default_value = "straw-2t-tlc")]
    pub(crate) drive: String,
    /// Set a key of the drive, such as start.pec=2500.
    #[arg(long = "set", value_name = "KEY=VALUE", allow_hyphen_values = true)]
    pub(crate) set: Vec<String>,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// Print one JSON object instead of tables.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options for writing a trace. The subcommands `convert` and `cut` have these options.
#[derive(Clone, Debug, Args)]
pub(crate) struct WriteArgs {
    /// Leave out trims. This is needed for an output form that cannot hold trims.
    #[arg(long)]
    pub(crate) skip_trims: bool,
    /// Replace an existing file OUT.
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// Trace files, read one after the other; `-` is standard input. Devices with the same name
    /// count as one device.
    #[arg(required = true, value_name = "IN", value_parser = crate::stdin::trace_file())]
    pub(crate) inputs: Vec<PathBuf>,
    /// Trace to write. The file appears only when it is complete.
    #[arg(required = true, value_name = "OUT")]
    pub(crate) out: PathBuf,
    /// Form to write: compact or msr. Default: the form that the ending of OUT names.
    #[arg(long, visible_alias = "as", value_name = "compact|msr", value_parser = parse_target)]
    pub(crate) to: Option<Target>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CutArgs {
    /// Trace file to read; `-` is standard input.
    #[arg(value_name = "IN", value_parser = crate::stdin::trace_file())]
    pub(crate) input: PathBuf,
    /// Trace to write. The file appears only when it is complete.
    #[arg(value_name = "OUT")]
    pub(crate) out: PathBuf,
    /// Start of the time span to keep, as a time after the first row (for example 90s, 1.5h or
    /// 200ms). Earlier rows are left out.
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<Duration>,
    /// End of the time span to keep, as a time after the first row. Rows at the end or later are
    /// left out.
    #[arg(long, value_name = "TIME")]
    pub(crate) to: Option<Duration>,
    /// Device to keep, by its name in `vpass trace info`.
    #[arg(long, value_name = "DEV")]
    pub(crate) only: Option<String>,
    /// Keep this share of the address regions. A hash chooses the regions (spatial sampling as in
    /// SHARDS, FAST 2015). With the same seed, a larger share keeps all regions of a smaller share.
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub(crate) sample: Option<f64>,
    /// Size of the address regions for --sample. A request belongs to the region in which the
    /// request begins.
    #[arg(
        long,
        value_name = "SIZE",
        default_value = "1MiB",
        value_parser = parse_region,
        requires = "sample",
    )]
    pub(crate) region: Bytes,
    /// Seed of the hash with which --sample chooses regions.
    #[arg(long, default_value_t = 1, requires = "sample")]
    pub(crate) seed: u64,
    /// Keep only the first N of the rows that the other options select.
    #[arg(long, value_name = "N", value_parser = at_least_one::<NonZeroU64>)]
    pub(crate) rows: Option<NonZeroU64>,
    /// Form to write: compact or msr. Default: the form that the ending of OUT names.
    #[arg(long = "as", value_name = "compact|msr", value_parser = parse_target)]
    pub(crate) form: Option<Target>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

fn parse_target(text: &str) -> Result<Target, String> {
    text.parse()
}

fn parse_share(text: &str) -> Result<f64, String> {
    let share: f64 =
        text.parse().map_err(|_| "a share above 0 and up to 1 is expected".to_owned())?;
    if share > 0.0 && share <= 1.0 {
        Ok(share)
    } else {
        Err("a share above 0 and up to 1 is expected".into())
    }
}

fn parse_region(text: &str) -> Result<Bytes, String> {
    let region = Bytes::parse(text)?;
    if region.0 == 0 { Err("a size of at least 1 byte is expected".into()) } else { Ok(region) }
}
