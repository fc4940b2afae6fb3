//! Small drives for this crate's tests.

use crate::config::{DriveConfig, Schedule};
use crate::drive::{Drive, Techniques};

/// Returns the drive of a text under a technique, preconditioned with seed 1.
pub(crate) fn drive(text: &str, technique: &str) -> Drive {
    let mut config = toml::from_str::<DriveConfig>(text).unwrap();
    // The jobs of these tests run at once, so that they need no `R_late`.
    if !text.contains("schedule") {
        config.reclaim.schedule = Schedule::Foreground;
    }
    let config = config.resolve().unwrap();
    let mut drive = Drive::new(
        config,
        &Techniques { reclaim: technique.into(), ..Techniques::default() },
        false,
    )
    .unwrap();
    drive.precondition(1);
    drive
}

/// Returns a drive with one plane of 60 blocks of 24 pages. Each block endures 1,000 reads, and the
/// data fills 36 blocks. `more` holds further tables.
pub(crate) fn one_plane(technique: &str, more: &str) -> Drive {
    let text = format!(
        r#"
        geometry = {{ channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 60, wordlines_per_block = 8, cell = "tlc", page_size = "4KiB" }}
        timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }}
        drive = {{ spare = 0.4 }}
        disturb = {{ model = "count", table = [{{ pec = 0, limit = [1000] }}] }}
        {more}
        "#
    );
    drive(&text, technique)
}
