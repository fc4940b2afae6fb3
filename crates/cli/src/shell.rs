//! Shell completions and man pages. vpass generates them from the definitions of its commands.

use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;
use vpass_lab::failure::Failure;

use crate::command::Cli;
use crate::out;

/// Prints a script that completes the commands of vpass in a shell.
///
/// # Errors
/// Returns an error if standard output cannot be written.
pub(crate) fn completions(shell: Shell) -> Result<(), Failure> {
    let mut script = vec![];
    clap_complete::generate(shell, &mut Cli::command(), "vpass", &mut script);
    out::print_file(&String::from_utf8_lossy(&script))
}

/// Writes one man page per command into a folder.
///
/// # Errors
/// Returns an error if a folder or a file cannot be written.
pub(crate) fn man_pages(folder: &Path) -> Result<(), Failure> {
    clap_mangen::generate_to(Cli::command(), folder)
        .map_err(|e| Failure::usage(format!("{}: {e}", folder.display())))
}
