//! Names of options and settings, as a user writes them on the command line: `--gear untimed`,
//! `--set KEY=VALUE`.

use vpass_drive::base::phrase::{Dialect, Opt, Phrase};
use vpass_lab::failure::Failure;

/// Way to name options and settings in messages: as the user writes them on the command line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommandLine;

impl Dialect for CommandLine {
    fn option(&self, option: Opt) -> String {
        format!("--{}", option.name().replace('_', "-"))
    }

    fn choice(&self, option: Opt, value: &str) -> String {
        format!("{} {value}", self.option(option))
    }

    fn setting(&self, setting: &str) -> String {
        format!("--set {setting}")
    }
}

/// Returns the error message of a failure. The message names options as on the command line, such
/// as `--seeds`.
pub(crate) fn sentence(failure: &Failure) -> String {
    failure.in_dialect(&CommandLine)
}

/// Returns a phrase as text. The text names options as on the command line, such as `--seeds`.
pub(crate) fn words(phrase: &Phrase) -> String {
    phrase.in_dialect(&CommandLine)
}

/// Returns phrases as texts. The texts name options as on the command line, such as `--seeds`.
pub(crate) fn all_words(phrases: &[Phrase]) -> Vec<String> {
    phrases.iter().map(words).collect()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use vpass_drive::base::phrase::{Part, set};
    use vpass_drive::phrase;

    use super::*;
    use crate::command::Cli;

    /// Returns the long options of a command and of all its subcommands.
    fn options(command: &clap::Command) -> Vec<String> {
        let own = command.get_arguments().filter_map(|arg| arg.get_long().map(ToOwned::to_owned));
        own.chain(command.get_subcommands().flat_map(options)).collect()
    }

    #[test]
    fn each_option_of_a_sentence_is_an_option_of_the_command() {
        let options = options(&Cli::command());
        for option in Opt::ALL {
            let word = CommandLine.option(option);
            assert!(options.contains(&word[2..].to_owned()), "{word}");
        }
    }

    #[test]
    fn options_have_hyphens_and_settings_are_set() {
        let phrase = phrase![
            "use ",
            Opt::QueueDepth.to(8),
            " without ",
            Opt::TimeUnit,
            " (",
            set("bch.target", "uber"),
            ")"
        ];
        let expected = "use --queue-depth 8 without --time-unit (--set bch.target=uber)";
        assert_eq!(words(&phrase), expected);
        assert_eq!(sentence(&Failure::usage("wrong").at(Opt::Seeds.to(2))), "--seeds 2: wrong");
    }

    #[test]
    fn parts_are_phrases() {
        assert_eq!(words(&Part::Setting("a.b".into()).into()), "--set a.b");
    }
}
