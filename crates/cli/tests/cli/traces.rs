//! Tests of traces as users have them: too large for the drive, unordered, broken, or several at
//! once.

use crate::common::{Room, argv, msr_reads, ran, vpass};

fn replay(trace: &str, more: &[&str]) -> crate::common::Done {
    vpass(&[&["run", "--drive", "tiny", "--trace", trace, "--json"], more].concat())
}

#[test]
fn a_trace_is_replayed_by_its_clock() {
    let room = Room::new();
    let trace = room.file("a.csv", &msr_reads(&[0, 4096, 8192, 0]));
    let json = replay(&trace, &[]).json();
    assert_eq!(json["host"]["read_requests"], 4);
    assert_eq!(json["trace"]["formats"][0], "msr");
    assert_eq!(json["trace"]["span_s"], 3e-6);
    let faster = replay(&trace, &["--speed", "2", "--repeat", "3"]).json();
    assert_eq!(faster["host"]["read_requests"], 12);
    let closed = replay(&trace, &["--queue-depth", "1"]).json();
    assert_eq!(closed["host"]["read_requests"], 4);
}

#[test]
fn addresses_beyond_the_drive_need_a_fit() {
    let room = Room::new();
    let trace = room.file("a.csv", &msr_reads(&[0, 5 << 30]));
    for fit in ["wrap", "scale"] {
        let json = replay(&trace, &["--fit", fit]).json();
        assert_eq!(json["trace"]["refitted"], 1, "{fit}");
    }
}

#[test]
fn touched_pages_go_side_by_side() {
    let room = Room::new();
    // The trace touches three pages of 16 KiB in 5 TiB: two neighbours, and one page at the far
    // end.
    let trace =
        room.file("a.csv", &msr_reads(&[1 << 40, (1 << 40) + 16_384, 5 << 40, (1 << 40) + 4096]));
    let json = replay(&trace, &["--fit", "pack"]).json();
    assert_eq!(
        (&json["host"]["read_requests"], &json["trace"]["refitted"]),
        (&4.into(), &4.into())
    );
    let compared = ran(&format!(
        "compare --drive tiny --trace {trace} --fit pack --reclaim none,block --json"
    ));
    assert_eq!(compared.code, 0, "{}", compared.stderr);
    let everywhere: Vec<u64> = (0..70_000).map(|i| i << 20).collect();
    let trace = room.file("b.csv", &msr_reads(&everywhere));
    // 70,000 pages of 16 KiB are 1.07 GiB, too much for the drive even side by side.
    replay(&trace, &[])
        .refuses(2, &["use --fit scale or --fit wrap", "(1.1 GiB are enough with --fit pack)"]);
    replay(&trace, &["--fit", "pack"])
        .refuses(2, &["the touched pages take 1.1 GiB even without gaps; the drive has"]);
}

/// Makes 45,000 reads, 10 time units apart. The reads take 0.45 s if the unit is us, and 0.45 ms if
/// the unit is ns.
fn microseconds() -> String {
    (0..45_000).map(|i| format!("{} 0 {} 8 1\n", i * 10, i % 1000 * 8)).collect::<Vec<_>>().concat()
}

#[test]
fn the_unit_of_times_can_be_said_and_is_named() {
    let room = Room::new();
    let trace = room.file("a.trace", &microseconds());
    let assumed = replay(&trace, &["--gear", "untimed"]);
    assert!(
        assumed
            .stderr
            .contains("the times of mqsim are taken as nanoseconds; --time-unit sets another unit"),
        "{}",
        assumed.stderr
    );
    let words = "45000 requests in 450 us are 100002222 requests per second, more than most hosts \
        sustain; the times of the trace are taken as nanoseconds, which --time-unit changes: with \
        ms, the trace would take 7.50 min and have 100 requests per second";
    assert!(assumed.stderr.contains(words), "{}", assumed.stderr);
    assert_eq!(assumed.json()["trace"]["span_s"], 0.000_449_99);
    let said =
        replay(&trace, &["--gear", "untimed", "--time-unit", "ms", "--out", &room.text("out")]);
    assert!(said.stderr.contains("taken as milliseconds, as --time-unit says"), "{}", said.stderr);
    assert!(!said.stderr.contains("than most hosts"), "{}", said.stderr);
    assert_eq!(said.json()["trace"]["span_s"], 449.99);
    let manifest: serde_json::Value =
        serde_json::from_slice(&std::fs::read(room.path("out").join("manifest.json")).unwrap())
            .unwrap();
    assert_eq!(manifest["trace_options"]["time_unit"], "ms");
    let closed = replay(&trace, &["--gear", "untimed", "--queue-depth", "4"]).stderr;
    assert!(!closed.contains("than most hosts") && !closed.contains("--time-unit"), "{closed}");
    let msr = room.file("a.csv", &msr_reads(&[0]));
    assert!(!replay(&msr, &[]).stderr.contains("times"), "a unit that is fixed is not assumed");
}

#[test]
fn requests_out_of_order_are_counted_or_refused() {
    let room = Room::new();
    let mut rows: Vec<String> =
        msr_reads(&[0, 4096, 8192]).lines().map(|l| format!("{l}\n")).collect();
    rows.swap(1, 2);
    let trace = room.file("late.csv", &rows.concat());
    let json = replay(&trace, &[]).json();
    assert_eq!(json["trace"]["clamped"], 1);
}

#[test]
fn a_trace_that_breaks_half_way_leaves_nothing() {
    let room = Room::new();
    let trace = room.file("a.csv", &(msr_reads(&vec![0; 3000]) + "oops\n"));
    replay(&trace, &["--out", &room.text("out")]).refuses(2, &["line 3001"]);
    assert_eq!(room.names(), ["a.csv"]);
}

#[test]
fn several_files_are_merged_side_by_side_or_follow_each_other() {
    let room = Room::new();
    let (a, b) = (room.file("a.csv", &msr_reads(&[0, 1])), room.file("b.csv", &msr_reads(&[2])));
    let run = |more: &[&str]| {
        vpass(&[&["run", "--drive", "tiny", "--trace", &a, &b, "--json"], more].concat()).json()
    };
    let merged = run(&[]);
    assert_eq!(
        (&merged["host"]["read_requests"], &merged["trace"]["span_s"]),
        (&3.into(), &1e-6.into())
    );
    let devices = serde_json::json!([
        { "name": "host_0", "file": a, "base_bytes": 0, "extent_bytes": 4097, "rows": 2 },
        { "name": "host_0", "file": b, "base_bytes": 1 << 20, "extent_bytes": 4098, "rows": 1 },
    ]);
    assert_eq!(merged["trace"]["devices"], devices);
    let parts = run(&["--concat"]);
    assert_eq!(
        (&parts["trace"]["span_s"], parts["trace"]["devices"].as_array().unwrap().len()),
        (&2e-6.into(), 1)
    );
}

#[test]
fn devices_lie_side_by_side_unless_only_some_are_taken() {
    let room = Room::new();
    let trace = room.file("a.trace", "0 1 0 8 1\n1000 2 8388608 8 1\n2000 3 16 8 0\n");
    let json = replay(&trace, &["--only", "1", "--only", "3"]).json();
    assert_eq!(
        (&json["host"]["read_requests"], &json["host"]["write_requests"]),
        (&1.into(), &1.into())
    );
    assert_eq!(json["trace"]["devices"][1]["base_bytes"], 1 << 20);
    let text = vpass(&["run", "--drive", "tiny", "--trace", &trace, "--fit", "scale"]).stdout;
    assert!(text.contains("Devices\n") && text.contains(" 1.00 MiB "), "{text}");
}

#[test]
fn what_a_file_was_taken_for_is_said_once() {
    let room = Room::new();
    let (a, b) = (room.file("a.csv", &msr_reads(&[0])), room.file("b.csv", &msr_reads(&[0])));
    let done = ran(&format!("compare --drive tiny --trace {a} {b} --reclaim none,block --json"));
    assert_eq!(done.stderr, format!("vpass: {a} and 1 more are read as msr: MSR Cambridge CSV\n"));
    assert_eq!(replay(&a, &["--format", "msr"]).stderr, "");
}

#[test]
fn what_was_said_of_a_trace_is_in_the_manifest() {
    let room = Room::new();
    let (trace, out) = (room.file("P.lis", "0 8 0 0\n8 8 0 1\nx\n"), room.text("out"));
    let line = format!("--assume-op write --assume-rate 500 --skip-bad-lines --only 0 --out {out}");
    let said = argv(&line);
    assert_eq!(replay(&trace, &said).code, 0);
    let manifest: serde_json::Value =
        serde_json::from_slice(&std::fs::read(room.path("out").join("manifest.json")).unwrap())
            .unwrap();
    let options = &manifest["trace_options"];
    assert_eq!(manifest["traces"][0]["format"], "arc");
    assert_eq!(
        (&options["assume_op"], &options["assume_rate_iops"]),
        (&"write".into(), &500.0.into())
    );
    assert_eq!(
        (&options["skip_bad_lines"], &options["only"][0], &options["concat"]),
        (&true.into(), &"0".into(), &false.into())
    );
    assert!(options["blk_action"].is_null());
}

#[test]
fn one_event_of_a_blktrace_counts() {
    let room = Room::new();
    let event = |n: u32, action: char| format!("8,0 1 {n} 0.00000{n} 9 {action} R 8 + 8 [x]\n");
    let trace = room.file("sda.txt", &[event(1, 'Q'), event(2, 'Q'), event(3, 'D')].concat());
    assert_eq!(replay(&trace, &[]).json()["host"]["read_requests"], 2);
    assert_eq!(replay(&trace, &["--blk-action", "d"]).json()["host"]["read_requests"], 1);
}

#[test]
fn bad_lines_are_skipped_only_when_asked_and_counted() {
    let room = Room::new();
    let trace = room.file(
        "a.csv",
        &(msr_reads(&[0, 4096]) + "oops\n" + "128166372000000020,host,0,Read,-4096,4096,0\n"),
    );
    let json = replay(&trace, &["--skip-bad-lines", "--repeat", "2"]).json();
    assert_eq!((&json["trace"]["rows"], &json["trace"]["bad_lines"]), (&4.into(), &2.into()));
    assert!(json["trace"]["first_bad_line"].as_str().unwrap().contains("a.csv, line 3: column 1"));
    let text = vpass(&["run", "--drive", "tiny", "--trace", &trace, "--skip-bad-lines"]).stdout;
    assert!(text.contains("skipped lines that cannot be read  2\n"), "{text}");
    let text = vpass(&["compare", "--drive", "tiny", "--trace", &trace, "--skip-bad-lines"]).stdout;
    assert!(text.contains("skipped 2 lines that cannot be read; the first: "), "{text}");
    let good = replay(&room.file("b.csv", &msr_reads(&[0])), &["--skip-bad-lines"]).json();
    assert_eq!(good["trace"]["bad_lines"], 0);
}

#[test]
fn what_a_trace_does_not_keep_has_to_be_said() {
    let room = Room::new();
    let trace = room.file("P.lis", "0 8 0 0\n8 8 0 1\n64 1 0 2\n");
    let json = replay(&trace, &["--assume-op", "read", "--assume-rate", "1000"]).json();
    assert_eq!(
        (&json["host"]["read_requests"], &json["trace"]["span_s"]),
        (&3.into(), &0.002.into())
    );
    let json = replay(&trace, &["--assume-op", "write", "--queue-depth", "2"]).json();
    assert_eq!(json["host"]["write_requests"], 3);
}
