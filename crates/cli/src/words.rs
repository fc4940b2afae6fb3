//! The words of the command line, as they are typed. A complaint shows each of them in one line,
//! whatever is in it.

use std::ffi::OsString;

use clap::Parser;

use crate::command::Cli;
use crate::exit::Exit;
use crate::out::say_wrapped;
use vpass_lab::plain;

/// What is asked for. Prints help, version and complaints, and ends the process then.
pub(crate) fn parsed() -> Cli {
    let words: Vec<OsString> = std::env::args_os().collect();
    let complaint = match Cli::try_parse_from(&words) {
        Ok(cli) => return cli,
        Err(complaint) => complaint,
    };
    let printable: Vec<OsString> =
        words.iter().map(|word| plain::line(&word.to_string_lossy()).into_owned().into()).collect();
    if printable == words {
        complaint.exit();
    }
    // The same complaint, about words that can be printed.
    if let Err(complaint) = Cli::try_parse_from(&printable) {
        complaint.exit();
    }
    say_wrapped(complaint.render().to_string().trim_end());
    std::process::exit(Exit::Usage as i32)
}
