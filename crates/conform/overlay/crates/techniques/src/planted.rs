//! Stories of bugs among the unit tests of this crate, run again on drives with a bug.

use vpass_drive::bugs::{Bug, stories};

#[test]
fn each_bug_is_seen_by_its_story() {
    let of_retries = "reclaim::count::tests::a_read_that_took_retries_moves_its_block";
    stories::check(&[
        (Bug::TriggerOneLate, of_retries),
        (Bug::RetriedRewriteForgotten, of_retries),
        (
            Bug::StartCountsInRun,
            "reclaim::count::tests::at_its_new_place_data_begins_with_no_read_counted",
        ),
        (
            Bug::HostReadsRestart,
            "reclaim::count::tests::drive_wide::reads_before_the_measured_phase_count",
        ),
    ]);
}
