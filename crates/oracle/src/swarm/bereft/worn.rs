//! Cases in which wear says which stripes have parity: blocks that begin worn, or come to be in the
//! course of a case, so that flash fails in each stage of a drive's life, and while one passes into
//! the next.

use vpass_core::config::{DriveConfig, KindUs, Number};

use crate::dice::Dice;

/// Parity techniques, and dies a channel.
pub(super) const DRIVES: [(&str, u32); 5] =
    [("pe-aware", 2), ("pe-aware", 3), ("da-raid5", 2), ("da-raid5", 2), ("da-raid5", 3)];

/// P/E cycles with which most blocks begin.
const PEC: u32 = 10;

/// Reclaim techniques, and what a page endures. That of `pe-aware` may move pages from worn blocks
/// to others, which GC does not.
pub(super) fn reclaim(parity: &str) -> &'static [(&'static str, f64)] {
    if parity == "pe-aware" {
        &[("block", 4000.0), ("block", 250.0), ("block", 250.0), ("none", 60.0)]
    } else {
        &super::RECLAIM
    }
}

/// Shares of writes in what the host asks: blocks are to become worn.
pub(super) const WRITES: [f64; 3] = [0.2, 0.6, 0.9];

/// When blocks are worn, how many begin so, and how stripes are counted and wait.
pub(super) fn draw(dice: &mut Dice, config: &mut DriveConfig, parity: &str) {
    let (above, spread, share) = (
        u64::from(PEC) + dice.between(0, 4),
        dice.pick(&[0, 0, 4]),
        dice.pick(&[0.0, 0.0, 0.05, 0.05, 0.3]),
    );
    // Where programs are slow, stripes wait long, and the last stage goes through them for as long
    // as the case lasts.
    config.timing.program_us = KindUs::All(dice.pick(&[500.0, 20_000.0]));
    // GC has one open block more.
    config.drive.spare = Some(dice.pick(&[0.52, 0.6]));
    let start = &mut config.start;
    (start.pec, start.pec_spread, start.worn_share) = (PEC, spread, share);
    start.worn_pec = (PEC + spread).max(above as u32) + dice.between(0, 4) as u32;
    let params = &mut config.parity.params;
    params.set(None, "t_p", Number::Whole(above.cast_signed()));
    params.set(None, "queue", Number::Whole(dice.pick(&[0, 4, 64, 64])));
    let (published, beyond) =
        (dice.pick(&[0, 0, 0, 1]), dice.pick(&[0, 8, 40, 40, 80, 120, 1_000_000]));
    if parity == "pe-aware" {
        params.set(Some(parity), "published", Number::Whole(published));
    } else {
        params.set(None, "l", Number::Whole(beyond));
        params.set(Some(parity), "cut_off", Number::Whole(dice.pick(&[1, 4, 8])));
        params.set(Some(parity), "pages", Number::Whole(dice.pick(&[1, 5, 24])));
    }
}
