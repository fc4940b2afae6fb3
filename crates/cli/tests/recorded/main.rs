//! What some 250 runs come to, recorded as digests: a change that ought to move no result moves none of these.
//! `make test` makes every seventh, `make recorded` all. A change that moves one says why; `make record` takes them again.

mod digest;
mod runs;

use std::path::PathBuf;

use rayon::prelude::*;

use crate::runs::Run;

/// `make test` makes every seventh run: a step prime to the ten runs of a technique and the five of a variant passes over none of them for good.
const EVERY: usize = 7;

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/recorded/digests.txt")
}

/// One line a run: its digest and its words.
fn lines(runs: &[Run]) -> Vec<String> {
    runs.par_iter().map(|run| format!("{} {}", digest::of(run), run.title())).collect()
}

#[track_caller]
fn as_recorded(runs: &[Run]) {
    let recorded = std::fs::read_to_string(file()).expect("the digests are in the repository");
    let runs: Vec<_> = runs.iter().filter(|run| !run.is_of_one_unrecorded(&recorded)).cloned().collect();
    let moved: Vec<_> = lines(&runs).into_iter().filter(|line| !recorded.lines().any(|r| r == line)).collect();
    assert!(
        moved.is_empty(),
        "{} of {} runs come to something else (`make record` takes them again):\n{}",
        moved.len(),
        runs.len(),
        moved.join("\n")
    );
}

#[test]
fn a_part_of_the_recorded_runs_comes_to_the_same() {
    as_recorded(&runs::all().into_iter().step_by(EVERY).collect::<Vec<_>>());
}

#[test]
fn the_record_names_every_run_once_and_nothing_else() {
    let text = std::fs::read_to_string(file()).expect("the digests are in the repository");
    let recorded: Vec<_> = text.lines().map(|line| line.split_once(' ').expect("a digest and words").1.to_owned()).collect();
    let runs = [runs::all(), runs::papers()].concat();
    let expected: Vec<_> = runs.iter().filter(|run| !run.is_of_one_unrecorded(&text)).map(Run::title).collect();
    assert!(expected.len() > 200, "{}", expected.len());
    assert_eq!(recorded, expected, "`make record` takes them again");
}

#[test]
#[ignore = "takes minutes; make recorded runs it"]
fn all_recorded_runs_come_to_the_same() {
    as_recorded(&[runs::all(), runs::papers()].concat());
}

#[test]
#[ignore = "make record: writes what is compared"]
fn take_the_record_again() {
    let text = lines(&[runs::all(), runs::papers()].concat()).join("\n") + "\n";
    std::fs::write(file(), text).expect("the digests can be written");
}
