//! Random drives whose data has error rates. Drive and oracle must agree about the first level of a
//! read and about the effect of chance.

use std::env;

use vpass_oracle::swarm::Case;

/// Runs `VPASS_CASES` cases of each kind, the first ones from `VPASS_FROM` on.
#[test]
fn reads_of_tired_data_take_the_retries_that_they_may() {
    let number = |name: &str, otherwise: u64| {
        env::var(name).map_or(otherwise, |n| n.parse().expect("a number"))
    };
    let (from, cases) = (number("VPASS_FROM", 1), number("VPASS_CASES", 25) as usize);
    for of in [Case::keeps_levels, Case::is_noisy] {
        let findings: Vec<_> = (from..)
            .filter(|seed| of(Case::new(*seed)))
            .take(cases)
            .filter_map(|seed| Case::new(seed).run().err())
            .collect();
        assert!(findings.is_empty(), "{} findings: {findings:#?}", findings.len());
    }
}
