//! Choice of rates for a data sheet: the host link, the channels, and the program time.
//!
//! ```text
//! 16 dies write at 2,000 MB/s, so each die writes a wordline of 48 KiB in 393.2 us
//! three transfers take 20.5 us of this time, so program_us = 372.7
//! ```

use vpass_drive::base::phrase::Opt;
use vpass_drive::config::DriveConfig;
use vpass_drive::phrase;

use super::draft::Draft;
use super::{RANDOM_BYTES, Sheet, copy, flash};
use crate::failure::Failure;
use crate::numbers::count;
use crate::progress::Begin;

/// If a rate on the data sheet is above this share of the link's rate, the link is assumed to limit
/// the rate. Otherwise, the flash is assumed to limit the rate. Headers and pauses of the protocol
/// use the rest of the link's rate.
const OF_LINK: f64 = 0.9;
/// If the read rate on the data sheet is below this share of the link's rate, a part inside the
/// drive is assumed to limit the read rate.
const INSIDE: f64 = 0.75;
/// Largest expected factor between the preset's program time and the program time that follows from
/// the data sheet.
const SLOWER: f64 = 2.0;
/// Largest accepted relative difference between the rate on the data sheet and the rate of a short
/// run.
const CLOSE: f64 = 0.01;
/// Largest number of steps in the search for a rate. Each step halves the range of possible rates.
const STEPS: u32 = 12;

/// Sets the rate of the link, the rate of the channels, and the program time for a data sheet.
pub(super) fn solve(draft: &mut Draft, sheet: &Sheet, begin: Begin) -> Result<(), Failure> {
    link(draft, sheet)?;
    read_rate(draft, sheet, begin)?;
    program_time(draft, sheet)
}

/// Returns the rate of the host link, in 10^6 bytes per second.
fn link_mb_s(sheet: &Sheet, config: &DriveConfig) -> f64 {
    sheet.interface.as_ref().map_or(config.timing.host_mb_s, |link| link.mb_s)
}

/// Returns the sequential write rate on the data sheet, if the flash limits this rate. Returns
/// `None` if the link limits this rate.
pub(super) fn flash_limited_write(sheet: &Sheet, config: &DriveConfig) -> Option<f64> {
    let link = link_mb_s(sheet, config).min(sheet.sequential_read_mb_s.unwrap_or(f64::INFINITY));
    sheet.sequential_write_mb_s.filter(|rate| *rate < OF_LINK * link)
}

/// Returns the rate at which a die writes, in 10^6 bytes per second. The pages of a wordline are
/// transferred to the die first. The die then programs the wordline.
pub(super) fn die_write_mb_s(config: &DriveConfig) -> f64 {
    let bytes = wordline_bytes(config);
    bytes / (flash::wordline_us(config) + bytes / config.timing.channel_mb_s)
}

fn wordline_bytes(config: &DriveConfig) -> f64 {
    f64::from(config.geometry.cell.bits()) * config.geometry.page_size.0 as f64
}

/// Sets the rate of the host link. Refuses a data sheet with any rate above the link's rate.
fn link(draft: &mut Draft, sheet: &Sheet) -> Result<(), Failure> {
    let config = draft.config()?;
    let rate = link_mb_s(sheet, &config);
    let preset = draft.preset;
    let name = sheet.interface.as_ref().map_or_else(
        || phrase!["the link of {preset} (no ", Opt::Interface, " is given)"],
        |link| link.to_string().into(),
    );
    let random = |iops: Option<f64>| iops.map(|iops| iops * RANDOM_BYTES / 1e6);
    for (option, mb_s) in [
        (Opt::SequentialRead, sheet.sequential_read_mb_s),
        (Opt::SequentialWrite, sheet.sequential_write_mb_s),
        (Opt::RandomReadIops, random(sheet.random_read_iops)),
        (Opt::RandomWriteIops, random(sheet.random_write_iops)),
    ] {
        if let Some(mb_s) = mb_s.filter(|mb_s| *mb_s > rate) {
            return Err(Failure::usage(phrase![
                "{mb_s:.0} MB/s is more than ",
                name,
                " carries, {rate:.0} MB/s",
            ])
            .at(option)
            .with_remedy(phrase![
                "a faster ",
                Opt::Interface,
                " or a smaller rate is expected",
            ]));
        }
    }
    let is_new = (rate - config.timing.host_mb_s).abs() > f64::EPSILON;
    if let Some(link) = sheet.interface.as_ref().filter(|_| is_new) {
        draft.set("timing.host_mb_s", rate, format!("sheet: {link}, {}", link.because()));
    }
    Ok(())
}

/// Lowers the rate of the link or of the channels, so that a short run reads at the rate on the
/// data sheet.
fn read_rate(draft: &mut Draft, sheet: &Sheet, begin: Begin) -> Result<(), Failure> {
    let Some(wanted) = sheet.sequential_read_mb_s else { return Ok(()) };
    let drive = draft.drive()?;
    let t = &drive.config.timing;
    let (key, low, high, because) = if wanted >= INSIDE * t.host_mb_s {
        let because = "sheet: sequential read, below the link's";
        ("timing.host_mb_s", wanted, t.host_mb_s, because)
    } else {
        let channels = f64::from(drive.config.geometry.channels);
        let because = "sheet: sequential read. Assumption: the channels limit this rate to less \
            than the rate of the link";
        ("timing.channel_mb_s", (wanted / channels).min(t.channel_mb_s), t.channel_mb_s, because)
    };
    let reads = |rate: f64| copy::sequential_read(&drive, &[format!("{key}={rate}")], begin);
    if reads(high)? <= wanted * (1.0 + CLOSE) {
        return Ok(());
    }
    let at_first = high;
    let (mut low, mut high, mut rate) = (low, high, low);
    for _ in 0..STEPS {
        let found = reads(rate)?;
        if (found / wanted - 1.0).abs() <= CLOSE {
            break;
        }
        if found < wanted {
            low = rate
        } else {
            high = rate
        }
        rate = f64::midpoint(low, high).round();
    }
    let known = draft.changes.iter().find(|change| change.key == key);
    let (above, why) = known.map_or_else(
        || (format!("{at_first} MB/s"), String::new()),
        |change| (format!("{} MB/s", change.value), format!(" ({})", change.because)),
    );
    draft.set(key, rate, format!("{because} {above}{}", why.replace("sheet: ", "")));
    Ok(())
}

/// Sets the program time with which all dies together reach the write rate on the data sheet.
fn program_time(draft: &mut Draft, sheet: &Sheet) -> Result<(), Failure> {
    let config = draft.config()?;
    let Some(rate) = flash_limited_write(sheet, &config) else { return Ok(()) };
    let dies = f64::from(config.geometry.channels * config.geometry.dies_per_channel);
    let (bytes, of_preset) = (wordline_bytes(&config), flash::wordline_us(&config));
    let us = dies * bytes / rate - bytes / config.timing.channel_mb_s;
    if us < of_preset / SLOWER {
        // The drive has too few dies for this rate. The draft already has a note about the missing
        // dies.
        return Ok(());
    }
    if us > SLOWER * of_preset {
        draft.notes.push(format!(
            "{dies} dies could write {} MB/s, but the sheet gives only {rate} MB/s, so something \
             else limits the drive, such as its power. In vpass, the program time is increased \
             instead (assumption).",
            count((dies * die_write_mb_s(&config)) as u64)
        ));
    }
    draft.set(
        "timing.program_us",
        (us * 10.0).round() / 10.0,
        format!(
            "sheet: sequential write, {rate} MB/s by {dies} dies; the transfer time of a wordline \
             is subtracted. Assumption: the dies limit this rate"
        ),
    );
    Ok(())
}
