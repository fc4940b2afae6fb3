//! Options of the command line, with their units and defaults. The source file of each command
//! defines the effect of the command's options.

use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};
use vpass_drive::base::failure::Failure;
use vpass_lab::numbers::counted;
use vpass_lab::plan::Chosen;
use vpass_lab::samples::Samples;
use vpass_lab::setup::{Gear, Replay, Watch};
use vpass_workload::synthetic::MAX_QUEUE_DEPTH;

mod combined;
mod setup;

use crate::report_page::{PageArgs, WithPage};
use crate::sweep::Axis;
pub(crate) use combined::Combined;

/// Options that several commands share: the drive, the workload, and the way to simulate them.
#[derive(Clone, Debug, Args)]
#[command(group(ArgGroup::new("load").required(true).args(["trace", "workload", "fio"])))]
pub(crate) struct Setup {
    /// Trace files: plain, gzip or zstd. `-` is standard input. The requests of several files are
    /// merged by time. The devices of the traces lie side by side on the drive.
    #[arg(long, value_name = "FILE", num_args = 1.., value_parser = crate::stdin::replayed_file())]
    pub(crate) trace: Vec<PathBuf>,
    /// Generated workload: a preset (see `vpass list workloads`) or a TOML file with
    /// `[workload]`.
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) workload: Option<String>,
    /// fio job file. Each job has its own files. The files of all jobs lie side by side on the
    /// drive.
    #[arg(long, value_name = "FILE")]
    pub(crate) fio: Option<PathBuf>,
    /// Run the workload N times in a row, without a pause.
    #[arg(
        long,
        value_name = "N",
        default_value_t = NonZeroU32::MIN,
        value_parser = at_least_one::<NonZeroU32>,
    )]
    pub(crate) repeat: NonZeroU32,
    /// stable: repeat the workload, at most 100 times, until the programs and erases per host page
    /// have settled. The passes are divided into thirds. For each cause of programs and erases, the
    /// last third is compared with the middle third and with all passes. Each difference must be at
    /// most 1 % of all programs or erases. A third must be long enough to reuse the spare blocks
    /// several times.
    #[arg(long, value_enum, conflicts_with = "repeat")]
    pub(crate) until: Option<Until>,
    /// Serve the first N requests of the workload before counting begins. These N requests are
    /// served without latencies in every gear.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        value_parser = a_count,
        conflicts_with = "fio",
    )]
    pub(crate) warm_up: u64,
    /// Repeat the run on drives with these P/E cycles (start.pec), separated by commas. The life of
    /// the drive is then projected from all runs. Without --ages, the life is projected from one
    /// run and from the technique's thresholds for rewriting blocks.
    #[arg(long, value_name = "PEC,..", value_delimiter = ',')]
    pub(crate) ages: Vec<u32>,
    /// Simulate one page in N, on a drive with N times fewer planes (fluid gear). The results of
    /// `vpass run` and `vpass compare` then count only the pages of this sample. `vpass life`
    /// accepts K/N too, for K samples that have no page in common. Default: `vpass life` chooses
    /// the sample; other commands simulate the whole drive.
    #[arg(long, value_name = "1/N", value_parser = str::parse::<Samples>)]
    pub(crate) sample: Option<Samples>,
    /// TOML file with hints. A hint says which read latency the host accepts for a range of data:
    /// none, idle, typical or smallest. `[hints]` of the drive file gives the latencies in
    /// microseconds. off: no hints. Default: `[[hints.range]]` of the workload file, if any.
    #[arg(long, value_name = "FILE|off")]
    pub(crate) hints: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) replay: Replay,
    #[command(flatten)]
    pub(crate) base: Base,
}

/// Options that do not depend on the kind of workload: the drive, and the way to simulate the
/// drive.
#[derive(Clone, Debug, Args)]
pub(crate) struct Base {
    /// Drive: a preset (see `vpass list drives`) or a TOML file.
    #[arg(long, value_name = "NAME|FILE", display_order = 0)]
    pub(crate) drive: String,
    /// Way to simulate the drive. timed: with latencies and contention. untimed: counts and wear
    /// only, several times faster than timed. fluid: counts and wear over years; reads are
    /// simulated in bulk, at the rates of the workload.
    #[arg(long, value_enum, default_value_t = Gear::Timed)]
    pub(crate) gear: Gear,
    /// Keep N requests outstanding (closed loop). Default: the times of the trace, the rate of the
    /// workload, or the depths and rates of the fio jobs.
    #[arg(long, value_name = "N", value_parser = a_depth)]
    pub(crate) queue_depth: Option<u32>,
    /// Set a key of the drive or the workload (see `vpass list keys`), such as drive.capacity=16GiB
    /// or workload.requests=1M. A value that is not valid TOML is taken as a string. KEY= clears a
    /// key.
    #[arg(long = "set", value_name = "KEY=VALUE", allow_hyphen_values = true)]
    pub(crate) set: Vec<String>,
    /// Random seed. The same seed gives the same results, byte for byte.
    #[arg(long, value_name = "SEED", default_value_t = 1, value_parser = a_seed)]
    pub(crate) seed: u64,
    /// Let an independent checker, the oracle, watch the drive.
    #[arg(long, value_enum, default_value_t = Watch::On)]
    pub(crate) oracle: Watch,
    /// Write results into this new folder. The folder appears only if all results are complete.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print one JSON object instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) setup: Setup,
    #[command(flatten)]
    pub(crate) one: OneDrive,
    /// Repeat the run with N seeds, from --seed upwards. Prints the mean uncorrectable bit error
    /// rate (UBER) with a 95 % interval, and the lost pages of all runs. All other results come
    /// from the first seed. `vpass compare --seeds` prints the mean of every result.
    #[arg(
        long,
        default_value_t = NonZeroU32::MIN,
        value_name = "N",
        value_parser = at_least_one::<NonZeroU32>,
    )]
    pub(crate) seeds: NonZeroU32,
    #[command(flatten)]
    pub(crate) page: PageArgs,
}

impl WithPage for RunArgs {
    fn page_and_out(&mut self) -> (&mut PageArgs, &mut Option<PathBuf>) {
        (&mut self.page, &mut self.setup.base.out)
    }
}

/// Techniques and failures of a single drive.
#[derive(Clone, Debug, Args)]
pub(crate) struct OneDrive {
    #[command(flatten)]
    pub(crate) techniques: TechniqueArgs,
    /// Failures to inject, separated by commas, such as die:3@10s or block:17@r5000. UNIT is a die,
    /// plane, block or page, with its number in the drive. WHEN is a time (10s) or a count of
    /// measured requests (r5000: after 5,000 requests).
    #[arg(long, value_delimiter = ',', value_name = "UNIT@WHEN,..")]
    pub(crate) fail: Vec<Failure>,
}

/// Techniques of a single run.
#[derive(Clone, Debug, Args)]
pub(crate) struct TechniqueArgs {
    /// Read-reclaim technique (see `vpass list reclaim`).
    #[arg(long, default_value = "block", value_name = "NAME")]
    pub(crate) reclaim: String,
    /// Garbage collection policy (see `vpass list gc`).
    #[arg(long, default_value = "greedy", value_name = "NAME")]
    pub(crate) gc: String,
    /// Refresh technique (see `vpass list refresh`), which rewrites old data. Refresh needs a
    /// clock: the timed gear, the times of a trace, workload.rate, or --rate of an attack. Default:
    /// the refresh technique that the parity technique includes, if any; otherwise none.
    #[arg(long, value_name = "NAME")]
    pub(crate) refresh: Option<String>,
    /// Parity technique (see `vpass list parity`): parity pages inside the drive repair other
    /// pages. The drive's spare area must be large enough for the parity pages.
    #[arg(long, default_value = "none", value_name = "NAME")]
    pub(crate) parity: String,
}

impl TechniqueArgs {
    /// Returns the names of the techniques.
    pub(crate) fn chosen(&self) -> Chosen<'_> {
        Chosen {
            reclaim: &self.reclaim,
            gc: &self.gc,
            refresh: self.refresh.as_deref(),
            parity: &self.parity,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) setup: Setup,
    /// Read-reclaim techniques, separated by commas (see `vpass list reclaim`). Default: all
    /// techniques. With the parity technique `udl`, the default is the reclaim technique that `udl`
    /// includes.
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    pub(crate) reclaim: Vec<String>,
    #[command(flatten)]
    pub(crate) combined: Combined,
    /// Failures to inject, separated by commas, such as die:3@10s or block:17@r5000. UNIT is a die,
    /// plane, block or page, with its number in the drive. WHEN is a time (10s) or a count of
    /// measured requests (r5000: after 5,000 requests).
    #[arg(long, value_delimiter = ',', value_name = "UNIT@WHEN,..")]
    pub(crate) fail: Vec<Failure>,
    /// Run each technique with N seeds, from --seed upwards, and print 95 % confidence intervals.
    /// Default: 3 seeds if the run of a technique is short (at most 10 million requests in the
    /// timed gear, or 40 million in the untimed gear), and otherwise 1. If all seeds give the
    /// same results for a trace, 1 seed is run. With --sweep, the default is 1.
    #[arg(long, value_name = "N", value_parser = at_least_one::<NonZeroU32>)]
    pub(crate) seeds: Option<NonZeroU32>,
    /// Compare techniques at each of these values of a key, for example start.pec=0,1000,2000. If
    /// --sweep is repeated, techniques are compared at each combination of the values.
    #[arg(
        long,
        value_name = "KEY=VALUE,..",
        value_parser = Axis::parse,
        conflicts_with = "ages",
    )]
    pub(crate) sweep: Vec<Axis>,
    /// Number of threads. A thread simulates one drive, or several drives that serve the same
    /// requests. A thread waits while too little memory is free. Default: number of cores.
    #[arg(long, value_name = "N", value_parser = at_least_one::<NonZeroUsize>)]
    pub(crate) threads: Option<NonZeroUsize>,
    /// Run everything again. Default: continue an unfinished command with the same --out, and reuse
    /// its finished runs. Without --sweep, the folder of a finished command is never overwritten.
    #[arg(long, requires = "out")]
    pub(crate) fresh: bool,
    #[command(flatten)]
    pub(crate) form: Form,
    #[command(flatten)]
    pub(crate) page: PageArgs,
}

impl WithPage for CompareArgs {
    fn page_and_out(&mut self) -> (&mut PageArgs, &mut Option<PathBuf>) {
        (&mut self.page, &mut self.setup.base.out)
    }
}

/// Options that print a comparison as CSV or as Markdown, instead of as a table.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Form {
    /// Print CSV instead of a table: one row per technique. For each result, the row has the mean
    /// and half the width of the 95 % confidence interval.
    #[arg(long, conflicts_with_all = ["markdown", "json"])]
    pub(crate) csv: bool,
    /// Print the table as Markdown.
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// Drive: a preset or a TOML file.
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) drive: String,
    /// Read-reclaim technique.
    #[arg(long, default_value = "block", value_name = "NAME")]
    pub(crate) reclaim: String,
    /// Set a key of the drive.
    #[arg(long = "set", value_name = "KEY=VALUE", allow_hyphen_values = true)]
    pub(crate) set: Vec<String>,
    /// Print one JSON object instead of tables.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Parses a whole number of at least 1, such as 3 or 1M.
pub(crate) fn at_least_one<N: TryFrom<NonZeroU64>>(text: &str) -> Result<N, String> {
    let number = a_count(text).ok().and_then(NonZeroU64::new).and_then(|n| N::try_from(n).ok());
    number.ok_or_else(|| {
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let is_large = digits.bytes().all(|b| b.is_ascii_digit())
            && digits.bytes().any(|b| b != b'0')
            && (digits == text || counted(text).is_some());
        if is_large {
            let most =
                if N::try_from(NonZeroU64::MAX).is_ok() { u64::MAX } else { u32::MAX.into() };
            format!("a whole number from 1 to {most} is expected")
        } else {
            "a whole number of at least 1 is expected".into()
        }
    })
}

/// Parses a random seed.
pub(crate) fn a_seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("a whole number from 0 to {} is expected", u64::MAX))
}

/// Parses a whole number, such as 1000000 or 1M.
fn a_count(text: &str) -> Result<u64, String> {
    match counted(text) {
        Some(count) => count,
        None => {
            text.parse().map_err(|_| "a whole number is expected, for example 1000000 or 1M".into())
        }
    }
}

/// Parses a queue depth.
fn a_depth(text: &str) -> Result<u32, String> {
    let depth = a_count(text).ok().and_then(|n| u32::try_from(n).ok());
    depth
        .filter(|n| (1..=MAX_QUEUE_DEPTH).contains(n))
        .ok_or_else(|| format!("a whole number from 1 to {MAX_QUEUE_DEPTH} is expected"))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Until {
    /// Repeat the workload until the wear per host page has settled.
    Stable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListWhat {
    Drives,
    Workloads,
    Formats,
    Reclaim,
    Refresh,
    Parity,
    Gc,
    Models,
    Attacks,
    /// All keys of drive and workload files, each with its default, range, unit and meaning.
    Keys,
    /// JSON Schemas of drive and workload files, for editors.
    Schema,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShowWhat {
    /// Drive as TOML.
    Drive,
    /// Workload as TOML.
    Workload,
    /// Table that compares the drive with its data sheet (`vpass show FILE`).
    Sheet,
}
