//! Time that a host waits for a page of a failed die.

use crate::common;

use common::striped::{Asked, config};
use vpass_drive::base::failure::Failure;
use vpass_drive::base::request::Op;
use vpass_drive::base::units::Ns;
use vpass_drive::drive::{Drive, Techniques};
use vpass_drive::time::Replay;
use vpass_techniques::{card, resolve, usual};

/// Returns the completion time of a read of page 0 on a drive of four dies with this number of
/// channels. Page 0 is the first page of stripe 0 and is on die 0.
fn latency(channels: u32, parity: &str, fail: &[&str]) -> Ns {
    let mut config = config("parity.rebuild = 0");
    (config.geometry.channels, config.geometry.dies_per_channel) = (channels, 4 / channels);
    (config.timing.channel_mb_s, config.timing.ecc_us) = (800.0, 3.0);
    let techniques = Techniques { parity: card(parity), ..usual() };
    let mut drive = Drive::new(resolve(config).unwrap(), &techniques, true).unwrap();
    drive.precondition(1);
    drive.begin_measurement();
    drive.expect_failures(&fail.iter().map(|text| text.parse().unwrap()).collect::<Vec<Failure>>());
    let mut replay = Replay::new(&drive);
    replay.run(&mut drive, &mut Asked(vec![(Op::Read, 0, 1)]), &mut |_, _| true).unwrap();
    assert_eq!(replay.metrics().read.count(), 1);
    replay.last_completion()
}

/// Fifty stripes are written, some of which leave the buffer. So each die has several programs of
/// 500 us in sequence. A read of a page on a die that has just failed waits only for the current
/// work of the other dies. Its stripe is read before their next programs, like the page itself
/// would be.
#[test]
fn what_a_read_needs_for_its_rebuild_goes_before_other_work() {
    for parity in ["raid5", "ppc"] {
        let config = config("parity.rebuild = 0\ndrive.write_buffer = \"1MiB\"");
        let techniques = Techniques { parity: card(parity), ..usual() };
        let mut drive = Drive::new(resolve(config).unwrap(), &techniques, true).unwrap();
        drive.precondition(1);
        drive.begin_measurement();
        drive.expect_failures(&["die:0@r50".parse().unwrap()]);
        let mut replay = Replay::new(&drive);
        let writes =
            (0..50).map(|n| (Op::Write, 3 * (n + 1), 3)).chain([(Op::Read, 0, 1)]).collect();
        replay.run(&mut drive, &mut Asked(writes), &mut |_, _| true).unwrap();
        let read = &replay.metrics().read;
        assert_eq!(
            (read.count(), drive.failure_books().unwrap().rebuilt_for_reads),
            (1, 1),
            "{parity}"
        );
        let programs: u64 = drive.flash_counts().programs.iter().sum();
        assert!(programs >= 16, "{parity}: {programs} programs, four for each die");
        // All requests are submitted at time 0, and writes complete when they are in the buffer.
        let took = replay.last_completion();
        assert!((50_000..=550_000).contains(&took), "{parity}: {took} ns");
    }
}

/// A read takes 50 us of sensing, 5.12 us on the channel, and 3 us to decode. The pages for a
/// rebuild are sensed in parallel. On one channel, three pages then follow each other.
#[test]
fn a_read_of_a_dead_die_waits_for_the_rest_of_its_stripe() {
    for parity in ["raid5", "ppc"] {
        for (channels, alive, dead) in [(4, 58_120, 58_120), (1, 58_120, 68_360)] {
            let of = |fail| latency(channels, parity, fail);
            assert_eq!(of(&[]), alive, "{parity}, {channels} channels");
            assert_eq!(of(&["die:0@r0"]), dead, "{parity}, {channels} channels");
            assert_eq!(of(&["die:1@r0"]), alive, "another die: {parity}, {channels} channels");
        }
    }
}

/// A page that endures 20 reads has served 21, and is read again. It is sensed, but cannot be
/// decoded. Then the three others of its stripe on other dies are read, and then the host gets the
/// page. A page is in the controller after 55.12 us, and three in sequence on one channel after
/// 65.36 us. Each decoding takes 3 us.
#[test]
fn a_read_of_a_page_past_its_limit_waits_for_the_rest_of_its_stripe() {
    for parity in ["raid5", "ppc"] {
        for (channels, last) in [(4, 21 * 58_120 + 2 * 58_120), (1, 21 * 58_120 + 58_120 + 68_360)]
        {
            let mut config =
                config("disturb = { model = \"count\", table = [{ pec = 0, limit = [20] }] }");
            (config.geometry.channels, config.geometry.dies_per_channel) = (channels, 4 / channels);
            (config.timing.channel_mb_s, config.timing.ecc_us) = (800.0, 3.0);
            let techniques = Techniques { reclaim: card("none"), parity: card(parity), ..usual() };
            let mut drive = Drive::new(resolve(config).unwrap(), &techniques, true).unwrap();
            drive.precondition(1);
            drive.begin_measurement();
            let mut replay = Replay::new(&drive);
            replay
                .run(&mut drive, &mut Asked(vec![(Op::Read, 0, 1); 22]), &mut |_, _| true)
                .unwrap();
            assert_eq!(
                (drive.parity_counts().rebuilt, drive.uncorrectable_reads(), drive.lost_pages()),
                (1, 0, 0),
                "{parity}"
            );
            assert_eq!(replay.last_completion(), last, "{parity}, {channels} channels");
        }
    }
}
