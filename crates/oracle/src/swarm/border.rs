//! Drives at the border of what a technique promises: limits scaled until its budget just holds, or just does not.

use vpass_core::config::{DriveConfig, Schedule};
use vpass_core::drive::{Drive, Techniques};
use vpass_core::reclaim::{promise, technique};

use super::Dice;

/// Scales are multiples of this.
const SCALE_ONE: u32 = 1 << 16;
/// P/E cycles over which a border may be sought: where wear is to come, the promise holds, or not, at its end.
const SPANS: [u32; 4] = [0, 0, 20, 3000];

/// Settings that take from a limit; `restless` where they must not be such that nobody can act in time.
pub(super) fn random_reserves(dice: &mut Dice, restless: bool) -> (u32, Option<u32>) {
    let interval = dice.pick(&[1, 5, 64, 300]);
    let late = dice.pick(&[None, None, Some(0), Some(1), Some(40), Some(400)]);
    (interval, late.filter(|late| !restless || *late > 0))
}

/// Some drives are brought to the border: most of those a little to the side where the promise holds.
pub(super) fn sometimes_at_the_border(dice: &mut Dice, config: &mut DriveConfig, reclaim: &str, timed: bool) {
    let (at_border, span, inside) = (dice.chance(0.5), dice.pick(&SPANS), dice.chance(0.85));
    let beyond = dice.pick(&[1, 1, 3, 100]);
    if !at_border || !holds(config, reclaim, timed, span) {
        return;
    }
    let (mut broken, mut held) = (0, SCALE_ONE);
    while held - broken > 1 {
        let middle = broken + (held - broken) / 2;
        if holds(&scaled(config, middle), reclaim, timed, span) { held = middle } else { broken = middle }
    }
    *config = scaled(config, if inside { held } else { held.saturating_sub(beyond).max(1) });
}

/// With all limits times this over [`SCALE_ONE`], and as large as a limit must be.
fn scaled(config: &DriveConfig, scale: u32) -> DriveConfig {
    let mut config = config.clone();
    let factor = f64::from(scale) / f64::from(SCALE_ONE);
    config.disturb.table.iter_mut().flat_map(|row| &mut row.limit).for_each(|limit| *limit = (*limit * factor).max(1.0));
    config
}

fn holds(config: &DriveConfig, reclaim: &str, timed: bool, span: u32) -> bool {
    let technique = technique(reclaim).expect("it was drawn from the list");
    promise::first_broken(config, technique, timed, config.start.pec + span).is_none()
}

/// The drive refuses these settings, before anything is made: not silently, and with a key of its own.
pub(super) fn refusal(config: &DriveConfig, techniques: &Techniques, timed: bool) -> Result<Option<String>, String> {
    let checked = promise::check(config, technique(&techniques.reclaim).expect("it was drawn from the list"), timed);
    let Err(said) = checked.map_err(|e| e.to_string()) else { return Ok(None) };
    let names_a_key =
        ["reclaim.check_interval", "reclaim.late_reads", "start.pec", "disturb.table"].iter().any(|key| said.starts_with(key));
    let late_alone = config.reclaim.late_reads == Some(0) && timed && config.reclaim.schedule != Schedule::Foreground;
    if !names_a_key || !(said.contains("right") || late_alone) {
        return Err(format!("refused with a sentence that does not help: {said}"));
    }
    match Drive::new(config.clone(), techniques, timed) {
        Ok(_) => Err(format!("made, though it must be refused: {said}")),
        Err(e) if e.to_string() == said => Ok(Some(said)),
        Err(e) => Err(format!("refused as `{e}`, not as `{said}`")),
    }
}

/// Whether a technique had promised to lose nothing at all the P/E counts that blocks came to.
pub(super) fn promised(drive: &Drive, reclaim: &str, timed: bool) -> bool {
    let reached = drive.block_states().map(|block| block.effective_milli.div_ceil(1000)).max().unwrap_or(0) as u32;
    promise::first_broken(drive.config(), technique(reclaim).expect("it was drawn from the list"), timed, reached).is_none()
}
