//! Choice of the flash for a data sheet: cells, spare, dies and channels.
//!
//! ```text
//! a drive with 1.92 TB has 2 TiB of flash, so its spare is 0.1269, and it has sixteen dies of 1 Tb
//! a die writes 48 KiB in 300 us plus three transfers of 16 KiB, so at 153 MB/s
//! all sixteen dies together write at 2.45 GB/s
//! ```

use vpass_drive::base::units::Bytes;
use vpass_drive::config::{CellType, DriveConfig, KindUs};

use super::draft::Draft;
use super::{RANDOM_BYTES, Sheet, parse, rates};
use crate::failure::Failure;
use crate::numbers::count;

/// Smallest and largest share of spare flash, inferred from usual drives. For example, a drive of
/// 512 GB with 512 GiB of flash has 0.07 spare. A drive of 3.2 TB with 4 TiB of flash has 0.27
/// spare.
const SPARE: (f64, f64) = (0.05, 0.35);
/// Numbers by which the preset's die size of 1 Tb can be divided. The results are dies of 1 Tb, 512
/// Gb and 256 Gb.
const SMALLER_DIES: [u32; 3] = [1, 2, 4];

/// Sets the cells, the spare, the dies and the channels for a data sheet.
pub(super) fn solve(draft: &mut Draft, sheet: &Sheet) -> Result<(), Failure> {
    let preset = draft.config()?;
    let of_preset = die_bytes(&preset);
    if sheet.cell != preset.geometry.cell {
        change_cell(draft, sheet, &preset);
    }
    let raw = spare(draft, sheet, &preset);
    let config = draft.config()?;
    let dies = dies(draft, sheet, &config, raw / of_preset);
    channels(draft, sheet, &config, dies);
    Ok(())
}

/// Returns the size of a die of the preset in bytes. All presets have dies of 1 Tb.
fn die_bytes(preset: &DriveConfig) -> f64 {
    let g = &preset.geometry;
    let raw = flash_of(preset.drive.capacity.map_or(0, |capacity| capacity.0));
    raw / f64::from(g.channels * g.dies_per_channel)
}

/// Returns the amount of flash for a capacity, in bytes. The amount is the smallest power of two
/// with enough space for the capacity and for the smallest share of spare.
fn flash_of(capacity: u64) -> f64 {
    ((capacity as f64 / (1.0 - SPARE.0)).ceil() as u64).next_power_of_two() as f64
}

/// Changes the cell type of a preset, and the times that depend on the cell type.
fn change_cell(draft: &mut Draft, sheet: &Sheet, preset: &DriveConfig) {
    let (old, new) = (preset.geometry.cell, sheet.cell);
    let word = parse::cell_word(new);
    draft.set(
        "geometry.cell",
        format!("\"{word}\""),
        format!(
            "sheet: {word}. Assumption: limits and error rates stay those of the preset's {} \
             cells, because no preset of this generation has other values",
            parse::cell_word(old)
        ),
    );
    let (base, per_sensing) = sensing(preset);
    let times: Vec<String> =
        new.sensings().map(|n| (base + per_sensing * f64::from(n)).to_string()).collect();
    draft.set(
        "timing.sense_us",
        format!("[{}]", times.join(", ")),
        format!(
            "assumption: as in the preset, {base} us plus {per_sensing} us for each sensing of \
             {word}"
        ),
    );
    let program_us = preset.program_us_per_page() * f64::from(new.bits());
    draft.set(
        "timing.program_us",
        program_us,
        format!("assumption: the time per page is that of the preset, for {} pages", new.bits()),
    );
}

/// Divides the time of a page read into a constant part, and a part for each sensing. Returns the
/// constant part and the time per sensing.
fn sensing(preset: &DriveConfig) -> (f64, f64) {
    let cell: CellType = preset.geometry.cell;
    let times = preset.timing.sense_per_kind_us(cell);
    let points: Vec<(f64, f64)> = cell.sensings().map(f64::from).zip(times).collect();
    let (few, many) = points.iter().fold((points[0], points[0]), |(few, many), point| {
        (if point.0 < few.0 { *point } else { few }, if point.0 > many.0 { *point } else { many })
    });
    let per_sensing = if many.0 > few.0 { (many.1 - few.1) / (many.0 - few.0) } else { 0.0 };
    (few.1 - per_sensing * few.0, per_sensing)
}

/// Sets the capacity and the spare. Returns the number of bytes of flash.
fn spare(draft: &mut Draft, sheet: &Sheet, preset: &DriveConfig) -> f64 {
    let capacity = sheet.capacity;
    let word = parse::size_word(capacity);
    draft.set("drive.capacity", format!("\"{word}\""), "sheet: capacity");
    let raw = flash_of(capacity.0);
    let share = 1.0 - capacity.0 as f64 / raw;
    if share <= SPARE.1 {
        let in_words = parse::size_word(Bytes(raw as u64));
        draft.set(
            "drive.spare",
            (share * 1e4).floor() / 1e4,
            format!(
                "sheet: capacity, which is part of {in_words} of flash (inference: the flash is a \
                 power of two)"
            ),
        );
        return raw;
    }
    let of_preset = preset.drive.spare.unwrap_or(0.0);
    draft.notes.push(format!(
        "The capacity is far from a power of two, so drive.spare = {of_preset:.4} is an \
         assumption, taken from {}.",
        draft.preset
    ));
    capacity.0 as f64 / (1.0 - of_preset)
}

/// Returns the number of dies. Dies have 1 Tb, or less if the rates of the data sheet need more
/// dies. A write rate that no number of dies reaches is ignored.
fn dies(draft: &mut Draft, sheet: &Sheet, config: &DriveConfig, of_preset: f64) -> u32 {
    let fewest = of_preset.ceil().max(1.0) as u32;
    let writes = rates::flash_limited_write(sheet, config).unwrap_or(0.0);
    let reads = sheet.random_read_iops.unwrap_or(0.0);
    let all = SMALLER_DIES.map(|parts| fewest * parts);
    let does_write = |dies: u32| f64::from(dies) * rates::die_write_mb_s(config) >= writes;
    let does_read = |dies: u32| f64::from(dies) * die_reads_per_s(config) >= reads;
    let most = all[all.len() - 1];
    if !does_write(most) {
        draft.notes.push(format!(
            "{most} dies would write {} MB/s, less than the sheet's {writes}. If the rate is that \
             of an SLC cache, as for client drives, leave the rate out, because vpass has no SLC \
             cache.",
            count((f64::from(most) * rates::die_write_mb_s(config)) as u64)
        ));
    }
    let is_enough = |dies: &u32| does_read(*dies) && (does_write(*dies) || !does_write(most));
    let dies = all.into_iter().find(is_enough).unwrap_or(most);
    if dies > fewest {
        draft.notes.push(format!(
            "The sheet's rates need {dies} dies, so each die holds {} Gb (assumption).{}",
            1024 * fewest / dies,
            if writes > 0.0 && does_write(most) {
                " If the sequential write rate is that of an SLC cache, leave the rate out, \
                 because vpass has no SLC cache."
            } else {
                ""
            }
        ));
    }
    dies
}

/// Returns the number of random reads that one die can serve per second.
fn die_reads_per_s(config: &DriveConfig) -> f64 {
    let planes = if config.timing.independent_planes { config.geometry.planes_per_die } else { 1 };
    f64::from(planes) * 1e6 / config.sense_us_per_page()
}

/// Sets the number of channels, and the number of dies per channel.
fn channels(draft: &mut Draft, sheet: &Sheet, config: &DriveConfig, dies: u32) {
    let g = &config.geometry;
    let (channels, because) = match sheet.channels {
        Some(channels) => (channels, "sheet: channels".to_owned()),
        None => most_usual_channels(sheet, config, dies),
    };
    let per_channel = dies.div_ceil(channels);
    let all = per_channel * channels;
    if channels != g.channels {
        draft.set("geometry.channels", channels, because);
    }
    if all != dies {
        draft.notes.push(format!(
            "The number of dies must be a multiple of the {channels} channels, so the drive has \
             {all} dies instead of {dies} (assumption)."
        ));
    }
    if per_channel != g.dies_per_channel {
        draft.set(
            "geometry.dies_per_channel",
            per_channel,
            format!("sheet: capacity and rates, {all} dies on {channels} channels"),
        );
    }
    write_buffer(draft, config, all, sheet.cell);
}

/// Returns the number of channels, and the reason for this number. Usually, the drive has as many
/// channels as the preset. It has more if the preset's channels are too slow for the read rates of
/// the data sheet. It has fewer if channels would otherwise have unequal numbers of dies.
fn most_usual_channels(sheet: &Sheet, config: &DriveConfig, dies: u32) -> (u32, String) {
    let rate = sheet
        .sequential_read_mb_s
        .unwrap_or(0.0)
        .max(sheet.random_read_iops.unwrap_or(0.0) * RANDOM_BYTES / 1e6);
    let mut channels = config.geometry.channels;
    while f64::from(channels) * config.timing.channel_mb_s < rate && channels * 2 <= dies {
        channels *= 2;
    }
    if channels > config.geometry.channels {
        return (channels, format!("sheet: reads, {rate} MB/s"));
    }
    while channels > 1 && !dies.is_multiple_of(channels) {
        channels /= 2;
    }
    (
        channels,
        format!(
            "assumption: the channels of the preset, or fewer, so that each channel has \
        the same number of the {dies} dies"
        ),
    )
}

/// Sets the size of the write buffer: two wordlines for each plane, as in all presets.
fn write_buffer(draft: &mut Draft, config: &DriveConfig, dies: u32, cell: CellType) {
    let planes = u64::from(dies * config.geometry.planes_per_die);
    let bytes = 2 * planes * u64::from(cell.bits()) * config.geometry.page_size.0;
    let mib = bytes.next_power_of_two().div_ceil(1 << 20);
    if mib << 20 != config.drive.write_buffer.0 {
        draft.set(
            "drive.write_buffer",
            format!("\"{mib}MiB\""),
            "assumption: two wordlines of every plane, rounded up, as in the preset",
        );
    }
}

/// Returns the time to program all pages of a wordline.
pub(super) fn wordline_us(config: &DriveConfig) -> f64 {
    match &config.timing.program_us {
        KindUs::All(us) => *us,
        KindUs::PerKind(us) => us.iter().sum(),
    }
}
