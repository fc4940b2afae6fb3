//! Reads that need retries, computed by hand: number of sensings, their times on die and channel,
//! their first level, and random draws.

use crate::common;

use common::{Uniform, config, dies, request};
use vpass_drive::base::request::Op;
use vpass_drive::base::units::{Cause, Lpn, Ns};
use vpass_drive::drive::{Drive, Techniques};
use vpass_drive::error::chance::Chances;
use vpass_drive::error::ladder::Ladder;
use vpass_drive::error::tail::beyond;
use vpass_drive::time::{Device, Replay, Tag, run_untimed};
use vpass_techniques::{card, usual};

/// Timing for pages of 16 KiB: 20,480 ns on a channel and 4,096 ns on the link.
const TIMING: &str = "sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800, ecc_us = 3.5, host_mb_s = 4000";
/// Drive on which a read adds 4e-5 to an error rate of 0.0045. Data decodes at once up to a dose of
/// 100, with one retry up to 200, and with two up to 300.
const TIRED: &str = r#"
    drive = { spare = 0.25 }
    disturb = { model = "count", table = [{ pec = 0, limit = [100.0] }] }
    error = { model = "powerlaw", e = 0.0045 }
"#;
const SLOW: &str = "cap = [0.0085, 0.0125, 0.0165], retry_sense_us = [60, 70], retry_transfer_us = [30, 40], retry_decode_us = [20, 25.5]";
/// Time of the first read: sensing, transfer, decoding, link.
const FIRST: Ns = 50_000 + 20_480 + 3_500 + 4_096;

fn drive(ecc: &str, more: &str, seed: u64, timed: bool) -> Drive {
    drive_of(TIRED, ecc, more, seed, timed)
}

fn drive_of(drive: &str, ecc: &str, more: &str, seed: u64, timed: bool) -> Drive {
    let text = dies(1, "slc", TIMING, &format!("{drive}\necc = {{ {ecc} }}\n{more}"));
    let techniques = Techniques { reclaim: card("none"), seed, ..usual() };
    let mut drive = Drive::new(config(&text), &techniques, timed).unwrap();
    drive.precondition(1);
    drive.begin_measurement();
    drive
}

/// Reads the first page as a whole when there is no other work, and returns the time.
fn read(device: &mut Device, drive: &mut Drive) -> Ns {
    read_page(device, drive, 0)
}

fn read_page(device: &mut Device, drive: &mut Drive, page: u64) -> Ns {
    let (from, mut end) = (device.now(), 0);
    device.submit(drive, Tag(0), &request(Op::Read, from, page, 1), |_, at| end = at);
    while device.outstanding() > 0 {
        device.advance(drive, Ns::MAX, |_, at| end = at);
    }
    end - from
}

fn dose(drive: &Drive) -> u64 {
    drive.block_states().map(|row| row.reads).sum::<f64>() as u64
}

/// Each retry keeps the die while the page is sensed and the controller tries to decode it. Then it
/// keeps the channel, for the time in `[ecc]`.
#[test]
fn a_retry_takes_what_its_level_takes_on_die_and_channel() {
    let mut drive = drive(SLOW, "", 0, true);
    let mut device = Device::new(&drive);
    // The 101st read is at a dose of 100.
    for _ in 0..101 {
        assert_eq!(read(&mut device, &mut drive), FIRST);
    }
    let one_retry = (60_000 + 20_000) + 30_000 + FIRST;
    // Each read now adds a dose of two: from 101 to 199.
    for _ in 0..50 {
        assert_eq!(read(&mut device, &mut drive), one_retry);
    }
    let two_retries = one_retry + (70_000 + 25_500) + 40_000;
    assert_eq!((dose(&drive), read(&mut device, &mut drive)), (201, two_retries));
    assert_eq!(dose(&drive), 204);
    let counts = drive.flash_counts();
    assert_eq!(counts.retried[..3], [0, 50, 1]);
    assert_eq!([Cause::Host, Cause::Retry].map(|cause| counts.reads[cause as usize]), [152, 52]);
    assert_eq!(
        device.metrics().read.total_ns(),
        u128::from(101 * FIRST + 50 * one_retry + two_retries)
    );
}

/// If `[ecc]` has no times for sensing and transfer, a retry takes those of the first read.
#[test]
fn a_retry_takes_what_the_first_sensing_takes_but_for_its_decoding() {
    let mut drive = drive("cap = [0.0085, 0.0125], retry_decode_us = [20]", "", 0, true);
    let mut device = Device::new(&drive);
    (0..101).for_each(|_| assert_eq!(read(&mut device, &mut drive), FIRST));
    assert_eq!(read(&mut device, &mut drive), 50_000 + 20_000 + 20_480 + FIRST);
}

/// With `ecc.start_from_last`, the first read that needs retries finds the level. Later reads begin
/// there: one sensing, with the time of that level.
#[test]
fn a_read_begins_with_the_level_that_worked_last() {
    let mut drive = drive(&format!("{SLOW}, start_from_last = true"), "", 0, true);
    assert_eq!(drive.controller_ram().0, 80, "a byte for each block");
    let mut device = Device::new(&drive);
    (0..101).for_each(|_| assert_eq!(read(&mut device, &mut drive), FIRST));
    assert_eq!(read(&mut device, &mut drive), (60_000 + 20_000) + 30_000 + FIRST);
    // Decoding takes 20 us. The die waits for this, without the 3.5 us of a first decoding.
    let at_one = (60_000 + 16_500) + 30_000 + 3_500 + 4_096;
    // Each read adds a dose of one, from 103 to 199. Limits are rounded down.
    for _ in 0..97 {
        assert_eq!(read(&mut device, &mut drive), at_one);
    }
    assert_eq!(
        (dose(&drive), read(&mut device, &mut drive)),
        (200, at_one + (70_000 + 25_500) + 40_000)
    );
    assert_eq!(
        (dose(&drive), read(&mut device, &mut drive)),
        (202, (70_000 + 22_000) + 40_000 + 3_500 + 4_096)
    );
    assert_eq!(drive.flash_counts().retried[..3], [0, 2, 0]);
}

/// With `ecc.slow_retries`, a retry more than that makes the whole block slow, and one less changes
/// nothing. Other blocks stay as they are.
#[test]
fn a_block_becomes_slow_as_a_whole() {
    let ecc = format!("{SLOW}, start_from_last = true, slow_retries = 2");
    let mut drive = drive(&ecc, "", 0, true);
    let mut device = Device::new(&drive);
    (0..101).for_each(|_| assert_eq!(read(&mut device, &mut drive), FIRST));
    let one_retry = (60_000 + 20_000) + 30_000 + FIRST;
    // Each read adds a dose of two: from 101 to 199.
    (0..50).for_each(|_| assert_eq!(read(&mut device, &mut drive), one_retry));
    let two_retries = one_retry + (70_000 + 25_500) + 40_000;
    assert_eq!((dose(&drive), read(&mut device, &mut drive)), (201, two_retries));
    let block = |drive: &Drive, page: u32| {
        drive.geometry().block_of(drive.map_row(Lpn::new(page)).unwrap().ppn)
    };
    let of_first = block(&drive, 0);
    let find = |is_mate: bool| {
        (1..3000).find(|page| (block(&drive, *page) == of_first) == is_mate).unwrap().into()
    };
    let (mate, stranger) = (find(true), find(false));
    // Decoding takes 25.5 us. The die waits for this, without the 3.5 us of a first decoding.
    let slow = (70_000 + 22_000) + 40_000 + 3_500 + 4_096;
    for page in [0, mate, 0, mate] {
        assert_eq!(read_page(&mut device, &mut drive, page), slow);
    }
    assert_eq!(read_page(&mut device, &mut drive, stranger), FIRST);
    assert_eq!(drive.flash_counts().retried[..3], [0, 50, 1]);
}

/// Moves of pages that need retries sense and wait like reads. The copies of GC begin with the
/// level that worked last, and a new block begins with level 0.
#[test]
fn a_level_does_not_outlive_its_blocks_erase() {
    let mut drive =
        drive(&format!("{SLOW}, start_from_last = true"), "gc = { background = 0 }", 0, false);
    for _ in 0..110 {
        drive.read_page(Lpn::new(0));
    }
    assert_eq!(drive.flash_counts().retried[1], 1);
    // Every page is written twice, so each block has been erased. Then it is read again as often.
    for lpn in (0..drive.geometry().host_pages).chain(0..drive.geometry().host_pages) {
        drive.write_page(Lpn::new(lpn), u64::MAX);
    }
    for _ in 0..130 {
        drive.read_page(Lpn::new(0));
    }
    assert_eq!(drive.flash_counts().retried[1], 2, "the level is found anew, once");
    assert_eq!(drive.flash_counts().reads[Cause::Retry as usize], 2);
}

const CODE: &str = "codeword = \"4KiB\", code_rate = 0.8888888888888888, cap = [0.0085, 0.0125, 0.02], retry_decode_us = [20, 20]";

/// Draws are equal in both gears, and differ for another seed. Their total number is about as large
/// as the tail predicts.
#[test]
fn drawn_retries_follow_from_seed_page_and_reads() {
    let more = "gc = { background = 0 }";
    let noisy = |seed: u64, timed: bool| {
        let tired = TIRED.replace("e = 0.0045", "e = 0.0045, noise = true");
        let mut drive = drive_of(&tired, CODE, more, seed, timed);
        let mut source =
            Uniform::reads(7000, u64::from(drive.geometry().host_pages) * common::PAGE, 16_384, 1);
        if timed {
            Replay::new(&drive).run(&mut drive, &mut source, &mut |_, _| true).unwrap();
        } else {
            run_untimed(&mut drive, &mut source, &mut |_, _| true).unwrap();
        }
        (drive.flash_counts().retried, drive.flash_counts().reads, dose(&drive))
    };
    let first = noisy(1, false);
    assert_eq!(first, noisy(1, true));
    assert_eq!(first, noisy(1, false));
    let other = noisy(2, false);
    assert!(first.0 != other.0, "{:?}", first.0);
    let close = first.0[1].abs_diff(other.0[1]);
    assert!(
        first.0[1] > 100 && close * close < 25 * (first.0[1] + other.0[1]),
        "{:?} {:?}",
        first.0,
        other.0
    );
}

/// One block is read until most of its reads take retries. The number of reads with retries is the
/// sum of their probabilities, within six standard deviations.
#[test]
fn retries_are_drawn_as_often_as_the_tail_says() {
    let tired = TIRED.replace("[100.0]", "[1e4]").replace("0.0045", "0.0045, noise = true");
    let mut drive = drive_of(&tired, CODE, "", 0, false);
    let ladder = Ladder::of(&drive.config().ecc).unwrap().expect("retries");
    let chances = Chances::of(&ladder, common::PAGE as u32).unwrap();
    let (mut wanted, mut variance) = (0.0, 0.0);
    for _ in 0..14_000 {
        let more = chances.more_than(0, 0.0045 + 4e-7 * dose(&drive) as f64);
        (wanted, variance) = (wanted + more, variance + more * (1.0 - more));
        drive.read_page(Lpn::new(0));
    }
    let seen = drive.flash_counts().retried.iter().sum::<u64>() as f64;
    assert!(wanted > 500.0 && variance > 100.0, "{wanted} {variance}");
    assert!((seen - wanted).abs() < 6.0 * variance.sqrt(), "{seen} of {wanted}");
}

/// One block is read until its pages are lost. The expected number of lost codewords is the sum of
/// the binomial tail over all reads.
#[test]
fn lost_codewords_are_the_tails_of_what_was_read() {
    let mut drive = drive(CODE, "", 0, false);
    let bits_that_are_corrected = (1..36_864).find(|t| beyond(36_864, *t, 0.02) <= 1e-16).unwrap();
    let (mut sum, mut read) = (0.0, 0.0);
    while read <= 380.0 {
        drive.read_page(Lpn::new(0));
        let rber = 0.0045 + 4e-5 * read;
        if rber > 0.0125 {
            sum += 4.0 * beyond(36_864, bits_that_are_corrected, rber);
        }
        read += match rber {
            _ if rber <= 0.0085 + 1e-9 => 1.0,
            _ if rber <= 0.0125 + 1e-9 => 2.0,
            _ => 3.0,
        };
    }
    let is = drive.lost_codewords().unwrap();
    assert!((is / sum - 1.0).abs() < 3e-3 && sum > 1e-18, "{is} for {sum}");
    assert_eq!((drive.lost_pages(), dose(&drive)), (0, read as u64));
}
