//! Program `vpass`: runs the command with the arguments of the process.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(vpass_cli::run_command(std::env::args_os().collect()))
}
