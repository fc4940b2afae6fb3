//! Drives whose data has error rates: one in five of the cases with read disturb. They have 0, 1 or
//! 3 retries. Ages take a small part of the limits, or all of them. If all reads disturb equally,
//! one case in three has limits that follow from a code. These choices have their own random
//! numbers, so other cases stay the same.

use vpass_drive::api::parity::{self, ParityTechnique};
use vpass_drive::api::reclaim::{Technique, promise};
use vpass_drive::base::span::{HOUR, Span, YEAR};
use vpass_drive::base::units::Bytes;
use vpass_drive::config::{
    BchConfig, BchTarget, Combine, DisturbModel, DriveConfig, EccConfig, ErrorLaw,
};

use super::balanced::Balanced;
use super::border;
use crate::dice::Dice;

/// One case in five has error rates.
const TIRED: [bool; 5] = [true, false, false, false, false];
/// Error rate that the first sensing of a page decodes.
const CAP: f64 = 0.0085;
/// Error rate that the longest age adds, as a share of `CAP`.
const BY_AGE: [f64; 4] = [0.05, 0.3, 0.9, 1.5];
/// Factor by which limits grow until the technique can give its guarantee, and the largest number
/// of such steps.
const ROOM: f64 = 4.0;
const TIMES: u32 = 4;

/// Deviations of the error rates of stripes and pages, if parity raises the limits of reads.
const SPREADS: [(f64, f64); 4] = [(0.0, 0.0), (0.2, 0.0), (0.0, 0.3), (0.1, 0.1)];

/// Gives one in eight of the cases with parity limits that parity raises. Parity raises them if its
/// stripes are always protected. Returns whether it did so.
pub(super) fn raise(
    balanced: &Balanced,
    config: &mut DriveConfig,
    (technique, parity): (&Technique, &ParityTechnique),
) -> bool {
    let is_raised =
        balanced.pick("reads first", &[true, false, false, false, false, false, false, false]);
    if is_raised {
        let d = &mut config.disturb;
        (d.model, d.groups, d.group_share) = (DisturbModel::Count, vec!["all".into()], vec![]);
        (d.spread, d.block_variation) = (vec![], 0.0);
        (d.limit_sigma_block, d.limit_sigma_layer) = (0.0, 0.0);
        by_code(balanced, config, technique, true);
        // Limits follow from the code, and the kind of limits from the parity technique.
        *config = parity::drive(config.clone(), parity);
    }
    is_raised
}

/// Error rate that the longest age adds in nested cases, where every move should take retries and
/// lose no page.
const BY_AGE_NESTED: [f64; 3] = [0.9, 1.2, 1.5];

/// Gives a case error rates if it is one of these cases. Returns whether it is.
pub(super) fn draw(
    balanced: &Balanced,
    config: &mut DriveConfig,
    technique: &Technique,
    is_nested: bool,
) -> bool {
    if !is_tired(balanced) && !is_nested || !config.disturb.model.disturbs() {
        return false;
    }
    if config.disturb.model == DisturbModel::Count && balanced.pick("code", &[true, false, false]) {
        by_code(balanced, config, technique, false);
        return true;
    }
    let mut dice = Dice::new(balanced.case ^ 0x71BE_D0DA_7A00_0000);
    let (retries, step) = (dice.pick(&[0, 1, 3]), dice.pick(&[1.05, 1.25]));
    let ecc = &mut config.ecc;
    ecc.cap = (0..=retries).map(|level| CAP * f64::powi(step, level)).collect();
    ecc.retry_decode_us = (0..retries).map(|level| 5.0 + 7.0 * f64::from(level)).collect();
    if dice.chance(0.3) {
        ecc.retry_sense_us = (0..retries).map(|level| 30.0 + f64::from(level)).collect();
        ecc.retry_transfer_us = (0..retries).map(|level| 3.5 + f64::from(level)).collect();
    }
    ecc.start_from_last = retries > 0 && keeps_levels(balanced);
    ecc.slow_retries = slow_retries(balanced, ecc);
    if is_noisy(balanced) {
        config.error.noise = true;
        ecc.codeword = Some(Bytes(512));
    }
    let longest_hours = (config.longest_age().0.max(HOUR) as f64 / HOUR as f64).max(2.0);
    let (m, n) = (dice.pick(&[0.0, 0.14]), dice.pick(&[0.3, 0.54, 1.0]));
    let error = &mut config.error;
    error.model = ErrorLaw::PowerLaw;
    (error.e, error.a, error.k) = (dice.pick(&[0.0005, 0.004]), dice.pick(&[0.0, 1e-10]), 1.5);
    (error.m, error.n) = (m, n);
    error.b = dice.pick(&BY_AGE) * CAP / (f64::powf(1000.0, m) * f64::powf(longest_hours, n));
    let groups = config.disturb.groups.len();
    if dice.chance(0.5) {
        error.base_by_group = (0..groups).map(|_| dice.pick(&[0.5, 1.0])).collect();
        error.retention_by_group = (0..groups).map(|_| dice.pick(&[0.7, 1.0])).collect();
        error.base_by_kind =
            config.geometry.cell.kinds().iter().map(|_| dice.pick(&[0.8, 1.0])).collect();
    }
    config.reclaim.retries = dice.pick(&[0, 0, 1, 3]).min(retries.unsigned_abs());
    if is_nested {
        let (retries, by_age) = (dice.pick(&[1, 3, 3]), dice.pick(&BY_AGE_NESTED));
        config.ecc.cap = (0..=3).map(|level| CAP * f64::powi(1.25, level)).collect();
        config.ecc.retry_decode_us = (0..3).map(|level| 5.0 + 7.0 * f64::from(level)).collect();
        (config.ecc.retry_sense_us, config.ecc.retry_transfer_us) = (vec![], vec![]);
        config.ecc.start_from_last = keeps_levels(balanced);
        config.ecc.slow_retries = slow_retries(balanced, &config.ecc);
        config.reclaim.retries = retries;
        (config.error.e, config.error.n) = (0.0005, 0.3);
        config.error.b = by_age * CAP / (f64::powf(1000.0, m) * f64::powf(longest_hours, 0.3));
    }
    for _ in 0..TIMES {
        if promise::check(config, technique).is_ok() {
            break;
        }
        border::scale_limits(config, ROOM, 0.0);
    }
    true
}

/// Draws limits of about the present size, all from one code. Also draws an age that the code
/// tolerates easily, hardly or not at all.
fn by_code(balanced: &Balanced, config: &mut DriveConfig, technique: &Technique, raised: bool) {
    let mut dice = Dice::new(balanced.case ^ 0xBC40_0000_0000_0000);
    let table = std::mem::take(&mut config.disturb.table);
    // The drive's file allows no more than this.
    config.error.longest_age = config.error.longest_age.min(Span(10 * YEAR));
    let longest = config.longest_age().0.max(HOUR) as f64;
    config.error.model = ErrorLaw::Bch;
    (config.ecc.codeword, config.ecc.code_rate, config.ecc.corrects) =
        (Some(Bytes(512)), 4096.0 / 4200.0, vec![8]);
    let noise = is_noisy(balanced) && !raised;
    config.error.noise = noise;
    config.bch = BchConfig {
        target: dice.pick(&[BchTarget::Yield, BchTarget::Uber]),
        uber: 1e-9,
        combine: if noise {
            Combine::Sum
        } else {
            dice.pick(&[Combine::Independent, Combine::Sum])
        },
        pec: 1000,
        reads: table.last().map_or(1000.0, |row| 4.0 * row.limit[0]),
        age: Span((longest * dice.pick(&[0.8, 1.1, 3.0, 20.0])) as u64).min(Span(100 * YEAR)),
        rows: vec![500, 1000, 2000, 3010, 4000],
        ..BchConfig::default()
    };
    if raised {
        let (common, own) = dice.pick(&SPREADS);
        config.bch = BchConfig {
            target: BchTarget::Stripe,
            spread_common: common,
            spread_own: own,
            ..config.bch.clone()
        };
    }
    for scaled in 1..=TIMES {
        config.disturb.table = vec![];
        *config = vpass_techniques::resolve(config.clone()).expect("it was drawn to be right");
        // Limits and code always belong together, even if no scale is large enough.
        if scaled == TIMES || promise::check(config, technique).is_ok() {
            break;
        }
        config.bch.reads *= ROOM;
    }
}

/// Returns whether the data of a case may have error rates.
fn is_tired(balanced: &Balanced) -> bool {
    balanced.pick("tired", &TIRED)
}

/// Returns whether reads of the case begin at the level that worked last, provided that it has
/// retries.
pub(super) fn keeps_levels(balanced: &Balanced) -> bool {
    is_tired(balanced) && balanced.pick("start from last", &[true, false])
}

/// First case whose blocks may become slow only from some retries on. The recorded cases of planted
/// bugs, which are smaller, keep their drives.
const FIRST_WITH_SLOW: u64 = 10_000_000;

/// Draws the retries from which on a block is slow.
fn slow_retries(balanced: &Balanced, ecc: &EccConfig) -> u32 {
    if !ecc.start_from_last || balanced.case < FIRST_WITH_SLOW {
        return 1;
    }
    balanced.pick("slow retries", &[1, 2, 3]).min(ecc.levels() as u32 - 1)
}

/// Returns whether the case draws its retries.
pub(super) fn is_noisy(balanced: &Balanced) -> bool {
    is_tired(balanced) && balanced.pick("noise", &[true, false, false])
}

/// Returns the longest age that data may reach without refresh. This is the whole time that passes.
/// In a third of the cases it is less, so some data grows too old.
pub(super) fn longest_age(balanced: &Balanced, start: Span, passes: u64) -> Span {
    let all = start.0.saturating_add(passes).max(HOUR);
    Span(if balanced.pick("too old", &[false, false, true]) { start.0.max(all / 2) } else { all })
}
