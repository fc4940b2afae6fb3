//! Small drives for the tests of techniques, and what these tests ask about a drive.

use vpass_drive::base::units::{BlockId, Lpn, Ppn};
use vpass_drive::config::{DriveConfig, Schedule};
use vpass_drive::drive::audit::BlockRow;
use vpass_drive::drive::{Drive, Techniques};

use crate::{card, resolve, usual};

/// Returns the resolved configuration of a text.
pub(crate) fn config(text: &str) -> DriveConfig {
    resolve(toml::from_str(text).unwrap()).unwrap()
}

/// Returns the drive of a text under a reclaim technique, preconditioned with seed 1.
pub(crate) fn drive(text: &str, reclaim: &str) -> Drive {
    let mut config: DriveConfig = toml::from_str(text).unwrap();
    // The jobs of these tests run at once, so that they need no `R_late`.
    if !text.contains("schedule") {
        config.reclaim.schedule = Schedule::Foreground;
    }
    let techniques = Techniques { reclaim: card(reclaim), ..usual() };
    let mut drive = Drive::new(resolve(config).unwrap(), &techniques, false).unwrap();
    drive.precondition(1);
    drive
}

/// Returns a drive with one plane of 60 blocks of 24 pages. Each block endures 1,000 reads, and the
/// data fills 36 blocks. `more` holds further tables.
pub(crate) fn one_plane(reclaim: &str, more: &str) -> Drive {
    let text = format!(
        r#"
        geometry = {{ channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 60, wordlines_per_block = 8, cell = "tlc", page_size = "4KiB" }}
        timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }}
        drive = {{ spare = 0.4 }}
        disturb = {{ model = "count", table = [{{ pec = 0, limit = [1000] }}] }}
        {more}
        "#
    );
    drive(&text, reclaim)
}

/// Returns the place of a page that lies on flash.
pub(crate) fn place_of(drive: &Drive, lpn: Lpn) -> Ppn {
    drive.map_row(lpn).expect("it holds data").ppn
}

/// Returns the block of a page that lies on flash.
pub(crate) fn block_of(drive: &Drive, lpn: Lpn) -> BlockId {
    drive.geometry().block_of(place_of(drive, lpn))
}

/// Returns the state of a block.
pub(crate) fn row(drive: &Drive, block: BlockId) -> BlockRow {
    drive.block_states().nth(block.index()).expect("it exists")
}
