//! Places at which clients find a live drive: Unix sockets and TCP.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};

use crate::client::Client;
use crate::served::{Done, Room};

#[test]
fn without_nbdkit_the_message_says_what_to_install() {
    let Some(room) = Room::of("without_nbdkit_the_message_says_what_to_install", &[]) else {
        return;
    };
    let done = Done::of(room.command(&[]).env("PATH", "/nowhere").output().unwrap());
    assert_eq!(done.code, 2);
    for words in ["nbdkit cannot be started", "apt-get install nbdkit"] {
        assert!(done.stderr.contains(words), "{}", done.stderr);
    }
}

#[test]
fn only_the_user_opens_the_socket_and_it_goes_with_the_server() {
    let name = "only_the_user_opens_the_socket_and_it_goes_with_the_server";
    let Some(room) = Room::of(name, &["nbdkit"]) else { return };
    let server = room.begin(&[]);
    let socket = server.socket.clone();
    let found = fs::metadata(&socket).unwrap();
    assert!(found.file_type().is_socket());
    assert_eq!(found.permissions().mode() & 0o777, 0o600);
    server.end().summary(0);
    assert!(!socket.exists());
}

#[test]
fn a_socket_is_taken_over_only_if_nobody_answers() {
    let name = "a_socket_is_taken_over_only_if_nobody_answers";
    let Some(room) = Room::of(name, &["nbdkit"]) else { return };
    let mut first = room.begin(&[]);
    let second = room.run_until_end(&["--socket", "socket"]);
    assert_eq!(second.code, 2, "{}", second.stderr);
    assert!(second.stderr.contains("another server uses the socket"), "{}", second.stderr);
    Client::connect(&first.socket).expect("the first server still answers");
    // nbdkit ends with vpass and leaves its socket.
    first.child.kill().expect("a child of ours");
    first.child.wait().expect("a child of ours");
    while Client::connect(&first.socket).is_ok() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    fs::metadata(&first.socket).expect("the socket is left");
    let done = room.run_until_end(&["--socket", "socket", "--", "test -S socket"]);
    done.summary(0);
}

#[test]
fn a_file_is_no_socket_and_stays() {
    let Some(room) = Room::of("a_file_is_no_socket_and_stays", &["nbdkit"]) else { return };
    fs::write(room.path("mine"), "mine").unwrap();
    let done = room.run_until_end(&["--socket", "mine"]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("exists and is not a socket"), "{}", done.stderr);
    assert_eq!(fs::read_to_string(room.path("mine")).unwrap(), "mine");
}

#[test]
fn a_drive_is_served_over_tcp() {
    let Some(room) = Room::of("a_drive_is_served_over_tcp", &["nbdkit", "nbdinfo"]) else { return };
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let script = format!("test \"$uri\" = nbd://{port}; test $(nbdinfo --size \"$uri\") = 4194304");
    room.serve(&["--listen", &port], &script).summary(0);
}
