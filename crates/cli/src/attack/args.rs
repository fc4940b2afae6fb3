//! Command-line options of `vpass attack`.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::Args;

use crate::args::{Base, TechniqueArgs, at_least_one};

/// Examples for the help of `vpass attack`.
pub(crate) const EXAMPLES: &str = "Examples:\n  \
    vpass attack hammer --drive tiny --reclaim block\n  \
    vpass attack below-interval --drive tiny --reclaim straw-wl --set start.pec=2000 --gear \
    untimed --write attack.toml\n  \
    vpass attack weak-spot --drive aged-tlc --refresh ida --set start.age=30d --gear untimed \
    --rate 20\n  \
    vpass attack adaptive --drive tiny --reclaim straw-wl --set start.pec=2000 --gear untimed \
    --requests 1M\n\n\
    The attacker knows the place of every page and the limit of every wordline (see `vpass list \
    attacks`). Exit codes are those of `vpass run`: 3 if data was lost, 1 if the oracle found a \
    bug of the drive model.";

/// Options of an attack against one drive.
#[derive(Debug, Args)]
pub(crate) struct AttackArgs {
    /// Name of an attack (see `vpass list attacks`). `adaptive` sends bursts of 4 to 100 whole-page
    /// requests, and inspects the drive after each burst. Latencies under `adaptive` are therefore
    /// latencies of short bursts.
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) techniques: TechniqueArgs,
    /// Issue N requests per second (open loop) instead of keeping a fixed queue depth. With --rate,
    /// even the untimed gear has a clock.
    #[arg(long, value_name = "N", value_parser = a_rate, conflicts_with = "queue_depth")]
    pub(crate) rate: Option<f64>,
    /// Repeat the attack until N requests are done. Default: one round of the attack, or 100,000
    /// requests of `adaptive`.
    #[arg(long, value_name = "N", value_parser = at_least_one::<NonZeroU64>)]
    pub(crate) requests: Option<NonZeroU64>,
    /// TOML file with hints, in the form that `vpass run --hints` reads. off: no hints.
    #[arg(long, value_name = "FILE|off", default_value = "off")]
    pub(crate) hints: PathBuf,
    /// Write the requests into a workload file that `vpass run` replays.
    #[arg(long, value_name = "FILE")]
    pub(crate) write: Option<PathBuf>,
    /// Replace an existing workload file.
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) base: Base,
}

/// Parses a rate in requests per second.
fn a_rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate| (1e-6..=1e12).contains(rate));
    rate.ok_or_else(|| "a number of requests per second from 1e-6 to 1e12 is expected".into())
}
