//! Commands that must be refused: exit code 2, a message with certain words, nothing on standard
//! output, and no file changed. The cases stand in `refused/*.txt`, with a blank line after each:
//!
//! ```text
//! > load.toml                             file of the case, with its lines below
//! | [workload]
//! > mine.toml < tiny.toml | spare | spars      copy of a file, changed at the start of a line
//! $ run --drive tiny --workload load.toml      command; several if all have the same words
//! load.toml line 3                             words of the message, one text a line
//! ! --fit                                      words that the message must not have
//! ```
//!
//! `LAST` stands for the last word of the command, and `EXAMPLES` for the folder of examples.

use std::fs;

use crate::common::{Room, command, finished, tired};

/// First words of commands that many cases share.
const SHORT: [(&str, &str); 7] = [
    ("small", "run --drive tiny --workload uniform-read --set workload.requests=2000"),
    ("aged", "run --drive aged-tlc --workload random-70-30"),
    (
        "noisy",
        "run --drive tiny --workload random-70-30 --set error.model=powerlaw --set error.e=1e-3 \
         --set ecc.cap=[0.004,0.006] --set ecc.retry_decode_us=[20]",
    ),
    ("sheet", "new drive --capacity 960GB --cell tlc"),
    ("fluid", "run --drive tiny --workload zipf-read --gear fluid --set workload.rate=100"),
    (
        "rated",
        "life --drive tiny --workload zipf-read --set workload.rate=10000 \
         --set drive.rated_pec=5",
    ),
    ("replay", "run --drive tiny --trace"),
];

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");

#[derive(Default)]
struct Case<'a> {
    files: Vec<(String, String)>,
    commands: Vec<&'a str>,
    words: Vec<&'a str>,
    absent: Vec<&'a str>,
}

fn cases(text: &str) -> Vec<Case<'_>> {
    let mut cases = vec![Case::default()];
    for line in text.lines() {
        let case = cases.last_mut().expect("one at least");
        match line.split_at_checked(2).unwrap_or((line, "")) {
            ("", _) => cases.push(Case::default()),
            ("# ", _) => {}
            ("> ", file) => case.files.push(file_of(file)),
            ("| " | "|", row) => {
                let (_, text) = case.files.last_mut().expect("a file before its lines");
                text.push_str(row);
                text.push('\n');
            }
            ("$ ", command) => case.commands.push(command),
            ("! ", words) => case.absent.push(words),
            _ => case.words.push(line),
        }
    }
    cases.retain(|case| !case.commands.is_empty());
    cases
}

/// Returns the name and the first text of a file.
#[track_caller]
fn file_of(line: &str) -> (String, String) {
    let (name, base) = line.split_once(" < ").unwrap_or((line, ""));
    let parts: Vec<&str> = base.split(" | ").collect();
    let text = match parts[0] {
        "" => String::new(),
        "tiny.toml" => include_str!("../../../../presets/drives/tiny.toml").into(),
        other => panic!("{other} is not a file to copy"),
    };
    let text = match parts[1..] {
        [from, to] => {
            let (from, to) = (format!("\n{from}"), format!("\n{to}"));
            assert!(text.contains(&from), "{line}");
            text.replacen(&from, &to, 1)
        }
        _ => text,
    };
    (name.into(), text)
}

/// Returns what is wrong with a refusal, or nothing.
fn wrong(case: &Case, line: &str) -> Vec<String> {
    let room = Room::new();
    let mut files = case.files.clone();
    if line.contains("tired.toml") {
        files.push(("tired.toml".into(), tired()));
    }
    for (name, text) in &files {
        room.file(name, text);
    }
    let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
    let start = SHORT.iter().find(|(short, _)| *short == first).map_or(first, |(_, words)| words);
    let line = format!("{start} {rest}").replace("EXAMPLES", EXAMPLES);
    let words: Vec<&str> = line.split_whitespace().collect();
    let done = finished(command(&words).current_dir(room.path("")).output().expect("it runs"));
    let names: Vec<String> = files.iter().map(|(name, _)| name.clone()).collect();
    let same = |(name, text): &(String, String)| {
        fs::read_to_string(room.path(name)).is_ok_and(|now| now == *text)
    };
    let mut wrong = vec![];
    let mut check = |is_right: bool, what: String| {
        if !is_right {
            wrong.push(what);
        }
    };
    check(done.code == 2, format!("exit code {}", done.code));
    check(done.stdout.is_empty(), "standard output".into());
    check(!done.stderr.contains("panicked"), "panic".into());
    check(room.names().len() == names.len() && files.iter().all(same), "changed files".into());
    check(!case.words.is_empty(), "no words are expected".into());
    let last = words.last().expect("a command");
    for words in case.words.iter().map(|words| words.replace("LAST", last)) {
        check(done.stderr.contains(&words), format!("`{words}` is missing"));
    }
    for words in &case.absent {
        check(!done.stderr.contains(words), format!("`{words}` is there"));
    }
    if !wrong.is_empty() {
        wrong.push(done.stderr);
    }
    wrong
}

/// Runs all cases of a text. Prints all that fail.
#[track_caller]
fn all(text: &str) {
    let mut failed = String::new();
    for case in cases(text) {
        for line in &case.commands {
            let wrong = wrong(&case, line);
            if !wrong.is_empty() {
                failed.extend(["$ ", line, "\n  ", &wrong.join("\n  "), "\n"]);
            }
        }
    }
    assert!(failed.is_empty(), "\n{failed}");
}

#[test]
fn arguments() {
    all(include_str!("refused/arguments.txt"));
}

#[test]
fn drives() {
    all(include_str!("refused/drives.txt"));
}

#[test]
fn workloads() {
    all(include_str!("refused/workloads.txt"));
}

#[test]
fn traces() {
    all(include_str!("refused/traces.txt"));
}

#[test]
fn lives_and_comparisons() {
    all(include_str!("refused/lives.txt"));
}
