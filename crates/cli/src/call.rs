//! Record of how this program was called, for manifests: the command line, and the source commit
//! from which the program was built.

use std::ffi::OsString;
use std::path::Path;

use vpass_lab::manifest::Call;

/// Returns the command line and the source commit of the running program.
pub(crate) fn of(command: &'static str) -> Call {
    let words = words(crate::words::given().into_iter());
    Call { command, words, git_commit: option_env!("VPASS_GIT_COMMIT") }
}

/// Returns a manifest for results that several runs share: the command line, the version and the
/// source commit.
pub(crate) fn manifest(command: &'static str) -> serde_json::Value {
    let call = of(command);
    serde_json::json!({
        "schema": vpass_lab::as_json::SCHEMA,
        "vpass": env!("CARGO_PKG_VERSION"),
        "git_commit": call.git_commit,
        "command": call.command,
        "command_line": call.words,
    })
}

/// Returns the arguments of a command line as text. The first argument is the path of the program,
/// of which only the file name is kept. Bytes that are not Unicode become replacement characters.
fn words(words: impl Iterator<Item = OsString>) -> Vec<String> {
    let word = |(at, word): (usize, OsString)| {
        let own = Path::new(&word).file_name().filter(|_| at == 0);
        own.unwrap_or(&word).to_string_lossy().into_owned()
    };
    words.enumerate().map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_program_loses_its_folder() {
        let typed = ["/opt/bin/vpass", "run", "--drive", "./a/b.toml", "a\n\u{9b}2J", ""];
        let found = words(typed.into_iter().map(OsString::from));
        assert_eq!(found, ["vpass", "run", "--drive", "./a/b.toml", "a\n\u{9b}2J", ""]);
        assert!(
            words([OsString::from("..")].into_iter()) == [".."] && words([].into_iter()).is_empty()
        );
    }
}
