//! The commands of `vpass`, with their arguments.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::args::{CompareArgs, ExplainArgs, ListWhat, RunArgs, ShowWhat, at_least_one};
use crate::attack::args::{AttackArgs, EXAMPLES as ATTACK_EXAMPLES};
use crate::hints::{EXAMPLE as HINTS_EXAMPLE, HintsArgs};
use crate::life::args::{EXAMPLES as LIFE_EXAMPLES, LifeArgs};
use crate::llm::{EXAMPLES as LLM_EXAMPLES, LlmArgs};
use crate::new::args::{EXAMPLES as NEW_EXAMPLES, NewCommand};
use crate::report_page::ReportArgs;
use crate::serve::{EXAMPLES as SERVE_EXAMPLES, ServeArgs};
use crate::smart::SmartArgs;
use crate::sweep::SweepArgs;
use crate::trace::args::TraceCommand;

const COLOURS: clap::builder::Styles = clap::builder::Styles::styled()
    .header(clap::builder::styling::AnsiColor::Green.on_default().bold())
    .usage(clap::builder::styling::AnsiColor::Green.on_default().bold())
    .literal(clap::builder::styling::AnsiColor::Cyan.on_default());

/// Simulate SSDs in which every read disturbs the data around it. See how long a drive lives, how
/// slow its slowest reads are, which technique helps, and at what cost.
#[derive(Debug, Parser)]
#[command(
    name = "vpass",
    version,
    styles = COLOURS,
    arg_required_else_help = true,
    after_help = "Example: vpass compare --drive tiny --workload zipf-read --reclaim none,block\n\n\
        Exit codes: 0 done; 1 failed, or the drive model has a bug; 2 wrong usage, configuration, \
        trace\n\
        or job file; 3 done and data was lost (run, attack); 130 interrupted."
)]
pub(crate) struct Cli {
    /// Show no progress. Notes, warnings and results are still printed.
    #[arg(long, short, global = true, display_order = 1000)]
    pub(crate) quiet: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a workload on a simulated drive and report the results.
    #[command(after_help = RUN_EXAMPLES)]
    Run(RunArgs),
    /// Serve a simulated drive as a block device, which any program can use over NBD.
    #[command(after_help = SERVE_EXAMPLES)]
    Serve(ServeArgs),
    /// Run the same workload on one drive per technique, and mark the best technique for each
    /// result.
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(CompareArgs),
    /// Compare techniques for many values of drive or workload keys. A TOML file lists the keys and
    /// values. Finished runs are kept.
    #[command(after_help = "Example: vpass sweep examples/sweeps/wear.toml --out wear")]
    Sweep(SweepArgs),
    /// Simulate a drive until it is worn out. See how many years it lives, what causes its wear,
    /// and with which technique it lives longest.
    #[command(after_help = LIFE_EXAMPLES)]
    Life(LifeArgs),
    /// Estimate whether the reads of a language model wear out a drive. Prints the life of the
    /// drive in years, the rewrites, and the bytes written to flash. Measurements of real drives
    /// are printed for comparison.
    #[command(after_help = LLM_EXAMPLES)]
    Llm(LlmArgs),
    /// Attack a drive with reads that try to lose its data or to wear it out. The attacker knows
    /// the physical layout of the data.
    #[command(after_help = ATTACK_EXAMPLES)]
    Attack(AttackArgs),
    /// List presets, formats, techniques, models, attacks, keys or schemas.
    #[command(after_help = "Example: vpass list drives")]
    List {
        /// Name of the list to print. Default: all lists except keys and schema.
        what: Option<ListWhat>,
        /// Print one JSON object instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Print a drive or a workload as TOML, for example to begin a file of your own. `vpass show
    /// FILE` checks a drive file, and prints the drive's numbers beside those of its data sheet.
    #[command(
        after_help = "Example: vpass show drive tiny > mine.toml; vpass show drive tiny --set \
            drive.capacity=2GiB; vpass show mine.toml"
    )]
    Show {
        what: ShowWhat,
        /// Preset or TOML file.
        name: String,
        /// Set a key, such as drive.capacity=2GiB. vpass then prints the effective configuration,
        /// without comments.
        #[arg(long = "set", value_name = "KEY=VALUE")]
        set: Vec<String>,
        /// Print the effective configuration as one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Make a drive file from a data sheet, or make the files of a new read-reclaim policy.
    #[command(after_help = NEW_EXAMPLES)]
    New {
        #[command(subcommand)]
        command: NewCommand,
    },
    /// Explain one read: its latency, its effect on the block, and the number of reads after which
    /// the block is rewritten.
    #[command(after_help = "Example: vpass explain --drive straw-2t-tlc --reclaim block")]
    Explain(ExplainArgs),
    /// Make a hint file from files of a mounted image. The hints say which latency the host accepts
    /// for reads of these files.
    #[command(after_help = HINTS_EXAMPLE)]
    Hints(HintsArgs),
    /// Inspect, convert or cut traces.
    Trace {
        #[command(subcommand)]
        command: TraceCommand,
    },
    /// Make a page of stored results: one HTML file with charts, tables and warnings.
    #[command(after_help = "Example: vpass report results --output results.html")]
    Report(ReportArgs),
    /// Print the SMART counters of a run, or the changes of a real drive's counters between two
    /// snapshots.
    #[command(after_help = SMART_EXAMPLES)]
    Smart(SmartArgs),
    /// Print a completion script for a shell.
    #[command(after_help = "Example: vpass completions bash > \
            ~/.local/share/bash-completion/completions/vpass")]
    Completions {
        /// Shell that reads the script.
        shell: clap_complete::Shell,
    },
    /// Write a man page for each command (`make man`).
    #[command(hide = true)]
    Man {
        /// Existing folder for the pages.
        folder: PathBuf,
    },
    /// Search for bugs of the drive model: small random drives serve random requests, and an
    /// independent checker, the oracle, watches the drives. In one case of four, an adaptive
    /// adversary sends the requests.
    #[command(after_help = "Examples:\n  \
            vpass check --seed 1 --minutes 5\n  \
            vpass check --seed 1 --count 1000 --reclaim straw-wl")]
    Check {
        /// Seed of the first case. Each further case uses the next larger seed.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Run cases for M minutes. Default: one case, unless --count is given.
        #[arg(long, value_name = "M")]
        minutes: Option<f64>,
        /// Run C cases.
        #[arg(
            long,
            value_name = "C",
            conflicts_with = "minutes",
            value_parser = at_least_one::<NonZeroU64>,
        )]
        count: Option<NonZeroU64>,
        /// Check only drives with this reclaim technique (see `vpass list reclaim`).
        #[arg(long, value_name = "NAME")]
        reclaim: Option<String>,
        /// Check only drives with this GC policy (see `vpass list gc`).
        #[arg(long, value_name = "NAME")]
        gc: Option<String>,
        /// Check only drives with this parity technique (see `vpass list parity`). Without
        /// --reclaim, each drive has a random reclaim technique that works with this parity
        /// technique.
        #[arg(long, value_name = "NAME")]
        parity: Option<String>,
        /// Check only drives with this refresh technique (see `vpass list refresh`). Drives are
        /// left out if the technique does not support their cell type.
        #[arg(long, value_name = "NAME")]
        refresh: Option<String>,
        /// Check drives that lose a die, a plane, a block or a page at a random moment. If no
        /// technique is named, each drive has a random parity technique.
        #[arg(long)]
        fail: bool,
        /// Check drives on which an erase counts as 2 to 1000 P/E cycles (`wear.acceleration`).
        #[arg(long)]
        accelerate: bool,
        /// Print a digest of the --count cases, without running them. The digest shows whether the
        /// same seeds still draw the same cases. A new key at its default value does not change the
        /// digest.
        #[arg(long, requires = "count", conflicts_with = "minutes")]
        digest: bool,
    },
}

const RUN_EXAMPLES: &str = "Examples:\n  \
    vpass run --drive tiny --workload zipf-read\n  \
    vpass run --drive straw-2t-tlc --trace web.csv.zst --fit scale --gear untimed --repeat 20 \
    --out results\n  \
    vpass run --drive tiny --workload uniform-read --set workload.requests=1e6 --set \
    start.pec=1000 --json\n\n\
    Exit codes: 0 done; 1 failed, or the oracle found a bug of the drive model; 2 wrong usage, \
    configuration, trace or job file; 3 done, but data was lost; 130 interrupted.";

const SMART_EXAMPLES: &str = "Examples:\n  \
    vpass smart results\n  \
    smartctl -j -a /dev/nvme0 > before.json; nvme ocp smart-add-log -o json /dev/nvme0 >> \
    before.json\n  \
    vpass smart --measured before.json after.json --drive modern-tlc\n\n\
    docs/reference/smart.md defines each counter.";

const COMPARE_EXAMPLES: &str = "Examples:\n  \
    vpass compare --drive tiny --workload zipf-read --reclaim none,block\n  \
    vpass compare --drive tiny --workload random-70-30 --reclaim block --gc greedy,cost-benefit \
    --seeds 5 --out results\n\n\
    Exits with 0 if every run completed; data loss is a column of the table. Exits with 1 if \
    failures (--fail) stopped a drive; the table then shows the other drives. Exits with 1 if the \
    oracle found a bug of the drive model.";
