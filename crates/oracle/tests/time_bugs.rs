//! Temporary.
#![cfg(feature = "seeded-bugs")]
use vpass_core::bugs::Bug;
use vpass_oracle::swarm::run_case_with;
#[test]
fn find() {
    std::panic::set_hook(Box::new(|_| {}));
    for bug in &Bug::ALL[34..] {
        let found: Vec<_> = (0..400).filter_map(|seed| run_case_with(seed, *bug).err().map(|e| (seed, e))).collect();
        let by_oracle = found.iter().find(|(_, e)| !e.contains("the drive stopped"));
        println!("{bug:?}: {} of 400; {:?}", found.len(), by_oracle.map(|(s, e)| (s, e.split(": ").skip(1).collect::<Vec<_>>().join(": ").chars().take(200).collect::<String>())));
    }
}
