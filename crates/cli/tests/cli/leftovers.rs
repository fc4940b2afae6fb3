//! Tests of hidden folders and files. Each run has its own, writes it to the disk, and removes only
//! leftovers of killed runs.
#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]
#![cfg(target_os = "linux")]

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::{Room, argv, command, finished, interrupt, msr_reads, names_in, vpass};

const LONG: [&str; 7] =
    ["run", "--drive", "tiny", "--workload", "uniform-read", "--set", "workload.requests=1e12"];

fn hidden(room: &Room) -> Vec<PathBuf> {
    room.names()
        .into_iter()
        .filter(|name| name.starts_with(".out.unfinished-"))
        .map(|name| room.path(&name))
        .collect()
}

#[test]
fn two_runs_at_one_place_keep_apart_even_with_one_process_number() {
    let room = Room::new();
    let out = room.text("out");
    let mut first =
        command(&[&LONG[..], &["--out", &out]].concat()).stderr(Stdio::piped()).spawn().unwrap();
    while hidden(&room).is_empty() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let of_first = hidden(&room).remove(0);
    // In another container, a process may have the same number, but the random part of the name
    // differs.
    let number = of_first
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .strip_prefix(".out.unfinished-")
        .unwrap()
        .to_owned();
    assert!(
        number.split_once('-').is_some_and(
            |(process, random)| process == first.id().to_string() && random.len() == 12
        ),
        "{number}"
    );
    let line = format!(
        "run --drive tiny --workload uniform-read --set workload.requests=2000 --out {out}"
    );
    let short = argv(&line);
    let second = vpass(&short);
    assert_eq!((second.code, second.stderr.as_str()), (0, ""));
    assert!(of_first.exists(), "the folder of a run that lives stays");
    interrupt(&mut first);
    finished(first.wait_with_output().unwrap()).refuses(130, &["interrupted; nothing was written"]);
    assert_eq!(room.names(), ["out"]);
    assert_eq!(names_in(&room.path("out")).len(), 12, "and so does the other's");
}

#[test]
fn what_a_killed_run_left_is_named_and_removed_and_nothing_else() {
    let room = Room::new();
    let out = room.text("out");
    let mut killed = command(&[&LONG[..], &["--out", &out]].concat()).spawn().unwrap();
    while hidden(&room).is_empty() {
        std::thread::sleep(Duration::from_millis(5));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    let left = hidden(&room).remove(0);
    for other in [".out.unfinished-17", ".other.unfinished-17-0123456789ab", ".out.unfinished-mine"]
    {
        std::fs::create_dir(room.path(other)).unwrap();
    }
    let line = format!(
        "run --drive tiny --workload uniform-read --set workload.requests=2000 --out {out}"
    );
    let short = argv(&line);
    let done = vpass(&short);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(
        done.stderr,
        format!(
            "vpass: {} was left by a run that was killed, and is now removed\n",
            left.display()
        )
    );
    assert_eq!(
        room.names(),
        [".other.unfinished-17-0123456789ab", ".out.unfinished-17", ".out.unfinished-mine", "out"]
    );
}

/// If another program takes the place of a run's results meanwhile, the results get another name.
/// No later run removes them as a leftover.
#[test]
fn whole_results_whose_place_is_taken_stay() {
    let room = Room::new();
    let out = room.text("out");
    let line =
        format!("run --drive tiny --workload uniform-read --set workload.requests=3e5 --out {out}");
    let args = argv(&line);
    let child = command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while hidden(&room).is_empty() {
        std::thread::sleep(Duration::from_millis(1));
    }
    std::fs::create_dir(&out).unwrap();
    room.file("out/mine.txt", "");
    let done = finished(child.wait_with_output().unwrap());
    assert!(
        done.code == 1
            && done.stderr.contains("is not empty")
            && done.stderr.contains("; the results are in "),
        "{}",
        done.stderr
    );
    let aside = room
        .names()
        .into_iter()
        .find(|name| name.starts_with(".out.whole-"))
        .expect("the results have a name of their own");
    std::fs::remove_dir_all(&out).unwrap();
    assert_eq!(vpass(&args).stderr, "");
    assert_eq!(names_in(&room.path(&aside)), names_in(&room.path("out")));
}

#[test]
fn results_are_on_the_disk_before_they_have_their_name() {
    if Command::new("strace").arg("-V").output().is_err() {
        eprintln!("skipped: there is no strace");
        return;
    }
    let room = Room::new();
    let (out, log, trace) =
        (room.text("out"), room.text("log"), room.file("a.csv", &msr_reads(&[0, 4096])));
    let line = format!(
        "run --drive tiny --workload uniform-read --set workload.requests=2000 --out {out}"
    );
    let short = argv(&line);
    let convert = ["trace", "convert", &trace, &room.text("a.vpt")];
    for (args, name, synced) in [(&short[..], "out", 14), (&convert, "a.vpt", 2)] {
        let strace = [
            "-f",
            "-y",
            "-o",
            &log,
            "-e",
            "trace=fsync,rename,renameat,renameat2",
            env!("CARGO_BIN_EXE_vpass"),
        ];
        let done = finished(Command::new("strace").args(strace).args(args).output().unwrap());
        if done.stderr.contains("strace:") {
            eprintln!("skipped: {}", done.stderr);
            return;
        }
        assert_eq!(done.code, 0, "{}", done.stderr);
        let calls = std::fs::read_to_string(&log).unwrap();
        let calls: Vec<&str> = calls
            .lines()
            .filter(|line| line.contains("fsync(") || line.contains("rename"))
            .collect();
        let renamed = calls
            .iter()
            .position(|call| call.contains("rename") && call.contains(&format!("/{name}\"")))
            .expect("it got its name");
        let before = calls[..renamed]
            .iter()
            .filter(|call| call.contains("fsync(") && call.contains(".unfinished-"))
            .count();
        // Twelve files and their folder are synced before the rename, and the parent folder after
        // it.
        assert_eq!((before, calls.len() - renamed - 1), (synced - 1, 1), "{calls:#?}");
        assert!(calls[renamed + 1].contains("fsync("), "{calls:#?}");
    }
}

/// If a run ends early, the parent folders that it made are removed, unless they are in use.
#[test]
fn a_run_that_ends_early_removes_the_folders_that_it_made_and_nothing_else() {
    for is_used in [false, true] {
        let room = Room::new();
        std::fs::create_dir(room.path("old")).unwrap();
        let out = room.text("old/a/b/out");
        let mut run = command(&[&LONG[..], &["--out", &out]].concat())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        while !room.path("old/a/b").exists() || names_in(&room.path("old/a/b")).is_empty() {
            std::thread::sleep(Duration::from_millis(5));
        }
        if is_used {
            room.file("old/a/mine.txt", "");
        }
        interrupt(&mut run);
        finished(run.wait_with_output().unwrap()).refuses(130, &["nothing was written"]);
        let left = if is_used { vec!["mine.txt"] } else { vec![] };
        assert_eq!(room.path("old/a").exists(), is_used);
        assert_eq!(if is_used { names_in(&room.path("old/a")) } else { vec![] }, left);
        assert!(room.path("old").exists(), "it was there before");
    }
}

#[test]
fn a_place_that_cannot_be_written_leaves_no_folder() {
    let room = Room::new();
    // This is the longest possible name. The name of the hidden folder is longer, and therefore
    // fails.
    let out = room.text(&format!("new/{}", "o".repeat(255)));
    vpass(&[&LONG[..], &["--out", &out]].concat()).refuses(2, &["cannot be written: "]);
    assert!(room.names().is_empty(), "{:?}", room.names());
}

/// A file that appears meanwhile at the place of a conversion is kept.
#[test]
fn a_conversion_replaces_nothing_that_appears_meanwhile() {
    let room = Room::new();
    let trace = room.file("a.csv", &msr_reads(&(0..600_000).map(|n| 4096 * n).collect::<Vec<_>>()));
    let out = room.text("out");
    let convert = command(&["trace", "convert", &trace, &out, "--to", "compact"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while hidden(&room).is_empty() {
        std::thread::sleep(Duration::from_millis(1));
    }
    room.file("out", "mine");
    finished(convert.wait_with_output().unwrap()).refuses(2, &["exists; --force replaces it"]);
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "mine");
    assert_eq!(room.names(), ["a.csv", "out"]);
}
