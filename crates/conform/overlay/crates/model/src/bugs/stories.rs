//! Stories of single bugs. A story is a test that passes, but fails on drives with the bug. Each
//! story runs in its own process, and an environment variable names the bug.

use std::process::Command;

use super::{Bug, Found, PLANT};

/// Returns whether a test of this program passes alone, on drives with this bug or without a bug.
///
/// # Panics
/// Panics if this program does not have the test.
fn passes(story: &str, bug: Option<Bug>) -> bool {
    let mut run = Command::new(std::env::current_exe().expect("a program knows where it is"));
    run.args([story, "--exact", "--test-threads=1"]).env_remove(PLANT);
    if let Some(bug) = bug {
        run.env(PLANT, format!("{bug:?}"));
    }
    let done = run.output().expect("a program can run itself");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(said.contains("running 1 test"), "there is no test {story}");
    done.status.success()
}

/// Checks each bug against its stories. `story` returns the test of a story that this program has.
///
/// # Panics
/// Panics if a story fails without its bug, or passes with the bug.
pub fn check(story: impl Fn(&Found) -> Option<&'static str>) {
    let of = |bug: Bug| bug.record().found.iter().filter_map(&story).map(move |test| (bug, test));
    let stories: Vec<_> = Bug::ALL.into_iter().flat_map(of).collect();
    assert!(!stories.is_empty(), "no bug has a story here");
    let unseen = |(bug, story): &&(Bug, &str)| !passes(story, None) || passes(story, Some(*bug));
    let unseen: Vec<_> = stories.iter().filter(unseen).collect();
    assert!(unseen.is_empty(), "not seen, or seen where there is none: {unseen:?}");
}

/// Checks each bug against its stories among the unit tests of a crate, from one of these tests.
///
/// # Panics
/// Panics as [`check`] does.
pub fn check_units(of_crate: &'static str) {
    check(|found| match found {
        Found::Unit { of, test } if *of == of_crate => Some(test),
        _ => None,
    });
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_bug_is_seen_by_its_story() {
        super::check_units("model");
    }
}
