//! Speed of the drive. Each figure is the median of three rounds. Read paths are given as a ratio
//! to the floor. The floor has only the accesses to map entry, wordline counters and block record
//! at these sizes, with prefetch. `--small` runs every bench at a size that fits a test.

#[expect(dead_code, reason = "every bench uses its own part")]
mod shared;

use std::time::Instant;

use shared::{
    Size, Uniform, config, floor, prepared, say, straw, timed, timed_s, unsettled, untimed,
    untimed_s,
};
use vpass_drive::drive::Drive;

fn reads_at_2_tib(size: &Size) {
    let config = straw(size);
    let (floor, ahead) = floor(&config, size.pick(30_000_000, 60_000));
    say(&format!(
        "floor, 2 TiB, {0:>3} + {0:<3} reads ahead   {1:>7.1} M reads/s   1.00",
        ahead / 2,
        floor / 1e6
    ));
    let started = Instant::now();
    drop(unsettled(config.clone(), false, |_| ()));
    let seconds = started.elapsed().as_secs_f64();
    let reads = size.pick(40_000_000, 200_000);
    let untimed = first_and_later(
        || unsettled(config.clone(), false, |_| ()),
        |drive, part| untimed_s(drive, Uniform::new(drive, reads / part, 16_384, 0, 1)),
    );
    say_first_and_later("untimed reads, wordline counters", reads, &untimed, (floor, 0.6));
    let reads = size.pick(20_000_000, 100_000);
    let timed = first_and_later(
        || unsettled(config.clone(), true, |_| ()),
        |drive, part| timed_s(drive, Uniform::new(drive, reads / part, 4096, 0, 64)),
    );
    say_first_and_later("timed reads, queue depth 64", reads, &timed, (floor, 0.15));
    say(&format!(
        "preconditioning 2 TiB               {seconds:>7.1} s           (goal at most 1)"
    ));
}

/// Returns the seconds that reads take on a drive whose pages were never read, and the seconds of
/// the same reads after each page was touched: the round with the median ratio of three.
fn first_and_later(drive: impl Fn() -> Drive, read: impl Fn(&mut Drive, u64) -> f64) -> [f64; 2] {
    let mut rounds = [(); 3].map(|()| {
        let mut drive = drive();
        // One read in a thousand is enough to make the system provide the memory of all records,
        // which the time of a page's first touch does not include.
        read(&mut drive, 1000);
        let first = read(&mut drive, 1);
        drive.settle();
        [first, read(&mut drive, 1)]
    });
    rounds.sort_by(|a, b| (a[1] / a[0]).total_cmp(&(b[1] / b[0])));
    rounds[1]
}

fn say_first_and_later(
    name: &str,
    reads: u64,
    [first, later]: &[f64; 2],
    (floor, goal): (f64, f64),
) {
    let later_per_s = reads as f64 / later;
    say(&format!(
        "{name:<35} {:>7.1} M reads/s   {:.2} of the floor (goal {goal})",
        later_per_s / 1e6,
        later_per_s / floor
    ));
    say(&format!(
        "  at the first touch of each page   {:>7.1} M reads/s   {:.2} of these reads (goal 0.8)",
        reads as f64 / first / 1e6,
        later / first
    ));
}

const SMALL_DRIVE: &str = r#"
    geometry = { channels = 8, dies_per_channel = 4, planes_per_die = 2, wordlines_per_block = 64, cell = "tlc", page_size = "16KiB" }
    timing = { sense_us = 50, program_us = 200, erase_us = 3000, channel_mb_s = 1200, suspend = true }
    drive = { capacity = "64GiB", spare = 0.2 }
    start = { fill = 1.0, overwrite = 1.0 }
    disturb = { model = "wordline", table = [{ pec = 0, limit = [500000], alpha = [9.0] }] }
"#;

fn writes_and_32_gib(size: &Size) {
    let capacity = vpass_drive::base::units::Bytes(size.pick(64 << 30, 2 << 30));
    let mut drive = prepared(config(SMALL_DRIVE, |c| c.drive.capacity = Some(capacity)), false);
    let figure = untimed(&mut drive, size.pick(20_000_000, 100_000), 16_384, 256);
    say(&format!(
        "random writes with GC, 64 GiB       {:>7.0} ns a page      (goal at most 250)",
        1e9 / figure
    ));
    let capacity = vpass_drive::base::units::Bytes(size.pick(32 << 30, 2 << 30));
    let smaller = config(SMALL_DRIVE, |c| c.drive.capacity = Some(capacity));
    let mut drive = prepared(smaller.clone(), true);
    let figure = timed(&mut drive, size.pick(10_000_000, 100_000), 4096, 0, 16);
    say(&format!(
        "timed reads, queue depth 16, 32 GiB {:>7.1} M requests/s (goal 8)",
        figure / 1e6
    ));
    let mut drive = prepared(smaller, true);
    let figure = timed(&mut drive, size.pick(3_000_000, 30_000), 4096, 77, 16);
    say(&format!(
        "timed 70:30 with GC, 32 GiB         {:>7.2} M requests/s (goal 1.5)",
        figure / 1e6
    ));
}

fn main() {
    let size = Size::of_arguments();
    reads_at_2_tib(&size);
    writes_and_32_gib(&size);
}
