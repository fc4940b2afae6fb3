//! Test of recorded results: about 490 runs, field by field. A change of the code that should not
//! change results must not change any field.
//!
//! A change of a value must be explained. `make record` writes the record again and prints the
//! changes.

mod crossings;
mod fields;
mod outcome;
mod record;
mod report;
mod runs;

use std::io::Write as _;
use std::sync::LazyLock;

use rayon::prelude::*;

use crate::record::Record;
use crate::report::Report;
use crate::runs::Run;

static REPORT: LazyLock<Report> = LazyLock::new(|| report(&runs::all()));

/// Makes the runs and compares them with the record. New fields are printed, but they are not an
/// error.
fn report(runs: &[Run]) -> Report {
    let recorded = Record::read();
    let runs: Vec<_> =
        runs.iter().filter(|run| !run.is_of_one_unrecorded(&recorded.runs)).cloned().collect();
    let report = Report::new(&recorded, &made(&runs));
    say(&report.of_additions());
    report
}

fn made(runs: &[Run]) -> Record {
    let outcomes: Vec<_> = runs.par_iter().map(outcome::of).collect();
    Record::of(runs, &outcomes)
}

/// Prints to the terminal, even from a test that passes.
fn say(text: &str) {
    std::io::stderr().write_all(text.as_bytes()).expect("stderr");
}

#[track_caller]
fn nothing(changes: &str) {
    assert!(changes.is_empty(), "`make record` takes the record again\n{changes}");
}

#[test]
fn recorded_runs_come_to_the_same() {
    nothing(&REPORT.of_values());
}

#[test]
fn recorded_runs_say_the_same() {
    nothing(&REPORT.of_sentences());
}

#[test]
fn the_record_names_every_run_once_and_nothing_else() {
    let recorded = Record::read().runs;
    let runs = runs::all();
    let expected: Vec<_> =
        runs.iter().filter(|run| !run.is_of_one_unrecorded(&recorded)).map(Run::title).collect();
    assert!(expected.len() > 200, "{}", expected.len());
    let recorded: Vec<_> = recorded.into_iter().map(|(_, title)| title).collect();
    assert_eq!(recorded, expected, "`make record` takes them again");
}

#[test]
#[ignore = "make record: writes what is compared"]
fn take_the_record_again() {
    let now = made(&runs::all());
    let report = Report::new(&Record::read(), &now);
    let changes = [report.of_values(), report.of_sentences(), report.of_additions()].concat();
    say(if changes.is_empty() { "nothing moved\n" } else { &changes });
    now.write();
}
