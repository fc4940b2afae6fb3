//! `vpass smart`: counters of a result folder, and differences of two snapshots.

use serde_json::Value;

use crate::common::{Room, one_line, ran, small_run, vpass};

const SNAPSHOTS: [&str; 2] = [
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/smart/before.json"),
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/smart/after.json"),
];

#[test]
fn a_result_folder_has_counters_with_their_identifiers() {
    let room = Room::new();
    let out = room.text("results");
    let mixed = ["--workload", "random-70-30", "--set", "workload.requests=500", "--out", &out];
    let run = vpass(&[&["run", "--drive", "tiny", "--json"], mixed.as_slice()].concat());
    let summary = run.json();
    let printed = vpass(&["smart", &out]);
    assert_eq!(printed.code, 0, "{}", printed.stderr);
    assert!(printed.stdout.contains("Read Disturb Writes"), "{}", printed.stdout);
    assert!(printed.stdout.contains("XOR Recovery Count is unknown: The drive has no parity."));
    let counters = vpass(&["smart", &out, "--json"]).json()["counters"].clone();
    let value = |id: &str| {
        let of = counters.as_array().unwrap().iter().find(|of| of["id"] == id);
        of.unwrap_or_else(|| panic!("{id}"))["value"].clone()
    };
    // Pages of 16 KiB.
    let programs = summary["flash"]["programs"].as_object().unwrap().values();
    let written: u64 = programs.filter_map(Value::as_u64).sum::<u64>() * 16_384;
    assert_eq!(value("0x1E"), written);
    assert!(written > 0);
    let read = summary["host"]["read_bytes"].as_u64().unwrap();
    assert_eq!(value("0x4D"), read.div_ceil(512_000));
    assert_eq!(value("0x22"), Value::Null);
    assert_eq!(summary["smart"]["physical_media_units_written"], written);
}

#[test]
fn folders_without_counters_are_refused() {
    let room = Room::new();
    let out = room.text("results");
    small_run(&["--out", &out]);
    let summary = room.path("results/summary.json");
    let mut old: Value = serde_json::from_slice(&std::fs::read(&summary).unwrap()).unwrap();
    old.as_object_mut().unwrap().remove("smart");
    std::fs::write(&summary, old.to_string()).unwrap();
    vpass(&["smart", &out]).refuses(2, &["has no `smart`", "is from an earlier version of vpass"]);
    let compared = room.text("compared");
    ran(&format!(
        "compare --drive tiny --workload uniform-read --set workload.requests=200 --reclaim block \
        --out {compared}"
    ));
    vpass(&["smart", &compared])
        .refuses(2, &["give one of the folders inside this folder, such as"]);
}

#[test]
fn two_snapshots_give_bytes_time_and_ratios() {
    let measured = vpass(&["smart", "--measured", SNAPSHOTS[0], SNAPSHOTS[1], "--json"]).json();
    // 40 million data units were read, and 100,000 written, in seven days.
    assert_eq!(measured["seconds"], 7 * 24 * 3600);
    assert_eq!(measured["host_read_bytes"], 40_000_000u64 * 512_000);
    assert_eq!(measured["host_written_bytes"], 100_000u64 * 512_000);
    assert_eq!(measured["flash_written_bytes"], 307_200_000_000u64);
    assert_eq!(measured["flash_written_per_byte_written"], 6.0);
    assert_eq!(measured["flash_written_per_byte_read"], 0.015);
    assert_eq!(measured["lacks"], Value::Array(vec![]));
    let text = vpass(&["smart", "--measured", SNAPSHOTS[0], SNAPSHOTS[1]]).stdout;
    for words in
        ["MADE-UP NVME 1T", "7.00 days", "flash written per byte written 6.00", "Refresh Count"]
    {
        assert!(one_line(&text).contains(words), "`{words}` in: {text}");
    }
}

#[test]
fn snapshots_that_say_nothing_together_are_refused() {
    let room = Room::new();
    let [before, after] = SNAPSHOTS;
    let measured = |one: &str, other: &str| vpass(&["smart", "--measured", one, other]);
    let copy = room.file("copy.json", &std::fs::read_to_string(before).unwrap());
    measured(before, &copy).refuses(2, &["are equal"]);
    let of_other = std::fs::read_to_string(after).unwrap().replace("MADEUP0001", "MADEUP0002");
    let other = room.file("other.json", &of_other);
    measured(before, &other).refuses(2, &["MADEUP0001", "MADEUP0002", "must be of the same drive"]);
}

#[test]
fn numbers_that_a_snapshot_lacks_are_named() {
    let room = Room::new();
    let log = |read: u64| format!(r#"{{ "data_units_read": {read}, "data_units_written": 3 }}"#);
    let (one, other) = (room.file("one.json", &log(5)), room.file("other.json", &log(9)));
    let measured = vpass(&["smart", "--measured", &one, &other]);
    assert_eq!(measured.code, 0, "{}", measured.stderr);
    for words in
        ["Numbers that the snapshots lack\n", "bytes written to flash", "time", "serial number"]
    {
        assert!(measured.stdout.contains(words), "`{words}` in: {}", measured.stdout);
    }
}

#[test]
fn a_drive_file_gives_an_estimate_for_the_same_load() {
    let [before, after] = SNAPSHOTS;
    let with = |drive: &str, more: &[&str]| {
        vpass(&[&["smart", "--measured", before, after, "--drive", drive], more].concat())
    };
    let of = with("tiny", &["--json"]).json()["drive_estimate"].clone();
    let number = |key: &str| of[key].as_f64().unwrap_or_else(|| panic!("{key}: {of}"));
    // All three are ratios of the same bytes: 400 bytes were read per byte written.
    let (read, written) =
        (number("flash_written_per_byte_read"), number("flash_written_per_byte_written"));
    assert!((written / read - 400.0).abs() < 1e-6, "{of}");
    assert!((number("flash_written_bytes") / 20_480e9 / read - 1.0).abs() < 1e-9, "{of}");
    assert!(number("rewritten_per_byte_read") < read, "{of}");
    let text = with("tiny", &[]).stdout;
    assert!(text.contains("Drive estimate\n") && text.contains("assumptions"), "{text}");
}
