//! Small drives with parity, and the operations that requests of whole pages cause. Stripes have
//! three pages and a page of parity, on four dies.

use vpass_drive::base::request::{Arrival, Op, Request, RequestSource, SourceError};
use vpass_drive::base::units::Cause;
use vpass_drive::config::DriveConfig;
use vpass_drive::drive::{Drive, Techniques};
use vpass_drive::time::run_untimed;
use vpass_techniques::{card, resolve, usual};

pub(crate) const PAGE: u64 = 4096;

/// Returns a drive of four dies of 24 blocks of 16 pages, with stripes of three pages and parity.
pub(crate) fn config(more: &str) -> DriveConfig {
    config_of(3, more)
}

/// Returns a drive with as many dies as a stripe of this length and its parity need.
fn config_of(stripe: u32, more: &str) -> DriveConfig {
    let (dies, buffer) = (
        stripe + 1,
        if more.contains("drive.write_buffer") { "" } else { "drive.write_buffer = 0" },
    );
    let text = format!(
        r#"
        geometry = {{ channels = {dies}, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 24, wordlines_per_block = 16, cell = "slc", page_size = "4KiB" }}
        timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 0 }}
        drive.spare = 0.45
        {buffer}
        wear = {{ static_gap = 0 }}
        gc = {{ background = 0 }}
        parity.stripe = {stripe}
        {more}
        "#
    );
    toml::from_str(&text).unwrap()
}

pub(crate) fn drive(parity: &str, more: &str, timed: bool) -> Drive {
    drive_of(3, parity, more, timed)
}

/// Creates such a drive with stripes of this length.
pub(crate) fn drive_of(stripe: u32, parity: &str, more: &str, timed: bool) -> Drive {
    let techniques = Techniques { reclaim: card("none"), parity: card(parity), ..usual() };
    let mut drive =
        Drive::new(resolve(config_of(stripe, more)).unwrap(), &techniques, timed).unwrap();
    drive.precondition(1);
    drive.begin_measurement();
    drive
}

/// Requests of whole pages: first page and number of pages.
pub(crate) struct Asked(pub(crate) Vec<(Op, u64, u64)>);

impl RequestSource for Asked {
    fn fill(&mut self, out: &mut Vec<Request>, _: usize) -> Result<(), SourceError> {
        let request = |(op, first, pages)| Request {
            at: 0,
            offset: first * PAGE,
            bytes: (pages * PAGE) as u32,
            op,
            origin: 0,
            hint: None,
        };
        out.extend(self.0.drain(..).map(request));
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        Arrival::Closed { depth: 1 }
    }
}

/// Returns the numbers of reads for parity, of programs for the host, and of programs for parity,
/// that these requests cause.
pub(crate) fn operations(drive: &mut Drive, asked: Vec<(Op, u64, u64)>) -> (u64, u64, u64) {
    let count = |drive: &Drive| {
        let flash = drive.flash_counts();
        (
            flash.reads[Cause::Parity as usize],
            flash.programs[Cause::Host as usize],
            flash.programs[Cause::Parity as usize],
        )
    };
    let before = count(drive);
    run_untimed(drive, &mut Asked(asked), &mut |_, _| true).unwrap();
    let after = count(drive);
    (after.0 - before.0, after.1 - before.1, after.2 - before.2)
}
