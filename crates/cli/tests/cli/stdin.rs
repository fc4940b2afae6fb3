//! Tests of traces from standard input, and of drives whose reads do no harm.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use crate::common::{Done, Room, command, finished, msr_reads, vpass};

/// Runs a command with a text on its standard input. Its temporary files go into `room`.
fn piped(args: &[&str], room: &Path, text: &str) -> Done {
    let mut piped = command(args);
    piped.env("TMPDIR", room).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("the binary runs");
    // A command that refuses its options does not read standard input.
    let _ = child.stdin.take().expect("a pipe").write_all(text.as_bytes());
    finished(child.wait_with_output().expect("the command ends"))
}

#[test]
fn a_dash_is_standard_input() {
    let room = Room::new();
    let text = msr_reads(&[0, 4096, 8192]);
    let file = room.file("a.csv", &text);
    let temporary = room.path("temporary");
    std::fs::create_dir(&temporary).unwrap();
    let run = |trace: &str| {
        let args = ["run", "--drive", "tiny", "--gear", "untimed", "--json", "--trace", trace];
        piped(&args, &temporary, &text).json()
    };
    let (from_pipe, from_file) = (run("-"), run(&file));
    assert_eq!(from_pipe["trace"]["rows"], 3);
    for part in ["host", "flash", "wear", "write_amplification"] {
        assert_eq!(from_pipe[part], from_file[part], "{part}");
    }
    let info = piped(&["trace", "info", "-", "--json"], &temporary, &text).json();
    assert_eq!(info["files"][0]["rows"], 3);
    piped(&["trace", "info", "-", "-"], &temporary, &text).refuses(2, &["give `-` only once"]);
    piped(&["trace", "info", "-"], &temporary, "no trace\n")
        .refuses(2, &["standard input: the format is not recognised"]);
    assert_eq!(from_pipe["workload"], "standard input");
    let stamps = |mut summary: serde_json::Value| {
        summary.as_object_mut().expect("a table").remove("simulation");
        summary
    };
    let again = run("-");
    assert!(!again.to_string().contains("/stdin"), "{again}");
    assert_eq!(stamps(from_pipe), stamps(again));
    let left: Vec<_> = std::fs::read_dir(&temporary).unwrap().collect();
    assert!(left.is_empty(), "{left:?} is left behind");
}

#[test]
fn a_drive_whose_reads_do_no_harm_says_so_loudly() {
    let room = Room::new();
    let tiny = include_str!("../../../../presets/drives/tiny.toml");
    let (before, limits) = tiny.split_once("\n[disturb]").expect("a table of limits");
    assert!(!limits.contains("\n["), "it is the last table");
    let harmless = room.file("harmless.toml", before);
    let args = ["--workload", "zipf-read", "--set", "workload.requests=100", "--reclaim", "none"];
    let run =
        |drive: &str, more: &[&str]| vpass(&[&["run", "--drive", drive], &args[..], more].concat());
    let words = "READS DO NO HARM on this drive";
    let done = run(&harmless, &[]);
    assert!(done.code == 0 && done.stderr.contains(words), "{}", done.stderr);
    assert!(run(&harmless, &["--json"]).json()["warnings"].to_string().contains(words));
    assert!(!run("tiny", &[]).stderr.contains(words));
}
