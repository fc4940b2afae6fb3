//! Random drives whose erases count as several P/E cycles: clean without a bug, and every seeded bug of acceleration is found.

use vpass_oracle::swarm::Case;

#[test]
fn drives_that_wear_faster_are_clean() {
    for seed in 0..40 {
        Case::new(seed).accelerated().run().unwrap_or_else(|said| panic!("case {seed}: {said}"));
    }
}

/// Each bug is found at the case that is recorded for it or, where cases have changed since, at one of those behind. Wear levelling is
/// judged by cycles, so that a block which is left behind is found in an accelerated life, too.
#[cfg(feature = "seeded-bugs")]
#[test]
fn every_bug_of_acceleration_is_found() {
    use vpass_core::bugs::{Bug, Finder};

    const RECORDED: [(Bug, u64); 4] =
        [(Bug::AccelerationForgotten, 0), (Bug::ExtraWearOfOneCycle, 2), (Bug::RowKept, 29), (Bug::ColdLeftBehind, 9)];
    const WITHIN: u64 = 400;
    std::panic::set_hook(Box::new(|_| {}));
    let shows = |bug: Bug, seed: u64| {
        let case = Case::new(seed).accelerated();
        case.with(bug).run().is_err_and(|said| !said.contains("the drive stopped")) && case.run().is_ok()
    };
    let is_found = |(bug, from): &(Bug, u64)| (*from..from + WITHIN).any(|seed| shows(*bug, seed));
    let missed: Vec<_> = RECORDED.iter().filter(|recorded| !is_found(recorded)).collect();
    let _ = std::panic::take_hook();
    assert!(missed.is_empty(), "not found: {missed:?}");
    let mut of_acceleration = Bug::ALL.into_iter().filter(|bug| bug.finder() == Finder::Acceleration);
    assert!(of_acceleration.all(|bug| RECORDED.iter().any(|(of, _)| *of == bug)));
}
