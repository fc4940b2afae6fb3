//! Tests of `vpass serve`. Tests with clients are skipped where nbdkit, its clients or the plug-in
//! are missing.

use std::path::Path;
use std::process::Command;

use crate::common::{command, finished};

/// Returns whether the programs and the plug-in of a test are there. Names those that are missing.
fn is_ready(test: &str, programs: &[&str]) -> bool {
    let plug_in = Path::new(env!("CARGO_BIN_EXE_vpass")).with_file_name("libvpass_nbdkit.so");
    let is_absent = |program: &&&str| Command::new(program).arg("--version").output().is_err();
    let absent: Vec<&str> = programs.iter().filter(is_absent).copied().collect();
    let is_ready = absent.is_empty() && plug_in.is_file();
    assert!(
        is_ready || std::env::var_os("VPASS_LIVE").is_none(),
        "{test}: {absent:?} or {} is missing",
        plug_in.display()
    );
    is_ready
}

#[test]
fn without_nbdkit_the_message_says_what_to_install() {
    let mut serve = command(&["serve", "--drive", "tiny"]);
    let done = finished(serve.env("PATH", "/nowhere").output().unwrap());
    done.refuses(2, &["nbdkit cannot be started", "apt-get install nbdkit"]);
}

#[test]
fn a_file_is_no_socket_and_stays() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-socket");
    if !is_ready("a_file_is_no_socket_and_stays", &["nbdkit"]) {
        return;
    }
    std::fs::write(&file, "mine").unwrap();
    let path = file.display().to_string();
    let done =
        finished(command(&["serve", "--drive", "tiny", "--socket", &path]).output().unwrap());
    done.refuses(2, &["exists and is not a socket"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn a_copy_to_the_drive_and_back_is_the_same() {
    if !is_ready("a_copy_to_the_drive_and_back_is_the_same", &["nbdkit", "nbdcopy", "sh"]) {
        return;
    }
    let script = "set -e; f=$(mktemp); head -c 8388608 /dev/urandom > $f; nbdcopy $f \"$uri\"; \
        nbdcopy \"$uri\" $f.back; cmp -n 8388608 $f $f.back; rm $f $f.back";
    let args =
        ["serve", "--drive", "tiny", "--set", "drive.capacity=96MiB", "--oracle", "full", "--json"];
    let done = finished(command(&[&args[..], &["--", script]].concat()).output().unwrap());
    assert_eq!(done.code, 0, "{}", done.stderr);
    let host = &done.json()["host"];
    assert!(host["write_bytes"].as_u64().unwrap() >= 8 << 20, "{host}");
}

#[test]
fn the_code_of_a_failing_command_is_the_code_of_the_server() {
    if !is_ready("the_code_of_a_failing_command_is_the_code_of_the_server", &["nbdkit", "sh"]) {
        return;
    }
    let done = finished(command(&["serve", "--drive", "tiny", "--", "exit 7"]).output().unwrap());
    assert_eq!(done.code, 7, "{}", done.stderr);
}
