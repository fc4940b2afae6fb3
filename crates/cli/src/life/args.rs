//! The words of `vpass life`.

use std::num::{NonZeroU32, NonZeroUsize};

use clap::Args;
use vpass_lab::life::Until;

use crate::args::{Combined, Gear, Setup, at_least_one};

pub(crate) const EXAMPLES: &str = "Examples:\n  \
    vpass life --drive modern-tlc --workload zipf-read --set workload.rate=20k\n  \
    vpass life --drive modern-tlc --trace mine.csv.zst --reclaim block,straw-wl --within 5% --minutes 10\n  \
    vpass life --drive mine.toml --workload mixed.toml --refresh none,block --exact --seeds 3 --sample 1/16\n  \
    vpass life --drive mine.toml --workload mixed.toml --refresh block --find refresh.period --from 7d --to 1y --out curve\n\n\
    A drive is worn out when its mean block has endured drive.rated_pec P/E cycles. One that is not after 100 years (or --years) prints\n\
    \"> 100\".\n\n\
    After a warm-up, an erase counts as K P/E cycles. The ladder has seven rungs: K = 100, 30, 30, 10, 10, 3 and 1, with 2, 2, 4, 4, 8, 8\n\
    and 8 lives. A rung's interval is the larger of two: its difference to the rung with the next larger K, and the 95 % interval of batch\n\
    means. Lives that differ by more than their batches explain have the 95 % interval over the lives instead.\n\n\
    Exits 0 whenever every life came to its end, data lost or not; 1 where the oracle found a bug of the drive model, or where not even\n\
    the first rung was done in time.";

/// A drive, a workload, and what to compare.
#[derive(Debug, Args)]
#[command(mut_arg("gear", |arg| arg.default_value("fluid")))]
pub(crate) struct LifeArgs {
    #[command(flatten)]
    pub(crate) setup: Setup,
    /// Read-reclaim techniques, separated by commas (see `vpass list reclaim`).
    #[arg(long, value_delimiter = ',', default_value = "block", value_name = "NAME,..")]
    pub(crate) reclaim: Vec<String>,
    #[command(flatten)]
    pub(crate) combined: Combined,
    /// Live each life with this many seeds, counting up from --seed; years then have a 95 %
    /// confidence interval.
    #[arg(long, default_value_t = NonZeroU32::MIN, value_name = "N", value_parser = at_least_one::<NonZeroU32>)]
    pub(crate) seeds: NonZeroU32,
    /// End after so many years, worn out or not: above 0, at most 100.
    #[arg(long, value_name = "YEARS", allow_hyphen_values = true, value_parser = a_number)]
    pub(crate) years: Option<f64>,
    /// End as well when the reads of the drive's life together have more errors than this by each
    /// bit read, as JESD218 has it: 1e-15 for client drives, 1e-16 for others. Errors are what
    /// chance makes of the error rates of all data that was read, not those that happened to come.
    #[arg(long, value_name = "RATE", allow_hyphen_values = true, value_parser = a_number)]
    pub(crate) uber: Option<f64>,
    /// Threads; as many as there are cores where absent.
    #[arg(long, value_name = "N", value_parser = at_least_one::<NonZeroUsize>)]
    pub(crate) threads: Option<NonZeroUsize>,
    /// Climb until the interval of every technique is this small a part of its years: a share, such
    /// as 5% or 0.05.
    #[arg(long, value_name = "SHARE", default_value = "10%", value_parser = a_share, conflicts_with_all = ["exact", "rung"])]
    pub(crate) within: f64,
    /// Begin no rung that is not expected to end within so many minutes for each technique. The
    /// first rung is given up then.
    #[arg(long, value_name = "MINUTES", default_value_t = 3.0, value_parser = some_minutes, conflicts_with_all = ["exact", "rung"])]
    pub(crate) minutes: f64,
    /// Live on this rung of the ladder, from 1 to 7, however long it takes: the same bytes on any
    /// number of cores.
    #[arg(long, value_name = "N", conflicts_with = "exact")]
    pub(crate) rung: Option<u32>,
    /// Simulate every P/E cycle from the start, on the plan as it is given: the whole drive without
    /// --sample, one life without --seeds.
    #[arg(long)]
    pub(crate) exact: bool,
    /// Live all lives. Without this, finished lives that an earlier command for the same --out kept
    /// are taken as they are.
    #[arg(long, requires = "out")]
    pub(crate) fresh: bool,
    /// Look for the value of one numeric key of the drive, such as refresh.period, with which it
    /// lives longest: nine values in even steps of their logarithm, then the golden section around
    /// the best. The curve is printed as CSV, or as JSON; values with which the drive is refused
    /// have no row.
    #[arg(long, value_name = "KEY")]
    pub(crate) find: Option<String>,
    /// First value to try, as --set takes it; a sixteenth of the drive's own where absent.
    #[arg(long, value_name = "VALUE", requires = "find")]
    pub(crate) from: Option<String>,
    /// Last value to try; sixteen times the drive's own where absent.
    #[arg(long, value_name = "VALUE", requires = "find")]
    pub(crate) to: Option<String>,
}

/// Reads a number; what it may be is said where it is known what it is.
fn a_number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "a number is expected, such as 0.5 or 1e-15".into())
}

/// Reads a share: 10% or 0.1.
fn a_share(text: &str) -> Result<f64, String> {
    let (number, unit) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
    let share = number
        .trim()
        .parse::<f64>()
        .map(|number| number / unit)
        .ok()
        .filter(|share| *share > 0.0 && *share <= 1.0);
    share.ok_or_else(|| "a share above 0 and at most 100 % is expected, such as 10% or 0.1".into())
}

/// Reads minutes.
fn some_minutes(text: &str) -> Result<f64, String> {
    let minutes =
        text.parse().ok().filter(|minutes: &f64| *minutes > 0.0 && *minutes <= MOST_MINUTES);
    minutes.ok_or_else(|| "minutes above 0 and at most 100,000 are expected, such as 3".into())
}

/// Minutes that a climb may take at most.
const MOST_MINUTES: f64 = 1e5;

impl LifeArgs {
    /// Whether each life is simulated cycle by cycle: where that is asked for, and request by
    /// request.
    pub(crate) fn is_exact(&self) -> bool {
        self.exact || self.setup.base.gear != Gear::Fluid
    }

    /// Where lives end at the latest.
    pub(crate) fn until(&self) -> Until {
        Until { years: self.years, uber: self.uber }
    }
}
