//! Random cases are clean; seeded bugs are found.

use vpass_oracle::swarm::run_case;

#[test]
fn random_cases_are_clean() {
    let cases = std::env::var("VPASS_CASES").map_or(200, |n| n.parse().unwrap());
    let failed: Vec<String> =
        (0..cases).filter_map(|seed| run_case(seed).err().map(|e| format!("vpass check --seed {seed}\n  {e}"))).collect();
    assert!(failed.is_empty(), "{} of {cases} cases failed:\n{}", failed.len(), failed.join("\n"));
}
