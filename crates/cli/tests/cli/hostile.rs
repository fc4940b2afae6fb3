//! Tests of text from outside that could control a terminal, or that ends a line to forge the next
//! line. All output escapes such text.
#![cfg(unix)]

use std::path::PathBuf;

use serde_json::Value;

use crate::common::{Done, Room, vpass};

/// Hostile text: colours, a window title, a cleared screen, and a forged line.
const HOSTILE: &str = "x\u{1b}[31m\u{1b}]0;t\u{7}\u{9b}2J\r\nvpass: forged\u{202e}y";
/// Hostile text without a line break, for formats with lines.
const IN_A_LINE: &str = "x\u{1b}[31m\u{1b}]0;t\u{7}\u{202e}y";
/// Hostile text as a TOML string.
const IN_TOML: &str = "x\\u001b[31m\\u001b]0;t\\u0007\\u009b2J\\r\\nvpass: forged\\u202ey";
/// Escaped form of the hostile text in the output.
const ESCAPED: &str = "x\\u{1b}[31m\\u{1b}]0;t\\u{7}";

/// Checks that no hostile text reached the terminal. Returns everything that was printed.
#[track_caller]
fn harmless(done: &Done) -> String {
    let all = format!("{}{}", done.stdout, done.stderr);
    let obeyed = |c: char| c != '\n' && c.is_control() || c == '\u{202e}';
    assert!(!all.contains(obeyed), "{:?}", all.lines().find(|line| line.contains(obeyed)));
    assert!(!all.lines().any(|line| line.trim_start().starts_with("vpass: forged")), "{all}");
    assert!(!all.contains("panicked"), "{all}");
    all
}

/// Asserts exit code 2, and that the output has the escaped text.
#[track_caller]
fn refused(args: &[&str]) {
    let done = vpass(args);
    let all = harmless(&done);
    assert_eq!(done.code, 2, "{args:?}: {all}");
    assert!(all.contains(ESCAPED), "{args:?}: {all}");
}

/// Asserts exit code 0, and that the output has the escaped text.
#[track_caller]
fn shown(args: &[&str]) -> Done {
    let done = vpass(args);
    let all = harmless(&done);
    assert_eq!(done.code, 0, "{args:?}: {all}");
    assert!(all.contains(ESCAPED), "{args:?}: {all}");
    done
}

const TINY: [&str; 5] = ["run", "--drive", "tiny", "--gear", "untimed"];

fn tiny<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&TINY[..], more].concat()
}

#[test]
fn words_of_the_command_line() {
    let generated = ["--workload", "uniform-read"];
    for option in ["--gear", "--seed", "--sample", "--queue-depth", "--oracle", "--fail"] {
        refused(&["run", "--drive", "tiny", "--workload", "uniform-read", option, HOSTILE]);
    }
    for option in ["--reclaim", "--gc", "--refresh", "--parity", "--set", "--hints"] {
        refused(&tiny(&[&generated[..], &[option, HOSTILE]].concat()));
    }
    refused(&tiny(&[&generated[..], &["--set", &format!("workload.requests={HOSTILE}")]].concat()));
    refused(&tiny(&[&generated[..], &["--set", &format!("workload.{HOSTILE}=1")]].concat()));
    refused(&[HOSTILE]);
    refused(&["run", &format!("--{HOSTILE}")]);
    refused(&["run", "--drive", HOSTILE, "--workload", "uniform-read"]);
    refused(&tiny(&["--workload", HOSTILE]));
    refused(&tiny(&["--fio", HOSTILE]));
    refused(&tiny(&["--trace", HOSTILE]));
    refused(&["compare", "--drive", "tiny", "--workload", "uniform-read", "--reclaim", HOSTILE]);
    refused(&["attack", HOSTILE, "--drive", "tiny"]);
    refused(&["explain", "--drive", HOSTILE]);
    refused(&["show", "drive", HOSTILE]);
    refused(&["trace", "info", HOSTILE]);
    refused(&["trace", "convert", HOSTILE, "out.vpt"]);
    refused(&["check", "--reclaim", HOSTILE]);
}

#[test]
fn names_of_files() {
    let room = Room::new();
    let row = "128166372000000000,host,0,Read,0,4096,0\n";
    let file = |name: &str, text: &str| room.file(&format!("{HOSTILE}{name}"), text);
    let trace = file(".csv", row);
    shown(&tiny(&["--trace", &trace]));
    shown(&["trace", "info", &trace]);
    let json = vpass(&tiny(&["--trace", &trace, "--json"]));
    assert_eq!(json.json()["trace"]["files"][0], trace.as_str(), "JSON has the name itself");
    assert!(
        !json.stdout.contains(|c: char| c != '\n' && c.is_control()),
        "escaped as JSON escapes"
    );
    refused(&tiny(&["--trace", &file("-bad.csv", &format!("{row}{row}no row\n"))]));
    shown(&["trace", "info", &room.text(&format!("{HOSTILE}-bad.csv")), "--skip-bad-lines"]);
    let skipping = ["--trace", &room.text(&format!("{HOSTILE}-bad.csv")), "--skip-bad-lines"];
    shown(&tiny(&skipping));
    shown(&[
        "compare",
        "--drive",
        "tiny",
        "--trace",
        skipping[1],
        "--skip-bad-lines",
        "--reclaim",
        "none,block",
    ]);
    let fio = file(".fio", "[j]\nrw=read\nsize=1m\nioengine=libaio\n");
    shown(&tiny(&["--fio", &fio]));
    refused(&tiny(&["--fio", &file("-bad.fio", "[j]\nrw=reed\n")]));
    refused(&tiny(&[
        "--workload",
        "uniform-read",
        "--hints",
        &file("-hints.toml", "[[range]]\noffset = 1\n"),
    ]));
    refused(&tiny(&["--workload", &file("-bad.toml", "[workload]\nrequest = 5\n")]));
    let drive = file("-drive.toml", include_str!("../../../../presets/drives/tiny.toml"));
    shown(&[
        "run",
        "--drive",
        &drive,
        "--workload",
        "uniform-read",
        "--set",
        "workload.requests=100",
        "--gear",
        "untimed",
    ]);
    shown(&["explain", "--drive", &drive]);
    let rated = ["--set", "workload.rate=1000", "--set", "workload.requests=100"];
    let life = ["life", "--drive", &drive, "--workload", "uniform-read", "--years", "1e-9"];
    shown(&[&life[..], &["--exact", "--oracle", "off"], &rated].concat());
    let compare = ["compare", "--drive", &drive, "--workload", "uniform-read", "--reclaim"];
    shown(&[&compare[..], &["none,block", "--gear", "untimed"], &rated].concat());
    refused(&[
        "run",
        "--drive",
        &drive,
        "--workload",
        "uniform-read",
        "--set",
        "geometry.channels=0",
    ]);
    // Folders with hostile names: a folder that is not empty, a folder that is written, and a
    // leftover of a killed run.
    let out = room.text(HOSTILE);
    std::fs::create_dir(&out).unwrap();
    std::fs::write(room.path(HOSTILE).join("mine"), "").unwrap();
    let small = ["--workload", "uniform-read", "--set", "workload.requests=100", "--out"];
    refused(&tiny(&[&small[..], &[&out]].concat()));
    std::fs::create_dir(room.path(&format!(".{HOSTILE}-new.unfinished-17-0123456789ab"))).unwrap();
    shown(&tiny(&[&small[..], &[&format!("{out}-new")]].concat()));
    shown(&["trace", "convert", &trace, &format!("{out}.vpt")]);
    let attack = format!("{out}-attack.toml");
    harmless(&vpass(&[
        "attack",
        "hammer",
        "--drive",
        &drive,
        "--requests",
        "100",
        "--write",
        &attack,
    ]));
    // The command has the path twice, before and after `--workload`.
    let written = std::fs::read_to_string(&attack).unwrap();
    assert!(
        written.matches(ESCAPED).count() == 2
            && !written.lines().any(|line| line.starts_with("vpass: forged")),
        "{written}"
    );
}

#[test]
fn names_in_traces_and_job_files() {
    let room = Room::new();
    let row = |host: &str, at: u64| {
        format!("{},{host},0,Read,0,4096,0\n", 128_166_372_000_000_000u64 + at)
    };
    let trace = room.file("a.csv", &(row(IN_A_LINE, 0) + &row("other", 1)));
    shown(&["trace", "info", &trace]);
    let json = vpass(&["trace", "info", &trace, "--json"]).json();
    assert!(json["files"][0]["devices"][0]["name"].as_str().unwrap().contains(IN_A_LINE), "{json}");
    refused(&tiny(&["--trace", &trace, "--only", "none"]));
    let jobs = |name: &str, option: &str| {
        room.file(
            "j.fio",
            &format!("[{name}]\nrw=randread\nsize=1m\n{option}[second]\nrw=read\nsize=1m\n"),
        )
    };
    // The name of a section cannot have a closing bracket or a semicolon.
    let done = vpass(&tiny(&["--fio", &jobs("x\u{1b}[31m\u{7}y", "")]));
    assert!(
        done.code == 0 && harmless(&done).contains("x\\u{1b}[31m\\u{7}y"),
        "{}{}",
        done.stdout,
        done.stderr
    );
    // Lines of job files are quoted in another way.
    for option in [format!("{IN_A_LINE}=1\n"), format!("rw={IN_A_LINE}\n")] {
        let done = vpass(&tiny(&["--fio", &jobs("j", &option)]));
        assert!(done.code == 2 && harmless(&done).contains("x\\x1b[31m"), "{}", done.stderr);
    }
    let hints = room
        .file("h.toml", &format!("[[device]]\nname = \"{IN_TOML}\"\naccess_latency = \"idle\"\n"));
    let tired = room.file("tired.toml", &crate::common::tired());
    refused(&["run", "--drive", &tired, "--trace", &trace, "--hints", &hints]);
}

#[test]
fn strings_and_keys_of_toml() {
    let room = Room::new();
    let tiny_text = include_str!("../../../../presets/drives/tiny.toml");
    let drive = |name: &str, text: &str| room.file(name, text);
    for (name, text) in [
        ("key.toml", format!("{tiny_text}\n[\"{IN_TOML}\"]\na = 1\n")),
        ("key2.toml", tiny_text.replace("[drive]", &format!("[drive]\n\"{IN_TOML}\" = 1"))),
        ("word.toml", tiny_text.replace("cell = \"", &format!("cell = \"{IN_TOML}"))),
    ] {
        refused(&["run", "--drive", &drive(name, &text), "--workload", "uniform-read"]);
    }
    let workload = |text: &str| room.file("w.toml", text);
    refused(&tiny(&["--workload", &workload(&format!("[workload]\n\"{IN_TOML}\" = 1\n"))]));
    refused(&tiny(&[
        "--workload",
        &workload(&format!("[workload]\ndistribution = \"{IN_TOML}\"\n")),
    ]));
    let _: Value = vpass(&["list", "drives", "--json"]).json();
}

/// Returns all source lines with any of these texts, together with their files.
fn lines_with(texts: &[&str]) -> Vec<String> {
    let mut found = vec![];
    let mut folders = ["cli", "lab", "workload"]
        .map(|name| {
            PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(name).join("src")
        })
        .to_vec();
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let lines = text.lines().filter(|line| texts.iter().any(|text| line.contains(text)));
            let name = path.file_name().unwrap().to_str().unwrap();
            found.extend(lines.map(|line| format!("{name}: {}", line.trim())));
        }
    }
    found.sort();
    found
}

/// All sentences and reports are printed by `out.rs`, which escapes them. Errors about arguments
/// show escaped arguments.
#[test]
fn nothing_is_printed_but_through_one_file() {
    let asks_only = |line: &String| line.contains("is_terminal()") || line.contains("stderr())");
    let mut printed = lines_with(&["stdout()", "stderr()", "println!", "eprint", " print!("]);
    printed.retain(|line| !line.starts_with("out.rs: ") && !asks_only(line));
    assert!(printed.is_empty(), "{printed:#?}");
    let own = lines_with(&["io::stdout().lock()", "io::stderr().lock()"]);
    assert_eq!(own.len(), 3, "{own:#?}");
    assert_eq!(own.iter().filter(|line| line.contains("plain::line")).count(), 2, "{own:#?}");
    let complaints = lines_with(&["complaint.exit()", "complaint.render()", ".print()"]);
    assert!(complaints.iter().all(|line| line.starts_with("words.rs: ")), "{complaints:#?}");
}
