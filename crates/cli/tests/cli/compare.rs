//! Comparisons.

use crate::common::{Done, Room, names_in, vpass};

fn compare(more: &[&str]) -> Done {
    let args =
        ["compare", "--drive", "tiny", "--workload", "uniform-read", "--set", "workload.requests=3e5", "--set", "workload.footprint=0.01"];
    vpass(&[&args[..], more].concat())
}

#[test]
fn loss_is_a_column_and_each_column_has_a_winner() {
    let done = compare(&["--reclaim", "none,block", "--json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let json = done.json();
    assert_eq!(json["techniques"][0]["reclaim"], "none");
    assert!(json["techniques"][0]["columns"]["data_lost_pages"]["mean"].as_f64().unwrap() > 0.0);
    assert_eq!(json["winners"]["data_lost_pages"][0], "block");
    assert_eq!(json["winners"]["reclaim_erases"][0], "none");
    assert!(json["techniques"][1]["columns"]["controller_ram_bytes"]["mean"].as_f64().unwrap() > 0.0);
    assert_eq!(json["winners"]["controller_ram_bytes"][0], "none");
    assert_eq!(json["winners"]["gc_erases"].as_array().unwrap().len(), 0, "all alike");
    assert_eq!(json["techniques"][1]["runs"][0]["data_lost_pages"], 0);
    let words = compare(&["--reclaim", "none,block"]).stdout;
    for word in ["p99.9", "*", "RAM", "Data was lost under none.", "data lost", "pages of host data that the drive lost"] {
        assert!(words.contains(word), "{word} in\n{words}");
    }
}

#[test]
fn seeds_give_intervals_and_threads_change_nothing() {
    let run = |threads: &str| {
        let mut json = compare(&["--reclaim", "block", "--seeds", "3", "--threads", threads, "--json"]).json();
        for run in json["techniques"][0]["runs"].as_array_mut().unwrap() {
            run["simulation"] = serde_json::Value::Null;
        }
        json
    };
    let one = run("1");
    let columns = &one["techniques"][0]["columns"];
    assert!(columns["read_p99_us"]["ci95"].is_f64());
    let seeds: Vec<_> = one["techniques"][0]["runs"].as_array().unwrap().iter().map(|r| r["seed"].as_u64().unwrap()).collect();
    assert_eq!(seeds, [1, 2, 3]);
    assert_eq!(one, run("2"));
}

#[test]
fn a_comparison_writes_a_folder_per_run() {
    let room = Room::new();
    let done = compare(&["--reclaim", "none,block", "--gear", "untimed", "--out", &room.text("out")]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(names_in(&room.path("out")), ["block", "compare.csv", "compare.json", "none", "timing.json"]);
    assert_eq!(names_in(&room.path("out/block")), ["blocks.csv", "manifest.json", "series.csv", "summary.json", "timing.json"]);
    let csv = std::fs::read_to_string(room.path("out/compare.csv")).unwrap();
    assert!(csv.starts_with("reclaim,gc,runs,projected_life_days,projected_life_days_ci95,"));
    assert_eq!(csv.lines().count(), 3);
}

#[test]
fn what_no_drive_can_do_is_said_and_wins_nothing() {
    let json = compare(&["--reclaim", "ideal,block", "--gear", "untimed", "--json"]).json();
    let said = |i: usize| (&json["techniques"][i]["counterfactual"], &json["techniques"][i]["runs"][0]["counterfactual"]);
    assert_eq!((said(0), said(1)), ((&true.into(), &true.into()), (&false.into(), &false.into())));
    let copies = |i: usize| json["techniques"][i]["columns"]["reclaim_write_pages"]["mean"].as_f64().unwrap();
    assert!(copies(0) < copies(1), "{} {}", copies(0), copies(1));
    assert!(json["winners"].as_object().unwrap().values().all(|names| names.as_array().unwrap().iter().all(|n| n != "ideal")));
    let words = compare(&["--reclaim", "ideal,block", "--gear", "untimed"]).stdout;
    assert!(words.contains("ideal (counterfactual)") && words.contains("ideal: COUNTERFACTUAL"), "{words}");
    let explained = vpass(&["explain", "--drive", "tiny", "--reclaim", "ideal"]).stdout;
    assert!(explained.contains("COUNTERFACTUAL") && explained.contains("median (counterfactual)"), "{explained}");
    let kinds = vpass(&["explain", "--drive", "straw-2t-tlc", "--reclaim", "page-type"]).stdout;
    for words in ["LSB 1.8, CSB 1.8, MSB 1", "MSB pages rewritten", "LSB and CSB pages rewritten"] {
        assert!(kinds.contains(words), "{words} in\n{kinds}");
    }
}

#[test]
fn wrong_techniques_are_refused_before_anything_runs() {
    compare(&["--reclaim", "none,blok"]).refuses(2, &["did you mean `block`?"]);
    compare(&["--reclaim", "none,none"]).refuses(2, &["named twice"]);
    compare(&["--gc", "greedy,cost-benefits"]).refuses(2, &["did you mean `cost-benefit`?"]);
    compare(&["--seeds", "0"]).refuses(2, &["--seeds"]);
}

#[test]
fn gc_policies_are_combined_with_techniques() {
    let json = compare(&["--reclaim", "none,block", "--gc", "greedy,cost-benefit", "--gear", "untimed", "--json"]).json();
    assert_eq!(json["techniques"].as_array().unwrap().len(), 4);
}

#[test]
fn the_last_seeds_of_all_are_seeds() {
    let first = u64::MAX - 1;
    let done = compare(&["--set", "workload.requests=1000", "--reclaim", "block", "--seeds", "2", "--seed", &first.to_string()]);
    assert!(done.stdout.contains(&format!("seeds {first} to {}:", u64::MAX)), "{}{}", done.stdout, done.stderr);
}
