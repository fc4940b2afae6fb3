//! Bugs looked for at the case that is recorded for each or, where cases have changed since, at one
//! of those behind.
#![expect(clippy::print_stdout, reason = "says which case to record")]

use vpass_core::bugs::Bug;

/// Those of these bugs that no case shows, of so many from the recorded one on; without a record
/// from 0 on. A case is its number, with what is recorded beside it or, where that no longer shows
/// the bug, by itself; the answer is what would be recorded of a case that shows it.
pub(crate) fn missed<R: Copy>(
    bugs: impl IntoIterator<Item = Bug>,
    recorded: &[(Bug, u64, R)],
    within: u64,
    shows: impl Fn(Bug, u64, Option<R>) -> Option<String>,
) -> Vec<Bug> {
    // A bug may stop the drive by a panic, which is no news here.
    std::panic::set_hook(Box::new(|_| {}));
    let is_found = |bug: &Bug| {
        let record = recorded.iter().find(|(of, ..)| of == bug);
        if record.is_some_and(|(_, seed, more)| shows(*bug, *seed, Some(*more)).is_some()) {
            return true;
        }
        let from = record.map_or(0, |(_, seed, _)| *seed);
        let found = (from..from + within).find_map(|seed| Some((seed, shows(*bug, seed, None)?)));
        println!("{bug:?}: case {found:?} in the place of {from}");
        found.is_some()
    };
    let missed = bugs.into_iter().filter(|bug| !is_found(bug)).collect();
    let _ = std::panic::take_hook();
    missed
}
