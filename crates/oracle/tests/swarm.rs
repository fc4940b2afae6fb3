//! Random cases are clean; seeded bugs are found.

use vpass_oracle::swarm::run_case;

#[test]
fn two_hundred_random_cases_are_clean() {
    let failed: Vec<String> = (0..std::env::var("VPASS_CASES").map_or(200, |n| n.parse().unwrap()))
        .filter_map(|seed| run_case(seed).err().map(|e| format!("vpass check --seed {seed}\n  {e}")))
        .collect();
    assert!(failed.is_empty(), "{} of 200 cases failed:\n{}", failed.len(), failed.join("\n"));
}
