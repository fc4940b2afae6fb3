//! Tests of commands that are stopped. Finished runs are kept, the same command continues with
//! them, and its results have the same bytes.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::common::{Done, Room, argv, command, finished, interrupt, msr_reads, vpass};

/// Returns the content of every file below a folder. Files with times of this machine are left out,
/// and so are the folder names in command lines.
pub(crate) fn content(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = PathBuf::from(entry.file_name().unwrap());
        if entry.is_dir() {
            files.extend(
                content(&entry).into_iter().map(|(below, bytes)| (name.join(below), bytes)),
            );
        } else if name != Path::new("timing.json") {
            let mut bytes = std::fs::read(&entry).unwrap();
            if name == Path::new("manifest.json") {
                let mut manifest: Value = serde_json::from_slice(&bytes).unwrap();
                assert!(manifest["command_line"].take().is_array());
                bytes = manifest.to_string().into_bytes();
            }
            files.insert(name, bytes);
        }
    }
    files
}

/// Returns the files of the rows that were kept for the folder `out` of a test.
pub(crate) fn parts(room: &Room) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(room.path(".out.rows"))
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|of| of == "part")).collect()
}

#[derive(Clone, Copy, PartialEq)]
enum Stop {
    /// Ctrl-C, which the command handles.
    Interrupt,
    /// SIGKILL, after which the command cannot print or remove anything.
    Kill,
}

/// Starts a command, and stops it when it has kept this number of rows.
fn stopped(room: &Room, args: &[&str], rows: usize, stop: Stop) -> Done {
    let mut child = command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while parts(room).len() < rows {
        assert!(child.try_wait().unwrap().is_none(), "it was over before it was stopped");
        std::thread::sleep(Duration::from_millis(2));
    }
    match stop {
        Stop::Interrupt => interrupt(&mut child),
        Stop::Kill => child.kill().unwrap(),
    }
    finished(child.wait_with_output().unwrap())
}

const COMPARE: &str = "compare --drive tiny --workload uniform-read --set workload.footprint=0.01 \
    --threads 1 --seeds 3 --set workload.requests=";

fn compare<'a>(requests: &'a str, more: &[&'a str], out: &'a str) -> Vec<String> {
    let args = format!("{COMPARE}{requests}");
    args.split(' ').chain(more.iter().copied()).chain(["--out", out]).map(str::to_owned).collect()
}

fn run(args: &[String]) -> Done {
    vpass(&args.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Stops a command, runs it again, and compares the results with an uninterrupted run in another
/// folder. Returns the output of the first and of the second run.
#[track_caller]
fn goes_on(room: &Room, args: &[&str], rows: usize, stop: Stop) -> (Done, Done) {
    let at = |out: &str| {
        [args, &["--out", out]].concat().into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let (out, whole) = (room.text("out"), room.text("whole"));
    let first = stopped(room, &at(&out).iter().map(String::as_str).collect::<Vec<_>>(), rows, stop);
    assert!(!room.path("out").exists(), "only a whole folder has its name");
    let kept = parts(room).len();
    assert!(kept >= rows);
    let second = run(&at(&out));
    assert!(second.stderr.contains(&format!("vpass: {kept} of ")), "{}", second.stderr);
    assert_eq!(second.stderr.matches("; --fresh repeats all runs").count(), 1, "{}", second.stderr);
    let in_one_go = run(&at(&whole));
    assert_eq!(
        (second.code, &second.stdout),
        (in_one_go.code, &in_one_go.stdout),
        "{}",
        second.stderr
    );
    assert_eq!(content(&room.path("out")), content(&room.path("whole")));
    assert_eq!(
        room.names().iter().filter(|name| name.starts_with('.')).count(),
        0,
        "{:?}",
        room.names()
    );
    (first, second)
}

#[test]
fn a_comparison_that_is_interrupted_says_what_it_keeps_and_goes_on() {
    let room = Room::new();
    let args = format!("{COMPARE}2e5 --reclaim none,block");
    let (first, _) = goes_on(&room, &args.split(' ').collect::<Vec<_>>(), 2, Stop::Interrupt);
    let folder = room.text(".out.rows");
    let says = format!(
        "finished runs kept in {folder}: the same command continues from there; with --fresh, the \
         command starts again"
    );
    first.refuses(130, &["vpass: interrupted; ", &says]);
}

#[test]
fn a_comparison_that_is_killed_goes_on_and_names_what_it_left() {
    let room = Room::new();
    let args = format!("{COMPARE}2e5 --reclaim none,block --gear untimed");
    let (first, second) =
        goes_on(&room, &args.replace("2e5", "2e6").split(' ').collect::<Vec<_>>(), 2, Stop::Kill);
    assert_eq!((first.code, first.stderr.as_str()), (-1, ""));
    let says = ".out.unfinished-";
    assert!(
        second.stderr.contains(says)
            && second.stderr.contains("was left by a run that was killed, and is now removed"),
        "{}",
        second.stderr
    );
}

#[test]
fn rows_that_lost_data_and_drives_that_stopped_are_kept_as_they_are() {
    let room = Room::new();
    // Parity with three pages per stripe leaves no space for the data of a failed plane. Without
    // parity, this data is lost.
    let args = "compare --drive tiny --workload uniform-read --set workload.requests=4e5 --threads \
        1 --seeds 2 --reclaim none \
                --parity raid5,none --fail plane:2@r1000 --set drive.capacity=600MiB --set \
                drive.spare=0.35 --set parity.stripe=3";
    let (_, second) =
        goes_on(&room, &args.split_whitespace().collect::<Vec<_>>(), 3, Stop::Interrupt);
    assert_eq!(second.code, 1, "{}", second.stderr);
    assert!(second.stderr.contains("the drive stopped"), "{}", second.stderr);
    assert!(second.stdout.contains("`none + none` lost data: "), "{}", second.stdout);
}

#[test]
fn another_configuration_seed_or_build_takes_nothing() {
    let room = Room::new();
    let out = room.text("out");
    let first = compare("2e5", &["--reclaim", "none,block"], &out);
    stopped(&room, &first.iter().map(String::as_str).collect::<Vec<_>>(), 2, Stop::Kill);
    let taken = |done: &Done| {
        assert_eq!(done.code, 0, "{}", done.stderr);
        std::fs::remove_dir_all(room.path("out")).unwrap();
        done.stderr.contains(" taken from ")
    };
    let others = [
        compare("3e4", &["--reclaim", "none,block"], &out),
        compare("2e5", &["--reclaim", "page-type", "--seed", "7"], &out),
    ];
    for other in others {
        let done = run(&other);
        assert!(!taken(&done), "{}", done.stderr);
        assert!(done.stderr.contains("finished runs with other settings"), "{}", done.stderr);
    }
    // A program file with one more byte counts as another build.
    let build = room.text("vpass");
    let mut program = std::fs::read(env!("CARGO_BIN_EXE_vpass")).unwrap();
    program.push(0);
    std::fs::write(&build, program).unwrap();
    std::fs::set_permissions(&build, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let done = finished(Command::new(&build).args(&first).output().unwrap());
    assert!(!taken(&done), "{}", done.stderr);
    let kept = parts(&room);
    assert!(kept.len() >= 2, "no other rows were removed");
    // A damaged row is run again. Each of three seeds has two rows and a twin.
    let bytes = std::fs::read(&kept[0]).unwrap();
    std::fs::write(&kept[0], &bytes[..bytes.len() - 1]).unwrap();
    let done = run(&first);
    assert!(
        done.stderr.contains(&format!("vpass: {} of 9 finished runs taken", kept.len() - 1)),
        "{}",
        done.stderr
    );
    assert!(taken(&done) && parts(&room).is_empty(), "{:?}", room.names());
}

#[test]
fn fresh_starts_again() {
    let room = Room::new();
    let out = room.text("out");
    let args = compare("2e5", &["--reclaim", "none,block"], &out);
    stopped(&room, &args.iter().map(String::as_str).collect::<Vec<_>>(), 1, Stop::Interrupt);
    let done = run(&[&args[..], &["--fresh".to_owned()]].concat());
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        done.stderr.contains("vpass: --fresh: ") && !done.stderr.contains(" taken from "),
        "{}",
        done.stderr
    );
    assert_eq!(room.names(), ["out"]);
}

#[test]
fn another_content_of_a_trace_takes_nothing() {
    let room = Room::new();
    let (trace, out) = (room.text("a.csv"), room.text("out"));
    let rows = |step: u64| {
        msr_reads(
            &(0..40_000u64).map(|n| n * step % (1 << 20) * 4096 % (1 << 28)).collect::<Vec<_>>(),
        )
    };
    let line = format!(
        "compare --drive tiny --trace {trace} --reclaim none,block,page-type --threads 1 \
        --out {out}"
    );
    let args = argv(&line);
    room.file("a.csv", &rows(1));
    stopped(&room, &args, 1, Stop::Kill);
    let kept = parts(&room).len();
    room.file("a.csv", &rows(3));
    let other = vpass(&args);
    assert!(other.code == 0 && !other.stderr.contains(" taken from "), "{}", other.stderr);
    std::fs::remove_dir_all(room.path("out")).unwrap();
    room.file("a.csv", &rows(1));
    let same = vpass(&args);
    assert!(
        same.stderr.contains(&format!("vpass: {kept} of 4 finished runs taken from")),
        "{}",
        same.stderr
    );
}

#[test]
fn lives_that_ended_are_kept() {
    let room = Room::new();
    let workload =
        room.file("w.toml", "[workload]\nread_share = 0.5\nrate = 2000\nrequests = 1000000\n");
    let line = format!(
        "life --drive tiny --workload {workload} --years 1e-5 --threads 1 --reclaim block,none \
        --seeds 3"
    );
    let args = argv(&line);
    let (first, _) = goes_on(&room, &args, 2, Stop::Interrupt);
    first.refuses(130, &["vpass: interrupted; ", "finished runs kept in "]);
}

/// A continued command keeps each life under its own key, so the next command finds this life.
#[test]
fn lives_that_are_stopped_twice_are_those_of_their_seeds() {
    let room = Room::new();
    let workload =
        room.file("w.toml", "[workload]\nread_share = 0.5\nrate = 2000\nrequests = 1000000\n");
    let args = format!(
        "life --drive tiny --workload {workload} --years 3e-6 --threads 1 --reclaim block \
        --seeds 5 --out {}",
        room.text("out")
    );
    let args: Vec<&str> = args.split(' ').collect();
    stopped(&room, &args, 1, Stop::Kill);
    stopped(&room, &args, 3, Stop::Kill);
    let third = vpass(&args);
    assert!(third.stderr.contains(" finished runs taken from "), "{}", third.stderr);
    let whole = room.text("whole");
    let in_one_go = vpass(&[&args[..args.len() - 1], &[whole.as_str()]].concat());
    assert_eq!((third.code, third.stdout), (in_one_go.code, in_one_go.stdout));
    assert_eq!(content(&room.path("out")), content(&room.path("whole")));
}

/// vpass simulates one plan with several kinds of windows. Each of these lives has its own row.
#[test]
fn lives_of_one_plan_with_several_windows_are_apart() {
    let room = Room::new();
    let args = "life --drive tiny --workload zipf-read --set workload.rate=10000 --set \
        workload.read_share=0.5 --set drive.capacity=128MiB --set drive.rated_pec=300 --reclaim \
        block --within 0.02 --oracle off";
    let args: Vec<&str> = args.split_whitespace().collect();
    let plain = vpass(&args);
    assert!(plain.stderr.contains("rung 2: "), "{}", plain.stderr);
    let kept = vpass(&[&args[..], &["--out", &room.text("out")]].concat());
    assert_eq!((kept.code, kept.stdout), (plain.code, plain.stdout));
}

/// The limits that end a life are part of its key.
#[test]
fn lives_of_another_length_are_others() {
    let room = Room::new();
    let workload =
        room.file("w.toml", "[workload]\nread_share = 0.5\nrate = 2000\nrequests = 1000000\n");
    let of = |years: &str| {
        format!(
            "life --drive tiny --workload {workload} --years {years} --exact --threads 1 \
            --reclaim block --seeds 2 --out {}",
            room.text("out")
        )
    };
    stopped(&room, &of("3e-6").split(' ').collect::<Vec<_>>(), 1, Stop::Kill);
    let other = vpass(&of("1e-6").split(' ').collect::<Vec<_>>());
    assert_eq!(other.code, 0, "{}", other.stderr);
    assert!(!other.stderr.contains(" taken from "), "{}", other.stderr);
    assert!(other.stderr.contains("with other settings"), "{}", other.stderr);
}
