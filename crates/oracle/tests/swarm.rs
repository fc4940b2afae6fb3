//! Random cases are clean.

use vpass_oracle::swarm::run_case;

#[test]
fn random_cases_are_clean() {
    let number =
        |name: &str, default: u64| std::env::var(name).map_or(default, |n| n.parse().unwrap());
    let (first, cases) = (number("VPASS_SEED", 0), number("VPASS_CASES", 120));
    let failed: Vec<String> = (first..first + cases)
        .filter_map(|seed| {
            run_case(seed).err().map(|e| format!("vpass check --seed {seed}\n  {e}"))
        })
        .collect();
    assert!(failed.is_empty(), "{} of {cases} cases failed:\n{}", failed.len(), failed.join("\n"));
}
