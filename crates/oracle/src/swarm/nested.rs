//! Drives on which one event comes within another. One case in eight is such a case.
//!
//! - Blocks and reserves are small. Limits lie at the border of the technique's guarantee.
//! - Data takes retries wherever it is moved, and ages while it moves.
//! - Alpha rises or falls steeply with wear.
//! - The host writes parts of pages where it reads, so a fill sets off moves.
//! - The random policy mostly acts too late, so moves come upon pages that are lost.
//!
//! The choices come from dice of their own, so other cases stay what they are.

use vpass_drive::api::reclaim::Technique;
use vpass_drive::base::units::Bytes;
use vpass_drive::config::{
    DisturbModel, DriveConfig, ErrorLaw, MIN_SPARE_BLOCKS, PerPec, Schedule,
};
use vpass_techniques::card;

use super::balanced::Balanced;
use super::border;
use super::draw::{APART_BLOCKS, slow};
use crate::dice::Dice;

/// One case in eight is nested.
const NESTED: [bool; 8] = [false, false, false, true, false, false, false, false];
/// Data ages in three of four nested cases.
const AGES: [bool; 4] = [true, false, true, true];
/// In two of three nested cases with the random policy, the policy acts too late.
const RECKLESS: [bool; 3] = [true, false, true];

/// One nested case in four has the random policy.
const RESTLESS: [bool; 4] = [false, true, false, false];
/// Schedules of nested cases that draw nothing else for the flash. Half of the jobs are done at
/// once, and the others take time.
const SCHEDULES: [Schedule; 4] =
    [Schedule::Foreground, Schedule::Batch(1), Schedule::Foreground, Schedule::Deadline];
/// Two of three timed nested cases are so slow that jobs run while data grows older.
const SLOW: [bool; 3] = [true, true, false];

/// Wordlines of a block.
const WORDLINES: [u32; 5] = [2, 3, 8, 8, 21];
/// Share of the flash that the host does not see.
const SPARE: [f64; 2] = [0.14, 0.25];
/// Pages of the write buffer.
const BUFFER: [u64; 4] = [0, 0, 2, 8];

/// Distance of limits above the border, as a share of them.
const ABOVE: [f64; 3] = [0.0, 0.1, 0.5];
/// Factor of limits for a technique without a guarantee, relative to the border of `block`.
const BELOW: [f64; 3] = [1.0, 0.8, 0.5];

/// Alphas of four rows, relative to the largest. They rise, fall, or do both.
const ALPHAS: [[f64; 4]; 4] =
    [[0.2, 0.5, 0.8, 1.0], [1.0, 0.7, 0.4, 0.2], [0.4, 1.0, 0.3, 0.8], [1.0, 0.3, 0.9, 0.5]];
/// Limits of these rows, relative to the last row.
const LIMITS: [[f64; 4]; 2] = [[1.3, 1.2, 1.1, 1.0], [1.0, 1.0, 1.0, 1.0]];
/// Cycles between two rows that a policy sees.
const POLICY_ROWS: [u32; 3] = [0, 10, 100];

/// Returns whether a case is nested.
pub(super) fn is_nested(balanced: &Balanced) -> bool {
    balanced.pick("nested", &NESTED)
}

/// Returns whether data ages in a nested case, apart from other reasons.
pub(super) fn ages(balanced: &Balanced) -> bool {
    balanced.pick("nested ages", &AGES)
}

/// Returns whether the random policy acts too late in a nested case.
pub(super) fn is_reckless(balanced: &Balanced) -> bool {
    balanced.pick("reckless", &RECKLESS)
}

/// Returns whether a nested case has the random policy, unless its technique is named.
pub(super) fn is_restless(balanced: &Balanced) -> bool {
    balanced.pick("restless of nested", &RESTLESS)
}

/// Draws small blocks, few spare blocks, and limits that change much within a few cycles. The drive
/// is not resolved yet.
pub(super) fn draw(balanced: &Balanced, config: &mut DriveConfig, keeps_apart: bool) {
    let mut dice = Dice::new(balanced.case ^ 0x4E57_ED00_4E57_ED00);
    let spare = dice.pick(&SPARE);
    let apart = if keeps_apart { APART_BLOCKS } else { 0 };
    config.reclaim.schedule = balanced.pick("schedule of nested", &SCHEDULES);
    if balanced.pick("slow of nested", &SLOW) {
        config.timing = slow(&config.timing);
    }
    config.geometry.wordlines_per_block = balanced.pick("wordlines of nested", &WORDLINES);
    let needed =
        f64::from(MIN_SPARE_BLOCKS + 1 + apart) / spare / f64::from(config.geometry.planes());
    config.geometry.blocks_per_plane = Some(needed.ceil() as u32);
    config.drive.spare = Some(spare);
    config.drive.write_buffer = Bytes(dice.pick(&BUFFER) * config.geometry.page_size.0);
    (config.start.fill, config.start.overwrite) = (1.0, dice.pick(&[0.0, 0.3]));
    if config.disturb.model == DisturbModel::None {
        config.disturb.model = DisturbModel::Count;
    }
    if config.disturb.model == DisturbModel::Wordline {
        steepen(&mut dice, config);
    }
}

/// Draws four rows around the drive's first P/E count or, in one case in four, below it.
fn steepen(dice: &mut Dice, config: &mut DriveConfig) {
    let pec = config.start.pec;
    let Some(worst) = config.disturb.table.last().cloned() else { return };
    let (alphas, limits) = (dice.pick(&ALPHAS), dice.pick(&LIMITS));
    let is_beyond = pec >= 40 && dice.chance(0.25);
    let at = if is_beyond {
        [0, pec / 4, pec / 2, 3 * (pec / 4)]
    } else {
        [pec.saturating_sub(10), pec + 4, pec + 11, pec + 50]
    };
    // Beyond its last row, a table continues with the slope of its end. The last row makes that
    // slope small, so the guarantee holds there.
    let rows = (0..4).map(|row| PerPec {
        pec: at[row],
        limit: worst.limit.iter().map(|limit| limit * limits[row]).collect(),
        alpha: worst.alpha.iter().map(|alpha| (alpha * alphas[row]).max(1.0)).collect(),
    });
    let last = PerPec {
        pec: at[3] + 2000,
        limit: worst.limit.clone(),
        alpha: worst.alpha.iter().map(|a| (a * alphas[3]).max(1.0)).collect(),
    };
    config.disturb.table = rows.chain((!is_beyond).then_some(last)).collect();
    config.disturb.policy_row_cycles = dice.pick(&POLICY_ROWS);
}

/// Brings limits to the border of a technique's guarantee. For a technique without one, brings them
/// below the border of `block`.
pub(super) fn bring_to_the_border(
    balanced: &Balanced,
    config: &mut DriveConfig,
    reclaim: &Technique,
) {
    if config.error.model == ErrorLaw::Bch {
        // Limits follow from the code in this model.
        return;
    }
    let mut dice = Dice::new(balanced.case ^ 0x4E57_B04D_4E57_B04D);
    let (above, below) = (dice.pick(&ABOVE), dice.pick(&BELOW));
    if !border::bring_limits(config, reclaim, above) {
        border::bring_limits(config, card("block"), 0.0);
        border::scale_limits(config, below, 1.0);
    }
}
