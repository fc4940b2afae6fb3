//! Checks that every seeded bug is found by the tests that must find it. A checker that never fails
//! cannot be trusted.
//!
//! Each bug is first tried on its recorded case, with the techniques that the case had then. So a
//! new technique in a list changes no record. If cases have changed since, the search goes on with
//! later cases, and the test prints the case to record. `make soak` searches for all bugs again,
//! for a minute on one core each (`VPASS_BUG=NAME,..` for some).
#![cfg(feature = "seeded-bugs")]
#![expect(clippy::print_stdout, reason = "says which case to record, and what was found")]

#[path = "seeded_bugs/cases.rs"]
mod cases;
#[path = "seeded_bugs/evidence.rs"]
mod evidence;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cases::Finder;
use vpass_drive::bugs::{Bug, Found};
use vpass_oracle::swarm::{Case, run_case};
use vpass_techniques::card;

/// Largest number of cases to try if the recorded one no longer shows the bug.
const WITHIN: u64 = 3000;
/// Distorted bounds that the battery of every technique must notice.
const ALWAYS: [Bug; 3] = [Bug::AlphaOne, Bug::BestGroup, Bug::LateReadsZero];
/// Techniques that a distorted bound does not affect. The flash of `ideal` has alpha 1 and one kind
/// of wordline.
const UNTOUCHED: [(Bug, &str); 2] = [(Bug::AlphaOne, "ideal"), (Bug::BestGroup, "ideal")];

/// A bug, with the random drives that must find it.
#[derive(Clone, Copy)]
struct Wanted {
    bug: Bug,
    by: Finder,
}

impl Wanted {
    /// Returns the techniques of a case that shows the bug, with a finding that the drive without
    /// the bug does not give.
    fn shows(&self, case: u64, is_recorded: bool) -> Option<String> {
        let run = |bug| self.by.run(case, is_recorded, bug);
        let shows = run(Some(self.bug)).is_err_and(|said| self.counts(&said));
        run(None).ok().filter(|_| shows)
    }

    /// Returns whether a finding counts for the bug. It must come from the oracle, unless the drive
    /// always stops first, and contain the right words.
    fn counts(&self, said: &str) -> bool {
        let record = self.bug.record();
        let in_words =
            record.words.is_empty() || record.words.iter().any(|word| said.contains(word));
        in_words && (record.stops || !said.contains("the drive panicked"))
    }

    /// Returns the first case from `from` on that shows the bug, with its techniques.
    fn first(&self, from: u64, within: u64, time: Duration) -> Option<(u64, String)> {
        let begun = Instant::now();
        let mut cases = (from..from + within).take_while(|_| begun.elapsed() < time);
        cases.find_map(|case| Some((case, self.shows(case, false)?)))
    }
}

/// Returns the bugs with the random drives that must find them. All techniques with a guarantee
/// must notice the bounds of [`ALWAYS`].
fn wanted() -> Vec<Wanted> {
    let of = |bug: Bug| {
        let finders = bug.record().found.iter().filter_map(|found| Finder::of(*found));
        finders.map(move |by| Wanted { bug, by })
    };
    let mut all: Vec<Wanted> = Bug::ALL.into_iter().flat_map(of).collect();
    for bug in ALWAYS {
        for by in vpass_techniques::all()
            .reclaim
            .iter()
            .filter(|t| !t.may_lose())
            .map(|technique| technique.name)
        {
            let is_of = |found: &Found| matches!(found, Found::Battery { of, .. } if *of == by);
            if !bug.record().found.iter().any(is_of) && !UNTOUCHED.contains(&(bug, by)) {
                all.push(Wanted { bug, by: Finder::battery(by) });
            }
        }
    }
    all
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

#[test]
fn every_bug_is_found_by_random_drives() {
    let missed = on_all_cores(&wanted(), |wanted| {
        let Wanted { bug, by } = wanted;
        if by.is_recorded() && wanted.shows(by.case(), true).is_some() {
            return None;
        }
        let Some((case, cards)) = wanted.first(by.case(), WITHIN, Duration::from_secs(15)) else {
            println!("{bug:?}: not found, {{ {by} }}");
            return Some(format!("{bug:?} by {by}"));
        };
        println!("{bug:?}: {{ {by}, case = {case}, cards = \"{cards}\" }}");
        None
    });
    assert!(missed.is_empty(), "not found: {missed:?}");
}

/// The oracle finds a merge that destroys a version on which delayed parity depends, under
/// techniques that give wordlines guard levels. It also finds a merge that leaves such a version in
/// a wordline without guard levels. If cases have changed since, a later case shows it.
#[test]
fn guard_levels_are_found_that_destroy_what_parity_counts() {
    const RECORDED: [(&str, u64, &str); 3] = [
        ("ipr-wl", 174, "is removed by a merge"),
        ("ipr", 323, "is removed by a merge"),
        ("ipr", 109, "has no guard levels"),
    ];
    let parity = card("ppc");
    for (name, first, says) in RECORDED {
        let reclaim = card(name);
        let case = |seed| Case::new(seed).under(reclaim).striped(parity);
        let shows = |seed: &u64| {
            case(*seed).with(Bug::KeptMergedEarly).run().is_err_and(|said| said.contains(says))
        };
        let found = (first..first + 300).find(shows);
        assert!(found.is_some_and(|seed| case(seed).run().is_ok()), "{name}, {says}: {found:?}");
    }
}

#[test]
fn a_drive_without_a_bug_is_clean() {
    for seed in 0..50 {
        run_case(seed).unwrap();
    }
}

/// Measures the share of planted bugs that are found, each within a minute. Random drives also look
/// for bugs that they have never found.
#[test]
#[ignore = "takes minutes; make soak runs it"]
fn bugs_are_found_afresh() {
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |n| n.parse().expect("a number"))
    };
    let (from, seconds) = (number("VPASS_SEED", 1_000_000), number("VPASS_SECONDS", 60));
    let mut wanted = wanted();
    let is_wanted = |bug: &Bug| wanted.iter().any(|wanted| wanted.bug == *bug);
    let others: Vec<Bug> = Bug::ALL.into_iter().filter(|bug| !is_wanted(bug)).collect();
    wanted.extend(others.into_iter().map(|bug| Wanted { bug, by: Finder::CHECK }));
    if let Ok(names) = std::env::var("VPASS_BUG") {
        wanted.retain(|wanted| names.split(',').any(|name| format!("{:?}", wanted.bug) == name));
    }
    let missed = on_all_cores(&wanted, |wanted| {
        let begun = Instant::now();
        let found = wanted.first(from, u64::MAX - from, Duration::from_secs(seconds));
        let said = found.as_ref().map_or("not found".into(), |(case, cards)| {
            format!("case {case} ({cards}) after {:.1} s", begun.elapsed().as_secs_f64())
        });
        println!("{:?} by {}: {said}", wanted.bug, wanted.by);
        found.is_none().then(|| format!("{:?}", wanted.bug))
    });
    let (planted, missed_count) = (wanted.len(), missed.len());
    println!("{} of {planted} found; not found: {missed:?}", planted - missed_count);
    assert!(10 * missed_count <= planted, "fewer than nine in ten");
}
