//! Random drives on which events begin during other events. Drive and oracle must agree about them.

use std::env;

use vpass_oracle::swarm::Case;

/// Runs `VPASS_CASES` cases, the first ones from `VPASS_FROM` on.
#[test]
fn events_within_others_are_seen_through() {
    let number = |name: &str, otherwise: u64| {
        env::var(name).map_or(otherwise, |n| n.parse().expect("a number"))
    };
    let cases = (number("VPASS_FROM", 200)..)
        .filter(|seed| Case::new(*seed).is_nested())
        .take(number("VPASS_CASES", 25) as usize);
    let (mut played, mut findings) = (0, vec![]);
    for seed in cases {
        match Case::new(seed).run() {
            Ok(summary) => played += u32::from(summary.report.is_some()),
            Err(said) => findings.push(format!("{seed}: {said}")),
        }
    }
    assert!(findings.is_empty(), "{} findings: {findings:#?}", findings.len());
    assert!(played > 5, "{played} were not refused");
}
