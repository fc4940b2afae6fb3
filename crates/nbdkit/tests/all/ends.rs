//! Ends of clients, of data, of memory and of the server.

use std::fs;
use std::thread;
use std::time::Duration;

use vpass_drive::base::splitmix;

use crate::client::{Client, Command, EIO, ENOSPC};
use crate::served::{Done, PAGE, Room};

#[test]
fn a_client_that_is_killed_harms_no_other() {
    let Some(room) = Room::of("a_client_that_is_killed_harms_no_other", &["nbdkit"]) else {
        return;
    };
    let server = room.begin(&[]);
    let mut stays = Client::connect(&server.socket).unwrap();
    for n in 0..50u8 {
        let mut leaves = Client::connect(&server.socket).unwrap();
        // One request is under way: nbdkit 1.32 ends if a client vanishes with several of them.
        if n % 2 == 0 {
            leaves.send(Command::Read, 0, PAGE as u32, &[]).unwrap();
        } else {
            // The header of a write, without all of its data.
            leaves.send(Command::Write, 0, PAGE as u32, &[9; 1000]).unwrap();
        }
        drop(leaves);
        let data = vec![n; 2 * PAGE as usize];
        stays.write(50 * PAGE, &data).unwrap();
        assert!(stays.read(50 * PAGE, 2 * PAGE as u32).unwrap() == data);
    }
    assert!(stays.read(0, PAGE as u32).unwrap() == vec![0; PAGE as usize]);
    drop(stays);
    server.end().summary(0);
}

#[test]
fn sigterm_answers_requests_under_way_and_shows_the_results() {
    let name = "sigterm_answers_requests_under_way_and_shows_the_results";
    let Some(room) = Room::of(name, &["nbdkit"]) else { return };
    // A read takes 0.8 s of real time.
    let server = room.begin(&["--dilate", "40000", "--out", "results", "--html", "page.html"]);
    let mut client = Client::connect(&server.socket).unwrap();
    client.send(Command::Read, 0, PAGE as u32, &[]).unwrap();
    thread::sleep(std::time::Duration::from_millis(100));
    let reply = thread::spawn(move || client.receive(PAGE as u32));
    let done = server.end();
    assert!(reply.join().unwrap().unwrap().unwrap() == vec![0; PAGE as usize]);
    let summary = done.summary(0);
    assert_eq!(summary["host"]["read_requests"], 1);
    let stored = fs::read_to_string(room.path("results/summary.json")).unwrap();
    let stored: serde_json::Value = serde_json::from_str(&stored).unwrap();
    assert_eq!(stored["host"], summary["host"]);
    assert!(fs::read_to_string(room.path("page.html")).unwrap().contains("</html>"));
    assert!(done.stderr.contains("replies came"), "{}", done.stderr);
}

#[test]
fn a_recorded_run_is_repeated_to_the_nanosecond() {
    repeat_a_recorded_run("a_recorded_run_is_repeated_to_the_nanosecond", true);
}

#[test]
fn a_recorded_run_with_flushes_is_repeated_to_the_nanosecond() {
    repeat_a_recorded_run("a_recorded_run_with_flushes_is_repeated_to_the_nanosecond", false);
}

/// Serves and records clients that read, write and flush while flash fails, and repeats the run.
fn repeat_a_recorded_run(name: &str, protected: bool) {
    let Some(room) = Room::of(name, &["nbdkit"]) else { return };
    let fails = ["--fail", "page:5@r2000,block:7@50ms,die:1@r3000"];
    let buffer = format!("drive.write_buffer_protected={protected}");
    let drive = ["--set", &buffer, "--set", "drive.spare=0.7"];
    let record = ["--record", "run.vpt", "--out", "live"];
    let server = room.begin(&[&drive[..], &fails, &record].concat());
    let clients = [1, 2].map(|seed| {
        let mut client = Client::connect(&server.socket).unwrap();
        thread::spawn(move || {
            for n in 0..2000 {
                let draw = |k: u64| splitmix::number(seed, 3 * n + k);
                let (page, sectors) = (draw(0) % 100, 1 + draw(1) % 20);
                if draw(2) % 40 == 1 {
                    client.other(Command::Flush, 0, 0).unwrap();
                } else if draw(2) % 4 == 0 {
                    let data = vec![n as u8; 512 * sectors as usize];
                    let with_flush = n % 16 == 0;
                    client.write_through(page * PAGE, &data, with_flush).unwrap();
                } else {
                    // Failed flash may have lost the page.
                    let _ = client.read(page * PAGE, 512 * sectors as u32);
                }
            }
        })
    });
    for client in clients {
        client.join().unwrap();
    }
    // The drive then works for itself, and the record says until when.
    thread::sleep(Duration::from_millis(200));
    let live = server.end().summary_of(&[0, 3]);
    let trace = [&drive[..], &["--trace", "run.vpt", "--out", "run"]].concat();
    let given_twice = room.vpass("run", &[&fails[..], &trace].concat()).output().unwrap();
    let given_twice = Done::of(given_twice);
    assert!(given_twice.code == 2 && given_twice.stderr.contains("the recording holds failures"));
    let run = Done::of(room.vpass("run", &trace).output().unwrap()).summary_of(&[0, 3]);
    let all = ["host", "flash", "latency_us", "reclaim", "wear", "data_lost_pages", "oracle"];
    for what in all.into_iter().chain(["failures"]) {
        assert_eq!(live[what], run[what], "{what}");
    }
    let last = |folder: &str| {
        let series = fs::read_to_string(room.path(folder).join("series.csv")).unwrap();
        series.lines().last().unwrap().to_owned()
    };
    assert_eq!(last("live"), last("run"));
}

#[test]
fn lost_data_is_an_error_until_it_is_written_again() {
    let name = "lost_data_is_an_error_until_it_is_written_again";
    let Some(room) = Room::of(name, &["nbdkit"]) else { return };
    let server = room.begin(&["--reclaim", "none", "--fast-load", "1000"]);
    let mut client = Client::connect(&server.socket).unwrap();
    let page = PAGE as u32;
    for _ in 0..1000 {
        client.read(0, page).expect("reads disturb other data first");
    }
    let lost = (0..1024).map(|n| n * PAGE).find(|at| client.read(*at, page) == Err(EIO));
    let lost = lost.expect("the read limit is about 90 reads of a page beside");
    client.write(lost, &[1; 512]).unwrap();
    assert_eq!(client.read(lost, page), Err(EIO), "a part is new, the rest is lost");
    client.write(lost, &[1; PAGE as usize]).unwrap();
    assert_eq!(client.read(lost, page), Ok(vec![1; PAGE as usize]));
    drop(client);
    let done = server.end();
    assert!(done.summary(3)["data_lost_pages"].as_u64().unwrap() > 0);
}

#[test]
fn without_memory_a_write_fails_and_harms_nothing() {
    let name = "without_memory_a_write_fails_and_harms_nothing";
    let Some(room) = Room::of(name, &["nbdkit"]) else { return };
    let server = room.begin(&["--memory", "1MiB", "--fast-load", "1000"]);
    let mut client = Client::connect(&server.socket).unwrap();
    let page = |n: u64| vec![n as u8 + 1; PAGE as usize];
    let kept = (0..1024).take_while(|n| client.write(n * PAGE, &page(n % 100)).is_ok()).count();
    assert!((50..256).contains(&kept), "{kept} pages");
    assert_eq!(client.write(1000 * PAGE, &page(0)), Err(ENOSPC));
    for n in 0..kept as u64 {
        assert!(client.read(n * PAGE, PAGE as u32) == Ok(page(n % 100)), "page {n}");
    }
    assert!(client.read(1000 * PAGE, PAGE as u32) == Ok(vec![0; PAGE as usize]));
    drop(client);
    server.end().summary(0);
}

#[test]
fn the_code_of_a_failing_command_is_the_code_of_the_server() {
    let name = "the_code_of_a_failing_command_is_the_code_of_the_server";
    let Some(room) = Room::of(name, &["nbdkit"]) else { return };
    room.serve(&[], "exit 7").summary(7);
}

#[test]
fn hints_of_the_host_reach_the_drive() {
    let Some(room) = Room::of("hints_of_the_host_reach_the_drive", &["nbdkit"]) else { return };
    let hints = "[[range]]\noffset = \"0B\"\nbytes = \"1MiB\"\naccess_latency = \"idle\"\n";
    fs::write(room.path("hints.toml"), hints).unwrap();
    let server = room.begin(&["--drive", "aged-tlc", "--hints", "hints.toml"]);
    let mut client = Client::connect(&server.socket).unwrap();
    for n in 0..10 {
        client.read(n * 16384, 16384).unwrap();
    }
    drop(client);
    let summary = server.end().summary(0);
    assert!(!summary["hints"].is_null(), "{summary:#}");
}
