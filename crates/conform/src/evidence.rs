//! Measures which sentences of the oracle and which recorded runs see each fault.
//!
//! Runs two tests of the copy for each fault, two faults at once: random drives under the oracle,
//! with all its findings, and recorded runs. What they print stays in a folder beside the copy, so
//! that a second call runs only what is missing.

mod sentences;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::{fs, io, thread};

use self::sentences::Sentence;
use super::{Fault, Found, HERE, read_faults};

/// Tests of a fault: program, name, variable for the fault, and longest time in seconds.
const TESTS: [(&str, &str, &str, &str); 2] = [
    ("all", "seeded_bugs::evidence::all_findings_about_a_bug", "VPASS_BUG", "90"),
    ("recorded", "evidence::runs_that_see_the_bug", "VPASS_PLANT", "300"),
];
/// Page whose table is written, and the marks around the table.
const PAGE: &str = "docs/design/evidence.md";
const MARKS: (&str, &str) = ("<!-- table: make evidence -->\n", "<!-- end of table -->");

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
}

impl Seen {
    /// Reads what the tests of a fault have printed.
    fn read(text: &str, sentences: &[Sentence]) -> Self {
        let mut seen = Self::default();
        for line in text.lines() {
            match line.split('\t').collect::<Vec<_>>()[..] {
                ["run", id, how] => seen.runs.push(format!("{id}:{how}")),
                ["finding", _, _, said] if said.contains("the drive panicked") => seen.stops = true,
                ["finding", _, _, said] => seen.sentences.extend(sentences::find(sentences, said)),
                _ => {}
            }
        }
        seen.files = seen.sentences.iter().map(|n| sentences[*n].file.clone()).collect();
        seen
    }
}

/// Runs what is missing and writes the results.
pub(crate) fn measure(root: &Path, copy: &Path) -> Result<String, String> {
    let faults = read_faults(&Path::new(HERE).join("faults"))?.fault;
    try_all(copy, &faults)?;
    write(root, copy, &faults).map_err(|e| format!("results: {e}"))
}

/// Returns the file of what the tests of a fault print.
fn raw(copy: &Path, fault: &Fault) -> PathBuf {
    copy.with_file_name("evidence").join(&fault.name)
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
    let programs = [program(TESTS[0].0)?, program(TESTS[1].0)?];
    let try_one = |fault: &Fault| -> io::Result<()> {
        let mut said = String::new();
        for (program, (_, test, variable, seconds)) in programs.iter().zip(TESTS) {
            let words = [seconds, program, test, "--exact", "--ignored", "--nocapture"];
            let mut run = Command::new("timeout");
            let done = run.args(words).env(variable, &fault.name).current_dir(copy).output()?;
            said += &String::from_utf8_lossy(&done.stdout);
            if !done.status.success() {
                said += "finding\t\t\tthe drive panicked, or did not end\n";
            }
        }
        fs::write(raw(copy, fault), said)
    };
    fs::create_dir_all(copy.with_file_name("evidence")).map_err(|e| e.to_string())?;
    let next = Mutex::new(faults.iter().filter(|fault| !raw(copy, fault).exists()));
    let work = || std::iter::from_fn(|| next.lock().ok()?.next()).try_for_each(try_one);
    thread::scope(|scope| {
        let threads = [0, 1].map(|_| scope.spawn(work));
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })
    .map_err(|e| e.to_string())
}

/// Writes the tables of faults and of sentences, and the page's table of files.
fn write(root: &Path, copy: &Path, faults: &[Fault]) -> io::Result<String> {
    let sentences = sentences::read(&root.join("crates/oracle/src"))?;
    let read = |fault| Ok(Seen::read(&fs::read_to_string(raw(copy, fault))?, &sentences));
    let seen: Vec<Seen> = faults.iter().map(read).collect::<io::Result<_>>()?;
    let folder = root.join("crates/conform/evidence");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("faults.csv"), of_faults(faults, &seen))?;
    fs::write(folder.join("sentences.csv"), of_sentences(faults, &seen, &sentences))?;
    let page = fs::read_to_string(root.join(PAGE))?;
    let around = page.split_once(MARKS.0).zip(page.split_once(MARKS.1));
    let Some(((before, _), (_, after))) = around else { return Err(io::Error::other(MARKS.0)) };
    let table = of_files(&seen, &sentences);
    fs::write(root.join(PAGE), [before, MARKS.0, &table, MARKS.1, after].concat())?;
    Ok(format!("{} faults: {}", faults.len(), folder.display()))
}

fn of_faults(faults: &[Fault], seen: &[Seen]) -> String {
    let mut text = "fault,tests,sentences,files,stops,runs\n".to_owned();
    let joined = |all: &BTreeSet<String>| Vec::from_iter(all.clone()).join(" ");
    for (fault, seen) in faults.iter().zip(seen) {
        let tests = joined(&fault.found.iter().map(Found::kind).collect());
        let numbers: Vec<_> = seen.sentences.iter().map(usize::to_string).collect();
        let (name, numbers, files) = (&fault.name, numbers.join(" "), joined(&seen.files));
        let (stops, runs) = (seen.stops, seen.runs.join(" "));
        let _ = writeln!(text, "{name},{tests},{numbers},{files},{stops},{runs}");
    }
    text
}

fn of_sentences(faults: &[Fault], seen: &[Seen], sentences: &[Sentence]) -> String {
    let mut text = "number,file,sentence,faults,only_it_finds\n".to_owned();
    for (n, sentence) in sentences.iter().enumerate() {
        let by = || faults.iter().zip(seen).filter(|(_, seen)| seen.sentences.contains(&n));
        let only = by().filter(|(_, seen)| seen.sentences.len() == 1);
        let only: Vec<_> = only.map(|(fault, _)| fault.name.as_str()).collect();
        let (file, said) = (&sentence.file, sentence.text.replace('"', "'"));
        let _ = writeln!(text, "{n},{file},\"{said}\",{},{}", by().count(), only.join(" "));
    }
    text
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
    let mut text = "| file of `crates/oracle/src` | sentences | faults | only it | and no run |\n\
                    |---|--:|--:|--:|--:|\n"
        .to_owned();
    let mut rows: Vec<_> = rows.into_iter().collect();
    rows.sort_by_key(|(file, [_, found, only, _])| (Reverse((*only, *found)), *file));
    for (file, [all, found, only, no_run]) in rows {
        let _ = writeln!(text, "| `{file}` | {all} | {found} | {only} | {no_run} |");
    }
    text
}
