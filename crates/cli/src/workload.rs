//! `vpass workload`: makes workloads from statistics, and reports how well the workloads meet the
//! statistics.

pub(crate) mod args;
mod fit;
mod render;
mod search;

use args::WorkloadCommand;
use vpass_lab::failure::Failure;

/// Runs a subcommand of `vpass workload`.
pub(crate) fn run(command: &WorkloadCommand) -> Result<(), Failure> {
    match command {
        WorkloadCommand::Fit(args) => fit::fit(args),
    }
}
