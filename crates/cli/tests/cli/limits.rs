//! Tests of the limits of a run: memory, threads, a full disk, endless files, and times out of
//! range.
#![cfg(target_os = "linux")]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::{Done, Room, argv, command, finished, msr_reads, names_in, small_run, vpass};

/// Runs `vpass` with these arguments after a shell command.
fn behind(shell: &str, args: &[&str]) -> Done {
    let mut child = Command::new("sh");
    child
        .args(["-c", &format!("{shell}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_vpass")])
        .args(args)
        .stdin(Stdio::null());
    finished(child.output().expect("a shell"))
}

const SMALL: [&str; 7] =
    ["run", "--drive", "tiny", "--workload", "uniform-read", "--set", "workload.requests=2000"];

#[test]
fn a_drive_that_does_not_fit_in_memory_is_refused_with_what_it_needs() {
    // The drive has 64 Mi pages and spare pages. The map takes 4 bytes per page in each direction,
    // and 8 bytes per wordline of three pages. The sum is 0.7 GiB, and the oracle needs more than
    // this again.
    let large = ["--set", "drive.capacity=1TiB"];
    for command in ["run", "compare", "attack"] {
        let what = if command == "attack" {
            ["hammer", "--oracle"]
        } else {
            ["--workload=uniform-read", "--oracle"]
        };
        let args = [&[command, "--drive", "tiny"], &what[..], &["off"], &large].concat();
        let done = behind("ulimit -v 600000", &args);
        done.refuses(
            1,
            &[
                "drive tiny: a run needs",
                "MiB of memory, but",
                "MiB are available; a smaller drive.capacity",
            ],
        );
    }
    behind("ulimit -v 600000", &[&SMALL[..], &["--oracle", "on"], &large].concat())
        .refuses(1, &["GiB of memory", "--oracle off, "]);
    assert_eq!(behind("ulimit -v 600000", &SMALL).code, 0, "a small drive fits");
}

#[test]
fn where_no_thread_is_to_be_had_one_does_all_the_work() {
    for args in [
        &["check", "--seed", "3"][..],
        &argv(
            "compare --drive tiny --workload uniform-read --set workload.requests=2000 \
            --reclaim none,block",
        ),
    ] {
        // The system cannot provide a stack of this size.
        let done =
            finished(command(args).env("RUST_MIN_STACK", "1152921504606846976").output().unwrap());
        assert_eq!(done.code, 0, "{}", done.stderr);
        assert!(
            done.stderr.contains("threads are not available") && !done.stderr.contains("panicked"),
            "{}",
            done.stderr
        );
        let usual = vpass(args);
        let without_times = |text: &str| {
            text.lines()
                .filter(|l| !l.contains(" requests/s"))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(without_times(&done.stdout), without_times(&usual.stdout));
    }
}

#[test]
fn what_never_ends_is_no_file_of_ours() {
    let room = Room::new();
    let pipe = room.text("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for endless in ["/dev/zero", &pipe] {
        let refused = |args: &[&str]| vpass(args).refuses(2, &[endless, "is expected"]);
        refused(&["run", "--drive", endless, "--workload", "uniform-read"]);
        refused(&["run", "--drive", "tiny", "--workload", endless]);
        refused(&["run", "--drive", "tiny", "--fio", endless]);
        refused(&["run", "--drive", "tiny", "--trace", endless]);
    }
}

#[test]
fn a_folder_behind_a_link_is_written_and_a_link_to_nothing_refused_before_the_run() {
    let room = Room::new();
    std::fs::create_dir(room.path("behind")).unwrap();
    std::os::unix::fs::symlink("behind", room.path("link")).unwrap();
    std::os::unix::fs::symlink("nowhere", room.path("dangling")).unwrap();
    assert_eq!(small_run(&["--out", &room.text("link")]).code, 0);
    assert!(names_in(&room.path("behind")).contains(&"summary.json".to_owned()));
    assert!(room.path("link").is_symlink(), "it still is one");
    small_run(&["--out", &room.text("dangling")]).refuses(2, &["dangling is a broken link"]);
    assert_eq!(room.names(), ["behind", "dangling", "link"]);
}

#[test]
fn a_full_disk_is_reported_with_the_name_that_the_user_gave() {
    let room = Room::new();
    let offsets: Vec<u64> = (0..10_000).map(|i| i * i % 10_007 * 4096).collect();
    let (out, trace) = (room.text("out"), room.file("a.csv", &msr_reads(&offsets)));
    // A file may not be larger than one block of 512 or 1024 bytes. A larger file is an error
    // instead of a signal.
    let full = |args: &[&str]| behind("trap '' XFSZ; ulimit -f 1", args);
    full(&[&SMALL[..], &["--out", &out]].concat())
        .refuses(1, &[&format!("{out}/"), "cannot be written: File too large"]);
    let compact = room.text("a.vpt");
    full(&["trace", "convert", &trace, &compact])
        .refuses(1, &[&format!("{compact} cannot be written: File too large")]);
    assert_eq!(room.names(), ["a.csv"], "nothing is left of either");
}

#[test]
fn folders_of_the_same_seed_are_the_same_but_for_timing_json() {
    let room = Room::new();
    let compare = argv(
        "compare --drive tiny --workload uniform-read --set workload.requests=2000 \
        --reclaim none,block",
    );
    for (name, args) in [("run", &SMALL[..]), ("compare", &compare)] {
        let folders = ["1", "2"].map(|n| room.text(&format!("{name}{n}")));
        for folder in &folders {
            assert_eq!(vpass(&[args, &["--out", folder]].concat()).code, 0);
        }
        // The manifest has the command line, and therefore the names of the folders.
        let named = format!("/{name}[12]\"");
        let diff = Command::new("diff")
            .args(["-r", "-x", "timing.json", "-I", &named, &folders[0], &folders[1]])
            .output()
            .unwrap();
        assert!(diff.status.success(), "{}", String::from_utf8_lossy(&diff.stdout));
        let timing = std::fs::read_to_string(format!("{}/timing.json", folders[0])).unwrap();
        let timing: Value = serde_json::from_str(&timing).unwrap();
        let at = match name {
            "run" => "/simulation/wall_s",
            _ => "/techniques/1/runs/0/simulation/wall_s",
        };
        assert!(timing.pointer(at).is_some_and(Value::is_number), "{timing}");
    }
    let summary: Value =
        serde_json::from_str(&std::fs::read_to_string(room.path("run1/summary.json")).unwrap())
            .unwrap();
    assert_eq!(summary["simulation"]["wall_s"], Value::Null);
}

/// A hint file with 60,000 lines is read in a moment. If each line were compared with all lines
/// before it, the command would take minutes.
#[test]
fn a_large_hint_file_is_read_at_once() {
    let room = Room::new();
    let range = |n: u64| {
        format!("[[range]]\noffset = {}\nbytes = 4096\naccess_latency = 'idle'\n", 8192 * n)
    };
    let hints = room.file("h.toml", &(0..60_000).map(range).collect::<String>());
    let twice = room.file("t.toml", &(0..60_000).chain([7]).map(range).collect::<String>());
    let tired = room.file("tired.toml", &crate::common::tired());
    let run = |hints: &str| {
        let began = Instant::now();
        let workload = ["--workload", "uniform-read", "--set", "workload.requests=10"];
        let args =
            ["run", "--drive", &tired, "--hints", hints, "--gear", "untimed", "--oracle", "off"];
        let done = vpass(&[&args[..], &workload].concat());
        assert!(began.elapsed() < Duration::from_secs(120), "{:?}", began.elapsed());
        done
    };
    let done = run(&hints);
    assert_eq!(done.code, 0, "{}", done.stderr);
    run(&twice).refuses(2, &["line 240001: the range overlaps with the range of line 29, "]);
}
