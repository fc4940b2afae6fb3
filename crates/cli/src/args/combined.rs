//! Techniques for garbage collection, refresh and parity. A comparison combines them with each
//! reclaim technique.

use clap::Args;
use vpass_lab::experiment::Combinations;

#[derive(Debug, Args)]
pub(crate) struct Combined {
    /// Garbage collection policies, separated by commas. Each policy runs with each reclaim
    /// technique.
    #[arg(long, value_delimiter = ',', default_value = "greedy", value_name = "NAME,..")]
    gc: Vec<String>,
    /// Refresh techniques, separated by commas (see `vpass list refresh`). Each refresh technique
    /// runs with each reclaim, GC and parity technique. Default: the refresh technique that the
    /// parity technique includes, if any; otherwise none.
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    refresh: Vec<String>,
    /// Parity techniques, separated by commas (see `vpass list parity`). Each parity technique runs
    /// with each reclaim, GC and refresh technique, on a drive of the same capacity.
    #[arg(long, value_delimiter = ',', default_value = "none", value_name = "NAME,..")]
    parity: Vec<String>,
}

impl Combined {
    /// Returns these techniques together with reclaim techniques.
    pub(crate) fn with(&self, reclaim: &[String]) -> Combinations {
        let names = |all: &[String]| all.iter().map(|name| name.trim().to_owned()).collect();
        Combinations {
            reclaim: names(reclaim),
            gc: names(&self.gc),
            refresh: names(&self.refresh),
            parity: names(&self.parity),
        }
    }
}
