//! Rule that only the command names its options: no string of a library holds `--option`. Sentences
//! of libraries have options as data (`vpass_drive::base::phrase`).

use std::fs;
use std::path::{Path, PathBuf};

use super::{ROOT, files};

/// Folders of the libraries.
const LIBRARIES: [&str; 6] = [
    "crates/drive/src",
    "crates/techniques/src",
    "crates/lab/src",
    "crates/oracle/src",
    "crates/report/src",
    "crates/workload/src",
];

/// Returns whether a file holds only tests.
fn is_test(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "tests") || path.ends_with("tests.rs")
}

/// Returns the part of a source before its tests, which come last.
fn without_tests(source: &str) -> &str {
    source.split_once("#[cfg(test)]\nmod tests {").map_or(source, |(code, _)| code)
}

/// Returns the string literals of a source, each with its line. Comments have none.
fn literals(source: &str) -> Vec<(usize, String)> {
    let (mut all, mut rest) = (vec![], source);
    let line = |rest: &str| 1 + source[..source.len() - rest.len()].matches('\n').count();
    while let Some(c) = rest.chars().next() {
        let raw = rest.strip_prefix('r').and_then(|raw| {
            let marks = raw.len() - raw.trim_start_matches('#').len();
            raw[marks..].strip_prefix('"').map(|text| (text, format!("\"{}", &raw[..marks])))
        });
        if rest.starts_with("//") {
            rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
        } else if let Some((text, end)) = raw {
            let at = text.find(&end).unwrap_or(text.len());
            all.push((line(rest), text[..at].to_owned()));
            rest = text[at..].strip_prefix(end.as_str()).unwrap_or_default();
        } else if let Some(text) = rest.strip_prefix('"') {
            let mut is_escaped = false;
            let end = text.find(|c| {
                let ends = c == '"' && !is_escaped;
                is_escaped = c == '\\' && !is_escaped;
                ends
            });
            let end = end.unwrap_or(text.len());
            all.push((line(rest), text[..end].to_owned()));
            rest = text.get(end + 1..).unwrap_or_default();
        } else if let Some(after) = rest.strip_prefix("'\"'").or(rest.strip_prefix("'\\\"'")) {
            rest = after;
        } else {
            rest = &rest[c.len_utf8()..];
        }
    }
    all
}

/// Returns whether a text names an option. A property of a style sheet is not an option:
/// `var(--name)` or `--name: value`.
fn names_option(text: &str) -> bool {
    text.match_indices("--").any(|(at, _)| {
        let (before, name) = (&text[..at], &text[at + 2..]);
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(name.len());
        let is_style = before.ends_with("var(") || name[end..].starts_with(": var(");
        name.starts_with(|c: char| c.is_ascii_alphabetic()) && !before.ends_with('-') && !is_style
    })
}

/// Returns the strings of a source that name an option, each with its line.
fn offenders(source: &str) -> Vec<(usize, String)> {
    let all = literals(without_tests(source)).into_iter();
    all.filter(|(_, text)| names_option(text)).collect()
}

#[test]
fn only_the_command_names_its_options() {
    let mut all: Vec<PathBuf> = vec![];
    for path in LIBRARIES {
        files(&Path::new(ROOT).join(path), &mut all);
    }
    all.sort();
    let mut report = vec![];
    for path in all.iter().filter(|path| path.extension().is_some_and(|e| e == "rs")) {
        let name = path.strip_prefix(ROOT).unwrap_or(path);
        let found = offenders(&fs::read_to_string(path).expect("a text file"));
        if !is_test(name) {
            let name = name.display();
            report.extend(found.iter().map(|(line, text)| format!("{name}:{line}: {text}")));
        }
    }
    assert!(report.is_empty(), "{} strings name an option:\n{}", report.len(), report.join("\n"));
}

#[test]
fn an_option_in_a_string_is_found() {
    let source = "// use \"--gear\"\nlet a = '\"';\nlet b = \"say \\\"--gear timed\\\"\";\nlet c = \
                  r#\"a \" --seeds\"#;\nlet d = \"a -- b, -5 and var(--ink)\";\nlet e = \"x\\\n  \
                  --fit\";\n#[cfg(test)]\nmod tests {\nlet f = \"--out\";\n}\n";
    let lines: Vec<usize> = offenders(source).iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [3, 4, 6]);
}
