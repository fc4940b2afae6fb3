//! The words of `vpass attack`.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::Args;

use crate::args::{Base, TechniqueArgs};

/// Examples for the help.
pub(crate) const EXAMPLES: &str = "Examples:\n  vpass attack hammer --drive tiny --reclaim block\n  \
    vpass attack below-interval --drive tiny --reclaim straw-wl --set start.pec=2000 --gear untimed --write attack.toml\n\n\
    The attacker sees where every page lies and what every wordline endures (see `vpass list attacks`). Exit codes as of `vpass run`: \
    3 where data was lost, 1 where the oracle found a bug of the drive model.";

/// An attack of the list, against one drive.
#[derive(Debug, Args)]
pub(crate) struct AttackArgs {
    /// The attack (see `vpass list attacks`).
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) techniques: TechniqueArgs,
    /// Go on, from the beginning again, until so many requests are done; one round of the attack where absent.
    #[arg(long, value_name = "N")]
    pub(crate) requests: Option<NonZeroU64>,
    /// Write the requests as a workload file, which `vpass run` replays.
    #[arg(long, value_name = "FILE")]
    pub(crate) write: Option<PathBuf>,
    /// Replace that file where it exists.
    #[arg(long, requires = "write")]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) base: Base,
}
