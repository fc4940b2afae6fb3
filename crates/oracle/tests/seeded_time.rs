//! Bugs of time, each at a recorded case that shows it. A number goes stale when the swarm's cases change; the failure names a new one.
#![cfg(feature = "seeded-bugs")]

use vpass_core::bugs::Bug;
use vpass_oracle::swarm::{run_case, run_case_with};

const RECORDED: [(Bug, u64); 23] = [
    (Bug::EndsWithFirstPage, 0),
    (Bug::StallUncounted, 18),
    (Bug::AcknowledgedAtOnce, 13),
    (Bug::ArrivalForgotten, 7),
    (Bug::CopiesUnprogrammed, 13),
    (Bug::ResumedAsDone, 7),
    (Bug::SuspensionsFree, 7),
    (Bug::SuspendedTooOften, 20),
    (Bug::HalfTransfers, 0),
    (Bug::OthersChannel, 5),
    (Bug::OthersDie, 7),
    (Bug::EccForgotten, 0),
    (Bug::LinkUnqueued, 7),
    (Bug::WriteLinkUnqueued, 7),
    (Bug::FirstKindForAll, 8),
    (Bug::ErasesFree, 7),
    (Bug::LostCopiesProgrammed, 122),
    (Bug::ProgramBeforeLoads, 7),
    (Bug::DieIdles, 15),
    (Bug::PlaneIdles, 31),
    (Bug::RoomForgotten, 18),
    (Bug::RoomUnseen, 27),
    (Bug::RequestHeldBack, 0),
];

/// Whether the oracle finds the bug in this case, and not the drive's own assertions.
fn finds(bug: Bug, seed: u64) -> bool {
    run_case_with(seed, bug).is_err_and(|e| !e.contains("the drive stopped"))
}

#[test]
fn each_is_found_by_the_oracle_at_its_case() {
    // The drive's own assertions stop some of them first; their messages would fill the screen.
    std::panic::set_hook(Box::new(|_| {}));
    let stale: Vec<_> = RECORDED.into_iter().filter(|(bug, seed)| !finds(*bug, *seed)).collect();
    let found: Vec<_> = stale.iter().map(|(bug, _)| (bug, (0..400).find(|seed| finds(*bug, *seed)))).collect();
    assert!(found.is_empty(), "stale; found at: {found:?}");
    let clean = RECORDED.into_iter().all(|(_, seed)| run_case(seed).is_ok());
    assert!(clean, "without its bug a drive is right in these cases");
}
