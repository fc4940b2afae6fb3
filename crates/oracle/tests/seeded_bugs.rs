#![allow(dead_code, unused_imports)]
//! Is every seeded bug found, by whom it must be found? A checker that never fails is not trusted.
//!
//! Each bug is tried first on the case that is recorded for it. Where the swarm has changed since, it is looked for from there on, and the test
//! says which case to record. `make soak` looks for all of them afresh.
#![cfg(feature = "seeded-bugs")]

#[path = "seeded_bugs/recorded.rs"]
mod recorded;

use vpass_core::bugs::{Bug, Finder};
use vpass_core::reclaim::{RECLAIM, Technique};
use vpass_oracle::swarm::{Case, run_case};

/// Cases within which a bug must show that the recorded one no longer shows.
const WITHIN: u64 = 3000;

fn technique(name: &str) -> Option<&'static Technique> {
    RECLAIM.iter().find(|t| t.name == name)
}

#[test]
#[ignore = "prints a table to record"]
fn probe() {
    std::panic::set_hook(Box::new(|_| {}));
    let from: u64 = std::env::var("VPASS_FROM").map_or(0, |n| n.parse().unwrap());
    let within: u64 = std::env::var("VPASS_WITHIN").map_or(1000, |n| n.parse().unwrap());
    let named = std::env::var("VPASS_BUG").unwrap_or_default();
    for bug in Bug::ALL.into_iter().filter(|bug| named.is_empty() || format!("{bug:?}") == named) {
        let begun = std::time::Instant::now();
        let (mut first, mut first_by_oracle, mut said) = (None, None, String::new());
        for seed in from..from + within {
            if begun.elapsed().as_secs() > 30 { break; }
            if let Err(e) = Case::new(seed).with(bug).run() {
                first = first.or(Some((seed, begun.elapsed().as_millis())));
                if !e.contains("the drive stopped") {
                    first_by_oracle = Some(seed);
                    said = e;
                    break;
                }
                said = e;
                if seed > first.unwrap().0 + 200 { break; }
            }
        }
        println!("{bug:?} {:?} {first:?} {first_by_oracle:?} {}", bug.finder(), said.chars().take(230).collect::<String>());
    }
}

#[test]
fn a_drive_without_a_bug_is_clean() {
    for seed in 0..50 {
        run_case(seed).unwrap();
    }
}
