//! Random drives whose data ages: are the oracle's clocks and the drive's refresh of one mind?

use std::env;

use vpass_oracle::swarm::Case;

/// The first cases from `VPASS_FROM` on, `VPASS_CASES` of them.
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
