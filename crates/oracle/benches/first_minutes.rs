//! Cost of a run apart from its requests: loading and the check at the end, with and without the
//! oracle, and a start with parity. `--small` runs it at the size of a test.

#[path = "../../drive/benches/shared/mod.rs"]
#[expect(dead_code, reason = "the benches of the drive alone use the rest")]
mod shared;

use std::any::Any;
use std::time::Instant;

use shared::{Size, Uniform, config, median, say, straw, unsettled, untimed_s};
use vpass_drive::config::DriveConfig;
use vpass_drive::drive::{Drive, Techniques};
use vpass_oracle::Oracle;
use vpass_techniques::{card, usual};

fn main() {
    let size = Size::of_arguments();
    reads_of_2_tib(&size);
    starts_with_parity(&size);
}

fn watch(drive: &mut Drive) {
    drive.observe(Box::new(Oracle::new(drive.geometry(), drive.config())));
}

fn conclude(drive: &mut Drive) {
    let watcher: Option<Box<dyn Any>> = drive.end_observation().map(|watcher| watcher as _);
    if let Some(oracle) = watcher.and_then(|watcher| watcher.downcast::<Oracle>().ok()) {
        assert!(!oracle.conclude(drive).is_bug(), "the oracle finds nothing wrong");
    }
}

fn reads_of_2_tib(size: &Size) {
    let config = straw(size);
    let run = |reads: u64, watched: bool| {
        median(|| {
            let start = Instant::now();
            let mut drive = unsettled(config.clone(), false, |drive| {
                if watched {
                    watch(drive);
                }
            });
            let source = Uniform::new(&drive, reads, 16_384, 0, 1);
            untimed_s(&mut drive, source);
            conclude(&mut drive);
            start.elapsed().as_secs_f64()
        })
    };
    let (alone, watched) = (run(1, false), run(1, true));
    say(&format!("load 2 TiB, 1 read, end             {alone:>7.2} s   (goal: at most 1)"));
    say(&format!("the same with the oracle on         {watched:>7.2} s   (goal: at most 2)"));
    let reads = size.pick(1_000_000, 10_000);
    let (alone, watched) = (run(reads, false), run(reads, true));
    say(&format!("load 2 TiB, {reads} reads, end       {alone:>7.2} s"));
    say(&format!(
        "the same with the oracle on         {watched:>7.2} s   {:.1} times that (goal: at most 4)",
        watched / alone
    ));
}

/// Returns a drive of sixteen dies with 30 % spare flash and parity.
fn with_parity(size: &Size) -> DriveConfig {
    let blocks = size.pick(512, 48);
    let text = format!(
        r#"
        geometry = {{ channels = 8, dies_per_channel = 2, planes_per_die = 1, blocks_per_plane = {blocks}, wordlines_per_block = 128, cell = "tlc", page_size = "16KiB" }}
        timing = {{ sense_us = 40, program_us = 380, erase_us = 3500, channel_mb_s = 2000 }}
        drive = {{ spare = 0.3 }}
        start = {{ fill = 1.0, overwrite = 3.0 }}
        disturb = {{ model = "wordline", table = [{{ pec = 0, limit = [405000], alpha = [9.15] }}] }}
        "#
    );
    config(&text, |_| {})
}

fn starts_with_parity(size: &Size) {
    let config = with_parity(size);
    let start_of = |parity: &str| {
        let techniques = Techniques { parity: card(parity), ..usual() };
        median(|| {
            let mut drive =
                Drive::new(config.clone(), &techniques, false).expect("the techniques exist");
            watch(&mut drive);
            let start = Instant::now();
            drive.precondition_computed(1);
            drive.begin_measurement();
            start.elapsed().as_secs_f64()
        })
    };
    let (with, without) = (start_of("raid5"), start_of("none"));
    let ratio = with / without;
    say(&format!(
        "start of 35 GiB with parity, oracle on {with:>4.2} s   {ratio:.1} times one without (goal: at most 2)"
    ));
}
