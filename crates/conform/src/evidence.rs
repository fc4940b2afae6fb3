//! Measures which sentences of the oracle, which recorded runs and which stored drives see each
//! fault.
//!
//! Runs three tests of the copy for each fault, two faults at once: random drives under the oracle,
//! with all its findings; recorded runs; and stored drives. What they print stays in folders beside
//! the copy, so that a second call runs only what is missing.

mod sentences;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::{fs, io, thread};

use self::sentences::Sentence;
use crate::plant::{Fault, Found, HERE, read_faults};

/// Tests of a fault: program, name, variable for the fault, and limit in seconds of CPU time, which
/// does not depend on what else the machine does.
const TESTS: [(&str, &str, &str, &str); 3] = [
    ("all", "seeded_bugs::evidence::all_findings_about_a_bug", "VPASS_BUG", "--cpu=90"),
    ("recorded", "evidence::runs_that_see_the_bug", "VPASS_PLANT", "--cpu=300"),
    (
        "vpass-conform",
        "cases::tests::a_tenth_of_the_cases_leaves_what_is_recorded",
        "VPASS_PLANT",
        "--cpu=300",
    ),
];
/// Number of the last of these tests.
const STORED: usize = 2;
/// Page whose tables are written, and the mark from which on they are.
const PAGE: &str = "docs/design/evidence.md";
const MARK: &str = "<!-- make evidence writes the rest of this page -->\n";

/// What sees a fault.
#[derive(Default)]
struct Seen {
    /// Numbers of the oracle's sentences, and their files.
    sentences: BTreeSet<usize>,
    files: BTreeSet<String>,
    /// Whether an assertion of the drive fails, or a random drive does not end.
    stops: bool,
    /// The first recorded runs that see the fault: their results differ, or there are none.
    runs: Vec<String>,
    /// Number of stored drives whose results differ.
    stored: usize,
}

impl Seen {
    /// Reads what the tests of a fault have printed.
    fn read(text: &str, sentences: &[Sentence]) -> Self {
        let mut seen = Self::default();
        for line in text.lines() {
            match line.split('\t').collect::<Vec<_>>()[..] {
                ["run", id] => seen.runs.push(id.to_owned()),
                [said] if said.starts_with("case ") => seen.stored += 1,
                ["finding", _, _, said] if said.contains("the drive panicked") => seen.stops = true,
                ["finding", _, _, said] => seen.sentences.extend(sentences::find(sentences, said)),
                _ => {}
            }
        }
        seen.files = seen.sentences.iter().map(|n| sentences[*n].file.clone()).collect();
        seen
    }
}

/// Runs what is missing and writes the results. Returns a sentence about them.
pub(crate) fn measure(copy: &Path) -> Result<String, String> {
    let faults = read_faults()?.fault;
    try_all(copy, &faults)?;
    write(&Path::new(HERE).join("../.."), copy, &faults).map_err(|e| format!("results: {e}"))
}

/// Returns the file of what a test of a fault prints.
fn raw(copy: &Path, test: usize, fault: &Fault) -> PathBuf {
    copy.with_file_name("evidence").join(TESTS[test].0).join(&fault.name)
}

/// Runs the tests of all faults that have no file yet.
fn try_all(copy: &Path, faults: &[Fault]) -> Result<(), String> {
    let list = fs::read_to_string(copy.with_file_name("programs.json"));
    let list = list.map_err(|e| format!("programs.json: {e}; `make evidence` builds the tests"))?;
    let program = |name: &str| {
        let mut lines = list.lines().filter(|line| line.contains(&format!("\"name\":\"{name}\"")));
        let path = lines.find_map(|line| line.split_once("\"executable\":\"")?.1.split('"').next());
        path.ok_or(format!("programs.json has no test {name}"))
    };
    let programs: Vec<_> =
        TESTS.iter().map(|(name, ..)| program(name)).collect::<Result<_, String>>()?;
    let try_one = |(test, fault): (usize, &Fault)| -> io::Result<()> {
        let (_, name, variable, limit) = TESTS[test];
        let words = [limit, programs[test], name, "--exact", "--include-ignored", "--nocapture"];
        let mut run = Command::new("prlimit");
        let done = run.args(words).env(variable, &fault.name).current_dir(copy).output()?;
        // A test that compares fails if it sees the fault, and says on stderr what it has seen.
        let mut said = String::from_utf8_lossy(&done.stdout).into_owned();
        if test == STORED {
            said += &String::from_utf8_lossy(&done.stderr);
        } else if !done.status.success() {
            said += "finding\t\t\tthe drive panicked, or did not end\n";
        }
        fs::write(raw(copy, test, fault), said)
    };
    for (test, ..) in TESTS {
        let folder = copy.with_file_name("evidence").join(test);
        fs::create_dir_all(folder).map_err(|e| e.to_string())?;
    }
    let all = faults.iter().flat_map(|fault| (0..TESTS.len()).map(move |test| (test, fault)));
    let next = Mutex::new(all.filter(|(test, fault)| !raw(copy, *test, fault).exists()));
    let work = || std::iter::from_fn(|| next.lock().ok()?.next()).try_for_each(try_one);
    thread::scope(|scope| {
        let threads = [0, 1].map(|_| scope.spawn(work));
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })
    .map_err(|e| e.to_string())
}

/// Writes the tables of the page: files and sentences of the oracle, and faults.
fn write(root: &Path, copy: &Path, faults: &[Fault]) -> io::Result<String> {
    let sentences = sentences::read(&root.join("crates/oracle/src"))?;
    let read = |fault| {
        let texts = (0..TESTS.len()).map(|test| fs::read_to_string(raw(copy, test, fault)));
        Ok(Seen::read(&texts.collect::<io::Result<String>>()?, &sentences))
    };
    let seen: Vec<Seen> = faults.iter().map(read).collect::<io::Result<_>>()?;
    let page = fs::read_to_string(root.join(PAGE))?;
    let Some((before, _)) = page.split_once(MARK) else { return Err(io::Error::other(MARK)) };
    let tables = [
        of_files(&seen, &sentences),
        of_sentences(faults, &seen, &sentences),
        of_faults(faults, &seen),
    ];
    fs::write(root.join(PAGE), [before, MARK, &tables.concat()].concat())?;
    Ok(format!("{} faults: {PAGE}", faults.len()))
}

fn of_files(seen: &[Seen], sentences: &[Sentence]) -> String {
    let mut rows = BTreeMap::<&str, [usize; 4]>::new();
    for sentence in sentences {
        rows.entry(&sentence.file).or_default()[0] += 1;
    }
    for seen in seen {
        let is_only = seen.files.len() == 1;
        for row in rows.iter_mut().filter(|(file, _)| seen.files.contains(**file)) {
            let counts = [true, is_only, is_only && seen.runs.is_empty()];
            row.1[1..].iter_mut().zip(counts).for_each(|(count, is)| *count += usize::from(is));
        }
    }
    let mut text = "\n## Which file finds what?\n\n\
                    | file of `crates/oracle/src` | sentences | faults | only it | and no run |\n\
                    |---|--:|--:|--:|--:|\n"
        .to_owned();
    let (mut rows, idle): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(_, row)| row[1] > 0);
    rows.sort_by_key(|(file, [_, found, only, _])| (Reverse((*only, *found)), *file));
    for (file, [all, found, only, no_run]) in rows {
        let _ = writeln!(text, "| `{file}` | {all} | {found} | {only} | {no_run} |");
    }
    let _ = writeln!(text, "\nFiles whose sentences found no fault:\n");
    for (file, _) in idle {
        let _ = writeln!(text, "- `{file}`");
    }
    text
}

/// Returns the table of the sentences that some fault leads to.
fn of_sentences(faults: &[Fault], seen: &[Seen], sentences: &[Sentence]) -> String {
    let mut text = "\n## Which sentence finds what?\n\n\
                    | no. | file | sentence | faults | only it finds |\n|--:|---|---|--:|---|\n"
        .to_owned();
    for (n, Sentence { file, text: said, .. }) in sentences.iter().enumerate() {
        let by = || faults.iter().zip(seen).filter(|(_, seen)| seen.sentences.contains(&n));
        let only = by().filter(|(_, seen)| seen.sentences.len() == 1);
        let only: Vec<_> = only.map(|(fault, _)| fault.name.as_str()).collect();
        let (count, only, said) = (by().count(), only.join(", "), said.replace('|', "\\|"));
        if count > 0 {
            let _ = writeln!(text, "| {n} | `{file}` | `{said}` | {count} | {only} |");
        }
    }
    text
}

fn of_faults(faults: &[Fault], seen: &[Seen]) -> String {
    let mut text = "\n## What finds each fault?\n\n\
                    | fault | tests | sentences | recorded runs | stored drives |\n\
                    |---|---|---|---|--:|\n"
        .to_owned();
    for (fault, Seen { sentences, stops, runs, stored, .. }) in faults.iter().zip(seen) {
        let tests: BTreeSet<_> = fault.found.iter().map(Found::kind).collect();
        let numbers = sentences.iter().map(usize::to_string);
        let numbers: Vec<_> =
            stops.then(|| "stops".to_owned()).into_iter().chain(numbers).collect();
        let tests: Vec<_> = tests.into_iter().collect();
        let (tests, numbers, runs) = (tests.join(", "), numbers.join(", "), runs.join(", "));
        let _ = writeln!(text, "| {} | {tests} | {numbers} | {runs} | {stored} |", fault.name);
    }
    text
}
