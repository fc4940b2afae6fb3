//! Tests of workloads made from statistics: `vpass workload fit`, and the labels of results from a
//! generator.

use serde_json::Value;

use crate::common::{Room, msr_reads, small_run, vpass};

const OFFICE_DAY: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/statistics/office-day.toml");
const PGBENCH: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/traces/pgbench-ext4.csv.zst");

/// Runs the statistics that come with vpass, at a hundredth of their size.
fn run_office_day(more: &[&str]) -> crate::common::Done {
    let args = [
        "run",
        "--drive",
        "tiny",
        "--workload",
        OFFICE_DAY,
        "--set",
        "statistics.scale=0.01",
        "--gear",
        "untimed",
    ];
    vpass(&[&args, more].concat())
}

#[test]
fn a_table_of_ours_fits() {
    let done = vpass(&["workload", "fit", "--workload", OFFICE_DAY, "--scale", "0.1"]);
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    for words in [
        "workload generated from the statistics of office-day at scale 0.1",
        "read popularity p1 to p25",
        "All 46 statistics are met within 2 %. The largest error is 0.",
        "No file was written; --out FILE writes the workload into a file.",
    ] {
        assert!(done.stdout.contains(words), "`{words}` in: {}", done.stdout);
    }
    let json = vpass(&["workload", "fit", "--workload", OFFICE_DAY, "--json"]).json();
    assert_eq!(
        (&json["workload_generated"], &json["missed"], &json["scale"]),
        (&true.into(), &0.into(), &1.0.into())
    );
    assert_eq!(json["statistics"].as_array().unwrap().len(), 46);
    let first = &json["statistics"][0];
    assert_eq!(
        (&first["name"], &first["target"], &first["generated"]),
        (&"pages read or written".into(), &215e3.into(), &215e3.into())
    );
    assert!(json["worst_error_percent"].as_f64().unwrap() < 2.0);
}

#[test]
fn a_fit_that_misses_is_no_success_and_names_a_scale_that_holds() {
    let room = Room::new();
    let out = room.text("day.toml");
    // The day has 310 reads in 24 windows. Whole requests cannot be divided that finely.
    let fit = |scale: &str, more: &[&str]| {
        vpass(&[&["workload", "fit", "--workload", OFFICE_DAY, "--scale", scale], more].concat())
    };
    let done = fit("0.001", &["--out", &out]);
    assert_eq!(done.code, 1, "{}", done.stderr);
    assert!(done.stdout.contains(" above 2 %; the largest error is"), "{}", done.stdout);
    assert!(
        done.stderr.contains(" is the smallest of the tried scales (0.0012, 0.0015")
            && done.stderr.contains("; nothing was written"),
        "{}",
        done.stderr
    );
    assert_eq!(room.names(), [""; 0], "no file looks like success");
    let refused = fit("0.001", &["--json"]);
    let json: Value = serde_json::from_str(&refused.stdout).unwrap();
    assert_eq!((refused.code, &json["tolerance_percent"]), (1, &2.0.into()));
    // The scale that the message names meets all statistics, and the scales tried before do not.
    let scale = json["smallest_scale"].as_f64().unwrap().to_string();
    assert!(
        done.stderr.contains(&format!("--scale {scale} is the smallest of the tried scales (")),
        "{}",
        done.stderr
    );
    let holds = fit(&scale, &["--json"]).json();
    assert_eq!(
        (&holds["missed"], &holds["smallest_scale"], &holds["scales_tried"]),
        (&0.into(), &Value::Null, &Value::Array(vec![]))
    );
    for tried in json["scales_tried"].as_array().unwrap().split_last().unwrap().1 {
        assert_eq!(fit(&tried.to_string(), &["--json"]).code, 1, "{tried}");
    }
    // With `--tolerance`, the fit is accepted, and the file says how large its errors are.
    let (_, advised) = done.stderr.split_once("--tolerance ").unwrap();
    let tolerance = advised.split(' ').next().unwrap();
    let taken = fit("0.001", &["--out", &out, "--tolerance", tolerance]);
    assert_eq!(taken.code, 0, "{}", taken.stderr);
    assert!(std::fs::read_to_string(&out).unwrap().contains("; at scale 0.001, "));
    fit("0.001", &["--tolerance", "-1"]).refuses(2, &["a percentage of 0 or more"]);
}

#[test]
fn a_scale_too_small_for_any_plan_names_one_that_holds() {
    let done = vpass(&["workload", "fit", "--workload", OFFICE_DAY, "--scale", "0.000001"]);
    done.refuses(2, &["is the smallest of the tried scales that meets all statistics"]);
}

#[test]
fn a_trace_becomes_a_workload_that_runs() {
    let room = Room::new();
    let out = room.text("pgbench.toml");
    let done = vpass(&["workload", "fit", "--trace", PGBENCH, "--out", &out]);
    assert!(
        done.stdout.contains("All 98 statistics are met within 2 %"),
        "{} {}",
        done.stdout,
        done.stderr
    );
    assert!(
        done.stdout
            .contains("pgbench.toml is written; run it with: vpass run --drive DRIVE --workload"),
        "{}",
        done.stdout
    );
    assert_eq!(room.names(), ["pgbench.toml"]);
    let json =
        vpass(&["run", "--drive", "tiny", "--workload", &out, "--gear", "untimed", "--json"])
            .json();
    assert_eq!(json["workload_source"], "generated from the statistics of pgbench-ext4");
    let again = || vpass(&["workload", "fit", "--trace", PGBENCH, "--out", &out]);
    again().refuses(2, &["pgbench.toml exists; --force replaces it"]);
}

#[test]
fn results_say_that_a_workload_is_generated() {
    let room = Room::new();
    let out = room.text("out");
    let text = run_office_day(&["--out", &out]).stdout;
    let words = "office-day.toml (generated from the statistics of office-day at scale 0.01)\n";
    assert!(text.lines().next().is_some_and(|line| format!("{line}\n").ends_with(words)), "{text}");
    for name in ["summary.json", "manifest.json"] {
        let json: Value =
            serde_json::from_slice(&std::fs::read(room.path("out").join(name)).unwrap()).unwrap();
        assert_eq!(json["workload_generated"], true, "{name}");
        assert_eq!(
            json["workload_source"], "generated from the statistics of office-day at scale 0.01",
            "{name}"
        );
    }
    let manifest: Value =
        serde_json::from_slice(&std::fs::read(room.path("out").join("manifest.json")).unwrap())
            .unwrap();
    assert_eq!(manifest["workload_configuration"]["statistics"]["scale"], 0.01);
    assert!(small_run(&[]).stdout.starts_with(&format!(
        "vpass {}: drive tiny, workload uniform-read (generated)\n",
        env!("CARGO_PKG_VERSION")
    )));
    let compared = [
        "compare",
        "--drive",
        "tiny",
        "--workload",
        OFFICE_DAY,
        "--set",
        "statistics.scale=0.01",
        "--reclaim",
        "none",
        "--json",
    ];
    assert_eq!(vpass(&compared).json()["workload_generated"], true);
    let trace = room.file("a.csv", &msr_reads(&[0]));
    let json = vpass(&["run", "--drive", "tiny", "--trace", &trace, "--json"]).json();
    assert_eq!(
        (&json["workload_generated"], &json["workload_source"]),
        (&false.into(), &"trace".into())
    );
}

#[test]
fn a_table_of_statistics_takes_set_and_queue_depth() {
    let requests = |more: &[&str]| {
        run_office_day(&[more, &["--json"]].concat()).json()["host"]["read_requests"]
            .as_u64()
            .unwrap()
    };
    assert!((19_000..21_000).contains(&requests(&["--set", "statistics.scale=0.02"])));
    let timed = [
        "run",
        "--drive",
        "tiny",
        "--workload",
        OFFICE_DAY,
        "--set",
        "statistics.scale=0.01",
        "--json",
        "--queue-depth",
        "8",
    ];
    assert!(
        vpass(&timed).json()["simulation"]["simulated_s"].as_f64().unwrap() < 3600.0,
        "as fast as the drive can"
    );
    run_office_day(&["--set", "workload.requests=3"])
        .refuses(2, &["--set workload.requests=3", "holds [statistics], not [workload]"]);
    small_run(&["--set", "statistics.scale=0.5"])
        .refuses(2, &["uniform-read holds [workload], not [statistics]"]);
    run_office_day(&["--set", "statistics.scales=3"])
        .refuses(2, &["unknown key `statistics.scales`", "did you mean `statistics.scale`?"]);
    run_office_day(&["--set", "drive.capacity=256MiB", "--set", "statistics.scale=1.0"])
        .refuses(2, &["use statistics.scale = 0.3"]);
    let shown = vpass(&["show", "workload", OFFICE_DAY, "--set", "statistics.speed=2.0"]).stdout;
    assert!(shown.contains("speed = 2.0\n"), "{shown}");
}

#[test]
fn what_is_wrong_with_a_table_is_said_with_its_line() {
    let room = Room::new();
    let text = std::fs::read_to_string(OFFICE_DAY).unwrap();
    let refused = |from: &str, to: &str, words: &[&str]| {
        assert!(text.contains(from));
        let file = room.file("bad.toml", &text.replace(from, to));
        vpass(&["run", "--drive", "tiny", "--workload", &file]).refuses(2, words);
    };
    refused(
        "requests = 1000000",
        "reqests = 1",
        &[
            "unknown key `statistics.reads.reqests`",
            "bad.toml line 27",
            "did you mean `statistics.reads.requests`?",
        ],
    );
    refused("requests = 1000000", "requests = -1", &["bad.toml line 27", "-1"]);
    refused(
        "requests = 1000000",
        "requests = nan",
        &["bad.toml line 27", "statistics.reads.requests is nan; it must be a whole number"],
    );
    refused(
        "[statistics.reads]",
        "[statistics.red]",
        &["unknown key `statistics.red`", "did you mean `statistics.reads`?"],
    );
    refused(
        "[statistics.reads]",
        "[workload]\n[statistics.reads]",
        &["bad.toml: [workload] and [statistics] exclude each other"],
    );
    refused(
        "bytes = 12400000000",
        "bytes = 5",
        &["statistics.reads.bytes = 5 is impossible for 1000000 requests"],
    );
}

#[test]
fn fit_needs_one_source_and_all_of_its_words() {
    vpass(&["workload", "fit"]).refuses(2, &["--statistics", "--trace", "--workload"]);
    vpass(&["workload", "fit", "--statistics", "a.csv", "--disk", "x"]).refuses(2, &["--windows"]);
    vpass(&["workload", "fit", "--workload", OFFICE_DAY, "--format", "msr"])
        .refuses(2, &["--skip-bad-lines need --trace"]);
    vpass(&["workload", "fit", "--workload", "zipf-read"])
        .refuses(2, &["zipf-read has a table [workload]"]);
    vpass(&["workload", "fit", "--workload", OFFICE_DAY, "--scale", "-1"])
        .refuses(2, &["statistics.scale = -1 must be above 0"]);
    vpass(&["workload", "fit", "--statistics", "no.csv", "--windows", "no.csv", "--disk", "x"])
        .refuses(2, &["no.csv: cannot be opened"]);
    let help = vpass(&["workload", "--help"]).stdout;
    assert!(help.contains("vpass workload fit --trace web.csv.zst --out web.toml"), "{help}");
}
