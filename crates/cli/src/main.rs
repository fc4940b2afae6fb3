//! Program `vpass`: the command with the words of the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(vpass_cli::run_command(std::env::args_os().collect()))
}
