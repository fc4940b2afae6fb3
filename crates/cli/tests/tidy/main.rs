//! Mechanical rules for the language and the layout of sources and pages. Each fault is reported
//! with its file, its line and its text. To cover another file, rewrite it and add its path to
//! [`COVERED`].

use std::fs;
use std::path::{Path, PathBuf};

mod arrows;
mod options;
mod paths;
mod walls;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Files and folders whose `.rs` and `.md` files must obey all rules. This file is not covered,
/// because it quotes the phrases to avoid.
const COVERED: [&str; 18] = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "crates/cli/src",
    "crates/cli/tests/attacks.rs",
    "crates/cli/tests/cli",
    "crates/cli/tests/names",
    "crates/cli/tests/pages.rs",
    "crates/cli/tests/recorded",
    "crates/lab/src",
    "crates/lab/tests",
    "crates/keys",
    "crates/report",
    "crates/workload",
    "docs",
    "examples",
    "papers",
];

/// Files with the output of commands. They must obey the rules for phrases and sentences.
const OUTPUTS: [&str; 0] = [];

/// Folders whose strings must obey the rule for phrases, because users see these strings.
const SHOWN: [&str; 3] = ["crates/drive/src", "crates/oracle/src", "crates/techniques/src"];

/// Words that must not begin a paragraph of a doc comment.
const BEGINNINGS: [&str; 7] = ["The same", "Of", "Nor", "That", "What", "Where", "Whose"];

/// Phrases to avoid in comments, strings and pages.
#[rustfmt::skip]
const PHRASES: [&str; 12] = [
    "nor is", "where none", "but for", "as it is none", "so many", "comes to", "goes by",
    "has it that", "in the place of", "for want of", "nobody", "is no",
];

/// Largest number of columns in a line. Lines with an address and rows of tables may be longer.
const COLUMNS: usize = 100;

/// Largest number of words in a sentence.
const WORDS: usize = 30;

/// Kind of a passage.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Doc,
    Code,
    Prose,
}

/// Consecutive lines that form one paragraph, one list item or one string.
struct Passage {
    line: usize,
    kind: Kind,
    text: String,
}

/// Line of a fault, the broken rule, and the text that breaks it.
type Fault = (usize, &'static str, String);

/// Splits a line of Rust into its kind and its text. A line of a page is prose.
fn part(line: &str, is_rust: bool) -> (Kind, &str) {
    let line = line.trim();
    let comment = |mark: &str| line.strip_prefix(mark).filter(|_| is_rust).map(str::trim);
    if let Some(text) = comment("///").or_else(|| comment("//!")) {
        (Kind::Doc, text)
    } else if let Some(text) = comment("//") {
        (Kind::Prose, text)
    } else {
        (if is_rust { Kind::Code } else { Kind::Prose }, line)
    }
}

/// Returns the text of a title or of a list item; `None` for other lines.
fn item(words: &str) -> Option<&str> {
    let title = words.trim_start_matches('#').strip_prefix(' ').filter(|_| words.starts_with('#'));
    let (number, rest) = words.split_once(". ").unwrap_or_default();
    let is_number = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
    words.strip_prefix("- ").or(title).or(Some(rest).filter(|_| is_number))
}

/// Splits a text into passages. Fenced blocks and rows of tables are left out.
fn passages(text: &str, is_rust: bool) -> Vec<Passage> {
    let mut all: Vec<Passage> = vec![];
    let (mut continues, mut is_fenced) = (None, false);
    for (line, whole) in (1..).zip(text.lines()) {
        let (kind, words) = part(whole, is_rust);
        let is_fence = words.starts_with("```") && kind != Kind::Code;
        is_fenced ^= is_fence;
        if is_fence || kind != Kind::Code && (is_fenced || words.starts_with('|')) {
            continues = None;
            continue;
        }
        let item = item(words).filter(|_| kind != Kind::Code);
        match all.last_mut().filter(|_| continues == Some(kind) && item.is_none()) {
            Some(passage) => {
                let begun = passage.text.trim_end_matches('\\').trim_end();
                passage.text = format!("{begun} {words}");
            }
            None => all.push(Passage { line, kind, text: item.unwrap_or(words).to_owned() }),
        }
        // A paragraph ends at an empty line or at a title. A passage of code ends at the end of its
        // line or of its string.
        let ends = words.is_empty() || words.starts_with('#');
        let goes_on = if kind == Kind::Code { words.ends_with('\\') } else { !ends };
        continues = goes_on.then_some(kind);
    }
    all
}

/// Returns whether a text contains a phrase as whole words. "There is no" and "is no longer" are
/// allowed.
fn holds(text: &str, phrase: &str) -> bool {
    let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    text.match_indices(phrase).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + phrase.len()..]);
        !is_letter(before.chars().next_back())
            && !is_letter(after.chars().next())
            && !before.ends_with("there ")
            && !after.starts_with(" longer")
    })
}

/// Returns the longest sentence of a text, and its number of words.
fn longest_sentence(text: &str) -> (usize, String) {
    let ends = |word: &str| word.trim_end_matches(['"', ')', '`', '*']).ends_with(['.', '!', '?']);
    let words: Vec<&str> = text.split_whitespace().collect();
    words
        .split_inclusive(|word| ends(word))
        .map(|sentence| {
            let counts = |word: &&&str| word.contains(char::is_alphanumeric);
            (sentence.iter().filter(counts).count(), sentence.join(" "))
        })
        .max_by_key(|(count, _)| *count)
        .unwrap_or_default()
}

/// Returns the faults of a file against the rules for passages.
fn faults_of_passages(text: &str, is_rust: bool) -> Vec<Fault> {
    let mut faults = vec![];
    for Passage { line, kind, text } in passages(text, is_rust) {
        let begins = |word: &str| {
            text.strip_prefix(word).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        };
        if kind == Kind::Doc && BEGINNINGS.iter().any(|word| begins(word)) {
            faults.push((line, "a doc comment begins with a noun or a verb", text.clone()));
        }
        let lower = text.to_lowercase();
        for phrase in PHRASES {
            if holds(&lower, phrase) {
                faults.push((line, "a phrase to avoid", format!("\"{phrase}\" in: {text}")));
            }
        }
        let (count, sentence) = longest_sentence(&text);
        if kind != Kind::Code && count > WORDS {
            faults.push((line, "a sentence has at most 30 words", format!("{count}: {sentence}")));
        }
    }
    faults
}

/// Returns the lines of a file that are too long.
fn long_lines(text: &str, is_rust: bool) -> Vec<Fault> {
    let may_be_long = |line: &str| line.contains("://") || part(line, is_rust).1.starts_with('|');
    let is_long = |line: &&str| line.chars().count() > COLUMNS && !may_be_long(line);
    let lines = (1..).zip(text.lines()).filter(|(_, line)| is_long(line));
    lines.map(|(n, line)| (n, "a line has at most 100 columns", line.trim().into())).collect()
}

/// Collects the `.rs` and `.md` files below a path.
fn files(path: &Path, all: &mut Vec<PathBuf>) {
    if let Ok(entries) = fs::read_dir(path) {
        entries.for_each(|entry| files(&entry.unwrap().path(), all));
    } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "md") {
        all.push(path.to_owned());
    }
}

/// Returns the strings in a passage of code, in lower case.
fn strings(code: &str) -> String {
    let parts: Vec<&str> = code.split('"').skip(1).step_by(2).collect();
    parts.join(" | ").to_lowercase()
}

/// Returns the phrases to avoid that occur in strings of the folders in [`SHOWN`].
fn phrases_in_strings() -> Vec<String> {
    let mut all = vec![];
    for path in SHOWN {
        files(&Path::new(ROOT).join(path), &mut all);
    }
    assert!(all.len() > SHOWN.len(), "a folder is empty");
    all.sort();
    let in_file = |path: &PathBuf| {
        let text = fs::read_to_string(path).expect("a text file");
        let name = path.strip_prefix(ROOT).unwrap_or(path).display().to_string();
        let code = passages(&text, true).into_iter().filter(|passage| passage.kind == Kind::Code);
        let found = |Passage { line, text, .. }: Passage| {
            let phrase = PHRASES.iter().find(|phrase| holds(&strings(&text), phrase))?;
            Some(format!("{name}:{line}: a phrase to avoid: \"{phrase}\" in: {text}"))
        };
        code.filter_map(found).collect::<Vec<_>>()
    };
    all.iter().flat_map(in_file).collect()
}

#[test]
fn sources_and_pages_are_tidy() {
    let mut all = vec![];
    for path in COVERED {
        files(&Path::new(ROOT).join(path), &mut all);
    }
    all.sort();
    assert!(all.len() > COVERED.len(), "a covered folder is empty");
    let mut report = vec![];
    for path in all.iter().cloned().chain(OUTPUTS.iter().map(|path| Path::new(ROOT).join(path))) {
        let text = fs::read_to_string(&path).expect("a text file");
        let is_rust = path.extension().is_some_and(|extension| extension == "rs");
        let mut faults = faults_of_passages(&text, is_rust);
        if all.contains(&path) {
            faults.extend(long_lines(&text, is_rust));
        }
        let name = path.strip_prefix(ROOT).unwrap_or(&path).display().to_string();
        report.extend(
            faults.iter().map(|(line, rule, text)| format!("{name}:{line}: {rule}: {text}")),
        );
    }
    report.extend(phrases_in_strings());
    assert!(report.is_empty(), "{} faults:\n{}", report.len(), report.join("\n"));
}

#[test]
fn every_rule_reports_its_example() {
    let example = format!(
        "/// Of pages.\nlet n = 1;\n// A name that nobody\n// knows.\nlet s = \"is \\\n    no page\";\n\
         /// There is no page.\n\n/// {}.\n//! | {}\nlet x = \"{}\";\n/// - Whose page.\n",
        "word ".repeat(31).trim_end(),
        "x".repeat(100),
        "x".repeat(100),
    );
    let lines = |faults: Vec<Fault>| faults.iter().map(|(line, ..)| *line).collect::<Vec<_>>();
    assert_eq!(lines(faults_of_passages(&example, true)), [1, 3, 5, 9, 12]);
    assert_eq!(lines(long_lines(&example, true)), [9, 11]);
    assert_eq!(strings("nobody(\"Is A\", of, \"b\")"), "is a | b");
    assert_eq!(lines(faults_of_passages(&format!("Of it.\n\n{}", "a ".repeat(31)), false)), [3]);
}
