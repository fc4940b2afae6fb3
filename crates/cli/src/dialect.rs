//! Words of the command line for arguments and settings: `--gear untimed`, `--set KEY=VALUE`.

use vpass_lab::failure::Failure;
use vpass_lab::phrase::{Argument, Dialect};

/// Dialect of the command line.
pub(crate) struct CommandLine;

impl Dialect for CommandLine {
    fn name(&self, argument: Argument) -> String {
        format!("--{}", argument.name().replace('_', "-"))
    }

    fn choice(&self, argument: Argument, value: &str) -> String {
        format!("{} {value}", self.name(argument))
    }

    fn setting(&self, key: &str, value: &str) -> String {
        format!("--set {key}={value}")
    }
}

/// Returns the sentence of a failure for the user of the command line.
pub(crate) fn said(failure: &Failure) -> String {
    failure.in_dialect(&CommandLine)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::command::Cli;

    /// Returns the long options of a command and of the commands below it.
    fn options(command: &clap::Command) -> Vec<String> {
        let own = command.get_arguments().filter_map(|arg| arg.get_long().map(ToOwned::to_owned));
        own.chain(command.get_subcommands().flat_map(options)).collect()
    }

    #[test]
    fn each_argument_is_an_option_of_the_command() {
        let options = options(&Cli::command());
        for argument in Argument::ALL {
            let option = CommandLine.name(*argument);
            assert!(options.contains(&option[2..].to_owned()), "{option}");
        }
    }

    #[test]
    fn options_have_hyphens_and_settings_are_set() {
        assert_eq!(CommandLine.choice(Argument::QueueDepth, "8"), "--queue-depth 8");
        assert_eq!(CommandLine.setting("bch.target", "uber"), "--set bch.target=uber");
    }
}
