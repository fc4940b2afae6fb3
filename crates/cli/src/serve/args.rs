//! Command-line arguments of `vpass serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use vpass_drive::base::failure::Failure;
use vpass_drive::base::units::Bytes;

use crate::args::{Base, Gear, TechniqueArgs, Watch, a_seed};
use crate::report_page::{PageArgs, WithPage};

/// Examples of `vpass serve --help`.
pub(crate) const EXAMPLES: &str = "Examples:\n  \
    vpass serve --drive tiny --reclaim straw-wl\n  \
    vpass serve --drive tiny -- 'nbdinfo $uri'\n  \
    vpass serve --drive tiny --dilate 10 -- 'nbdcopy $uri null:'\n\n\
    The data is in memory and ends with the server. Power cuts are not simulated.";

/// Arguments of `vpass serve`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ServeArgs {
    /// Drive: a preset (see `vpass list drives`) or a TOML file.
    #[arg(long, value_name = "NAME|FILE", display_order = 0)]
    drive: String,
    #[command(flatten)]
    pub(crate) techniques: TechniqueArgs,
    /// Refresh technique (see `vpass list refresh`). Default: the refresh technique that the parity
    /// technique includes, if any; otherwise none.
    #[arg(long, value_name = "NAME")]
    pub(crate) refresh: Option<String>,
    /// Parity technique (see `vpass list parity`).
    #[arg(long, default_value = "none", value_name = "NAME")]
    pub(crate) parity: String,
    /// Failures to inject, separated by commas, such as die:3@10s or block:17@r5000. UNIT is a die,
    /// plane, block or page. WHEN is a time of the drive (10s) or a count of requests (r5000).
    #[arg(long, value_delimiter = ',', value_name = "UNIT@WHEN,..")]
    pub(crate) fail: Vec<Failure>,
    /// TOML file with hints, as of `vpass run`.
    #[arg(long, value_name = "FILE")]
    pub(crate) hints: Option<PathBuf>,
    /// Unix socket for clients. Only the user can open it. Default: a new socket in the user's
    /// folder for such files (`XDG_RUNTIME_DIR`), or in the folder for temporary files.
    #[arg(long, value_name = "PATH", conflicts_with = "listen")]
    pub(crate) socket: Option<PathBuf>,
    /// Serve clients over TCP at this address, such as 127.0.0.1:10809. Everybody who reaches the
    /// address can read and change the data.
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,
    /// Let the drive's time pass N times slower than real time. Replies are then later than the
    /// drive by a smaller share of their latency.
    #[arg(long, default_value_t = 1.0, value_name = "N", value_parser = a_dilation)]
    pub(crate) dilate: f64,
    /// Serve without latencies at first, to load data. It ends with the signal SIGUSR1 to nbdkit,
    /// or after this number of seconds without a write.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) fast_load: Option<f64>,
    /// Memory for the data that clients write, such as 4GiB. A write beyond it fails with ENOSPC.
    /// Default: as much as the flash can hold, or as is available.
    #[arg(long, value_name = "SIZE", value_parser = Bytes::parse)]
    pub(crate) memory: Option<Bytes>,
    /// Set a key of the drive (see `vpass list keys`). KEY= clears a key.
    #[arg(long = "set", value_name = "KEY=VALUE", allow_hyphen_values = true)]
    set: Vec<String>,
    /// Random seed.
    #[arg(long, value_name = "SEED", default_value_t = 1, value_parser = a_seed)]
    seed: u64,
    /// Let an independent checker, the oracle, watch the drive.
    #[arg(long, value_enum, default_value_t = Watch::On)]
    oracle: Watch,
    /// Write results into this new folder. The folder appears only if all results are complete.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print one JSON object instead of a table.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    page: PageArgs,
    /// Command to run with the drive, by the shell. `$uri` is the address of the drive. vpass ends
    /// with the command. Default: serve until Ctrl-C.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

impl ServeArgs {
    /// Returns the options that other commands have too.
    pub(crate) fn base(&self) -> Base {
        Base {
            drive: self.drive.clone(),
            gear: Gear::Timed,
            queue_depth: None,
            set: self.set.clone(),
            seed: self.seed,
            oracle: self.oracle,
            out: self.out.clone(),
            json: self.json,
        }
    }
}

impl WithPage for ServeArgs {
    fn page_and_out(&mut self) -> (&mut PageArgs, &mut Option<PathBuf>) {
        (&mut self.page, &mut self.out)
    }
}

/// Parses a dilation.
fn a_dilation(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|n| (1.0..=1e6).contains(n));
    number.ok_or_else(|| "a number from 1 to 1000000 is expected".into())
}

/// Parses a number of seconds.
fn seconds(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|n| (0.01..=1e6).contains(n));
    number.ok_or_else(|| "a number of seconds from 0.01 to 1000000 is expected".into())
}
