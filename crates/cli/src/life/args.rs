//! The words of `vpass life`.

use std::num::{NonZeroU32, NonZeroUsize};

use clap::Args;
use vpass_lab::life::Until;

use crate::args::{Combined, Setup, at_least_one};

pub(crate) const EXAMPLES: &str = "Examples:\n  \
    vpass life --drive straw-2t-tlc --workload zipf-read --set workload.rate=20k --reclaim block --sample 4/64\n  \
    vpass life --drive mine.toml --workload mixed.toml --reclaim block,straw-wl --refresh none,block --seeds 3 --sample 1/16\n  \
    vpass life --drive mine.toml --workload mixed.toml --refresh block --find refresh.period --from 7d --to 1y --out curve\n\n\
    A drive is worn out when its mean block has endured drive.rated_pec P/E cycles. One that is not after 100 years (or --years) prints\n\
    \"> 100\". Exits 0 whenever every life came to its end, data lost or not; 1 where the oracle found a bug of the drive model.";

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
    /// Live each life with this many seeds, counting up from --seed; years then have a 95 % confidence interval.
    #[arg(long, default_value_t = NonZeroU32::MIN, value_name = "N", value_parser = at_least_one::<NonZeroU32>)]
    pub(crate) seeds: NonZeroU32,
    /// End after so many years, worn out or not: above 0, at most 100.
    #[arg(long, value_name = "YEARS", allow_hyphen_values = true, value_parser = a_number)]
    pub(crate) years: Option<f64>,
    /// End as well when the reads of the drive's life together have more errors than this by each bit read, as JESD218 has it: 1e-15 for
    /// client drives, 1e-16 for others. Errors are what chance makes of the error rates of all data that was read, not those that
    /// happened to come.
    #[arg(long, value_name = "RATE", allow_hyphen_values = true, value_parser = a_number)]
    pub(crate) uber: Option<f64>,
    /// Threads; as many as there are cores where absent.
    #[arg(long, value_name = "N", value_parser = at_least_one::<NonZeroUsize>)]
    pub(crate) threads: Option<NonZeroUsize>,
    /// Live all lives. Without this, finished lives that an earlier command for the same --out kept are taken as they are.
    #[arg(long, requires = "out")]
    pub(crate) fresh: bool,
    /// Look for the value of one numeric key of the drive, such as refresh.period, with which it lives longest:
    /// nine values in even steps of their logarithm, then the golden section around the best. The curve is printed as CSV, or as JSON; values
    /// with which the drive is refused have no row.
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

impl LifeArgs {
    /// Where lives end at the latest.
    pub(crate) fn until(&self) -> Until {
        Until { years: self.years, uber: self.uber }
    }
}
