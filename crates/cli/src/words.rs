//! Parsing of the command line. Error messages show each argument in one line, even if the argument
//! contains line breaks.

use std::ffi::OsString;
use std::sync::Mutex;

use clap::{Command, CommandFactory, FromArgMatches};

use crate::command::Cli;
use crate::exit::Exit;
use crate::out::say_wrapped;
use vpass_lab::plain;

/// Parses a command line. For help, the version or a usage error, this function prints the text and
/// returns `Err` with the exit code.
pub(crate) fn parsed(words: Vec<OsString>) -> Result<Cli, u8> {
    GIVEN.lock().expect("no thread panics with it").clone_from(&words);
    let words = in_full(words);
    let complaint = match parse(&words) {
        Ok(cli) => return Ok(cli),
        Err(complaint) => complaint,
    };
    let printable: Vec<OsString> =
        words.iter().map(|word| plain::line(&word.to_string_lossy()).into_owned().into()).collect();
    crate::stdin::remove_copy();
    let complaint = if printable == words {
        complaint
    } else {
        // The arguments are parsed again in printable form, so that the error message is printable
        // too.
        let again = parse(&printable).err();
        crate::stdin::remove_copy();
        let Some(again) = again else {
            say_wrapped(complaint.render().to_string().trim_end());
            return Err(Exit::Usage.code());
        };
        again
    };
    // If printing fails, the failure cannot be reported anywhere.
    let _ = complaint.print();
    Err(u8::try_from(complaint.exit_code()).unwrap_or(Exit::Usage.code()))
}

/// Parses a command line.
fn parse(words: &[OsString]) -> Result<Cli, clap::Error> {
    let mut command = with_negative_numbers(Cli::command());
    let mut matches = command.try_get_matches_from_mut(words)?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

/// Returns the command with options that accept negative numbers as values. By default, clap
/// reports `-1` as an unknown option. If `-1` counts as a value, the error message names the valid
/// values instead.
fn with_negative_numbers(command: Command) -> Command {
    command
        .mut_args(|arg| {
            let takes_values = arg.get_action().takes_values();
            if takes_values { arg.allow_negative_numbers(true) } else { arg }
        })
        .mut_subcommands(with_negative_numbers)
}

/// Command-line arguments of the running command.
static GIVEN: Mutex<Vec<OsString>> = Mutex::new(Vec::new());

/// Returns the command-line arguments of the running command.
pub(crate) fn given() -> Vec<OsString> {
    GIVEN.lock().expect("no thread panics with it").clone()
}

/// Kinds of output that `vpass show` has.
const SHOWN: [&str; 3] = ["drive", "workload", "sheet"];

/// Returns the arguments with `vpass show FILE` expanded to its full form `vpass show sheet FILE`.
fn in_full(mut words: Vec<OsString>) -> Vec<OsString> {
    let is_option = |word: &OsString| word.to_string_lossy().starts_with('-');
    let show = words.iter().skip(1).position(|word| !is_option(word)).map(|at| at + 1);
    let Some(show) = show.filter(|at| words[*at] == "show") else { return words };
    let mut others = vec![];
    let mut after = words.iter().enumerate().skip(show + 1);
    while let Some((at, word)) = after.next() {
        if word == "--set" {
            after.next();
        } else if !is_option(word) {
            others.push(at);
        }
    }
    // If `vpass show` has only one argument, the kind of output or the name of the thing to show is
    // missing.
    if let [at] = others[..]
        && !SHOWN.iter().any(|kind| words[at] == *kind)
    {
        words.insert(at, "sheet".into());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_alone_is_shown_beside_its_sheet() {
        let full = |line: &str| {
            let words = in_full(line.split(' ').map(OsString::from).collect());
            words.join(&OsString::from(" ")).into_string().unwrap()
        };
        assert_eq!(full("vpass show mine.toml"), "vpass show sheet mine.toml");
        assert_eq!(full("vpass -q show --json mine.toml"), "vpass -q show --json sheet mine.toml");
        assert_eq!(full("vpass show --set a.b=1 x"), "vpass show --set a.b=1 sheet x");
        for same in [
            "vpass show drive tiny",
            "vpass show sheet tiny",
            "vpass show drive",
            "vpass show drive tiny --set drive.spare=0.2",
            "vpass show",
            "vpass show --help",
            "vpass run show x",
        ] {
            assert_eq!(full(same), same);
        }
    }

    /// Calls `check` with each command that takes options, and with the words that name it.
    fn each_command(
        command: &Command,
        words: &[String],
        check: &mut dyn FnMut(&Command, &[String]),
    ) {
        let words = [words, &[command.get_name().to_owned()]].concat();
        check(command, &words);
        command.get_subcommands().for_each(|one| each_command(one, &words, check));
    }

    #[test]
    fn a_negative_number_is_taken_as_the_value_of_an_option() {
        let mut options = 0;
        each_command(&Cli::command(), &[], &mut |command, words| {
            let takes_value = |option: &&clap::Arg| option.get_action().takes_values();
            for option in command.get_opts().filter(takes_value) {
                let long = format!("--{}", option.get_long().expect("a long name"));
                let line = [words, &[long.clone(), "-1".to_owned()]].concat();
                let line: Vec<OsString> = line.into_iter().map(OsString::from).collect();
                let kind = parse(&line).err().map(|error| error.kind());
                assert_ne!(kind, Some(clap::error::ErrorKind::UnknownArgument), "{words:?} {long}");
                options += 1;
            }
        });
        assert!(options > 100, "{options} options");
    }
}
