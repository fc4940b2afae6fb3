//! Checks that every seeded bug is found by the checker that must find it. A checker that never
//! fails cannot be trusted.
//!
//! Each bug is first tried on its recorded case, with the techniques that the case had then. So a
//! new technique in a list changes no record. If cases have changed since, the search goes on with
//! later cases, and the test prints the case to record. `make soak` searches for all bugs again,
//! for a minute on one core each (`VPASS_BUG=NAME,..` for some).
#![cfg(feature = "seeded-bugs")]
#![expect(clippy::print_stdout, reason = "says which case to record, and what was found")]

#[path = "seeded_bugs/recorded.rs"]
mod recorded;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use recorded::{BATTERY, BY_STORY, CHECK, SAID, STOPPED, SURVIVORS, UNTOUCHED};
use vpass_drive::api::reclaim::{RECLAIM, Technique, technique};
use vpass_drive::bugs::stories::{OF_TESTS, OF_UNITS};
use vpass_drive::bugs::{Bug, Finder};
use vpass_oracle::swarm::{Cards, Case, run_case};

/// Largest number of cases to try if the recorded one no longer shows the bug.
const WITHIN: u64 = 3000;
/// Distorted bounds that the battery of every technique must notice.
const ALWAYS: [Bug; 3] = [Bug::AlphaOne, Bug::BestGroup, Bug::LateReadsZero];

/// A bug, with the technique whose battery must find it; `None` if random drives must.
#[derive(Clone, Copy)]
struct Wanted {
    bug: Bug,
    by: Option<&'static Technique>,
    /// Recorded case with its techniques; `None` without a record.
    recorded: Option<(u64, Cards)>,
}

impl Wanted {
    /// Returns the techniques of this case if it shows the bug, with a finding that the drive
    /// without the bug does not give.
    fn shows(&self, case: Case) -> Option<Cards> {
        let case = self.by.map_or(case, |technique| case.under(technique));
        let shows = case.with(self.bug).run().is_err_and(|said| self.counts(&said));
        case.run().ok().filter(|_| shows)?.cards
    }

    /// Returns whether the recorded case shows the bug.
    fn is_recorded(&self) -> bool {
        self.recorded
            .is_some_and(|(seed, cards)| self.shows(Case::new(seed).with_cards(cards)).is_some())
    }

    /// Returns whether a finding counts for the bug. It must come from the oracle, unless the drive
    /// always stops first, and contain the right words.
    fn counts(&self, said: &str) -> bool {
        let in_words = SAID
            .iter()
            .find(|(bug, _)| *bug == self.bug)
            .is_none_or(|(_, words)| words.iter().any(|word| said.contains(word)));
        in_words && (STOPPED.contains(&self.bug) || !said.contains("the drive panicked"))
    }

    /// Returns the first case from `from` on that shows the bug.
    fn first(&self, from: u64, within: u64, time: Duration) -> Option<(u64, Cards)> {
        let begun = Instant::now();
        let mut cases = (from..from + within).take_while(|_| begun.elapsed() < time);
        cases.find_map(|seed| Some((seed, self.shows(Case::new(seed))?)))
    }

    fn words(&self) -> String {
        let by = self
            .by
            .map_or("vpass check".into(), |technique| format!("the battery of {}", technique.name));
        format!("{:?} by {by}", self.bug)
    }
}

/// Returns the bugs of the drive.
fn by_check() -> Vec<Wanted> {
    let recorded = |bug| {
        CHECK
            .iter()
            .find(|(of, ..)| *of == bug)
            .map(|(_, seed, cards)| (*seed, Cards::recorded(cards)))
    };
    let all = Bug::ALL.into_iter().filter(|bug| bug.finder() == Finder::Check && !bug.is_retired());
    all.map(|bug| Wanted { bug, by: None, recorded: recorded(bug) }).collect()
}

/// Returns the distorted bounds. Those of [`ALWAYS`] come with every technique that gives a
/// guarantee, the others only where they are recorded.
fn by_battery() -> Vec<Wanted> {
    let protecting = || RECLAIM.iter().filter(|t| !t.may_lose());
    let find = |bug, name| BATTERY.iter().find(|(of, by, ..)| (*of, *by) == (bug, name));
    let recorded =
        |bug, name| find(bug, name).map(|(.., seed, cards)| (*seed, Cards::recorded(cards)));
    let every =
        ALWAYS.into_iter().flat_map(|bug| protecting().map(move |technique| (bug, technique)));
    let every = every.filter(|(bug, by)| !UNTOUCHED.contains(&(*bug, by.name)));
    let others = BATTERY.iter().filter(|(bug, ..)| !ALWAYS.contains(bug));
    let others =
        others.map(|(bug, by, ..)| (*bug, technique(by).expect("a technique of the list")));
    every
        .chain(others)
        .map(|(bug, by)| Wanted { bug, by: Some(by), recorded: recorded(bug, by.name) })
        .collect()
}

/// Applies `each` to all bugs, on all cores.
fn on_all_cores(wanted: &[Wanted], each: impl Fn(&Wanted) -> Option<String> + Sync) -> Vec<String> {
    // The drive's own assertions stop some of the bugs first, and their messages would fill the
    // screen.
    std::panic::set_hook(Box::new(|_| {}));
    let (next, said) = (AtomicUsize::new(0), Mutex::new(vec![]));
    let work = || {
        while let Some(wanted) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
            said.lock().unwrap().extend(each(wanted));
        }
    };
    std::thread::scope(|scope| {
        (0..std::thread::available_parallelism().map_or(1, Into::into)).for_each(|_| {
            scope.spawn(work);
        });
    });
    said.into_inner().unwrap()
}

/// Returns the bugs that neither the recorded case nor a later one shows.
fn missed(wanted: &[Wanted]) -> Vec<String> {
    on_all_cores(wanted, |wanted| {
        if wanted.is_recorded() {
            return None;
        }
        let from = wanted.recorded.map_or(0, |(seed, _)| seed);
        let Some((seed, cards)) = wanted.first(from, WITHIN, Duration::from_secs(120)) else {
            println!("{}: not found", wanted.words());
            return Some(wanted.words());
        };
        println!("{}: record ({seed}, \"{cards}\") in the place of {from}", wanted.words());
        None
    })
}

#[test]
fn every_bug_of_the_drive_is_found_by_random_drives() {
    let wanted: Vec<Wanted> = by_check()
        .into_iter()
        .filter(|wanted| !SURVIVORS.contains(&wanted.bug) && !BY_STORY.contains(&wanted.bug))
        .collect();
    let missed = missed(&wanted);
    assert!(missed.is_empty(), "not found: {missed:?}");
}

#[test]
fn every_distorted_bound_is_found_by_the_battery_of_its_technique() {
    let missed = missed(&by_battery());
    assert!(missed.is_empty(), "not found: {missed:?}");
}

#[test]
fn every_bug_has_a_finder() {
    let has =
        |bug: &Bug| SURVIVORS.contains(bug) || by_battery().iter().any(|wanted| wanted.bug == *bug);
    let distorted: Vec<Bug> = Bug::OF_BOUNDS.into_iter().filter(|bug| !has(bug)).collect();
    assert!(distorted.is_empty(), "no battery is to find {distorted:?}");
    let is_told = |bug: &Bug| OF_UNITS.iter().chain(&OF_TESTS).any(|(of, _)| of == bug);
    let untold: Vec<&Bug> =
        BY_STORY.iter().filter(|bug| !is_told(bug) || SURVIVORS.contains(bug)).collect();
    assert!(untold.is_empty(), "no story tells of {untold:?}");
    let twice = Bug::ALL.iter().enumerate().find(|(n, bug)| Bug::ALL[..*n].contains(bug));
    assert!(twice.is_none() && Bug::ALL.len() >= 60, "{twice:?}");
}

#[test]
fn a_drive_without_a_bug_is_clean() {
    for seed in 0..50 {
        run_case(seed).unwrap();
    }
}

/// Measures the share of planted bugs that are found, each within a minute.
#[test]
#[ignore = "takes minutes; make soak runs it"]
fn bugs_are_found_afresh() {
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |n| n.parse().expect("a number"))
    };
    let (from, seconds) = (number("VPASS_SEED", 1_000_000), number("VPASS_SECONDS", 60));
    let named = std::env::var("VPASS_BUG").ok();
    for (who, mut wanted) in [("vpass check", by_check()), ("batteries", by_battery())] {
        wanted.retain(|wanted| {
            named
                .as_ref()
                .is_none_or(|name| name.split(',').any(|name| format!("{:?}", wanted.bug) == name))
        });
        let missed = on_all_cores(&wanted, |wanted| {
            let begun = Instant::now();
            let found = wanted.first(from, u64::MAX - from, Duration::from_secs(seconds));
            let said = found.map_or("not found".into(), |(seed, cards)| {
                format!("case {seed} ({cards}) after {:.1} s", begun.elapsed().as_secs_f64())
            });
            println!("{}: {said}", wanted.words());
            found.is_none().then(|| wanted.words())
        });
        let (planted, missed_count) = (wanted.len(), missed.len());
        println!(
            "{who}: {} of {planted} found within {seconds} s each; not found: {missed:?}",
            planted - missed_count
        );
        assert!(10 * missed_count <= planted, "fewer than nine in ten");
    }
}
