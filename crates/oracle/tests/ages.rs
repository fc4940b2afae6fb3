//! Random drives whose data ages. The oracle's clocks must agree with the drive's refresh.

use std::env;

use vpass_oracle::swarm::Case;

/// Runs `VPASS_CASES` cases, the first ones from `VPASS_FROM` on.
#[test]
fn random_drives_keep_what_refresh_promises() {
    let number = |name: &str, otherwise: u64| {
        env::var(name).map_or(otherwise, |n| n.parse().expect("a number"))
    };
    let cases = (number("VPASS_FROM", 1)..).map(Case::new).filter(|case| case.ages()).take(number(
        "VPASS_CASES",
        40,
    )
        as usize);
    let (mut refreshed, mut findings) = (0, vec![]);
    for case in cases {
        match case.run() {
            Ok(summary) => refreshed += u32::from(summary.what.contains("refresh block")),
            Err(said) => findings.push(said),
        }
    }
    assert!(findings.is_empty(), "{} findings: {findings:#?}", findings.len());
    assert!(refreshed > 5, "{refreshed}");
}
