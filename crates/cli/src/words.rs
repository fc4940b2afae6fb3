//! Parsing of the command line. An error message shows each argument in one line, even if the
//! argument holds line breaks.

use std::ffi::OsString;

use clap::Parser;

use crate::command::Cli;
use crate::exit::Exit;
use crate::out::say_wrapped;
use vpass_lab::plain;

/// Parses the command line. Help, version and usage errors end the process.
pub(crate) fn parsed() -> Cli {
    let words: Vec<OsString> = std::env::args_os().collect();
    let complaint = match Cli::try_parse_from(&words) {
        Ok(cli) => return cli,
        Err(complaint) => complaint,
    };
    let printable: Vec<OsString> =
        words.iter().map(|word| plain::line(&word.to_string_lossy()).into_owned().into()).collect();
    crate::stdin::remove_copy();
    if printable == words {
        complaint.exit();
    }
    // Parses again with printable arguments, to get the same error with printable text.
    if let Err(complaint) = Cli::try_parse_from(&printable) {
        crate::stdin::remove_copy();
        complaint.exit();
    }
    say_wrapped(complaint.render().to_string().trim_end());
    std::process::exit(Exit::Usage as i32)
}
