//! Bytes of random drives against a plain array: each read returns the array's bytes, or an error
//! exactly where the oracle says that the data is lost.

use crate::common::cases::{REQUESTS, findings, live};
use crate::common::host::Host;

/// Number of drives; `VPASS_CASES` sets another number.
const CASES: u64 = 200;

/// Later case, in which GC copies the parity of a stripe that has partial parity.
const LATER: u64 = 346;

/// Result of a case.
#[derive(Default)]
struct Seen {
    drives: u64,
    reads: u64,
    errors: u64,
}

fn play(seed: u64) -> Option<Seen> {
    let mut host = Host::new(live(seed)?, seed, 1);
    host.run(REQUESTS);
    host.read_all();
    let (reads, errors, stopped) = (host.reads, host.errors, host.stopped);
    let findings = findings(host.actor);
    assert!(stopped || findings.is_empty(), "seed {seed}: {}", findings.join("; "));
    Some(Seen { drives: 1, reads, errors })
}

#[test]
fn each_read_returns_the_bytes_that_were_written() {
    let cases = std::env::var("VPASS_CASES").map_or(CASES, |n| n.parse().expect("a number"));
    let from = std::env::var("VPASS_SEED").map_or(0, |n| n.parse().expect("a number"));
    let seeds = (from..from + cases).chain([LATER]);
    let halves = [0, 1].map(|half| seeds.clone().filter(move |seed| seed % 2 == half));
    let seen = std::thread::scope(|scope| {
        let threads = halves.map(|half| {
            scope.spawn(move || {
                half.filter_map(play).fold(Seen::default(), |sum, seen| Seen {
                    drives: sum.drives + seen.drives,
                    reads: sum.reads + seen.reads,
                    errors: sum.errors + seen.errors,
                })
            })
        });
        threads.map(|thread| thread.join().expect("a case that does not panic"))
    });
    let [drives, reads, errors] = [|s: &Seen| s.drives, |s: &Seen| s.reads, |s: &Seen| s.errors]
        .map(|of| seen.iter().map(of).sum::<u64>());
    assert!(drives * 2 > cases, "{drives} of {cases} drives could be made");
    assert!(reads > 100 * drives && errors > 0, "{reads} reads, {errors} errors");
}
