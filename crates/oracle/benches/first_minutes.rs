//! What does the oracle add to a run that is short beside its drive? Loading and the check at the end, as a ratio to loading without it.
//! `--small` runs it at a size that fits a test.

#[path = "../../core/benches/shared/mod.rs"]
#[expect(dead_code, reason = "the benches of the drive alone use the rest")]
mod shared;

use std::any::Any;
use std::time::Instant;

use shared::{Size, Uniform, median, prepared_for, say, straw, untimed_s};
use vpass_oracle::Oracle;

fn main() {
    let size = Size::of_arguments();
    let config = straw(&size);
    let reads = size.pick(1_000_000, 10_000);
    let run = |watched: bool| {
        median(|| {
            let start = Instant::now();
            let mut drive = prepared_for(config.clone(), false, |drive| {
                if watched {
                    drive.observe(Box::new(Oracle::new(drive.geometry(), drive.config())));
                }
            });
            let source = Uniform::new(&drive, reads, 16_384, 0, 1);
            untimed_s(&mut drive, source);
            let watcher: Option<Box<dyn Any>> = drive.end_observation().map(|watcher| watcher as _);
            if let Some(oracle) = watcher.and_then(|watcher| watcher.downcast::<Oracle>().ok()) {
                assert!(!oracle.conclude(&drive).is_bug(), "the oracle finds nothing wrong");
            }
            start.elapsed().as_secs_f64()
        })
    };
    let alone = run(false);
    let watched = run(true);
    say(&format!("load 2 TiB, {reads} reads, end       {alone:>7.2} s"));
    say(&format!("the same with the oracle on         {watched:>7.2} s   {:.1} times that (goal: at most 4)", watched / alone));
}
