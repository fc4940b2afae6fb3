//! Command-line options of `vpass life`.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use clap::Args;
use vpass_lab::experiment::Combinations;
use vpass_lab::life::Until;
use vpass_lab::life::request::{MINUTES, Request};

use vpass_lab::setup::Gear;

use crate::args::{Combined, Setup, at_least_one};
use crate::report_page::{PageArgs, WithPage};

pub(crate) const EXAMPLES: &str = "Examples:\n  \
    vpass life --drive modern-tlc --workload zipf-read --set workload.rate=20k\n  \
    vpass life --drive modern-tlc --trace mine.csv.zst --reclaim block,straw-wl --within 5% \
    --minutes 10\n  \
    vpass life --drive mine.toml --workload mixed.toml --refresh none,block --exact --seeds 3 \
    --sample 1/16\n\n\
    A drive is worn out when its mean block has endured drive.rated_pec P/E cycles. If it is not\n\
    worn out after 100 years (or --years), the life is \"> 100\" (or \"> YEARS\").\n\n\
    The ladder of accuracy has seven rungs. Rungs 1 to 5 simulate a warm-up and 4, 6, 6, 8 and 8\n\
    windows of the life, with 8, 15, 15, 40 and 120 P/E cycles each; between windows the drive\n\
    skips P/E cycles. Rungs 6 and 7 simulate every P/E cycle. The rungs have 2, 2, 4, 4, 4, 2 and\n\
    8 lives. The interval is the larger of two: the effect of windows, and the 95 % interval of \
    batch\n\
    means or of the lives. Without an interval, wear had not settled when windows began.\n\n\
    Exits with 0 if every life ended, with or without lost data. Exits with 1 if the oracle found \
    a\n\
    bug of the drive model, or if no simulation came to its end within --minutes.";

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
    /// End a life early when the uncorrectable bit error rate of all reads so far exceeds RATE.
    /// JESD218 allows 1e-15 for client drives and 1e-16 for enterprise drives. vpass does not count
    /// errors: the rate follows from the error rates of the data that is read.
    #[arg(long, value_name = "RATE", allow_hyphen_values = true, value_parser = a_number)]
    pub(crate) uber: Option<f64>,
    /// Number of threads. Default: number of cores.
    #[arg(long, value_name = "N", value_parser = at_least_one::<NonZeroUsize>)]
    pub(crate) threads: Option<NonZeroUsize>,
    /// Simulate on more and more exact rungs (levels of accuracy) until the interval of every life
    /// is narrow. Half the width of the interval must be at most this share of the life, such as 5%
    /// or 0.05.
    #[arg(
        long,
        value_name = "SHARE",
        default_value = "10%",
        value_parser = a_share,
        conflicts_with_all = ["exact", "rung"],
    )]
    pub(crate) within: f64,
    /// Limit of the work per technique, in minutes of two quiet cores. vpass counts the work: 400
    /// million programmed pages are a minute. So the same command gives the same result on any
    /// machine. A rung (level of accuracy) starts only if it fits. Default: 3, and no limit with
    /// the untimed gear.
    #[arg(
        long,
        value_name = "MINUTES",
        value_parser = some_minutes,
        conflicts_with_all = ["exact", "rung"],
    )]
    pub(crate) minutes: Option<f64>,
    /// Simulate only on this rung (level of accuracy), from 1 (fastest) to 7 (most exact), without
    /// a limit of the work.
    #[arg(long, value_name = "N", conflicts_with = "exact")]
    pub(crate) rung: Option<u32>,
    /// Simulate every P/E cycle from the start, without rungs (levels of accuracy). Without
    /// --sample, the whole drive is simulated. Without --seeds, one life is simulated.
    #[arg(long)]
    pub(crate) exact: bool,
    /// Print an estimate of each life at once, without a simulation. Where no equation holds, print
    /// the reason, and an upper bound of the life from the host's writes.
    #[arg(long, conflicts_with_all = ["exact", "rung", "within", "minutes", "out", "html"])]
    pub(crate) estimate: bool,
    /// Simulate all lives again. Default: continue an unfinished command with the same --out, and
    /// reuse its finished lives. The folder of a finished command is never overwritten.
    #[arg(long, requires = "out")]
    pub(crate) fresh: bool,
    #[command(flatten)]
    pub(crate) page: PageArgs,
}

impl WithPage for LifeArgs {
    fn page_and_out(&mut self) -> (&mut PageArgs, &mut Option<PathBuf>) {
        (&mut self.page, &mut self.setup.base.out)
    }
}

/// Parses a number. The range is checked where the number is used.
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
    /// Returns the requested lives.
    pub(crate) fn request(&self) -> Request {
        Request {
            setup: (&self.setup).into(),
            samples: self.setup.sample,
            combinations: self.combinations(),
            seeds: self.seeds.get(),
            until: Until { years: self.years, uber: self.uber },
            // An estimate needs no sample.
            exact: self.exact || self.estimate || self.setup.base.gear != Gear::Fluid,
            rung: self.rung,
            within: self.within,
            minutes: self.minutes,
            threads: self.threads,
        }
    }

    /// Returns the techniques.
    pub(crate) fn combinations(&self) -> Combinations {
        self.combined.with(&self.reclaim)
    }

    /// Returns the limit of the work, in minutes of two quiet cores.
    pub(crate) fn minutes(&self) -> f64 {
        self.minutes.unwrap_or(MINUTES)
    }
}
