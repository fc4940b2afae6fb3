//! `vpass new`: makes drive files and policies from a few facts that the user gives.

pub(crate) mod args;
pub(crate) mod beside;
mod drive;
mod policy;

use args::NewCommand;
use vpass_lab::failure::Failure;
use vpass_lab::progress::Progress;

use crate::progress::is_interrupted;

/// Runs a subcommand of `vpass new`.
pub(crate) fn run(command: NewCommand) -> Result<(), Failure> {
    match command {
        NewCommand::Drive(args) => drive::drive(&args),
        NewCommand::Policy(args) => policy::policy(&args),
    }
}

/// Progress for short runs. Nothing is shown, but the user can interrupt the run.
struct Short;

impl Progress for Short {
    fn advance(&self, _done: u64) -> bool {
        !is_interrupted()
    }
}

/// Returns [`Short`], in the form that functions of `vpass_lab` require.
fn short(_total: Option<u64>, _things: &str) -> Box<dyn Progress> {
    Box::new(Short)
}
