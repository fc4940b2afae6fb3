//! Stories of bugs among the unit tests of this crate, run again on drives with a bug.

#[test]
fn each_bug_is_seen_by_its_story() {
    vpass_drive::bugs::stories::check_units("techniques");
}
