//! Questions on a terminal. The questions ask for the lines of a data sheet that the options do not
//! give.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::PathBuf;

use vpass_lab::failure::Failure;
use vpass_lab::sheet::{Link, parse};

use super::args::NewDriveArgs;
use crate::out::Asking;

/// Asks the user for missing options. Without a terminal, or with `--json`, nothing is asked.
///
/// # Errors
/// Returns an error if the terminal closes before all questions are answered.
pub(super) fn complete(args: NewDriveArgs) -> Result<NewDriveArgs, Failure> {
    let is_asked = io::stdin().is_terminal() && io::stderr().is_terminal() && !args.json;
    if !is_asked {
        return Ok(args);
    }
    Questions { input: io::stdin().lock(), output: Asking }.all(args)
}

/// Dialogue on a terminal. Answers are read from `input`, and questions are written to `output`.
struct Questions<I, O> {
    input: I,
    output: O,
}

impl<I: BufRead, O: Write> Questions<I, O> {
    fn all(&mut self, mut args: NewDriveArgs) -> Result<NewDriveArgs, Failure> {
        args.capacity =
            Some(self.needed("Capacity, such as 1.92TB", args.capacity, parse::capacity)?);
        args.cell = Some(self.needed("Cell type: slc, mlc, tlc or qlc", args.cell, parse::cell)?);
        self.line("Press Enter to skip a line that the data sheet does not have.\n")?;
        self.known("Interface, such as pcie4x4 or sata", &mut args.interface, Link::parse)?;
        self.known("Sequential read, such as 6.8GB/s", &mut args.sequential_read, parse::rate)?;
        self.known("Sequential write, such as 2GB/s", &mut args.sequential_write, parse::rate)?;
        self.known("Random 4-KiB reads per second", &mut args.random_read_iops, parse::iops)?;
        self.known("Random 4-KiB writes per second", &mut args.random_write_iops, parse::iops)?;
        if args.dwpd.is_none() {
            self.known("Terabytes written (TBW), such as 3504", &mut args.tbw, parse::tbw)?;
        }
        if args.tbw.is_none() {
            self.known("Drive writes per day (DWPD), such as 1", &mut args.dwpd, parse::dwpd)?;
        }
        if args.dwpd.is_some() {
            let years = self.needed("Years of the warranty", args.warranty_years, parse::years)?;
            args.warranty_years = Some(years);
        }
        self.known("Channels of the controller", &mut args.channels, parse::channels)?;
        self.known("File to write, such as mine.toml", &mut args.out, path)?;
        Ok(args)
    }

    /// Repeats a question until the user gives a valid value. If the value is already known, no
    /// question is asked.
    fn needed<T>(
        &mut self,
        question: &str,
        known: Option<T>,
        read: fn(&str) -> Result<T, String>,
    ) -> Result<T, Failure> {
        if let Some(known) = known {
            return Ok(known);
        }
        loop {
            let answer = self.answer(question)?;
            match read(&answer) {
                Ok(value) => return Ok(value),
                Err(why) => self.line(&format!("{why}\n"))?,
            }
        }
    }

    /// Asks for a value that the user may leave out. If the value is already known, no question is
    /// asked.
    fn known<T>(
        &mut self,
        question: &str,
        value: &mut Option<T>,
        read: fn(&str) -> Result<T, String>,
    ) -> Result<(), Failure> {
        while value.is_none() {
            let answer = self.answer(question)?;
            if answer.is_empty() {
                break;
            }
            match read(&answer) {
                Ok(answer) => *value = Some(answer),
                Err(why) => self.line(&format!("{why}\n"))?,
            }
        }
        Ok(())
    }

    fn answer(&mut self, question: &str) -> Result<String, Failure> {
        self.line(&format!("{question}: "))?;
        let mut answer = String::new();
        match self.input.read_line(&mut answer) {
            Ok(0) => Err(Failure::usage(format!(
                "the terminal closed before an answer to \"{question}\"; the answers can also be \
                 given as options (see vpass new drive --help)"
            ))),
            Ok(_) => Ok(answer.trim().to_owned()),
            Err(e) => Err(Failure::failed(format!("the terminal cannot be read: {e}"))),
        }
    }

    fn line(&mut self, words: &str) -> Result<(), Failure> {
        let written = self.output.write_all(words.as_bytes()).and_then(|()| self.output.flush());
        written.map_err(|e| Failure::failed(format!("the terminal cannot be written: {e}")))
    }
}

/// Parses the path of a file that does not exist yet.
fn path(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path.exists() || path.file_name().is_none() {
        return Err(format!("`{text}`: the name of a new file is expected, such as mine.toml"));
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::command::{Cli, Command};
    use crate::new::args::NewCommand;

    fn args(words: &[&str]) -> NewDriveArgs {
        let cli = Cli::try_parse_from([&["vpass", "new", "drive"], words].concat()).unwrap();
        let Command::New { command: NewCommand::Drive(args) } = cli.command else {
            panic!("another command")
        };
        args
    }

    fn asked(words: &[&str], answers: &str) -> (Result<NewDriveArgs, Failure>, String) {
        let mut questions = Questions { input: answers.as_bytes(), output: vec![] };
        let complete = questions.all(args(words));
        (complete, String::from_utf8(questions.output).unwrap())
    }

    #[test]
    fn wrong_answers_are_asked_again_and_enter_skips_a_line() {
        let answers = "big\n\n960GB\ntlc\nsata\n560\n560MB/s\n\n\n\n\n1\n\n3\n\n.\nmine.toml\n";
        let (complete, said) = asked(&[], answers);
        let complete = complete.unwrap();
        assert_eq!(complete.capacity.unwrap().0, 960_000_000_000);
        assert_eq!((complete.sequential_read, complete.sequential_write), (Some(560.0), None));
        assert_eq!(
            (complete.tbw, complete.dwpd, complete.warranty_years),
            (None, Some(1.0), Some(3.0))
        );
        assert_eq!(complete.out.unwrap().to_str(), Some("mine.toml"));
        for words in [
            "`big`: a size with its unit",
            "`560`: a rate with its unit",
            "years above 0",
            "`.`: the name of a new file",
        ] {
            assert!(said.contains(words), "{words}: {said}");
        }
    }

    #[test]
    fn options_are_not_asked_for() {
        let words = ["--capacity", "1TB", "--cell", "qlc", "--tbw", "300", "--out", "x.toml"];
        let (complete, said) = asked(&words, "\n\n\n\n\n\n");
        assert_eq!(complete.unwrap().tbw, Some(300.0));
        assert!(
            !said.contains("Capacity") && !said.contains("DWPD") && !said.contains("File"),
            "{said}"
        );
    }

    #[test]
    fn a_terminal_that_closes_is_an_error() {
        let why = asked(&[], "1TB\n").0.unwrap_err();
        assert!(why.to_string().contains("the terminal closed"), "{why}");
    }
}
