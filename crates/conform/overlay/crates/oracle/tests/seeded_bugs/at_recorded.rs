//! Search for bugs at their recorded cases. If cases have changed since, the search goes on with
//! later cases.
#![expect(clippy::print_stdout, reason = "says which case to record")]

use vpass_drive::bugs::Bug;

/// Returns the bugs that no case shows. For each bug, the search first tries the recorded case with
/// its record. Then it tries `within` cases from that one on, or from 0 on without a record. The
/// answer of `shows` is the record of a case that shows the bug.
pub(crate) fn missed<R: Copy>(
    bugs: impl IntoIterator<Item = Bug>,
    recorded: &[(Bug, u64, R)],
    within: u64,
    shows: impl Fn(Bug, u64, Option<R>) -> Option<String>,
) -> Vec<Bug> {
    // A bug may stop the drive by a panic, which is expected here.
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
