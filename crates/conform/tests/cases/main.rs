//! Test of 3,000 stored cases: random drives with their requests, and digests of what they leave. A
//! change of the drive that should not change results must not change a digest.
//!
//! `make test` plays every tenth case, `make soak` all of them. `make record-cases` takes the
//! digests again. The cases stay as they are: they were drawn once, and each of them holds all that
//! it needs.

mod case;
mod digest;
mod play;
mod requests;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use rayon::prelude::*;
// Links the lists of techniques.
use vpass_techniques as _;

use crate::case::Case;
use crate::digest::Digest;
use crate::play::{PARTS, play};

/// File of the digests: a line for each case, with a digest for each part.
const RECORD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/digests.txt");
/// Step of `make test` through the cases.
const EVERY: usize = 10;
/// Number of cases that a failure names.
const NAMED: usize = 20;

/// Digests of the parts that a case leaves, or why it cannot be played.
type Outcome = Result<[Digest; PARTS.len()], String>;

/// Plays every nth case.
fn played(every: usize) -> Vec<(Case, Outcome)> {
    let one = |case: Case| {
        let played = catch_unwind(AssertUnwindSafe(|| play(&case, false)));
        (case, played.unwrap_or_else(|_| Err("the drive panicked; its message is above".into())))
    };
    let cases: Vec<Case> = Case::all().into_iter().step_by(every).collect();
    cases.into_par_iter().map(one).collect()
}

/// Returns the digests of a case in a line. For a case that cannot be played, returns why not.
fn line(outcome: &Outcome) -> String {
    match outcome {
        Ok(digests) => digests.each_ref().map(|of| format!("{:016x}", of.value)).join(" "),
        Err(why) => why.replace('\n', " "),
    }
}

/// Returns the differences between every nth case and the record; empty if there are none.
fn differences(played: &[(Case, Outcome)], every: usize) -> String {
    let record = std::fs::read_to_string(RECORD).unwrap_or_default();
    let mut recorded = record.lines().step_by(every);
    let (mut moved, mut by_part) = (vec![], BTreeMap::<&str, usize>::new());
    for (n, (case, outcome)) in played.iter().enumerate() {
        let (old, now) = (recorded.next().unwrap_or("not recorded"), line(outcome));
        if now == old {
            continue;
        }
        let digests = old.split(' ').zip(now.split(' '));
        let differs = |(part, (old, new))| (old != new).then_some(part);
        let parts: Vec<&str> = match outcome {
            Ok(_) => PARTS.into_iter().zip(digests).filter_map(differs).collect(),
            Err(why) => vec![why],
        };
        parts.iter().for_each(|part| *by_part.entry(part).or_default() += 1);
        moved.push(format!("case {}: {} ({})", n * every, parts.join(", "), case.what()));
    }
    assert!(recorded.next().is_none() && !played.is_empty(), "cases of the record are missing");
    if moved.is_empty() {
        return String::new();
    }
    let count = moved.len();
    moved.truncate(NAMED);
    format!(
        "{count} of {} cases differ, by part: {by_part:?}\n{}\n",
        played.len(),
        moved.join("\n")
    )
}

#[track_caller]
fn nothing(differences: &str) {
    assert!(
        differences.is_empty(),
        "{differences}`VPASS_CASE=N cargo test --release -p vpass-conform --test cases -- \
         --ignored write_the_log` writes what case N leaves as text. `make record-cases` takes the \
         record again."
    );
}

#[test]
fn a_tenth_of_the_cases_leaves_what_is_recorded() {
    nothing(&differences(&played(EVERY), EVERY));
}

#[test]
#[ignore = "takes minutes; make soak runs it"]
fn all_cases_leave_what_is_recorded() {
    nothing(&differences(&played(1), 1));
}

#[test]
#[ignore = "writes what the case VPASS_CASE leaves into target/tmp/case-N"]
fn write_the_log() {
    let number = std::env::var("VPASS_CASE").expect("VPASS_CASE=N");
    let case = &Case::all()[number.parse::<usize>().expect("a number")];
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("case-{number}"));
    std::fs::create_dir_all(&folder).expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("a file");
    write("drive.toml", &case.drive);
    for (part, digest) in PARTS.iter().zip(play(case, true).expect("a drive")) {
        write(&format!("{part}.txt"), &digest.log.unwrap_or_default());
    }
    say(&format!("{}: {}\n", folder.display(), case.what()));
}

#[test]
#[ignore = "make record-cases: writes what is compared"]
fn take_the_record_again() {
    let played = played(1);
    say(&differences(&played, 1));
    assert!(played.iter().all(|(_, outcome)| outcome.is_ok()), "a case cannot be played");
    let lines: Vec<String> = played.iter().map(|(_, outcome)| line(outcome) + "\n").collect();
    std::fs::write(RECORD, lines.concat()).expect("the digests can be written");
}

/// Prints to the terminal, even from a test that passes.
fn say(text: &str) {
    std::io::stderr().write_all(text.as_bytes()).expect("stderr");
}
