//! Is every seeded bug found by the swarm within a few hundred cases? A checker that never fails is not trusted.
#![cfg(feature = "seeded-bugs")]

use vpass_core::bugs::Bug;
use vpass_oracle::swarm::{run_case, run_case_with};

/// Cases within which a bug must show.
const WITHIN: u64 = 400;

/// Bugs of requests and books, the seed of a case that finds each, and words of what the oracle says of it.
const RECORDED: [(Bug, u64, &str); 19] = [
    (Bug::FillForgotten, 2, "of which memory holds parts"),
    (Bug::FillFromMoverForgotten, 4, "was completed with a rest that was not read"),
    (Bug::RestUnread, 2, "was served from memory, which holds parts"),
    (Bug::PartTooMany, 2, "the host wrote"),
    (Bug::LastPageSkipped, 1, "was read in its stead"),
    (Bug::PageReadTwice, 1, "was read in its stead"),
    (Bug::PartTrimmed, 1, "the reference drive"),
    (Bug::StalledForgotten, 18, "the reference drive"),
    (Bug::CopiesUncounted, 0, "pages copied by reclaim"),
    (Bug::LossesUncounted, 206, "the reference drive"),
    (Bug::FailuresUncounted, 206, "host page reads that failed"),
    (Bug::CleaningUncounted, 24, "blocks cleaned for reclaim"),
    (Bug::BytesRounded, 1, "bytes read"),
    (Bug::PaddingUncounted, 74, "pages padded"),
    (Bug::FillsUncounted, 2, "reads to complete a page"),
    (Bug::BlameDoubled, 9, "blames reads for"),
    (Bug::OldestFirst, 0, "was free beside it"),
    (Bug::ColdLeftBehind, 19, "nothing was moved for it"),
    (Bug::LevelledTooSoon, 19, "was moved for wear"),
];

#[test]
fn each_recorded_case_finds_its_bug() {
    std::panic::set_hook(Box::new(|_| {}));
    let finds = |bug, seed, words| run_case_with(seed, bug).err().is_some_and(|e| e.contains(words));
    for (bug, seed, words) in RECORDED {
        if !finds(bug, seed, words) {
            let now = (0..WITHIN).find(|seed| finds(bug, *seed, words));
            panic!("case {seed} does not find {bug:?} by `{words}`; the first that does is {now:?}");
        }
    }
}

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
