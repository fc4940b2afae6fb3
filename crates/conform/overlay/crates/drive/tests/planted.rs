//! Stories of other tests, run again on drives with a bug. `make seeded-bugs` runs them.
#![cfg(feature = "seeded-bugs")]

use vpass_drive::bugs::{Bug, stories};

#[test]
fn each_bug_is_seen_by_its_story() {
    stories::check(&[
        (
            Bug::PadsNever,
            "program_unit::a_page_that_waits_is_served_from_memory_and_padded_after_a_pause",
        ),
        (Bug::RefusalsUncounted, "density::a_drive_that_cannot_spare_the_pages_relocates"),
        (Bug::SlowAtAnyRetry, "retries::a_block_becomes_slow_as_a_whole"),
        (Bug::EvictsFromShared, "pool::full_blocks_make_room_in_a_pool_that_is_kept"),
    ]);
}
