//! Drives whose host gives hints about the latency of its reads. Every second case with retries is
//! one. These choices have their own random numbers, so other cases stay the same.

use vpass_drive::base::latency::AccessLatency;
use vpass_drive::base::units::Bytes;
use vpass_drive::config::{ConfigError, DriveConfig, HintsConfig, MIN_SPARE_BLOCKS};
use vpass_drive::hints::{Budgets, HintRange};

use super::balanced::Balanced;
use crate::dice::Dice;

/// Streams of every drive.
const STREAMS: u32 = 4;
/// Largest number of streams that a technique adds.
const OWN: u32 = 3;

/// Gives a case hints, if it is one of these cases, and enough blocks for their streams.
///
/// # Errors
/// If the drive is impossible.
pub(super) fn draw(
    balanced: &Balanced,
    mut config: DriveConfig,
    keeps_apart: bool,
) -> Result<DriveConfig, ConfigError> {
    if config.ecc.levels() < 2 || !balanced.pick("hinted", &[true, false]) {
        return Ok(config);
    }
    let mut dice = Dice::new(balanced.case ^ 0x41D7_F0DA_7A00_0000);
    let own = if keeps_apart { OWN } else { 0 };
    let room = 2 * (AccessLatency::COUNT as u32 - 1) * (STREAMS + own) + MIN_SPARE_BLOCKS + 2 * own;
    let more = room.div_ceil(config.geometry.planes());
    config.geometry.blocks_per_plane = config.geometry.blocks_per_plane.map(|blocks| blocks + more);
    config.drive.spare = None;
    let mut config = vpass_techniques::resolve(config)?;
    let capacity = config.drive.capacity.map_or(0, |capacity| capacity.0);
    let range = |dice: &mut Dice, rank: u32| {
        let (one, other) = (dice.between(0, capacity), dice.between(0, capacity));
        // Ranges begin on pages or within them, or cover the whole drive.
        let unit = dice.pick(&[
            1,
            config.geometry.page_size.0,
            config.geometry.page_size.0,
            capacity.max(1),
        ]);
        let (from, to) =
            (one.min(other) / unit * unit, one.max(other).next_multiple_of(unit).min(capacity));
        let access_latency = dice.pick(&[
            None,
            Some(AccessLatency::Smallest),
            Some(AccessLatency::Typical),
            Some(AccessLatency::Idle),
        ]);
        HintRange { offset: Bytes(from), bytes: Bytes(to - from), access_latency, rank }
    };
    let ranges = (0..dice.between(1, 6) as u32).map(|rank| range(&mut dice, rank));
    let said = ranges.filter(|range| range.bytes.0 > 0).collect();
    let most = config.ecc.levels() as u64 - 1;
    (config.hints.typical_us, config.hints.idle_us) = (f64::INFINITY, f64::INFINITY);
    let budgets = Budgets::of(&config)?.expect("a drive with retries");
    let us = |retries: u64| budgets.latency(retries as u8) as f64 / 1e3;
    let typical = dice.between(0, most);
    let idle = dice.between(typical, most);
    let smallest = dice.chance(0.5).then(|| us(dice.between(0, typical)));
    let hints = &mut config.hints;
    (hints.smallest_us, hints.typical_us, hints.idle_us) = (smallest, us(typical), us(idle));
    hints.margin = dice.pick(HintsConfig::RANDOM_MARGIN);
    hints.said = Some(said);
    hints.regroup = dice.pick(HintsConfig::RANDOM_REGROUP);
    Ok(config)
}
