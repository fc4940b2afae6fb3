//! `vpass sweep` and `vpass compare --sweep`: points against single comparisons, going on, refused
//! points, and wrong files.

use std::fs;

use serde_json::Value;

use crate::common::{Done, Room, ran, vpass};

const RUNS: &[&str] = &["--drive", "tiny", "--workload", "zipf-read", "--gear", "untimed"];

fn compare(more: &[&str]) -> Done {
    vpass(&[&["compare"], RUNS, &["--set", "workload.requests=400k"], more].concat())
}

/// Returns a number of the comparison, without what a sweep leaves out.
fn copied(comparison: &Value, technique: usize) -> f64 {
    comparison["techniques"][technique]["columns"]["reclaim_write_pages"]["mean"].as_f64().unwrap()
}

#[test]
fn each_point_is_the_comparison_with_its_values() {
    let axes = ["--reclaim", "block,straw-wl", "--sweep", "start.pec=1500,2900", "--sweep"];
    let swept = compare(&[&axes[..], &["workload.read_share=0.9,1", "--json"]].concat()).json();
    assert_eq!(swept["swept"], serde_json::json!(["start.pec", "workload.read_share"]));
    let points = swept["points"].as_array().unwrap();
    assert_eq!(points.len(), 4);
    for point in points {
        let set = |key: &str| format!("{key}={}", point["swept"][key].as_str().unwrap());
        let (pec, share) = (set("start.pec"), set("workload.read_share"));
        let words = ["--reclaim", "block,straw-wl", "--set", &pec, "--set", &share, "--json"];
        let alone = compare(&[&words[..], &["--seeds", "1"]].concat()).json();
        for technique in 0..2 {
            let columns = |json: &Value| json["techniques"][technique]["columns"].clone();
            let (here, there) = (columns(&point["comparison"]), columns(&alone));
            assert!(here["read_wear_net"]["mean"].is_number(), "each point has a twin");
            assert_eq!(here, there, "{}", point["swept"]);
        }
    }
    let rises = |from: usize, to: usize| {
        copied(&points[from]["comparison"], 0) < copied(&points[to]["comparison"], 0)
    };
    assert!(rises(1, 3), "a worn drive copies more");
}

#[test]
fn a_sweep_goes_on_and_runs_only_what_is_new() {
    let room = Room::new();
    let out = room.text("out");
    let file = |values: &str| {
        room.file(
            "sweep.toml",
            &format!(
                "drive = 'tiny'\nworkload = 'zipf-read'\nreclaim = ['block', 'none']\n\
                 gear = 'untimed'\nseeds = 2\nset.workload.requests = '20k'\n\
                 [sweep]\nstart.pec = {values}\n"
            ),
        )
    };
    let first = vpass(&["sweep", &file("[0, 700]"), "--out", &out, "--csv"]);
    assert_eq!(first.code, 0, "{}", first.stderr);
    assert_eq!(first.stdout, fs::read_to_string(room.path("out/sweep.csv")).unwrap());
    assert!(first.stdout.starts_with("start.pec,reclaim,gc,refresh,parity,runs,refused,"));
    assert_eq!(first.stdout.lines().count(), 1 + 4, "{}", first.stdout);
    let more = vpass(&["sweep", &file("[0, 700, 1400]"), "--out", &out, "--csv"]);
    assert!(more.stderr.contains("12 of 18 finished runs"), "{}", more.stderr);
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let (before, after) = (lines(&first.stdout), lines(&more.stdout));
    assert_eq!(after[..before.len()], before, "finished points stay as they are");
    assert_eq!(after.len(), 1 + 6);
    let fresh = vpass(&["sweep", &file("[0, 700, 1400]"), "--out", &out, "--csv", "--fresh"]);
    assert_eq!(fresh.stdout, more.stdout, "the same sweep, run again");
}

#[test]
fn a_refused_point_is_a_row_with_its_sentence() {
    let done = compare(&["--reclaim", "block", "--sweep", "drive.spare=0.2,0.0001", "--csv"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let rows: Vec<&str> = done.stdout.lines().collect();
    assert_eq!(rows.len(), 3, "{}", done.stdout);
    assert!(rows[1].starts_with("0.2,block,greedy,none,none,1,,"), "{}", rows[1]);
    // A short run projects no life that could be ranked, and a refused point has no life.
    let ends = [rows[0], rows[1], rows[2]].map(|row| row.rsplit(',').next().unwrap());
    assert_eq!(ends, ["life_settled", "false", ""], "{}", done.stdout);
    assert!(rows[2].starts_with("0.0001,") && rows[2].contains("spare"), "{}", rows[2]);
    let text = compare(&["--reclaim", "block", "--sweep", "drive.spare=0.2,0.0001"]).stdout;
    let (first, second) = text.split_once("drive.spare=0.0001\n").expect("two points");
    assert!(first.starts_with("drive.spare=0.2\n") && first.contains("block"), "{text}");
    assert!(second.trim_start().starts_with("no results: "), "{text}");
}

/// Sweeps the size of a page. Each point has the bytes of its own pages.
#[test]
fn bytes_are_those_of_the_point() {
    let axis = "geometry.page_size=4KiB,16KiB";
    let words = ["--reclaim", "block", "--set", "start.pec=2900", "--sweep", axis];
    let text = compare(&words).stdout;
    let (small, large) = text.split_once("geometry.page_size=16KiB\n").expect("two points");
    for (at, of_point) in [("4KiB", small), ("16KiB", large)] {
        let set = format!("geometry.page_size={at}");
        let alone = compare(&[&words[..4], &["--seeds", "1", "--set", &set]].concat()).stdout;
        let row = |text: &str| {
            text.lines().find(|line| line.trim_start().starts_with("block")).map(str::to_owned)
        };
        let cells = |row: String| row.split_whitespace().take(7).collect::<Vec<_>>().join(" ");
        assert!(row(&alone).is_some_and(|row| row.contains("MiB")), "{alone}");
        assert_eq!(row(of_point).map(cells), row(&alone).map(cells), "{text}\n{alone}");
    }
}

/// Makes the page of a sweep by `--html`, and by `vpass report` from its folder.
#[test]
fn the_page_of_a_sweep_has_a_chart_for_what_differs() {
    let room = Room::new();
    let (out, page, later) = (room.text("out"), room.text("page.html"), room.text("later.html"));
    let axis = ["--reclaim", "block,none", "--sweep", "start.pec=0,2900", "--html", &page];
    let done = compare(&axis);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let html = fs::read_to_string(&page).unwrap();
    assert!(html.contains("id=\"sweep-read-wear\"") && html.contains("Read wear over start.pec"));
    let done = compare(&[&axis[..4], &["--out", &out]].concat());
    assert_eq!(done.code, 0, "{}", done.stderr);
    let done = vpass(&["report", &out, "--output", &later]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    // The command line at the end differs.
    let main = |html: &str| {
        html[html.find("<main>").unwrap()..html.find("id=\"conf\"").unwrap()].to_owned()
    };
    assert!(html.contains("--sweep start.pec=0,2900"), "the command line");
    assert_eq!(main(&fs::read_to_string(&later).unwrap()), main(&html));
}

/// Two dies fail. With stripes of three pages the drive stops, and with stripes of two it goes on.
/// The sweep then ends as a comparison ends.
#[test]
fn a_drive_that_stops_gives_the_exit_code_of_a_comparison() {
    let line = "compare --drive tiny --workload random-70-30 --gear untimed --reclaim block \
                --parity raid5 --refresh none --set workload.requests=2000 --set \
                drive.capacity=256MiB --set drive.spare=0.75 --set start.overwrite=0.2 --set \
                parity.rebuild=16 --fail die:2@r100,die:1@r1500 --sweep parity.stripe=3,2 --json";
    let done = ran(line);
    assert_eq!(done.code, 1, "{}", done.stderr);
    assert!(done.stderr.contains("parity.stripe=3, under block: "), "{}", done.stderr);
    let points = done.json()["points"].clone();
    let rows = |n: usize| points[n]["comparison"]["techniques"].as_array().map_or(0, Vec::len);
    assert_eq!([rows(0), rows(1)], [0, 1], "{points}");
}
