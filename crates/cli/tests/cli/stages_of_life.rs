//! Test of a drive that passes through the stages of its life under load.

use serde_json::Value;

use crate::common::{Room, vpass};

const RECIPE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../papers/da-raid5-2013/life.toml");

/// One drive begins without worn blocks and reaches the end of its life, under the host's load and
/// the oracle. The stages follow each other. In the last stage, all stripes get parity while the
/// host continues.
#[test]
fn one_drive_lives_through_the_stages_of_da_raid5() {
    let room = Room::new();
    let out = room.path("life");
    let done = vpass(&["paper", RECIPE, "--out", out.to_str().unwrap()]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let runs: Value =
        serde_json::from_str(&std::fs::read_to_string(out.join("runs.json")).unwrap()).unwrap();
    let summary = &runs[0]["summary"];
    assert_eq!(
        (&summary["data_lost_pages"], &summary["oracle"]["findings"]),
        (&0.into(), &Value::Array(vec![]))
    );
    let life = &summary["parity"]["by_wear"]["life"];
    let stages = life["stages"].as_array().unwrap();
    assert_eq!(
        stages.iter().map(|stage| stage["stage"].as_u64().unwrap()).collect::<Vec<_>>(),
        [1, 2, 3]
    );
    let sum = |key: &str| stages.iter().map(|stage| stage[key].as_u64().unwrap()).sum::<u64>();
    for key in ["read_requests", "write_requests", "write_pages"] {
        assert_eq!(sum(key), summary["host"][key].as_u64().unwrap(), "{key}");
    }
    let of_cause = |what: &str, cause: &str| {
        stages.iter().map(|stage| stage[what][cause].as_u64().unwrap()).collect::<Vec<_>>()
    };
    for cause in ["host", "gc", "parity"] {
        assert_eq!(
            of_cause("programs", cause).iter().sum::<u64>(),
            summary["flash"]["programs"][cause].as_u64().unwrap(),
            "{cause}"
        );
    }
    let parity = of_cause("programs", "parity");
    assert!(parity[0] == 0 && parity[1] > 0 && parity[2] > parity[1], "{parity:?}");
    for (stage, began) in stages[1..].iter().zip(life["began_s"].as_array().unwrap()) {
        assert_eq!(&stage["from_s"], began);
    }
    let protected: Vec<u64> =
        stages.iter().map(|stage| stage["protected_stripes"].as_u64().unwrap()).collect();
    // The second stage ends when more than 448 stripes have a page in a worn block.
    assert!(
        protected[0] == 0
            && (400..500).contains(&protected[1])
            && protected[2] == summary["parity"]["parity_pages"].as_u64().unwrap(),
        "{protected:?}"
    );
    // Each stripe needs 8 x 400 us of reads and 3.3 ms for its parity, and nine dies share this
    // work.
    let formed_in = life["all_seen_to_s"].as_f64().unwrap() - life["began_s"][1].as_f64().unwrap();
    let least = (protected[2] - protected[1]) as f64 * 6.5e-3 / 9.0;
    assert!(
        formed_in > least
            && stages[2]["to_s"].as_f64().unwrap() > life["all_seen_to_s"].as_f64().unwrap(),
        "{formed_in} s, {least} s"
    );
    let reads = summary["latency_us"]["read"]["mean"].as_f64().unwrap()
        * summary["host"]["read_requests"].as_f64().unwrap();
    let of_stages: f64 = stages
        .iter()
        .map(|stage| {
            stage["latency_us"]["read"]["mean"].as_f64().unwrap()
                * stage["read_requests"].as_f64().unwrap()
        })
        .sum();
    assert!(
        (of_stages / reads - 1.0).abs() < 1e-3,
        "requests under way when a stage begins count where they are complete: {of_stages} {reads}"
    );
}
