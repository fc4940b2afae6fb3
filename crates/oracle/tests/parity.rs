//! Random drives with parity, under the oracle: it adds up what physically lies where, and holds each page of parity against it.

use vpass_core::slots::parity::{NO_PARITY, PARITY};
use vpass_oracle::swarm::Case;

/// Cases of each technique.
const CASES: u64 = 300;

#[test]
fn parity_is_what_it_should_be() {
    let cases = std::env::var("VPASS_CASES").map_or(CASES, |n| n.parse().expect("a number"));
    let from = std::env::var("VPASS_SEED").map_or(0, |n| n.parse().expect("a number"));
    let mut wrong = vec![];
    for technique in PARITY.iter().filter(|t| t.name != NO_PARITY) {
        wrong.extend((from..from + cases).filter_map(|seed| {
            let said = Case::new(seed).striped(technique).run().err()?;
            Some(format!("{} {seed}: {said}", technique.name))
        }));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
