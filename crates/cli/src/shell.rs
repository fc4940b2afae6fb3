//! Shell completions and man pages, generated from the definitions of the commands.

use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;
use vpass_lab::failure::Failure;

use crate::command::Cli;
use crate::out;

/// Prints the completion script for a shell.
///
/// # Errors
/// Reports that standard output cannot be written.
pub(crate) fn completions(shell: Shell) -> Result<(), Failure> {
    let mut script = vec![];
    clap_complete::generate(shell, &mut Cli::command(), "vpass", &mut script);
    out::print_file(&String::from_utf8_lossy(&script))
}

/// Writes a man page for each command into a folder.
///
/// # Errors
/// Reports a folder or a file that cannot be written.
pub(crate) fn man_pages(folder: &Path) -> Result<(), Failure> {
    clap_mangen::generate_to(Cli::command(), folder)
        .map_err(|e| Failure::usage(format!("{}: {e}", folder.display())))
}
