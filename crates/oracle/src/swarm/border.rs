//! Drives at the border of a technique's guarantee. A search scales the limits, the check interval,
//! the late reads or the age until the guarantee just holds or just does not.

use vpass_drive::api::reclaim::{self, CHECK_INTERVAL, Technique, promise};
use vpass_drive::api::refresh;
use vpass_drive::base::span::Span;
use vpass_drive::config::{DriveConfig, ReclaimConfig, Schedule};
use vpass_drive::drive::Drive;
use vpass_techniques::card;

use super::balanced::Balanced;
use super::drawing::Drawn;
use crate::dice::Dice;

/// Number of steps in which limits are scaled.
const SCALE_ONE: u32 = 1 << 16;
/// P/E cycles that blocks may gain during a case. The guarantee is judged at the end of these
/// cycles.
const SPANS: [u32; 4] = [0, 0, 20, 3000];

/// Draws settings that reduce the usable limit. With `restless`, the late reads are never 0,
/// because no policy could act in time then.
pub(super) fn random_reserves(dice: &mut Dice, restless: bool) -> (u32, Option<u32>) {
    let interval = dice.pick(CHECK_INTERVAL.draw) as u32;
    let late = dice.pick(ReclaimConfig::RANDOM_LATE_READS);
    (interval, late.filter(|late| !restless || *late > 0))
}

/// Setting that is brought to a border.
#[derive(Clone, Copy)]
enum Knob {
    /// Share by which all limits are reduced, in steps of 1 / [`SCALE_ONE`].
    Limits,
    /// `reclaim.check_interval`.
    Interval,
    /// `reclaim.late_reads`.
    Late,
    /// `start.pec`.
    Age,
}

impl Knob {
    /// Returns the range of the setting, from values that may keep the guarantee to values that
    /// break it.
    fn range(self, at_once: bool) -> (u32, u32) {
        match self {
            Self::Limits => (0, SCALE_ONE - 1),
            Self::Interval => (1, 1_000_000),
            Self::Late => (u32::from(!at_once), 1_000_000),
            Self::Age => (0, 6_000),
        }
    }

    fn set(self, config: &DriveConfig, technique: &Technique, n: u32) -> DriveConfig {
        let mut config = config.clone();
        match self {
            Self::Limits => {
                let factor = f64::from(SCALE_ONE - n) / f64::from(SCALE_ONE);
                scale_limits(&mut config, factor, 1.0);
            }
            Self::Interval => technique.set(&mut config, &CHECK_INTERVAL, n.into()),
            Self::Late => config.reclaim.late_reads = Some(n),
            Self::Age => config.start.pec = n,
        }
        config
    }
}

/// Scales all limits, down to a smallest one at most.
pub(super) fn scale_limits(config: &mut DriveConfig, factor: f64, least: f64) {
    let limits = config.disturb.table.iter_mut().flat_map(|row| &mut row.limit);
    limits.for_each(|limit| *limit = (*limit * factor).max(least));
}

/// Brings half of the drives to a border. Most of these drives just keep the guarantee.
pub(super) fn sometimes_at_the_border(
    balanced: &Balanced,
    dice: &mut Dice,
    config: &mut DriveConfig,
    technique: &Technique,
) {
    let knobs = [Knob::Limits, Knob::Limits, Knob::Interval, Knob::Late, Knob::Age];
    let knobs: Vec<_> = [None; 5].into_iter().chain(knobs.map(Some)).collect();
    let knob = balanced.pick("border", &knobs);
    let (span, inside, beyond) = (dice.pick(&SPANS), dice.chance(0.85), dice.pick(&[1, 1, 3, 100]));
    let Some(knob) = knob else { return };
    let at_once = config.reclaim.schedule == Schedule::Foreground;
    let (least, most) = knob.range(at_once);
    let holds = |n: u32| {
        let config = knob.set(config, technique, n);
        promise::first_broken(&config, technique, config.start.pec + span).is_none()
    };
    if !holds(least) || holds(most) {
        return;
    }
    let held = last_that_holds(holds, least, most);
    let n = if inside { held } else { held.saturating_add(beyond).min(most) };
    *config = knob.set(config, technique, n);
}

/// Returns the last number that holds, between one that holds and one that does not.
fn last_that_holds(holds: impl Fn(u32) -> bool, mut held: u32, mut broken: u32) -> u32 {
    while broken - held > 1 {
        let middle = held + (broken - held) / 2;
        if holds(middle) { held = middle } else { broken = middle }
    }
    held
}

/// Brings limits down to the smallest ones that keep a technique's guarantee at the start, plus
/// this share. Returns whether limits decide the guarantee.
pub(super) fn bring_limits(config: &mut DriveConfig, technique: &Technique, above: f64) -> bool {
    let knob = Knob::Limits;
    let holds = |n: u32| {
        let config = knob.set(config, technique, n);
        promise::first_broken(&config, technique, config.start.pec).is_none()
    };
    let (least, most) = knob.range(true);
    if !holds(least) || holds(most) {
        return !holds(most);
    }
    let held = last_that_holds(holds, least, most);
    let room = (f64::from(SCALE_ONE - held) * above) as u32;
    *config = knob.set(config, technique, held.saturating_sub(room));
    true
}

/// Returns the refresh period that a refusal recommends.
fn period_named(said: &str) -> Option<&str> {
    said.rsplit_once("refresh.period = \"")?.1.split_once("\" or less").map(|(period, _)| period)
}

/// Returns whether the drive is refused because its settings break the guarantee. Checks that this
/// is before the drive is built, and that the message names a key.
pub(super) fn is_refused(
    Drawn { config, technique, techniques, timed, .. }: &Drawn,
) -> Result<bool, String> {
    if reclaim::check(config, technique).is_err() {
        return Ok(true);
    }
    let checked = promise::check(config, technique);
    let Err(said) = checked.map_err(|e| e.to_string()) else { return Ok(false) };
    let interval = technique.path(config, &CHECK_INTERVAL);
    let keys = [
        interval.as_str(),
        "reclaim.late_reads",
        "start.pec",
        "disturb.table",
        "refresh.period",
        "error.longest_age",
    ];
    let names_a_key = keys.iter().any(|key| said.starts_with(key));
    let late_alone =
        config.reclaim.late_reads == Some(0) && config.reclaim.schedule != Schedule::Foreground;
    if !names_a_key
        || !(["; set ", "; use "].iter().any(|right| said.contains(right)) || late_alone)
    {
        return Err(format!("refused without naming a key and a right value: {said}"));
    }
    if let Some(period) = period_named(&said) {
        let mut refreshed = refresh::drive(config.clone(), card("block"));
        refreshed.refresh.period = Span::parse(period)?;
        promise::check(&refreshed, technique)
            .map_err(|e| format!("refused with a period that is also refused: {said}: {e}"))?;
    }
    match Drive::new(config.clone(), techniques, *timed) {
        Ok(_) => Err(format!("the drive is built, although it must be refused: {said}")),
        Err(e) if e.to_string() == said => Ok(true),
        Err(e) => Err(format!("refused with `{e}` instead of `{said}`")),
    }
}

/// Returns whether the limits of all blocks are still large enough for the random policy. In an
/// accelerated life, blocks may wear beyond the last row.
pub(super) fn has_room(drive: &Drive) -> bool {
    let last = drive.config().disturb.table.last().map_or(u32::MAX, |row| row.pec);
    drive.config().wear.acceleration == 1 || reached(drive) <= last
}

/// Returns the P/E count of the most worn block.
fn reached(drive: &Drive) -> u32 {
    drive.block_states().map(|block| block.effective_milli.div_ceil(1000)).max().unwrap_or(0) as u32
}

/// Returns whether a technique guarantees no loss at all P/E counts that blocks have reached. No
/// loss by chance may be possible within the limits.
pub(super) fn promised(drive: &Drive, technique: &Technique) -> bool {
    !promise::loses_by_chance(drive.config())
        && promise::first_broken(drive.config(), technique, reached(drive)).is_none()
}

#[cfg(test)]
mod tests {
    use vpass_drive::base::span::{DAY, Span};

    use super::*;
    use vpass_techniques::resolve;

    /// The error rate of data grows by 0.00001 an hour, from 0.0045 up to 0.0085 in 400 hours.
    const DRIVE: &str = r#"
        geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 40, wordlines_per_block = 4, cell = "slc", page_size = 4096 }
        timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
        drive = { spare = 0.5 }
        disturb = { model = "count", table = [{ pec = 0, limit = [1000.0] }] }
        error = { model = "powerlaw", e = 0.0045, b = 1e-5, m = 0.0 }
        ecc = { cap = [0.0085] }
    "#;

    /// The check of a recommended period does nothing if it no longer finds the period in the
    /// drive's own sentence.
    #[test]
    fn the_recommended_period_is_found_in_the_sentence_of_today() {
        let config = resolve(toml::from_str::<DriveConfig>(DRIVE).unwrap()).unwrap();
        let mut refreshed = refresh::drive(config, card("block"));
        refreshed.refresh.period = Span(30 * DAY);
        let block = card("block");
        let said = promise::check(&refreshed, block).unwrap_err().to_string();
        let period = Span::parse(period_named(&said).expect(&said)).unwrap();
        assert!(period.0 > DAY && period.0 < 17 * DAY, "{said}");
    }
}
