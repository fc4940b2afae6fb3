//! A flush of a drive whose memory loses its data without power ends when its data is on flash.

use vpass_drive::config::DriveConfig;
use vpass_drive::drive::Drive;
use vpass_drive::time::Device;
use vpass_live::{Action, Actor, Completion};
use vpass_techniques::{resolve, usual};

/// Time of a program in ns, on the drive of these tests.
const PROGRAM: u64 = 500_000;

fn actor(protected: bool) -> Actor {
    let config: DriveConfig = toml::from_str(&format!(
        "geometry = {{ channels = 1, dies_per_channel = 1, planes_per_die = 1, \
         blocks_per_plane = 40, wordlines_per_block = 16, cell = \"slc\", page_size = \"4KiB\" }}\n\
         timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 4096 }}\n\
         drive = {{ spare = 0.4, write_buffer = \"64KiB\", write_buffer_protected = {protected} }}"
    ))
    .expect("a valid drive");
    let techniques = usual();
    let mut drive = Drive::new(resolve(config).expect("a valid drive"), &techniques, true)
        .expect("the techniques suit the drive");
    drive.precondition(1);
    drive.begin_measurement();
    let device = Device::new(&drive);
    Actor::new(drive, device, 1 << 30)
}

/// Writes three pages, flushes, reads one of them, and returns the times of the completions.
fn times(protected: bool) -> Vec<u64> {
    let mut actor = actor(protected);
    for page in 0..3 {
        actor.submit(page * 4096, Action::Write(vec![1; 4096]), None).expect("it is taken");
    }
    actor.flush();
    actor.submit(0, Action::Read(512), None).expect("it is taken");
    let completed = actor.advance(1_000_000_000);
    assert!(completed.iter().enumerate().all(|(n, Completion { id, .. })| *id == n as u64));
    completed.iter().map(|completion| completion.at).collect()
}

#[test]
fn a_flush_ends_with_the_last_program() {
    // Data takes 1 us on the channel. While a page is programmed, the next page is transferred.
    let flushed = 1000 + 3 * PROGRAM;
    let read = flushed + 50_000 + 125;
    let found = times(false);
    assert_eq!(found[..3], [0, 0, 0], "writes end in memory");
    assert!(found[3].abs_diff(flushed) <= 2000, "flush at {}, expected {flushed}", found[3]);
    assert!(found[4].abs_diff(read) <= 2000, "read at {}, expected {read}", found[4]);
}

#[test]
fn a_protected_memory_makes_flushes_free() {
    assert_eq!(times(true)[..5], [0, 0, 0, 0, 0]);
}
