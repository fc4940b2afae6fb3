//! `vpass workload`: makes workloads from statistics, and compares the two.

pub(crate) mod args;
mod fit;
mod render;
mod search;

use args::WorkloadCommand;
use vpass_lab::failure::Failure;

/// Runs a subcommand.
pub(crate) fn run(command: &WorkloadCommand) -> Result<(), Failure> {
    match command {
        WorkloadCommand::Fit(args) => fit::fit(args),
    }
}
