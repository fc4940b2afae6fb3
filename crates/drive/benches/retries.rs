//! Cost of age and retries, in both gears. One drive has young data, and on another every read
//! takes one retry. Both are compared with a drive without error rates. `--small` runs the bench at
//! a size that fits a test.

#[expect(dead_code, reason = "every bench uses its own part")]
mod shared;

use shared::{Opened, Size, Uniform, median, prepared, say, straw, timed, untimed_s};
use vpass_drive::base::span::{HOUR, Span, YEAR};
use vpass_drive::config::{DriveConfig, ErrorLaw};
use vpass_drive::drive::Drive;

/// Age below the first age that counts. The drive keeps time, but no read needs a retry.
const YOUNG: Span = Span(HOUR / 2);

/// Gives a drive the error rate and the retries of `modern-tlc`.
fn ages(mut config: DriveConfig, age: Span) -> DriveConfig {
    let modern: DriveConfig =
        toml::from_str(include_str!("../../../presets/drives/modern-tlc.toml"))
            .expect("the preset parses");
    (config.error, config.ecc) = (modern.error, modern.ecc);
    (config.start.age, config.error.longest_age) = (age, Span(YEAR));
    config
}

/// Makes all reads of data with an age take one retry: any age adds 0.0071.
fn tired(config: DriveConfig) -> DriveConfig {
    let mut config = ages(config, Span(YEAR));
    assert_eq!(config.error.model, ErrorLaw::PowerLaw);
    (config.error.b, config.error.m, config.error.n) = (0.0071, 0.0, 0.0);
    config.reclaim.retries = 1;
    config
}

/// Returns the requests per second, and the share of reads with a retry.
fn speed(size: &Size, config: &DriveConfig, is_timed: bool) -> (f64, f64) {
    let mut drive = prepared(config.clone(), is_timed);
    let figure = if is_timed {
        timed(&mut drive, size.pick(10_000_000, 50_000), 4096, 0, 64)
    } else {
        let requests = size.pick(50_000_000, 100_000);
        median(|| {
            let source = Opened(Uniform::new(&drive, requests, 16_384, 0, 1));
            requests as f64 / untimed_s(&mut drive, source)
        })
    };
    (figure, retried(&drive))
}

fn retried(drive: &Drive) -> f64 {
    let counts = drive.flash_counts();
    counts.retried.iter().sum::<u64>() as f64 / counts.reads[0] as f64
}

fn main() {
    let size = Size::of_arguments();
    let mut plain = straw(&size);
    plain.start.pec = 0;
    for (gear, is_timed) in [("untimed", false), ("timed, queue depth 64", true)] {
        let (without, _) = speed(&size, &plain, is_timed);
        let (young, of_young) = speed(&size, &ages(plain.clone(), YOUNG), is_timed);
        let (old, of_old) = speed(&size, &tired(plain.clone()), is_timed);
        assert!(
            of_young == 0.0 && of_old > 0.99,
            "{of_young} and {of_old} of the reads were tried again"
        );
        say(&format!("reads without an error rate, {gear:<21} {:>7.1} M reads/s", without / 1e6));
        say(&format!(
            "young data, {gear:<38} {:>7.1} M reads/s   {:.2} of that (goal 0.95)",
            young / 1e6,
            young / without
        ));
        say(&format!(
            "all tried again once, {gear:<28} {:>7.1} M reads/s   {:.2} of that (goal 0.5)",
            old / 1e6,
            old / without
        ));
    }
}
