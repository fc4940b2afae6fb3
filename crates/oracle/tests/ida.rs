//! Random drives that merge wordlines as they refresh them. The oracle must agree with the drive
//! under every reclaim technique.

use vpass_oracle::swarm::{Cards, Case};
use vpass_techniques::{all, card};

/// Returns the cases whose data ages. Three in ten of them have this refresh.
fn cases() -> impl Iterator<Item = Case> {
    (1..).map(Case::new).filter(|case| case.ages())
}

#[test]
fn the_oracle_has_nothing_to_say_under_any_reclaim_technique() {
    for technique in all().reclaim {
        let mut merged = 0;
        for case in cases().take(60) {
            let summary = case
                .under(technique)
                .run()
                .unwrap_or_else(|said| panic!("{}: {said}", technique.name));
            merged += u32::from(summary.what.contains("refresh ida"));
            if merged == 2 {
                break;
            }
        }
        assert_eq!(merged, 2, "{}", technique.name);
    }
}

/// A block without a dose enters a new age step while its refresh waits for the die. The next read
/// must ask its policy, and its job must continue.
#[test]
fn a_job_that_outlasts_a_step_of_age_is_known_to_go_on() {
    let ida = card("ida");
    let case =
        Case::new(79_500_443).refreshed(ida).with_cards(Cards::recorded("tiered, greedy, ida"));
    if let Err(said) = case.run() {
        panic!("{said}");
    }
}
