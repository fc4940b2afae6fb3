//! Recorded runs that see a bug: their results differ from the record on drives with the bug.
#![expect(clippy::print_stdout, reason = "make evidence reads what is printed")]

use std::panic::catch_unwind;

use crate::record::{Record, number};
use crate::report::Report;
use crate::runs::Run;
use crate::{crossings, outcome};

/// Number of runs to try, in the order of their numbers, which has nothing to do with their kinds.
const TRIED: usize = 40;
/// Number of runs that see a bug, after which the search ends.
const ENOUGH: usize = 3;
/// Parts of the names of fields that only runs with an oracle have.
const OF_ORACLE: [&str; 5] = ["oracle", "share_used", "threshold_used", "  dose", "  files"];

/// Prints the first runs that see the bug that `VPASS_PLANT` names. `VPASS_RUNS` is the number of
/// runs to try; all runs that see the bug are then printed.
#[test]
#[ignore = "make evidence runs it for each bug"]
fn runs_that_see_the_bug() {
    let recorded = Record::read();
    let tried = std::env::var("VPASS_RUNS").ok().and_then(|number| number.parse().ok());
    let mut runs = crossings::all();
    runs.sort_by_key(|run| number(&run.title()));
    std::panic::set_hook(Box::new(|_| {}));
    println!();
    let seen = runs.iter().take(tried.unwrap_or(TRIED)).filter(|run| sees(&recorded, run));
    seen.take(tried.unwrap_or(ENOUGH)).for_each(|run| println!("run\t{}", number(&run.title())));
}

/// Returns whether a run sees the bug without the oracle: its results differ, or there are none.
fn sees(recorded: &Record, run: &Run) -> bool {
    let mut words = run.words.clone();
    words.extend(["--oracle".into(), "off".into()]);
    let Ok(fields) = catch_unwind(|| outcome::of(&Run { words })) else { return true };
    let changes = Report::new(recorded, &Record::of(&[run.clone()], &[fields])).of_values();
    let is_field = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
    let is_of_oracle = |line: &str| OF_ORACLE.iter().any(|part| line.contains(part));
    changes.lines().filter(is_field).any(|line| !is_of_oracle(line))
}
