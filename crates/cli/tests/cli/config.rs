//! Drive and workload files, and `--set`.

use crate::common::{Room, small_run, vpass};

fn tiny_text() -> String {
    vpass(&["show", "drive", "tiny"]).stdout
}

#[test]
fn a_drive_file_works_like_the_preset() {
    let room = Room::new();
    let file = room.file("mine.toml", &tiny_text());
    let run = |drive: &str| {
        let mut json = vpass(&["run", "--drive", drive, "--workload", "zipf-read", "--set", "workload.requests=500", "--json"]).json();
        for key in ["simulation", "drive"] {
            json[key] = serde_json::Value::Null;
        }
        json
    };
    assert_eq!(run(&file), run("tiny"));
}

#[test]
fn a_misspelt_key_is_refused_with_its_line() {
    let room = Room::new();
    let text = tiny_text().replace("\nchannels", "\nchanels");
    let line = text.lines().position(|l| l.starts_with("chanels")).unwrap() + 1;
    let file = room.file("typo.toml", &text);
    let sentence = format!("unknown key `geometry.chanels` in {file} line {line}: did you mean `channels`?");
    vpass(&["run", "--drive", &file, "--workload", "uniform-read"]).refuses(2, &[&sentence]);

    let file = room.file("load.toml", "[workload]\nrequests = 10\nreadshare = 0.5\n");
    let sentence = format!("unknown key `workload.readshare` in {file} line 3: did you mean `read_share`?");
    vpass(&["run", "--drive", "tiny", "--workload", &file]).refuses(2, &[&sentence]);
}

#[test]
fn a_wrong_value_is_refused_with_its_line() {
    let room = Room::new();
    let file = room.file("typo.toml", &tiny_text().replace("\nchannels = 2", "\nchannels = \"two\""));
    vpass(&["run", "--drive", &file, "--workload", "uniform-read"]).refuses(2, &["typo.toml line ", "two"]);
    let file = room.file("no.toml", "what is this\n");
    vpass(&["run", "--drive", &file, "--workload", "uniform-read"]).refuses(2, &["no.toml line 1"]);
    let file = room.file("half.toml", "[geometry]\nchannels = 1\n");
    vpass(&["run", "--drive", &file, "--workload", "uniform-read"]).refuses(2, &["half.toml", "missing"]);
    let file = room.file("zero.toml", &tiny_text().replace("\nchannels = 2", "\nchannels = 0"));
    vpass(&["run", "--drive", &file, "--workload", "uniform-read"]).refuses(2, &["geometry.channels = 0"]);
    let file = room.file("empty.toml", "");
    vpass(&["run", "--drive", &file, "--workload", "uniform-read"]).refuses(2, &["empty.toml"]);
    vpass(&["run", "--drive", "/", "--workload", "uniform-read"]).refuses(2, &["cannot be read"]);
    let file = room.text("binary.toml");
    std::fs::write(&file, [0xFF, 0x00, 0xFE]).unwrap();
    vpass(&["run", "--drive", &file, "--workload", "uniform-read"]).refuses(2, &["binary.toml"]);
}

#[test]
fn set_takes_numbers_words_sizes_and_lists() {
    let sets =
        ["start.pec=1000", "reclaim.schedule=batch:8", "timing.sense_us=[20,30,40]", "drive.rated_pec = 5000", "workload.requests=1e3"];
    let args: Vec<&str> = sets.iter().flat_map(|s| ["--set", s]).chain(["--json"]).collect();
    let json = small_run(&args).json();
    assert_eq!(json["host"]["read_requests"], 1000);
    assert_eq!(json["wear"]["pec_min"], 1000);
    assert_eq!(json["wear"]["rated_pec"], 5000);
}

#[test]
fn set_refuses_what_nobody_knows() {
    small_run(&["--set", "geometry.chanels=4"]).refuses(2, &["unknown key `geometry.chanels` in --set: did you mean `channels`?"]);
    small_run(&["--set", "capacity=4GiB"]).refuses(2, &["did you mean `drive.capacity`?"]);
    small_run(&["--set", "drive.channels=4"]).refuses(2, &["did you mean `geometry.channels`?"]);
    small_run(&["--set", "disturbe.model=none"]).refuses(2, &["did you mean `disturb`?"]);
    small_run(&["--set", "drive.capacity"]).refuses(2, &["KEY=VALUE"]);
    small_run(&["--set", "geometry.channels=-1"]).refuses(2, &["--set geometry.channels=-1"]);
    small_run(&["--set", "drive.capacity=lots"]).refuses(2, &["--set drive.capacity=lots", "16KiB"]);
    small_run(&["--set", "reclaim.schedule=never"]).refuses(2, &["foreground"]);
    small_run(&["--set", "workload.read_share=2"]).refuses(2, &["workload.read_share = 2 is outside 0 to 1"]);
    small_run(&["--set", "workload.distribution=zip:1"]).refuses(2, &["zipf:0.99"]);
}

#[test]
fn a_drive_that_cannot_be_is_refused_with_one_that_can() {
    small_run(&["--set", "drive.capacity=16MiB"]).refuses(2, &["spare blocks", "smallest capacity that works"]);
    small_run(&["--set", "drive.capacity=100TiB"]).refuses(2, &["2^31 pages"]);
    small_run(&["--set", "drive.spare=0.999"]).refuses(2, &["drive.spare = 0.999"]);
}

#[test]
fn the_keys_of_a_workload_are_not_for_a_trace() {
    let room = Room::new();
    let trace = room.file("a.csv", &crate::common::msr_reads(&[0]));
    vpass(&["run", "--drive", "tiny", "--trace", &trace, "--set", "workload.requests=3"]).refuses(2, &["for --workload"]);
}

/// On `tiny` a look every 4,367 reads leaves the worst wordlines what they need, and one every 5,000 does not.
#[test]
fn settings_that_leave_a_technique_no_room_are_refused_with_one_that_does() {
    let interval = |reads: &str, more: &[&str]| {
        let set = format!("reclaim.check_interval={reads}");
        small_run(&[&["--gear", "untimed", "--reclaim", "straw-ss-sound", "--set", &set], more].concat())
    };
    interval("5000", &[])
        .refuses(2, &["reclaim.check_interval = 5000: `straw-ss-sound`", "reclaim.check_interval = 4367 or less is right"]);
    let near = interval("4367", &[]);
    assert_eq!(near.code, 0, "{}", near.stderr);
    assert!(near.stderr.contains("`straw-ss-sound` may lose data from 1 P/E cycles on"), "{}", near.stderr);
    let beyond = interval("1000", &["--set", "drive.rated_pec=3100"]);
    assert!(beyond.stderr.contains("disturb.table ends at 3000 P/E cycles"), "{}", beyond.stderr);
    for late in ["4294967295", "20000000"] {
        let set = format!("reclaim.late_reads={late}");
        vpass(&["explain", "--drive", "tiny", "--reclaim", "block", "--set", &set]).refuses(2, &["reclaim.late_reads = "]);
    }
}

#[test]
fn a_comparison_of_all_techniques_leaves_out_those_without_room_and_says_so() {
    let compare = ["compare", "--drive", "tiny", "--workload", "uniform-read", "--set", "workload.requests=2000", "--gear", "untimed"];
    let narrow = ["--set", "reclaim.check_interval=5000", "--json"];
    let done = vpass(&[&compare[..], &narrow].concat());
    let json = done.json();
    let compared: Vec<&str> = json["techniques"].as_array().unwrap().iter().map(|t| t["reclaim"].as_str().unwrap()).collect();
    assert!(compared.contains(&"block") && !compared.iter().any(|name| name.starts_with("straw")), "{compared:?}");
    assert!(done.stderr.contains("left out: drive tiny: reclaim.check_interval = 5000: `straw-wl`"), "{}", done.stderr);
    vpass(&[&compare[..], &narrow, &["--reclaim", "block,straw-wl"]].concat()).refuses(2, &["reclaim.check_interval = 5000: `straw-wl`"]);
}
