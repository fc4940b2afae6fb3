//! `vpass new`: makes files for vpass from what a user knows.

pub(crate) mod args;
mod ask;
pub(crate) mod beside;
mod drive;

use args::NewCommand;
use vpass_lab::failure::Failure;

/// Runs a subcommand.
pub(crate) fn run(command: NewCommand) -> Result<(), Failure> {
    match command {
        NewCommand::Drive(args) => drive::drive(args),
    }
}
