//! Bugs looked for at the case that is recorded for each or, where cases have changed since, at one of those behind.
#![expect(clippy::print_stdout, reason = "says which case to record")]

use vpass_core::bugs::Bug;

/// Those of these bugs that no case shows, of so many from the recorded one on; without a record from 0 on.
pub(crate) fn missed(
    bugs: impl IntoIterator<Item = Bug>,
    recorded: &[(Bug, u64)],
    within: u64,
    shows: impl Fn(Bug, u64) -> bool,
) -> Vec<Bug> {
    // A bug may stop the drive by a panic, which is no news here.
    std::panic::set_hook(Box::new(|_| {}));
    let is_found = |bug: &Bug| {
        let from = recorded.iter().find(|(of, _)| of == bug).map_or(0, |(_, seed)| *seed);
        let found = (from..from + within).find(|seed| shows(*bug, *seed));
        if found != Some(from) {
            println!("{bug:?}: case {found:?} in the place of {from}");
        }
        found.is_some()
    };
    let missed = bugs.into_iter().filter(|bug| !is_found(bug)).collect();
    let _ = std::panic::take_hook();
    missed
}
