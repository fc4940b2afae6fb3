//! Recipes of papers, and runs that are warmed up.

use crate::common::{Room, vpass};

/// The folders of papers/.
fn papers() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers")
}

#[test]
fn a_small_straw_runs_and_no_technique_loses_data() {
    let room = Room::new();
    let out = room.path("straw");
    let done = vpass(&["paper", papers().join("straw-2024/small.toml").to_str().unwrap(), "--out", out.to_str().unwrap()]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(!done.stdout.contains("data lost"), "{}", done.stdout);
    let copies = std::fs::read_to_string(out.join("fig8-copies.csv")).unwrap();
    let mean = |reclaim: &str| -> f64 {
        let row =
            copies.lines().find(|l| l.starts_with(&format!("2000,mean,{reclaim},"))).unwrap_or_else(|| panic!("{reclaim} in {copies}"));
        row.rsplit(',').next().unwrap().parse().unwrap()
    };
    assert!((mean("block") - 1.0).abs() < 1e-9);
    // Exact counters copy least, estimated ones more, the baseline most.
    assert!(mean("straw-wl") <= mean("straw-ss") && mean("straw-ss") < mean("page-type") && mean("page-type") < 1.0, "{copies}");
    for name in ["fig1b-layers", "fig4-mixes", "fig5-parameters", "fig9-p99_9", "comparison"] {
        let csv = std::fs::read_to_string(out.join(format!("{name}.csv"))).unwrap();
        assert!(csv.lines().count() > usize::from(name != "comparison"), "{name}");
    }
}

#[test]
fn the_full_recipes_and_what_they_expect_are_read() {
    // The first thing that is wrong after everything was read: the folder to write to.
    let done = vpass(&["paper", papers().join("straw-2024").to_str().unwrap(), "--out", "/proc/nowhere/straw"]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("cannot be written"), "{}", done.stderr);
}

#[test]
fn a_wrong_recipe_is_refused_with_its_line() {
    let room = Room::new();
    let file = room.file("run.toml", "title = \"x\"\ndrive = \"tiny\"\nfigures = []\n");
    let done = vpass(&["paper", &file]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("line 3") && done.stderr.contains("figures"), "{}", done.stderr);
}

#[test]
fn what_warms_up_is_not_counted_and_the_rest_is() {
    let run = |more: &[&str]| {
        let args = ["run", "--drive", "tiny", "--workload", "uniform-read", "--set", "workload.requests=50000", "--json"];
        vpass(&[&args[..], more].concat())
    };
    let done = run(&["--warm-up", "20000"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(done.json()["host"]["read_requests"], 30_000);
    assert_eq!(run(&[]).json()["host"]["read_requests"], 50_000);
    let done = run(&["--warm-up", "50001"]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("only 50000 requests"), "{}", done.stderr);
}
