//! Stories of other tests, run again on drives with a bug. `make seeded-bugs` runs them.
#![cfg(feature = "seeded-bugs")]

use vpass_drive::bugs::stories;

#[test]
fn each_bug_is_seen_by_its_story() {
    stories::check(&stories::OF_TESTS);
}
