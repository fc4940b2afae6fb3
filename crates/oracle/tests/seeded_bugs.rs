//! Is every seeded bug found by the swarm within a few hundred cases? A checker that never fails is not trusted.
#![cfg(feature = "seeded-bugs")]

use vpass_core::bugs::Bug;
use vpass_oracle::swarm::{run_case, run_case_with};

/// Cases within which a bug must show.
const WITHIN: u64 = 400;

#[test]
fn every_bug_is_found() {
    // The drive's own assertions stop some of the bugs first; their messages would fill the screen.
    std::panic::set_hook(Box::new(|_| {}));
    let missed: Vec<Bug> = Bug::ALL.into_iter().filter(|bug| (0..WITHIN).all(|seed| run_case_with(seed, *bug).is_ok())).collect();
    assert!(missed.is_empty(), "not found within {WITHIN} cases: {missed:?}");
}

#[test]
fn bugs_that_no_assertion_of_the_drive_stops_are_found_by_the_oracle() {
    std::panic::set_hook(Box::new(|_| {}));
    for bug in Bug::ALL {
        let by_oracle = (0..WITHIN).filter_map(|seed| run_case_with(seed, bug).err()).any(|e| !e.contains("the drive stopped"));
        assert!(by_oracle, "{bug:?} is only ever stopped by the drive itself");
    }
}

#[test]
fn a_drive_without_a_bug_is_clean() {
    for seed in 0..50 {
        run_case(seed).unwrap();
    }
}
