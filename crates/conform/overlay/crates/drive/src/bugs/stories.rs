//! Stories of single bugs. A story is a test that passes, but fails on drives with the bug. Each
//! story runs in its own process, and an environment variable names the bug.

use std::process::Command;

use super::{Bug, PLANT};

/// Stories among the unit tests of this crate. [`OF_TESTS`] has the others.
pub const OF_UNITS: [(Bug, &str); 29] = [
    (
        Bug::AgedMovingForgotten,
        "drive::ageing::tests::a_block_that_moves_when_it_is_due_is_looked_at_again_at_its_end",
    ),
    (
        Bug::RefreshMissUncounted,
        "drive::ageing::tests::a_block_that_moves_when_it_is_due_is_looked_at_again_at_its_end",
    ),
    (
        Bug::LateRefreshDeferred,
        "drive::ageing::tests::a_block_that_is_due_at_once_is_rewritten_at_once",
    ),
    (Bug::AgedNotUrgent, "drive::ageing::tests::a_job_is_urgent_when_its_block_grows_too_old"),
    (
        Bug::OlderMovingSkipped,
        "drive::ageing::tests::a_block_that_moves_is_looked_at_at_each_step_of_age",
    ),
    (
        Bug::OlderJobKept,
        "drive::ageing::tests::a_job_with_a_deadline_ends_when_its_block_is_a_step_older",
    ),
    (Bug::StepsNotSetBack, "drive::ageing::tests::steps_of_age_are_set_back_with_the_clock"),
    (Bug::JobsNotSetBack, "ftl::job::tests::what_a_job_has_adjusted_is_set_back_with_the_clock"),
    (Bug::MergesUnweighed, "ftl::job::tests::merges_take_time"),
    (Bug::DeadlineReplaced, "drive::alarm::tests::a_job_keeps_the_deadline_that_it_has"),
    (
        Bug::FillOutlivesLoss,
        "drive::alarm::tests::a_page_that_its_own_fill_has_lost_is_not_written",
    ),
    (Bug::RestOutlivesLoss, "drive::alarm::tests::a_read_that_has_lost_the_rest_of_its_page_fails"),
    (Bug::ScatterOfNext, "disturb::table::tests::limits_scatter_over_blocks_and_layers"),
    (Bug::ScatterBelowOne, "disturb::table::tests::limits_scatter_over_blocks_and_layers"),
    (Bug::HoursForgotten, "base::daily::tests::worked_example"),
    (
        Bug::TriggerOneLate,
        "techniques::reclaim::count::tests::a_read_that_took_retries_moves_its_block",
    ),
    (
        Bug::RetriedRewriteForgotten,
        "techniques::reclaim::count::tests::a_read_that_took_retries_moves_its_block",
    ),
    (Bug::ClassForgetsRow, "disturb::table::tests::a_row_is_a_class_of_its_own"),
    (
        Bug::ReserveOfSmallerAlpha,
        "disturb::allowed::tests::retries_reserve_by_the_larger_alpha_of_two_rows",
    ),
    (
        Bug::TiredKept,
        "flash::tired::tests::a_block_that_becomes_tired_keeps_nothing_of_a_life_before",
    ),
    (Bug::RestartKeepsLevels, "flash::tired::tests::a_block_that_is_young_again_has_other_limits"),
    (Bug::MoverRetriesPutOffNothing, "flash::tired::tests::retries_of_movers_put_the_alarm_off"),
    (Bug::UrgentNotFirst, "time::device::dies::tests::an_urgent_job_goes_to_the_head_of_its_die"),
    (Bug::EvictsFromShared, "ftl::collect::tests::full_blocks_make_room_in_a_pool_that_is_kept"),
    (
        Bug::RepairAcrossRoom,
        "drive::repair::tests::a_rebuilt_page_that_has_moved_meanwhile_is_not_written",
    ),
    (
        Bug::KeptRetriesForgotten,
        "ftl::partial::tests::an_old_version_that_takes_retries_is_suspect",
    ),
    (
        Bug::StartCountsInRun,
        "techniques::reclaim::count::tests::at_its_new_place_data_begins_with_no_read_counted",
    ),
    (
        Bug::HostReadsRestart,
        "techniques::reclaim::count::tests::drive_wide::reads_before_the_measured_phase_count",
    ),
    (Bug::KeptReadUnasked, "ftl::partial::tests::parts_that_would_ring_an_alarm_are_not_read"),
];

/// Stories among the integration tests of this crate.
pub const OF_TESTS: [(Bug, &str); 21] = [
    (
        Bug::PadsNever,
        "program_unit::a_page_that_waits_is_served_from_memory_and_padded_after_a_pause",
    ),
    (Bug::RefusalsUncounted, "density::a_drive_that_cannot_spare_the_pages_relocates"),
    (Bug::SlowAtAnyRetry, "retries::a_block_becomes_slow_as_a_whole"),
    (Bug::YoungestVictim, "gc_choice::each_policy_picks_the_block_of_its_definition"),
    (Bug::VictimsStale, "gc_choice::each_policy_picks_the_block_of_its_definition"),
    (Bug::StableTakesWorn, "gc_choice::each_policy_picks_the_block_of_its_definition"),
    (Bug::CostBenefitAgeless, "gc_choice::each_policy_picks_the_block_of_its_definition"),
    (Bug::GcTakesFullest, "gc_choice::each_policy_picks_the_block_of_its_definition"),
    (Bug::ReadsReversed, "conservation::dies_serve_what_waits_in_its_order"),
    (Bug::BatchTooLong, "conservation::dies_serve_what_waits_in_its_order"),
    (Bug::PoolBeginsLate, "addresses::every_address_leads_where_division_leads"),
    (
        Bug::StartReadsHalved,
        "start_state::reads_before_the_run_are_spread_over_blocks_and_wordlines",
    ),
    (Bug::StartReadsOpen, "start_state::partly_written_blocks_served_the_reads_of_their_pages"),
    (
        Bug::PreparationUncounted,
        "start_state::reads_of_preparation_are_part_of_the_reads_before_the_run",
    ),
    (Bug::WornShareTwice, "start_state::blocks_begin_with_the_wear_that_is_configured"),
    (Bug::FillOneShort, "start_state::pages_are_written_as_often_as_configured"),
    (Bug::OverwritesHalved, "start_state::pages_are_written_as_often_as_configured"),
    (Bug::OverwritesFirstHalf, "start_state::pages_are_written_as_often_as_configured"),
    (Bug::SteadyAllFull, "start_state::a_computed_start_is_the_steady_state_of_greedy_cleaning"),
    (
        Bug::AgeAloneForgotten,
        "reference::limits_and_error_rates_are_those_of_ten_thousand_configurations",
    ),
    (
        Bug::BudgetBetweenRows,
        "reference::limits_and_error_rates_are_those_of_ten_thousand_configurations",
    ),
];

/// Returns whether a test of this program passes alone, on drives with this bug or without a bug.
///
/// # Panics
/// Panics if this program does not have the test.
fn passes(story: &str, bug: Option<Bug>) -> bool {
    let mut run = Command::new(std::env::current_exe().expect("a program knows where it is"));
    run.args([story, "--exact", "--test-threads=1"]).env_remove(PLANT);
    if let Some(bug) = bug {
        run.env(PLANT, format!("{bug:?}"));
    }
    let done = run.output().expect("a program can run itself");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(said.contains("running 1 test"), "there is no test {story}");
    done.status.success()
}

/// Checks each bug against its story.
///
/// # Panics
/// Panics if a story fails without its bug, or passes with the bug.
pub fn check(stories: &[(Bug, &str)]) {
    let unseen = |(bug, story): &&(Bug, &str)| !passes(story, None) || passes(story, Some(*bug));
    let unseen: Vec<_> = stories.iter().filter(unseen).collect();
    assert!(unseen.is_empty(), "not seen, or seen where there is none: {unseen:?}");
}

#[cfg(test)]
mod tests {
    use super::{OF_UNITS, check};

    #[test]
    fn each_bug_is_seen_by_its_story() {
        check(&OF_UNITS);
    }
}
