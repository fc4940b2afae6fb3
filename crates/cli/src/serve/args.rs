//! Command-line arguments of `vpass serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use vpass_drive::base::units::Bytes;

use crate::args::{Base, OneDrive};
use crate::report_page::{PageArgs, WithPage};

/// Examples of `vpass serve --help`.
pub(crate) const EXAMPLES: &str = "Examples:\n  \
    vpass serve --drive tiny --reclaim straw-wl\n  \
    vpass serve --drive tiny -- 'nbdinfo $uri'\n  \
    vpass serve --drive tiny --dilate 10 -- 'nbdcopy $uri null:'\n\n\
    The data is in memory and ends with the server. Power cuts are not simulated.";

/// Arguments of `vpass serve`. Clients choose the queue depth, and see the latencies of the timed
/// gear.
#[derive(Clone, Debug, Args)]
#[command(
    mut_arg("gear", |arg| arg.hide(true)),
    mut_arg("queue_depth", |arg| arg.hide(true)),
)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) one: OneDrive,
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
    /// Record requests, flushes and failures into this new compact trace (.vpt), with the times of
    /// the drive. `vpass run --trace FILE` repeats the run if drive, techniques, seed and hints are
    /// the same.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) base: Base,
    #[command(flatten)]
    page: PageArgs,
    /// Command to run with the drive, by the shell. `$uri` is the address of the drive. vpass ends
    /// with the command. Default: serve until Ctrl-C.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

impl WithPage for ServeArgs {
    fn page_and_out(&mut self) -> (&mut PageArgs, &mut Option<PathBuf>) {
        (&mut self.page, &mut self.base.out)
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
