//! Command-line options of `vpass life`.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use clap::Args;
use vpass_lab::life::Until;

use crate::args::{Combined, Gear, Setup, at_least_one};
use crate::report_page::{PageArgs, WithPage};

pub(crate) const EXAMPLES: &str = "Examples:\n  \
    vpass life --drive modern-tlc --workload zipf-read --set workload.rate=20k\n  \
    vpass life --drive modern-tlc --trace mine.csv.zst --reclaim block,straw-wl --within 5% \
    --minutes 10\n  \
    vpass life --drive mine.toml --workload mixed.toml --refresh none,block --exact --seeds 3 \
    --sample 1/16\n  \
    vpass life --drive mine.toml --workload mixed.toml --refresh block --find refresh.period \
    --from 7d --to 1y --out curve\n\n\
    A drive is worn out when its mean block has endured drive.rated_pec P/E cycles. If it is not\n\
    worn out after 100 years (or --years), the life is \"> 100\" (or \"> YEARS\").\n\n\
    After a warm-up, an erase counts as K P/E cycles. The ladder of accuracy has seven rungs:\n\
    K = 100, 30, 30, 10, 10, 3 and 1, with 2, 2, 4, 4, 8, 8 and 8 lives. The interval of a rung \
    is\n\
    the larger of two: its difference to the rung with the next larger K, and the 95 % interval \
    of\n\
    batch means. If the lives differ by more than their batches explain, the 95 % interval over \
    the\n\
    lives replaces that of the batch means.\n\n\
    Exits with 0 if every life ended, with or without lost data. Exits with 1 if the oracle found \
    a\n\
    bug of the drive model, or if not even the first rung ended in time.";

/// Options of `vpass life`: a drive, a workload, and the techniques to compare.
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
    /// Simulate each life with N seeds, from --seed upwards. The years then have a 95 % confidence
    /// interval.
    #[arg(
        long,
        default_value_t = NonZeroU32::MIN,
        value_name = "N",
        value_parser = at_least_one::<NonZeroU32>,
    )]
    pub(crate) seeds: NonZeroU32,
    /// End the life after this many years, even if the drive is not worn out. The years must be
    /// above 0 and at most 100.
    #[arg(long, value_name = "YEARS", allow_hyphen_values = true, value_parser = a_number)]
    pub(crate) years: Option<f64>,
    /// Also end the life when the uncorrectable bit error rate of all reads so far exceeds RATE
    /// (JESD218: 1e-15 for client drives, 1e-16 for enterprise drives). This rate is not counted:
    /// vpass computes it from the error rates of the data that is read.
    #[arg(long, value_name = "RATE", allow_hyphen_values = true, value_parser = a_number)]
    pub(crate) uber: Option<f64>,
    /// Number of threads. Default: number of cores.
    #[arg(long, value_name = "N", value_parser = at_least_one::<NonZeroUsize>)]
    pub(crate) threads: Option<NonZeroUsize>,
    /// Simulate on higher, more exact rungs until the life of every technique is known well enough.
    /// For each life, half the width of the interval must be at most this share of the life, such
    /// as 5% or 0.05.
    #[arg(
        long,
        value_name = "SHARE",
        default_value = "10%",
        value_parser = a_share,
        conflicts_with_all = ["exact", "rung"],
    )]
    pub(crate) within: f64,
    /// Start a rung only if it will probably end within this many minutes per technique. The first
    /// rung is stopped after this time.
    #[arg(
        long,
        value_name = "MINUTES",
        default_value_t = 3.0,
        value_parser = some_minutes,
        conflicts_with_all = ["exact", "rung"],
    )]
    pub(crate) minutes: f64,
    /// Simulate on this rung of the ladder, from 1 (fastest) to 7 (most exact), without a time
    /// limit. The results do not depend on the number of cores.
    #[arg(long, value_name = "N", conflicts_with = "exact")]
    pub(crate) rung: Option<u32>,
    /// Simulate every P/E cycle from the start, without the ladder. Without --sample, the whole
    /// drive is simulated. Without --seeds, one life is simulated.
    #[arg(long)]
    pub(crate) exact: bool,
    /// Simulate all lives again. Default: continue an unfinished command with the same --out, and
    /// reuse its finished lives. The folder of a finished command is never overwritten.
    #[arg(long, requires = "out")]
    pub(crate) fresh: bool,
    /// Search for the value of one numeric drive key, such as refresh.period, that gives the
    /// longest life. This tries nine values in even logarithmic steps, then does a golden-section
    /// search around the best. Prints the curve as CSV or JSON. Values that make the drive invalid
    /// have no row.
    #[arg(long, value_name = "KEY", conflicts_with = "html")]
    pub(crate) find: Option<String>,
    /// First value to try, as for --set. Default: one sixteenth of the value that the drive has.
    #[arg(long, value_name = "VALUE", requires = "find")]
    pub(crate) from: Option<String>,
    /// Last value to try. Default: sixteen times the value that the drive has.
    #[arg(long, value_name = "VALUE", requires = "find")]
    pub(crate) to: Option<String>,
    /// Search for the value with which the drive lasts this many years, instead of the longest
    /// life. From --from to --to, the years must only rise or only fall. KEY may then also be
    /// workload.rate. The search ends when the years are within 0.5 % of this number.
    #[arg(long, value_name = "YEARS", requires = "find", value_parser = some_years)]
    pub(crate) lasts: Option<f64>,
    #[command(flatten)]
    pub(crate) page: PageArgs,
}

/// Parses a number of years, which must be above 0.
fn some_years(text: &str) -> Result<f64, String> {
    let years = text.parse().ok().filter(|years: &f64| *years > 0.0 && years.is_finite());
    years.ok_or_else(|| "a number of years above 0 is expected, such as 10".into())
}

/// Parser for the options of `vpass life`, without the rest of the command line.
#[derive(clap::Parser)]
struct Line {
    #[command(flatten)]
    life: LifeArgs,
}

impl LifeArgs {
    /// Parses options as on the command line of `vpass life`.
    ///
    /// # Panics
    /// Panics if an option is invalid. The caller makes these options from options that were
    /// already checked.
    pub(crate) fn of_line(options: impl IntoIterator<Item = String>) -> Self {
        let line = std::iter::once("vpass life".to_owned()).chain(options);
        match <Line as clap::Parser>::try_parse_from(line) {
            Ok(line) => line.life,
            Err(e) => panic!("{e}"),
        }
    }
}

impl WithPage for LifeArgs {
    fn page_and_out(&mut self) -> (&mut PageArgs, &mut Option<PathBuf>) {
        (&mut self.page, &mut self.setup.base.out)
    }
}

/// Parses a number. The code that uses the number checks its range.
fn a_number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "a number is expected, such as 0.5 or 1e-15".into())
}

/// Parses a share, such as 10% or 0.1.
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

/// Parses a number of minutes.
fn some_minutes(text: &str) -> Result<f64, String> {
    let minutes =
        text.parse().ok().filter(|minutes: &f64| *minutes > 0.0 && *minutes <= MOST_MINUTES);
    minutes.ok_or_else(|| "minutes above 0 and at most 100,000 are expected, such as 3".into())
}

/// Largest number of minutes that `--minutes` accepts.
const MOST_MINUTES: f64 = 1e5;

impl LifeArgs {
    /// Returns whether every P/E cycle of each life is simulated. The option `--exact` demands
    /// this, and the timed and untimed gears always do it.
    pub(crate) fn is_exact(&self) -> bool {
        self.exact || self.setup.base.gear != Gear::Fluid
    }

    /// Returns the limits at which a life ends even if the drive is not worn out.
    pub(crate) fn until(&self) -> Until {
        Until { years: self.years, uber: self.uber }
    }
}
