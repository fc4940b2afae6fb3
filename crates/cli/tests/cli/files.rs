//! Tests of results folders, which appear complete or not at all.

use serde_json::Value;

use crate::common::{Room, argv, command, finished, msr_reads, names_in, small_run, vpass};

#[test]
fn a_folder_holds_the_run() {
    let room = Room::new();
    let out = room.text("new/results");
    let done = small_run(&["--out", &out, "--json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let folder = room.path("new/results");
    assert_eq!(
        names_in(&folder),
        [
            "blocks.csv",
            "dose.csv",
            "dose_blocks.csv",
            "dose_map.csv",
            "erasures.csv",
            "latency.csv",
            "manifest.json",
            "quantiles.csv",
            "read.hlog",
            "series.csv",
            "summary.json",
            "timing.json"
        ]
    );
    assert_eq!(names_in(&room.path("new")), ["results"]);
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    // Times of the machine are in a separate file.
    let [mut summary, timing, mut printed]: [Value; 3] =
        [read("summary.json"), read("timing.json"), done.stdout.clone()]
            .map(|text| serde_json::from_str(&text).unwrap());
    for key in ["wall_s", "requests_per_s", "peak_rss_bytes"] {
        assert_eq!(timing["simulation"][key], printed["simulation"][key].take(), "{key}");
        assert_eq!(summary["simulation"][key].take(), Value::Null, "{key}");
    }
    assert_eq!(summary, printed);
    let manifest: Value = serde_json::from_str(&read("manifest.json")).unwrap();
    assert_eq!(manifest["drive_configuration"]["geometry"]["blocks_per_plane"], 51);
    assert_eq!(manifest["workload_configuration"]["workload"]["requests"], 2000);
    assert!(manifest["stream_widths"].as_object().is_some_and(|w| !w.is_empty()));
    assert_eq!((&manifest["schema"], &summary["schema"]), (&Value::from(1), &Value::from(1)));
    let line = format!(
        "vpass run --drive tiny --workload uniform-read --set workload.requests=2000 --out {out} \
        --json"
    );
    let typed = argv(&line);
    assert_eq!(manifest["command_line"], Value::from(typed.clone()));
    assert_eq!(manifest["assumptions"][0], "The host keeps 64 requests outstanding.");
    let blocks = read("blocks.csv");
    assert!(blocks.starts_with("block,die,plane,state,pec_cycles,"));
    assert_eq!(blocks.lines().count(), 409);
    assert!(read("read.hlog").contains("HISTFAAAA"));
    let series = read("series.csv");
    let last = series.lines().last().unwrap();
    assert!(series.starts_with("requests,simulated_s,") && last.starts_with("2000,"), "{series}");
}

#[test]
fn a_trace_is_named_with_its_hash() {
    let room = Room::new();
    let trace = room.file("a.csv", &msr_reads(&[0]));
    let out = room.text("out");
    assert_eq!(vpass(&["run", "--drive", "tiny", "--trace", &trace, "--out", &out]).code, 0);
    let manifest: Value =
        serde_json::from_str(&std::fs::read_to_string(room.path("out/manifest.json")).unwrap())
            .unwrap();
    assert_eq!(manifest["traces"][0]["name"], trace.as_str());
    assert_eq!(manifest["traces"][0]["sha256"].as_str().unwrap().len(), 64);
    assert_eq!(manifest["trace_options"]["fit"], "error");
}

#[test]
fn what_is_there_already_is_left_alone() {
    let room = Room::new();
    std::fs::create_dir(room.path("full")).unwrap();
    room.file("full/mine.txt", "keep");
    small_run(&["--out", &room.text("full")]).refuses(2, &["is not empty"]);
    assert_eq!(names_in(&room.path("full")), ["mine.txt"]);
    let file = room.file("file", "keep");
    small_run(&["--out", &file]).refuses(2, &["not a readable folder"]);
    small_run(&["--out", &format!("{file}/below")]).refuses(2, &["lies below a file"]);
    std::fs::create_dir(room.path("empty")).unwrap();
    assert_eq!(
        small_run(&["--out", &room.text("empty")]).code,
        0,
        "an empty folder is as good as none"
    );
    assert_eq!(names_in(&room.path("empty")).len(), 12);
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_whose_results_cannot_be_printed_has_failed() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let args = argv("run --drive tiny --workload uniform-read --set workload.requests=2000 --json");
    let done = finished(
        command(&args).stdout(full).stderr(std::process::Stdio::piped()).output().unwrap(),
    );
    done.refuses(1, &["standard output: No space left on device"]);
}

/// Arguments of the command line keep their characters in the file. The text cannot control a
/// terminal.
#[test]
fn foreign_words_of_the_command_line_are_kept_as_text() {
    let room = Room::new();
    let out = room.text("a\u{9b}2J\nb");
    assert_eq!(small_run(&["--out", &out]).code, 0);
    let text = std::fs::read_to_string(std::path::Path::new(&out).join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(manifest["command_line"][9], out.as_str());
    assert!(!text.contains('\u{9b}'));
}
