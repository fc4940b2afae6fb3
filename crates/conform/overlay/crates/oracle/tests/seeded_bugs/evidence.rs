//! Evidence about one bug: all findings of the oracle in the bug's recorded cases, and in random
//! drives of each kind. `make evidence` runs this test for each bug.

use vpass_drive::bugs::{Bug, Found};
use vpass_oracle::evidence::{Finding, collect};

use super::cases::Finder;

/// Random drives for all bugs, each with a number of cases.
const PANEL: [(Found, u64); 10] = [
    (Found::Check { case: 0, cards: "" }, 14),
    (Found::Acceleration { case: 0 }, 1),
    (parity("raid5"), 1),
    (parity("ppc"), 1),
    (parity("hc"), 1),
    (parity("pe-aware"), 1),
    (parity("da-raid5"), 1),
    (Found::Failures { of: "raid5", case: 0 }, 2),
    (Found::Failures { of: "da-raid5", case: 0 }, 1),
    (Found::Fluid { data: "tired", writes: true, case: 0 }, 1),
];

const fn parity(of: &'static str) -> Found {
    Found::Parity { of, refresh: None, case: 0, cards: "" }
}

#[test]
#[ignore = "make evidence runs it for each bug"]
fn all_findings_about_a_bug() {
    let name = std::env::var("VPASS_BUG").expect("the name of a bug");
    let bug = Bug::ALL.into_iter().find(|bug| format!("{bug:?}") == name).expect("a bug");
    std::panic::set_hook(Box::new(|_| {}));
    println!();
    let say = |by: Finder, case, findings: Vec<Finding>| {
        for Finding { kind, sentence } in findings {
            println!("finding\t{by} {case}\t{kind}\t{}", sentence.replace(['\n', '\t'], " "));
        }
    };
    for by in bug.record().found.iter().filter_map(|found| Finder::of(*found)) {
        say(by, by.case(), collect(|| by.run(by.case(), true, Some(bug)).map(|_| ())));
    }
    for (by, count) in PANEL.into_iter().filter_map(|(found, n)| Some((Finder::of(found)?, n))) {
        for case in 0..count {
            say(by, case, collect(|| by.run(case, false, Some(bug)).map(|_| ())));
        }
    }
}
