//! Tests of commands that are killed while they end. The same command then goes on or starts anew,
//! and its files have the same bytes as those of a command that nothing disturbs.
#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use vpass_drive::base::splitmix::fraction;

use crate::common::{Done, Room, command, finished, vpass};
use crate::kept::{content, parts};

/// Command with a results folder, and what it leaves without a kill.
struct Case {
    args: &'static str,
    /// Sweep that has written its results into the folder before.
    earlier: Option<&'static str>,
    /// File that only complete results have.
    mark: &'static str,
    /// Number of finished runs that the command keeps for a later command.
    runs: usize,
}

const SWEEP: &str = "compare --drive tiny --workload zipf-read --gear untimed --threads 1 \
    --reclaim block,none --set workload.requests=100k --sweep start.pec=0,700,1400";
const CASES: [Case; 4] = [
    Case { args: SWEEP, earlier: None, mark: "sweep.json", runs: 6 },
    Case {
        args: SWEEP,
        earlier: Some(
            "compare --drive tiny --workload zipf-read --gear untimed --threads 1 \
             --reclaim block,none --set workload.requests=100k --sweep start.pec=0",
        ),
        mark: "sweep.json",
        runs: 6,
    },
    Case {
        args: "compare --drive tiny --workload uniform-read --set workload.requests=50k \
               --threads 1 --seeds 2 --reclaim none,block",
        earlier: None,
        mark: "compare.json",
        runs: 4,
    },
    Case {
        args: "life --drive tiny --workload uniform-read --set workload.read_share=0.5 \
               --set workload.rate=2000 --years 1e-6 --exact --threads 1 --seeds 2 \
               --reclaim none,block",
        earlier: None,
        mark: "life.json",
        runs: 4,
    },
];

type Content = BTreeMap<PathBuf, Vec<u8>>;

fn words<'a>(args: &'a str, out: &'a str) -> Vec<&'a str> {
    args.split_whitespace().chain(["--out", out]).collect()
}

impl Case {
    /// Runs a command without a kill in a room of its own. Returns the content of its folder.
    fn undisturbed(args: &str) -> Content {
        let room = Room::new();
        Self::run(args, &room);
        content(&room.path("out"))
    }

    #[track_caller]
    fn run(args: &str, room: &Room) -> Done {
        let done = vpass(&words(args, &room.text("out")));
        assert_eq!(done.code, 0, "{args}: {}", done.stderr);
        done
    }

    /// Checks the folder that a killed command left. Complete results are those of one command.
    /// Then runs the command again, and checks its results.
    #[track_caller]
    fn goes_on(&self, room: &Room, (earlier, whole): (&Content, &Content), moment: &str) {
        let out = room.path("out");
        if out.join(self.mark).exists() {
            let mut left = content(&out);
            left.retain(|name, _| !name.to_str().unwrap().starts_with('.'));
            assert!(left == *whole || left == *earlier, "{moment}: files of two commands");
        }
        // Without a sweep, complete results are the end of the command.
        if self.mark == "sweep.json" || !out.exists() {
            Self::run(self.args, room);
            let hidden = room.names().into_iter().filter(|name| name != "out").collect::<Vec<_>>();
            let kept = if self.mark == "sweep.json" { vec![".out.rows"] } else { vec![] };
            assert_eq!(hidden, kept, "{moment}");
        }
        let left = content(&out);
        let names = || whole.keys().chain(left.keys());
        let other: Vec<_> = names().filter(|name| left.get(*name) != whole.get(*name)).collect();
        assert!(other.is_empty(), "{moment}: {other:?}");
    }

    /// Kills the command at moments that follow from a seed: when all runs but two, one or none are
    /// kept, and 1 microsecond to 0.3 s later.
    fn is_killed_at_random(&self, kills: u64) {
        let whole = Self::undisturbed(self.args);
        let earlier = self.earlier.map(Self::undisturbed).unwrap_or_default();
        for n in 0..kills {
            let room = Room::new();
            self.earlier.map(|args| Self::run(args, &room));
            let runs = self.runs - (3.0 * fraction(1, n)) as usize;
            let delay = Duration::from_secs_f64(1e-6 * 3e5f64.powf(fraction(2, n)));
            let mut child = command(&words(self.args, &room.text("out")))
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
            self.goes_on(&room, (&earlier, &whole), &format!("{}: kill {n}", self.args));
        }
    }
}

#[test]
fn a_command_that_is_killed_at_its_end_goes_on() {
    CASES.iter().for_each(|case| case.is_killed_at_random(3));
}

/// Kills each command 60 times.
#[test]
#[ignore = "minutes: a part of `make soak`"]
fn a_command_that_is_killed_at_its_end_60_times_goes_on() {
    CASES.iter().for_each(|case| case.is_killed_at_random(60));
}

/// Kills a larger sweep before each call of the system that changes its folder.
#[test]
fn a_sweep_that_is_killed_between_two_calls_goes_on() {
    if Command::new("strace").arg("-V").output().is_err() {
        eprintln!("skipped: there is no strace");
        return;
    }
    let case = &CASES[1];
    let (earlier, whole) = (Case::undisturbed(case.earlier.unwrap()), Case::undisturbed(case.args));
    let room = Room::new();
    Case::run(case.args, &room);
    // Four files are synced, one is removed, and four get their names. The folder is synced after
    // each of the last five.
    for (call, times) in [("fsync", 4 + 1 + 4), ("unlink", 1), ("rename", 4)] {
        for n in 1..=times + 1 {
            std::fs::remove_dir_all(room.path("out")).unwrap();
            Case::run(case.earlier.unwrap(), &room);
            let inject = format!("inject={call}:signal=SIGKILL:when={n}");
            let traced = Command::new("strace")
                .args(["-f", "-o", "/dev/null", "-e", &inject, env!("CARGO_BIN_EXE_vpass")])
                .args(words(case.args, &room.text("out")))
                .output()
                .unwrap();
            let done = finished(traced);
            if done.stderr.contains("strace:") {
                eprintln!("skipped: {}", done.stderr);
                return;
            }
            assert_eq!(done.code == 0, n > times, "{call} {n}: {}", done.stderr);
            case.goes_on(&room, (&earlier, &whole), &format!("{call} {n}"));
        }
    }
}
