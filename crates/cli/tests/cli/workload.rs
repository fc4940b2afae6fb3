//! Tests of the labels of results from a generator, and of workload files with a wrong table.

use serde_json::Value;

use crate::common::{Room, argv, msr_reads, small_run, vpass};

#[test]
fn results_say_that_a_workload_is_generated() {
    let room = Room::new();
    let out = room.text("out");
    let text = small_run(&["--out", &out]).stdout;
    assert!(text.starts_with(&format!(
        "vpass {}: drive tiny, workload uniform-read (generated)\n",
        env!("CARGO_PKG_VERSION")
    )));
    for name in ["summary.json", "manifest.json"] {
        let json: Value =
            serde_json::from_slice(&std::fs::read(room.path("out").join(name)).unwrap()).unwrap();
        assert_eq!(json["workload_generated"], true, "{name}");
        assert_eq!(json["workload_source"], "generated", "{name}");
    }
    let compared = argv(
        "compare --drive tiny --workload uniform-read --set workload.requests=1k --reclaim none \
        --json",
    );
    assert_eq!(vpass(&compared).json()["workload_generated"], true);
    let trace = room.file("a.csv", &msr_reads(&[0]));
    let json = vpass(&["run", "--drive", "tiny", "--trace", &trace, "--json"]).json();
    assert_eq!(
        (&json["workload_generated"], &json["workload_source"]),
        (&false.into(), &"trace".into())
    );
}
