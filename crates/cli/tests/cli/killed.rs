//! Tests of commands that are killed while they end. The same command then goes on or starts anew,
//! and its files have the same bytes as those of a command that nothing disturbs.
#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use vpass_drive::base::splitmix::fraction;

use crate::common::{Done, Room, command, finished};
use crate::kept::{content, parts};

/// Command that writes results, and what it leaves without a kill.
struct Case {
    args: &'static str,
    /// Command that has written its results before.
    earlier: Option<&'static str>,
    /// File that only complete results have.
    mark: &'static str,
    /// Number of finished runs that the command keeps for a later command.
    runs: usize,
}

const SWEEP: &str = "compare --drive tiny --workload zipf-read --gear untimed --threads 1 \
    --reclaim block,none --set workload.requests=100k --sweep start.pec=0,700,1400 --out out";
const COMPARE: &str = "compare --drive tiny --workload uniform-read \
    --set workload.requests=50k --threads 1 --seeds 2 --reclaim none,block --out out";
const CASES: [Case; 7] = [
    Case { args: SWEEP, earlier: None, mark: "out/sweep.json", runs: 6 },
    Case {
        args: SWEEP,
        earlier: Some(
            "compare --drive tiny --workload zipf-read --gear untimed --threads 1 \
            --reclaim block,none --set workload.requests=100k --sweep start.pec=0 --out out",
        ),
        mark: "out/sweep.json",
        runs: 6,
    },
    Case { args: COMPARE, earlier: None, mark: "out/compare.json", runs: 4 },
    Case {
        args: "life --drive tiny --workload uniform-read --set workload.read_share=0.5 \
               --set workload.rate=2000 --years 1e-6 --exact --threads 1 --seeds 2 \
               --reclaim none,block --out out",
        earlier: None,
        mark: "out/life.json",
        runs: 4,
    },
    Case {
        args: "compare --drive tiny --workload uniform-read --set workload.requests=50k \
               --threads 1 --seeds 2 --reclaim none,block --out out --html page.html",
        earlier: None,
        mark: "out/compare.json",
        runs: 4,
    },
    Case {
        args: "compare --drive tiny --workload uniform-read --set workload.requests=50k \
               --threads 1 --seeds 1 --reclaim none,block --html page.html",
        earlier: None,
        mark: "page.html",
        runs: 0,
    },
    Case {
        args: "report out --output page.html",
        earlier: Some(COMPARE),
        mark: "page.html",
        runs: 0,
    },
];

type Content = BTreeMap<PathBuf, Vec<u8>>;

/// Returns the files of a room, without hidden ones.
fn visible(room: &Room) -> Content {
    let mut files = content(&room.path(""));
    files.retain(|name, _| !name.to_str().unwrap().starts_with('.'));
    files
}

/// Returns a program with the arguments of a command. Its folder is the room.
fn within(room: &Room, mut program: Command, args: &str) -> Command {
    program.current_dir(room.path("")).args(args.split_whitespace());
    program
}

fn run(args: &str, room: &Room) -> Done {
    finished(within(room, command(&[]), args).output().unwrap())
}

#[track_caller]
fn complete(args: &str, room: &Room) {
    let done = run(args, room);
    assert_eq!(done.code, 0, "{args}: {}", done.stderr);
}

impl Case {
    /// Runs the command without a kill in a room of its own. Returns its files, those of the
    /// earlier command, and how long the command takes.
    fn undisturbed(&self) -> (Content, Content, Duration) {
        let room = Room::new();
        self.earlier.iter().for_each(|args| complete(args, &room));
        let (earlier, begin) = (visible(&room), Instant::now());
        complete(self.args, &room);
        (visible(&room), earlier, begin.elapsed())
    }

    /// Checks the files that a killed command left. Complete results are those of one command. Then
    /// runs the command again, and checks its results.
    #[track_caller]
    fn goes_on(&self, room: &Room, whole: &Content, earlier: &Content, moment: &str) {
        let is_complete = room.path(self.mark).exists();
        if is_complete {
            let results = |files: &Content| {
                let mut files = files.clone();
                files.retain(|name, _| {
                    let name = name.to_str().unwrap();
                    name.starts_with("out/") && !name.starts_with("out/.")
                });
                files
            };
            let left = results(&visible(room));
            let is_one = [whole, earlier].iter().any(|files| left == results(files));
            assert!(is_one, "{moment}: files of two commands");
        }
        let is_sweep = self.mark == "out/sweep.json";
        // Only a sweep replaces complete results.
        let done = run(self.args, room);
        let expected = if is_complete && !is_sweep { 2 } else { 0 };
        assert_eq!(done.code, expected, "{moment}: {}", done.stderr);
        if self.args.contains("--html") && !room.path("page.html").exists() {
            let report = "report out --output page.html";
            assert!(done.stderr.contains(report), "{moment}: {}", done.stderr);
            complete(report, room);
        }
        let mut hidden = room.names();
        hidden.retain(|name| name.starts_with('.'));
        assert_eq!(hidden, if is_sweep { vec![".out.rows"] } else { vec![] }, "{moment}");
        let left = visible(room);
        let names = whole.keys().chain(left.keys());
        let other: Vec<_> = names.filter(|name| left.get(*name) != whole.get(*name)).collect();
        assert!(other.is_empty(), "{moment}: {other:?}");
    }

    /// Kills the command at moments that follow from a seed. If the command keeps runs: when all
    /// runs but two, one or none are kept, and 1 microsecond to 0.3 s later. Otherwise: at any
    /// moment.
    fn is_killed_at_random(&self, kills: u64) {
        let (whole, earlier, took) = self.undisturbed();
        for n in 0..kills {
            let room = Room::new();
            self.earlier.iter().for_each(|args| complete(args, &room));
            let runs = self.runs.saturating_sub((3.0 * fraction(1, n)) as usize);
            let delay = if self.runs == 0 {
                took.mul_f64(fraction(2, n))
            } else {
                Duration::from_secs_f64(1e-6 * 3e5f64.powf(fraction(2, n)))
            };
            let mut child = within(&room, command(&[]), self.args)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            while parts(&room).len() < runs && child.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_micros(200));
            }
            std::thread::sleep(delay);
            child.kill().unwrap();
            child.wait().unwrap();
            self.goes_on(&room, &whole, &earlier, &format!("{}: kill {n}", self.args));
        }
    }
}

#[test]
fn a_command_that_is_killed_at_its_end_goes_on() {
    for case in &CASES {
        case.is_killed_at_random(3);
    }
}

/// Kills each command 60 times.
#[test]
#[ignore = "minutes: a part of `make soak`"]
fn a_command_that_is_killed_at_its_end_60_times_goes_on() {
    for case in &CASES {
        case.is_killed_at_random(60);
    }
}

/// Runs a command that is killed at its call number `n` of the system. Returns `None` without
/// strace.
fn killed_at(call: &str, n: u32, args: &str, room: &Room) -> Option<Done> {
    let inject = format!("inject={call}:signal=SIGKILL:when={n}");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-o", "/dev/null", "-e", &inject, env!("CARGO_BIN_EXE_vpass")]);
    let done = finished(within(room, strace, args).output().ok()?);
    if done.stderr.contains("strace:") {
        eprintln!("skipped: {}", done.stderr);
        return None;
    }
    Some(done)
}

/// Kills a larger sweep before each call of the system that changes its folder.
#[test]
fn a_sweep_that_is_killed_between_two_calls_goes_on() {
    let case = &CASES[1];
    let (whole, earlier, _) = case.undisturbed();
    let room = Room::new();
    complete(case.args, &room);
    // Four files are synced, one is removed, and four get their names. The folder is synced after
    // each of the last five.
    for (call, times) in [("fsync", 4 + 1 + 4), ("unlink", 1), ("rename", 4)] {
        for n in 1..=times + 1 {
            std::fs::remove_dir_all(room.path("out")).unwrap();
            complete(case.earlier.unwrap(), &room);
            let Some(done) = killed_at(call, n, case.args, &room) else { return };
            assert_eq!(done.code == 0, n > times, "{call} {n}: {}", done.stderr);
            case.goes_on(&room, &whole, &earlier, &format!("{call} {n}"));
        }
    }
}

/// Kills a comparison before each call of the system that gives a file or a folder its name, or
/// removes it.
#[test]
fn a_comparison_that_is_killed_between_two_calls_goes_on() {
    let case = &CASES[2];
    let (whole, earlier, _) = case.undisturbed();
    // The four kept runs are marked, the results get their name, and the runs are removed.
    for (call, times) in [("rename", 4 + 1), ("unlink", 4), ("rmdir", 1)] {
        for n in 1.. {
            let room = Room::new();
            let Some(done) = killed_at(call, n, case.args, &room) else { return };
            if done.code == 0 {
                assert!(n > times, "{call}: only {n}");
                break;
            }
            case.goes_on(&room, &whole, &earlier, &format!("{call} {n}"));
        }
    }
}
