//! Tests of the numbers of a run.

use serde_json::Value;

use crate::common::{Room, argv, msr_reads, small_run, vpass};

/// Removes the times and the memory of the machine.
fn timeless(mut json: Value) -> Value {
    let simulation = json["simulation"].as_object_mut().unwrap();
    for key in ["wall_s", "requests_per_s", "peak_rss_bytes"] {
        assert!(simulation.remove(key).is_some_and(|v| v.is_number()), "{key}");
    }
    json
}

#[test]
fn one_unloaded_read_takes_what_its_parts_take() {
    let room = Room::new();
    let trace = room.file("a.csv", &msr_reads(&[0]).replace("4096", "16384"));
    let json = vpass(&["run", "--drive", "tiny", "--trace", &trace, "--json"]).json();
    let explained = vpass(&["explain", "--drive", "tiny", "--json"]).json();
    let (measured, exact) = (
        json["latency_us"]["read"]["mean"].as_f64().unwrap(),
        explained["read"][0]["total_us"].as_f64().unwrap(),
    );
    assert!((measured - exact).abs() < 1e-9, "{measured} {exact}");
}

#[test]
fn reading_what_was_never_written_moves_nothing() {
    let json = small_run(&["--set", "start.fill=0", "--json"]).json();
    assert_eq!(json["host"]["unmapped_read_pages"], 2000);
    for what in ["reads", "programs", "erases"] {
        let counts = json["flash"][what].as_object().unwrap();
        assert!(counts.values().all(|n| *n == 0), "{what}");
    }
}

#[test]
fn lost_data_exits_3_and_the_numbers_are_printed_all_the_same() {
    let hammer = "workload.footprint=0.01";
    let line = format!(
        "run --drive tiny --workload uniform-read --set workload.requests=3e5 --set {hammer}"
    );
    let args = argv(&line);
    let lossy = vpass(&[&args[..], &["--reclaim", "none", "--json"]].concat());
    assert_eq!(lossy.code, 3, "{}", lossy.stderr);
    let json = lossy.json();
    assert!(json["data_lost_pages"].as_u64().unwrap() > 0);
    assert_eq!(json["data_lost_pages"], json["oracle"]["lost_pages"]);
    assert_eq!(json["oracle"]["limit_violations"], 0, "every loss was reported");
    let safe = vpass(&[&args[..], &["--json"]].concat());
    assert_eq!(safe.code, 0, "{}", safe.stderr);
    let json = safe.json();
    assert_eq!(json["data_lost_pages"], 0);
    assert!(json["wear"]["read_bytes_until_worn"].as_f64().unwrap() > 0.0);
    let words = vpass(&args);
    assert!(
        words
            .stdout
            .contains("No data was lost. This run is too short to project the drive's life: "),
        "{}",
        words.stdout
    );
    assert!(!words.stdout.contains('\x1b'), "no colour in a pipe");
}

#[test]
fn passes_are_counted() {
    let json = small_run(&["--repeat", "3", "--json"]).json();
    assert_eq!((&json["passes"], &json["host"]["read_requests"]), (&3.into(), &6000.into()));
    assert!(json["stable"].is_null());
}

#[test]
fn until_stable_ends_when_the_results_no_longer_depend_on_the_length() {
    // GC is the only cause of erases, so the shares of the causes never change. Write amplification
    // settles only after many passes.
    let run = |more: &[&str]| {
        let args =
            argv("run --drive tiny --workload random-70-30 --gear untimed --oracle off --json");
        let sets = argv("--set workload.requests=40000 --set start.overwrite=0.2 --reclaim none");
        vpass(&[&args[..], &sets, more].concat()).json()
    };
    let amplification = |json: &Value| json["write_amplification"].as_f64().unwrap();
    let (stable, short, long) =
        (run(&["--until", "stable"]), run(&["--repeat", "3"]), run(&["--repeat", "300"]));
    assert_eq!(stable["stable"], true);
    assert!((6..100).contains(&stable["passes"].as_u64().unwrap()), "{}", stable["passes"]);
    let end = amplification(&long);
    let off = |json: &Value| (amplification(json) / end - 1.0).abs();
    assert!(
        off(&short) > 0.025 && off(&stable) < 0.01,
        "{} {} {end}",
        amplification(&short),
        amplification(&stable)
    );
}

#[test]
fn a_run_that_never_settles_says_so() {
    let quiet =
        small_run(&argv("--until stable --gear untimed --set workload.requests=10 --json")).json();
    assert_eq!(
        (&quiet["stable"], &quiet["passes"]),
        (&false.into(), &100.into()),
        "without erases nothing can be said"
    );
    let warning = quiet["warnings"][0].as_str().unwrap();
    assert!(warning.contains("had not settled after 100 passes"), "{warning}");
}

#[test]
fn however_closely_the_oracle_watches_the_drive_does_the_same() {
    let [off, on, full] = ["off", "on", "full"].map(|level| {
        let room = Room::new();
        let out = room.path("out");
        let mut run = timeless(
            small_run(&["--json", "--oracle", level, "--out", out.to_str().unwrap()]).json(),
        );
        let manifest: Value =
            serde_json::from_str(&std::fs::read_to_string(room.path("out/manifest.json")).unwrap())
                .unwrap();
        assert_eq!(
            (&manifest["oracle"], &manifest["oracle_level"]),
            (&Value::from(level != "off"), &Value::from(level))
        );
        let oracle = run.as_object_mut().unwrap().remove("oracle").unwrap();
        (oracle, run)
    });
    assert_eq!(off.0, Value::Null);
    assert_eq!(
        (&on.0["reads_checked"], &on.0["request_errors"]),
        (&off.1["host"]["read_pages"], &0.into())
    );
    assert_eq!(on, full);
    assert_eq!(off.1, on.1);
}

/// Reads of a block during the preparation of the drive count as its start reads. The results say
/// how many blocks therefore got no additional start reads.
#[test]
fn reads_from_before_the_run_that_were_not_given_are_told() {
    let told = |parity: &str| {
        let line = format!(
            "--set drive.capacity=512MiB --set drive.spare=0.5 --set parity.stripe=3 \
            --parity {parity}"
        );
        let drive = argv(&line);
        let start = ["--set", "start.reads=1000", "--set", "start.overwrite=0.2", "--json"];
        small_run(&[&drive[..], &start].concat()).json()["warnings"].to_string()
    };
    assert!(!told("none").contains("start.reads"));
    let raid5 = told("raid5");
    assert!(
        raid5.contains("start.reads had no effect in ") && raid5.contains(" written blocks. "),
        "{raid5}"
    );
}

#[test]
fn what_warms_up_is_not_counted_and_the_rest_is() {
    let run = |more: &[&str]| {
        let args =
            argv("run --drive tiny --workload uniform-read --set workload.requests=50000 --json");
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

#[test]
fn a_warm_up_goes_over_passes_where_they_repeat_anyway() {
    let args =
        argv("run --drive tiny --workload uniform-read --set workload.requests=50000 --json");
    let done = vpass(
        &[&args[..], &["--warm-up", "120000", "--until", "stable", "--set", "disturb.model=none"]]
            .concat(),
    );
    assert_eq!(done.code, 0, "{}", done.stderr);
    // After the warm-up, 30,000 requests of the third pass are left. Without an erase, the results
    // do not settle in 100 passes.
    assert_eq!(done.json()["host"]["read_requests"], 30_000 + 99 * 50_000);
}
