//! Instructions of the important paths, counted by callgrind at fixed seeds and compared with
//! `instructions.txt` within 3 %. The counts belong to the project's own release profile and to one
//! compiler. `make instructions` builds that profile, whatever a machine's Cargo configuration
//! says. Without valgrind, the comparison is skipped.

#[path = "../../drive/benches/shared/mod.rs"]
#[expect(dead_code, reason = "other benches use the rest")]
mod shared;

use std::process::Command;

use shared::{Uniform, config, prepared_for, prepared_under, say};
use vpass_drive::config::DriveConfig;
use vpass_drive::drive::Drive;
use vpass_drive::time::{Replay, run_untimed};
use vpass_oracle::Oracle;

/// Largest difference from the stored count.
const WITHIN: f64 = 0.03;

/// Requests of each line.
const REQUESTS: u64 = 200_000;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/instructions.txt");

/// Name, counted unit, and function of a line. The function returns the number of units that it has
/// processed.
type Line = (&'static str, &'static str, fn() -> u64);

const LINES: [Line; 6] = [
    ("untimed-read", "request", || untimed(prepared_under(drive(FAR), "block"), 0)),
    ("timed-read", "request", || timed(0)),
    ("timed-70-30", "request", || timed(77)),
    ("move", "copied page", || {
        let mut drive = prepared_under(drive(NEAR), "block");
        serve(&mut drive, 0);
        drive.reclaim_counts().pages_copied
    }),
    ("policy-check", "alarm", || {
        let mut drive = prepared_under(of_blocks(1, WORDLINES), "straw-wl");
        serve(&mut drive, 0);
        drive.reclaim_counts().alarms
    }),
    ("oracle-checked-read", "request", || {
        let watch = |drive: &mut Drive| {
            drive.observe(Box::new(Oracle::new(drive.geometry(), drive.config())))
        };
        untimed(prepared_for(drive(FAR), false, watch), 0)
    }),
];

/// Limits that no read reaches.
const FAR: &str = r#"[disturb]
    model = "wordline"
    table = [{ pec = 0, limit = [500000], alpha = [9.0] }]"#;
/// Limits that reads of a block reach often.
const NEAR: &str = r#"[disturb]
    model = "count"
    table = [{ pec = 0, limit = [1000] }]"#;
/// Limits that wordlines reach, with frequent checks.
const WORDLINES: &str = r#"[reclaim]
    check_interval = 10
    [disturb]
    model = "wordline"
    table = [{ pec = 0, limit = [4000], alpha = [9.0] }]"#;

/// Returns a drive of 320 blocks of 192 pages.
fn drive(limits: &str) -> DriveConfig {
    of_blocks(2, limits)
}

/// Returns a drive with 40 blocks per plane. The numbers of channels, dies per channel and planes
/// per die are all `each`.
fn of_blocks(each: u32, limits: &str) -> DriveConfig {
    let text = format!(
        r#"
        drive = {{ spare = 0.3 }}
        start = {{ fill = 1.0, overwrite = 1.0 }}
        [geometry]
        channels = {each}
        dies_per_channel = {each}
        planes_per_die = {each}
        blocks_per_plane = 40
        wordlines_per_block = 64
        cell = "tlc"
        page_size = "16KiB"
        [timing]
        sense_us = 50
        program_us = 200
        erase_us = 3000
        channel_mb_s = 1200
        suspend = true
        {limits}"#
    );
    config(&text, |_| {})
}

fn untimed(mut drive: Drive, writes_of_256: u64) -> u64 {
    serve(&mut drive, writes_of_256);
    REQUESTS
}

fn serve(drive: &mut Drive, writes_of_256: u64) {
    let mut source = Uniform::new(drive, REQUESTS, 16_384, writes_of_256, 1);
    callgrind_counts_this(|| {
        run_untimed(drive, &mut source, &mut |_, _| true).expect("the source does not fail")
    });
}

fn timed(writes_of_256: u64) -> u64 {
    let mut drive = shared::prepared(drive(FAR), true);
    let mut engine = Replay::new(&drive);
    let mut source = Uniform::new(&drive, REQUESTS, 4096, writes_of_256, 64);
    callgrind_counts_this(|| {
        engine.run(&mut drive, &mut source, &mut |_, _| true).expect("the source does not fail")
    });
    REQUESTS
}

/// Function that callgrind finds by its name to count instructions.
#[inline(never)]
fn callgrind_counts_this<T>(work: impl FnOnce() -> T) {
    std::hint::black_box(work());
}

/// Returns the instructions for each unit of a line.
fn counted(name: &str) -> f64 {
    let mut callgrind = Command::new("valgrind");
    callgrind.args([
        "--tool=callgrind",
        "--callgrind-out-file=/dev/null",
        "--toggle-collect=*callgrind_counts_this*",
    ]);
    let done = callgrind
        .arg(std::env::current_exe().expect("a path"))
        .args(["line", name])
        .output()
        .expect("valgrind runs");
    let (units, log) =
        (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    let collected = log
        .lines()
        .find_map(|line| line.split_once("Collected : "))
        .map(|(_, count)| count.trim().parse::<f64>());
    match (collected, units.trim().parse::<f64>()) {
        (Some(Ok(count)), Ok(units)) if done.status.success() && count > 0.0 && units > 0.0 => {
            count / units
        }
        _ => panic!("{name}: no count\n{units}\n{log}"),
    }
}

/// Returns the compiler of this build. Counts of another compiler differ.
fn compiler() -> String {
    let done =
        Command::new(std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into())).arg("-V").output();
    done.map_or_else(
        |e| e.to_string(),
        |done| String::from_utf8_lossy(&done.stdout).trim().to_owned(),
    )
}

fn write() {
    let mut text = format!("{}\n", compiler());
    for (name, unit, _) in LINES {
        let line = format!("{name} {:.1} instructions per {unit}\n", counted(name));
        say(line.trim());
        text += &line;
    }
    std::fs::write(FILE, text).expect("the counts can be written");
}

/// Compares each line and prints it. Returns whether all are within the bound.
fn compare() -> bool {
    let stored = std::fs::read_to_string(FILE).expect("the counts are in the repository");
    let (of, lines) = stored.split_once('\n').expect("a compiler, then lines");
    if of != compiler() {
        say(&format!("instruction counts: skipped, they are of {of} and this is {}", compiler()));
        return true;
    }
    let mut all = true;
    for (name, unit, _) in LINES {
        let stored = lines.lines().find_map(|line| {
            line.strip_prefix(name)?.split_whitespace().next()?.parse::<f64>().ok()
        });
        let Some(stored) = stored else {
            say(&format!("{name}: no stored count; `make record-instructions` stores it"));
            all = false;
            continue;
        };
        let count = counted(name);
        let change = count / stored - 1.0;
        let holds = change.abs() <= WITHIN;
        all &= holds;
        let verdict = if holds {
            ""
        } else {
            ": more than 3 %; `make record-instructions` takes the counts again"
        };
        say(&format!(
            "{name:<20} {count:>9.1} instructions per {unit}, stored {stored:.1} ({:+.1} %){verdict}",
            100.0 * change
        ));
    }
    all
}

fn main() -> std::process::ExitCode {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    if let [first, name] = &args[..]
        && first == "line"
    {
        let (_, _, run) =
            LINES.iter().find(|(line, ..)| line == name).expect("a line of this bench");
        say(&run().to_string());
        return std::process::ExitCode::SUCCESS;
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        say("instruction counts: skipped, valgrind is not installed");
        return std::process::ExitCode::SUCCESS;
    }
    if args == ["write"] {
        write();
        return std::process::ExitCode::SUCCESS;
    }
    if compare() { std::process::ExitCode::SUCCESS } else { std::process::ExitCode::FAILURE }
}
