//! Tests of progress: a run reports its progress to the caller, and the caller may end the run.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use vpass_lab::plan::{Chosen, RunPlan};
use vpass_lab::progress::{Progress, unwatched};
use vpass_lab::run::execute;
use vpass_lab::setup::{Base, Gear, Named, Setup};

/// Receiver that counts the reported requests, and ends the run after a number of requests.
struct Waiting {
    most: u64,
    done: AtomicU64,
    deaf: AtomicI64,
}

impl Progress for Waiting {
    fn advance(&self, done: u64) -> bool {
        self.done.fetch_add(done, Ordering::Relaxed) + done < self.most
    }

    fn listens(&self, listens: bool) {
        self.deaf.fetch_add(if listens { -1 } else { 1 }, Ordering::Relaxed);
    }
}

#[test]
fn a_caller_hears_of_the_requests_and_may_end_the_run() {
    let base = Base { set: vec!["workload.requests=50000".into()], ..Base::new("tiny") };
    let setup =
        Setup { warm_up: 10_000, ..Setup::new(base, Named::Workload("uniform-read".into())) };
    for gear in [Gear::Timed, Gear::Untimed] {
        let plan = RunPlan { gear, ..RunPlan::new(&setup, Chosen::default(), &unwatched).unwrap() };
        let run = |most| {
            let waiting = Waiting { most, done: AtomicU64::new(0), deaf: AtomicI64::new(0) };
            let outcome =
                execute(&plan, &waiting).map(|outcome| outcome.summary.host.read_requests);
            assert_eq!(waiting.deaf.into_inner(), 0, "it listens again");
            (outcome, waiting.done.into_inner())
        };
        let (outcome, done) = run(u64::MAX);
        // The last report does not include the requests that are in progress.
        assert!(outcome == Ok(40_000) && (49_900..=50_000).contains(&done), "{done}");
        for most in [0, 5_000, 30_000] {
            let (outcome, done) = run(most);
            assert!(
                outcome.unwrap_err().is_interruption() && done < most + 5_000,
                "{done} of {most}"
            );
        }
    }
}
