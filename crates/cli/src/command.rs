//! The commands, and what each takes.

use std::num::NonZeroU64;

use clap::{Parser, Subcommand};

use crate::args::{CompareArgs, ExplainArgs, ListWhat, RunArgs, ShowWhat, at_least_one};
use crate::attack::args::{AttackArgs, EXAMPLES as ATTACK_EXAMPLES};
use crate::life::args::{EXAMPLES as LIFE_EXAMPLES, LifeArgs};
use crate::paper::PaperArgs;
use crate::trace::args::TraceCommand;
use crate::workload::args::{EXAMPLES as WORKLOAD_EXAMPLES, WorkloadCommand};

const COLOURS: clap::builder::Styles = clap::builder::Styles::styled()
    .header(clap::builder::styling::AnsiColor::Green.on_default().bold())
    .usage(clap::builder::styling::AnsiColor::Green.on_default().bold())
    .literal(clap::builder::styling::AnsiColor::Cyan.on_default());

/// How long will a drive live under your reads, how slow will its worst reads be, and which
/// technique helps at what cost?
#[derive(Debug, Parser)]
#[command(
    name = "vpass",
    version,
    styles = COLOURS,
    arg_required_else_help = true,
    after_help = "Example: vpass compare --drive tiny --workload zipf-read --reclaim none,block\n\n\
                  Exit codes: 0 done; 1 failed, a fit misses (workload fit), or the drive model has a bug; 2 wrong usage, configuration,\n\
                  trace or job file; 3 done and data was lost (run, attack); 130 interrupted."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a workload on a simulated drive and print what became of both.
    #[command(after_help = RUN_EXAMPLES)]
    Run(RunArgs),
    /// Run the same workload on one drive per technique and name the winner in each column.
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(CompareArgs),
    /// Let a drive live until it is worn out: how many years, what consumed them, and with which
    /// technique they are most.
    #[command(after_help = LIFE_EXAMPLES)]
    Life(LifeArgs),
    /// Attack a drive: reads made on purpose to lose its data or to wear it out, by one who knows
    /// where every page lies.
    #[command(after_help = ATTACK_EXAMPLES)]
    Attack(AttackArgs),
    /// List what can be chosen.
    #[command(after_help = "Example: vpass list drives")]
    List {
        /// Only these; everything but the keys where absent.
        what: Option<ListWhat>,
        /// Print one JSON object instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Print a drive or a workload as TOML, to read or to start a file of your own from.
    #[command(
        after_help = "Example: vpass show drive tiny > mine.toml; vpass show drive tiny --set drive.capacity=2GiB"
    )]
    Show {
        what: ShowWhat,
        /// Preset or TOML file.
        name: String,
        /// Another value for a key, as in `vpass run`; prints the effective configuration, without
        /// comments.
        #[arg(long = "set", value_name = "KEY=VALUE")]
        set: Vec<String>,
        /// Print the effective configuration as one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Explain one read: its latency, what it does to its block, and when the block is rewritten.
    #[command(after_help = "Example: vpass explain --drive straw-2t-tlc --reclaim block")]
    Explain(ExplainArgs),
    /// Say what is in a trace, convert it, cut a part out of it.
    Trace {
        #[command(subcommand)]
        command: TraceCommand,
    },
    /// Make generated workloads from statistics, and say how well they fit.
    #[command(after_help = WORKLOAD_EXAMPLES)]
    Workload {
        #[command(subcommand)]
        command: WorkloadCommand,
    },
    /// Regenerate the figures of a paper from its recipe, beside the paper's numbers.
    #[command(after_help = "Example: vpass paper papers/straw-2024 --out straw")]
    Paper(PaperArgs),
    /// Search for bugs of the drive model: random small drives, random requests, the oracle
    /// watching. An adversary who looks again makes the requests of one in four.
    #[command(
        after_help = "Examples:\n  vpass check --seed 1 --minutes 5\n  vpass check --seed 1 --count 1000 --reclaim straw-wl"
    )]
    Check {
        /// Seed of the first case; each further case takes the next one.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Run cases for so many minutes; a single case where neither this nor --count is given.
        #[arg(long, value_name = "M", allow_negative_numbers = true)]
        minutes: Option<f64>,
        /// Run so many cases.
        #[arg(long, value_name = "C", conflicts_with = "minutes", value_parser = at_least_one::<NonZeroU64>)]
        count: Option<NonZeroU64>,
        /// Only drives under this technique (see `vpass list reclaim`): its battery.
        #[arg(long, value_name = "NAME")]
        reclaim: Option<String>,
        /// Only drives with this parity (see `vpass list parity`), under --reclaim, or any
        /// technique that goes with it or those that it is made of.
        #[arg(long, value_name = "NAME")]
        parity: Option<String>,
        /// Only drives whose data is refreshed by this technique (see `vpass list refresh`), as far
        /// as their cells go with it.
        #[arg(long, value_name = "NAME")]
        refresh: Option<String>,
        /// Small drives that lose a die at a random point, with every parity technique: two a case,
        /// of which the second has parity by wear. With --reclaim, --parity or --refresh, the
        /// drives of those that lose a die, a plane, a block or a page.
        #[arg(long)]
        fail: bool,
        /// Draw drives on which an erase counts as 2 to 1000 P/E cycles (`wear.acceleration`).
        #[arg(long)]
        accelerate: bool,
        /// Run nothing: print a digest of the --count cases as they are drawn. It moves if a drive,
        /// a technique or the chance of any case moves; a new key at its default does not move it.
        #[arg(long, requires = "count", conflicts_with = "minutes")]
        digest: bool,
    },
}

const RUN_EXAMPLES: &str = "Examples:\n  vpass run --drive tiny --workload zipf-read\n  \
    vpass run --drive straw-2t-tlc --trace web.csv.zst --fit scale --gear untimed --repeat 20 --out results\n  \
    vpass run --drive tiny --workload uniform-read --set workload.requests=1e6 --set start.pec=1000 --json\n\n\
    Exit codes: 0 done; 1 failed, or the oracle found a bug of the drive model; 2 wrong usage, configuration, trace or job file; \
    3 done, but data was lost; 130 interrupted.";

const COMPARE_EXAMPLES: &str = "Examples:\n  vpass compare --drive tiny --workload zipf-read --reclaim none,block\n  \
    vpass compare --drive tiny --workload random-70-30 --reclaim block --gc greedy,cost-benefit --seeds 5 --out results\n\n\
    Exits 0 whenever every run completed: data loss is a column of the table. Exits 1 where a drive stopped for what failed in it (--fail), with \
    the table of the others, or where the oracle found a bug of the drive model.";
