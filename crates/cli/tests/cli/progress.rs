//! Tests of progress lines about long work, with a pipe as standard error.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::common::{command, finished, vpass};

/// Starts a run that takes much longer than a test and prints a line every half second.
fn long_run(more: &[&str]) -> Child {
    let run = ["run", "--drive", "tiny", "--workload", "uniform-read", "--gear", "untimed"];
    let size = ["--set", "workload.requests=100G", "--oracle", "off"];
    let mut command = command(&[&run[..], &size, more].concat());
    command.env("VPASS_PROGRESS", "0.5").stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

#[test]
fn a_long_run_prints_stage_numbers_rate_and_time_left() {
    let began = Instant::now();
    let mut child = long_run(&[]);
    let lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let lines: Vec<_> = lines
        .map(|line| (began.elapsed(), line))
        .take_while(|(at, line)| *at < Duration::from_secs(30) && !line.ends_with(" left"))
        .collect();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(lines[0].1, "vpass: measuring");
    assert!(lines[0].0 >= Duration::from_secs(2), "{lines:?}");
}

#[test]
fn the_lines_have_the_form_of_the_help() {
    let mut child = long_run(&["--reclaim", "none"]);
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let line = lines.find(|line| line.ends_with(" left")).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let words = line.strip_prefix("vpass: measuring: ").unwrap();
    let parts: Vec<&str> = words.split(", ").collect();
    let (done, of) = parts[0].split_once(" of ").unwrap();
    assert_eq!(of, "100,000,000,000 requests");
    let number = |text: &str| text.replace(',', "").parse::<f64>().unwrap();
    let rate = number(parts[1].strip_suffix("/s").unwrap());
    assert!(number(done) > 0.0 && rate > 1000.0, "{line}");
    // The time left must follow from the other numbers in the line.
    let (left, unit) = parts[2].strip_suffix(" left").unwrap().split_once(' ').unwrap();
    let seconds = [("s", 1.0), ("min", 60.0), ("h", 3600.0), ("days", 86_400.0)];
    let unit = seconds.iter().find(|(name, _)| *name == unit).unwrap().1;
    assert!((number(left) * unit - (1e11 - number(done)) / rate).abs() <= unit, "{line}");
}

#[test]
fn quiet_work_prints_nothing() {
    for at in [["--quiet"], ["-q"]] {
        let mut child = long_run(&at);
        std::thread::sleep(Duration::from_secs(4));
        child.kill().unwrap();
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        child.wait().unwrap();
        assert_eq!(said, "");
    }
    // Warnings are still printed, and the option may come before the command.
    let harmless = ["-q", "run", "--drive", "tiny", "--workload", "uniform-read", "--set"];
    let done =
        vpass(&[&harmless[..], &["disturb.model=none", "--set", "workload.requests=10"]].concat());
    assert!(done.stderr.contains("READS DO NO HARM"), "{}", done.stderr);
}

#[test]
fn short_work_prints_nothing_and_a_wrong_interval_is_refused() {
    let run = ["run", "--drive", "tiny", "--workload", "uniform-read", "--set"];
    let run = [&run[..], &["workload.requests=2000"]].concat();
    let with = |said: &str| finished(command(&run).env("VPASS_PROGRESS", said).output().unwrap());
    assert_eq!(with("0.1").stderr, "");
    for said in ["on", "", "0", "-1", "inf", "NaN"] {
        with(said).refuses(2, &["VPASS_PROGRESS", "off", "0.1 to 86,400 seconds"]);
    }
}
